#include "support/small_certificate.h"

#include "support/expect.h"
#include "verify/exact_energy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Fills in what a run has found. */
static void fill(const sx_small_space *small, const sx_objective *objective, sx_run *run, sx_certificate *c) {
    sx_run_summary summary = sx_run_result(run);
    sx_found found;
    assert_true(sx_run_best(run, 0, &found));
    c->problem = small->c.problem;
    c->arch = small->c.arch;
    c->constraints = small->limits;
    c->space = small->options;
    c->model = small->c.options;
    c->objective = *objective;
    sx_map_space_mapping(small->space, found.point, &c->mapping);
    c->score = sx_metrics_score(&found.metrics);
    sx_expect_ok(sx_mapping_exact_energy(small->model, &c->mapping, c->energy_exact));
    c->value = found.value;
    c->optimal = summary.optimal;
    c->lower_bound = summary.optimal ? found.value : summary.lower_bound;
    for (size_t i = 0; i < c->proof->n_entries; i++) c->searched += c->proof->searched[i];
    c->tables = c->proof->n_entries - c->searched;
    c->compulsory = c->proof->n_spatial - c->proof->n_entries;
    snprintf(c->version, sizeof c->version, "test");
    c->mapper = strdup("optimal");
    c->evaluations = summary.evaluations;
}

sx_certificate *sx_small_certificate(const sx_small_space *small, const sx_objective *objective,
                                     const char *mapper, uint64_t evaluations) {
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    options.objective = *objective;
    options.evaluations = evaluations;
    options.proof = true;
    sx_expect_ok(sx_run_new(small->space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, mapper));
    sx_certificate *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->proof = sx_run_take_proof(run);
    if (c->proof) {
        fill(small, objective, run, c);
    } else {
        sx_certificate_free(c);
        c = NULL;
    }
    sx_run_free(run);
    return c;
}

sx_certificate *sx_certificate_again(const sx_certificate *certificate) {
    sx_certificate *c = NULL;
    char *text, *again;
    sx_expect_ok(sx_certificate_write(certificate, &text));
    sx_status status = sx_certificate_read("certificate", text, strlen(text), &c);
    if (!status) {
        sx_expect_ok(sx_certificate_write(c, &again));
        assert_string_equal(text, again);
        free(again);
    }
    sx_status_free(status);
    free(text);
    return c;
}

bool sx_certificate_holds(const sx_certificate *certificate, unsigned threads, sx_verification *out) {
    sx_verify_options options = {.threads = threads};
    sx_expect_ok(sx_certificate_verify(certificate, &options, out));
    assert_int_not_equal(out->verdict, SX_CLAIMS_OPEN);
    return out->verdict == SX_CLAIMS_HOLD;
}

/* Whether a mapping has these spatial factors. */
static bool spreads_so(const sx_mapping *mapping, const uint32_t *spatial) {
    for (int s = 0; s < mapping->n_levels; s++, spatial += mapping->n_dims)
        if (memcmp(mapping->level[s].spatial, spatial, mapping->n_dims * sizeof *spatial) != 0) return false;
    return true;
}

double sx_small_least(const sx_small_space *small, const sx_objective *objective, const uint32_t *spatial) {
    void *point = malloc(sx_space_point_size(small->space));
    sx_model_workspace *evaluator;
    double least = INFINITY;
    sx_cardinal index = {.exact = true};
    sx_expect_ok(sx_model_workspace_new(small->model, &evaluator));
    for (; sx_space_at(small->space, &index, point); index.low++) {
        sx_mapping mapping;
        sx_score score;
        sx_map_space_mapping(small->space, point, &mapping);
        if (spatial && !spreads_so(&mapping, spatial)) continue;
        if (!sx_space_legal(small->space, point, NULL, 0)) continue;
        assert_int_equal(sx_evaluate_score(evaluator, &mapping, &score).reason, SX_LEGAL);
        least = fmin(least, sx_objective_value(objective, &score));
    }
    sx_model_workspace_free(evaluator);
    free(point);
    return least;
}
