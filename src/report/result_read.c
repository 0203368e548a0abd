#include "report/json_parts.h"
/* Results from JSON. It is read as all documents are, so that every error has its place, but without
 * templates: a result is data. */
#include "report/result_read.h"

#include "base/warnings.h"
#include "frontend/input.h"
#include "text/document/yaml.h"
#include "verify/certificate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MEMORY = 128 << 20 };

/* The value of a key that must be there. */
static sx_status require_key(const sx_node *map, const char *key, const sx_node **out) {
    return sx_node_require(map, key, "the result", out);
}

sx_status sx_result_finite(const sx_node *map, const char *key, double *out) {
    const sx_node *node;
    double value;
    SX_TRY(require_key(map, key, &node));
    SX_TRY(sx_node_double(node, key, &value));
    if (!isfinite(value)) return sx_error_at(node->place, "'%s' is not finite", key);
    *out = value;
    return SX_OK;
}

sx_status sx_result_number(const sx_node *map, const char *key, double *out) {
    const sx_node *node = sx_node_get(map, key);
    if (!node || node->kind != SX_NODE_NULL) return sx_result_finite(map, key, out);
    *out = INFINITY;
    return SX_OK;
}

sx_status sx_result_count(const sx_node *map, const char *key, uint64_t *out) {
    const sx_node *node;
    SX_TRY(require_key(map, key, &node));
    return sx_node_range(node, key, 0, INT64_MAX, out);
}

sx_status sx_result_truth(const sx_node *map, const char *key, bool *out) {
    const sx_node *node;
    SX_TRY(require_key(map, key, &node));
    return sx_node_bool(node, key, out);
}

sx_status sx_result_score(const sx_node *map, sx_score *out) {
    SX_TRY(sx_result_number(map, "cycles", &out->cycles));
    SX_TRY(sx_result_finite(map, "energy_pj", &out->energy_pj));
    SX_TRY(sx_result_finite(map, "utilization", &out->utilization));
    out->latency = out->cycles;
    if (sx_node_get(map, "latency")) SX_TRY(sx_result_finite(map, "latency", &out->latency));
    if (isfinite(out->cycles) && isfinite(out->energy_pj * out->cycles)) return SX_OK;
    return sx_error_at(map->place, "energy times cycles is not finite");
}

/* A limit, which may be beyond 2^63 and is then written as a real number. */
static sx_status read_limit(const sx_node *map, const char *key, uint64_t *out) {
    double value;
    SX_TRY(sx_result_finite(map, key, &value));
    if (value < 0x1p63) return sx_result_count(map, key, out);
    if (value > 0x1p64) return sx_error_at(sx_node_get(map, key)->place, "'%s' is too large", key);
    *out = value == 0x1p64 ? UINT64_MAX : (uint64_t)value;
    return SX_OK;
}

/* A whole number for an unsigned. */
static sx_status read_unsigned(const sx_node *map, const char *key, uint32_t *out) {
    const sx_node *node;
    SX_TRY(require_key(map, key, &node));
    return sx_node_u32(node, key, out);
}

/* A copy of a text, NULL for null. */
static sx_status copy_text(const sx_node *map, const char *key, char **out) {
    const sx_node *node;
    const char *text;
    SX_TRY(require_key(map, key, &node));
    if (node->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_text(node, key, &text));
    *out = strdup(text);
    return *out ? SX_OK : sx_error_memory();
}

/* A copy of a text that must be one. */
static sx_status copy_word(const sx_node *map, const char *key, char **out) {
    SX_TRY(copy_text(map, key, out));
    return *out ? SX_OK : sx_error_at(sx_node_get(map, key)->place, "'%s' is null", key);
}

static sx_status read_objective(const sx_node *map, sx_result *r) {
    const sx_node *node;
    const char *text;
    SX_TRY(require_key(map, "objective", &node));
    SX_TRY(sx_node_text(node, "objective", &text));
    if (strcmp(text, SX_JUDGED) == 0)
        sx_outside_evaluator_objective(&r->options.run.objective);
    else
        SX_TRY(sx_error_place(sx_objective_parse(text, &r->options.run.objective), node->place));
    sx_objective_text(&r->options.run.objective, r->objective, sizeof r->objective);
    return SX_OK;
}

