/* Results as JSON. The keys are promises: more may be added, none renamed. */
#include "sextant/result.h"

#include "report/densities.h"
#include "report/early.h"
#include "report/figures.h"
#include "report/formats.h"
#include "report/fused.h"
#include "report/json_parts.h"
#include "report/runs.h"
#include "report/time.h"

#include "sextant/all.h"

#include <stdlib.h>

/* Sets an answer's score and mapping in an object. */
static sx_status set_answer(const sx_result *r, size_t layer, const sx_answer *answer, const char *key,
                            json_t *object) {
    char *text;
    SX_TRY(sx_mapping_write(&answer->mapping, &r->network.layer[layer].problem, &r->arch, SX_JSON, &text));
    json_t *score = sx_json_score(&answer->score);
    sx_json_set(score, "objective", sx_json_real(answer->value));
    sx_json_set(score, "evaluation", json_integer((json_int_t)answer->evaluation));
    sx_json_set(object, key, score);
    sx_json_set(object, "mapping", sx_json_noun(text));
    return SX_OK;
}

/* Sets a list of answers, if there are any. */
static sx_status set_answers(const sx_result *r, size_t layer, const sx_answer *answer, size_t n,
                             const char *key, json_t *object) {
    if (n == 0) return SX_OK;
    json_t *list = json_array();
    sx_status status = SX_OK;
    for (size_t i = 0; i < n && !status; i++) {
        json_t *item = json_object();
        status = set_answer(r, layer, &answer[i], "best", item);
        sx_json_append(list, item);
    }
    sx_json_set(object, key, list);
    return status;
}

static json_t *warm_json(const sx_layer_result *layer) {
    return json_pack("{s:s, s:s, s:o}", "from", layer->warm_from == -2 ? "database" : "layer", "problem",
                     layer->warm_name, "objective", sx_json_real(layer->warm_value));
}

/* What is known of tiles that divide, where others gave the answer. */
static json_t *dividing_json(const sx_dividing *d) {
    json_t *object = json_object();
    sx_json_set(object, "objective", d->value > 0 ? sx_json_real(d->value) : json_null());
    if (d->lower_bound > 0) sx_json_set(object, "lower_bound", json_real(d->lower_bound));
    sx_json_set(object, "optimal", json_boolean(d->optimal));
    return object;
}

/* What is known of all mappings, with remainders or without. */
static json_t *any_tiles_json(const sx_layer_result *layer) {
    json_t *object = json_object();
    if (layer->any_bound > 0) sx_json_set(object, "lower_bound", json_real(layer->any_bound));
    sx_json_set(object, "optimal", json_boolean(layer->any_optimal));
    return object;
}

/* Sets what is known of a search that was made. */
static void set_layer_search(const sx_result *r, const sx_layer_result *layer, bool own, json_t *object) {
    const sx_run_summary *s = &layer->summary;
    sx_json_set(object, "evaluations", json_integer(own ? (json_int_t)s->evaluations : 0));
    sx_json_set(object, "valid", json_integer(own ? (json_int_t)s->valid : 0));
    sx_json_set(object, "rejected", json_integer(own ? (json_int_t)s->rejected : 0));
    sx_json_set(object, "seconds", json_real(own ? s->seconds : 0));
    sx_json_set(object, "stop", json_string(sx_stop_name(s->stop)));
    sx_json_set(object, "repeatable", json_boolean(s->repeatable));
    if (sx_is_chosen(r)) {
        sx_json_set(object, "front_proven", json_boolean(s->optimal));
    } else if (s->lower_bound > 0 || s->optimal) {
        if (s->lower_bound > 0) sx_json_set(object, "lower_bound", json_real(s->lower_bound));
        sx_json_set(object, "optimal", json_boolean(s->optimal));
        sx_json_set(object, "proven_tiles", json_string(sx_proves_dividing(r, layer) ? "divide" : "any"));
    }
    if (sx_bounds_weak(&r->arch, &r->options.model, s))
        sx_json_set(object, "weak_bounds", json_string("sparse_semantics"));
    if (layer->proven_before) sx_json_set(object, "proven_before", json_true());
    if (s->drawn) sx_json_set(object, "drawn", json_true());
    if (layer->widened) sx_json_set(object, "remainders", json_boolean(layer->remainders));
    if (layer->remainders && !sx_is_chosen(r))
        sx_json_set(object, "dividing", dividing_json(&layer->dividing));
    if (layer->widened && !sx_is_chosen(r) && (layer->any_bound > 0 || layer->any_optimal))
        sx_json_set(object, "any_tiles", any_tiles_json(layer));
    if (layer->share > 0 && layer->share < SX_IDLE_SHARE)
        sx_json_set(object, "dividing_utilization", json_real(layer->share));
    sx_json_set(object, "minimum", sx_json_real(layer->minimum));
    if (layer->warm_from != -1) sx_json_set(object, "warm_start", warm_json(layer));
    sx_json_set(object, "trace", own ? sx_json_trace(layer->trace, layer->n_trace) : json_array());
}

