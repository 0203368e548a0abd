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
#include "placement/place_exact.h"
#include "base/status.h"
#include "placement/improve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES, TOLERANCE, EFFORT, RANGES };

static const sx_setting settings[] = {
    [TOLERANCE] = {"tolerance", "part of the latency that counts as no difference", NULL, 1e-6, 0, 1, false,
                   NULL},
    [EFFORT] = {"effort", "millions of steps of bounds and descents; 0: no limit", NULL, 0, 0, 1e12, false,
                NULL},
    [RANGES] = {"ranges", "nodes after which ranges of peaks are branched over", NULL, 256, 0, 1e15, true,
                NULL},
    [NODES] = {"nodes", "nodes of the search tree; 0: no limit", NULL, 0, 0, 1e15, true, NULL},
};

#define NEAR 1e-4 /* of the latency: tensors that differ by less are branched over by size */

double sx_place_exact_cutoff(const sx_place_exact *x) {
    return (double)x->s->best - fmax(1, x->tolerance * (double)x->s->best);
}

bool sx_place_exact_spent(const sx_place_exact *x) {
    double effort = sx_run_setting(x->run, EFFORT);
    return effort > 0 && (double)x->s->steps >= effort * 1e6;
}

sx_place_exact_node *sx_place_exact_open(const sx_place_exact *x, size_t i) {
    return (sx_place_exact_node *)((unsigned char *)(x->s + 1) + i * x->node_size);
}
/* The ranges of an open node: the lows of all memories, then the highs. */
static uint64_t *open_ranges(sx_place_exact_node *node) {
    return (uint64_t *)(node + 1);
}
double *sx_place_exact_open_lambda(const sx_place_exact *x, sx_place_exact_node *node) {
    return (double *)(open_ranges(node) + 2 * x->space->chip.n_memories);
}
uint16_t *sx_place_exact_open_allowed(const sx_place_exact *x, sx_place_exact_node *node) {
    return (uint16_t *)(sx_place_exact_open_lambda(x, node) + x->n_lambda);
}

/* Makes room for n open nodes. */
static bool reserve_nodes(sx_place_exact *x, size_t n) {
    x->s = sx_run_state_resize(x->run, sizeof *x->s + n * x->node_size);
    return x->s != NULL;
}

static bool run_stopped(const void *run) {
    return sx_run_stopped(run);
}

