/* Answers of `sextant systolic` as JSON. */
#include "report/json_parts.h"
#include "report/systolic.h"

#include "sextant/all.h"

#include <stdio.h>
#include <stdlib.h>

/* The tiles by loop, such as "i_t1" and "i_t2". */
static json_t *params_json(const sx_systolic_kernel *kernel, const sx_systolic_point *point) {
    json_t *object = json_object();
    for (int d = 0; d < kernel->n_loops; d++) {
        char key[SX_NAME_SIZE + 4];
        snprintf(key, sizeof key, "%s_t1", kernel->loop[d].name);
        sx_json_set(object, key, json_integer(point->t1[d]));
        snprintf(key, sizeof key, "%s_t2", kernel->loop[d].name);
        sx_json_set(object, key, json_integer(point->t2[d]));
    }
    return object;
}

/* The PEs along each space loop. */
static json_t *array_json(const sx_systolic_subject *s) {
    json_t *list = json_array();
    for (int i = 0; i < s->design.n_space; i++) {
        int d = s->design.space[i];
        sx_json_append(list, json_integer(s->answer->point.t1[d] / s->answer->point.t2[d]));
    }
    return list;
}

/* The sizes that tiles pad the loops to. */
static json_t *padded_json(const sx_systolic_subject *s) {
    json_t *object = json_object();
    for (int d = 0; d < s->kernel->n_loops; d++)
        sx_json_set(object, s->kernel->loop[d].name,
                    sx_json_count(sx_systolic_padded(&s->kernel->loop[d], s->answer->point.t1[d])));
    return object;
}

/* Sets what limits each phase of a single kernel. */
static void set_limits(const sx_systolic_subject *s, const sx_systolic_items *items, json_t *object) {
    static const char *const names[] = {"prologue", "steady", "epilogue"};
    json_t *limits = json_object();
    for (int p = 0; p < SX_N_PHASES; p++) {
        char text[160];
        const sx_systolic_term *term =
            sx_systolic_limit(s->kernel, &s->answer->point, items, (sx_systolic_phase)p);
        sx_systolic_role_text(s->kernel, term->role, term->operand, term->level, text, sizeof text);
        sx_json_set(limits, names[p], json_string(text));
    }
    sx_json_set(object, "limited_by", limits);
}

/* Sets the buffers. */
static void set_buffers(const sx_systolic_subject *s, const sx_systolic_items *items, json_t *object) {
    static const char *const where[] = {
        [SX_SYSTOLIC_COMPUTES] = "in", [SX_SYSTOLIC_ENTERS] = "into", [SX_SYSTOLIC_LEAVES] = "from"};
    json_t *list = json_array();
    for (size_t i = 0; i < items->n_buffers; i++) {
        const sx_systolic_buffer *b = &items->buffer[i];
        sx_json_append(list, json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:o}", "operand",
                                       s->kernel->operand[b->operand], "role", where[b->role], "level",
                                       (int)b->level, "copies", sx_json_number(b->copies), "words",
                                       sx_json_number(b->words), "pack", sx_json_number(b->pack), "bram18k",
                                       sx_json_number(b->bram18k)));
    }
    sx_json_set(object, "buffers", list);
}

/* Sets what follows from the cost. */
static void set_figures(const sx_systolic_subject *s, json_t *object) {
    sx_systolic_figures f = sx_systolic_figures_of(s);
    sx_json_set(object, "throughput_gops", sx_json_real(f.throughput));
    sx_json_set(object, "peak_gops", sx_json_real(f.peak));
    sx_json_set(object, "roofline_gops", sx_json_real(f.roof));
    sx_json_set(object, "operations_per_byte", sx_json_real(f.intensity));
    sx_json_set(object, "bandwidth_gbs", sx_json_real(f.bandwidth));
    sx_json_set(object, "ports", json_integer(f.ports));
    sx_json_set(object, "dsp_share", sx_json_real(f.dsp_share));
    sx_json_set(object, "bram_share", sx_json_real(f.bram_share));
    sx_json_set(object, "dsp_efficiency", sx_json_real(f.efficiency));
}

