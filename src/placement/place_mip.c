/* The placement of the least latency, proven by an integer program: a second prover beside place_exact, which shares
 * nothing with it but the chip's tables.
 *
 * Source: none; the program is the one that the problem is by definition. A binary variable says whether a tensor is
 * in a memory; each tensor is in one. A variable is the time of a node without its overhead, at least that of its
 * compute and of each memory's transfers (with shared ports: of their sum). The sizes of what lives at a step are at
 * most the capacity of each memory, at the steps after which something ends; those between hold no more. CBC solves it
 * from the better of the compiler's and the density rule's placement.
 *
 * A bound within `tolerance` of the answer proves it, as in place_exact. Transfers are not rounded to femtoseconds.
 *
 * Why it stays: the answers of place_exact are tested against it (property/placement_exact).
 *
 * Complexity: 3 variables per tensor and 4 rows per node on a chip of three memories; the solver's tree has no limit
 * but `nodes` and `seconds`. */
#include "base/status.h"
#include "mip/mip.h"
#include "placement/place.h"
#include "run/navigator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOLERANCE, SECONDS, NODES };

static const sx_setting settings[] = {
    [TOLERANCE] = {"tolerance", "part of the latency that counts as no difference", NULL, 1e-6, 0, 1, false,
                   NULL},
    [SECONDS] = {"seconds", "of the solver; 0: no limit", NULL, 0, 0, 1e9, false, NULL},
    [NODES] = {"nodes", "nodes of the solver's search tree; 0: no limit", NULL, 0, 0, 1e9, true, NULL},
};

#define TIME_SHARE 0.9 /* of a run's time that the solver gets */
#define UNIT 1e6       /* femtoseconds: times are nanoseconds in the program */
#define SLACK 1e-6     /* part of a bound that the solver's tolerances may be worth */

/* What is remembered between safe points. */
typedef struct state {
    uint64_t begun, done; /* rules and start points are evaluated; so is the solver's answer */
} state;

typedef struct program {
    const sx_placement_space *space;
    sx_mip *mip;
    size_t *first; /* by tensor: its variable of memory 0; SIZE_MAX: it has no bytes */
    double *start, *values;
} program;

/* A safe point while the solver is at work. */
static bool run_stopped(void *run) {
    return !sx_run_continue(run);
}

/* Adds the variables of tensors, each in one memory, and the times of nodes after them. */
static void add_variables(program *p) {
    const sx_placement_space *space = p->space;
    size_t memories = space->chip.n_memories;
    for (size_t t = 0; t < space->n_tensors; t++) {
        p->first[t] = SIZE_MAX;
        if (!space->size[t]) continue;
        for (size_t m = 0; m < memories; m++) {
            size_t variable = sx_mip_add_variable(p->mip, 0, 1, 0, true);
            if (m == 0) p->first[t] = variable;
        }
        sx_mip_begin_row(p->mip, 1, 1);
        for (size_t m = 0; m < memories; m++) sx_mip_add_term(p->mip, p->first[t] + m, 1);
    }
}

/* Adds the time that a memory takes for a tensor to the row at hand. */
static void add_transfer(program *p, size_t tensor, size_t memory) {
    double time = (double)p->space->moved[tensor] * p->space->rate[memory] / UNIT;
    if (p->first[tensor] != SIZE_MAX && time > 0) sx_mip_add_term(p->mip, p->first[tensor] + memory, -time);
}

/* Adds the transfers of a node from and to a memory to the row at hand. */
static void add_transfers(program *p, size_t node, size_t memory) {
    const sx_place_node *of = &p->space->graph.node[node];
    add_transfer(p, 2 * node, memory);
    add_transfer(p, 2 * node + 1, memory);
    for (size_t k = 0; k < of->n_inputs; k++)
        add_transfer(p, 2 * p->space->graph.input[of->first_input + k] + 1, memory);
}

/* Adds the time of a node: at least its compute, and its transfers. */
static void add_time(program *p, size_t node) {
    size_t memories = p->space->chip.n_memories;
    size_t time = sx_mip_add_variable(p->mip, (double)p->space->compute[node] / UNIT, INFINITY, 1, false);
    for (size_t m = 0; m < memories; m++) {
        if (m == 0 || !p->space->chip.shared_ports) {
            sx_mip_begin_row(p->mip, 0, INFINITY);
            sx_mip_add_term(p->mip, time, 1);
        }
        add_transfers(p, node, m);
    }
}

/* Whether a step needs rows: something that lives then has ended at the next. */
static bool is_peak(const sx_placement_space *space, size_t step) {
    return space->first_ended[step] < space->first_ended[step + 1] || step + 1 == space->graph.n_nodes;
}

/* Adds the capacity of a memory at a step, in parts of it. */
static void add_capacity(program *p, size_t memory, size_t step) {
    const sx_placement_space *space = p->space;
    double capacity = (double)space->chip.memory[memory].capacity;
    sx_mip_begin_row(p->mip, -INFINITY, 1);
    for (size_t t = 0; t < space->n_tensors; t++) {
        bool lives = sx_place_first(space, t) <= step && step <= sx_place_last(space, t);
        if (p->first[t] != SIZE_MAX && lives)
            sx_mip_add_term(p->mip, p->first[t] + memory, (double)space->size[t] / capacity);
    }
}