/* One layer's object; an error where a mapping cannot be written. */
static sx_status layer_json(const sx_result *r, size_t i, const sx_work *work, json_t **out) {
    const sx_layer *layer = &r->network.layer[i];
    const sx_layer_result *result = &r->session.layer[i];
    char *einsum;
    SX_TRY(sx_einsum_text(&layer->problem, &einsum));
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:I}", "problem", layer->name, "einsum", einsum, "arch",
                  r->arch.name, "mapper", r->mapper, "seed", (json_int_t)r->options.run.seed, "objective",
                  r->objective, "count", (json_int_t)layer->count);
    free(einsum);
    sx_json_set_bind(&layer->problem, object);
    sx_status status = SX_OK;
    if (result->found) {
        status = set_answer(r, i, &result->best, "best", object);
        if (work->macs > 0) sx_json_set(object, "figures", sx_figures_json(&layer->problem, &r->arch, work));
        if (work->time.seconds > 0) sx_json_set(object, "time", sx_time_json(&r->arch, &work->time));
    } else {
        sx_json_set(object, "best", json_null());
        sx_json_set(object, "mapping", json_null());
        sx_json_set(object, "searched", json_boolean(result->searched));
        sx_json_set(object, "none", json_boolean(result->summary.none));
        if (result->diagnosis) sx_json_set(object, "diagnosis", json_string(result->diagnosis));
    }
    set_layer_search(r, result, result->same_as == i, object);
    if (result->same_as != i)
        sx_json_set(object, "same_as", json_string(r->network.layer[result->same_as].name));
    if (!status) status = set_answers(r, i, result->other, result->n_best, "k_best", object);
    if (!status) status = set_answers(r, i, result->front, result->n_front, "pareto", object);
    json_t *densities = NULL;
    if (!status) status = sx_densities_json(r, i, &densities);
    if (densities) sx_json_set(object, "densities", densities);
    json_t *formats = NULL;
    if (!status) status = sx_formats_json(r, i, &formats);
    if (formats) sx_json_set(object, "formats", formats);
    *out = object;
    return status;
}

/* All that repeats the result but the inputs. */
static sx_status repeat_json(const sx_result *r, json_t **out) {
    const sx_session_options *o = &r->options;
    json_t *object = json_pack(
        "{s:s, s:i, s:o, s:s, s:s, s:I, s:o, s:f, s:f, s:o, s:I, s:b, s:s, s:b, s:b, s:b, s:b, s:b, "
        "s:I, s:b}",
        "version", r->version ? r->version : sx_version(), "format", SX_RESULT_FORMAT, "problem",
        sx_json_string(r->problem), "mapper", r->mapper, "objective", r->objective, "seed",
        (json_int_t)o->run.seed, "evals", sx_json_count(o->run.evaluations), "time", o->run.seconds, "target",
        o->run.target, "patience", sx_json_count(o->run.patience), "k_best", (json_int_t)o->run.k_best,
        "pareto", o->run.pareto, "warm_start", sx_warm_name(o->warm), "remainders", o->space.remainders,
        "keep_all", o->space.keep_all, "no_banks", o->space.no_banks, "no_first_read_elision",
        o->model.no_first_read_elision, "no_link_transfers", o->model.no_link_transfers, "batch",
        (json_int_t)r->batch, "training", r->training);
    if (object && r->training_step) sx_json_set(object, "training_step", json_true());
    if (o->model.sparse_timeloop) sx_json_set(object, "sparse_timeloop", json_true());
    if (o->model.like_timeloop) sx_json_set(object, "like", json_string("timeloop"));
    if (o->space.split_axes) sx_json_set(object, "split_axes", json_true());
    if (o->model.latency_tile) sx_json_set(object, "latency", json_string("tile"));
    char formats[SX_FORMATS_TEXT_SIZE];
    sx_format_search_text(&o->model.formats, formats);
    if (formats[0]) sx_json_set(object, "search_formats", json_string(formats));
    *out = object;
    if (o->model.densities.n == 0) return SX_OK;
    char *text;
    SX_TRY(sx_density_range_text(&o->model.densities, &text));
    sx_json_set(object, "densities", json_string(text));
    free(text);
    return SX_OK;
}

