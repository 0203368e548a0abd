/* A placement that changes tensor by tensor. */
#include "base/status.h"
#include "placement/place.h"
#include "placement/stream.h"

#include <stdlib.h>
#include <string.h>

/* Where the walk of stream.h is after a node. */
typedef struct sx_place_clock {
    uint64_t now, engine, over, held;
    size_t tail, n;
} sx_place_clock;

enum { BLOCK = 16 }; /* steps whose largest use is kept */

sx_status sx_place_state_init(const sx_placement_space *space, sx_place_state *state) {
    size_t n = space->graph.n_nodes, m = space->chip.n_memories;
    *state = (sx_place_state){.space = space, .n_blocks = (n + BLOCK - 1) / BLOCK};
    state->memory = calloc(space->space.point_size, 1);
    state->bytes = calloc(n * m, sizeof *state->bytes);
    state->time = calloc(n, sizeof *state->time);
    state->use = calloc(m * state->n_blocks * BLOCK, sizeof *state->use);
    state->block = calloc(m * state->n_blocks, sizeof *state->block);
    if (space->reads_ahead) state->clock = calloc(n + 1, sizeof *state->clock);
    bool made = !space->reads_ahead || state->clock;
    if (made && state->memory && state->bytes && state->time && state->use && state->block) return SX_OK;
    sx_place_state_fini(state);
    return sx_error_memory();
}

void sx_place_state_fini(sx_place_state *state) {
    free(state->memory);
    free(state->bytes);
    free(state->time);
    free(state->use);
    free(state->block);
    free(state->clock);
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

/* Whether the weights of a node stream at present. */
static bool weights_stream(const sx_place_state *state, size_t node) {
    return sx_place_is_stream(state->space, node, state->memory[2 * node]);
}

/* Whether they may hide behind other nodes. */
static bool may_hide(const sx_place_state *state, size_t node) {
    return weights_stream(state, node) && !sx_place_exceeds_prefetch(state->space, node);
}

/* The clock after a node that streams: it waits for its weights. `tail` is the first node whose weights, if they stream,
 * are in the buffer. */
static void wait_for_stream(const sx_place_state *state, size_t node, sx_place_clock *clock) {
    const sx_placement_space *space = state->space;
    if (sx_place_exceeds_prefetch(space, node)) {
        clock->engine = clock->over = clock->now;
        clock->held = 0;
        clock->tail = node + 1;
        clock->n = 0;
        return;
    }
    uint64_t bytes = space->moved[2 * node];
    clock->held += bytes;
    for (; clock->held > space->chip.prefetch || clock->n == SX_MAX_STREAMS; clock->tail++) {
        if (!may_hide(state, clock->tail)) continue;
        clock->over = state->clock[clock->tail + 1].now;
        clock->held -= space->moved[2 * clock->tail];
        clock->n--;
    }
    clock->n++;
    uint64_t start = clock->engine > clock->over ? clock->engine : clock->over;
    clock->engine = start + sx_place_transfer(space, 0, bytes);
    if (clock->now < clock->engine + space->overhead) clock->now = clock->engine + space->overhead;
}

/* Whether a clock is another one moved by a given number of femtoseconds. */
static bool is_shifted(const sx_place_clock *clock, const sx_place_clock *old, uint64_t shift) {
    return clock->now - old->now == shift && clock->engine - old->engine == shift &&
           clock->over - old->over == shift && clock->held == old->held && clock->tail == old->tail &&
           clock->n == old->n;
}

/* Computes the clocks from a node on, after the times of nodes up to `last` changed: until all that follow are the old
 * ones moved by a constant. */
static void update_clocks(sx_place_state *state, size_t first, size_t last) {
    size_t n = state->space->graph.n_nodes, differs = n;
    uint64_t shift = 0;
    for (size_t i = first; i < n; i++) {
        sx_place_clock clock = state->clock[i], *old = &state->clock[i + 1];
        clock.now += state->time[i];
        if (weights_stream(state, i)) wait_for_stream(state, i, &clock);
        state->passed++;
        if (differs == n || clock.now - old->now != shift) differs = i;
        shift = clock.now - old->now;
        bool settled = i >= last && clock.tail >= differs && is_shifted(&clock, old, shift);
        *old = clock;
        if (!settled) continue;
        if (shift != 0) state->passed += (n - i) / 4;
        for (size_t k = i + 2; shift != 0 && k <= n; k++) {
            state->clock[k].now += shift;
            state->clock[k].engine += shift;
            state->clock[k].over += shift;
        }
        break;
    }
}

/* Computes the latency, after the times of nodes from `first` to `last` changed: the sum of times where nothing may
 * hide, else by the clocks. */
static void update_latency(sx_place_state *state, size_t first, size_t last) {
    size_t n = state->space->graph.n_nodes;
    bool waits = state->n_streams > 0 && !state->sums_only;
    state->latency = state->sum;
    if (waits) {
        update_clocks(state, state->clocked ? first : 0, state->clocked ? last : n - 1);
        state->latency = state->clock[n].now;
    }
    state->clocked = waits;
}

void sx_place_state_set(sx_place_state *state, const uint8_t *placement) {
    const sx_placement_space *space = state->space;
    size_t n = space->graph.n_nodes, m = space->chip.n_memories;
    memcpy(state->memory, placement, space->space.point_size);
    memset(state->use, 0, m * state->n_blocks * BLOCK * sizeof *state->use);
    memset(state->weights, 0, sizeof state->weights);
    state->sum = state->n_streams = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes[SX_MAX_MEMORIES];
        sx_place_node_bytes(space, placement, i, bytes);
        memcpy(state->bytes + i * m, bytes, m * sizeof *bytes);
        state->time[i] = sx_place_node_time(space, i, bytes, weights_stream(state, i));
        state->sum += state->time[i];
        state->n_streams += may_hide(state, i);
        state->weights[placement[2 * i]] += space->size[2 * i];
        uint64_t *use = state->use + placement[2 * i + 1] * state->n_blocks * BLOCK;
        for (size_t s = i; s <= space->graph.node[i].last; s++) use[s] += space->size[2 * i + 1];
    }
    for (size_t k = 1; k < m; k++) update_peak(state, k, 0, n - 1);
    state->clocked = false;
    update_latency(state, 0, n - 1);
}

