/* A layer of a result from JSON. */
#include "report/result_read.h"

#include "frontend/einsum.h"
#include "frontend/input.h"
#include "verify/certificate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the readers of a layer share. */
typedef struct scope {
    const sx_node *map; /* the layer's */
    size_t index;
    sx_result *r;
    sx_layer *layer;
    sx_layer_result *out;
} scope;

/* The value of a key that must be there. */
static sx_status require_key(const sx_node *map, const char *key, const sx_node **out) {
    return sx_node_require(map, key, "the layer", out);
}

/* Refuses a value that contradicts the rest of the result. */
static sx_status expect_text(const sx_node *map, const char *key, const char *text) {
    const sx_node *node;
    SX_TRY(require_key(map, key, &node));
    if (sx_node_is(node, text)) return SX_OK;
    return sx_error_at(node->place, "'%s' is not '%.64s', as elsewhere in the result", key, text);
}

/* The place of the output among the tensors, as far as a list of their names shows it. The problem has the
 * output first. */
static void place_output(const sx_problem *problem, const sx_node *list, int *place) {
    int before = 0;
    for (size_t i = 0; list && list->kind == SX_NODE_LIST && i < list->n; i++) {
        const char *name = list->item[i]->kind == SX_NODE_SCALAR ? list->item[i]->text : "";
        int tensor = sx_problem_tensor(problem, name);
        if (tensor > before) before = tensor;
        if (tensor == 0 && before > *place) *place = before;
    }
}

/* The same from the lists of a mapping. */
static void place_by_mapping(const sx_problem *problem, const sx_node *object, int *place) {
    const sx_node *parts = sx_node_get(sx_node_get(object, "mapping"), "mapping");
    for (size_t i = 0; parts && parts->kind == SX_NODE_LIST && i < parts->n; i++) {
        place_output(problem, sx_node_get(parts->item[i], "keep"), place);
        place_output(problem, sx_node_get(parts->item[i], "bypass"), place);
    }
}

/* Binds the aliases of tensors; they are in the order of the tensors. */
static sx_status read_bind(const sx_node *map, sx_problem *problem, int *place) {
    int before = 0;
    if (!map) return SX_OK;
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "bind"));
    for (size_t i = 0; i < map->n; i++) {
        const sx_pair *pair = &map->pair[i];
        const char *name;
        SX_TRY(sx_node_text(pair->value, "the name of a tensor", &name));
        int tensor = sx_problem_tensor(problem, name);
        if (tensor < 0) return sx_error_at(pair->value->place, "there is no tensor '%.64s'", name);
        SX_TRY(sx_error_place(sx_problem_bind(problem, tensor, pair->key), pair->place));
        if (tensor > before) before = tensor;
        if (tensor == 0 && before > *place) *place = before;
    }
    return SX_OK;
}

/* The same from the figures, which list every tensor. */
static void place_by_figures(const sx_problem *problem, const sx_node *figures, int *place) {
    const sx_node *tensors = sx_node_get(figures, "tensors");
    if (!tensors || tensors->kind != SX_NODE_LIST || tensors->n != problem->n_tensors) return;
    for (size_t i = 0; i < tensors->n; i++) {
        const sx_node *name = sx_node_get(tensors->item[i], "name");
        if (name && sx_node_is(name, problem->tensor[0].name)) *place = (int)i;
    }
}

/* Reads the problem. Einsum text has the output first; its place among the tensors follows from the
 * order in which figures, mappings and aliases name them. */
static sx_status read_problem(const scope *s, sx_problem *out) {
    static const char *const lists[] = {"k_best", "pareto"};
    const sx_node *node;
    const char *text;
    int place = 0;
    SX_TRY(require_key(s->map, "einsum", &node));
    SX_TRY(sx_node_text(node, "einsum", &text));
    SX_TRY(sx_einsum_parse_at(text, node->place, NULL, out));
    SX_TRY(read_bind(sx_node_get(s->map, "bind"), out, &place));
    place_by_mapping(out, s->map, &place);
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        const sx_node *list = sx_node_get(s->map, lists[l]);
        for (size_t i = 0; list && list->kind == SX_NODE_LIST && i < list->n; i++)
            place_by_mapping(out, list->item[i], &place);
    }
    place_by_figures(out, sx_node_get(s->map, "figures"), &place);
    sx_tensor output = out->tensor[0];
    memmove(&out->tensor[0], &out->tensor[1], (size_t)place * sizeof output);
    out->tensor[place] = output;
    memcpy(out->name, s->layer->name, sizeof out->name);
    return SX_OK;
}

