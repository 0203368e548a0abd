/* Answers of `sextant map` as JSON. */
#include "report/json_parts.h"
#include "report/map_result.h"

#include "sextant/input.h"
#include "sextant/sextant.h"

#include <stdlib.h>

/* Sets an answer's score and mapping in an object. */
static sx_status set_answer(const sx_mapping_report *job, size_t layer, const sx_answer *answer,
                            const char *key, json_t *object) {
    char *text;
    SX_TRY(
        sx_mapping_write(&answer->mapping, &job->network.layer[layer].problem, &job->arch, SX_JSON, &text));
    json_t *score = sx_json_score(&answer->score);
    json_object_set_new(score, "objective", sx_json_real(answer->value));
    json_object_set_new(score, "evaluation", json_integer((json_int_t)answer->evaluation));
    json_object_set_new(object, key, score);
    json_object_set_new(object, "mapping", sx_json_noun(text));
    return SX_OK;
}

/* Sets a list of answers, if there are any. */
static sx_status set_answers(const sx_mapping_report *job, size_t layer, const sx_answer *answer, size_t n,
                             const char *key, json_t *object) {
    if (n == 0) return SX_OK;
    json_t *list = json_array();
    sx_status status = SX_OK;
    for (size_t i = 0; i < n && !status; i++) {
        json_t *item = json_object();
        status = set_answer(job, layer, &answer[i], "best", item);
        json_array_append_new(list, item);
    }
    json_object_set_new(object, key, list);
    return status;
}

static json_t *trace_json(const sx_layer_result *layer) {
    json_t *list = json_array();
    for (size_t i = 0; i < layer->n_trace; i++)
        json_array_append_new(list, json_pack("[I, f, o]", (json_int_t)layer->trace[i].evaluations,
                                              layer->trace[i].seconds, sx_json_real(layer->trace[i].value)));
    return list;
}

static json_t *warm_json(const sx_layer_result *layer) {
    return json_pack("{s:s, s:s, s:o}", "from", layer->warm_from == -2 ? "database" : "layer", "problem",
                     layer->warm_name, "objective", sx_json_real(layer->warm_value));
}

/* What is known of tiles that divide, where others gave the answer. */
static json_t *dividing_json(const sx_dividing *d) {
    json_t *object = json_object();
    json_object_set_new(object, "objective", d->value > 0 ? sx_json_real(d->value) : json_null());
    if (d->lower_bound > 0) json_object_set_new(object, "lower_bound", json_real(d->lower_bound));
    json_object_set_new(object, "optimal", json_boolean(d->optimal));
    return object;
}

/* Sets what is known of a search that was made. */
static void set_search(const sx_layer_result *layer, bool own, json_t *object) {
    const sx_run_summary *s = &layer->summary;
    json_object_set_new(object, "evaluations", json_integer(own ? (json_int_t)s->evaluations : 0));
    json_object_set_new(object, "valid", json_integer(own ? (json_int_t)s->valid : 0));
    json_object_set_new(object, "rejected", json_integer(own ? (json_int_t)s->rejected : 0));
    json_object_set_new(object, "seconds", json_real(own ? s->seconds : 0));
    json_object_set_new(object, "stop", json_string(sx_stop_name(s->stop)));
    json_object_set_new(object, "repeatable", json_boolean(s->repeatable));
    if (s->lower_bound > 0) json_object_set_new(object, "lower_bound", json_real(s->lower_bound));
    if (s->lower_bound > 0 || s->optimal) json_object_set_new(object, "optimal", json_boolean(s->optimal));
    if (layer->proven_before) json_object_set_new(object, "proven_before", json_true());
    if (layer->widened) json_object_set_new(object, "remainders", json_boolean(layer->remainders));
    if (layer->remainders) json_object_set_new(object, "dividing", dividing_json(&layer->dividing));
    if (layer->share > 0 && layer->share < SX_IDLE_SHARE)
        json_object_set_new(object, "dividing_utilization", json_real(layer->share));
    json_object_set_new(object, "minimum", sx_json_real(layer->minimum));
    if (layer->warm_from != -1) json_object_set_new(object, "warm_start", warm_json(layer));
    json_object_set_new(object, "trace", own ? trace_json(layer) : json_array());
}

