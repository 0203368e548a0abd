/* Latency, energy and validity of whole placements, and the rectifier. */
#include "placement/addresses/addresses.h"
#include "placement/place.h"
#include "placement/stream.h"

#include <string.h>

void sx_place_node_bytes(const sx_placement_space *space, const uint8_t *placement, size_t node,
                         uint64_t bytes[SX_MAX_MEMORIES]) {
    const sx_place_node *at = &space->graph.node[node];
    const size_t *input = space->graph.input + at->first_input;
    for (size_t m = 0; m < space->chip.n_memories; m++) bytes[m] = 0;
    if (!sx_place_is_stream(space, node, placement[2 * node]))
        bytes[placement[2 * node]] += space->moved[2 * node];
    bytes[placement[2 * node + 1]] += space->moved[2 * node + 1];
    for (size_t i = 0; i < at->n_inputs; i++)
        bytes[placement[2 * input[i] + 1]] += space->moved[2 * input[i] + 1];
}

/* The time of a node without waiting for streams; whether its weights stream. */
static uint64_t own_time(const sx_placement_space *space, const uint8_t *placement, size_t node,
                         bool *streams) {
    uint64_t bytes[SX_MAX_MEMORIES];
    *streams = sx_place_is_stream(space, node, placement[2 * node]);
    sx_place_node_bytes(space, placement, node, bytes);
    return sx_place_node_time(space, node, bytes, *streams);
}

uint64_t sx_place_latency(const sx_placement_space *space, const uint8_t *placement) {
    uint64_t latency = 0;
    sx_place_stream stream;
    bool streams;
    sx_place_stream_begin(&stream);
    for (size_t i = 0; i < space->graph.n_nodes; i++) {
        uint64_t time = own_time(space, placement, i, &streams);
        latency += time;
        if (space->reads_ahead) sx_place_stream_pass(space, i, time, streams, &stream);
    }
    return space->reads_ahead ? stream.now : latency;
}

void sx_place_times(const sx_placement_space *space, const uint8_t *placement, uint64_t *time) {
    sx_place_stream stream;
    bool streams;
    sx_place_stream_begin(&stream);
    for (size_t i = 0; i < space->graph.n_nodes; i++) {
        uint64_t before = stream.now, own = own_time(space, placement, i, &streams);
        sx_place_stream_pass(space, i, own, streams, &stream);
        time[i] = stream.now - before;
    }
}

double sx_place_energy(const sx_placement_space *space, const uint8_t *placement) {
    uint64_t bytes[SX_MAX_MEMORIES] = {0};
    double energy = space->op_energy;
    for (size_t i = 0; i < space->graph.n_nodes; i++) {
        bytes[placement[2 * i]] += space->moved[2 * i];
        bytes[placement[2 * i + 1]] += space->moved[2 * i + 1] * (1 + space->graph.node[i].n_users);
    }
    for (size_t m = 0; m < space->chip.n_memories; m++)
        energy += (double)bytes[m] * space->chip.memory[m].energy;
    return energy;
}

/* The memory of a tensor, moved or not. */
static size_t memory_of(const uint8_t *placement, size_t tensor) {
    return placement[tensor] & (SX_PLACE_MOVED - 1);
}

/* The bytes of weights in each memory. */
static void sum_weights(const sx_placement_space *space, const uint8_t *placement, uint64_t *use) {
    for (size_t m = 0; m < space->chip.n_memories; m++) use[m] = 0;
    for (size_t i = 0; i < space->graph.n_nodes; i++) use[memory_of(placement, 2 * i)] += space->size[2 * i];
}

/* Takes away the outputs that are read last at a step. */
static void end_step(const sx_placement_space *space, const uint8_t *placement, size_t step, uint64_t *use) {
    for (size_t k = space->first_ended[step]; k < space->first_ended[step + 1]; k++) {
        size_t tensor = 2 * space->ending[k] + 1;
        use[memory_of(placement, tensor)] -= space->size[tensor];
    }
}

