/* The tree search for offsets below one capacity: what every rule finds, and in how many nodes. */
#include "placement/addresses/packing_search.h"
#include "support/expect.h"
#include "support/packings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BUFFERS = 40, CASES = 100, STEPS = 60, BYTES = 100 };

/* Cuts a rectangle of steps and bytes into buffers, which leave no gap where they fit into it again. */
static void draw_buffers(uint64_t number, sx_buffer *buffer) {
    sx_cut_rectangle(sx_rng_stream(0, "test.packing", number), STEPS, BYTES, 0, buffer, BUFFERS);
    buffer[BUFFERS - 1].size -= buffer[BUFFERS - 1].size > 1 && number % 2;
}

/* Asserts that no two buffers that live at the same time share a byte, and none is beyond the capacity. */
static void expect_packed(const sx_packing *x, const sx_buffer *buffer, int64_t capacity) {
    for (size_t i = 0; i < BUFFERS; i++) {
        assert_true(x->offset[i] >= 0 && x->offset[i] + x->size[i] <= capacity);
        for (size_t k = 0; k < i; k++) {
            if (buffer[i].lower >= buffer[k].upper || buffer[k].lower >= buffer[i].upper) continue;
            assert_true(x->offset[i] + x->size[i] <= x->offset[k] ||
                        x->offset[k] + x->size[k] <= x->offset[i]);
        }
    }
}

/* The least capacity that buffers of a case can be packed below, searched by a rule from one that is too small; adds the
 * nodes. */
static int64_t least_capacity(uint64_t number, const sx_packing_rule *rule, uint64_t *nodes) {
    sx_buffer buffer[BUFFERS];
    sx_packing x;
    int64_t capacity = BYTES - 2;
    draw_buffers(number, buffer);
    sx_expect_ok(sx_packing_init(buffer, BUFFERS, 1, &x));
    sx_packing_result result = SX_NOT_PACKABLE;
    while (result == SX_NOT_PACKABLE) {
        capacity++;
        result = sx_packing_search(&x, 0, (uint32_t)x.n_sections, capacity, rule, 1000000);
    }
    assert_int_equal(result, SX_PACKED);
    expect_packed(&x, buffer, capacity);
    *nodes += x.nodes;
    sx_packing_fini(&x);
    return capacity;
}

/* Every rule finds the same least capacities, in no more nodes than stand here: pruning, the memory of failures and the
 * choice of sections and buffers save the others. */
static void rules_find_the_same_in_few_nodes(void **state) {
    (void)state;
    static const struct {
        sx_packing_rule rule;
        uint64_t nodes;
    } rules[] = {
        {{.key = 0}, 27064},
        {{.key = 1}, 28377},
        {{.key = 2}, 4655},
        {{.key = 3}, 28101},
        {{.key = 4}, 27086},
        {{.weighted = true}, 48669},
        {{.lowest = true}, 27326},
        {{.full = true}, 27123},
        {{.weighted = true, .lowest = true, .full = true}, 76486},
        {{.noise = 0.5, .index = 7}, 26425},
    };
    int64_t least[CASES] = {0};
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        uint64_t nodes = 0;
        for (uint64_t i = 0; i < CASES; i++) {
            int64_t capacity = least_capacity(i, &rules[r].rule, &nodes);
            if (r == 0) least[i] = capacity;
            assert_int_equal(capacity, least[i]);
        }
        if (nodes > rules[r].nodes) print_error("rule %zu: %llu nodes\n", r, (unsigned long long)nodes);
        assert_true(nodes <= rules[r].nodes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_find_the_same_in_few_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
