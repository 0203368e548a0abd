/* Projected gradient descent on the cost model itself, over real factors.
 *
 * Source: the idea of DOSA (MICRO 2023), which has a closed form of one machine: descend along the derivatives of the
 * cost by the logarithms of the tile factors, round, and try orders in between. Here the closed form is that of
 * model_cost.h, for any problem and architecture that it covers, and nothing is trained.
 *
 * A start is a legal draw, or, half of the time, some moves from the best so far. Its loss is the logarithm of the
 * objective, and a penalty for tiles and fan-outs beyond their room. Three times: orders and kept tensors are chosen by
 * enumeration, one level at a time (for every tensor the order that keeps its tile in place longest; every tensor kept
 * or not), as long as the loss falls; the factors descend by `steps` steps of a rate that falls to a tenth, each
 * dimension's logarithms projected to those that are not negative and add up to its size's; the result is rounded by
 * the space's projection and evaluated. The next descent begins from there.
 *
 * What is enumerated and descended by costs no evaluation: at whole factors the loss is the true objective, so this is
 * a search that looks at more mappings than it evaluates. Compare it by time as well.
 *
 * direction=random takes steps of random directions instead, as a control. Starts are tasks. Complexity: a step is a
 * pass through the model and back, about 20 times an evaluation. */
#include "base/status.h"
#include "learn/elementary.h"
#include "mappers/gradient/gradient.h"
#include "mappers/gradient/model_cost.h"
#include "mapspace/map_space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 16, DESCENTS = 3, ROUNDINGS = 6 };
static const double penalty = 10, nearby = 0.5;

/* State of a search. */
typedef struct state {
    uint64_t begun; /* the start points are evaluated */
    uint64_t next;  /* number of the next start of all */
} state;

/* What all starts of a round see. */
typedef struct job {
    sx_run *run;
    const sx_map_space *space;
    double energy_power, delay_power, rate;
    bool random; /* steps in random directions */
    unsigned steps;
    uint64_t screen; /* random mappings of which the best is evaluated; 0: descend */
    uint64_t first;
    const unsigned char *best; /* NULL: none */
} job;

/* A start at work. */
typedef struct descent {
    const job *j;
    const sx_map_space *space;
    sx_worker *worker;
    sx_rng rng;
    sx_relaxed r;
    sx_relaxed_mapping m;
    double *values;
    unsigned char *point, *scratch;
} descent;

/* The real factor of a slot. */
static double *factor_at(const descent *c, sx_relaxed_mapping *m, int slot, int d) {
    const sx_map_slot *at = &c->space->slot[slot];
    return at->spatial ? &m->spatial[at->level][d] : &m->temporal[at->level][d];
}

/* The logarithm of the objective and the penalty, with what they are made of on the tape. */
static sx_real loss_of(descent *c) {
    sx_tape *t = &c->r.tape;
    sx_relaxed_evaluate(&c->r, &c->m);
    sx_real energy = sx_real_scale(t, sx_real_log(t, c->r.energy), c->j->energy_power, 0);
    sx_real delay = sx_real_scale(t, sx_real_log(t, c->r.cycles), c->j->delay_power, 0);
    return sx_real_add(t, sx_real_add(t, energy, delay), sx_real_scale(t, c->r.overflow, penalty, 0));
}

/* Projects numbers to the nearest that are not negative and add up to a sum. */
static void project_to_sum(double *x, int n, double sum) {
    double sorted[SX_MAX_SLOTS], total = 0, shift = 0;
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k > 0 && sorted[k - 1] < x[i]; k--) sorted[k] = sorted[k - 1];
        sorted[k] = x[i];
    }
    for (int i = 0; i < n; i++) {
        total += sorted[i];
        if (sorted[i] > (total - sum) / (i + 1)) shift = (total - sum) / (i + 1);
    }
    for (int i = 0; i < n; i++) x[i] = fmax(x[i] - shift, 0);
}

