/* Bounds of the nodes of place_exact. */
#include "placement/place_exact.h"
#include "placement/stream.h"

#include <math.h>
#include <string.h>

/* How multipliers are improved: at most a given number of steps; after `stall` of them without progress steps get shorter. */
typedef struct schedule {
    int steps, stall;
    double share, decay; /* of the way to the incumbent that a step goes at first; of its length that stays */
} schedule;

static const schedule ROOT = {8000, 60, 1, 0.8}, CHILD = {40, 60, 0.1, 0.8}, RANGED = {60, 3, 0.5, 0.7};

#define FLOOR 0.03     /* of the mean multiplier of a memory: the least unit of a step */
#define SHARE_STEP 0.3 /* of the way to the incumbent that shares of streams go, beside multipliers */
#define DEFLECTION 0.7 /* of the last direction that stays (Camerini, Fratta, Maffioli 1975) */

void sx_place_exact_add_use(sx_place_exact *x, size_t tensor, size_t memory) {
    size_t n = x->space->graph.n_nodes;
    for (size_t s = sx_place_first(x->space, tensor); s <= sx_place_last(x->space, tensor); s++)
        x->use[memory * n + s] += x->space->size[tensor];
}

/* The bytes that a memory has for what multipliers price: weights beside the least peak of outputs, or all tensors. */
static uint64_t priced_room(const sx_place_exact *x, size_t memory) {
    return x->space->chip.memory[memory].capacity - (x->ranged ? x->low[memory] : 0);
}

/* Adds up what the relaxed placement uses of that room: by memory and step, or weights by memory. */
static void set_use(sx_place_exact *x) {
    size_t n = x->space->graph.n_nodes, memories = x->space->chip.n_memories;
    uint64_t weights[SX_MAX_MEMORIES] = {0};
    memset(x->use, 0, memories * n * sizeof *x->use);
    for (size_t t = 0; t < x->space->n_tensors; t++) {
        if (x->space->size[t] == 0 || x->relaxed[t] == 0) continue;
        if (!sx_place_is_output(t))
            weights[x->relaxed[t]] += x->space->size[t];
        else if (!x->ranged)
            sx_place_exact_add_use(x, t, x->relaxed[t]);
    }
    for (size_t m = 1; m < memories; m++)
        for (size_t s = 0; s < (x->ranged ? 1 : n); s++) x->use[x->ranged ? m : m * n + s] += weights[m];
}

/* The direction in which multipliers improve the bound: how far the relaxed placement overflows each memory at
 * each step, in units that are larger where multipliers are, since few steps matter in the end. Returns its
 * square in these units, without what would make multipliers negative. */
static double set_slope(sx_place_exact *x, const double *lambda) {
    size_t n = x->ranged ? 1 : x->space->graph.n_nodes;
    double square = 0;
    set_use(x);
    for (size_t m = 1; m < x->space->chip.n_memories; m++) {
        double mean = 1e-3;
        for (size_t s = 0; s < n; s++) mean += lambda[m * n + s] / (double)n;
        for (size_t s = 0; s < n; s++) {
            size_t k = m * n + s;
            double over = (double)x->use[k] - (double)priced_room(x, m);
            over += DEFLECTION * x->slope[k];
            if (over < 0 && lambda[k] <= 0) over = 0;
            x->slope[k] = over;
            x->unit[k] = lambda[k] + FLOOR * mean;
            square += over * over * x->unit[k];
        }
    }
    return square;
}

/* Sets the slopes of the shares of streams (sx_place_relax_mix), which stand where the slowest memory has no
 * multipliers: how much longer the stream of a node is than its own time. Returns the square; 0 where nothing reads
 * ahead. */
