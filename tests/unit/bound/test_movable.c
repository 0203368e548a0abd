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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_stay_where_the_next_level_has_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
