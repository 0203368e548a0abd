#include "placement/improve.h"

enum {
    PASSES = 20,           /* at most; a pass that changes nothing ends it */
    MOST_PASSED = 1 << 28, /* nodes whose clocks are computed: a second or so */
    MOST_SWAPPED = 4096    /* tensors of spaces where pairs are tried: the square of them takes long */
};

/* Whether a state is better than a latency: faster, or as fast with a tensor moved to a slower memory. */
static bool is_better(const sx_place_state *state, uint64_t latency, bool slower) {
    if (state->latency > latency || (state->latency == latency && !slower)) return false;
    return sx_place_state_fits(state);
}

/* Moves a tensor to the first memory that is better; false where none is. */
static bool move_one(sx_place_state *state, size_t tensor) {
    uint64_t latency = state->latency;
    size_t from = state->memory[tensor];
    for (size_t m = 0; m < state->space->chip.n_memories; m++) {
        if (m == from) continue;
        sx_place_state_move(state, tensor, m);
        if (is_better(state, latency, m < from)) return true;
    }
    sx_place_state_move(state, tensor, from);
    return false;
}

/* Moves a tensor to a faster memory and another one from there to where it was, or to the slowest; false where
 * that is never better. */
static bool swap_one(sx_place_state *state, size_t tensor) {
    const sx_space *space = &state->space->space;
    uint64_t latency = state->latency;
    size_t from = state->memory[tensor];
    for (size_t g = 0; g < space->n_genes; g++) {
        size_t other = (size_t)space->gene[g].which, to = state->memory[other];
        if (to <= from || other == tensor) continue;
        sx_place_state_move(state, tensor, to);
        if (state->latency < latency) {
            sx_place_state_move(state, other, from);
            if (is_better(state, latency, false)) return true;
            sx_place_state_move(state, other, 0);
            if (is_better(state, latency, false)) return true;
            sx_place_state_move(state, other, to);
        }
        sx_place_state_move(state, tensor, from);
    }
    return false;
}

/* Whether a descent ends: somebody wants it to, or it has passed enough nodes. */
static bool descent_ends(const sx_place_state *state, uint64_t until, bool (*stopped)(const void *user),
                         const void *user) {
    return state->passed >= until || (stopped && stopped(user));
}

void sx_place_improve(sx_place_state *state, bool (*stopped)(const void *user), const void *user) {
    const sx_space *space = &state->space->space;
    bool changed = true;
    uint64_t until = state->passed + MOST_PASSED;
    for (int pass = 0; changed && pass < PASSES && !descent_ends(state, until, stopped, user); pass++) {
        changed = false;
        for (size_t g = 0; g < space->n_genes && !descent_ends(state, until, stopped, user); g++)
            changed |= move_one(state, (size_t)space->gene[g].which);
        if (changed || space->n_genes > MOST_SWAPPED) continue;
        for (size_t g = 0; g < space->n_genes && !descent_ends(state, until, stopped, user); g++)
            changed |= swap_one(state, (size_t)space->gene[g].which);
    }
}
