/* Placements by fixed rules: that of a simple compiler, and by density. */
#include "base/status.h"
#include "placement/place.h"

#include <stdlib.h>
#include <string.h>

/* The fastest memory where a tensor fits beside what is there; `use` has the bytes by memory and step. */
static size_t fastest_fit(const sx_placement_space *space, const uint64_t *use, size_t tensor) {
    size_t n = space->graph.n_nodes, first = sx_place_first(space, tensor),
           last = sx_place_last(space, tensor);
    for (size_t m = space->chip.n_memories - 1; m > 0; m--) {
        bool fits = true;
        for (size_t s = first; s <= last && fits; s++)
            fits = use[m * n + s] + space->size[tensor] <= space->chip.memory[m].capacity;
        if (fits) return m;
    }
    return 0;
}

sx_status sx_place_first_fit(const sx_placement_space *space, const size_t *order, size_t n,
                             uint8_t *placement) {
    size_t steps = space->graph.n_nodes;
    uint64_t *use = calloc(space->chip.n_memories * steps, sizeof *use);
    if (!use) return sx_error_memory();
    memset(placement, 0, space->space.point_size);
    for (size_t i = 0; i < n; i++) {
        size_t tensor = order[i], m = space->size[tensor] ? fastest_fit(space, use, tensor) : 0;
        placement[tensor] = (uint8_t)m;
        for (size_t s = sx_place_first(space, tensor); s <= sx_place_last(space, tensor); s++)
            use[m * steps + s] += space->size[tensor];
    }
    free(use);
    return SX_OK;
}

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
        uint64_t slow = state.latency;
        for (size_t t = 0; t < n; t++) {
            double steps = (double)(sx_place_last(space, t) - sx_place_first(space, t) + 1);
            savers[t].tensor = t;
            if (space->size[t] == 0) continue;
            sx_place_state_move(&state, t, space->chip.n_memories - 1);
            savers[t].density = ((double)slow - (double)state.latency) / ((double)space->size[t] * steps);
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
