/* CoSA: one integer program decides tiles, spatial loops and the order, by the logarithms of factors.
 *
 * Source: Huang et al., CoSA: Scheduling by Constrained Optimization for Spatial Accelerators (ISCA 2021), and the
 * published code for its constants. The prime factors of all dimensions are assigned to the temporal and spatial loops
 * of the levels. In logarithms products are sums, so the array's and the memories' limits are linear. Minimised is
 *
 *     compute * C - utilization * U + traffic * T
 *
 * C sums all temporal factors. U sums the tiles in the memories inside the permuted level (x 1.01 at level 2). T sums
 * over tensors: the tile sent inward (0.99 x (0.8 + 0.04 x level) for each factor inside the permuted level that indexes
 * the tensor), 0.99 x the spatial factors of the permuted level, its temporal factors from the innermost one that
 * indexes the tensor outward, and all factors outside it (x 1.01 for weights). The permuted level is the outermost one
 * on chip (of two levels the outer); the order of the others is that of the problem's dimensions.
 *
 * What differs. Equal primes are counted, not told apart, and one rank of the order holds a whole dimension: dividing a
 * dimension among ranks never lowers T. Spatial loops are assigned to X and Y, where CoSA limits only their product.
 * Each level keeps what it is built for and gives the tensors equal shares (CoSA: shares given with its architecture). A
 * tile takes the product of its factors: the halo of a sliding window counts in full, where CoSA has two rules that
 * contradict each other. Unlike CoSA's answers, which Timeloop may reject, an assignment that the model rejects is
 * projected to the nearest legal mapping. The solver is CBC instead of Gurobi and ends after `nodes` nodes.
 *
 * Complexity: a variable per prime, dimension and slot, and the square of the dimensions for the order; one evaluation.
 */
#include "base/status.h"
#include "mapspace/map_choices.h"
#include "mip/mip.h"
#include "model/model.h"
#include "run/navigator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMPUTE, UTILIZATION, TRAFFIC, NODES };

static const sx_setting settings[] = {
    [COMPUTE] = {"compute", "weight of the temporal factors", "10", 10, 0, 1e6, false, NULL},
    [UTILIZATION] = {"utilization", "weight of the tiles in memories", "0.1", 0.1, 0, 1e6, false, NULL},
    [TRAFFIC] = {"traffic", "weight of the traffic", "1", 1, 0, 1e6, false, NULL},
    [NODES] = {"nodes", "nodes of the solver's search tree; 0: no limit", "0", 1000, 0, 1e9, true, NULL},
};

#define TIME_SHARE 0.9 /* of a run's time that the solver gets */
#define SLACK 1e-7     /* of limits, for the rounding of logarithms */

enum { TEMPORAL, ON_X, ON_Y, N_KINDS, MAX_PRIMES = 10 };

/* State of a search. */
typedef struct state {
    uint64_t done;
} state;

/* The integer program of a space. */
typedef struct program {
    const sx_map_space *space;
    const sx_run *run;
    sx_mip *mip;
    int permuted, n_ranks;
    uint8_t keep[SX_MAX_LEVELS];
    /* the variables */
    size_t count[SX_MAX_DIMS][MAX_PRIMES][SX_MAX_LEVELS][N_KINDS];
    size_t axis[SX_MAX_DIMS][SX_MAX_LEVELS];
    size_t at[SX_MAX_DIMS][SX_MAX_DIMS]; /* dimension, rank */
    size_t share[SX_MAX_DIMS][SX_MAX_DIMS];
    double *values;
    size_t n_values;
} program;

#define NONE SIZE_MAX

/* How often a prime divides a dimension's size. */
static int prime_multiplicity(const sx_map_space *space, int d, int p) {
    int n = 0;
    for (uint32_t size = space->problem->size[d]; size % space->prime[d][p] == 0; n++)
        size /= space->prime[d][p];
    return n;
}

static bool tensor_indexed(const program *p, int tensor, int d) {
    return p->space->model->shape[tensor].dims >> d & 1;
}