/* One step of all factors against the gradient. */
static void step_factors(descent *c, double rate) {
    const sx_map_space *space = c->space;
    sx_tape_differentiate(&c->r.tape, loss_of(c));
    for (int d = 0; d < space->problem->n_dims; d++) {
        double x[SX_MAX_SLOTS];
        for (int i = 0; i < space->n_slots; i++) {
            const sx_map_slot *at = &space->slot[i];
            sx_real log = at->spatial ? c->r.log_spatial[at->level][d] : c->r.log_temporal[at->level][d];
            double slope = sx_tape_derivative(&c->r.tape, log);
            x[i] = log.value - rate * (c->j->random ? sx_normal(&c->rng) : slope);
        }
        project_to_sum(x, space->n_slots, sx_log((double)space->model->size[d]));
        for (int i = 0; i < space->n_slots; i++) *factor_at(c, &c->m, i, d) = sx_exp(x[i]);
    }
}

/* Keeps a change of the mapping where the loss falls; otherwise takes it back. */
static bool try_change(descent *c, const sx_relaxed_mapping *before, double *loss) {
    double changed = loss_of(c).value;
    if (changed < *loss - 1e-9) {
        *loss = changed;
        return true;
    }
    c->m = *before;
    return false;
}

/* Gives a level the order that keeps a tensor's tile in place longest: loops that do not index it inside, each kind in
 * the order it has. */
static void set_stationary(descent *c, int level, int tensor) {
    uint16_t dims = c->space->model->shape[tensor].dims;
    uint8_t order[SX_MAX_DIMS];
    int n = 0, n_dims = c->space->problem->n_dims;
    for (unsigned indexes = 0; indexes < 2; indexes++)
        for (int i = 0; i < n_dims; i++) {
            uint8_t d = c->m.temporal_order[level][i];
            if ((unsigned)(dims >> d & 1) == indexes) order[n++] = d;
        }
    memcpy(c->m.temporal_order[level], order, (size_t)n_dims);
}

/* Tries the stationary orders of a level, and keeping or bypassing what it is free to. */
static bool enumerate_level(descent *c, int level, bool keeps, double *loss) {
    const sx_map_space *space = c->space;
    bool better = false;
    for (int v = 0; v < space->problem->n_tensors; v++) {
        const sx_relaxed_mapping before = c->m;
        if (!space->fixed_order[level]) {
            set_stationary(c, level, v);
            better |= try_change(c, &before, loss);
        }
        if (!keeps || !((space->free_keep[level] | space->banked[level]) >> v & 1)) continue;
        const sx_relaxed_mapping kept = c->m;
        c->m.keep[level] ^= (uint8_t)(1u << v);
        better |= try_change(c, &kept, loss);
    }
    return better;
}

/* Chooses orders and kept tensors by enumeration, until nothing is better. */
static void enumerate_orders(descent *c, bool keeps) {
    double loss = loss_of(c).value;
    for (bool better = true; better && sx_worker_goes_on(c->worker);) {
        better = false;
        for (int s = 0; s < c->space->arch->n_levels; s++) better |= enumerate_level(c, s, keeps, &loss);
    }
}

/* Takes over a legal point. */
static void read_point(descent *c, const void *point) {
    sx_relaxed_from(c->space->model, sx_map_point(point), &c->m);
    for (int s = 0; s < c->space->arch->n_levels; s++) {
        const sx_mapping_level *level = &sx_map_point(point)->level[s];
        bool plane = c->space->planar[s], wide = c->space->model->level[s].fanout_x > 1;
        for (int d = 0; d < c->space->problem->n_dims; d++)
            if (level->spatial[d] == 1 && (plane || wide)) c->m.on_x[s] |= (uint16_t)(1u << d);
    }
}

/* Distributes the banks of a level by the tiles that are kept there. */
static double *write_banks(const descent *c, int level, double *values) {
    const sx_map_space *space = c->space;
    double banks = space->arch->level[level].banks;
    for (unsigned left = space->banked[level]; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        double words = c->r.tile[v][level].value * sx_level_width(&space->model->level[level], v);
        double need = fmax(words / (double)space->bank_words[level], 1);
        *values++ = c->m.keep[level] >> v & 1 ? need / banks : 0;
    }
    return values;
}

