/* Ranges of the outputs' peaks in place_exact.
 *
 * Outputs and weights share capacities. Where the most bytes of outputs that live in a memory at once are known to be
 * within a range, they are apart: at no step may outputs exceed the range's end, which removes states of the dynamic
 * program, and all weights together must fit beside its beginning, one constraint with one multiplier per memory.
 * In a narrow range what is left is a knapsack problem of weights, which labels (labels.h) solve. Ranges are split
 * until they are narrow, or single values. */
#include "placement/labels.h"
#include "placement/place_exact.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define NARROW 0.2 /* of the gap: what the widths of ranges may be worth before labels are tried */
enum { LEAST_LABELS = 1 << 14, MOST_LABELS = 1 << 23 };

void sx_place_exact_set_limits(sx_place_exact *x) {
    sx_place_relax_limit(&x->relax, x->high);
}

bool sx_place_exact_begin_ranges(sx_place_exact *x) {
    size_t n = x->space->graph.n_nodes, memories = x->space->chip.n_memories;
    double bound = INFINITY;
    uint64_t above;
    assert(x->s->n_open > 0);
    memset(x->allowed, 0, x->space->n_tensors * sizeof *x->allowed);
    memset(x->lambda, 0, x->n_lambda * sizeof *x->lambda);
    for (size_t i = 0; i < x->s->n_open; i++) {
        sx_place_exact_node *node = sx_place_exact_open(x, i);
        bound = fmin(bound, node->bound);
        for (size_t t = 0; t < x->space->n_tensors; t++)
            x->allowed[t] |= sx_place_exact_open_allowed(x, node)[t];
    }
    const double *lambda = sx_place_exact_open_lambda(x, sx_place_exact_open(x, 0));
    for (size_t m = 1; m < memories; m++) {
        for (size_t s = 0; s < n; s++) x->lambda[m] += lambda[m * n + s];
        x->low[m] = 0;
        sx_place_relax_peaks(&x->relax, m, x->space->chip.memory[m].capacity, &x->high[m], &above);
    }
    x->ranged = true;
    x->s->n_open = 0;
    x->s->labels = MOST_LABELS;
    return sx_place_exact_push(x, bound, x->space->n_tensors, 0);
}

/* The memory whose range is worth most; 0: all ranges are single values. */
static size_t widest_range(const sx_place_exact *x, double *worth) {
    size_t best = 0;
    double most = -1;
    *worth = 0;
    for (size_t m = 1; m < x->space->chip.n_memories; m++) {
        double width = (double)(x->high[m] - x->low[m]), value = x->lambda[m] * width;
        *worth += value;
        if (width <= 0 || value <= most) continue;
        most = value;
        best = m;
    }
    return best;
}

/* The most bytes of outputs that the relaxed placement has in a memory at once. */
static uint64_t relaxed_peak(sx_place_exact *x, size_t memory) {
    size_t n = x->space->graph.n_nodes;
    uint64_t *use = x->use + memory * n, most = 0;
    memset(use, 0, n * sizeof *use);
    for (size_t t = 1; t < x->space->n_tensors; t += 2)
        if (x->relaxed[t] == memory) sx_place_exact_add_use(x, t, memory);
    for (size_t s = 0; s < n; s++)
        if (use[s] > most) most = use[s];
    return most;
}

/* Puts the node at hand on the stack with another range of a memory. */
static bool push_range(sx_place_exact *x, double bound, size_t memory, uint64_t low, uint64_t high) {
    uint64_t old_low = x->low[memory], old_high = x->high[memory];
    x->low[memory] = low;
    x->high[memory] = high;
    bool pushed = sx_place_exact_push(x, bound, x->space->n_tensors, 0);
    x->low[memory] = old_low;
    x->high[memory] = old_high;
    return pushed;
}

/* Puts both halves of a range on the stack, the one of the relaxed placement last. */
static sx_status split_range(sx_place_exact *x, double bound, size_t memory) {
    uint64_t low = x->low[memory], high = x->high[memory], below, above;
    sx_place_relax_peaks(&x->relax, memory, low + (high - low) / 2, &below, &above);
    assert(low <= below && below < above && above <= high);
    bool left = relaxed_peak(x, memory) <= below, pushed = true;
    if (left) pushed = push_range(x, bound, memory, above, high);
    pushed = pushed && push_range(x, bound, memory, low, below);
    if (!left) pushed = pushed && push_range(x, bound, memory, above, high);
    return pushed ? SX_OK : sx_error_memory();
}

static bool run_stopped(const void *run) {
    return sx_run_stopped(run);
}

/* Solves the node at hand by labels; *bound rises where what they find is not valid, or may take longer than they know,
 * since weights are read ahead. */
static sx_status try_labels(sx_place_exact *x, double *bound, bool *open) {
    uint64_t room[SX_MAX_MEMORIES];
    sx_labels_result result;
    for (size_t m = 0; m < x->space->chip.n_memories; m++)
        room[m] = x->space->chip.memory[m].capacity - x->low[m];
    sx_labels_options options = {.allowed = x->allowed,
                                 .lambda = x->lambda,
                                 .room = room,
                                 .cutoff = sx_place_exact_cutoff(x),
                                 .most = x->s->labels,
                                 .stop = run_stopped,
                                 .user = x->run};
    SX_TRY(sx_place_labels(&x->relax, &options, x->scratch, &result));
    if (result.end == SX_LABELS_STOPPED) return SX_OK;
    x->s->steps += result.steps;
    if (result.end == SX_LABELS_LIMIT) {
        if (x->s->labels > LEAST_LABELS) x->s->labels /= 2;
        return SX_OK;
    }
    if (x->s->labels < MOST_LABELS) x->s->labels *= 2;
    *open = result.end == SX_LABELS_FOUND && (double)result.latency <= sx_place_exact_cutoff(x);
    if (*open && sx_place_fits(x->space, x->scratch, NULL, NULL, NULL)) {
        sx_place_exact_offer(x, x->scratch, false);
        *open = x->space->reads_ahead && (double)result.latency <= sx_place_exact_cutoff(x);
    }
    if (*open) *bound = fmax(*bound, (double)result.latency);
    return SX_OK;
}

sx_status sx_place_exact_solve_ranges(sx_place_exact *x, double bound, bool *open, bool *split) {
    double worth;
    size_t memory = widest_range(x, &worth);
    if (worth <= NARROW * ((double)x->s->best - bound)) SX_TRY(try_labels(x, &bound, open));
    *split = *open && memory > 0 && !sx_run_stopped(x->run);
    return *split ? split_range(x, bound, memory) : SX_OK;
}