static void build_program(program *p) {
    add_variables(p);
    for (size_t i = 0; i < p->space->graph.n_nodes; i++) add_time(p, i);
    for (size_t m = 1; m < p->space->chip.n_memories; m++)
        for (size_t s = 0; s < p->space->graph.n_nodes; s++)
            if (is_peak(p->space, s)) add_capacity(p, m, s);
}

/* The values of a placement; those of times stay 0, since the solver computes them. */
static void set_start(program *p, const uint8_t *placement) {
    for (size_t t = 0; t < p->space->n_tensors; t++)
        if (p->first[t] != SIZE_MAX) p->start[p->first[t] + placement[t]] = 1;
}

/* The placement of the solver's values. */
static void read_values(const program *p, uint8_t *placement) {
    memset(placement, 0, p->space->space.point_size);
    for (size_t t = 0; t < p->space->n_tensors; t++)
        for (size_t m = 0; p->first[t] != SIZE_MAX && m < p->space->chip.n_memories; m++)
            if (p->values[p->first[t] + m] > 0.5) placement[t] = (uint8_t)m;
}

/* Evaluates the start points and the placements of rules, unless that is done; *best becomes the faster rule's. */
static sx_status evaluate_starts(sx_run *run, const sx_placement_space *space, state *s, uint8_t *best) {
    sx_outcome outcome;
    SX_TRY(sx_place_density(space, best));
    if (!s->begun) {
        sx_run_evaluate_starts(run, 0);
        (void)sx_run_evaluate(run, space->compiled, 1, &outcome);
        (void)sx_run_evaluate(run, best, 1, &outcome);
    }
    s->begun = 1;
    if (sx_place_latency(space, space->compiled) < sx_place_latency(space, best))
        memcpy(best, space->compiled, space->space.point_size);
    return SX_OK;
}

/* States what the solver proved. */
static void tell_bound(sx_run *run, const program *p, const sx_mip_result *result) {
    double overhead = (double)p->space->overhead * (double)p->space->graph.n_nodes, value = INFINITY;
    double bound = (result->bound * UNIT + overhead) * (1 - SLACK) / SX_FEMTO;
    double tolerance = sx_run_setting(run, TOLERANCE) + SLACK;
    if (!sx_run_incumbent(run, &value) || !(bound > 0) || !isfinite(bound)) return;
    sx_metrics metrics = {{[SX_PLACE_LATENCY] = bound}};
    bound = sx_goal_value(sx_run_goal(run), &metrics);
    if (!(bound > 0) || !isfinite(bound)) return;
    sx_run_bound(run, fmin(bound, value));
    if (sx_run_objective(run)->n_criteria == 1 && result->status == SX_MIP_OPTIMAL &&
        value <= bound * (1 + 2 * tolerance))
        sx_run_optimal(run);
}

/* Solves the program. */
static sx_status solve_program(sx_run *run, program *p, uint8_t *point) {
    double seconds = sx_run_setting(run, SECONDS), time = TIME_SHARE * sx_run_time(run);
    if (time > 0 && (seconds <= 0 || time < seconds)) seconds = time;
    sx_mip_options options = {.start = p->start,
                              .gap = sx_run_setting(run, TOLERANCE),
                              .seconds = seconds,
                              .nodes = (size_t)sx_run_setting(run, NODES),
                              .proof = true,
                              .stop = run_stopped,
                              .user = run};
    sx_mip_result result;
    sx_outcome outcome;
    set_start(p, point);
    SX_TRY(sx_mip_solve(p->mip, &options, p->values, &result));
    if (result.status == SX_MIP_STOPPED) return SX_OK;
    if (result.found) {
        read_values(p, point);
        (void)sx_placement_rectify(&p->space->space, point);
        (void)sx_run_evaluate(run, point, 1, &outcome);
    }
    tell_bound(run, p, &result);
    return SX_OK;
}

/* Makes the program's memory. */
static sx_status prepare_program(program *p) {
    size_t variables = p->space->n_tensors * p->space->chip.n_memories + p->space->graph.n_nodes;
    p->first = calloc(p->space->n_tensors, sizeof *p->first);
    p->start = calloc(variables, sizeof *p->start);
    p->values = calloc(variables, sizeof *p->values);
    return p->first && p->start && p->values ? sx_mip_new(&p->mip) : sx_error_memory();
}

static sx_status search_by_place_mip(sx_run *run) {
    program p = {.space = sx_placement_space_of(sx_run_space(run))};
    if (p.space->chip.prefetch > 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE,
                                          "mip knows no weights that are read ahead, as on '%s'",
                                          p.space->chip.name),
                             "`--method exact` does; or use a chip without 'prefetch'");
    state *s = sx_run_state(run, sizeof *s, NULL);
    uint8_t *point = calloc(p.space->space.point_size, 1);
    sx_status status = s && point ? prepare_program(&p) : sx_error_memory();
    if (!status && !s->done && sx_run_continue(run)) {
        status = evaluate_starts(run, p.space, s, point);
        if (!status) build_program(&p);
        if (!status && !sx_run_stopped(run)) status = solve_program(run, &p, point);
        if (!status && !sx_run_stopped(run)) s->done = 1;
    }
    sx_mip_free(p.mip);
    free(p.first);
    free(p.start);
    free(p.values);
    free(point);
    return status;
}

SX_NAVIGATOR(place_mip) = {
    .space = "placement",
    .model = "placement",
    .complete = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_place_mip,
};