/* Writes the vector of the mapping: that of a point with its orders and kept tensors, and its own factors and banks. */
static void write_vector(descent *c) {
    const sx_map_space *space = c->space;
    size_t n_banks = 0;
    memcpy(c->scratch, c->point, space->space.point_size);
    for (int s = 0; s < space->arch->n_levels; s++) {
        sx_mapping_level *level = sx_map_level(c->scratch, s);
        memcpy(level->temporal_order, c->m.temporal_order[s], space->problem->n_dims);
        level->keep = c->m.keep[s];
        n_banks += (size_t)__builtin_popcount(space->banked[s]);
    }
    sx_space_encode(&space->space, c->scratch, c->values);
    double *values = c->values, *banks = c->values + space->space.n_values - n_banks;
    for (int d = 0; d < space->problem->n_dims; d++)
        for (int i = 0; i < space->n_slots; i++)
            *values++ = sx_log(*factor_at(c, &c->m, i, d)) * 1.4426950408889634074;
    loss_of(c);
    for (int s = 0; s < space->arch->n_levels; s++) banks = write_banks(c, s, banks);
}

/* Rounds the mapping to a legal point by the space's projection, of its vector and of some near to it, and evaluates
 * the best of these; false where there is none. */
static bool settle_point(descent *c) {
    const sx_map_space *space = c->space;
    const sx_space *base = &space->space;
    size_t n_factors = (size_t)space->n_slots * space->problem->n_dims;
    double best = INFINITY, *noisy = c->values + base->n_values;
    write_vector(c);
    for (int i = 0; i < ROUNDINGS && sx_worker_goes_on(c->worker); i++) {
        memcpy(noisy, c->values, base->n_values * sizeof *noisy);
        for (size_t k = 0; i > 0 && k < n_factors; k++) noisy[k] += nearby * sx_normal(&c->rng);
        if (!sx_space_project(base, noisy, c->scratch)) continue;
        read_point(c, c->scratch);
        double loss = loss_of(c).value;
        if (!(loss < best)) continue;
        best = loss;
        memcpy(c->point, c->scratch, base->point_size);
    }
    if (best == INFINITY) return false;
    sx_worker_evaluate(c->worker, c->point, false);
    read_point(c, c->point);
    return true;
}

/* Draws which tensors levels keep, where that is free. */
static void draw_keeps(descent *c) {
    for (int s = 0; s < c->space->arch->n_levels; s++) {
        unsigned free = c->space->free_keep[s] | c->space->banked[s];
        c->m.keep[s] ^= (uint8_t)(sx_rng_next(&c->rng) >> 56 & free);
    }
}

/* Draws the point that a start begins from: any, or some moves from the best. */
static bool draw_start(descent *c, size_t number) {
    const sx_space *base = &c->space->space;
    if (c->j->best && number % 2) {
        sx_gradient_move(base, &c->rng, c->j->best, c->point, c->scratch);
        return true;
    }
    uint64_t rejected = 0;
    bool legal = sx_space_draw_legal(base, &c->rng, c->point, &rejected);
    sx_worker_reject(c->worker, rejected);
    return legal;
}

/* Evaluates the best by the model of some random mappings; false where there seems to be no legal one. */
static bool screen_draws(descent *c) {
    const sx_space *base = &c->space->space;
    double best = INFINITY;
    for (uint64_t i = 0; i < c->j->screen && sx_worker_goes_on(c->worker); i++) {
        uint64_t rejected = 0;
        bool legal = sx_space_draw_legal(base, &c->rng, c->scratch, &rejected);
        sx_worker_reject(c->worker, rejected);
        if (!legal) return false;
        read_point(c, c->scratch);
        double loss = loss_of(c).value;
        if (!(loss < best)) continue;
        best = loss;
        memcpy(c->point, c->scratch, base->point_size);
    }
    if (best < INFINITY && !sx_worker_stopped(c->worker)) sx_worker_evaluate(c->worker, c->point, true);
    return true;
}