static sx_status read_warm(const sx_node *map, sx_warm *out) {
    const sx_node *node;
    const char *name;
    SX_TRY(require_key(map, "warm_start", &node));
    for (int i = 0; (name = sx_warm_name((sx_warm)i)); i++)
        if (sx_node_is(node, name)) {
            *out = (sx_warm)i;
            return SX_OK;
        }
    return sx_error_hint(sx_error_at(node->place, "unknown way to start"),
                         "valid values: similarity, previous, off");
}

/* Reads which latency was asked for: Timeloop's where nothing is said. */
static sx_status read_latency(const sx_node *map, bool *tile) {
    const sx_node *node = sx_node_get(map, "latency");
    if (!node || sx_node_is(node, "timeloop")) return SX_OK;
    *tile = sx_node_is(node, "tile");
    if (*tile) return SX_OK;
    return sx_error_hint(sx_error_at(node->place, "unknown latency"), "valid values: timeloop, tile");
}

/* Reads the options of space and model. */
static sx_status read_spaces(const sx_node *map, sx_session_options *o) {
    SX_TRY(sx_result_truth(map, "remainders", &o->space.remainders));
    SX_TRY(sx_result_truth(map, "keep_all", &o->space.keep_all));
    SX_TRY(sx_result_truth(map, "no_banks", &o->space.no_banks));
    SX_TRY(sx_result_truth(map, "no_first_read_elision", &o->model.no_first_read_elision));
    const sx_node *densities = sx_node_get(map, "densities");
    const char *text;
    if (densities) {
        SX_TRY(sx_node_text(densities, "densities", &text));
        SX_TRY(sx_error_place(sx_density_range_parse(text, &o->model.densities), densities->place));
        SX_TRY(
            sx_error_place(sx_density_range_aim(&o->model.densities, &o->run.objective), densities->place));
    }
    const sx_node *formats = sx_node_get(map, "search_formats");
    if (formats) {
        SX_TRY(sx_node_text(formats, "search_formats", &text));
        SX_TRY(sx_error_place(sx_format_search_parse(text, &o->model.formats), formats->place));
        SX_TRY(sx_error_place(sx_format_search_aim(&o->model.formats, &o->run.objective), formats->place));
    }
    if (sx_node_get(map, "split_axes")) SX_TRY(sx_result_truth(map, "split_axes", &o->space.split_axes));
    SX_TRY(sx_node_get_like(map, &o->model.like_timeloop));
    SX_TRY(read_latency(map, &o->model.latency_tile));
    if (sx_node_get(map, "sparse_timeloop"))
        SX_TRY(sx_result_truth(map, "sparse_timeloop", &o->model.sparse_timeloop));
    return sx_result_truth(map, "no_link_transfers", &o->model.no_link_transfers);
}

/* Refuses a result of another format. */
static sx_status check_format(const sx_node *map) {
    const sx_node *node = sx_node_get(map, "format");
    uint64_t format = SX_RESULT_FORMAT;
    if (node) SX_TRY(sx_node_u64(node, "format", &format));
    if (format == SX_RESULT_FORMAT) return SX_OK;
    return sx_error_at(node->place, "the result was written in format %llu; this program reads format %d",
                       (unsigned long long)format, SX_RESULT_FORMAT);
}

/* Reads what repeats the search. */
static sx_status read_repeat(const sx_node *map, sx_result *r) {
    static const char *const keys[] = {"version",
                                       "format",
                                       "problem",
                                       "mapper",
                                       "objective",
                                       "seed",
                                       "evals",
                                       "time",
                                       "target",
                                       "patience",
                                       "k_best",
                                       "pareto",
                                       "batch",
                                       "training",
                                       "training_step",
                                       "warm_start",
                                       "remainders",
                                       "keep_all",
                                       "no_banks",
                                       "no_first_read_elision",
                                       "no_link_transfers",
                                       "sparse_timeloop",
                                       "like",
                                       "densities",
                                       "search_formats",
                                       "split_axes",
                                       "latency"};
    sx_run_options *run = &r->options.run;
    uint32_t k_best;
    SX_TRY(sx_only_keys(map, "repeat", keys, sizeof keys / sizeof *keys));
    SX_TRY(check_format(map));
    SX_TRY(copy_word(map, "version", &r->version));
    SX_TRY(copy_text(map, "problem", &r->problem));
    SX_TRY(copy_word(map, "mapper", &r->mapper));
    r->options.mapper = r->mapper;
    SX_TRY(read_objective(map, r));
    SX_TRY(sx_result_count(map, "seed", &run->seed));
    SX_TRY(read_limit(map, "evals", &run->evaluations));
    SX_TRY(sx_result_finite(map, "time", &run->seconds));
    SX_TRY(sx_result_finite(map, "target", &run->target));
    SX_TRY(read_limit(map, "patience", &run->patience));
    SX_TRY(read_unsigned(map, "k_best", &k_best));
    run->k_best = k_best;
    SX_TRY(sx_result_truth(map, "pareto", &run->pareto));
    SX_TRY(read_warm(map, &r->options.warm));
    SX_TRY(read_spaces(map, &r->options));
    SX_TRY(read_unsigned(map, "batch", &r->batch));
    SX_TRY(sx_result_truth(map, "training", &r->training));
    return sx_node_get_bool(map, "training_step", &r->training_step);
}

