/* Records are of the kind "placement". A space is told from others by its nodes and its chip. A point is the
 * list of the memories of all tensors. What a record says of costs is not trusted: the placement is evaluated
 * anew. */
#include "session/placement_store.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/saved_state.h"
#include "base/status.h"
#include "session/search_record.h"
#include "sextant/all.h"
#include "space/outside_evaluator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char kind[] = "placement";

/* The nodes of a graph. */
static json_t *nodes_json(const sx_place_graph *graph) {
    json_t *list = json_array();
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const sx_place_node *node = &graph->node[i];
        json_t *inputs = json_array();
        for (size_t k = 0; k < node->n_inputs; k++)
            sx_json_append(inputs, json_integer((json_int_t)graph->input[node->first_input + k]));
        sx_json_append(list, json_pack("{s:i, s:I, s:I, s:I, s:I, s:o}", "operation", (int)node->op, "ops",
                                       (json_int_t)node->ops, "weight_bytes", (json_int_t)node->weight_bytes,
                                       "weight_read", (json_int_t)node->weight_read, "output_bytes",
                                       (json_int_t)node->activation_bytes, "inputs", inputs));
    }
    return list;
}

/* What placements cost on a chip. */
static json_t *chip_json(const sx_chip *chip) {
    json_t *memories = json_array(), *rates = json_array();
    for (size_t m = 0; m < chip->n_memories; m++)
        sx_json_append(memories,
                       json_pack("{s:I, s:f, s:f}", "capacity", (json_int_t)chip->memory[m].capacity,
                                 "bandwidth", chip->memory[m].bandwidth, "energy", chip->memory[m].energy));
    for (size_t i = 0; i < SX_N_OP_CLASSES; i++) sx_json_append(rates, json_real(chip->rate[i]));
    return json_pack("{s:o, s:o, s:f, s:f, s:b, s:I, s:I}", "memories", memories, "rates", rates, "overhead",
                     chip->overhead, "op_energy", chip->op_energy, "shared_ports", chip->shared_ports,
                     "output_buffer", (json_int_t)chip->output_buffer, "prefetch",
                     (json_int_t)chip->prefetch);
}

/* What tells a job's space from others; latencies of an evaluator are those of another space. */
static char *space_text(const sx_placement_job *job) {
    json_t *object = chip_json(&job->in->chip);
    sx_json_set(object, "nodes", nodes_json(&job->in->graph));
    if (job->outside) {
        const unsigned repeats = sx_outside_evaluator_repeats(job->outside);
        sx_json_set(object, "evaluator", json_string(sx_outside_evaluator_command(job->outside)));
        if (repeats > 1) sx_json_set(object, "repeats", json_integer(repeats));
    }
    return sx_search_json(object);
}

/* Adds a name and a digest of JSON. */
static sx_status add_digest(sx_text *text, const char *key, const char *name, uint64_t seed,
                            SX_TAKE json_t *of) {
    char *json = sx_search_json(of);
    if (!json) return sx_error_memory();
    sx_identity_add_digest(text, key, name, sx_hash_bytes(json, strlen(json), seed));
    free(json);
    return SX_OK;
}

sx_status sx_placement_identity(const sx_placement_job *job, sx_text *text) {
    const sx_placement_space *in = job->in;
    uint64_t features = 0;
    for (size_t i = 0; i < in->graph.n_nodes; i++)
        features = sx_hash_bytes(in->graph.node[i].feature, sizeof in->graph.node[i].feature, features);
    SX_TRY(add_digest(text, "graph", in->graph.name, features, nodes_json(&in->graph)));
    SX_TRY(add_digest(text, "chip", in->chip.name, 0, chip_json(&in->chip)));
    sx_outside_evaluator_identity(job->outside, text);
    sx_identity_add(text, "--noise", "%.17g", job->noise);
    sx_identity_add(text, "--require-addresses", "%s", in->align ? "yes" : "no");
    sx_identity_add(text, "--align", "%llu", (unsigned long long)in->align);
    return sx_search_identity(text, "--method", job->method, &job->run);
}

