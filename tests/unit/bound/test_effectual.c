/* What zeros leave of computes, worked out by hand, and its bound. */
#include "bound/bound.h"
#include "support/expect.h"
#include "support/plain_arch.h"

#include "sextant/sextant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Lets accesses of A and C at the inner level be skipped where B is zero. */
static void skip_on_b(sx_arch *arch) {
    strcpy(arch->sparse.name[0], "A");
    strcpy(arch->sparse.name[1], "B");
    strcpy(arch->sparse.name[2], "C");
    arch->sparse.n_names = 3;
    arch->sparse.n_actions = 2;
    for (uint8_t i = 0; i < 2; i++)
        arch->sparse.action[i] = (sx_sparse_action){
            .skips = true, .n_options = 1, .option = {{.target = (uint8_t)(2 * i), .on = 1u << 1}}};
}

/* Of the words of B at a point of a 2 by 2 array, A depends on a row and C on a column: of two words each, and three
 * together. With 4 non-zeros in 16 words, one of both is empty with the probability 2 e(2) - e(3), e(2) = 66 / 120,
 * e(3) = 220 / 560: of 280 cycles 82 are left. */
static void two_tensors_skip(void **state) {
    (void)state;
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_model *model;
    sx_evaluator *evaluator;
    sx_bound *bound;
    sx_outline_bound *bounds;
    sx_outline outline = {0};
    sx_cost cost;
    sx_plain_arch(&arch, 2);
    arch.compute.mesh_x = arch.compute.mesh_y = 2;
    arch.compute.instances = 4;
    skip_on_b(&arch);
    sx_plain_problem("Z[m] += A[m,k]*B[k,n]*C[n] {m:70,k:4,n:4} {B:hypergeometric:0.25}", &arch, &problem,
                     &mapping);
    for (int d = 0; d < 3; d++) mapping.level[0].spatial[d] = mapping.level[0].temporal[d] = d ? 2 : 1;
    mapping.level[0].split = 2; /* m and k on X, n on Y */
    mapping.level[1].temporal[0] = 70;
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_evaluator_new(model, &evaluator));
    assert_int_equal(sx_evaluate(evaluator, &mapping, &cost).reason, SX_LEGAL);
    assert_int_equal(cost.compute_cycles, 82);
    sx_expect_ok(sx_bound_new(model, NULL, 1 << 20, &bound));
    sx_expect_ok(sx_outline_bound_new(bound, &bounds));
    for (int s = 0; s < 2; s++) {
        memcpy(outline.spatial[s], mapping.level[s].spatial, sizeof outline.spatial[s]);
        outline.keep[s] = mapping.level[s].keep;
    }
    sx_outline_bound_begin(bounds, &outline);
    double least = sx_outline_bound_compulsory(bounds).cycles;
    assert_true(least > 69 && least <= 82); /* a word of B is not zero in a quarter of them */
    sx_outline_bound_free(bounds);
    sx_bound_free(bound);
    sx_evaluator_free(evaluator);
    sx_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_tensors_skip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
