/* What children share, of mappings that leave remainders. */
#include "bound/imperfect.h"
#include "model/model.h"
#include "support/expect.h"
#include "support/plain_arch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Spatial factors of the dimensions p and r at two levels, and how many units share a read of tensor 1 from the inner and
 * the outer one. */
typedef struct window {
    const char *einsum;
    uint32_t inner[2], outer[2];
    double share_inner, share_outer;
} window;

/* The least reads of tensor 1 from the outer of two levels, the only one that keeps anything. */
static double least_reads(const window *w) {
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    sx_imperfect_tiles *tiles;
    sx_imperfect_bound bounds;
    sx_outline outline;
    const sx_model_options options = {.no_link_transfers = true};
    const uint8_t keep[SX_MAX_LEVELS] = {0, 3}, may[SX_MAX_LEVELS] = {0};
    sx_expect_ok(sx_einsum_parse(w->einsum, &problem));
    sx_plain_arch(&arch, 2);
    sx_plain_mesh(&arch, 0, 12 * 6, 1);
    arch.level[0].instances = arch.level[0].mesh_x = 6;
    arch.level[1].read_energy = 1;
    sx_expect_ok(sx_model_new(&problem, &arch, &options, &model));
    sx_expect_ok(sx_imperfect_tiles_new(model, keep, may, 0, NULL, &tiles));
    sx_imperfect_bound_init(&bounds, tiles);
    memset(&outline, 0, sizeof outline);
    for (int s = 0; s < 2; s++)
        for (int d = 0; d < problem.n_dims; d++)
            outline.spatial[s][d] = d < 2 ? (s ? w->outer : w->inner)[d] : 1;
    sx_imperfect_bound_spatial(&bounds, &outline);
    sx_imperfect_bound_keep(&bounds, keep);
    double reads = sx_imperfect_bound_score(&bounds, 0).energy_pj;
    sx_imperfect_tiles_free(tiles);
    sx_model_free(model);
    return reads;
}

/* Units share the words of a sum of two dimensions along its diagonals alone, where both have the same sign, the tensor has
 * each of them once, and no level further out is spread over them. The output's reads are none: each word is one sum. */
