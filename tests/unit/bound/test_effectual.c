/* What zeros leave of computes, worked out by hand, and its bound. */
#include "bound/bound.h"
#include "support/expect.h"
#include "support/plain_arch.h"

#include "sextant/all.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* A model of a mapping, and its bounds. */
typedef struct bench {
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_bound *bound;
    sx_outline_bound *bounds;
    sx_cost cost;
} bench;

/* Adds an action: accesses of a tensor at a level are skipped where another one is zero. */
static void skip_on(bench *b, uint8_t level, const char *target, const char *on) {
    sx_sparse *sparse = &b->arch.sparse;
    sx_sparse_action *a = &sparse->action[sparse->n_actions++];
    *a = (sx_sparse_action){.level = level, .skips = true, .n_options = 1};
    a->option[0].target = sparse->n_names;
    strcpy(sparse->name[sparse->n_names++], target);
    a->option[0].on = 1u << sparse->n_names;
    strcpy(sparse->name[sparse->n_names++], on);
}

/* Evaluates the mapping and makes bounds of its spatial loops. */
static void begin(bench *b, bool timeloop) {
    sx_model_options options = {.sparse_timeloop = timeloop};
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    sx_expect_ok(sx_model_new(&b->problem, &b->arch, &options, &b->model));
    sx_expect_ok(sx_model_workspace_new(b->model, &b->evaluator));
    assert_int_equal(sx_evaluate(b->evaluator, &b->mapping, &b->cost).reason, SX_LEGAL);
    sx_expect_ok(sx_bound_new(b->model, NULL, 1 << 20, &b->bound));
    sx_expect_ok(sx_outline_bound_new(b->bound, &b->bounds));
    for (int s = 0; s < b->arch.n_levels; s++) {
        memcpy(outline.spatial[s], b->mapping.level[s].spatial, sizeof outline.spatial[s]);
        outline.keep[s] = b->mapping.level[s].keep;
    }
    sx_outline_bound_begin(b->bounds, &outline);
}

/* The bound of the whole mapping. */
static sx_score bound_of_all(bench *b) {
    sx_partial_mapping partial, next;
    sx_partial_mapping_begin(b->bounds, &partial);
    for (int s = 0; s < b->arch.n_levels; s++) {
        uint32_t extent[SX_MAX_DIMS] = {0};
        for (int d = 0; d < b->problem.n_dims; d++)
            extent[d] = (uint32_t)sx_mapping_extent(&b->mapping, s, d);
        uint32_t point = sx_lattice_point(&b->bound->lattice, extent);
        (void)sx_partial_mapping_try(b->bounds, &partial, s, extent, point);
        sx_partial_mapping_extend(b->bounds, &partial, s, extent, point, b->mapping.level[s].temporal_order,
                                  &next);
        partial = next;
    }
    return sx_partial_mapping_bound(b->bounds, &partial, b->arch.n_levels - 1);
}

static void end(bench *b) {
    sx_outline_bound_free(b->bounds);
    sx_bound_free(b->bound);
    sx_model_workspace_free(b->evaluator);
    sx_model_free(b->model);
}

/* Of the words of B at a point of a 2 by 2 array, A depends on a row and C on a column: of two words each, and three
 * together. With 4 non-zeros in 16 words, one of both is empty with the probability 2 e(2) - e(3), e(2) = 66 / 120,
 * e(3) = 220 / 560: of 280 cycles 82 are left. */
static void two_tensors_skip(void **state) {
    (void)state;
    bench b;
    sx_plain_arch(&b.arch, 2);
    b.arch.compute.mesh_x = b.arch.compute.mesh_y = 2;
    b.arch.compute.instances = 4;
    skip_on(&b, 0, "A", "B");
    skip_on(&b, 0, "C", "B");
    sx_plain_problem("Z[m] += A[m,k]*B[k,n]*C[n] {m:70,k:4,n:4} {B:hypergeometric:0.25}", &b.arch, &b.problem,
                     &b.mapping);
    for (int d = 0; d < 3; d++) b.mapping.level[0].spatial[d] = b.mapping.level[0].temporal[d] = d ? 2 : 1;
    b.mapping.level[0].split = 2; /* m and k on X, n on Y */
    b.mapping.level[1].temporal[0] = 70;
    begin(&b, false);
    assert_int_equal(b.cost.compute_cycles, 82);
    double least = sx_outline_bound_compulsory(b.bounds).cycles;
    assert_true(least > 69 && least <= 82); /* a word of B is not zero in a quarter of them */
    end(&b);
}

/* Timeloop takes 2 of the 3 reads of Z that follow its first updates for skipped, where A is zero in a half: the
 * outer level reads 6 words of A, 6 of B and 1 of Z. */
static void reads_are_lost(void **state) {
    (void)state;
    bench b;
    sx_plain_arch(&b.arch, 2);
    b.arch.level[1].read_bandwidth = 0.125;
    skip_on(&b, 1, "Z", "A");
    sx_plain_problem("Z[m] += A[m,k]*B[m,k] {m:3,k:2} {A:hypergeometric:0.5}", &b.arch, &b.problem,
                     &b.mapping);
    b.mapping.level[1].temporal[0] = 3;
    b.mapping.level[1].temporal[1] = 2;
    begin(&b, true);
    assert_in_range(b.cost.cycles, 13 * 8, 13 * 8 + 1); /* rounded up from a ratio of bandwidths */
    double least = bound_of_all(&b).cycles;
    assert_true(least > 11 * 8 && least <= (double)b.cost.cycles);
    end(&b);
}

/* A has m in both of its ranks: of B, the words are read whose single word of A is not zero, which is a quarter. */
static void a_dimension_in_two_ranks(void **state) {
    (void)state;
    bench b;
    sx_plain_arch(&b.arch, 2);
    b.arch.level[1].read_energy = 1;
    skip_on(&b, 1, "B", "A");
    sx_plain_problem("Z[m,n] += A[m,m+k]*B[k,n] {m:4,n:8,k:4} {A:hypergeometric:0.25}", &b.arch, &b.problem,
                     &b.mapping);
    for (int d = 0; d < 3; d++) {
        b.mapping.level[1].temporal[d] = b.problem.size[d];
        b.mapping.level[1].temporal_order[d] = (uint8_t)((d + 1) % 3); /* n inside k inside m */
    }
    begin(&b, false);
    double least = bound_of_all(&b).energy_pj;
    assert_true(least > 0.9 * b.cost.energy_pj && least <= b.cost.energy_pj);
    end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_tensors_skip),
        cmocka_unit_test(reads_are_lost),
        cmocka_unit_test(a_dimension_in_two_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
