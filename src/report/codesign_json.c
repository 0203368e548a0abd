/* Answers of `sextant codesign` as JSON. */
#include "report/codesign.h"
#include "report/evaluation.h"
#include "report/json_parts.h"
#include "sextant/all.h"

#include <math.h>
#include <stdlib.h>

/* The choices of a design: sizes as numbers, shapes as text. */
static json_t *settings_json(const sx_codesign_job *job, size_t design) {
    json_t *object = json_object();
    const char *name;
    for (size_t i = 0; (name = sx_designs_choice(job->designs, i)); i++) {
        char text[64], *end;
        sx_designs_setting(job->designs, design, i, text, sizeof text);
        long long words = strtoll(text, &end, 10);
        sx_json_set(object, name, *end ? json_string(text) : json_integer(words));
    }
    return object;
}

/* A design with its outcome. */
static json_t *design_json(const sx_codesign_job *job, size_t design) {
    const sx_design_result *d = &job->result.design[design];
    json_t *object = json_object();
    sx_json_set(object, "settings", settings_json(job, design));
    sx_json_set(object, "area_um2", sx_json_number(sx_designs_area(job->designs, design)));
    sx_json_set(object, "fate", json_string(sx_design_outcome_name(d->outcome)));
    sx_json_set(object, "objective", sx_json_real(d->value));
    if (isfinite(d->bound)) sx_json_set(object, "bound", sx_json_real(d->bound));
    if (isfinite(d->tile_cost)) sx_json_set(object, "tile_cost", sx_json_real(d->tile_cost));
    if (isfinite(d->value)) sx_json_set(object, "total", sx_json_score(&d->total));
    if (isfinite(d->value)) sx_json_set(object, "poor", json_boolean(d->poor));
    return object;
}

/* Sets the mapping of a layer that leaves remainders, where that is better. */
static sx_status set_any(const sx_codesign_layer *layer, const sx_problem *problem, const sx_arch *arch,
                         json_t *item) {
    char *text;
    if (!layer->any.found) return SX_OK;
    SX_TRY(sx_mapping_write(&layer->any.mapping, problem, arch, SX_JSON, &text));
    json_t *score = sx_json_score(&layer->any.score);
    sx_json_set(score, "objective", sx_json_real(layer->any.value));
    json_t *any = sx_json_set(item, "remainders", json_object());
    sx_json_set(any, "best", score);
    sx_json_set(any, "mapping", sx_json_noun(text));
    return SX_OK;
}

/* Sets the layers of the best design in its object. */
static sx_status set_layers(const sx_codesign_job *job, const sx_arch *arch, json_t *object) {
    json_t *list = sx_json_set(object, "layers", json_array());
    for (size_t i = 0; i < job->result.n_layers; i++) {
        const sx_codesign_layer *layer = &job->result.layer[i];
        const sx_layer *from = &job->network.layer[i];
        char *text, *einsum;
        SX_TRY(sx_einsum_text(&from->problem, &einsum));
        json_t *item = json_pack("{s:s, s:s, s:o}", "problem", from->name, "einsum", einsum, "count",
                                 sx_json_count(from->count));
        free(einsum);
        item = sx_json_append(list, item);
        SX_TRY(sx_mapping_write(&layer->mapping, &from->problem, arch, SX_JSON, &text));
        json_t *score = sx_json_score(&layer->score);
        sx_json_set(score, "objective", sx_json_real(layer->value));
        sx_json_set(item, "best", score);
        sx_json_set(item, "mapping", sx_json_noun(text));
        if (isfinite(layer->bound)) sx_json_set(item, "lower_bound", sx_json_real(layer->bound));
        sx_json_set(item, "poor", json_boolean(layer->poor));
        SX_TRY(set_any(layer, &from->problem, arch, item));
        if (layer->same_as != i)
            sx_json_set(item, "same_as", json_string(job->network.layer[layer->same_as].name));
    }
    return SX_OK;
}