static void shares_windows_along_diagonals(void **state) {
    (void)state;
    static const window cases[] = {
        {"Z[p,r] += A[p+r] {p:13,r:11}", {4, 3}, {1, 1}, 3, 1},
        {"Z[p,r] += A[p+r] {p:13,r:11}", {3, 4}, {1, 1}, 3, 1},
        {"Z[p,r] += A[-p-r] {p:13,r:11}", {4, 3}, {1, 1}, 3, 1},
        {"Z[p,r] += A[p-r] {p:13,r:11}", {4, 3}, {1, 1}, 12, 1},
        {"Z[p,r] += A[r-p] {p:13,r:11}", {4, 3}, {1, 1}, 12, 1},
        {"Z[p,r] += A[p+r+s] {p:13,r:11,s:1}", {4, 3}, {1, 1}, 3, 1},
        {"Z[p,r,s] += A[p+r+s] {p:13,r:11,s:2}", {4, 3}, {1, 1}, 12, 1},
        {"Z[p,r] += A[p+r,p-r] {p:13,r:11}", {4, 3}, {1, 1}, 12, 1},
        {"Z[p,r] += A[p+r] {p:13,r:11}", {4, 3}, {3, 2}, 12, 2},
        {"Z[p,r] += A[p+r] {p:13,r:11}", {4, 3}, {2, 1}, 12, 1},
        {"Z[p,r] += A[p+r] {p:13,r:11}", {4, 3}, {1, 3}, 12, 1},
        {"Z[p,r,s] += A[p+r] {p:13,r:11,s:5}", {4, 3}, {1, 1}, 3, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const window *w = &cases[i];
        double computes = 13 * 11 * (strstr(w->einsum, "s:2") ? 2 : strstr(w->einsum, "s:5") ? 5 : 1);
        double least = floor(computes / (w->share_inner * w->share_outer) + 0.5), reads = least_reads(w);
        if (fabs(reads - least) > 1e-9)
            print_error("%s, case %zu: %.17g, not %.17g\n", w->einsum, i, reads, least);
        assert_true(fabs(reads - least) <= 1e-9);
    }
}

/* Opens bounds of a problem on two levels, both of which keep everything. */
static void open_bounds(const char *einsum, sx_arch *arch, sx_model **model, sx_imperfect_tiles **tiles,
                        sx_imperfect_bound *bounds) {
    static const uint8_t none[SX_MAX_LEVELS] = {0};
    uint8_t keep[SX_MAX_LEVELS] = {0};
    const sx_model_options options = {.no_link_transfers = true};
    sx_problem problem;
    sx_expect_ok(sx_einsum_parse(einsum, &problem));
    keep[0] = keep[1] = (uint8_t)((1u << problem.n_tensors) - 1);
    sx_expect_ok(sx_model_new(&problem, arch, &options, model));
    sx_expect_ok(sx_imperfect_tiles_new(*model, keep, none, 0, NULL, tiles));
    sx_imperfect_bound_init(bounds, *tiles);
}

/* The bound of a mapping without spatial loops. */
static sx_score bound_of_one_unit(sx_imperfect_bound *bounds) {
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    for (int s = 0; s < 2; s++)
        for (int d = 0; d < bounds->model->n_dims; d++) outline.spatial[s][d] = 1;
    sx_imperfect_bound_spatial(bounds, &outline);
    sx_imperfect_bound_keep(bounds, bounds->tiles->must);
    return sx_imperfect_bound_score(bounds, 0);
}

/* One instance of a level may have all of its children, beyond an even share: 18 of 20 units under one of 5 make a mapping
 * of 266 pJ. */
static void all_children_may_share(void **state) {
    (void)state;
    sx_arch arch;
    sx_model *model;
    sx_imperfect_tiles *tiles;
    sx_imperfect_bound bounds;
    sx_plain_arch(&arch, 2);
    arch.compute.mesh_x = arch.compute.instances = 20;
    arch.compute.energy = 1;
    arch.level[0].mesh_x = arch.level[0].instances = 5;
    arch.level[0].entries = 38;
    arch.level[0].read_energy = 0.25;
    arch.level[0].fill_energy = 3.75;
    arch.level[0].update_energy = 2.5;
    arch.level[1].read_energy = arch.level[1].update_energy = 4.5;
    open_bounds("O[i,j] += A[i,k,l]*B[k,j]*C[l,j] {i:1,j:2,k:3,l:4}", &arch, &model, &tiles, &bounds);
    assert_true(sx_imperfect_bound_all(&bounds).energy_pj <= 266);
    sx_imperfect_tiles_free(tiles);
    sx_model_free(model);
}

/* Words that tiles add fill vectors that others have begun: a mapping costs 1,412 pJ. */
static void added_words_fill_vectors(void **state) {
    (void)state;
    sx_arch arch;
    sx_model *model;
    sx_imperfect_tiles *tiles;
    sx_imperfect_bound bounds;
    sx_plain_arch(&arch, 2);
    arch.compute.mesh_y = arch.compute.instances = 3;
    arch.compute.energy = 1;
    arch.level[0].entries = 25;
    arch.level[0].read_energy = 1.25;
    arch.level[0].fill_energy = 4.5;
    arch.level[0].update_energy = 4.75;
    arch.level[1].block_size = 4;
    arch.level[1].read_energy = arch.level[1].update_energy = 0.75;
    arch.level[1].fill_energy = 3.25;
    open_bounds("O[i,j] += A[i,k,l]*B[k,j]*C[l,j] {i:5,j:2,k:5,l:2}", &arch, &model, &tiles, &bounds);
    double kept = bound_of_one_unit(&bounds).energy_pj;
    assert_true(kept > 1400 && kept <= 1412);
    sx_imperfect_tiles_free(tiles);
    sx_model_free(model);
}

/* Timeloop takes the one read of Z between its two updates for skipped, where A is zero in a half: 2 words of A and 2 of B
 * are read. */
static void reads_that_timeloop_loses_are_not_counted(void **state) {
    (void)state;
    sx_problem problem;
    sx_mapping mapping;
    sx_arch arch;
    sx_model *model;
    sx_model_workspace *workspace;
    sx_imperfect_tiles *tiles;
    sx_imperfect_bound bounds;
    sx_cost cost;
    const sx_model_options options = {.sparse_timeloop = true};
    const uint8_t keep[SX_MAX_LEVELS] = {7}, none[SX_MAX_LEVELS] = {0};
    sx_plain_arch(&arch, 1);
    arch.level[0].read_energy = 1;
    sx_sparse *sparse = &arch.sparse;
    strcpy(sparse->name[0], "Z");
    strcpy(sparse->name[1], "A");
    sparse->n_names = 2;
    sparse->n_actions = 1;
    sparse->action[0] =
        (sx_sparse_action){.skips = true, .n_options = 1, .option[0] = {.target = 0, .on = 2}};
    sx_plain_problem("Z[m] += A[m,k]*B[m,k] {m:1,k:2} {A:hypergeometric:0.5}", &arch, &problem, &mapping);
    mapping.level[0].temporal[1] = 2;
    sx_expect_ok(sx_model_new(&problem, &arch, &options, &model));
    sx_expect_ok(sx_model_workspace_new(model, &workspace));
    assert_int_equal(sx_evaluate(workspace, &mapping, &cost).reason, SX_LEGAL);
    assert_true(cost.energy_pj == 4);
    sx_expect_ok(sx_imperfect_tiles_new(model, keep, none, 0, NULL, &tiles));
    sx_imperfect_bound_init(&bounds, tiles);
    const double least = sx_imperfect_bound_all(&bounds).energy_pj;
    assert_true(least > 3.99 && least <= 4);
    sx_model_workspace_free(workspace);
    sx_imperfect_tiles_free(tiles);
    sx_model_free(model);
}

/* A word of each tensor fits inside, so that one of the tensors at most stays: the sums, of which each is written once then, or
 * B, of which each word is read once then, beside 105 reads of A and 70 of sums. */
static void ports_count_their_own_accesses(void **state) {
    (void)state;
    for (int writes = 0; writes < 2; writes++) {
        sx_arch arch;
        sx_model *model;
        sx_imperfect_tiles *tiles;
        sx_imperfect_bound bounds;
        sx_plain_arch(&arch, 2);
        arch.level[0].entries = 3;
        *(writes ? &arch.level[1].write_bandwidth : &arch.level[1].read_bandwidth) = 0.125;
        open_bounds("O[m,n] += A[m,k]*B[k,n] {m:7,n:5,k:3}", &arch, &model, &tiles, &bounds);
        const double accesses = bound_of_one_unit(&bounds).cycles * 0.125;
        assert_true(writes ? accesses == 35 : accesses > 180 && accesses <= 210);
        sx_imperfect_tiles_free(tiles);
        sx_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_windows_along_diagonals),
        cmocka_unit_test(reads_that_timeloop_loses_are_not_counted),
        cmocka_unit_test(all_children_may_share),
        cmocka_unit_test(added_words_fill_vectors),
        cmocka_unit_test(ports_count_their_own_accesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
