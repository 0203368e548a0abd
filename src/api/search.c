/* Searching as callers see it: a network layer by layer, or one space. */
#include "api/own_cost.h"
#include "base/status.h"
#include "mapspace/map_space.h"
#include "model/latency.h"
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

/* Mapper number `index` and a line about it; NULL past the last. */
static const char *mapper_name(size_t index, const char **about) {
    const char *name;
    for (size_t i = 0; (name = sx_navigator_name(i, about)); i++) {
        const char *space = sx_navigator_space(name);
        if ((!space || strcmp(space, "map") == 0) && index-- == 0) return name;
    }
    return NULL;
}

const char *sx_list_name(sx_list list, size_t index, const char **about) {
    static const char *(*const name[])(size_t, const char **) = {
        sx_catalog_arch_name, sx_catalog_problem_name, sx_catalog_network_name,
        mapper_name,          sx_objective_name,       sx_options_name};
    return name[list](index, about);
}

/* Copies the layers of a network, bound to an architecture. */
static sx_status copy_layers(const sx_network *from, const sx_arch *arch, sx_network *out) {
    if (from->n_layers == 0) return sx_error_new(SX_ERR_USAGE, "the network '%s' has no layers", from->name);
    *out = *from;
    out->layer = malloc(from->n_layers * sizeof *out->layer);
    if (!out->layer) {
        *out = (sx_network){0};
        return sx_error_memory();
    }
    memcpy(out->layer, from->layer, from->n_layers * sizeof *out->layer);
    for (size_t i = 0; i < out->n_layers; i++) SX_TRY(sx_problem_bind_to(&out->layer[i].problem, arch));
    return SX_OK;
}

/* Sets what a result says of the search: its options, mapper and objective. */
static sx_status set_options(const sx_options *options, sx_result *result) {
    SX_TRY(sx_options_session(options, &result->options));
    SX_TRY(sx_navigator_text(result->options.mapper, "map", &result->mapper));
    result->options.mapper = result->mapper;
    SX_TRY(sx_warnings_new(&result->warnings));
    result->options.run.warnings = result->warnings;
    sx_objective_text(&result->options.run.objective, result->objective, sizeof result->objective);
    if (options->input && sx_input_energies(options->input)) {
        result->energies = strdup(sx_input_energies(options->input));
        if (!result->energies) return sx_error_memory();
    }
    return SX_OK;
}

/* Zeros are counted in every layer as they are in the first that Timeloop has no rules for. */
static void set_semantics(const sx_options *options, sx_result *result) {
    sx_model_options *model = &result->options.model;
    *model = sx_options_model(options, &result->network.layer[0].problem, &result->arch);
    for (size_t i = 1; i < result->network.n_layers; i++)
        model->sparse_timeloop &=
            sx_options_model(options, &result->network.layer[i].problem, &result->arch).sparse_timeloop;
}

/* Refuses an objective or an architecture that the latency of the model does not suit. */
static sx_status check_latency(const sx_result *result) {
    const sx_session_options *o = &result->options;
    return sx_latency_check(o->model.latency_tile, &result->arch, &o->run.objective);
}

static sx_status map_layers(const sx_network *network, const sx_options *options, sx_result *result) {
    SX_TRY(copy_layers(network, &result->arch, &result->network));
    SX_TRY(set_options(options, result));
    set_semantics(options, result);
    SX_TRY(check_latency(result));
    if (options->cost || options->function)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "a network is not searched by a function of the caller's"),
            "search the space of each layer by sx_space_search()");
    return sx_session_run(&result->network, &result->arch, &result->options, &result->session);
}

/* Searches without options by those of nobody. */
static sx_status with_options(const sx_options *given, sx_options **made, const sx_options **out) {
    *made = NULL;
    if (!given) SX_TRY(sx_options_new(made));
    *out = given ? given : *made;
    return SX_OK;
}

/* Forgets what belongs to the caller and may not outlive the search. */
static void detach_caller(sx_result *result) {
    sx_session_options *o = &result->options;
    o->store = NULL;
    o->checkpoint = NULL;
    o->run.cancel = NULL;
    o->run.progress = NULL;
    o->run.starts = NULL;
    o->run.n_starts = 0;
    o->run.user = o->user = NULL;
    o->constraints = NULL;
    o->run.objective.function = NULL;
    o->run.objective.name = NULL;
}