void sx_place_exact_offer(sx_place_exact *x, const uint8_t *placement, bool anyway) {
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
static void polish_placement(sx_place_exact *x, const uint8_t *placement) {
    uint64_t passed = x->work.passed;
    memcpy(x->scratch, placement, x->space->space.point_size);
    (void)sx_placement_rectify(&x->space->space, x->scratch);
    sx_place_state_set(&x->work, x->scratch);
    sx_place_improve(&x->work, run_stopped, x->run);
    x->s->steps += x->space->space.n_genes * x->space->space.n_genes * 4 + 2 * (x->work.passed - passed);
    if (!sx_run_stopped(x->run)) sx_place_exact_offer(x, x->work.memory, true);
}

/* The tensor to branch over: one that takes much of a memory and for which the relaxation sees little difference
 * between two memories, so that both children change the bound; n_tensors where all are fixed. */
static size_t choose_tensor(const sx_place_exact *x) {
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

bool sx_place_exact_push(sx_place_exact *x, double bound, size_t tensor, uint16_t mask) {
    size_t memories = x->space->chip.n_memories;
    if (!reserve_nodes(x, x->s->n_open + 1)) return false;
    sx_place_exact_node *node = sx_place_exact_open(x, x->s->n_open);
    memset(node, 0, x->node_size);
    node->bound = bound;
    node->ranged = x->ranged;
    memcpy(open_ranges(node), x->low, memories * sizeof *x->low);
    memcpy(open_ranges(node) + memories, x->high, memories * sizeof *x->high);
    memcpy(sx_place_exact_open_lambda(x, node), x->lambda, x->n_lambda * sizeof *x->lambda);
    memcpy(sx_place_exact_open_allowed(x, node), x->allowed, x->space->n_tensors * sizeof *x->allowed);
    if (tensor < x->space->n_tensors) sx_place_exact_open_allowed(x, node)[tensor] = mask;
    x->s->n_open++;
    return true;
}

/* Offers the only placement that is left, where it is valid. */
static void close_leaf(sx_place_exact *x) {
    memset(x->scratch, 0, x->space->space.point_size);
    for (size_t t = 0; t < x->space->n_tensors; t++)
        while (!(x->allowed[t] >> x->scratch[t] & 1)) x->scratch[t]++;
    if (sx_place_fits(x->space, x->scratch, NULL, NULL, NULL)) sx_place_exact_offer(x, x->scratch, false);
}

/* Whether the relaxed placement is valid and as good as its bound: nothing in the node is better. */
static bool node_solved(sx_place_exact *x, double bound) {
    if (!sx_place_fits(x->space, x->relaxed, NULL, NULL, NULL)) return false;
    sx_place_exact_offer(x, x->relaxed, false);
    return bound > sx_place_exact_cutoff(x);
}

/* Branches over a tensor of the node at hand. */
static sx_status branch_node(sx_place_exact *x, double bound) {
    size_t tensor = choose_tensor(x);
    if (tensor == x->space->n_tensors) {
        close_leaf(x);
        return SX_OK;
    }
    uint16_t bit = (uint16_t)(1u << x->relaxed[tensor]);
    if (!(x->allowed[tensor] & bit)) bit = (uint16_t)(x->allowed[tensor] & -x->allowed[tensor]);
    bool pushed = sx_place_exact_push(x, bound, tensor, (uint16_t)(x->allowed[tensor] & ~bit)) &&
                  sx_place_exact_push(x, bound, tensor, bit);
    return pushed ? SX_OK : sx_error_memory();
}

/* Makes the next open node the one at hand; its bound. */
static double load_node(sx_place_exact *x) {
    size_t memories = x->space->chip.n_memories;
    sx_place_exact_node *node = sx_place_exact_open(x, x->s->n_open - 1);
    memcpy(x->lambda, sx_place_exact_open_lambda(x, node), x->n_lambda * sizeof *x->lambda);
    memcpy(x->allowed, sx_place_exact_open_allowed(x, node), x->space->n_tensors * sizeof *x->allowed);
    memcpy(x->low, open_ranges(node), memories * sizeof *x->low);
    memcpy(x->high, open_ranges(node) + memories, memories * sizeof *x->high);
    x->ranged = node->ranged;
    if (x->ranged) sx_place_exact_set_limits(x);
    return node->bound;
}

/* Bounds the node at hand and removes memories; whether it stays open. */
static bool bound_node(sx_place_exact *x, double *bound) {
    *bound = fmax(*bound, sx_place_exact_fixed_bound(x));
    bool open = *bound <= sx_place_exact_cutoff(x) && sx_place_exact_fit(x);
    long removed = 1;
    for (int round = 0; open && removed > 0 && round < 3 && !sx_run_stopped(x->run); round++) {
        *bound = fmax(*bound, sx_place_exact_ascend(x, x->s->visited == 0 && round == 0));
        open = *bound <= sx_place_exact_cutoff(x);
        if (!open || sx_run_stopped(x->run)) break;
        if (round == 0) polish_placement(x, x->relaxed);
        open = !node_solved(x, *bound);
        removed = open ? sx_place_exact_fix(x) : 0;
        open = open && removed >= 0 && sx_place_exact_fit(x);
    }
    return open;
}

/* Closes the node at hand, the next open one, or puts its children in its place. Where the run is stopped meanwhile,
 * it stays as it was. */
static sx_status visit_node(sx_place_exact *x) {
    double bound = load_node(x);
    bool open = bound_node(x, &bound), split = false;
    x->s->n_open--;
    if (open && x->ranged && !sx_run_stopped(x->run))
        SX_TRY(sx_place_exact_solve_ranges(x, bound, &open, &split));
    if (!split && sx_run_stopped(x->run)) {
        x->s->n_open++;
        return SX_OK;
    }
    x->s->visited++;
    return open && !split ? branch_node(x, bound) : SX_OK;
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
static void tell_bound(sx_place_exact *x) {
    double latency = (double)x->s->best, value = INFINITY;
    for (size_t i = 0; i < x->s->n_open; i++) latency = fmin(latency, sx_place_exact_open(x, i)->bound);
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
static sx_status open_root(sx_place_exact *x) {
    const sx_placement_space *space = x->space;
    size_t n;
    const uint8_t *starts = sx_run_starts(x->run, &n);
    x->s->best = UINT64_MAX;
    for (size_t i = 0; i < n; i++) sx_place_exact_offer(x, starts + i * space->space.point_size, true);
    sx_place_exact_offer(x, space->compiled, true);
    SX_TRY(sx_place_density(space, x->relaxed));
    sx_place_exact_offer(x, x->relaxed, true);
    polish_placement(x, x->relaxed);
    polish_placement(x, space->compiled);
    memset(x->lambda, 0, x->n_lambda * sizeof *x->lambda);
    for (size_t t = 0; t < space->n_tensors; t++)
        x->allowed[t] = (uint16_t)(space->size[t] ? (1u << space->chip.n_memories) - 1 : 1);
    x->s->begun = 1;
    return sx_place_exact_push(x, 0, space->n_tensors, 0) ? SX_OK : sx_error_memory();
}

/* Whether a state out of a checkpoint can be one. */
static bool state_sound(const sx_place_exact *x, size_t size) {
    uint16_t all = (uint16_t)((1u << x->space->chip.n_memories) - 1);
    if (x->s->n_open > (size - sizeof *x->s) / x->node_size || x->s->begun > 1) return false;
    if (x->s->labels >= UINT32_MAX) return false;
    for (size_t i = 0; i < x->s->n_open; i++) {
        sx_place_exact_node *node = sx_place_exact_open(x, i);
        if (!isfinite(node->bound) || node->ranged > x->relax.complete) return false;
        const uint64_t *low = open_ranges(node), *high = low + x->space->chip.n_memories;
        for (size_t m = 0; m < x->space->chip.n_memories; m++)
            if (low[m] > high[m] || high[m] > x->space->chip.memory[m].capacity) return false;
        for (size_t k = 0; k < x->n_lambda; k++)
            if (!(sx_place_exact_open_lambda(x, node)[k] >= 0) ||
                isinf(sx_place_exact_open_lambda(x, node)[k]))
                return false;
        for (size_t t = 0; t < x->space->n_tensors; t++) {
            uint16_t mask = sx_place_exact_open_allowed(x, node)[t];
            if (!mask || (mask & ~all) || (x->space->size[t] == 0 && mask != 1)) return false;
        }
    }
    return true;
}

/* Makes the memory of a search. */
static sx_status prepare_search(sx_place_exact *x) {
    size_t n = x->space->graph.n_nodes, memories = x->space->chip.n_memories, size = sizeof *x->s;
    bool resumed;
    x->n_lambda = memories * n;
    x->node_size = sizeof(sx_place_exact_node) + 2 * memories * sizeof(uint64_t) +
                   x->n_lambda * sizeof(double) + (x->space->n_tensors * sizeof(uint16_t) + 7) / 8 * 8;
    x->s = sx_run_state_sized(x->run, &size, &resumed);
    x->lambda = calloc(x->n_lambda, sizeof *x->lambda);
    x->trial = calloc(x->n_lambda, sizeof *x->trial);
    x->slope = calloc(x->n_lambda, sizeof *x->slope);
    x->unit = calloc(x->n_lambda, sizeof *x->unit);
    x->shares = calloc(n, sizeof *x->shares);
    x->allowed = calloc(x->space->n_tensors, sizeof *x->allowed);
    x->relaxed = calloc(x->space->space.point_size, 1);
    x->scratch = calloc(x->space->space.point_size, 1);
    x->rectified = calloc(x->space->space.point_size, 1);
    x->use = calloc(memories * n, sizeof *x->use);
    if (!x->s || !x->lambda || !x->trial || !x->slope || !x->unit || !x->shares || !x->allowed ||
        !x->relaxed || !x->scratch || !x->rectified || !x->use)
        return sx_error_memory();
    SX_TRY(sx_place_state_init(x->space, &x->work));
    SX_TRY(sx_place_relax_init(x->space, &x->relax));
    return !resumed || state_sound(x, size) ? SX_OK : sx_run_damaged(x->run);
}

static void free_exact_search(sx_place_exact *x) {
    sx_place_state_fini(&x->work);
    sx_place_relax_fini(&x->relax);
    free(x->lambda);
    free(x->trial);
    free(x->slope);
    free(x->unit);
    free(x->shares);
    free(x->allowed);
    free(x->relaxed);
    free(x->scratch);
    free(x->rectified);
    free(x->use);
}

/* Whether nothing is left to visit, or no more is to be visited. */
static bool is_finished(const sx_place_exact *x) {
    uint64_t most = (uint64_t)sx_run_setting(x->run, NODES);
    if (!x->s->begun) return false;
    if (x->s->visited > 0 && sx_place_exact_spent(x)) return true;
    return x->s->n_open == 0 || (most && x->s->visited >= most) || (!x->latency_only && x->s->visited > 0);
}

/* Whether ranges of peaks are to be branched over from now on. */
static bool ranges_are_due(const sx_place_exact *x) {
    bool due = x->s->begun && x->s->n_open > 0 && x->s->visited >= (uint64_t)sx_run_setting(x->run, RANGES);
    if (!due || !x->latency_only || !x->relax.complete || x->space->align) return false;
    return !sx_place_exact_open(x, x->s->n_open - 1)->ranged;
}

static sx_status branch_and_bound(sx_run *run) {
    sx_place_exact x = {.run = run, .space = sx_placement_space_of(sx_run_space(run))};
    x.tolerance = sx_run_setting(run, TOLERANCE);
    x.latency_only = is_latency(sx_run_objective(run));
    sx_status status = prepare_search(&x);
    while (!status && !is_finished(&x) && sx_run_continue(run)) {
        if (ranges_are_due(&x) && !sx_place_exact_begin_ranges(&x)) status = sx_error_memory();
        if (!status) status = x.s->begun ? visit_node(&x) : open_root(&x);
        if (!status) tell_bound(&x);
    }
    if (!status) tell_bound(&x);
    bool closed = !status && x.s->begun && x.s->n_open == 0 && x.latency_only;
    if (closed && sx_run_objective(run)->n_criteria == 1) sx_run_optimal(run);
    free_exact_search(&x);
    return status;
}

SX_NAVIGATOR(place_exact) = {
    .space = "placement",
    .model = "placement",
    .complete = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = branch_and_bound,
};
