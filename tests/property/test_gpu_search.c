/* The mappers that run on a GPU, by the same code on the CPU, on small random spaces: against the exhaustive mapper, and
 * against themselves: test_gpu_search [count [seed]]. */
#include "gpu/gpu.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_space.h"

#include "sextant/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVALUATIONS = 20000, CASES_PER_SPACE = 1000, FEWEST = 5 /* spaces */ };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* What a search came to. */
typedef struct outcome {
    sx_run_summary summary;
    double value; /* infinite: nothing was found */
    sx_mapping mapping;
} outcome;

/* Copies out what a run found. */
static outcome outcome_of(const sx_space *space, const sx_run *run) {
    outcome out = {.summary = sx_run_result(run), .value = INFINITY};
    sx_found found;
    memset(&out.mapping, 0, sizeof out.mapping);
    if (!sx_run_best(run, 0, &found)) return out;
    out.value = found.value;
    sx_map_space_mapping(space, found.point, &out.mapping);
    return out;
}

/* Searches by a mapper of the GPU on the CPU; false where it does not take the space. */
static bool search(const sx_small_space *small, const char *mapper, const sx_run_options *options,
                   outcome *out) {
    sx_gpu_search how = {.gpu = false};
    const sx_gpu_mapper *entry = sx_gpu_mapper_find(mapper);
    assert_non_null(entry);
    sx_navigator navigator = entry->navigator;
    navigator.user = &how;
    sx_run *run;
    sx_expect_ok(sx_run_new(small->space, NULL, options, &run));
    const char *values = strchr(mapper, ':');
    sx_status status = sx_run_search_by(run, entry->own, &navigator, values ? values + 1 : NULL);
    *out = outcome_of(small->space, run);
    sx_run_free(run);
    bool taken = !status;
    sx_status_free(status);
    return taken;
}

/* The same by the exhaustive mapper of the CPU. */
static outcome search_all(const sx_small_space *small, const sx_run_options *options) {
    sx_run *run;
    sx_expect_ok(sx_run_new(small->space, NULL, options, &run));
    sx_expect_ok(sx_run_search(run, "exhaustive"));
    outcome out = outcome_of(small->space, run);
    sx_run_free(run);
    return out;
}

/* How often a mapper found the optimum; points: of spaces that compact points cover. */
typedef struct tally {
    uint64_t spaces, points, random, pruned, gamma;
} tally;

/* A mapper with a budget: never better than the optimum, within the budget, and the same twice; whether it found the
 * optimum. */
static bool compare(const sx_small_space *small, const char *mapper, const sx_run_options *options,
                    const outcome *best) {
    outcome a, b;
    assert_true(search(small, mapper, options, &a));
    assert_true(search(small, mapper, options, &b));
    a.summary.seconds = b.summary.seconds = 0;
    assert_memory_equal(&a.mapping, &b.mapping, sizeof a.mapping);
    assert_true(a.value == b.value && a.summary.evaluations == b.summary.evaluations &&
                a.summary.valid == b.summary.valid && a.summary.rejected == b.summary.rejected);
    assert_true(a.value >= best->value);
    assert_true(a.summary.evaluations <= options->evaluations && a.summary.valid <= a.summary.evaluations);
    assert_int_equal(a.summary.stop, SX_STOP_EVALUATIONS);
    assert_false(a.summary.optimal);
    return a.value == best->value;
}

/* Compares all mappers with the exhaustive one of the CPU. */
static void compare_all(const sx_small_space *small, const sx_objective *objective, uint64_t seed, tally *t) {
    sx_run_options options;
    outcome all;
    sx_run_options_init(&options);
    options.objective = *objective;
    if (!search(small, "exhaustive", &options, &all)) return;
    outcome best = search_all(small, &options);
    assert_true(all.value == best.value);
    assert_int_equal(all.summary.stop, SX_STOP_DONE);
    assert_int_equal(all.summary.evaluations, best.summary.evaluations);
    assert_int_equal(all.summary.optimal, isfinite(all.value));
    assert_int_equal(all.summary.none, !isfinite(all.value));
    if (!isfinite(best.value)) return;
    options.evaluations = EVALUATIONS;
    options.seed = seed;
    t->pruned += compare(small, "pruned", &options, &best);
    t->spaces++;
    if (!search(small, "random", &options, &all)) return;
    t->random += compare(small, "random", &options, &best);
    t->gamma += compare(small, "gamma:islands=4,exchange=8", &options, &best);
    t->points++;
}

