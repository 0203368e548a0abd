/* The placement of the least latency, proven: branch and bound.
 *
 * Source: none; EGRL (ICLR 2021) knows only its distance from a compiler. Bounds come from relaxing the
 * capacities with Lagrange multipliers (relax.h), which subgradient steps improve (Held, Wolfe, Crowder 1974).
 * The bound with a tensor in a memory (a min-marginal of the dynamic program) removes memories that cannot be
 * part of anything better than the incumbent; so do capacities that tensors fixed so far use up. What is left
 * is branched over, depth first: a tensor is in the memory where the relaxation has it, or is not. Relaxed
 * placements, rectified and improved by descent, give incumbents.
 *
 * A bound within `tolerance` of the incumbent closes a node: many placements differ by nothing but roundings.
 *
 * The objective is the latency, or a power of it. For any other the latency's bound and the least energy give
 * a lower bound, and nothing is branched over. Of several criteria the first is proven.
 *
 * Complexity: a bound takes nodes times memories^(outputs alive + 2); the number of nodes of the tree has no
 * limit but `nodes`. */
#include "base/status.h"
#include "placement/improve.h"
#include "placement/relax.h"
#include "run/navigator.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES, TOLERANCE, EFFORT };

static const sx_setting settings[] = {
    [TOLERANCE] = {"tolerance", "part of the latency that counts as no difference", NULL, 1e-6, 0, 1, false,
                   NULL},
    [EFFORT] = {"effort", "millions of steps of bounds and descents; 0: no limit", NULL, 0, 0, 1e12, false,
                NULL},
    [NODES] = {"nodes", "nodes of the search tree; 0: no limit", NULL, 0, 0, 1e15, true, NULL},
};

enum {
    ROOT_STEPS = 8000,
    STEPS = 40,
    STALL = 60
}; /* of multipliers; those without progress that halve steps */

#define FLOOR 0.03     /* of the mean multiplier of a memory: the least unit of a step */
#define DECAY 0.8      /* of the length of steps, after STALL of them without progress */
#define NEAR 1e-4      /* of the latency: tensors that differ by less are branched over by size */
#define DEFLECTION 0.7 /* of the last direction that stays (Camerini, Fratta, Maffioli 1975) */

/* What is remembered between safe points; open nodes follow. */
typedef struct state {
    uint64_t begun;   /* phases that are done: start points, rules */
    uint64_t n_open;  /* open nodes, the next one last */
    uint64_t visited; /* nodes */
    uint64_t steps;   /* of bounds and descents, the effort so far */
    uint64_t best;    /* latency of the incumbent, UINT64_MAX: none */
} state;

/* An open node: its bound, then the multipliers, then the masks of all tensors. */
typedef struct open_node {
    double bound;
} open_node;

typedef struct search {
    sx_run *run;
    const sx_placement_space *space;
    sx_place_relax relax;
    sx_place_state work;
    state *s;
    size_t n_lambda, node_size;
    double *lambda, *trial, *slope, *unit; /* of the node at hand */
    uint16_t *allowed;
    uint8_t *relaxed, *scratch, *rectified;
    uint64_t *use; /* by memory and step: of fixed tensors, or of a placement */
    bool latency_only;
    double tolerance;
} search;

/* The bound from which on a node holds nothing better than the incumbent. */
static double cutoff(const search *x) {
    return (double)x->s->best - fmax(1, x->tolerance * (double)x->s->best);
}

/* Open node number i of the stack, its multipliers and its masks. */
static open_node *open_at(const search *x, size_t i) {
    return (open_node *)((unsigned char *)(x->s + 1) + i * x->node_size);
}
static double *open_lambda(open_node *node) {
    return (double *)(node + 1);
}
static uint16_t *open_allowed(const search *x, open_node *node) {
    return (uint16_t *)(open_lambda(node) + x->n_lambda);
}

/* Makes room for n open nodes. */
static bool reserve(search *x, size_t n) {
    x->s = sx_run_state_resize(x->run, sizeof *x->s + n * x->node_size);
    return x->s != NULL;
}

static bool stopped(const void *run) {
    return sx_run_stopped(run);
}