static sx_status read_mapping(const scope *s, const sx_node *map, sx_mapping *out) {
    sx_input *input;
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "mapping"));
    SX_TRY(sx_input_new(&input));
    sx_status status = sx_input_add_node(input, map);
    if (!status)
        status = sx_error_place(sx_input_mapping(input, &s->layer->problem, &s->r->arch, out), map->place);
    sx_input_free(input);
    return status;
}

/* Reads a mapping with its score, from one object. */
static sx_status read_answer(const scope *s, const sx_node *object, sx_answer *out) {
    static const char *const keys[] = {"cycles",    "energy_pj",  "edp",    "utilization",
                                       "objective", "evaluation", "latency"};
    const sx_node *best, *mapping;
    SX_TRY(require_key(object, "best", &best));
    SX_TRY(require_key(object, "mapping", &mapping));
    SX_TRY(sx_only_keys(best, "best", keys, sizeof keys / sizeof *keys));
    SX_TRY(sx_result_score(best, &out->score));
    SX_TRY(sx_result_number(best, "objective", &out->value));
    SX_TRY(sx_result_count(best, "evaluation", &out->evaluation));
    return read_mapping(s, mapping, &out->mapping);
}

/* Reads a list of answers, where there is one. */
static sx_status read_answers(const scope *s, const char *key, sx_answer **out, size_t *n) {
    static const char *const keys[] = {"best", "mapping"};
    const sx_node *list = sx_node_get(s->map, key);
    if (!list) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, key));
    *out = calloc(list->n + 1, sizeof **out);
    if (!*out) return sx_error_memory();
    for (; *n < list->n; ++*n) {
        SX_TRY(sx_only_keys(list->item[*n], key, keys, sizeof keys / sizeof *keys));
        SX_TRY(read_answer(s, list->item[*n], &(*out)[*n]));
    }
    return SX_OK;
}

/* Reads the best answer, or what is known of a layer that has none. */
static sx_status read_best(const scope *s) {
    const sx_node *best;
    const char *diagnosis = NULL;
    SX_TRY(require_key(s->map, "best", &best));
    s->out->searched = s->out->found = best->kind != SX_NODE_NULL;
    if (s->out->found) return read_answer(s, s->map, &s->out->best);
    SX_TRY(sx_result_truth(s->map, "searched", &s->out->searched));
    SX_TRY(sx_result_truth(s->map, "none", &s->out->summary.none));
    SX_TRY(sx_node_get_text(s->map, "diagnosis", &diagnosis));
    if (!diagnosis) return SX_OK;
    s->out->diagnosis = strdup(diagnosis);
    return s->out->diagnosis ? SX_OK : sx_error_memory();
}

static sx_status read_stop(const sx_node *map, sx_stop *out) {
    const sx_node *node;
    SX_TRY(require_key(map, "stop", &node));
    for (int i = 0; i <= SX_STOP_FAILED; i++)
        if (sx_node_is(node, sx_stop_name((sx_stop)i))) {
            *out = (sx_stop)i;
            return SX_OK;
        }
    return sx_error_at(node->place, "'stop' is not a known reason");
}

/* Reads what the search took and what it proved. */
static sx_status read_summary(const sx_node *map, sx_run_summary *out) {
    SX_TRY(sx_result_count(map, "evaluations", &out->evaluations));
    SX_TRY(sx_result_count(map, "valid", &out->valid));
    SX_TRY(sx_result_count(map, "rejected", &out->rejected));
    SX_TRY(sx_result_finite(map, "seconds", &out->seconds));
    SX_TRY(read_stop(map, &out->stop));
    SX_TRY(sx_result_truth(map, "repeatable", &out->repeatable));
    if (sx_node_get(map, "lower_bound")) SX_TRY(sx_result_finite(map, "lower_bound", &out->lower_bound));
    return sx_node_get_bool(map, "optimal", &out->optimal);
}

