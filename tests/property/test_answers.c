/* What a session answers for layers of the catalog on architectures of the catalog is legal, and costs the
 * same again when it is written, read back and evaluated with the layer as einsum text. */
#include "sextant/rng.h"
#include "support/compared.h"
#include "support/expect.h"

#include "registry/registry.h"
#include "sextant/all.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LAYERS = 2 }; /* of a network, so that the second begins from the first */

typedef struct settings {
    uint64_t count, seed;
} settings;

/* A random name of one of the catalog's lists. */
static const char *random_name(sx_rng *rng, const char *(*name)(size_t, const char **)) {
    size_t n = 0;
    const char *about;
    while (name(n, &about)) n++;
    return name(sx_rng_below(rng, n), &about);
}

/* A random navigator of those that search map spaces and end by a budget alone. That by surrogates needs one for
 * the architecture. */
static const char *random_mapper(sx_rng *rng) {
    const char *name, *space;
    do {
        name = random_name(rng, sx_navigator_name);
        space = sx_navigator_space(name);
    } while (sx_navigator_complete(name) || strcmp(name, "gradient") == 0 ||
             (space && strcmp(space, "map") != 0));
    return name;
}

/* The networks of the catalog that have a training. */
static const char *trained_name(size_t index, const char **about) {
    const char *name = sx_catalog_network_name(index, about);
    return name && !sx_catalog_has_phases(name) ? name : NULL;
}

/* Two random layers of a network, or a problem of the catalog. */
static void random_layers(sx_rng *rng, sx_network *out) {
    const sx_network_options options = {.training = sx_rng_below(rng, 2)};
    *out = (sx_network){.n_layers = 1, .layer = calloc(LAYERS, sizeof *out->layer)};
    assert_non_null(out->layer);
    out->layer[0].count = 1;
    if (sx_rng_below(rng, 3) == 0) {
        sx_expect_ok(sx_catalog_problem(random_name(rng, sx_catalog_problem_name), &out->layer[0].problem));
        return;
    }
    sx_network all;
    sx_expect_ok(sx_catalog_network(random_name(rng, trained_name), &options, &all));
    for (out->n_layers = 0; out->n_layers < LAYERS; out->n_layers++)
        out->layer[out->n_layers] = all.layer[sx_rng_below(rng, all.n_layers)];
    sx_network_fini(&all);
}

static void random_options(sx_rng *rng, sx_session_options *out) {
    static const char *const objectives[] = {"edp", "energy", "delay,energy", "last-level",
                                             "utilization,edp"};
    *out = (sx_session_options){.mapper = random_mapper(rng), .warm = (sx_warm)sx_rng_below(rng, 3)};
    sx_run_options_init(&out->run);
    sx_expect_ok(sx_objective_parse(objectives[sx_rng_below(rng, 5)], &out->run.objective));
    out->space.remainders = sx_rng_below(rng, 4) == 0;
    out->space.keep_all = sx_rng_below(rng, 4) == 0;
    out->space.no_banks = sx_rng_below(rng, 2);
    out->space.split_axes = !out->space.remainders && sx_rng_below(rng, 4) == 0;
    out->model.no_link_transfers = sx_rng_below(rng, 2);
    out->run.evaluations = 1 + sx_rng_below(rng, out->space.remainders ? 20 : 200);
    out->run.seed = sx_rng_next(rng);
    out->run.threads = 1 + (unsigned)sx_rng_below(rng, 2);
}

/* The score of a mapping's text read against a problem's. */
static sx_score score_of_text(const char *einsum, const char *text, const sx_arch *arch,
                              const sx_model_options *options) {
    sx_problem problem;
    sx_mapping mapping;
    sx_input *input;
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_cost *cost = calloc(1, sizeof *cost);
    assert_non_null(cost);
    sx_expect_ok(sx_einsum_parse(einsum, &problem));
    sx_expect_ok(sx_input_new(&input));
    sx_expect_ok(sx_input_add_text(input, "answer", text, strlen(text)));
    sx_expect_ok(sx_input_mapping(input, &problem, arch, &mapping));
    sx_expect_ok(sx_model_new(&problem, arch, options, &model));
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    assert_int_equal(sx_evaluate(evaluator, &mapping, cost).reason, SX_LEGAL);
    sx_score score = sx_cost_score(cost);
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
    sx_input_free(input);
    free(cost);
    return score;
}

/* Whether an answer for a layer costs what it says. */
static bool is_true(const sx_answer *answer, const sx_problem *problem, const sx_arch *arch,
                    const sx_session_options *options, sx_format format) {
    char *einsum, *text;
    sx_expect_ok(sx_einsum_text(problem, &einsum));
    sx_expect_ok(sx_mapping_write(&answer->mapping, problem, arch, format, &text));
    sx_score score = score_of_text(einsum, text, arch, &options->model);
    free(einsum);
    free(text);
    return score.energy_pj == answer->score.energy_pj && score.cycles == answer->score.cycles &&
           answer->value == sx_objective_value(&options->run.objective, &answer->score);
}

/* Whether the outermost memory holds all tensors of a problem. */
static bool fits(const sx_problem *problem, const sx_arch *arch) {
    double words = 0;
    for (int v = 0; v < problem->n_tensors; v++) words += (double)sx_problem_words(problem, v);
    return words <= (double)arch->level[arch->n_levels - 1].entries;
}

static void answers_cost_what_they_say(void **state) {
    const settings *set = *state;
    uint64_t compared = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "answers", i);
        sx_network network;
        sx_session_options options;
        sx_session_result result;
        sx_arch arch;
        const char *name = random_name(&rng, sx_catalog_arch_name);
        sx_expect_ok(sx_catalog_arch(name, &arch));
        random_layers(&rng, &network);
        random_options(&rng, &options);
        sx_expect_ok(sx_session_run(&network, &arch, &options, &result));
        for (size_t l = 0; l < network.n_layers; l++) {
            const sx_layer_result *layer = &result.layer[l];
            if (!layer->found && !fits(&network.layer[l].problem, &arch)) continue;
            if (layer->found && layer->summary.evaluations <= options.run.evaluations &&
                is_true(&layer->best, &network.layer[l].problem, &arch, &options, (sx_format)(i % 2))) {
                compared++;
                continue;
            }
            print_error("seed %llu, case %llu: %s on %s by %s: %s, %llu of %llu evaluations\n",
                        (unsigned long long)set->seed, (unsigned long long)i, network.layer[l].problem.name,
                        name, options.mapper, layer->found ? "found" : "none found",
                        (unsigned long long)layer->summary.evaluations,
                        (unsigned long long)options.run.evaluations);
            fail();
        }
        sx_session_result_fini(&result);
        sx_network_fini(&network);
    }
    sx_expect_compared("answers", compared, set->count);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 300,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(answers_cost_what_they_say, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