/* Sets the array that a search found. */
static sx_status set_array(const sx_systolic_subject *s, json_t *object) {
    char dataflow[256];
    sx_systolic_items items;
    sx_systolic_design_text(s->kernel, &s->design, dataflow, sizeof dataflow);
    sx_json_set(object, "dataflow", json_string(dataflow));
    sx_json_set(object, "params", params_json(s->kernel, &s->answer->point));
    sx_json_set(object, "array", array_json(s));
    sx_json_set(object, "lanes", json_integer(s->answer->point.t2[s->kernel->simd]));
    sx_json_set_systolic(&s->answer->cost, object);
    set_figures(s, object);
    SX_TRY(sx_systolic_items_of(s, &items));
    if (s->n == 1) sx_json_set(object, "padded", padded_json(s));
    if (s->n == 1) set_limits(s, &items, object);
    set_buffers(s, &items, object);
    char *autosa;
    SX_TRY(sx_systolic_autosa_text(s, &autosa));
    sx_json_set(object, "autosa", sx_json_string(autosa));
    free(autosa);
    return SX_OK;
}

/* Sets what a search did. */
static void set_systolic_search(const sx_systolic_answer *answer, json_t *object) {
    const sx_run_summary *s = &answer->summary;
    if (answer->found)
        sx_json_set(object, "objective", sx_json_real(answer->value));
    else
        sx_json_set(object, "none", json_boolean(s->none));
    sx_json_set(object, "evaluations", sx_json_count(s->evaluations));
    sx_json_set(object, "valid", sx_json_count(s->valid));
    sx_json_set(object, "points", sx_json_count(s->evaluations + s->rejected));
    sx_json_set(object, "seconds", sx_json_real(s->seconds));
    sx_json_set(object, "stop", json_string(answer->searched ? sx_stop_name(s->stop) : "not searched"));
    sx_json_set(object, "repeatable", json_boolean(s->repeatable));
    if (s->lower_bound > 0) sx_json_set(object, "lower_bound", sx_json_real(s->lower_bound));
    if (s->lower_bound > 0 || s->optimal) sx_json_set(object, "optimal", json_boolean(s->optimal));
    if (answer->proven_before) sx_json_set(object, "proven_before", json_true());
    sx_json_set(object, "trace", sx_json_trace(answer->trace, answer->n_trace));
}

/* Adds a search to a list. `design` is the one that was searched; NULL: the one that was found. */
static sx_status add_result(const sx_systolic_job *job, const char *problem,
                            const sx_systolic_kernel *kernels, size_t n, const sx_systolic_answer *answer,
                            const size_t *design, json_t *list) {
    json_t *object = sx_json_append(list, json_object());
    size_t number = design ? *design : answer->point.design;
    sx_json_set(object, "problem", json_string(problem));
    sx_json_set(object, "found", json_boolean(answer->found));
    if (design || answer->found) {
        sx_systolic_design which;
        char name[16];
        sx_systolic_design_at(kernels, number, &which);
        sx_systolic_design_name(&which, name, sizeof name);
        sx_json_set(object, "design", json_string(name));
    }
    set_systolic_search(answer, object);
    if (!answer->found) return SX_OK;
    sx_systolic_subject s = sx_systolic_subject_of(job, kernels, n, answer);
    return set_array(&s, object);
}

/* Sets the layers: which result is theirs, and what the shared array takes for them. */
static sx_status set_layers(const sx_systolic_job *job, json_t *object) {
    json_t *list = sx_json_set(object, "layers", json_array());
    sx_space *shared = NULL;
    size_t design = job->shared.point.design, *result = calloc(job->n_layers, sizeof *result), n = 0;
    if (!result) return sx_error_memory();
    sx_status status = SX_OK;
    if (job->shared.found) status = sx_systolic_job_space(job, job->joined, job->n_joined, &design, &shared);
    for (size_t i = 0; !status && i < job->n_layers; i++) {
        const sx_systolic_layer *layer = &job->layer[i], *first = &job->layer[layer->same_as];
        json_t *item = json_pack("{s:s, s:o}", "problem", layer->name, "count", sx_json_count(layer->count));
        result[i] = first == layer ? n++ : result[layer->same_as];
        item = sx_json_append(list, item);
        sx_json_set(item, "result", sx_json_count(result[i]));
        if (first->best.found) sx_json_set(item, "latency_cycles", sx_json_number(first->best.cost.latency));
        if (!shared) continue;
        sx_systolic_cost cost = {0};
        (void)sx_systolic_evaluate(shared, &job->shared.point, (int)(layer->joined - job->joined), &cost);
        sx_json_set(item, "single_array_cycles", sx_json_number(cost.latency));
    }
    sx_space_free(shared);
    free(result);
    return status;
}