/* Adds a variable and counts it. */
static size_t add_variable(program *p, double high, double cost, bool integer) {
    p->n_values++;
    return sx_mip_add_variable(p->mip, 0, high, cost, integer);
}

/* The cost of the traffic of a factor, of its logarithm; that of the permuted level's temporal loops is apart. */
static double traffic_of(const program *p, int d, int level, int kind) {
    double sum = 0;
    int weights = sx_problem_role(p->space->problem, "Weights");
    for (int v = 0; v < p->space->problem->n_tensors; v++) {
        if (level < p->permuted && tensor_indexed(p, v, d)) sum += 0.99 * (0.8 + 0.04 * level);
        if (level == p->permuted && kind != TEMPORAL) sum += 0.99;
        if (level > p->permuted) sum += v == weights ? 1.01 : 1;
    }
    return sum;
}

/* In how many tiles inside the permuted level a factor of a level counts. */
static double utilization_of(const program *p, int d, int level) {
    double sum = 0;
    for (int s = level; s < p->permuted; s++)
        for (int v = 0; p->space->model->level[s].limited && v < p->space->problem->n_tensors; v++)
            if (p->keep[s] >> v & 1 && tensor_indexed(p, v, d)) sum += s == 2 ? 1.01 : 1;
    return sum;
}

/* Whether a dimension's loop may be of that kind at a level. */
static bool loop_allowed(const program *p, int d, int level, int kind) {
    const sx_map_space *space = p->space;
    if (kind == TEMPORAL) return true;
    if (space->spatial_slot[level] < 0) return false;
    if (space->free_x[level] >> d & 1) return true;
    return (space->fixed_x[level] >> d & 1) == (kind == ON_X);
}

/* Adds the counts of primes of a dimension; each prime goes somewhere. */
static void add_counts(program *p, int d) {
    const sx_map_space *space = p->space;
    for (int i = 0; i < space->n_primes[d]; i++) {
        int n = prime_multiplicity(space, d, i);
        double bits = log2(space->prime[d][i]);
        sx_mip_begin_row(p->mip, n, n);
        for (int s = 0; s < space->arch->n_levels; s++)
            for (int kind = 0; kind < N_KINDS; kind++) {
                p->count[d][i][s][kind] = NONE;
                if (!loop_allowed(p, d, s, kind)) continue;
                double cost = sx_run_setting(p->run, TRAFFIC) * traffic_of(p, d, s, kind) -
                              sx_run_setting(p->run, UTILIZATION) * utilization_of(p, d, s);
                if (kind == TEMPORAL) cost += sx_run_setting(p->run, COMPUTE);
                p->count[d][i][s][kind] = add_variable(p, n, cost * bits, true);
                sx_mip_add_term(p->mip, p->count[d][i][s][kind], 1);
            }
    }
}

/* Adds the logarithm of a dimension's factor to the current row. */
static void add_factor(const program *p, int d, int level, int kind, double sign) {
    for (int i = 0; i < p->space->n_primes[d]; i++)
        if (p->count[d][i][level][kind] != NONE)
            sx_mip_add_term(p->mip, p->count[d][i][level][kind], sign * log2(p->space->prime[d][i]));
}

/* Adds a limit of a dimension's factor at a slot. */
static void add_slot(const program *p, int d, int slot) {
    const sx_map_space *space = p->space;
    uint32_t min = space->min[d][slot], max = space->max[d][slot];
    int level = space->slot[slot].level;
    if (min <= 1 && max >= space->problem->size[d]) return;
    sx_mip_begin_row(p->mip, log2(min > 0 ? min : 1) - SLACK, log2(max > 0 ? max : 1) + SLACK);
    if (!space->slot[slot].spatial) add_factor(p, d, level, TEMPORAL, 1);
    for (int kind = ON_X; space->slot[slot].spatial && kind < N_KINDS; kind++)
        add_factor(p, d, level, kind, 1);
}