/* Evaluates a placement that fits, with addresses where these are demanded, where it is faster than the incumbent, or anyway. */
static void offer(search *x, const uint8_t *placement, bool anyway) {
    if (x->space->align) {
        memcpy(x->rectified, placement, x->space->space.point_size);
        (void)sx_placement_rectify(&x->space->space, x->rectified);
        placement = x->rectified;
    }
    uint64_t latency = sx_place_latency(x->space, placement);
    sx_outcome outcome;
    if (latency >= x->s->best && !anyway) return;
    if (sx_run_evaluate(x->run, placement, 1, &outcome) != 1 || outcome.reason) return;
    if (latency < x->s->best) x->s->best = latency;
}

/* Rectifies a placement, improves it and evaluates the result, so that every node takes an evaluation of the
 * budget. */
static void polish(search *x, const uint8_t *placement) {
    memcpy(x->scratch, placement, x->space->space.point_size);
    (void)sx_placement_rectify(&x->space->space, x->scratch);
    sx_place_state_set(&x->work, x->scratch);
    sx_place_improve(&x->work, stopped, x->run);
    x->s->steps += x->space->space.n_genes * x->space->space.n_genes * 4;
    if (!sx_run_stopped(x->run)) offer(x, x->work.memory, true);
}

/* Adds a tensor to the use of its memory. */
static void add_use(search *x, size_t tensor, size_t memory) {
    size_t n = x->space->graph.n_nodes;
    for (size_t s = sx_place_first(x->space, tensor); s <= sx_place_last(x->space, tensor); s++)
        x->use[memory * n + s] += x->space->size[tensor];
}

/* The direction in which multipliers improve the bound: how far the relaxed placement overflows each memory at
 * each step, in units that are larger where multipliers are, since few steps matter in the end. Returns its
 * square in these units, without what would make multipliers negative. */
static double set_slope(search *x, const double *lambda) {
    size_t n = x->space->graph.n_nodes, memories = x->space->chip.n_memories;
    double square = 0;
    memset(x->use, 0, memories * n * sizeof *x->use);
    for (size_t t = 0; t < x->space->n_tensors; t++)
        if (x->space->size[t] && x->relaxed[t] > 0) add_use(x, t, x->relaxed[t]);
    for (size_t m = 1; m < memories; m++) {
        double mean = 1e-3;
        for (size_t s = 0; s < n; s++) mean += lambda[m * n + s] / (double)n;
        for (size_t s = 0; s < n; s++) {
            size_t k = m * n + s;
            double over = (double)x->use[k] - (double)x->space->chip.memory[m].capacity;
            over += DEFLECTION * x->slope[k];
            if (over < 0 && lambda[k] <= 0) over = 0;
            x->slope[k] = over;
            x->unit[k] = lambda[k] + FLOOR * mean;
            square += over * over * x->unit[k];
        }
    }
    return square;
}

/* Improves the multipliers of the node at hand; its bound. Stops early where the bound closes the node. */
static double ascend(search *x, int steps) {
    double best = -INFINITY, share = steps == ROOT_STEPS ? 1 : 0.1;
    int stalled = 0;
    memcpy(x->trial, x->lambda, x->n_lambda * sizeof *x->trial);
    memset(x->slope, 0, x->n_lambda * sizeof *x->slope);
    for (int i = 0; i < steps && !sx_run_stopped(x->run); i++) {
        double bound = sx_place_relax_bound(&x->relax, x->allowed, x->trial, x->relaxed);
        x->s->steps += sx_place_relax_steps(&x->relax);
        if (isinf(bound)) return INFINITY;
        bound -= sx_place_relax_error(&x->relax);
        if (bound > best) {
            stalled = bound > best + 1e-6 * fabs(best) ? 0 : stalled + 1;
            best = bound;
            memcpy(x->lambda, x->trial, x->n_lambda * sizeof *x->lambda);
            if (best > cutoff(x)) return best;
        } else {
            stalled++;
        }
        double square = set_slope(x, x->trial);
        if (square <= 0) break;
        if (stalled >= STALL) {
            share *= DECAY;
            stalled = 0;
            if (share < 1e-4) break;
        }
        double step = share * ((double)x->s->best - bound) / square;
        for (size_t k = 0; k < x->n_lambda; k++)
            x->trial[k] = fmax(0, x->trial[k] + step * x->unit[k] * x->slope[k]);
    }
    return best;
}

