/* What a search found, as callers see it. */
#include "api/options.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

const sx_network *sx_result_network(const sx_result *result) {
    return &result->network;
}

const sx_arch *sx_result_arch(const sx_result *result) {
    return &result->arch;
}

/* What became of a layer; NULL past the last. */
static const sx_layer_result *layer_of(const sx_result *result, size_t layer) {
    return layer < result->session.n_layers ? &result->session.layer[layer] : NULL;
}

const sx_answer *sx_result_best(const sx_result *result, size_t layer, size_t index) {
    const sx_layer_result *l = layer_of(result, layer);
    if (!l || !l->found) return NULL;
    if (index == 0) return &l->best;
    return index < l->n_best ? &l->other[index] : NULL;
}

const sx_answer *sx_result_front(const sx_result *result, size_t layer, size_t index) {
    const sx_layer_result *l = layer_of(result, layer);
    return l && index < l->n_front ? &l->front[index] : NULL;
}

const sx_mapping *sx_answer_mapping(const sx_answer *answer) {
    return &answer->mapping;
}

double sx_answer_total(const sx_answer *answer, sx_total total) {
    return sx_score_total(&answer->score, total);
}

double sx_answer_value(const sx_answer *answer) {
    return answer->value;
}

uint64_t sx_answer_evaluation(const sx_answer *answer) {
    return answer->evaluation;
}

double sx_result_figure_of(const sx_result *result, size_t layer, sx_result_figure figure) {
    const sx_layer_result *l = layer_of(result, layer);
    if (!l) return 0;
    switch (figure) {
    case SX_RESULT_EVALUATIONS:
        return (double)l->summary.evaluations;
    case SX_RESULT_VALID:
        return (double)l->summary.valid;
    case SX_RESULT_SECONDS:
        return l->summary.seconds;
    case SX_RESULT_LOWER_BOUND:
        return l->summary.lower_bound;
    case SX_RESULT_OPTIMAL:
        return l->summary.optimal;
    }
    return 0;
}

const char *sx_result_stop(const sx_result *result, size_t layer) {
    const sx_layer_result *l = layer_of(result, layer);
    return l ? sx_stop_name(l->summary.stop) : NULL;
}

const char *sx_result_diagnosis(const sx_result *result, size_t layer) {
    const sx_layer_result *l = layer_of(result, layer);
    return l ? l->diagnosis : NULL;
}

bool sx_result_trace(const sx_result *result, size_t layer, size_t index, uint64_t *evaluations,
                     double *seconds, double *value) {
    const sx_layer_result *l = layer_of(result, layer);
    if (!l || index >= l->n_trace) return false;
    if (evaluations) *evaluations = l->trace[index].evaluations;
    if (seconds) *seconds = l->trace[index].seconds;
    if (value) *value = l->trace[index].value;
    return true;
}

sx_status sx_result_certify(const sx_result *result, size_t layer, sx_input *input, char **out) {
    sx_certificate *certificate;
    const sx_problem *problem = sx_network_layer_problem(&result->network, layer);
    if (!problem) return sx_error_new(SX_ERR_USAGE, "the result has no layer %zu", layer);
    sx_constraints *limits = malloc(sizeof *limits);
    if (!limits) return sx_error_memory();
    sx_constraints_init(limits, problem, &result->arch);
    sx_status status = input ? sx_input_constraints(input, problem, &result->arch, limits) : SX_OK;
    if (!status) status = sx_result_certificate(result, layer, limits, &certificate);
    free(limits);
    SX_TRY(status);
    status = sx_certificate_write(certificate, out);
    sx_certificate_free(certificate);
    return status;
}

sx_status sx_certificate_check(const char *name, const char *text, size_t size, unsigned threads, bool *holds,
                               char **why) {
    sx_certificate *certificate;
    sx_verify_options options;
    sx_verification verification;
    sx_verify_options_init(&options);
    options.threads = threads;
    SX_TRY(sx_certificate_read(name, text, size, &certificate));
    sx_status status = sx_certificate_verify(certificate, &options, &verification);
    sx_certificate_free(certificate);
    SX_TRY(status);
    const bool held = verification.verdict == SX_CLAIMS_HOLD;
    if (!held && why && !(*why = strdup(verification.why))) return sx_error_memory();
    *holds = held;
    return SX_OK;
}