/* Adds the limits of a level's array; a dimension lies on X or on Y. */
static void add_array(program *p, int level) {
    const sx_map_space *space = p->space;
    for (int kind = ON_X; kind < N_KINDS; kind++) {
        sx_mip_begin_row(p->mip, -INFINITY, log2((double)space->room[level][kind - ON_X]) + SLACK);
        for (int d = 0; d < space->problem->n_dims; d++) add_factor(p, d, level, kind, 1);
    }
    for (int d = 0; d < space->problem->n_dims; d++) {
        if (!(space->free_x[level] >> d & 1) || space->problem->size[d] == 1) continue;
        double most = log2(space->problem->size[d]);
        p->axis[d][level] = add_variable(p, 1, 0, true);
        sx_mip_begin_row(p->mip, -INFINITY, 0);
        add_factor(p, d, level, ON_X, 1);
        sx_mip_add_term(p->mip, p->axis[d][level], -most);
        sx_mip_begin_row(p->mip, -INFINITY, most);
        add_factor(p, d, level, ON_Y, 1);
        sx_mip_add_term(p->mip, p->axis[d][level], most);
    }
}

/* Adds the limits of the tiles that a level keeps. */
static void add_capacity(const program *p, int level) {
    const sx_map_space *space = p->space;
    const sx_level *at = &space->model->level[level];
    if (!at->limited || !p->keep[level]) return;
    double n = __builtin_popcount(p->keep[level]), words = at->effective / n;
    if (at->bank_words > 0) words = fmin(words, floor(at->banks / n) * at->bank_words);
    for (int v = 0; v < space->problem->n_tensors; v++) {
        if (!(p->keep[level] >> v & 1)) continue;
        double elements = fmax(words / sx_level_width(at, v), 1);
        sx_mip_begin_row(p->mip, -INFINITY, log2(elements) + SLACK);
        for (int d = 0; d < space->problem->n_dims; d++)
            for (int s = 0; tensor_indexed(p, v, d) && s <= level; s++)
                for (int kind = 0; kind < N_KINDS; kind++) add_factor(p, d, s, kind, 1);
    }
}

/* Adds the ranks of the permuted level: each holds one dimension, which has one; inner ranks are used first. */
static void add_ranks(program *p) {
    const sx_map_space *space = p->space;
    for (int d = 0; d < space->problem->n_dims; d++) {
        double most = log2(space->problem->size[d]), cost = 0;
        if (space->problem->size[d] == 1) continue;
        for (int v = 0; v < space->problem->n_tensors; v++) cost += tensor_indexed(p, v, d);
        for (int r = 0; r < p->n_ranks; r++) {
            p->at[d][r] = add_variable(p, 1, 0, true);
            p->share[d][r] = add_variable(p, most, cost * sx_run_setting(p->run, TRAFFIC), false);
            sx_mip_begin_row(p->mip, -INFINITY, 0);
            sx_mip_add_term(p->mip, p->share[d][r], 1);
            sx_mip_add_term(p->mip, p->at[d][r], -most);
        }
        sx_mip_begin_row(p->mip, -INFINITY, 1);
        for (int r = 0; r < p->n_ranks; r++) sx_mip_add_term(p->mip, p->at[d][r], 1);
        sx_mip_begin_row(p->mip, 0, 0);
        for (int r = 0; r < p->n_ranks; r++) sx_mip_add_term(p->mip, p->share[d][r], -1);
        add_factor(p, d, p->permuted, TEMPORAL, 1);
    }
    for (int r = 0; r < p->n_ranks; r++)
        for (int next = 0; next < 2 && r + next < p->n_ranks; next++) {
            sx_mip_begin_row(p->mip, next ? 0 : -INFINITY, next ? INFINITY : 1);
            for (int d = 0; d < space->problem->n_dims; d++) {
                if (space->problem->size[d] == 1) continue;
                sx_mip_add_term(p->mip, p->at[d][r], 1);
                if (next) sx_mip_add_term(p->mip, p->at[d][r + 1], -1);
            }
        }
}

/* Adds the traffic of a tensor by the permuted level's loops that do not index it: those outside the innermost one
 * that does. */
