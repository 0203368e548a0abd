#include "cli/search.h"

#include "base/choice.h"
#include "base/file.h"
#include "base/ranks.h"
#include "frontend/timeloop/constraints.h"
#include "input/set_option.h"
#include "model/latency.h"
#include "scale/launch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 1024 };

/* Refuses a count of 0 for an option. */
static sx_status at_least_one(const sx_args *args, const char *name) {
    if (sx_args_count(args, name, 1) >= 1) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s is 0; it must be at least 1", name),
                         "omit --%s for no limit", name);
}

sx_status sx_search_threads(const sx_args *args, unsigned *out) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (args->ranks) processors /= (long)sx_launch_neighbours();
    uint64_t preset = processors < 1 ? 1 : processors > MAX_THREADS ? MAX_THREADS : (uint64_t)processors;
    uint64_t threads = sx_args_count(args, "threads", preset);
    if (threads < 1 || threads > MAX_THREADS)
        return sx_error_new(SX_ERR_USAGE, "--threads must be between 1 and %d", MAX_THREADS);
    *out = (unsigned)threads;
    return SX_OK;
}

sx_status sx_search_run_options(const sx_args *args, uint64_t evaluations, sx_run_options *out) {
    sx_run_options o;
    const char *objective = sx_args_text(args, "objective", 0);
    bool limited = sx_args_flag(args, "evals") || sx_args_flag(args, "time") ||
                   sx_args_flag(args, "target") || sx_args_flag(args, "patience");
    sx_run_options_init(&o);
    if (objective) SX_TRY(sx_objective_parse(objective, &o.objective));
    SX_TRY(at_least_one(args, "evals"));
    SX_TRY(at_least_one(args, "patience"));
    SX_TRY(sx_search_threads(args, &o.threads));
    o.evaluations = sx_args_count(args, "evals", limited ? 0 : evaluations);
    o.seconds = sx_args_number(args, "time", 0);
    o.target = sx_args_number(args, "target", 0);
    o.patience = sx_args_count(args, "patience", 0);
    o.seed = sx_args_count(args, "seed", 0);
    o.warnings = args->warnings;
    o.ranks = args->ranks;
    if (o.seed > INT64_MAX)
        return sx_error_new(SX_ERR_USAGE, "--seed must be at most %lld", (long long)INT64_MAX);
    if (sx_args_flag(args, "time") && o.seconds <= 0)
        return sx_error_new(SX_ERR_USAGE, "--time is %g; it must be more than 0 seconds", o.seconds);
    if (sx_args_flag(args, "target") && o.target == 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--target is 0, which no mapping reaches"),
                             "omit --target to search until the budget is used up");
    *out = o;
    return SX_OK;
}

sx_status sx_search_objective(sx_sources *sources, sx_objective *objective, char *text, size_t size,
                              sx_text *err) {
    sx_place place = {0};
    if (!sx_args_flag(sources->args, "objective")) SX_TRY(sx_sources_objective(sources, objective, &place));
    sx_objective_text(objective, text, size);
    if (place.file && !sx_args_flag(sources->args, "quiet"))
        sx_text_add(err, "note: objective %s from %s:%d; --objective overrides it\n", text, place.file,
                    place.line);
    return SX_OK;
}

sx_map_space_options sx_search_space_options(const sx_args *args) {
    return (sx_map_space_options){
        .remainders = sx_args_flag(args, "remainders"),
        .keep_all = sx_args_flag(args, "keep-all"),
        .no_banks = sx_args_flag(args, "no-banks"),
        .split_axes = sx_args_flag(args, "split-axes"),
    };
}

/* Whether --latency is tile. */
static bool tile_latency(const sx_args *args) {
    const char *latency = sx_args_text(args, "latency", 0);
    return latency && strcmp(latency, "tile") == 0;
}

sx_status sx_search_check_latency(const sx_args *args, const sx_arch *arch, const sx_objective *objective) {
    const char *latency = sx_args_text(args, "latency", 0);
    if (latency) SX_TRY(sx_choice_read("--latency", latency, "timeloop, tile", NULL));
    return sx_latency_check(tile_latency(args), arch, objective);
}

sx_status sx_search_check_sparse(const sx_args *args, const sx_arch *arch, sx_warnings *warnings) {
    static const char *const idle[] = {"density", "densities", "sparse-semantics"};
    if (sx_args_flag(args, "search-formats") && arch->sparse.n_formats == 0)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--search-formats: no level of '%s' has a format", arch->name),
            "formats are given by `sparse_optimizations`; leave the option out");
    for (size_t i = 0; i < sizeof idle / sizeof *idle && !sx_sparse_active(&arch->sparse); i++)
        if (sx_args_flag(args, idle[i]))
            sx_warnings_tell(warnings, "--%s has no effect: '%s' has no formats, gating or skipping", idle[i],
                             arch->name);
    return sx_warnings_status(warnings);
}