bool sx_place_fits(const sx_placement_space *space, const uint8_t *placement, size_t *step, size_t *memory,
                   uint64_t *over) {
    uint64_t use[SX_MAX_MEMORIES];
    sum_weights(space, placement, use);
    for (size_t s = 0; s < space->graph.n_nodes; s++) {
        use[memory_of(placement, 2 * s + 1)] += space->size[2 * s + 1];
        for (size_t m = 0; m < space->chip.n_memories; m++) {
            if (use[m] <= space->chip.memory[m].capacity) continue;
            if (step) *step = s;
            if (memory) *memory = m;
            if (over) *over = use[m] - space->chip.memory[m].capacity;
            return false;
        }
        end_step(space, placement, s, use);
    }
    return true;
}

/* The tensor that leaves a memory at a step: the one that lives longest, of these the largest, of these that
 * of the highest node, its weights before its output. */
static size_t leaving_tensor(const sx_placement_space *space, const uint8_t *placement, size_t step,
                             size_t memory) {
    size_t best = space->n_tensors;
    for (size_t t = 0; t < space->n_tensors; t++) {
        if (memory_of(placement, t) != memory || space->size[t] == 0) continue;
        size_t last = sx_place_last(space, t);
        if (sx_place_first(space, t) > step || last < step) continue;
        if (best < space->n_tensors) {
            size_t longest = sx_place_last(space, best);
            if (last < longest) continue;
            if (last == longest && space->size[t] < space->size[best]) continue;
            if (last == longest && space->size[t] == space->size[best] && t / 2 == best / 2) continue;
        }
        best = t;
    }
    return best;
}

/* One walk over the steps; false where nothing had to be moved. */
static bool rectify_walk(const sx_placement_space *space, uint8_t *placement) {
    uint64_t use[SX_MAX_MEMORIES];
    bool moved = false;
    sum_weights(space, placement, use);
    for (size_t s = 0; s < space->graph.n_nodes; s++) {
        use[memory_of(placement, 2 * s + 1)] += space->size[2 * s + 1];
        for (size_t m = space->chip.n_memories - 1; m > 0; m--)
            while (use[m] > space->chip.memory[m].capacity) {
                size_t tensor = leaving_tensor(space, placement, s, m);
                use[m] -= space->size[tensor];
                use[m - 1] += space->size[tensor];
                placement[tensor] = (uint8_t)((memory_of(placement, tensor) - 1) | SX_PLACE_MOVED);
                moved = true;
            }
        end_step(space, placement, s, use);
    }
    return moved;
}

bool sx_place_valid(const sx_placement_space *space, const uint8_t *placement) {
    if (!sx_place_fits(space, placement, NULL, NULL, NULL)) return false;
    return !space->align || sx_addresses_lack(space, placement) == space->chip.n_memories;
}

/* The step at which the most bytes live in a memory. */
static size_t fullest_step(const sx_placement_space *space, const uint8_t *placement, size_t memory) {
    uint64_t use[SX_MAX_MEMORIES], most = 0;
    size_t fullest = 0;
    sum_weights(space, placement, use);
    for (size_t s = 0; s < space->graph.n_nodes; s++) {
        use[memory_of(placement, 2 * s + 1)] += space->size[2 * s + 1];
        if (use[memory] > most) fullest = s;
        if (use[memory] > most) most = use[memory];
        end_step(space, placement, s, use);
    }
    return fullest;
}

/* Moves a tensor out of a memory that has no addresses for all of its own; false where there is none, or where it
 * is the slowest. */
static bool rectify_addresses(const sx_placement_space *space, uint8_t *placement) {
    size_t memory = space->align ? sx_addresses_lack(space, placement) : space->chip.n_memories;
    if (memory == 0 || memory == space->chip.n_memories) return false;
    size_t tensor = leaving_tensor(space, placement, fullest_step(space, placement, memory), memory);
    placement[tensor] = (uint8_t)((memory - 1) | SX_PLACE_MOVED);
    return true;
}

uint64_t sx_placement_rectify(const sx_space *base, uint8_t *placement) {
    const sx_placement_space *space = sx_placement_space_of(base);
    uint64_t moved = 0;
    if (!space->align && sx_place_fits(space, placement, NULL, NULL, NULL)) return 0;
    do
        while (rectify_walk(space, placement)) continue;
    while (rectify_addresses(space, placement));
    for (size_t t = 0; t < space->n_tensors; t++) {
        if (placement[t] & SX_PLACE_MOVED) moved += space->size[t];
        placement[t] &= (uint8_t)~SX_PLACE_MOVED;
    }
    return moved;
}
