/* Descents along the derivatives of the cost model. */
#include "sextant/input.h"
#include "sextant/navigator.h"
#include "support/expect.h"
#include "support/sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 5 };

static const char convolution[] = "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:2,k:32,c:16,p:14,q:14,r:3,s:3}";

typedef struct ground {
    sx_model *model;
    sx_space *space;
} ground;

static ground open_ground(const char *einsum, sx_arch *arch, bool remainders) {
    const sx_map_space_options options = {.remainders = remainders};
    ground g;
    sx_problem problem;
    sx_expect_ok(sx_einsum_parse(einsum, &problem));
    sx_expect_ok(sx_model_new(&problem, arch, NULL, &g.model));
    sx_expect_ok(sx_map_space_new(g.model, NULL, &options, &g.space));
    return g;
}

static void close_ground(ground *g) {
    sx_space_free(g->space);
    sx_model_free(g->model);
}

/* What a search comes to. */
static double best_of(const ground *g, const char *mapper, uint64_t seed, uint64_t evaluations,
                      unsigned threads) {
    sx_run_options options;
    sx_run *run;
    sx_found found;
    sx_run_options_init(&options);
    options.seed = seed;
    options.evaluations = evaluations;
    options.threads = threads;
    sx_expect_ok(sx_run_new(g->space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, mapper));
    assert_true(sx_run_best(run, 0, &found));
    sx_run_free(run);
    return found.value;
}

/* The geometric mean over seeds. */
static double mean_of(const ground *g, const char *mapper, uint64_t evaluations) {
    double sum = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) sum += log(best_of(g, mapper, seed, evaluations, 1));
    return exp(sum / SEEDS);
}

/* On machines with banks, with bypass and with arrays at two levels: better than ten times as many draws, and than
 * steps of random directions. */
static void descents_lead_down(void **state) {
    (void)state;
    static const char *const archs[] = {"mind-mappings", "eyeriss", "accel-b"};
    if (SX_SANITIZED) skip();
    for (int a = 0; a < 3; a++) {
        sx_arch arch;
        sx_expect_ok(sx_catalog_arch(archs[a], &arch));
        ground g = open_ground(convolution, &arch, false);
        double mine = mean_of(&g, "gradient:by=model", 100), drawn = mean_of(&g, "random", 1000);
        double blind = mean_of(&g, "gradient:by=model,direction=random", 100);
        print_message("%s: gradient %.4g, random directions %.4g, ten times as many draws %.4g\n", archs[a],
                      mine, blind, drawn);
        assert_true(mine < drawn && mine < blind);
        close_ground(&g);
    }
}

static void threads_change_nothing(void **state) {
    (void)state;
    sx_arch arch;
    sx_expect_ok(sx_catalog_arch("mind-mappings", &arch));
    ground g = open_ground(convolution, &arch, false);
    double one = best_of(&g, "gradient:by=model", 3, 120, 1);
    assert_true(best_of(&g, "gradient:by=model", 3, 120, 2) == one);
    assert_true(best_of(&g, "gradient:by=model", 3, 120, 3) == one);
    close_ground(&g);
}

/* Expects a search to be refused, for a reason. */
static void expect_refusal(const ground *g, const char *objective, const char *message) {
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    options.evaluations = 10;
    sx_expect_ok(sx_objective_parse(objective, &options.objective));
    sx_expect_ok(sx_run_new(g->space, NULL, &options, &run));
    sx_status status = sx_run_search(run, "gradient:by=model");
    assert_non_null(status);
    assert_string_equal(status->message, message);
    assert_non_null(status->hint);
    sx_status_free(status);
    sx_run_free(run);
}

static void what_has_no_derivatives_is_refused(void **state) {
    (void)state;
    sx_arch arch;
    sx_expect_ok(sx_catalog_arch("eyeriss", &arch));
    ground g = open_ground(convolution, &arch, false);
    expect_refusal(&g, "last-level", "gradient:by=model needs an objective of energy and delay");
    close_ground(&g);
    g = open_ground(convolution, &arch, true);
    expect_refusal(&g, "edp", "gradient:by=model has no derivatives of remainders");
    close_ground(&g);
    g = open_ground("O[p+r] += A[p,k]*B[r,k] {p:4,r:4,k:8}", &arch, false);
    expect_refusal(&g, "edp", "the output 'O' has a rank that is a sum or has a stride");
    close_ground(&g);
    arch.level[1].energy_per_hop = 0.5;
    g = open_ground(convolution, &arch, false);
    expect_refusal(&g, "edp", "the networks of 'eyeriss' cost energy");
    close_ground(&g);
}

/* What a checkpoint of a search has, of those that are kept. */
typedef struct picture {
    void *bytes;
    size_t size, n;
} picture;

static sx_status keep_third(void *user, const void *bytes, size_t size) {
    picture *p = user;
    if (++p->n != 3) return SX_OK;
    p->bytes = malloc(size);
    assert_non_null(p->bytes);
    memcpy(p->bytes, bytes, size);
    p->size = size;
    return SX_OK;
}

static void checkpoints_resume_to_the_same_end(void **state) {
    (void)state;
    sx_arch arch;
    sx_expect_ok(sx_catalog_arch("edge-unified", &arch));
    ground g = open_ground(convolution, &arch, false);
    sx_run_options options;
    sx_run *run;
    picture p = {0};
    sx_found found, again;
    sx_run_options_init(&options);
    options.evaluations = 150;
    options.checkpoint = keep_third;
    options.user = &p;
    sx_expect_ok(sx_run_new(g.space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, "gradient:by=model"));
    assert_true(sx_run_best(run, 0, &found));
    double value = found.value;
    uint64_t evaluation = found.evaluation;
    sx_run_free(run);
    assert_non_null(p.bytes);
    options.checkpoint = NULL;
    options.resume = p.bytes;
    options.resume_size = p.size;
    sx_expect_ok(sx_run_new(g.space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, "gradient:by=model"));
    assert_true(sx_run_best(run, 0, &again));
    assert_true(again.value == value && again.evaluation == evaluation);
    sx_run_free(run);
    free(p.bytes);
    close_ground(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descents_lead_down),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(what_has_no_derivatives_is_refused),
        cmocka_unit_test(checkpoints_resume_to_the_same_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