static sx_status read_total(const sx_node *map, sx_result *r) {
    static const char *const keys[] = {
        "cycles",    "energy_pj",   "edp", "utilization",  "layers", "of_layers",    "figures",     "latency",
        "objective", "lower_bound", "gap", "proven_share", "time",   "objective_of", "proven_tiles"};
    sx_session_result *out = &r->session;
    SX_TRY(sx_only_keys(map, "total", keys, sizeof keys / sizeof *keys));
    if (r->options.run.objective.network) {
        const sx_node *tiles = sx_node_get(map, "proven_tiles");
        if (sx_node_get(map, "objective")) SX_TRY(sx_result_finite(map, "objective", &out->network_value));
        if (sx_node_get(map, "lower_bound"))
            SX_TRY(sx_result_finite(map, "lower_bound", &out->network_bound));
        out->any_tiles = tiles && sx_node_is(tiles, "any");
    }
    return sx_result_score(map, &out->total);
}

static sx_status read_unmapped(const sx_node *map, sx_unmapped *out) {
    static const char *const keys[] = {"operators", "of_operators", "unknown", "share"};
    SX_TRY(sx_only_keys(map, "unmapped", keys, sizeof keys / sizeof *keys));
    SX_TRY(sx_result_count(map, "operators", &out->operators));
    SX_TRY(sx_result_count(map, "of_operators", &out->of));
    SX_TRY(sx_result_count(map, "unknown", &out->unknown));
    return sx_result_finite(map, "share", &out->share);
}

static sx_status read_arch(const sx_node *map, sx_arch *out) {
    sx_input *input;
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "architecture"));
    SX_TRY(sx_input_new(&input));
    sx_status status = sx_input_add_node(input, map);
    if (!status) status = sx_error_place(sx_input_arch(input, out), map->place);
    sx_input_free(input);
    return status;
}

/* Reads the layers one after another. */
static sx_status read_layers(const sx_node *list, sx_result *r) {
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "results"));
    r->network.layer = calloc(list->n + 1, sizeof *r->network.layer);
    r->session.layer = calloc(list->n + 1, sizeof *r->session.layer);
    if (!r->network.layer || !r->session.layer) return sx_error_memory();
    r->session.found = list->n > 0;
    for (size_t i = 0; i < list->n; i++) {
        r->network.n_layers = r->session.n_layers = i + 1;
        r->session.layer[i].same_as = i;
        SX_TRY(sx_result_read_layer(list->item[i], i, r));
        r->session.found &= r->session.layer[i].found;
    }
    return SX_OK;
}

/* Reads a text that may be missing into a field. */
static sx_status read_field(const sx_node *map, const char *key, char *field, size_t size) {
    const sx_node *node = sx_node_get(map, key);
    const char *text;
    if (!node) return SX_OK;
    SX_TRY(sx_node_text(node, key, &text));
    if (strlen(text) >= size) return sx_error_at(node->place, "'%s' is too long", key);
    memcpy(field, text, strlen(text) + 1);
    return SX_OK;
}

/* Reads what happened with an outside evaluator. */
static sx_status read_evaluator(const sx_node *map, sx_result *r) {
    static const char *const keys[] = {"command", "questions", "refused", "failed",   "restarts",
                                       "refusal", "failed_at", "failure", "recalled", "expected"};
    sx_outside_evaluator_account *a = &r->judged;
    uint32_t restarts;
    SX_TRY(sx_only_keys(map, "evaluator", keys, sizeof keys / sizeof *keys));
    SX_TRY(copy_word(map, "command", &r->evaluator));
    SX_TRY(sx_result_count(map, "questions", &a->questions));
    SX_TRY(sx_result_count(map, "refused", &a->refused));
    SX_TRY(sx_result_count(map, "failed", &a->failed));
    SX_TRY(read_unsigned(map, "restarts", &restarts));
    a->restarts = restarts;
    if (sx_node_get(map, "recalled")) SX_TRY(sx_result_count(map, "recalled", &a->recalled));
    if (sx_node_get(map, "expected")) SX_TRY(sx_result_number(map, "expected", &a->expected));
    if (sx_node_get(map, "failed_at")) SX_TRY(sx_result_count(map, "failed_at", &a->failed_at));
    SX_TRY(read_field(map, "refusal", a->refusal, sizeof a->refusal));
    return read_field(map, "failure", a->failure, sizeof a->failure);
}

