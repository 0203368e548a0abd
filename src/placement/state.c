/* A placement that changes tensor by tensor. */
#include "base/status.h"
#include "placement/place.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16 }; /* steps whose largest use is kept */

sx_status sx_place_state_init(const sx_placement_space *space, sx_place_state *state) {
    size_t n = space->graph.n_nodes, m = space->chip.n_memories;
    *state = (sx_place_state){.space = space, .n_blocks = (n + BLOCK - 1) / BLOCK};
    state->memory = calloc(space->space.point_size, 1);
    state->bytes = calloc(n * m, sizeof *state->bytes);
    state->time = calloc(n, sizeof *state->time);
    state->use = calloc(m * state->n_blocks * BLOCK, sizeof *state->use);
    state->block = calloc(m * state->n_blocks, sizeof *state->block);
    if (state->memory && state->bytes && state->time && state->use && state->block) return SX_OK;
    sx_place_state_fini(state);
    return sx_error_memory();
}

void sx_place_state_fini(sx_place_state *state) {
    free(state->memory);
    free(state->bytes);
    free(state->time);
    free(state->use);
    free(state->block);
    *state = (sx_place_state){0};
}

/* Brings the largest use of a memory up to date after steps `first` to `last` changed. */
static void update_peak(sx_place_state *state, size_t memory, size_t first, size_t last) {
    uint64_t *block = state->block + memory * state->n_blocks, peak = 0;
    const uint64_t *use = state->use + memory * state->n_blocks * BLOCK;
    for (size_t b = first / BLOCK; b <= last / BLOCK; b++) {
        uint64_t most = 0;
        for (size_t s = 0; s < BLOCK; s++)
            if (use[b * BLOCK + s] > most) most = use[b * BLOCK + s];
        block[b] = most;
    }
    for (size_t b = 0; b < state->n_blocks; b++)
        if (block[b] > peak) peak = block[b];
    state->peak[memory] = peak;
}

void sx_place_state_set(sx_place_state *state, const uint8_t *placement) {
    const sx_placement_space *space = state->space;
    size_t n = space->graph.n_nodes, m = space->chip.n_memories;
    memcpy(state->memory, placement, space->space.point_size);
    memset(state->use, 0, m * state->n_blocks * BLOCK * sizeof *state->use);
    memset(state->weights, 0, sizeof state->weights);
    state->latency = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes[SX_MAX_MEMORIES];
        sx_place_node_bytes(space, placement, i, bytes);
        memcpy(state->bytes + i * m, bytes, m * sizeof *bytes);
        state->time[i] = sx_place_node_time(space, i, bytes);
        state->latency += state->time[i];
        state->weights[placement[2 * i]] += space->size[2 * i];
        uint64_t *use = state->use + placement[2 * i + 1] * state->n_blocks * BLOCK;
        for (size_t s = i; s <= space->graph.node[i].last; s++) use[s] += space->size[2 * i + 1];
    }
    for (size_t k = 1; k < m; k++) update_peak(state, k, 0, n - 1);
}

/* Moves bytes of a node's transfers between memories. */
static inline void move_bytes(sx_place_state *state, size_t node, size_t from, size_t to, uint64_t bytes) {
    const sx_placement_space *space = state->space;
    uint64_t *at = state->bytes + node * space->chip.n_memories;
    at[from] -= bytes;
    at[to] += bytes;
    uint64_t time = sx_place_node_time(space, node, at);
    state->latency += time - state->time[node];
    state->time[node] = time;
}

/* Adds an output to the use of a memory over the steps at which it lives, or takes it away. */
static void change_use(sx_place_state *state, size_t node, size_t memory, uint64_t size, bool add) {
    if (memory == 0) return;
    size_t last = state->space->graph.node[node].last;
    uint64_t *use = state->use + memory * state->n_blocks * BLOCK;
    for (size_t s = node; s <= last; s++) use[s] = add ? use[s] + size : use[s] - size;
    update_peak(state, memory, node, last);
}

void sx_place_state_move(sx_place_state *state, size_t tensor, size_t memory) {
    const sx_placement_space *space = state->space;
    size_t from = state->memory[tensor], node = tensor / 2;
    uint64_t size = space->size[tensor], bytes = space->moved[tensor];
    if (from == memory) return;
    state->memory[tensor] = (uint8_t)memory;
    move_bytes(state, node, from, memory, bytes);
    if (!sx_place_is_output(tensor)) {
        state->weights[from] -= size;
        state->weights[memory] += size;
        return;
    }
    const sx_place_node *at = &space->graph.node[node];
    for (size_t i = 0; i < at->n_users; i++)
        move_bytes(state, space->graph.user[at->first_user + i], from, memory, bytes);
    change_use(state, node, from, size, false);
    change_use(state, node, memory, size, true);
}