/* Removes memories where fixed tensors leave no room; false where a tensor has none left. */
static bool fit_fixed(search *x) {
    size_t n = x->space->graph.n_nodes, memories = x->space->chip.n_memories;
    memset(x->use, 0, memories * n * sizeof *x->use);
    for (size_t t = 0; t < x->space->n_tensors; t++)
        for (size_t m = 1; m < memories; m++)
            if (x->allowed[t] == 1u << m) add_use(x, t, m);
    for (size_t t = 0; t < x->space->n_tensors; t++)
        for (size_t m = 1; m < memories; m++) {
            if (!(x->allowed[t] >> m & 1)) continue;
            bool fixed = x->allowed[t] == 1u << m, fits = true;
            uint64_t more = fixed ? 0 : x->space->size[t];
            for (size_t s = sx_place_first(x->space, t); s <= sx_place_last(x->space, t); s++)
                fits &= x->use[m * n + s] + more <= x->space->chip.memory[m].capacity;
            if (!fits) x->allowed[t] &= (uint16_t) ~(1u << m);
            if (!x->allowed[t]) return false;
        }
    return true;
}

/* Removes memories that are part of nothing better than the incumbent; how many were, or -1 where a tensor has
 * none left. */
static long fix_by_bounds(search *x) {
    size_t memories = x->space->chip.n_memories;
    long removed = 0;
    if (isinf(sx_place_relax_bound(&x->relax, x->allowed, x->lambda, x->relaxed))) return -1;
    sx_place_relax_marginals(&x->relax, x->allowed);
    double limit = cutoff(x) + sx_place_relax_error(&x->relax);
    for (size_t t = 0; t < x->space->n_tensors; t++)
        for (size_t m = 0; m < memories; m++) {
            if (!(x->allowed[t] >> m & 1) || x->relax.marginal[t * memories + m] <= limit) continue;
            x->allowed[t] &= (uint16_t) ~(1u << m);
            removed++;
            if (!x->allowed[t]) return -1;
        }
    return removed;
}

/* The tensor to branch over: one that takes much of a memory and for which the relaxation sees little difference
 * between two memories, so that both children change the bound; n_tensors where all are fixed. */
static size_t choose(const search *x) {
    size_t memories = x->space->chip.n_memories, best = x->space->n_tensors;
    double most = -1;
    for (size_t t = 0; t < x->space->n_tensors; t++) {
        double first = INFINITY, second = INFINITY;
        if (!(x->allowed[t] & (x->allowed[t] - 1))) continue;
        for (size_t m = 0; m < memories; m++) {
            double cost = x->allowed[t] >> m & 1 ? x->relax.marginal[t * memories + m] : INFINITY;
            if (cost < first) {
                second = first;
                first = cost;
            } else if (cost < second) {
                second = cost;
            }
        }
        double steps = (double)(sx_place_last(x->space, t) - sx_place_first(x->space, t) + 1);
        double score = (double)x->space->size[t] * steps / (second - first + NEAR * (double)x->s->best);
        if (score <= most) continue;
        most = score;
        best = t;
    }
    return best;
}

/* Puts a child of the node at hand on the stack. */
static bool push(search *x, double bound, size_t tensor, uint16_t mask) {
    if (!reserve(x, x->s->n_open + 1)) return false;
    open_node *node = open_at(x, x->s->n_open);
    memset(node, 0, x->node_size);
    node->bound = bound;
    memcpy(open_lambda(node), x->lambda, x->n_lambda * sizeof *x->lambda);
    memcpy(open_allowed(x, node), x->allowed, x->space->n_tensors * sizeof *x->allowed);
    if (tensor < x->space->n_tensors) open_allowed(x, node)[tensor] = mask;
    x->s->n_open++;
    return true;
}

/* Offers the only placement that is left, where it is valid. */
static void close_leaf(search *x) {
    memset(x->scratch, 0, x->space->space.point_size);
    for (size_t t = 0; t < x->space->n_tensors; t++)
        while (!(x->allowed[t] >> x->scratch[t] & 1)) x->scratch[t]++;
    if (sx_place_fits(x->space, x->scratch, NULL, NULL, NULL)) offer(x, x->scratch, false);
}

/* Whether the relaxed placement is valid and as good as its bound: nothing in the node is better. */
static bool solved(search *x, double bound) {
    if (!sx_place_fits(x->space, x->relaxed, NULL, NULL, NULL)) return false;
    offer(x, x->relaxed, false);
    return bound > cutoff(x);
}

