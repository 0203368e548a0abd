#include "sextant/result.h"

#include "base/status.h"
#include "sextant/all.h"
#include "verify/exact_energy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sx_status sx_result_new(sx_result **out) {
    sx_result *result = calloc(1, sizeof *result);
    if (!result) return sx_error_memory();
    sx_run_options_init(&result->options.run);
    *out = result;
    return SX_OK;
}

void sx_result_free(sx_result *result) {
    if (!result) return;
    sx_session_result_fini(&result->session);
    sx_network_fini(&result->network);
    free(result->mapper);
    free(result->version);
    free(result->problem);
    free(result->energies);
    free(result->evaluator);
    sx_fused_free(result->fused);
    free(result->timing);
    if (result->graph) sx_graph_fini(result->graph);
    free(result->graph);
    if (result->then) sx_graph_fini(result->then);
    free(result->then);
    sx_warnings_free(result->warnings);
    free(result);
}

sx_result_sum sx_result_summed(const sx_result *result) {
    sx_result_sum sum = {0};
    bool bounded = true;
    if (result->options.run.objective.network) {
        const double value = result->session.network_value, bound = result->session.network_bound;
        return (sx_result_sum){value, bound, bound >= value ? value : 0};
    }
    if (!result->session.found || result->options.run.objective.n_criteria > 1) return sum;
    for (size_t i = 0; i < result->session.n_layers; i++) {
        const sx_layer_result *layer = &result->session.layer[i];
        const double times = (double)result->network.layer[i].count;
        sum.value += times * layer->best.value;
        sum.lower_bound += times * (layer->summary.optimal ? layer->best.value : layer->summary.lower_bound);
        if (layer->summary.optimal) sum.proven += times * layer->best.value;
        bounded &= layer->summary.optimal || layer->summary.lower_bound > 0;
    }
    if (!bounded) sum.lower_bound = 0;
    return sum;
}

/* Refuses an answer to several criteria that is not proven, or whose first criterion is within the tolerance of its least
 * value but not at it: no other mapping is there to show that value. */
static sx_status check_criteria(const sx_result *r, const sx_layer_result *layer) {
    if (r->options.run.objective.n_criteria == 1) return SX_OK;
    if (!layer->summary.optimal)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT, "the optimum of several criteria was not proven; no "
                                                        "certificate is written"),
                             "give the search more time");
    if (layer->proof->lower_bound >= sx_proof_floor(layer->best.value)) return SX_OK;
    return sx_error_hint(
        sx_error_new(SX_ERR_LIMIT,
                     "the first criterion is %.6g, and %.6g at least; certificates of several "
                     "criteria need its least value",
                     layer->best.value, layer->proof->lower_bound),
        "certify the first criterion alone");
}

/* Refuses a layer of which no certificate can be made. */
static sx_status check_layer(const sx_result *r, size_t layer) {
    if (layer >= r->session.n_layers) return sx_error_new(SX_ERR_USAGE, "the result has no layer %zu", layer);
    if (!r->session.layer[layer].found || !r->session.layer[layer].proof)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT,
                                          "no lower bound was proven for %s; no certificate is written",
                                          r->network.layer[layer].name),
                             "give the search more time");
    return check_criteria(r, &r->session.layer[layer]);
}

/* Counts the spatial mappings that each reason closes. */
static void count_reasons(sx_certificate *c) {
    for (size_t i = 0; i < c->proof->n_entries; i++) c->searched += c->proof->searched[i];
    c->tables = c->proof->n_entries - c->searched;
    c->compulsory = c->proof->n_spatial - c->proof->n_entries;
}

/* Sets the energies of all mappings without rounding. */
static sx_status set_exact_energies(sx_certificate *c) {
    sx_model *model;
    SX_TRY(sx_model_new(&c->problem, &c->arch, &c->model, &model));
    sx_status status = sx_mapping_exact_energy(model, &c->mapping, c->energy_exact);
    for (size_t i = 0; i < c->n_front && !status; i++)
        status = sx_mapping_exact_energy(model, &c->front[i].mapping, c->front[i].energy_exact);
    sx_model_free(model);
    return status;
}

/* Collects a front that is proven, by cycles. */
static sx_status fill_front(const sx_layer_result *from, sx_certificate *c) {
    if (from->n_front == 0 || !from->summary.optimal) return SX_OK;
    c->front = calloc(from->n_front, sizeof *c->front);
    if (!c->front) return sx_error_memory();
    c->n_front = from->n_front;
    for (size_t i = 0; i < c->n_front; i++) {
        const sx_answer *answer = &from->front[c->n_front - 1 - i];
        c->front[i].mapping = answer->mapping;
        c->front[i].score = answer->score;
    }
    return SX_OK;
}

/* Collects the claims about a layer. */
static sx_status fill_certificate(const sx_layer_result *from, const sx_certified_space *of,
                                  sx_certificate *c) {
    SX_TRY(sx_proof_copy(from->proof, &c->proof));
    if (of->mapper && !(c->mapper = strdup(of->mapper))) return sx_error_memory();
    c->problem = *of->problem;
    c->arch = *of->arch;
    c->constraints = *of->constraints;
    c->space = of->options->space;
    c->space.remainders |= from->remainders || from->any_optimal;
    c->model = of->options->model;
    c->objective = of->options->run.objective;
    c->mapping = from->best.mapping;
    c->score = from->best.score;
    c->value = from->best.value;
    c->optimal = from->summary.optimal;
    c->lower_bound = c->optimal ? c->value : c->proof->lower_bound;
    count_reasons(c);
    snprintf(c->version, sizeof c->version, "%s", of->version ? of->version : sx_version());
    c->seed = of->options->run.seed;
    c->evaluations = from->summary.evaluations;
    SX_TRY(fill_front(from, c));
    return set_exact_energies(c);
}

sx_status sx_layer_certificate(const sx_layer_result *result, const sx_certified_space *of,
                               sx_certificate **out) {
    sx_certificate *c = calloc(1, sizeof *c);
    if (!c) return sx_error_memory();
    sx_status status = fill_certificate(result, of, c);
    if (status)
        sx_certificate_free(c);
    else
        *out = c;
    return status;
}

sx_status sx_result_certificate(const sx_result *r, size_t layer, const sx_constraints *constraints,
                                sx_certificate **out) {
    SX_TRY(check_layer(r, layer));
    const sx_certified_space of = {
        &r->network.layer[layer].problem, &r->arch, constraints, &r->options, r->mapper, r->version};
    return sx_layer_certificate(&r->session.layer[layer], &of, out);
}
