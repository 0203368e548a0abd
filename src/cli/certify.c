#include "cli/certify.h"

#include "base/file.h"
#include "run/registry.h"
#include "sextant/certificate.h"
#include "sextant/sextant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sx_status sx_certify_check(const sx_mapping_report *job) {
    const sx_session_options *o = &job->options;
    if (!sx_navigator_proves(job->asked))
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "the mapper '%s' does not prove optimality", job->asked),
            "--certificate needs --mapper optimal or auto");
    if (o->space.remainders)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--certificate does not support --remainders"),
                             "leave out --remainders or --certificate");
    if (o->run.objective.n_criteria > 1)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--certificate does not support objectives with several criteria"),
            "give one of '%s' as --objective", job->objective);
    if (o->run.k_best > 1 || o->run.pareto)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "a certificate covers a single mapping"),
                             "leave out --%s or --certificate", o->run.pareto ? "pareto" : "k-best");
    return SX_OK;
}

/* Puts together what is claimed of a layer. */
static void fill(const sx_mapping_report *job, size_t layer, const sx_layer_result *result,
                 const sx_constraints *constraints, sx_certificate *c) {
    c->problem = job->network.layer[layer].problem;
    c->arch = job->arch;
    c->constraints = *constraints;
    c->space = job->options.space;
    c->model = job->options.model;
    c->objective = job->options.run.objective;
    c->mapping = result->best.mapping;
    c->score = result->best.score;
    c->value = result->best.value;
    c->optimal = result->summary.optimal;
    c->lower_bound = c->optimal ? c->value : result->summary.lower_bound;
    c->proof = result->proof;
    for (size_t i = 0; i < c->proof->n_entries; i++) c->searched += c->proof->searched[i];
    c->tables = c->proof->n_entries - c->searched;
    c->compulsory = c->proof->n_arrays - c->proof->n_entries;
    snprintf(c->version, sizeof c->version, "%s", sx_version());
    c->mapper = job->mapper;
    c->seed = job->options.run.seed;
    c->evaluations = result->summary.evaluations;
}

sx_status sx_certify_layer(const sx_mapping_report *job, size_t layer, const sx_layer_result *result,
                           const sx_constraints *constraints, const char *path) {
    char *text = NULL;
    if (!result->proof)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT,
                                          "no lower bound was proven for %s; no certificate is written",
                                          job->network.layer[layer].name),
                             "give the search more time");
    sx_certificate *c = calloc(1, sizeof *c);
    if (!c) return sx_error_memory();
    fill(job, layer, result, constraints, c);
    sx_status status = sx_certificate_write(c, &text);
    if (!status) status = sx_file_write(path, text, strlen(text));
    free(text);
    free(c);
    return status;
}