/* Reads the warnings. */
static sx_status read_warnings(const sx_node *list, sx_result *r) {
    static const char *const keys[] = {"place", "message"};
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "warnings"));
    SX_TRY(sx_warnings_new(&r->warnings));
    for (size_t i = 0; i < list->n; i++) {
        const char *place = NULL, *message;
        const sx_node *text;
        SX_TRY(sx_only_keys(list->item[i], "a warning", keys, sizeof keys / sizeof *keys));
        SX_TRY(sx_node_get_text(list->item[i], "place", &place));
        SX_TRY(require_key(list->item[i], "message", &text));
        SX_TRY(sx_node_text(text, "message", &message));
        sx_warnings_add(r->warnings, place, NULL, message);
    }
    return sx_warnings_status(r->warnings);
}

/* Reads the whole tree. */
static sx_status read_tree(const sx_node *root, sx_result *r) {
    static const char *const keys[] = {
        "results",      "network",   "total",       "complete", "repeat",   "energy_source",
        "architecture", "evaluator", "warnings",    "totals",   "vector",   "fused",
        "serving",      "runs",      "interrupted", "error",    "unmapped", "unpriced"};
    enum { N_KEYS = sizeof keys / sizeof *keys, N_REQUIRED = 7 };
    const sx_node *node[N_REQUIRED], *evaluator = sx_node_get(root, "evaluator"),
                                     *warnings = sx_node_get(root, "warnings");
    SX_TRY(sx_only_keys(root, "the result", keys, N_KEYS));
    for (size_t i = 0; i < N_REQUIRED; i++) SX_TRY(require_key(root, keys[i], &node[i]));
    if (evaluator) SX_TRY(read_evaluator(evaluator, r));
    if (warnings) SX_TRY(read_warnings(warnings, r));
    SX_TRY(sx_node_name(node[1], "network", r->network.name));
    SX_TRY(sx_node_bool(node[3], "complete", &r->session.complete));
    SX_TRY(read_repeat(node[4], r));
    SX_TRY(read_total(node[2], r)); /* the objective says what it has */
    SX_TRY(copy_text(root, "energy_source", &r->energies));
    if (sx_node_get(root, "unmapped"))
        SX_TRY(read_unmapped(sx_node_get(root, "unmapped"), &r->network.unmapped));
    SX_TRY(read_arch(node[6], &r->arch));
    return read_layers(node[0], r);
}

/* Reads the only document of a source. */
static sx_status read_source(sx_arena *arena, const sx_source *source, const char *name, sx_result *r) {
    const sx_node **roots;
    size_t n;
    SX_TRY(sx_yaml_read(arena, source, &roots, &n));
    if (n != 1)
        return sx_error_hint(sx_error_at((sx_place){name, 0, 0}, "the file has %zu documents, not one", n),
                             "`sextant map --json` writes a result");
    return read_tree(roots[0], r);
}

/* Reads a text of which the source is the text itself. */
static sx_status read_text(sx_arena *arena, const char *name, const char *text, size_t size, sx_result *r) {
    sx_source_builder builder = {0};
    sx_source source;
    const char *file = sx_arena_copy(arena, name, strlen(name));
    sx_status status = file ? sx_source_add_span(&builder, file, 0, 0) : sx_arena_error(arena);
    if (!status) status = sx_source_add_text(&builder, text, text + size);
    SX_TRY(sx_source_finish(&builder, status, &source));
    status = read_source(arena, &source, name, r);
    sx_source_fini(&source);
    return sx_error_place(status, (sx_place){name, 0, 0});
}

sx_status sx_result_read(const char *name, const char *text, size_t size, sx_result **out) {
    sx_arena arena = {.limit = MAX_MEMORY};
    sx_result *result;
    SX_TRY(sx_result_new(&result));
    sx_status status = read_text(&arena, name, text, size, result);
    sx_arena_free(&arena);
    if (status)
        sx_result_free(result);
    else
        *out = result;
    return status;
}
