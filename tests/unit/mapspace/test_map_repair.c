/* Repairs that single changes do not make. */
#include "support/expect.h"
#include "support/plain_arch.h"

#include "mapspace/map_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Four loops that must be there, over 6 x 2 x 3 x 4 of 12 x 12 children: where those on X are too many, no single one has room on
 * Y, and none can shrink. All of them are laid anew. */
static void loops_are_laid_anew(void **state) {
    (void)state;
    static const uint32_t factor[] = {6, 3, 2, 4};
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_constraints limits;
    sx_model *model;
    sx_space *space;
    sx_rng rng = sx_rng_stream(0, "test.map-repair", 0);
    sx_plain_arch(&arch, 2);
    sx_plain_mesh(&arch, 1, 12, 12);
    sx_plain_problem("O[a,b] += A[a,c]*B[c,d,b] {a:6,b:3,c:2,d:4}", &arch, &problem, &mapping);
    sx_constraints_init(&limits, &problem, &arch);
    for (int d = 0; d < 4; d++) {
        int dim = sx_problem_dim(&problem, (const char[2]){(char)('a' + d), 0});
        limits.level[1].spatial.min[dim] = factor[d];
        mapping.level[1].spatial[dim] = factor[d];
        mapping.level[1].spatial_order[d] = (uint8_t)dim;
    }
    mapping.level[1].split = 2; /* a and b on X: 18 */
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, &limits, NULL, &space));
    void *point = malloc(sx_space_point_size(space));
    assert_non_null(point);
    sx_map_space_point(space, &mapping, point);
    assert_false(sx_space_legal(space, point, NULL, 0));
    assert_true(sx_map_repair(sx_map_space_of(space), &rng, point));
    assert_true(sx_space_legal(space, point, NULL, 0));
    free(point);
    sx_space_free(space);
    sx_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_are_laid_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
