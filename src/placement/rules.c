/* Placements by fixed rules: that of a simple compiler, and by density. */
#include "base/status.h"
#include "placement/place.h"

#include <stdlib.h>
#include <string.h>

/* What is placed so far: bytes of outputs by memory and step, and by memory their peak and the bytes of weights. */
typedef struct placed {
    uint64_t *outputs;
    uint64_t peak[SX_MAX_MEMORIES], weights[SX_MAX_MEMORIES];
} placed;

/* The most bytes of outputs that live in a memory while a tensor does. */
static uint64_t most_beside(const sx_placement_space *space, const placed *p, size_t tensor, size_t memory) {
    const uint64_t *outputs = p->outputs + memory * space->graph.n_nodes;
    uint64_t most = 0;
    if (!sx_place_is_output(tensor)) return p->peak[memory];
    for (size_t s = sx_place_first(space, tensor); s <= sx_place_last(space, tensor); s++)
        if (outputs[s] > most) most = outputs[s];
    return most;
}

/* The fastest memory where a tensor fits beside what is there. */
static size_t fastest_fit(const sx_placement_space *space, const placed *p, size_t tensor) {
    for (size_t m = space->chip.n_memories - 1; m > 0; m--)
        if (most_beside(space, p, tensor, m) + p->weights[m] + space->size[tensor] <=
            space->chip.memory[m].capacity)
            return m;
    return 0;
}

/* Adds a tensor to what is placed in a memory. */
static void add_placed(const sx_placement_space *space, size_t tensor, size_t memory, placed *p) {
    uint64_t *outputs = p->outputs + memory * space->graph.n_nodes;
    if (!sx_place_is_output(tensor)) {
        p->weights[memory] += space->size[tensor];
        return;
    }
    for (size_t s = sx_place_first(space, tensor); s <= sx_place_last(space, tensor); s++) {
        outputs[s] += space->size[tensor];
        if (outputs[s] > p->peak[memory]) p->peak[memory] = outputs[s];
    }
}

sx_status sx_place_first_fit(const sx_placement_space *space, const size_t *order, size_t n,
                             uint8_t *placement) {
    placed p = {.outputs = calloc(space->chip.n_memories * space->graph.n_nodes, sizeof *p.outputs)};
    if (!p.outputs) return sx_error_memory();
    memset(placement, 0, space->space.point_size);
    for (size_t i = 0; i < n; i++) {
        size_t tensor = order[i], m = space->size[tensor] ? fastest_fit(space, &p, tensor) : 0;
        placement[tensor] = (uint8_t)m;
        add_placed(space, tensor, m, &p);
    }
    free(p.outputs);
    return SX_OK;
}

/* Of larger graphs, what a tensor saves is not found by waiting for weights that are read ahead. */
enum { MOST_WAITING = 8192 };

/* A tensor and what it saves. */
typedef struct saver {
    double density; /* femtoseconds per byte and step */
    size_t tensor;
} saver;

static int compare_savers(const void *a, const void *b) {
    const saver *x = a, *y = b;
    if (x->density != y->density) return x->density > y->density ? -1 : 1;
    return x->tensor < y->tensor ? -1 : 1;
}

/* Weighs all tensors, moved one at a time out of the slowest memory into the fastest; `engine`: weights that are read ahead
 * save the time of their transfer, as where nothing else limits. */
static void weigh_tensors(sx_place_state *state, bool engine, saver *savers) {
    const sx_placement_space *space = state->space;
    uint64_t slow = state->latency;
    for (size_t t = 0; t < space->n_tensors; t++) {
        double steps = (double)(sx_place_last(space, t) - sx_place_first(space, t) + 1);
        savers[t] = (saver){.tensor = t};
        if (space->size[t] == 0) continue;
        bool streams = engine && !sx_place_is_output(t) && sx_place_is_stream(space, t / 2, 0);
        double hidden = streams ? (double)sx_place_transfer(space, 0, space->moved[t]) : 0;
        sx_place_state_move(state, t, space->chip.n_memories - 1);
        savers[t].density =
            ((double)slow - (double)state->latency + hidden) / ((double)space->size[t] * steps);
        sx_place_state_move(state, t, 0);
    }
}

/* Places tensors in the order of what they save. */
static sx_status place_savers(const sx_placement_space *space, saver *savers, uint8_t *placement) {
    size_t n = space->n_tensors, *order = calloc(n, sizeof *order);
    if (!order) return sx_error_memory();
    qsort(savers, n, sizeof *savers, compare_savers);
    for (size_t t = 0; t < n; t++) order[t] = savers[t].tensor;
    sx_status status = sx_place_first_fit(space, order, n, placement);
    free(order);
    return status;
}

/* Places by what tensors save; of large graphs with weights that are read ahead, the better of two ways to weigh these. */
static sx_status place_by_density(sx_place_state *state, saver *savers, uint8_t *placement, uint8_t *other) {
    const sx_placement_space *space = state->space;
    memset(placement, 0, space->space.point_size);
    state->sums_only = space->graph.n_nodes > MOST_WAITING;
    sx_place_state_set(state, placement);
    weigh_tensors(state, false, savers);
    SX_TRY(place_savers(space, savers, placement));
    if (!state->sums_only || !space->reads_ahead) return SX_OK;
    weigh_tensors(state, true, savers);
    SX_TRY(place_savers(space, savers, other));
    if (sx_place_latency(space, other) < sx_place_latency(space, placement))
        memcpy(placement, other, space->space.point_size);
    return SX_OK;
}

sx_status sx_place_density(const sx_placement_space *space, uint8_t *placement) {
    sx_place_state state;
    saver *savers = calloc(space->n_tensors, sizeof *savers);
    uint8_t *other = malloc(space->space.point_size);
    sx_status status = savers && other ? sx_place_state_init(space, &state) : sx_error_memory();
    if (!status) {
        status = place_by_density(&state, savers, placement, other);
        sx_place_state_fini(&state);
    }
    free(savers);
    free(other);
    return status;
}