static void add_reloads(program *p, int tensor) {
    const sx_map_space *space = p->space;
    double most = 0;
    size_t before = NONE;
    for (int d = 0; d < space->problem->n_dims; d++)
        if (!tensor_indexed(p, tensor, d)) most = fmax(most, log2(space->problem->size[d]));
    for (int r = 0; r < p->n_ranks; r++) {
        size_t moved = add_variable(p, 1, 0, false),
               cost = add_variable(p, most, sx_run_setting(p->run, TRAFFIC), false);
        for (int d = 0; d < space->problem->n_dims; d++) {
            if (space->problem->size[d] == 1 || !tensor_indexed(p, tensor, d)) continue;
            sx_mip_begin_row(p->mip, 0, INFINITY);
            sx_mip_add_term(p->mip, moved, 1);
            sx_mip_add_term(p->mip, p->at[d][r], -1);
        }
        if (before != NONE) {
            sx_mip_begin_row(p->mip, 0, INFINITY);
            sx_mip_add_term(p->mip, moved, 1);
            sx_mip_add_term(p->mip, before, -1);
        }
        sx_mip_begin_row(p->mip, -most, INFINITY);
        sx_mip_add_term(p->mip, cost, 1);
        sx_mip_add_term(p->mip, moved, -most);
        for (int d = 0; d < space->problem->n_dims; d++)
            if (space->problem->size[d] > 1 && !tensor_indexed(p, tensor, d))
                sx_mip_add_term(p->mip, p->share[d][r], -1);
        before = moved;
    }
}

/* Writes the whole program. */
static void build_program(program *p) {
    const sx_map_space *space = p->space;
    int n = space->arch->n_levels;
    p->permuted = n > 2 ? n - 2 : n - 1;
    for (int s = 0; s < n; s++) p->keep[s] = space->fixed_keep[s] | space->free_keep[s] | space->banked[s];
    for (int d = 0; d < space->problem->n_dims; d++) {
        p->n_ranks += space->problem->size[d] > 1;
        add_counts(p, d);
        for (int i = 0; i < space->n_slots; i++) add_slot(p, d, i);
    }
    for (int s = 0; s < n; s++) {
        if (space->spatial_slot[s] >= 0) add_array(p, s);
        add_capacity(p, s);
    }
    add_ranks(p);
    for (int v = 0; v < space->problem->n_tensors; v++) add_reloads(p, v);
}

/* The product of the primes that the solver gave a dimension at a level. */
static uint32_t factor_of(const program *p, int d, int level, int kind) {
    uint32_t factor = 1;
    for (int i = 0; i < p->space->n_primes[d]; i++)
        if (p->count[d][i][level][kind] != NONE)
            for (int n = (int)lround(p->values[p->count[d][i][level][kind]]); n > 0; n--)
                factor *= p->space->prime[d][i];
    return factor;
}

/* Gives a level what it keeps: the choice with the most tensors, by shares of banks where it has them. */
static void set_keep(const program *p, int level, void *point) {
    const sx_map_space *space = p->space;
    sx_map_keep keep[256];
    uint32_t extent[SX_MAX_DIMS] = {0};
    if (!space->banked[level]) {
        sx_map_level(point, level)->keep = p->keep[level];
        return;
    }
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint64_t reach = sx_mapping_extent(point, level, d), size = space->problem->size[d];
        extent[d] = (uint32_t)(reach < size ? reach : size);
    }
    int n = sx_map_keeps_of(space, level, extent, keep), best = 0;
    if (n == 0) return;
    for (int i = 1; i < n; i++)
        if (__builtin_popcount(keep[i].keep) > __builtin_popcount(keep[best].keep)) best = i;
    sx_map_level(point, level)->keep = keep[best].keep;
    memcpy(sx_map_banks(space, point, level), keep[best].banks, sizeof keep[best].banks);
}

