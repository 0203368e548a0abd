#include "bound/bound.h"
#include "support/expect.h"
#include "support/small_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The dimensions whose loops may leave a level under constraints. */
static unsigned movable_with(const sx_small_map *m, int s, const sx_constraints *constraints) {
    sx_bound *bound;
    sx_expect_ok(sx_bound_new(m->map->model, constraints, 1 << 16, &bound));
    unsigned movable = bound->movable[s];
    sx_bound_free(bound);
    return movable;
}

static void loops_stay_where_the_next_level_has_no_room(void **state) {
    (void)state;
    sx_small_map m;
    sx_small_map_open(&m, "O[a,b] += A[a,c]*B[c,b] {a:4,b:4,c:4}", "glb128", NULL, NULL);
    int s = m.map->arch->n_levels - 2;
    sx_constraints constraints = m.map->constraints;
    assert_int_equal(movable_with(&m, s, &constraints), 7);
    constraints.level[s + 1].spatial.rest[1] = true;
    assert_int_equal(movable_with(&m, s, &constraints), 5);
    constraints.level[s + 1].temporal.max[2] = 2;
    assert_int_equal(movable_with(&m, s, &constraints), 1);
    constraints.level[s].temporal.min[0] = 2;
    assert_int_equal(movable_with(&m, s, &constraints), 0);
    sx_small_map_close(&m);
}

/* Two levels, the inner one in banks. */
static const char banked[] = "arch:\n"
                             "  arithmetic: {name: MAC, instances: 1}\n"
                             "  storage:\n"
                             "  - {name: L0, instances: 1, entries: 32, banks: 8}\n"
                             "  - {name: L1, instances: 1, technology: DRAM}\n";

/* The dimension of the outermost loop of the innermost level, which keeps these tensors and has one loop on each
 * of a, b and c, where it may move. */
static unsigned moved(unsigned keep, int outermost, unsigned bypass) {
    sx_small_map m;
    sx_bound *bound;
    uint32_t temporal[SX_MAX_DIMS] = {2, 2, 2};
    uint8_t order[SX_MAX_DIMS] = {0, 1, 2};
    sx_small_map_open(&m, "O[a,b] += A[a,c]*B[c,b] {a:4,b:4,c:4}", banked, NULL, NULL);
    sx_constraints constraints = m.map->constraints;
    constraints.level[0].must_bypass = (uint8_t)bypass;
    order[outermost] = 2;
    order[2] = (uint8_t)outermost;
    sx_expect_ok(sx_bound_new(m.map->model, &constraints, 1 << 16, &bound));
    unsigned dims = sx_bound_movable(bound, 0, keep, temporal, order);
    sx_bound_free(bound);
    sx_small_map_close(&m);
    return dims;
}

static void loops_on_tensors_that_share_banks_stay(void **state) {
    (void)state;
    enum { O = 1, A = 2, B = 4 };
    assert_int_equal(moved(O, 2, 0), 0);
    assert_int_equal(moved(0, 0, 0), 0);
    assert_int_equal(moved(O, 2, B), 0);
    assert_int_equal(moved(O, 2, A | B), 1 << 2);
    assert_int_equal(moved(0, 1, A | B), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_stay_where_the_next_level_has_no_room),
        cmocka_unit_test(loops_on_tensors_that_share_banks_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
