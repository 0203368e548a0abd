/* Answers of `sextant place` as JSON. */
#include "report/json_parts.h"
#include "report/placement.h"

#include "registry/registry.h"
#include "sextant/version.h"

/* The offset of a tensor; null where it has no bytes or no offset. */
static json_t *offset_json(const sx_placement_job *job, size_t tensor) {
    const sx_addresses *addresses = &job->addresses;
    bool found = job->in->size[tensor] && addresses->memory[job->placement[tensor]].found;
    return found ? sx_json_count(addresses->offset[tensor]) : json_null();
}

/* Sets in the object of a memory what its addresses come to. */
static void set_addresses(const sx_placement_job *job, size_t memory, json_t *object) {
    const sx_allocation *found = &job->addresses.memory[memory];
    sx_json_set(object, "address_bytes", found->found ? sx_json_count(found->bytes) : json_null());
    sx_json_set(object, "address_bound_bytes", sx_json_count(found->bound));
    sx_json_set(object, "address_proven", json_boolean(found->proven));
    sx_json_set(object, "addresses_fit", json_boolean(sx_addresses_fit(job->in, &job->addresses, memory)));
}

/* The memories with what lies there. */
static json_t *memories_json(const sx_placement_job *job) {
    const sx_placement_space *space = job->in;
    sx_memory_use use[SX_MAX_MEMORIES];
    json_t *list = json_array();
    sx_placement_uses(space, job->placement, use);
    for (size_t m = 0; m < space->chip.n_memories; m++) {
        const sx_chip_memory *memory = &space->chip.memory[m];
        sx_json_append(
            list,
            json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", memory->name, "capacity_bytes",
                      sx_json_count(memory->capacity), "bandwidth", sx_json_real(memory->bandwidth),
                      "tensors", sx_json_count(use[m].tensors), "weight_bytes", sx_json_count(use[m].weights),
                      "output_bytes", sx_json_count(use[m].outputs), "peak_bytes", sx_json_count(use[m].peak),
                      "peak_node",
                      use[m].peak ? json_string(space->graph.node[use[m].peak_step].name) : json_null()));
        if (job->addresses.align) set_addresses(job, m, json_array_get(list, m));
    }
    return list;
}

/* The memory of a tensor, null where it has no bytes. */
static json_t *memory_json(const sx_placement_job *job, size_t tensor) {
    if (!job->in->size[tensor]) return json_null();
    return json_string(job->in->chip.memory[job->placement[tensor]].name);
}

/* The nodes with their memories. */
static json_t *nodes_json(const sx_placement_job *job) {
    const sx_placement_space *space = job->in;
    json_t *list = json_array();
    sx_node_limit *limits = sx_placement_limits(space, job->placement);
    if (!limits) sx_json_fail();
    for (size_t i = 0; i < space->graph.n_nodes && limits; i++) {
        sx_json_append(list, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s}", "name",
                                       space->graph.node[i].name, "operation",
                                       sx_op_class_name(space->graph.node[i].op), "weight_bytes",
                                       sx_json_count(space->size[2 * i]), "weights", memory_json(job, 2 * i),
                                       "output_bytes", sx_json_count(space->size[2 * i + 1]), "output",
                                       memory_json(job, 2 * i + 1), "seconds",
                                       sx_json_real((double)limits[i].time / SX_FEMTO), "limited_by",
                                       sx_placement_limit_name(space, limits[i].limit)));
        json_t *node = json_array_get(list, i);
        if (!job->addresses.align) continue;
        sx_json_set(node, "weights_offset", offset_json(job, 2 * i));
        sx_json_set(node, "output_offset", offset_json(job, 2 * i + 1));
    }
    free(limits);
    return list;
}

/* Sets what was found. */
static void set_found(const sx_placement_job *job, json_t *object) {
    sx_placement_cost cost;
    sx_placement_evaluate(job->space, job->placement, &cost);
    double baseline = job->outside ? job->baseline : sx_placement_baseline(job->space);
    double latency = job->outside ? job->latency : cost.latency, speedup = baseline / latency;
    bool known = baseline > 0;
    sx_json_set(object, "objective_value", sx_json_real(job->value));
    sx_json_set(object, "latency_seconds", sx_json_real(latency));
    if (job->outside) sx_json_set(object, "model_seconds", sx_json_real(cost.latency));
    if (job->noise > 0) sx_json_set(object, "measured_seconds", sx_json_real(job->latency));
    sx_json_set(object, "compiler_seconds", known ? sx_json_real(baseline) : json_null());
    sx_json_set(object, "speedup", known ? sx_json_real(speedup) : json_null());
    sx_json_set(object, "reward", known ? sx_json_real(speedup * speedup) : json_null());
    sx_json_set(object, "energy_pj", sx_json_real(cost.energy));
    if (job->addresses.align) sx_json_set(object, "align", sx_json_count(job->addresses.align));
    sx_json_set(object, "memories", memories_json(job));
    sx_json_set(object, "nodes", nodes_json(job));
}

/* Sets what the search did. */
static void set_placement_search(const sx_placement_job *job, json_t *object) {
    const sx_run_summary *s = &job->summary;
    sx_json_set(object, "evaluations", sx_json_count(s->evaluations));
    sx_json_set(object, "valid", sx_json_count(s->valid));
    sx_json_set(object, "seconds", sx_json_real(s->seconds));
    sx_json_set(object, "stop", json_string(sx_stop_name(s->stop)));
    sx_json_set(object, "repeatable", json_boolean(s->repeatable));
    if (s->lower_bound > 0) sx_json_set(object, "lower_bound", sx_json_real(s->lower_bound));
    if (s->lower_bound > 0 && job->found)
        sx_json_set(object, "gap", sx_json_real(job->value / s->lower_bound - 1));
    sx_json_set(object, "optimal", json_boolean(s->optimal));
    if (job->proven_before) sx_json_set(object, "proven_before", json_true());
    sx_json_set(object, "trace", sx_json_trace(job->trace, job->n_trace));
}

sx_status sx_placement_json(const sx_placement_job *job, sx_text *out) {
    const sx_placement_space *space = job->in;
    json_t *object = json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:o, s:o, s:b}", "version", sx_version(),
                               "format", SX_RESULT_FORMAT, "graph", space->graph.name, "chip",
                               space->chip.name, "method", sx_navigator_short(job->method), "objective",
                               job->objective, "seed", sx_json_count(job->run.seed), "total_bytes",
                               sx_json_count(space->total), "found", job->found);
    if (job->found) set_found(job, object);
    if (job->noise > 0) sx_json_set(object, "noise", sx_json_real(job->noise));
    if (job->outside) {
        sx_outside_evaluator_account account = sx_outside_evaluator_report(job->outside);
        sx_json_set(object, "evaluator",
                    sx_json_outside_evaluator(sx_outside_evaluator_command(job->outside), &account));
    }
    set_placement_search(job, object);
    return sx_json_finish(object, out);
}