/* Reads what is known of tiles that divide. */
static sx_status read_dividing(const sx_node *map, sx_dividing *out) {
    static const char *const keys[] = {"objective", "lower_bound", "optimal"};
    SX_TRY(sx_only_keys(map, "dividing", keys, sizeof keys / sizeof *keys));
    SX_TRY(sx_result_number(map, "objective", &out->value));
    if (isinf(out->value)) out->value = 0;
    if (sx_node_get(map, "lower_bound")) SX_TRY(sx_result_finite(map, "lower_bound", &out->lower_bound));
    return sx_result_truth(map, "optimal", &out->optimal);
}

/* Reads what is known of all mappings, with remainders or without. */
static sx_status read_any_tiles(const sx_node *map, sx_layer_result *out) {
    static const char *const keys[] = {"lower_bound", "optimal"};
    SX_TRY(sx_only_keys(map, "any_tiles", keys, sizeof keys / sizeof *keys));
    if (sx_node_get(map, "lower_bound")) SX_TRY(sx_result_finite(map, "lower_bound", &out->any_bound));
    return sx_result_truth(map, "optimal", &out->any_optimal);
}

/* Reads what remainders gave. */
static sx_status read_remainders(const scope *s) {
    const sx_node *dividing = sx_node_get(s->map, "dividing");
    s->out->widened = sx_node_get(s->map, "remainders") != NULL;
    SX_TRY(sx_node_get_bool(s->map, "remainders", &s->out->remainders));
    s->out->remainders |= dividing != NULL;
    if (dividing) SX_TRY(read_dividing(dividing, &s->out->dividing));
    const sx_node *any = sx_node_get(s->map, "any_tiles");
    if (any) SX_TRY(read_any_tiles(any, s->out));
    if (!sx_node_get(s->map, "dividing_utilization")) return SX_OK;
    return sx_result_finite(s->map, "dividing_utilization", &s->out->share);
}

/* The layer of a name before a layer; that layer itself where there is none. */
static size_t find_layer(const scope *s, const char *name) {
    size_t i = 0;
    while (i < s->index && strcmp(s->r->network.layer[i].name, name) != 0) i++;
    return i;
}

/* Reads where the search started from. The layer is found by its name where it can be: start points go by the
 * names of problems. */
static sx_status read_start(const scope *s) {
    static const char *const keys[] = {"from", "problem", "objective"};
    const sx_node *map = sx_node_get(s->map, "warm_start"), *from, *problem;
    s->out->warm_from = -1;
    if (!map) return SX_OK;
    SX_TRY(sx_only_keys(map, "warm_start", keys, sizeof keys / sizeof *keys));
    SX_TRY(require_key(map, "from", &from));
    SX_TRY(require_key(map, "problem", &problem));
    SX_TRY(sx_node_name(problem, "problem", s->out->warm_name));
    SX_TRY(sx_result_number(map, "objective", &s->out->warm_value));
    s->out->warm_from = -2;
    if (sx_node_is(from, "database")) return SX_OK;
    if (!sx_node_is(from, "layer") || s->index == 0)
        return sx_error_at(from->place, "no layer or database gave this start point");
    size_t layer = find_layer(s, s->out->warm_name);
    s->out->warm_from = layer < s->index ? (int)layer : (int)s->index - 1;
    return SX_OK;
}

static sx_status read_trace(const scope *s) {
    const sx_node *list;
    SX_TRY(require_key(s->map, "trace", &list));
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "trace"));
    s->out->trace = calloc(list->n + 1, sizeof *s->out->trace);
    if (!s->out->trace) return sx_error_memory();
    for (; s->out->n_trace < list->n; s->out->n_trace++) {
        const sx_node *item = list->item[s->out->n_trace];
        sx_trace_point *point = &s->out->trace[s->out->n_trace];
        SX_TRY(sx_node_expect(item, SX_NODE_LIST, "an improvement"));
        if (item->n != 3)
            return sx_error_at(item->place, "an improvement is [evaluations, seconds, objective]");
        SX_TRY(sx_node_range(item->item[0], "evaluations", 0, INT64_MAX, &point->evaluations));
        SX_TRY(sx_node_double(item->item[1], "seconds", &point->seconds));
        point->value = INFINITY;
        if (item->item[2]->kind != SX_NODE_NULL)
            SX_TRY(sx_node_double(item->item[2], "objective", &point->value));
        if (!isfinite(point->seconds)) return sx_error_at(item->place, "'seconds' is not finite");
    }
    return SX_OK;
}