/* Visits the next open node: closes it or puts its children in its place. Where the run is stopped meanwhile, it
 * stays as it was. */
static sx_status visit(search *x) {
    open_node *node = open_at(x, x->s->n_open - 1);
    double bound = node->bound;
    memcpy(x->lambda, open_lambda(node), x->n_lambda * sizeof *x->lambda);
    memcpy(x->allowed, open_allowed(x, node), x->space->n_tensors * sizeof *x->allowed);
    bool open = bound <= cutoff(x) && fit_fixed(x);
    long removed = 1;
    for (int round = 0; open && removed > 0 && round < 3 && !sx_run_stopped(x->run); round++) {
        bound = fmax(bound, ascend(x, x->s->visited == 0 && round == 0 ? ROOT_STEPS : STEPS));
        open = bound <= cutoff(x);
        if (!open || sx_run_stopped(x->run)) break;
        if (round == 0) polish(x, x->relaxed);
        open = !solved(x, bound);
        removed = open ? fix_by_bounds(x) : 0;
        open = open && removed >= 0 && fit_fixed(x);
    }
    if (sx_run_stopped(x->run)) return SX_OK;
    x->s->visited++;
    x->s->n_open--;
    if (!open) return SX_OK;
    size_t tensor = choose(x);
    if (tensor == x->space->n_tensors) {
        close_leaf(x);
        return SX_OK;
    }
    uint16_t bit = (uint16_t)(1u << x->relaxed[tensor]);
    if (!(x->allowed[tensor] & bit)) bit = (uint16_t)(x->allowed[tensor] & -x->allowed[tensor]);
    bool pushed =
        push(x, bound, tensor, (uint16_t)(x->allowed[tensor] & ~bit)) && push(x, bound, tensor, bit);
    return pushed ? SX_OK : sx_error_memory();
}

/* The least energy of any placement. */
static double least_energy(const sx_placement_space *space) {
    double least = INFINITY, bytes = 0;
    for (size_t m = 0; m < space->chip.n_memories; m++) least = fmin(least, space->chip.memory[m].energy);
    for (size_t i = 0; i < space->graph.n_nodes; i++)
        bytes += (double)space->moved[2 * i] +
                 (double)space->moved[2 * i + 1] * (double)(1 + space->graph.node[i].n_users);
    return (space->op_energy + least * bytes) * (1 - 1e-12);
}

/* States what is proven. */
static void tell_bound(search *x) {
    double latency = (double)x->s->best, value = INFINITY;
    for (size_t i = 0; i < x->s->n_open; i++) latency = fmin(latency, open_at(x, i)->bound);
    if (!(latency > 0) || latency >= (double)UINT64_MAX) return;
    sx_run_incumbent(x->run, &value);
    sx_metrics metrics = {{[SX_PLACE_ENERGY] = x->latency_only ? 0 : least_energy(x->space),
                           [SX_PLACE_LATENCY] = latency / SX_FEMTO}};
    double bound = sx_goal_value(sx_run_goal(x->run), &metrics);
    if (isfinite(bound) && bound > 0) sx_run_bound(x->run, fmin(bound, value));
}

/* Whether the first criterion is a power of the latency. */
static bool is_latency(const sx_objective *objective) {
    const sx_criterion *first = &objective->criterion[0];
    return first->kind == SX_PRODUCT && first->energy_power == 0 && first->delay_power > 0;
}

/* Evaluates the start points and the placements of rules, and opens the root. */
static sx_status begin(search *x) {
    const sx_placement_space *space = x->space;
    size_t n;
    const uint8_t *starts = sx_run_starts(x->run, &n);
    x->s->best = UINT64_MAX;
    for (size_t i = 0; i < n; i++) offer(x, starts + i * space->space.point_size, true);
    offer(x, space->compiled, true);
    SX_TRY(sx_place_density(space, x->relaxed));
    offer(x, x->relaxed, true);
    polish(x, x->relaxed);
    polish(x, space->compiled);
    memset(x->lambda, 0, x->n_lambda * sizeof *x->lambda);
    for (size_t t = 0; t < space->n_tensors; t++)
        x->allowed[t] = (uint16_t)(space->size[t] ? (1u << space->chip.n_memories) - 1 : 1);
    x->s->begun = 1;
    return push(x, 0, space->n_tensors, 0) ? SX_OK : sx_error_memory();
}

