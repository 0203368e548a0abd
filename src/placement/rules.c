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

/* Of larger graphs, what a tensor saves is without waiting for weights that are read ahead. */
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

sx_status sx_place_density(const sx_placement_space *space, uint8_t *placement) {
    size_t n = space->n_tensors;
    sx_place_state state;
    saver *savers = calloc(n, sizeof *savers);
    size_t *order = calloc(n, sizeof *order);
    sx_status status = savers && order ? sx_place_state_init(space, &state) : sx_error_memory();
    if (!status) {
        memset(placement, 0, space->space.point_size);
        sx_place_state_set(&state, placement);
        bool waits = space->graph.n_nodes <= MOST_WAITING;
        uint64_t slow = waits ? state.latency : state.sum;
        for (size_t t = 0; t < n; t++) {
            double steps = (double)(sx_place_last(space, t) - sx_place_first(space, t) + 1);
            savers[t].tensor = t;
            if (space->size[t] == 0) continue;
            sx_place_state_move(&state, t, space->chip.n_memories - 1);
            savers[t].density = ((double)slow - (double)(waits ? state.latency : state.sum)) /
                                ((double)space->size[t] * steps);
            sx_place_state_move(&state, t, 0);
        }
        qsort(savers, n, sizeof *savers, compare_savers);
        for (size_t t = 0; t < n; t++) order[t] = savers[t].tensor;
        sx_place_state_fini(&state);
        status = sx_place_first_fit(space, order, n, placement);
    }
    free(savers);
    free(order);
    return status;
}