/* Takes the result of the earlier layer that is the same computation; *taken: whether there is one. */
static sx_status take_same(const scope *s, bool *taken) {
    const sx_node *node = sx_node_get(s->map, "same_as");
    char name[SX_NAME_SIZE];
    *taken = node != NULL;
    if (!node) return SX_OK;
    SX_TRY(sx_node_name(node, "same_as", name));
    size_t first = find_layer(s, name);
    if (first == s->index) return sx_error_at(node->place, "there is no layer '%.64s' before this one", name);
    first = s->r->session.layer[first].same_as;
    sx_problem problem = s->layer->problem;
    memcpy(problem.name, s->r->network.layer[first].problem.name, sizeof problem.name);
    if (memcmp(&problem, &s->r->network.layer[first].problem, sizeof problem) != 0)
        return sx_error_at(node->place, "'%.64s' is another computation", name);
    *s->out = s->r->session.layer[first];
    s->out->same_as = first;
    return SX_OK;
}

/* Reads the layer, and checks it against the values that all layers share. */
static sx_status read_layer(const scope *s) {
    const sx_node *node;
    uint64_t seed;
    SX_TRY(require_key(s->map, "problem", &node));
    SX_TRY(sx_node_name(node, "problem", s->layer->name));
    SX_TRY(expect_text(s->map, "arch", s->r->arch.name));
    SX_TRY(expect_text(s->map, "mapper", s->r->mapper));
    SX_TRY(expect_text(s->map, "objective", s->r->objective));
    SX_TRY(sx_result_count(s->map, "seed", &seed));
    if (seed != s->r->options.run.seed)
        return sx_error_at(sx_node_get(s->map, "seed")->place, "'seed' is not the one that 'repeat' gives");
    SX_TRY(sx_result_count(s->map, "count", &s->layer->count));
    return read_problem(s, &s->layer->problem);
}

sx_status sx_result_read_layer(const sx_node *map, size_t index, sx_result *r) {
    static const char *const keys[] = {
        "problem",   "einsum",        "arch",         "mapper",      "seed",
        "objective", "count",         "bind",         "best",        "mapping",
        "searched",  "none",          "diagnosis",    "evaluations", "valid",
        "rejected",  "seconds",       "stop",         "repeatable",  "lower_bound",
        "optimal",   "proven_before", "remainders",   "dividing",    "dividing_utilization",
        "minimum",   "warm_start",    "trace",        "same_as",     "k_best",
        "pareto",    "densities",     "figures",      "formats",     "weak_bounds",
        "any_tiles", "time",          "proven_tiles", "drawn",       "front_proven"};
    scope s = {map, index, r, &r->network.layer[index], &r->session.layer[index]};
    bool same;
    SX_TRY(sx_only_keys(map, "a layer", keys, sizeof keys / sizeof *keys));
    SX_TRY(read_layer(&s));
    SX_TRY(take_same(&s, &same));
    if (same) return SX_OK;
    SX_TRY(read_best(&s));
    SX_TRY(read_summary(map, &s.out->summary));
    SX_TRY(sx_node_get_bool(map, "proven_before", &s.out->proven_before));
    SX_TRY(sx_node_get_bool(map, "drawn", &s.out->summary.drawn));
    if (sx_node_get(map, "front_proven"))
        SX_TRY(sx_result_truth(map, "front_proven", &s.out->summary.optimal));
    SX_TRY(read_remainders(&s));
    SX_TRY(sx_result_number(map, "minimum", &s.out->minimum));
    SX_TRY(read_start(&s));
    SX_TRY(read_trace(&s));
    SX_TRY(read_answers(&s, "k_best", &s.out->other, &s.out->n_best));
    return read_answers(&s, "pareto", &s.out->front, &s.out->n_front);
}