/* Hands a result over, or frees it. */
static sx_status hand_over_result(sx_status status, sx_options *made, sx_result *result, sx_result **out) {
    sx_options_free(made);
    detach_caller(result);
    if (status)
        sx_result_free(result);
    else
        *out = result;
    return status;
}

sx_status sx_map_network(const sx_network *network, const sx_arch *arch, const sx_options *options,
                         sx_result **out) {
    sx_options *made;
    const sx_options *used;
    sx_result *result;
    SX_TRY(sx_result_new(&result));
    result->arch = *arch;
    sx_status status = with_options(options, &made, &used);
    if (!status) status = map_layers(network, used, result);
    return hand_over_result(status, made, result, out);
}

/* Makes the start points of the options points of a space. */
static sx_status set_starts(const sx_space *space, const sx_options *options, unsigned char **points,
                            sx_run_options *run) {
    const size_t size = sx_space_point_size(space);
    *points = calloc(options->n_starts + 1, size);
    if (!*points) return sx_error_memory();
    for (size_t i = 0; i < options->n_starts; i++)
        (void)sx_map_space_point(space, &options->start[i], *points + i * size);
    run->starts = options->n_starts ? *points : NULL;
    run->n_starts = options->n_starts;
    return SX_OK;
}

/* Gives answers of a function of the caller's the totals that the model has. */
static sx_status set_scores(const sx_model *model, sx_answer *answers, size_t n) {
    sx_model_workspace *workspace;
    SX_TRY(sx_model_workspace_new(model, &workspace));
    for (size_t i = 0; i < n; i++) (void)sx_evaluate_score(workspace, &answers[i].mapping, &answers[i].score);
    sx_model_workspace_free(workspace);
    return SX_OK;
}

/* Runs the search, and copies out what it found. */
static sx_status run_search(const sx_space *space, const sx_point_model *model, sx_result *result,
                            sx_layer_result *layer) {
    sx_run *run;
    SX_TRY(sx_run_new(space, model, &result->options.run, &run));
    sx_status status = sx_run_search(run, result->mapper);
    if (!status) status = sx_session_collect(run, space, &result->options.run, layer);
    sx_run_free(run);
    return status;
}

/* Searches a space for the only layer of a result. */
static sx_status search_layer(const sx_space *space, const sx_options *options, sx_result *result) {
    sx_layer_result *layer = result->session.layer;
    sx_own_cost own;
    unsigned char *points = NULL;
    if (options->cost) SX_TRY(sx_own_cost_init(space, options, &own, &result->options.run.objective));
    sx_status status = set_starts(space, options, &points, &result->options.run);
    if (!status) status = run_search(space, options->cost ? &own.model : NULL, result, layer);
    free(points);
    const sx_model *model = sx_map_space_of(space)->model;
    if (!status && options->cost) status = set_scores(model, &layer->best, layer->found);
    if (!status && options->cost) status = set_scores(model, layer->other, layer->n_best);
    if (!status && options->cost) status = set_scores(model, layer->front, layer->n_front);
    return status;
}

/* Makes a result of one layer for a space. */
static sx_status begin_layer(const sx_space *space, sx_result *result) {
    const sx_map_space *map = sx_map_space_of(space);
    sx_network *network = &result->network;
    memcpy(network->name, map->problem->name, sizeof network->name);
    network->layer = calloc(1, sizeof *network->layer);
    result->session.layer = calloc(1, sizeof *result->session.layer);
    if (!network->layer || !result->session.layer) return sx_error_memory();
    memcpy(network->layer->name, map->problem->name, sizeof network->name);
    network->layer->count = network->n_layers = result->session.n_layers = 1;
    network->layer->problem = *map->problem;
    result->session.layer->warm_from = SX_WARM_NONE;
    result->arch = *map->arch;
    return SX_OK;
}

sx_status sx_space_search(const sx_space *space, const sx_options *options, sx_result **out) {
    sx_options *made;
    const sx_options *used;
    sx_result *result;
    SX_TRY(sx_result_new(&result));
    sx_status status = with_options(options, &made, &used);
    if (!status) status = set_options(used, result);
    if (!status) status = begin_layer(space, result);
    result->options.space = sx_map_space_of(space)->options;
    result->options.model = sx_map_space_of(space)->model->options;
    if (!status) status = check_latency(result);
    if (!status) status = search_layer(space, used, result);
    result->session.complete = true;
    result->session.found = result->session.layer && result->session.layer->found;
    return hand_over_result(status, made, result, out);
}