/* A placement. */
static char *point_text(const sx_placement_space *space, const uint8_t *placement) {
    json_t *list = json_array();
    for (size_t t = 0; t < space->n_tensors; t++) sx_json_append(list, json_integer(placement[t]));
    return sx_search_json(json_pack("{s:o}", "memories", list));
}

/* Reads what point_text wrote; false where the text is no valid placement of the space. */
static bool read_point(const sx_space *space, const char *text, uint8_t *out) {
    json_t *object = sx_json_read(text);
    const json_t *list = json_object_get(object, "memories");
    bool fine = json_array_size(list) == sx_placement_space_of(space)->n_tensors;
    memset(out, 0, space->point_size);
    for (size_t t = 0; fine && t < json_array_size(list); t++) {
        json_int_t memory = json_integer_value(json_array_get(list, t));
        fine = memory >= 0 && memory < SX_MAX_MEMORIES;
        if (fine) out[t] = (uint8_t)memory;
    }
    json_decref(object);
    return fine && space->type->holds(space, out) && space->type->check(space, out) == 0;
}

/* An answer that is looked for. */
typedef struct recall_state {
    sx_placement_job *job;
    bool again;
} recall_state;

/* The objective's value of a placement. */
static sx_status value_of(const sx_placement_job *job, const uint8_t *placement, double *out) {
    sx_scorer *scorer;
    sx_outcome outcome;
    SX_TRY(sx_scorer_new(job->space, NULL, &job->run.objective, &scorer));
    sx_status status = sx_scorer_score(scorer, placement, 1, INFINITY, &outcome);
    sx_scorer_free(scorer);
    if (!status) *out = outcome.value;
    return status;
}

/* Takes over the placement of a record, if it is one and costs what the record says (an evaluator is asked again, or recalls). */
static sx_status take_record(void *user, const sx_point_record *record) {
    recall_state *state = user;
    sx_placement_job *job = state->job;
    double value = record->search.value;
    uint8_t *point = calloc(job->space->point_size, 1);
    if (!point) return sx_error_memory();
    sx_status status = SX_OK;
    bool fine = read_point(job->space, record->point, point);
    if (fine && !job->outside) status = value_of(job, point, &value);
    if (status || !fine || value != record->search.value || job->start) {
        free(point);
        return status;
    }
    if (state->again || !sx_search_is_proven(&record->search)) {
        job->start = point;
        return SX_OK;
    }
    job->placement = point;
    job->value = value;
    job->found = job->proven_before = true;
    job->summary = sx_search_recalled(&record->search);
    return SX_OK;
}

sx_status sx_placement_recall(sx_placement_job *job, sx_store *store, bool again) {
    recall_state state = {job, again};
    char *text = space_text(job);
    if (!text) return sx_error_memory();
    sx_status status = sx_store_best_points(store, kind, text, job->objective, take_record, &state);
    const sx_answers_of of = {.store = store,
                              .outside = job->outside,
                              .name = job->in->graph.name,
                              .method = job->method,
                              .seed = job->run.seed,
                              .again = again};
    if (!status && job->outside) status = sx_answers_open_placement(&of, text, &job->answers);
    free(text);
    return status;
}

sx_status sx_placement_keep(const sx_placement_job *job, sx_store *store) {
    sx_placement_cost cost;
    sx_placement_evaluate(job->space, job->placement, &cost);
    const sx_metric_value metrics[] = {{"energy_pj", cost.energy}, {"latency_seconds", cost.latency}};
    const sx_point_record record = {.kind = kind,
                                    .space = space_text(job),
                                    .name = job->in->graph.name,
                                    .point = point_text(job->in, job->placement),
                                    .n_metrics = sizeof metrics / sizeof *metrics,
                                    .metric = metrics};
    return sx_search_keep(store, &job->run, &job->summary, job->objective, job->method, job->value, &record);
}