/* Sets the results of a network, both totals, and the array that all layers share. */
static sx_status set_network(const sx_systolic_job *job, json_t *results, json_t *object) {
    sx_systolic_total own = sx_systolic_total_of(job);
    json_t *shared = json_array();
    sx_status status = SX_OK;
    for (size_t i = 0; !status && i < job->n_layers; i++)
        if (job->layer[i].same_as == i)
            status = add_result(job, job->layer[i].name, &job->layer[i].kernel, 1, &job->layer[i].best, NULL,
                                results);
    if (!status) status = set_layers(job, object);
    if (!status) status = add_result(job, job->name, job->joined, job->n_joined, &job->shared, NULL, shared);
    if (!status) sx_json_set(object, "single_array", json_incref(json_array_get(shared, 0)));
    json_decref(shared);
    sx_json_set(object, "left_out", sx_json_count(job->n_left_out));
    if (own.whole)
        sx_json_set(object, "per_layer_total",
                    json_pack("{s:o, s:o, s:o, s:o, s:b}", "latency_cycles", sx_json_number(own.cost.latency),
                              "offchip_words", sx_json_number(own.cost.offchip_words), "energy",
                              sx_json_number(own.cost.energy), "objective", sx_json_real(own.value),
                              "optimal", own.optimal));
    if (own.whole && job->shared.found)
        sx_json_set(object, "sharing_ratio", sx_json_real(job->shared.cost.latency / own.cost.latency));
    return status;
}

/* All that repeats the result but the inputs. */
static json_t *repeat_json(const sx_systolic_job *job) {
    static const char *const tiles[] = {
        [SX_TILES_PADDED] = "padded", [SX_TILES_FULL] = "full", [SX_TILES_DIVISORS] = "divisors"};
    const sx_systolic_options *o = &job->options;
    return json_pack("{s:s, s:i, s:s, s:s, s:o, s:o, s:f, s:f, s:o, s:s, s:b, s:b, s:f}", "version",
                     sx_version(), "format", SX_RESULT_FORMAT, "method", job->method, "objective",
                     job->objective, "seed", sx_json_count(job->run.seed), "evals",
                     sx_json_count(job->run.evaluations), "time", job->run.seconds, "target", job->run.target,
                     "patience", sx_json_count(job->run.patience), "tiles", tiles[o->tiles], "thin", o->thin,
                     "corrected", o->corrected, "min_dsp", o->least_dsp);
}

sx_status sx_systolic_json(const sx_systolic_job *job, sx_text *out) {
    json_t *object = json_object(), *results;
    bool network = sx_systolic_is_network(job);
    sx_status status = SX_OK;
    sx_json_set(object, network ? "network" : "problem", json_string(job->name));
    sx_json_set(object, "device", json_string(job->device.name));
    sx_json_set(object, "type", json_string(job->element->name));
    sx_json_set(object, "method", json_string(job->method));
    sx_json_set(object, "seed", sx_json_count(job->run.seed));
    results = sx_json_set(object, "results", json_array());
    for (size_t i = 0; !network && !status && i < job->n_designs; i++) {
        size_t at = job->order[i];
        status =
            add_result(job, job->name, &job->layer[0].kernel, 1, &job->answer[at], &job->design[at], results);
    }
    if (network) status = set_network(job, results, object);
    sx_json_set(object, "interrupted", json_boolean(job->interrupted));
    sx_json_set(object, "repeat", repeat_json(job));
    if (!status) return sx_json_finish(object, out);
    json_decref(object);
    return status;
}