/* The total and how many layers it covers. */
static json_t *total_json(const sx_result *r, const sx_work *work) {
    json_t *object = sx_json_score(&r->session.total);
    size_t found = 0;
    for (size_t i = 0; i < r->session.n_layers; i++) found += r->session.layer[i].found;
    sx_json_set(object, "layers", json_integer((json_int_t)found));
    sx_json_set(object, "of_layers", json_integer((json_int_t)r->session.n_layers));
    const sx_result_sum sum = sx_result_summed(r);
    const bool several = r->session.n_layers > 1 && sum.value > 0;
    if (several) {
        sx_json_set(object, "objective", json_real(sum.value));
        sx_json_set(object, "objective_of", json_string(sx_is_chosen(r) ? "network" : "layers"));
    }
    if (several && sum.lower_bound > 0) {
        sx_json_set(object, "lower_bound", json_real(sum.lower_bound));
        sx_json_set(object, "gap", json_real(sum.value / sum.lower_bound - 1));
        sx_json_set(object, "proven_share", json_real(sum.proven / sum.value));
        if (sx_is_chosen(r))
            sx_json_set(object, "proven_tiles", json_string(r->session.any_tiles ? "any" : "divide"));
    }
    if (work->macs > 0) sx_json_set(object, "figures", sx_figures_json(NULL, &r->arch, work));
    if (work->time.seconds > 0)
        sx_json_set(object, "time", json_pack("{s:f}", "seconds", work->time.seconds));
    return object;
}

/* What of the network is not mapped. */
static json_t *unmapped_json(const sx_unmapped *u) {
    json_t *o = json_object();
    sx_json_set(o, "operators", sx_json_count(u->operators));
    sx_json_set(o, "of_operators", sx_json_count(u->of));
    sx_json_set(o, "unknown", sx_json_count(u->unknown));
    sx_json_set(o, "share", sx_json_number(u->share));
    return o;
}

/* The whole result as a tree; an error where a noun cannot be written. */
static sx_status whole_tree(const sx_result *r, json_t *object) {
    char *arch;
    json_t *list = json_array();
    sx_work *works = NULL;
    sx_status status = sx_result_works(r, &works);
    for (size_t i = 0; i < r->session.n_layers && !status; i++) {
        json_t *item = NULL;
        status = layer_json(r, i, &works[i], &item);
        if (item) sx_json_append(list, item);
    }
    sx_json_set(object, "results", list);
    sx_json_set(object, "network", json_string(r->network.name));
    if (!status) sx_json_set(object, "total", total_json(r, &works[r->session.n_layers]));
    free(works);
    sx_json_set(object, "complete", json_boolean(r->session.complete));
    json_t *repeat = NULL;
    if (!status) status = repeat_json(r, &repeat);
    if (repeat) sx_json_set(object, "repeat", repeat);
    sx_json_set_energies(r->energies, &r->arch, object);
    if (r->network.unmapped.of) sx_json_set(object, "unmapped", unmapped_json(&r->network.unmapped));
    if (r->fused) sx_json_set(object, "fused", sx_fused_json(r->fused, r->objective));
    if (!status && r->graph) status = sx_runs_put(object, r);
    if (r->evaluator) sx_json_set(object, "evaluator", sx_json_outside_evaluator(r->evaluator, &r->judged));
    if (!status) status = sx_arch_write(&r->arch, SX_JSON, &arch);
    if (!status) sx_json_set(object, "architecture", sx_json_noun(arch));
    const char *place;
    if (sx_warnings_at(r->warnings, 0, &place))
        sx_json_set(object, "warnings", sx_json_warnings(r->warnings));
    return status;
}

sx_status sx_result_write(const sx_result *r, char **out) {
    sx_text text = {0};
    json_t *object = json_object();
    sx_status status = whole_tree(r, object);
    if (status)
        json_decref(object);
    else
        status = sx_json_finish(object, &text);
    if (!status) return sx_text_take(&text, out);
    sx_text_free(&text);
    return status;
}