static json_t *counts_json(const sx_codesign_job *job) {
    const sx_codesign_counts *n = &job->result.counts;
    json_t *object = json_object(), *tiles = json_array();
    sx_json_set(object, "combinations", sx_json_count(sx_designs_combinations(job->designs)));
    sx_json_set(object, "designs", sx_json_count(n->designs));
    sx_json_set(object, "searched", sx_json_count(n->done));
    sx_json_set(object, "cut", sx_json_count(n->cut));
    sx_json_set(object, "empty", sx_json_count(n->empty));
    sx_json_set(object, "quick", sx_json_count(n->quick));
    sx_json_set(object, "none", sx_json_count(n->none));
    sx_json_set(object, "unfound", sx_json_count(n->unfound));
    sx_json_set(object, "open", sx_json_count(n->open));
    for (int i = 0; i < n->n_memories; i++) sx_json_append(tiles, sx_json_count(n->tiles[i]));
    sx_json_set(object, "tiles", tiles);
    sx_json_set(object, "tree_nodes", sx_json_count(n->nodes));
    sx_json_set(object, "partial_costs", sx_json_count(n->partial));
    sx_json_set(object, "evaluations", sx_json_count(n->evaluations));
    return object;
}

/* All that repeats the result but the inputs. */
static json_t *repeat_json(const sx_codesign_job *job) {
    const sx_codesign_options *o = &job->options;
    return json_pack(
        "{s:s, s:i, s:s, s:o, s:s, s:b, s:b, s:b, s:o, s:I, s:o, s:f, s:o, s:b, s:b, s:b, s:b, s:b, s:b}",
        "version", sx_version(), "format", SX_RESULT_FORMAT, "method",
        sx_codesign_method_name(o->method, NULL), "mapper", sx_json_string(job->mapper), "objective",
        job->objective, "pareto", o->front, "apart", o->apart, "plus", o->plus, "area_budget",
        sx_json_number(job->area_budget), "seed", (json_int_t)o->run.seed, "evals",
        sx_json_count(o->run.evaluations), "time", o->run.seconds, "patience", sx_json_count(o->run.patience),
        "remainders", o->space.remainders, "keep_all", o->space.keep_all, "no_banks", o->space.no_banks,
        "split_axes", o->space.split_axes, "no_first_read_elision", o->model.no_first_read_elision,
        "no_link_transfers", o->model.no_link_transfers);
}

/* Sets the best design: its choices, its layers and its architecture. */
static sx_status set_best(const sx_codesign_job *job, json_t *object) {
    char *text = NULL;
    sx_arch *arch = malloc(sizeof *arch);
    if (!arch) return sx_error_memory();
    json_t *best = sx_json_set(object, "best", design_json(job, job->result.best));
    sx_designs_arch(job->designs, job->result.best, arch);
    sx_status status = set_layers(job, arch, best);
    if (!status) status = sx_arch_write(arch, SX_JSON, &text);
    if (!status) sx_json_set(object, "architecture", sx_json_noun(text));
    free(arch);
    return status;
}

sx_status sx_codesign_json(const sx_codesign_job *job, sx_text *out) {
    const sx_codesign_result *r = &job->result;
    json_t *object = json_object(), *front = json_array(), *designs = json_array();
    sx_status status = SX_OK;
    sx_json_set(object, "network", json_string(job->network.name));
    sx_json_set(object, "arch", json_string(job->base.name));
    sx_json_set_energies(job->energies, &job->base, object);
    sx_json_semantics(&job->base, &job->options.model, object);
    sx_json_set(object, "method", json_string(sx_codesign_method_name(job->options.method, NULL)));
    if (r->found)
        status = set_best(job, object);
    else
        sx_json_set(object, "best", json_null());
    for (size_t i = 0; i < r->n_front; i++) sx_json_append(front, design_json(job, r->front[i]));
    for (size_t i = 0; i < r->n_designs; i++) sx_json_append(designs, design_json(job, i));
    sx_json_set(object, "front", front);
    sx_json_set(object, "designs", designs);
    sx_json_set(object, "counts", counts_json(job));
    if (isfinite(r->lower_bound)) sx_json_set(object, "lower_bound", sx_json_real(r->lower_bound));
    if (isfinite(r->lower_bound) || r->optimal) sx_json_set(object, "optimal", json_boolean(r->optimal));
    sx_json_set(object, "complete", json_boolean(r->complete));
    sx_json_set(object, "stop", json_string(sx_stop_name(r->stop)));
    if (!r->found) sx_json_set(object, "none", json_boolean(r->none));
    sx_json_set(object, "repeatable", json_boolean(r->repeatable));
    sx_json_set(object, "seconds", json_real(job->clock ? r->seconds : 0));
    sx_json_set(object, "repeat", repeat_json(job));
    if (!status) return sx_json_finish(object, out);
    json_decref(object);
    return status;
}
