/* Offsets for the challenging instances of MiniMalloc, all of which fit their capacity. See tests/golden/README.md. */
#include "placement/addresses/buffers.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { CAPACITY = 1048576, NODES = 200000 };

/* Fails where two buffers overlap or one ends above the capacity. */
static void expect_apart(const sx_buffers *list) {
    for (size_t i = 0; i < list->n; i++) {
        const sx_buffer *a = &list->buffer[i];
        assert_true(a->offset + a->size <= CAPACITY);
        for (size_t k = 0; k < i; k++) {
            const sx_buffer *b = &list->buffer[k];
            bool together = a->lower < b->upper && b->lower < a->upper;
            assert_true(!together || a->offset + a->size <= b->offset || b->offset + b->size <= a->offset);
        }
    }
}

static void challenging_instances_fit(void **state) {
    (void)state;
    for (char name = 'A'; name <= 'F'; name++) {
        const sx_allocate_options options = {.capacity = CAPACITY, .nodes = NODES};
        sx_allocation found;
        sx_buffers list;
        char path[64];
        snprintf(path, sizeof path, "golden/minimalloc/%c.csv", name);
        sx_expect_ok(sx_buffers_read(path, &list));
        sx_expect_ok(sx_allocate(list.buffer, list.n, &options, &found));
        print_message("%c: %zu buffers, %llu nodes\n", name, list.n, (unsigned long long)found.nodes);
        assert_true(found.found && found.bytes <= CAPACITY);
        expect_apart(&list);
        sx_buffers_fini(&list);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(challenging_instances_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