static double set_share_slope(sx_place_exact *x) {
    const sx_placement_space *space = x->space;
    double square = 0;
    if (!space->reads_ahead) return 0;
    for (size_t i = 0; i < space->graph.n_nodes; i++) {
        uint64_t bytes[SX_MAX_MEMORIES];
        size_t memory = x->relaxed[2 * i], at = x->ranged ? 0 : i;
        sx_place_node_bytes(space, x->relaxed, i, bytes);
        double own = (double)sx_place_node_time(space, i, bytes, sx_place_is_stream(space, i, memory));
        if (at == i) x->slope[at] = 0;
        x->slope[at] += (double)sx_place_stream_time(space, i, memory) - own;
    }
    for (size_t i = 0; i < (x->ranged ? 1 : space->graph.n_nodes); i++) square += x->slope[i] * x->slope[i];
    return square;
}

/* The nearest shares that never rise, within 0 and 1: neighbours that do are pooled at their mean. */
static void project_shares(sx_place_exact *x, double *share) {
    size_t n = x->ranged ? 1 : x->space->graph.n_nodes;
    for (size_t i = 1; i < n; i++) {
        size_t first = i;
        double sum = share[i];
        while (first > 0 && share[first - 1] < sum / (double)(i - first + 1)) sum += share[--first];
        for (size_t k = first; k <= i; k++) share[k] = sum / (double)(i - first + 1);
    }
    for (size_t i = 0; i < n; i++) share[i] = fmin(1, fmax(0, share[i]));
}

/* Mixes the shares of a node into the relaxation; with ranges there is one for all nodes. */
static void mix_shares(sx_place_exact *x, const double *share) {
    size_t n = x->space->graph.n_nodes;
    if (!x->space->reads_ahead) return;
    for (size_t i = 0; i < n; i++) x->shares[i] = share[x->ranged ? 0 : i];
    sx_place_relax_mix(&x->relax, x->shares);
}

/* The bound with multipliers, before rounding is allowed for. */
static double relaxed_bound(sx_place_exact *x, const double *lambda) {
    uint64_t rooms[SX_MAX_MEMORIES];
    mix_shares(x, lambda);
    x->s->steps += sx_place_relax_steps(&x->relax);
    if (!x->ranged) return sx_place_relax_bound(&x->relax, x->allowed, lambda, x->relaxed);
    for (size_t m = 0; m < x->space->chip.n_memories; m++) rooms[m] = priced_room(x, m);
    return sx_place_relax_weights(&x->relax, x->allowed, lambda, rooms, x->relaxed);
}

double sx_place_exact_ascend(sx_place_exact *x, bool root) {
    const schedule *by = x->ranged ? &RANGED : root ? &ROOT : &CHILD;
    double best = -INFINITY, share = by->share;
    int stalled = 0;
    memcpy(x->trial, x->lambda, x->n_lambda * sizeof *x->trial);
    memset(x->slope, 0, x->n_lambda * sizeof *x->slope);
    for (int i = 0; i < by->steps && !sx_run_stopped(x->run) && (i == 0 || !sx_place_exact_spent(x)); i++) {
        double bound = relaxed_bound(x, x->trial);
        if (isinf(bound)) return INFINITY;
        bound -= sx_place_relax_error(&x->relax);
        if (bound > best) {
            stalled = bound > best + 1e-6 * fabs(best) ? 0 : stalled + 1;
            best = bound;
            memcpy(x->lambda, x->trial, x->n_lambda * sizeof *x->lambda);
            if (best > sx_place_exact_cutoff(x)) return best;
        } else {
            stalled++;
        }
        double square = set_slope(x, x->trial), shares = set_share_slope(x);
        if (square <= 0 && shares <= 0) break;
        if (stalled >= by->stall) {
            share *= by->decay;
            stalled = 0;
            if (share < 1e-4) break;
        }
        double way = share * ((double)x->s->best - bound);
        size_t first = x->ranged ? 1 : x->space->graph.n_nodes;
        for (size_t k = first; k < x->n_lambda && square > 0; k++)
            x->trial[k] = fmax(0, x->trial[k] + way / square * x->unit[k] * x->slope[k]);
        for (size_t k = 0; k < first && shares > 0; k++)
            x->trial[k] += SHARE_STEP * way / shares * x->slope[k];
        if (shares > 0) project_shares(x, x->trial);
    }
    return best;
}

