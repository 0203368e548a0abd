/* Answers of `sextant codesign` as JSON. */
#include "report/codesign.h"
#include "report/evaluation.h"
#include "report/json_parts.h"
#include "sextant/all.h"
#include "sextant/input.h"

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
        json_object_set_new(object, name, *end ? json_string(text) : json_integer(words));
    }
    return object;
}

/* A design with its outcome. */
static json_t *design_json(const sx_codesign_job *job, size_t design) {
    const sx_design_result *d = &job->result.design[design];
    json_t *object = json_object();
    json_object_set_new(object, "settings", settings_json(job, design));
    json_object_set_new(object, "area_um2", sx_json_number(sx_designs_area(job->designs, design)));
    json_object_set_new(object, "fate", json_string(sx_design_outcome_name(d->outcome)));
    json_object_set_new(object, "objective", sx_json_real(d->value));
    if (isfinite(d->bound)) json_object_set_new(object, "bound", sx_json_real(d->bound));
    if (isfinite(d->value)) json_object_set_new(object, "total", sx_json_score(&d->total));
    if (isfinite(d->value)) json_object_set_new(object, "poor", json_boolean(d->poor));
    return object;
}

/* Sets the layers of the best design in its object. */
static sx_status set_layers(const sx_codesign_job *job, const sx_arch *arch, json_t *object) {
    json_t *list = sx_json_attach(object, "layers", json_array());
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
        json_object_set_new(score, "objective", sx_json_real(layer->value));
        json_object_set_new(item, "best", score);
        json_object_set_new(item, "mapping", sx_json_noun(text));
        if (isfinite(layer->bound)) json_object_set_new(item, "lower_bound", sx_json_real(layer->bound));
        json_object_set_new(item, "poor", json_boolean(layer->poor));
        if (layer->same_as != i)
            json_object_set_new(item, "same_as", json_string(job->network.layer[layer->same_as].name));
    }
    return SX_OK;
}

static json_t *counts_json(const sx_codesign_job *job) {
    const sx_codesign_counts *n = &job->result.counts;
    json_t *object = json_object(), *tiles = json_array();
    json_object_set_new(object, "combinations", sx_json_count(sx_designs_combinations(job->designs)));
    json_object_set_new(object, "designs", sx_json_count(n->designs));
    json_object_set_new(object, "searched", sx_json_count(n->done));
    json_object_set_new(object, "cut", sx_json_count(n->cut));
    json_object_set_new(object, "empty", sx_json_count(n->empty));
    json_object_set_new(object, "quick", sx_json_count(n->quick));
    json_object_set_new(object, "none", sx_json_count(n->none));
    json_object_set_new(object, "open", sx_json_count(n->open));
    for (int i = 0; i < n->n_memories; i++) json_array_append_new(tiles, sx_json_count(n->tiles[i]));
    json_object_set_new(object, "tiles", tiles);
    json_object_set_new(object, "tree_nodes", sx_json_count(n->nodes));
    json_object_set_new(object, "partial_costs", sx_json_count(n->partial));
    json_object_set_new(object, "evaluations", sx_json_count(n->evaluations));
    return object;
}

/* All that repeats the result but the inputs. */
static json_t *repeat_json(const sx_codesign_job *job) {
    const sx_codesign_options *o = &job->options;
    return json_pack(
        "{s:s, s:s, s:o, s:s, s:b, s:b, s:b, s:o, s:I, s:o, s:f, s:o, s:b, s:b, s:b, s:b, s:b, s:b}",
        "version", sx_version(), "method", sx_codesign_method_name(o->method, NULL), "mapper",
        sx_json_string(job->mapper), "objective", job->objective, "pareto", o->front, "apart", o->apart,
        "plus", o->plus, "area_budget", sx_json_number(job->area_budget), "seed", (json_int_t)o->run.seed,
        "evals", sx_json_count(o->run.evaluations), "time", o->run.seconds, "patience",
        sx_json_count(o->run.patience), "remainders", o->space.remainders, "keep_all", o->space.keep_all,
        "no_banks", o->space.no_banks, "split_axes", o->space.split_axes, "no_first_read_elision",
        o->model.no_first_read_elision, "no_link_transfers", o->model.no_link_transfers);
}

/* Sets the best design: its choices, its layers and its architecture. */
static sx_status set_best(const sx_codesign_job *job, json_t *object) {
    char *text = NULL;
    sx_arch *arch = malloc(sizeof *arch);
    if (!arch) return sx_error_memory();
    json_t *best = sx_json_attach(object, "best", design_json(job, job->result.best));
    sx_designs_arch(job->designs, job->result.best, arch);
    sx_status status = set_layers(job, arch, best);
    if (!status) status = sx_arch_write(arch, SX_JSON, &text);
    if (!status) json_object_set_new(object, "architecture", sx_json_noun(text));
    free(arch);
    return status;
}

sx_status sx_codesign_json(const sx_codesign_job *job, sx_text *out) {
    const sx_codesign_result *r = &job->result;
    json_t *object = json_object(), *front = json_array(), *designs = json_array();
    sx_status status = SX_OK;
    json_object_set_new(object, "network", json_string(job->network.name));
    json_object_set_new(object, "arch", json_string(job->base.name));
    json_object_set_new(object, "energy_source", sx_json_string(job->energies));
    sx_json_semantics(&job->base, &job->options.model, object);
    json_object_set_new(object, "method", json_string(sx_codesign_method_name(job->options.method, NULL)));
    if (r->found)
        status = set_best(job, object);
    else
        json_object_set_new(object, "best", json_null());
    for (size_t i = 0; i < r->n_front; i++) json_array_append_new(front, design_json(job, r->front[i]));
    for (size_t i = 0; i < r->n_designs; i++) json_array_append_new(designs, design_json(job, i));
    json_object_set_new(object, "front", front);
    json_object_set_new(object, "designs", designs);
    json_object_set_new(object, "counts", counts_json(job));
    if (isfinite(r->lower_bound)) json_object_set_new(object, "lower_bound", sx_json_real(r->lower_bound));
    if (isfinite(r->lower_bound) || r->optimal)
        json_object_set_new(object, "optimal", json_boolean(r->optimal));
    json_object_set_new(object, "complete", json_boolean(r->complete));
    json_object_set_new(object, "stop", json_string(sx_stop_name(r->stop)));
    if (!r->found) json_object_set_new(object, "none", json_boolean(r->none));
    json_object_set_new(object, "repeatable", json_boolean(r->repeatable));
    json_object_set_new(object, "seconds", json_real(job->clock ? r->seconds : 0));
    json_object_set_new(object, "repeat", repeat_json(job));
    if (!status) return sx_json_finish(object, out);
    json_decref(object);
    return status;
}
