/* The verifier's own reading of a space: what levels keep, by banks, as the search reads it; how loops lie. */
#include "support/expect.h"
#include "support/plain_arch.h"

#include "mapspace/map_space.h"
#include "verify/verify_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The middle of three levels, and whether banks of it are shared out. */
typedef struct banked_level {
    const char *what;
    uint32_t banks;
    uint8_t must_bypass;
    bool unlimited, no_banks, shared_out;
} banked_level;

/* Asserts that both readings say the same about banks of level 1, and that no other level has any. */
static void try_level(const banked_level *t) {
    sx_problem problem;
    sx_arch arch;
    sx_mapping mapping;
    sx_constraints limits;
    sx_model *model;
    sx_space *space;
    sx_verify_space own;
    const sx_map_space_options options = {.no_banks = t->no_banks};
    sx_plain_arch(&arch, 3);
    for (int s = 0; s < 3; s++) {
        arch.level[s].entries = s == 1 && t->unlimited ? SX_UNLIMITED : 1 << 12;
        arch.level[s].banks = s == 0 ? 0 : t->banks;
    }
    sx_plain_problem("O[m,n] += A[m,k]*B[k,n] {m:8,k:4,n:6}", &arch, &problem, &mapping);
    sx_constraints_init(&limits, &problem, &arch);
    limits.level[1].must_bypass = t->must_bypass;
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, &limits, &options, &space));
    sx_expect_ok(sx_verify_space_init(&own, model, &limits, &options));
    const sx_map_space *map = sx_map_space_of(space);
    if (own.banked[1] != t->shared_out) print_error("%s\n", t->what);
    assert_int_equal(own.banked[1], t->shared_out);
    for (int s = 0; s < 3; s++) {
        assert_int_equal(own.banked[s], map->banked[s] != 0);
        assert_int_equal(own.must[s], map->fixed_keep[s]);
        assert_int_equal(own.may[s], map->fixed_keep[s] | map->free_keep[s] | map->banked[s]);
        if (s != 1) assert_false(own.banked[s]);
    }
    sx_verify_space_fini(&own);
    sx_space_free(space);
    sx_model_free(model);
}

/* Banks are shared out among two tensors or more, as many banks at least, and 254 more at most, of a level with a size. */
static void readings_agree_on_banks(void **state) {
    (void)state;
    static const banked_level levels[] = {
        {"none", 0, 0, false, false, false},
        {"a bank fewer than tensors", 2, 0, false, false, false},
        {"a bank for each tensor", 3, 0, false, false, true},
        {"most banks", 257, 0, false, false, true},
        {"a bank more", 258, 0, false, false, false},
        {"two tensors", 2, 1, false, false, true},
        {"a bank for two tensors", 1, 1, false, false, false},
        {"one tensor", 4, 3, false, false, false},
        {"no tensor", 4, 7, false, false, false},
        {"no size", 3, 0, true, false, false},
        {"not asked for", 3, 0, false, true, false},
    };
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) try_level(&levels[i]);
}

/* Loops on an axis stand in the order of the constraint's outermost list, also where that has every dimension. */
static void lays_loops_by_the_outermost_list(void **state) {
    (void)state;
    sx_problem problem;
    sx_arch arch;
    sx_mapping mapping;
    sx_constraints limits;
    sx_model *model;
    sx_verify_space space;
    const sx_map_space_options options = {0};
    sx_plain_arch(&arch, 1);
    sx_plain_mesh(&arch, 0, 4, 4);
    sx_plain_problem(
        "O[a,b,c,d,e,f,g,h] += A[i,j,k,l,m,n,o,p]*B[a,i] {a:2,b:2,c:2,d:2,e:2,f:2,g:2,h:2,i:2,j:2,k:2,"
        "l:2,m:2,n:2,o:2,p:2}",
        &arch, &problem, &mapping);
    assert_int_equal(problem.n_dims, SX_MAX_DIMS);
    sx_constraints_init(&limits, &problem, &arch);
    sx_loop_limits *spatial = &limits.level[0].spatial;
    spatial->n_outer = SX_MAX_DIMS;
    for (int i = 0; i < SX_MAX_DIMS; i++) spatial->outer[i] = (uint8_t)(SX_MAX_DIMS - 1 - i);
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_verify_space_init(&space, model, &limits, &options));
    sx_mapping_level *at = &mapping.level[0];
    const unsigned on_x = 1u << 9 | 1u << 8;
    at->spatial[0] = at->spatial[1] = at->spatial[8] = at->spatial[9] = 2;
    assert_true(sx_verify_space_fits(&space, 0, at->spatial, on_x));
    assert_false(sx_verify_space_fits(&space, 0, at->spatial, 3));
    sx_verify_space_set_layout(&space, 0, on_x, at);
    static const uint8_t order[] = {9, 8, 1, 0, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15};
    assert_int_equal(at->split, 2);
    assert_memory_equal(at->spatial_order, order, sizeof order);
    sx_verify_space_fini(&space);
    sx_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readings_agree_on_banks),
        cmocka_unit_test(lays_loops_by_the_outermost_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