sx_model_options sx_search_model_options(const sx_args *args) {
    const char *semantics = sx_args_text(args, "sparse-semantics", 0);
    bool like = sx_args_flag(args, "like");
    return (sx_model_options){
        .no_first_read_elision = sx_args_flag(args, "no-first-read-elision"),
        .no_link_transfers = sx_args_flag(args, "no-link-transfers"),
        .sparse_timeloop = semantics ? strcmp(semantics, "timeloop") == 0 : like,
        .like_timeloop = like,
        .latency_tile = tile_latency(args),
    };
}

void sx_search_semantics(const sx_args *args, const sx_problem *problem, const sx_arch *arch,
                         sx_model_options *options) {
    if (sx_args_flag(args, "sparse-semantics")) return;
    bool like = sx_args_flag(args, "like") && sx_sparse_active(&arch->sparse);
    options->sparse_timeloop = like || sx_model_prefers_timeloop(problem, arch);
}

void sx_search_network_semantics(const sx_args *args, const sx_network *network, const sx_arch *arch,
                                 sx_model_options *options) {
    bool all = true;
    for (size_t i = 0; i < network->n_layers && all; i++) {
        sx_search_semantics(args, &network->layer[i].problem, arch, options);
        all = options->sparse_timeloop;
    }
}

sx_status sx_search_mapper(const char *text) {
    char *full = NULL;
    sx_status status = sx_navigator_text(text, "map", &full);
    free(full);
    return status;
}

bool sx_search_has_setting(const char *method, const char *name) {
    sx_setting_about setting;
    for (size_t i = 0; sx_navigator_setting(method, i, &setting); i++)
        if (strcmp(setting.name, name) == 0) return true;
    return false;
}

sx_status sx_search_with(const char *method, const char *name, const char *value, char **out) {
    sx_text all = {0};
    sx_text_add(&all, "%s%s%s=%s", method, method[strcspn(method, ":")] ? "," : ":", name, value);
    return sx_text_take(&all, out);
}

sx_status sx_search_with_path(const char *method, const char *option, const char *name, const char *path,
                              char **out) {
    sx_text value = {0};
    char *text;
    if (strchr(path, '"'))
        return sx_error_new(SX_ERR_USAGE, "--%s: a path cannot have quotation marks", option);
    sx_text_add(&value, "\"%s\"", path);
    SX_TRY(sx_text_take(&value, &text));
    sx_status status = sx_search_with(method, name, text, out);
    free(text);
    return status;
}

sx_status sx_search_writable(const sx_args *args) {
    if (sx_ranks_follows(args->ranks)) return SX_OK;
    static const char *const names[] = {"output", "csv", "svg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = sx_args_text(args, names[i], 0);
        if (path) SX_TRY(sx_file_writable(path));
    }
    return SX_OK;
}

sx_status sx_sources_space(sx_sources *sources, const sx_problem *problem, const sx_arch *arch,
                           sx_search_space *out) {
    sx_model_options model = sx_search_model_options(sources->args);
    sx_map_space_options space = sx_search_space_options(sources->args);
    sx_constraints constraints;
    memset(out, 0, sizeof *out);
    SX_TRY(sx_sources_constraints(sources, problem, arch, &constraints));
    sx_search_semantics(sources->args, problem, arch, &model);
    return sx_search_space_init(problem, arch, &constraints, &model, &space, out);
}

void sx_search_foresee(sx_sources *sources, const sx_network *network, const sx_arch *arch) {
    sx_constraints limits;
    for (size_t i = 0; i < network->n_layers; i++)
        sx_status_free(sx_sources_constraints(sources, &network->layer[i].problem, arch, &limits));
}

/* Whether no note before number `index` says the same. */
static bool is_new(const sx_sources *sources, size_t index) {
    const char *note = sx_sources_note(sources, index);
    for (size_t i = 0; i < index; i++)
        if (strcmp(sx_sources_note(sources, i), note) == 0) return false;
    return true;
}

sx_status sx_search_notes(const sx_args *args, sx_sources *sources, bool searches, sx_output *result) {
    size_t n = 0;
    sx_text *err = &result->err;
    SX_TRY(sources->args ? sx_set_option_check_files(sources, NULL, NULL) : sx_set_option_check(args));
    SX_TRY(sx_sources_warnings(sources, result->warnings));
    if (sx_args_flag(args, "quiet")) return SX_OK;
    err->failed |= sources->said.failed;
    if (sources->said.size) sx_text_add(err, "%s", sources->said.data);
    for (size_t i = 0; sx_sources_note(sources, i); i++) {
        if (!is_new(sources, i) || (searches && sx_note_of_search(sx_sources_note(sources, i)))) continue;
        n++;
        if (sx_args_flag(args, "verbose")) sx_text_add(err, "note: %s\n", sx_sources_note(sources, i));
    }
    if (n && !sx_args_flag(args, "verbose"))
        sx_text_add(err, "note: %zu input item%s %s no effect on the cost; --verbose lists %s\n", n,
                    n == 1 ? "" : "s", n == 1 ? "has" : "have", n == 1 ? "it" : "them");
    return SX_OK;
}
