/* The code that GPUs run, on the CPU: scores of points against whole costs, to the last bit, and a look at all mappings of
 * small spaces against the exhaustive mapper: test_gpu [count [seed]]. */
#include "gpu/gpu.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/gpu_points.h"
#include "support/random_space.h"

#include "sextant/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DRAWS = 24, FEWEST = 5 /* small spaces */ };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* The catalog's problems on its architectures, with and without links and bypass. */
static void catalog(void **state) {
    const settings *set = *state;
    sx_gpu_tally t = {0};
    const char *problem, *arch;
    for (uint64_t round = 0; t.points < set->count; round++)
        for (size_t p = 0; t.points < set->count && (problem = sx_catalog_problem_name(p, NULL)); p++)
            for (size_t a = 0; t.points < set->count && (arch = sx_catalog_arch_name(a, NULL)); a++) {
                sx_problem pr;
                sx_arch ar;
                sx_model *model;
                sx_space *space;
                sx_model_options options;
                sx_map_space_options how = {.keep_all = (p + a + round) % 5 == 0, .no_banks = true};
                sx_model_options_init(&options);
                options.no_link_transfers = (p + a + round) % 3 == 0;
                options.no_first_read_elision = (p + a + round) % 4 == 0;
                sx_expect_ok(sx_catalog_problem(problem, &pr));
                sx_expect_ok(sx_catalog_arch(arch, &ar));
                sx_expect_ok(sx_model_new(&pr, &ar, &options, &model));
                sx_expect_ok(sx_map_space_new(model, NULL, &how, &space));
                sx_gpu_compare_space(space, model, set->seed + round, DRAWS, &t);
                sx_space_free(space);
                sx_model_free(model);
            }
    print_message("%llu of %llu points not covered, %llu images\n", (unsigned long long)t.uncovered,
                  (unsigned long long)t.points, (unsigned long long)t.images);
    sx_expect_compared("legal points of the catalog", t.legal, set->count / 4);
}

/* The best value that the exhaustive mapper finds; INFINITY: none is legal. */
static double search(const sx_small_space *small, const sx_objective *objective) {
    sx_run_options options;
    sx_run *run;
    sx_found found = {.value = INFINITY};
    sx_run_options_init(&options);
    options.objective = *objective;
    sx_expect_ok(sx_run_new(small->space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, "exhaustive"));
    double value = sx_run_best(run, 0, &found) ? found.value : INFINITY;
    sx_run_free(run);
    return value;
}

/* Compares what a look at all mappings found with the exhaustive mapper and with the cost of its mapping. */
static void compare_look(const sx_small_space *small, const sx_objective *objective,
                         const sx_gpu_look_answer *answer) {
    sx_model_workspace *evaluator;
    sx_score score;
    double value = search(small, objective);
    assert_true(answer->complete);
    assert_int_equal(answer->found, isfinite(value));
    assert_true((double)answer->counts.legal <= answer->mappings * (1 + 1e-9));
    if (!answer->found) return;
    assert_true(answer->value == value);
    sx_expect_ok(sx_model_workspace_new(small->model, &evaluator));
    assert_true(sx_space_legal(small->space, &answer->mapping, NULL, 0));
    assert_int_equal(sx_evaluate_score(evaluator, &answer->mapping, &score).reason, SX_LEGAL);
    assert_true(sx_objective_value(objective, &score) == value);
    sx_model_workspace_free(evaluator);
}

/* All mappings of small random spaces. */
static void small(void **state) {
    const settings *set = *state;
    sx_gpu_tally t = {0};
    uint64_t compared = 0;
    for (uint64_t i = 0; t.points < set->count || compared < FEWEST; i++) {
        static const char *const objectives[] = {"edp", "energy", "delay", "e^2*d"};
        sx_rng rng = sx_rng_stream(set->seed, "gpu", i);
        sx_small_space s;
        sx_objective objective;
        sx_gpu_look_answer answer;
        sx_gpu_look_options options = {.limit = 1e10};
        sx_random_space(&rng, 6000, &s);
        sx_expect_ok(sx_objective_parse(objectives[i % 4], &objective));
        sx_gpu_compare_space(s.space, s.model, set->seed + i, DRAWS, &t);
        sx_status status = sx_gpu_look_everywhere(s.space, &objective, &options, &answer);
        if (!status) compare_look(&s, &objective, &answer);
        compared += !status;
        sx_status_free(status);
        sx_small_space_fini(&s);
    }
    sx_expect_compared("legal points of small spaces", t.legal, set->count / 8);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 6000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(catalog, &set),
        cmocka_unit_test_prestate(small, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