static void mappers(void **state) {
    const settings *set = *state;
    tally t = {0};
    for (uint64_t i = 0; t.spaces < FEWEST + set->count / CASES_PER_SPACE; i++) {
        static const char *const objectives[] = {"edp", "energy", "delay", "e^2*d"};
        sx_rng rng = sx_rng_stream(set->seed, "gpu search", i);
        sx_small_space s;
        sx_objective objective;
        sx_random_space(&rng, 6000, &s);
        sx_expect_ok(sx_objective_parse(objectives[i % 4], &objective));
        compare_all(&s, &objective, set->seed + i, &t);
        sx_small_space_fini(&s);
    }
    print_message("the optimum of %llu spaces: pruned %llu times; of %llu: random %llu, gamma %llu\n",
                  (unsigned long long)t.spaces, (unsigned long long)t.pruned, (unsigned long long)t.points,
                  (unsigned long long)t.random, (unsigned long long)t.gamma);
    sx_expect_compared("spaces of compact points", t.points, 3);
    sx_expect_compared("optima by random", t.random, t.points / 2);
    sx_expect_compared("optima by pruned", t.pruned, t.spaces / 2);
    sx_expect_compared("optima by gamma", t.gamma, t.points * 3 / 4);
}

/* A space of the catalog and its image. */
typedef struct pair {
    sx_model *model;
    sx_small_space small;
    sx_gpu_image *image;
    sx_gpu_device *device;
} pair;

static void pair_init(pair *p) {
    sx_problem problem;
    sx_arch arch;
    sx_objective objective;
    char message[SX_CUDA_MESSAGE];
    *p = (pair){0};
    sx_expect_ok(sx_catalog_problem("resnet-conv4", &problem));
    sx_expect_ok(sx_catalog_arch("accel-a", &arch));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &p->model));
    sx_expect_ok(sx_map_space_new(p->model, NULL, NULL, &p->small.space));
    sx_expect_ok(sx_objective_parse("edp", &objective));
    sx_expect_ok(sx_gpu_image_new(p->small.space, &objective, SX_GPU_POINTS | SX_GPU_TABLES, &p->image));
    assert_int_equal(sx_gpu_emulation()->make(p->image, &p->device, message), 0);
}

static void pair_fini(pair *p) {
    sx_gpu_emulation()->end(p->device);
    free(p->image);
    sx_space_free(p->small.space);
    sx_model_free(p->model);
}

/* Draws and blocks of orders in parts are those of the whole. */
static void parts(void **state) {
    const sx_gpu_module *cpu = sx_gpu_emulation();
    const uint64_t cuts[] = {0, 1, 700, 4000};
    sx_gpu_found whole[2], sum[2];
    uint64_t listed, all, some = 0;
    char message[SX_CUDA_MESSAGE];
    pair p;
    (void)state;
    pair_init(&p);
    for (int i = 0; i < 2; i++) whole[i] = sum[i] = (sx_gpu_found){.best = {.value = INFINITY}};
    assert_int_equal(cpu->draw(p.device, 3, 0, 4000, &whole[0], message), 0);
    assert_int_equal(cpu->prune(p.device, 3, 0, 4000, 4000, &all, &whole[1], message), 0);
    for (int i = 0; i < 3; i++) {
        uint64_t n = cuts[i + 1] - cuts[i];
        assert_int_equal(cpu->draw(p.device, 3, cuts[i], n, &sum[0], message), 0);
        assert_int_equal(cpu->prune(p.device, 3, cuts[i], n, n, &listed, &sum[1], message), 0);
        some += listed;
    }
    assert_int_equal(some, all);
    assert_true(all > 0 && all < 4000);
    assert_memory_equal(whole, sum, sizeof whole);
    sum[1] = (sx_gpu_found){.best = {.value = INFINITY}};
    assert_int_equal(cpu->prune(p.device, 3, 0, 4000, all - 1, &listed, &sum[1], message), 0);
    assert_int_equal(listed, all);
    assert_int_equal(sum[1].counts.legal, 0);
    pair_fini(&p);
}

/* What ends a search besides its budget. */
static void endings(void **state) {
    sx_run_options options;
    outcome out;
    pair p;
    (void)state;
    pair_init(&p);
    sx_run_options_init(&options);
    options.patience = 100000;
    assert_true(search(&p.small, "gamma:islands=1", &options, &out));
    assert_int_equal(out.summary.stop, SX_STOP_PATIENCE);
    options.patience = 0;
    options.target = out.value * 2;
    assert_true(search(&p.small, "gamma:islands=1", &options, &out));
    assert_int_equal(out.summary.stop, SX_STOP_TARGET);
    assert_true(out.value <= options.target);
    sx_cancel cancel = {0};
    sx_cancel_set(&cancel);
    options.target = 0;
    options.cancel = &cancel;
    assert_true(search(&p.small, "exhaustive", &options, &out));
    assert_int_equal(out.summary.stop, SX_STOP_SIGNAL);
    assert_false(out.summary.optimal);
    pair_fini(&p);
}

/* Streams of seeds that differ in any bit are others. */
static void streams(void **state) {
    (void)state;
    for (int i = 0; i < 64; i++) {
        assert_true(sx_gpu_stream(1ull << i, 0, 5).state != sx_gpu_stream(0, 0, 5).state);
        assert_true(sx_gpu_stream(7, 0, 1ull << i).state != sx_gpu_stream(7, 0, 0).state);
        assert_true(sx_gpu_stream(7, 1ull << i, 0).state != sx_gpu_stream(7, 0, 0).state);
    }
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 6000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(mappers, &set),
        cmocka_unit_test(parts),
        cmocka_unit_test(endings),
        cmocka_unit_test(streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
