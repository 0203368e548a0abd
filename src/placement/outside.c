/* Asking an outside evaluator about placements. */
#include "base/json.h"
#include "placement/place.h"
#include "space/outside_evaluator.h"

/* The memory of a tensor; null where it has no bytes. */
static json_t *memory_of(const sx_placement_space *space, const uint8_t *point, size_t tensor) {
    return space->size[tensor] ? json_string(space->chip.memory[point[tensor]].name) : json_null();
}

/* Sets the graph, the chip and the memories of all nodes. */
static sx_status describe_point(const sx_space *base, const void *point, json_t *object) {
    const sx_placement_space *space = sx_placement_space_of(base);
    json_t *nodes = json_array();
    for (size_t i = 0; i < space->graph.n_nodes; i++)
        sx_json_append(nodes, json_pack("{s:s, s:o, s:o}", "name", space->graph.node[i].name, "weights",
                                        memory_of(space, point, 2 * i), "output",
                                        memory_of(space, point, 2 * i + 1)));
    sx_json_set(object, "graph", json_string(space->graph.name));
    sx_json_set(object, "chip", json_string(space->chip.name));
    sx_json_set(object, "nodes", nodes);
    return SX_OK;
}

static const sx_question_kind kind = {
    .value = "latency",
    .refusal = "invalid",
    .positive = true,
    .metric = SX_PLACE_LATENCY,
    .describe = describe_point,
};

sx_status sx_outside_evaluator_placement_model(sx_outside_evaluator *outside, const sx_space *space,
                                               sx_point_model **out) {
    return sx_outside_evaluator_model_new(outside, space, &kind, out);
}