/* A start and its descents; false where there seems to be no legal point. */
static bool descend_from(descent *c, size_t task) {
    const job *j = c->j;
    bool legal = draw_start(c, task), any = legal;
    if (legal) read_point(c, c->point);
    if (legal && task % 4 < 2) draw_keeps(c);
    for (int i = 0; legal && i < DESCENTS && sx_worker_goes_on(c->worker); i++) {
        enumerate_orders(c, i > 0);
        for (unsigned k = 0; k < j->steps && sx_worker_goes_on(c->worker); k++)
            step_factors(c, j->rate * (1 - 0.9 * k / j->steps));
        legal = !sx_worker_stopped(c->worker) && settle_point(c);
    }
    return any;
}

/* A task: a start, or a screening; its output is whether there was a legal point. */
static sx_status run_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const job *j = input;
    descent *c = malloc(sizeof *c);
    double *values = malloc(2 * (j->space->space.n_values + 1) * sizeof *values);
    bool ready = c && values;
    if (ready) {
        *c = (descent){.j = j, .space = j->space, .worker = worker, .values = values};
        c->r.model = j->space->model;
        memcpy(c->r.banked, j->space->banked, sizeof c->r.banked);
        c->rng = sx_rng_stream(sx_run_seed(j->run), "gradient.model", j->first + task);
        c->point = sx_worker_scratch(worker, 0);
        c->scratch = sx_worker_scratch(worker, 1);
        *(bool *)output = j->screen ? screen_draws(c) : descend_from(c, task);
        ready = !c->r.tape.failed;
        sx_relaxed_free(&c->r);
    }
    free(values);
    free(c);
    return ready ? SX_OK : sx_error_memory();
}

/* An error where the objective is not a product of energy and cycles, or the space has mappings without derivatives. */
static sx_status check_objective(const sx_run *run, const sx_map_space *space) {
    if (sx_run_objective(run)->criterion[0].kind != SX_PRODUCT)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "gradient:by=model needs an objective of energy and delay"),
            "such as edp, energy or delay");
    if (space->options.remainders)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT, "gradient:by=model has no derivatives of remainders"),
                             "leave out --remainders");
    return sx_relaxed_check(space->model);
}

sx_status sx_gradient_by_model(sx_run *run) {
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    const sx_criterion *criterion = &sx_run_objective(run)->criterion[0];
    SX_TRY(check_objective(run, space));
    state *s = sx_run_state(run, sizeof *s, NULL);
    unsigned char *best = malloc(space->space.point_size);
    sx_status status = s && best ? SX_OK : sx_error_memory();
    while (!status && sx_run_continue(run)) {
        if (!s->begun) {
            sx_run_evaluate_starts(run, 0);
            s->begun = 1;
            continue;
        }
        const void *incumbent = sx_run_incumbent(run, NULL);
        if (incumbent) memcpy(best, incumbent, space->space.point_size);
        bool found[STARTS] = {false}, any = false;
        const job j = {.run = run,
                       .space = space,
                       .energy_power = criterion->energy_power,
                       .delay_power = criterion->delay_power,
                       .random = sx_run_setting(run, SX_GRADIENT_DIRECTION) == 1,
                       .rate = sx_run_setting(run, SX_GRADIENT_STEP),
                       .steps = (unsigned)sx_run_setting(run, SX_GRADIENT_STEPS),
                       .screen = (uint64_t)sx_run_setting(run, SX_GRADIENT_SCREEN),
                       .first = s->next,
                       .best = incumbent ? best : NULL};
        sx_run_tasks(run, STARTS, run_task, &j, found, sizeof *found);
        s->next += STARTS;
        for (int i = 0; i < STARTS; i++) any |= found[i];
        if (!any) break;
    }
    free(best);
    return status;
}