/* Brings the time of a node up to date. */
static inline void update_time(sx_place_state *state, size_t node) {
    const uint64_t *at = state->bytes + node * state->space->chip.n_memories;
    uint64_t time = sx_place_node_time(state->space, node, at, weights_stream(state, node));
    state->sum += time - state->time[node];
    state->time[node] = time;
}

/* Moves an output of a node's transfers between memories. */
static inline void move_output(sx_place_state *state, size_t node, size_t from, size_t to, uint64_t bytes) {
    uint64_t *at = state->bytes + node * state->space->chip.n_memories;
    at[from] -= bytes;
    at[to] += bytes;
    update_time(state, node);
}

/* Moves the weights of a node. */
static void move_weights(sx_place_state *state, size_t node, size_t from, size_t to) {
    const sx_placement_space *space = state->space;
    uint64_t *at = state->bytes + node * space->chip.n_memories, bytes = space->moved[2 * node];
    state->n_streams -= may_hide(state, node);
    state->memory[2 * node] = (uint8_t)to;
    state->n_streams += may_hide(state, node);
    if (!sx_place_is_stream(space, node, from)) at[from] -= bytes;
    if (!sx_place_is_stream(space, node, to)) at[to] += bytes;
    update_time(state, node);
    state->weights[from] -= space->size[2 * node];
    state->weights[to] += space->size[2 * node];
}

/* Adds an output to the use of a memory over the steps at which it lives, or takes it away. */
static void change_use(sx_place_state *state, size_t node, size_t memory, uint64_t size, bool add) {
    if (memory == 0 || state->sums_only) return;
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
    if (!sx_place_is_output(tensor)) {
        move_weights(state, node, from, memory);
        update_latency(state, node, node);
        return;
    }
    const sx_place_node *at = &space->graph.node[node];
    state->memory[tensor] = (uint8_t)memory;
    move_output(state, node, from, memory, bytes);
    for (size_t i = 0; i < at->n_users; i++)
        move_output(state, space->graph.user[at->first_user + i], from, memory, bytes);
    change_use(state, node, from, size, false);
    change_use(state, node, memory, size, true);
    update_latency(state, node, at->last);
}