/* One layer's object; an error where a mapping cannot be written. */
static sx_status layer_json(const sx_mapping_report *job, size_t i, json_t **out) {
    const sx_layer *layer = &job->network.layer[i];
    const sx_layer_result *result = &job->result.layer[i];
    char *einsum;
    SX_TRY(sx_einsum_text(&layer->problem, &einsum));
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:I}", "problem", layer->name, "einsum", einsum, "arch",
                  job->arch.name, "mapper", job->mapper, "seed", (json_int_t)job->options.run.seed,
                  "objective", job->objective, "count", (json_int_t)layer->count);
    free(einsum);
    sx_json_set_bind(&layer->problem, object);
    sx_status status = SX_OK;
    if (result->found) {
        status = set_answer(job, i, &result->best, "best", object);
    } else {
        json_object_set_new(object, "best", json_null());
        json_object_set_new(object, "mapping", json_null());
        json_object_set_new(object, "searched", json_boolean(result->searched));
        json_object_set_new(object, "none", json_boolean(result->summary.none));
        if (result->diagnosis) json_object_set_new(object, "diagnosis", json_string(result->diagnosis));
    }
    set_search(result, result->same_as == i, object);
    if (result->same_as != i)
        json_object_set_new(object, "same_as", json_string(job->network.layer[result->same_as].name));
    if (!status) status = set_answers(job, i, result->other, result->n_best, "k_best", object);
    if (!status) status = set_answers(job, i, result->front, result->n_front, "pareto", object);
    *out = object;
    return status;
}

/* All that repeats the result but the inputs. */
static json_t *repeat_json(const sx_mapping_report *job) {
    const sx_session_options *o = &job->options;
    return json_pack("{s:s, s:o, s:s, s:s, s:I, s:o, s:f, s:f, s:o, s:I, s:b, s:s, s:b, s:b, s:b, s:b, s:b, "
                     "s:I, s:b}",
                     "version", sx_version(), "problem", sx_json_string(job->problem), "mapper", job->mapper,
                     "objective", job->objective, "seed", (json_int_t)o->run.seed, "evals",
                     sx_json_count(o->run.evaluations), "time", o->run.seconds, "target", o->run.target,
                     "patience", sx_json_count(o->run.patience), "k_best", (json_int_t)o->run.k_best,
                     "pareto", o->run.pareto, "warm_start", sx_warm_name(o->warm), "remainders",
                     o->space.remainders, "keep_all", o->space.keep_all, "no_banks", o->space.no_banks,
                     "no_first_read_elision", o->model.no_first_read_elision, "no_link_transfers",
                     o->model.no_link_transfers, "batch", (json_int_t)job->batch, "training", job->training);
}

/* The total and how many layers it covers. */
static json_t *total_json(const sx_mapping_report *job) {
    json_t *object = sx_json_score(&job->result.total);
    size_t found = 0;
    for (size_t i = 0; i < job->result.n_layers; i++) found += job->result.layer[i].found;
    json_object_set_new(object, "layers", json_integer((json_int_t)found));
    json_object_set_new(object, "of_layers", json_integer((json_int_t)job->result.n_layers));
    return object;
}

sx_status sx_mapping_report_json(const sx_mapping_report *job, sx_text *out) {
    char *arch = NULL;
    json_t *object = json_object(), *list = json_array();
    sx_status status = SX_OK;
    for (size_t i = 0; i < job->result.n_layers && !status; i++) {
        json_t *item = NULL;
        status = layer_json(job, i, &item);
        if (item) json_array_append_new(list, item);
    }
    json_object_set_new(object, "results", list);
    json_object_set_new(object, "network", json_string(job->network.name));
    json_object_set_new(object, "total", total_json(job));
    json_object_set_new(object, "complete", json_boolean(job->result.complete));
    json_object_set_new(object, "repeat", repeat_json(job));
    json_object_set_new(object, "energy_source", sx_json_string(job->energies));
    if (!status) status = sx_arch_write(&job->arch, SX_JSON, &arch);
    if (!status) json_object_set_new(object, "architecture", sx_json_noun(arch));
    if (!status) return sx_json_finish(object, out);
    json_decref(object);
    return status;
}
