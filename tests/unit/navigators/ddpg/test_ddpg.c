/* Reinforcement learning on a toy space. */
#include "sextant/navigator.h"
#include "support/expect.h"
#include "support/logged_space.h"
#include "support/sanitized.h"
#include "support/toy_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 5 };

/* The geometric mean of what searches come to. */
static double mean_of(sx_space *space, const char *navigator, uint64_t evaluations) {
    double sum = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        sx_run_options options;
        sx_run *run;
        sx_found found;
        sx_run_options_init(&options);
        options.seed = seed;
        options.evaluations = evaluations;
        sx_expect_ok(sx_run_new(space, NULL, &options, &run));
        sx_expect_ok(sx_run_search(run, navigator));
        assert_true(sx_run_best(run, 0, &found));
        sum += log(found.value);
        sx_run_free(run);
    }
    return exp(sum / SEEDS);
}

static void policies_are_better_than_draws(void **state) {
    (void)state;
    if (SX_SANITIZED) skip();
    sx_space *space = sx_toy_space_new(NULL);
    double mine = mean_of(space, "ddpg:width=32,batch=16", 600), drawn = mean_of(space, "random", 600);
    double untaught = mean_of(space, "ddpg:width=32,batch=16,actor=0,critic=0", 600);
    print_message("ddpg %.4g, without learning %.4g, random %.4g\n", mine, untaught, drawn);
    assert_true(mine < drawn && mine < untaught);
    sx_space_free(space);
}

/* No point is evaluated twice that the memory of transitions still holds, but by random draws. */
static void stored_points_are_not_repeated(void **state) {
    (void)state;
    sx_logged_space log;
    sx_space *space = sx_toy_space_new(NULL);
    size_t repeated = 0;
    sx_logged_space_init(&log, space);
    sx_logged_search(&log, "ddpg:width=8,batch=8,noise=0,decay=0,warmup=16", 1, 200, NULL, 0);
    assert_int_equal(log.n, 200);
    for (size_t i = 1; i < log.n; i++)
        for (size_t j = 0; j < i; j++)
            repeated += memcmp(sx_logged_point(&log, i), sx_logged_point(&log, j), sizeof(sx_toy_point)) == 0;
    assert_true(repeated < 20);
    sx_logged_space_fini(&log);
    sx_space_free(space);
}

/* One checkpoint of a search. */
typedef struct picture {
    void *bytes;
    size_t size, n;
} picture;

static sx_status keep_tenth(void *user, const void *bytes, size_t size) {
    picture *p = user;
    if (++p->n != 10) return SX_OK;
    p->bytes = malloc(size);
    assert_non_null(p->bytes);
    memcpy(p->bytes, bytes, size);
    p->size = size;
    return SX_OK;
}

/* Searches under options and returns the best. */
static sx_found search(sx_space *space, const sx_run_options *options, sx_toy_point *point) {
    sx_run *run;
    sx_found found;
    sx_expect_ok(sx_run_new(space, NULL, options, &run));
    sx_expect_ok(sx_run_search(run, "ddpg:width=16,batch=16,replay=64,steps=3"));
    assert_true(sx_run_best(run, 0, &found));
    memcpy(point, found.point, sizeof *point);
    sx_run_free(run);
    return found;
}

static void checkpoints_resume_to_the_same_end(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    sx_run_options options;
    picture p = {0};
    sx_toy_point point, again;
    sx_run_options_init(&options);
    options.evaluations = 400;
    options.checkpoint = keep_tenth;
    options.user = &p;
    sx_found found = search(space, &options, &point);
    assert_non_null(p.bytes);
    options.checkpoint = NULL;
    options.resume = p.bytes;
    options.resume_size = p.size;
    for (options.threads = 1; options.threads <= 3; options.threads++) {
        sx_found resumed = search(space, &options, &again);
        assert_true(resumed.value == found.value && resumed.evaluation == found.evaluation);
        assert_memory_equal(&point, &again, sizeof point);
    }
    free(p.bytes);
    sx_space_free(space);
}

static void a_space_without_vectors_is_refused(void **state) {
    (void)state;
    sx_expect_vectors_needed("ddpg");
}

static void a_space_without_a_legal_point_ends_it(void **state) {
    (void)state;
    sx_expect_barren_end("ddpg:width=8");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_are_better_than_draws),
        cmocka_unit_test(stored_points_are_not_repeated),
        cmocka_unit_test(checkpoints_resume_to_the_same_end),
        cmocka_unit_test(a_space_without_vectors_is_refused),
        cmocka_unit_test(a_space_without_a_legal_point_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