/* Whether a state out of a checkpoint can be one. */
static bool sound(const search *x, size_t size) {
    uint16_t all = (uint16_t)((1u << x->space->chip.n_memories) - 1);
    if (x->s->n_open > (size - sizeof *x->s) / x->node_size || x->s->begun > 1) return false;
    for (size_t i = 0; i < x->s->n_open; i++) {
        open_node *node = open_at(x, i);
        if (!isfinite(node->bound)) return false;
        for (size_t k = 0; k < x->n_lambda; k++)
            if (!(open_lambda(node)[k] >= 0) || isinf(open_lambda(node)[k])) return false;
        for (size_t t = 0; t < x->space->n_tensors; t++) {
            uint16_t mask = open_allowed(x, node)[t];
            if (!mask || (mask & ~all) || (x->space->size[t] == 0 && mask != 1)) return false;
        }
    }
    return true;
}

/* Makes the memory of a search. */
static sx_status prepare(search *x) {
    size_t n = x->space->graph.n_nodes, memories = x->space->chip.n_memories, size = sizeof *x->s;
    bool resumed;
    x->n_lambda = memories * n;
    x->node_size = sizeof(open_node) + x->n_lambda * sizeof(double) +
                   (x->space->n_tensors * sizeof(uint16_t) + 7) / 8 * 8;
    x->s = sx_run_state_sized(x->run, &size, &resumed);
    x->lambda = calloc(x->n_lambda, sizeof *x->lambda);
    x->trial = calloc(x->n_lambda, sizeof *x->trial);
    x->slope = calloc(x->n_lambda, sizeof *x->slope);
    x->unit = calloc(x->n_lambda, sizeof *x->unit);
    x->allowed = calloc(x->space->n_tensors, sizeof *x->allowed);
    x->relaxed = calloc(x->space->space.point_size, 1);
    x->scratch = calloc(x->space->space.point_size, 1);
    x->rectified = calloc(x->space->space.point_size, 1);
    x->use = calloc(memories * n, sizeof *x->use);
    if (!x->s || !x->lambda || !x->trial || !x->slope || !x->unit || !x->allowed || !x->relaxed ||
        !x->scratch || !x->rectified || !x->use)
        return sx_error_memory();
    SX_TRY(sx_place_state_init(x->space, &x->work));
    SX_TRY(sx_place_relax_init(x->space, &x->relax));
    return !resumed || sound(x, size) ? SX_OK : sx_run_damaged(x->run);
}

static void finish(search *x) {
    sx_place_state_fini(&x->work);
    sx_place_relax_fini(&x->relax);
    free(x->lambda);
    free(x->trial);
    free(x->slope);
    free(x->unit);
    free(x->allowed);
    free(x->relaxed);
    free(x->scratch);
    free(x->rectified);
    free(x->use);
}

/* Whether nothing is left to visit, or no more is to be visited. */
static bool finished(const search *x) {
    uint64_t most = (uint64_t)sx_run_setting(x->run, NODES);
    double effort = sx_run_setting(x->run, EFFORT);
    if (!x->s->begun) return false;
    if (effort > 0 && x->s->visited > 0 && (double)x->s->steps >= effort * 1e6) return true;
    return x->s->n_open == 0 || (most && x->s->visited >= most) || (!x->latency_only && x->s->visited > 0);
}

static sx_status branch_and_bound(sx_run *run) {
    search x = {.run = run, .space = sx_placement_space_of(sx_run_space(run))};
    x.tolerance = sx_run_setting(run, TOLERANCE);
    x.latency_only = is_latency(sx_run_objective(run));
    sx_status status = prepare(&x);
    while (!status && !finished(&x) && sx_run_continue(run)) {
        status = x.s->begun ? visit(&x) : begin(&x);
        if (!status) tell_bound(&x);
    }
    if (!status) tell_bound(&x);
    bool closed = !status && x.s->begun && x.s->n_open == 0 && x.latency_only;
    if (closed && sx_run_objective(run)->n_criteria == 1) sx_run_optimal(run);
    finish(&x);
    return status;
}

SX_NAVIGATOR(place_exact) = {
    .source = "Sextant",
    .space = "placement",
    .model = "placement",
    .complete = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = branch_and_bound,
};