/* Adds a tensor to the bytes of a node where it is fixed; others count for nothing. */
static void add_fixed(const sx_place_exact *x, size_t tensor, uint64_t *bytes) {
    uint16_t mask = x->allowed[tensor];
    for (size_t m = 0; m < x->space->chip.n_memories; m++)
        if (mask == 1u << m) bytes[m] += x->space->moved[tensor];
}

double sx_place_exact_fixed_bound(const sx_place_exact *x) {
    const sx_placement_space *space = x->space;
    sx_place_stream stream;
    if (!space->reads_ahead) return 0;
    sx_place_stream_begin(&stream);
    for (size_t i = 0; i < space->graph.n_nodes; i++) {
        const sx_place_node *node = &space->graph.node[i];
        uint64_t bytes[SX_MAX_MEMORIES] = {0};
        bool streams = x->allowed[2 * i] == 1 && sx_place_is_stream(space, i, 0);
        if (!streams) add_fixed(x, 2 * i, bytes);
        add_fixed(x, 2 * i + 1, bytes);
        for (size_t k = 0; k < node->n_inputs; k++)
            add_fixed(x, 2 * space->graph.input[node->first_input + k] + 1, bytes);
        sx_place_stream_pass(space, i, sx_place_node_time(space, i, bytes, streams), streams, &stream);
    }
    return (double)stream.now;
}

/* Adds up what fixed tensors use of a memory at each step; the most of it. */
static uint64_t use_fixed(sx_place_exact *x, size_t memory) {
    size_t n = x->space->graph.n_nodes;
    uint64_t weights = 0, most = 0;
    for (size_t t = 0; t < x->space->n_tensors; t++) {
        if (x->allowed[t] != 1u << memory) continue;
        if (sx_place_is_output(t))
            sx_place_exact_add_use(x, t, memory);
        else
            weights += x->space->size[t];
    }
    for (size_t s = 0; s < n; s++) {
        x->use[memory * n + s] += weights;
        if (x->use[memory * n + s] > most) most = x->use[memory * n + s];
    }
    return most;
}

bool sx_place_exact_fit(sx_place_exact *x) {
    size_t n = x->space->graph.n_nodes, memories = x->space->chip.n_memories;
    uint64_t most[SX_MAX_MEMORIES];
    memset(x->use, 0, memories * n * sizeof *x->use);
    for (size_t m = 1; m < memories; m++) most[m] = use_fixed(x, m);
    for (size_t t = 0; t < x->space->n_tensors; t++)
        for (size_t m = 1; m < memories; m++) {
            if (!(x->allowed[t] >> m & 1)) continue;
            uint64_t more = x->allowed[t] == 1u << m ? 0 : x->space->size[t], beside = 0;
            for (size_t s = t / 2; sx_place_is_output(t) && s <= sx_place_last(x->space, t); s++)
                if (x->use[m * n + s] > beside) beside = x->use[m * n + s];
            if (!sx_place_is_output(t)) beside = most[m];
            if (beside + more > x->space->chip.memory[m].capacity) x->allowed[t] &= (uint16_t) ~(1u << m);
            if (!x->allowed[t]) return false;
        }
    return true;
}

long sx_place_exact_fix(sx_place_exact *x) {
    size_t memories = x->space->chip.n_memories;
    long removed = 0;
    if (isinf(relaxed_bound(x, x->lambda))) return -1;
    sx_place_relax_marginals(&x->relax, x->allowed);
    double limit = sx_place_exact_cutoff(x) + sx_place_relax_error(&x->relax);
    for (size_t t = 0; t < x->space->n_tensors; t++)
        for (size_t m = 0; m < memories; m++) {
            if (!(x->allowed[t] >> m & 1) || x->relax.marginal[t * memories + m] <= limit) continue;
            x->allowed[t] &= (uint16_t) ~(1u << m);
            removed++;
            if (!x->allowed[t]) return -1;
        }
    return removed;
}