/* Puts the permuted level's loops in the order of their ranks. */
static void set_order(const program *p, uint8_t *order) {
    int n = 0, n_dims = p->space->problem->n_dims;
    uint32_t placed = 0;
    for (int r = 0; r < p->n_ranks; r++)
        for (int d = 0; d < n_dims; d++) {
            if (p->space->problem->size[d] == 1 || p->values[p->at[d][r]] < 0.5 || placed >> d & 1) continue;
            order[n++] = (uint8_t)d;
            placed |= 1u << d;
        }
    for (int d = 0; d < n_dims; d++)
        if (!(placed >> d & 1)) order[n++] = (uint8_t)d;
}

/* The mapping of the solver's values. */
static void read_values(const program *p, void *point) {
    const sx_map_space *space = p->space;
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        for (int i = 0; i < space->n_slots; i++) {
            int s = space->slot[i].level;
            factor[i] = space->slot[i].spatial ? factor_of(p, d, s, ON_X) * factor_of(p, d, s, ON_Y)
                                               : factor_of(p, d, s, TEMPORAL);
        }
        sx_map_set_factors(space, d, factor, point);
    }
    for (int s = 0; s < space->arch->n_levels; s++) {
        unsigned x = 0;
        for (int d = 0; d < space->problem->n_dims; d++) x |= (unsigned)(factor_of(p, d, s, ON_X) > 1) << d;
        if (space->spatial_slot[s] >= 0) sx_map_set_layout(space, s, x, point);
        set_keep(p, s, point);
    }
    set_order(p, sx_map_level(point, p->permuted)->temporal_order);
    sx_map_normalize(space, point);
}

/* Makes a point legal: the nearest one by its vector. */
static sx_status make_legal(const sx_map_space *space, void *point, bool *legal) {
    *legal = space->space.type->check(&space->space, point) == 0;
    if (*legal) return SX_OK;
    double *values = calloc(space->space.n_values + 1, sizeof *values);
    if (!values) return sx_error_memory();
    sx_space_encode(&space->space, point, values);
    *legal = sx_space_project(&space->space, values, point);
    free(values);
    return SX_OK;
}

static bool run_stopped(void *user) {
    return sx_run_stopped(user);
}

/* Solves the program and evaluates its mapping; without a solution, the legal one nearest to a draw. */
static sx_status solve_program(sx_run *run, program *p, void *point) {
    sx_mip_options options = {.seconds = TIME_SHARE * sx_run_time(run),
                              .nodes = (size_t)sx_run_setting(run, NODES),
                              .stop = run_stopped,
                              .user = run};
    sx_mip_result result;
    sx_outcome outcome;
    bool legal;
    p->values = calloc(p->n_values + 1, sizeof *p->values);
    if (!p->values) return sx_error_memory();
    SX_TRY(sx_mip_solve(p->mip, &options, p->values, &result));
    if (result.status == SX_MIP_STOPPED) return SX_OK;
    sx_rng rng = sx_rng_stream(sx_run_seed(run), "cosa", 0);
    p->space->space.type->draw(&p->space->space, &rng, point);
    if (result.found) read_values(p, point);
    SX_TRY(make_legal(p->space, point, &legal));
    if (legal) (void)sx_run_evaluate(run, point, 1, &outcome);
    return SX_OK;
}

static sx_status search_by_cosa(sx_run *run) {
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    state *s = sx_run_state(run, sizeof *s, NULL);
    program *p = calloc(1, sizeof *p);
    void *point = calloc(space->space.point_size, 1);
    sx_status status = s && p && point ? sx_mip_new(&p->mip) : sx_error_memory();
    while (!status && !s->done && sx_run_continue(run)) {
        p->space = space;
        p->run = run;
        sx_run_evaluate_starts(run, 0);
        build_program(p);
        if (!sx_run_stopped(run)) status = solve_program(run, p, point);
        if (!status && !sx_run_stopped(run)) s->done = 1;
    }
    if (p) sx_mip_free(p->mip);
    if (p) free(p->values);
    free(p);
    free(point);
    return status;
}

SX_NAVIGATOR(cosa) = {
    .space = "map",
    .model = "map",
    .complete = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_cosa,
};
