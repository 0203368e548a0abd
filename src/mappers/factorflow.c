/* FactorFlow: greedy moves of prime factors between levels.
 *
 * Source: Ronzani and Silvano, FactorFlow: Mapping GEMMs on Spatial Architectures through Adaptive Programming and Greedy
 * Optimization (ASP-DAC 2025), and its released code. For each combination of dataflows of the levels: all prime factors
 * begin at the outermost level, the array is filled with as many as fit, and then, as long as that is an improvement, the
 * best of all moves of one prime factor of a dimension from one level to another is made. Factors on the array stay
 * there. Combinations that do not differ in loops of more than one iteration from one whose local optimum is known are
 * not searched again from the beginning (adaptive programming).
 *
 * What differs. FactorFlow permutes the three loops of a GEMM; of those the innermost decides which tensor stays. For any
 * einsum, a dataflow here is the tensor that stays: at each level but the innermost, the loops that do not index it are
 * inside. Which dimensions may be on the array is part of its architectures; here each dimension is the first one in
 * turn, followed by those after it, and what a level may keep it keeps (where the least tiles do not fit, only what it
 * must). Where a known local optimum has the same order, FactorFlow goes on from it, and here nothing is left to do.
 * It maximises utilisation over EDP, here the run's objective decides, and a move of the same value is none.
 *
 * Complexity: an evaluation per legal move; a descent has as many steps as it moves factors. */
#include "base/status.h"
#include "mappers/tiling.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FANOUTS };

static const char *const fanouts[] = {"frozen", "moved", NULL};

static const sx_setting settings[] = {
    [FANOUTS] = {"fanouts", "factors on the array: stay as they were filled, or move like the others",
                 "frozen", 0, 0, 1, true, fanouts},
};

enum {
    MAX_STARTS = SX_MAX_DIMS,
    KNOWN = 32, /* local optima of a start that are remembered */
    MAX_FLOWS = 1 << 16,
};

/* A local optimum: the loops of each level, and its number of the combinations of dataflows. */
typedef struct optimum {
    uint64_t flows;
    uint16_t loops[SX_MAX_LEVELS];
    uint64_t known;
} optimum;

/* State of a search. */
typedef struct state {
    uint64_t begun, flows; /* combination of dataflows */
    optimum known[MAX_STARTS][KNOWN];
} state;

/* Shared by all tasks, read-only. */
typedef struct plan {
    const sx_map_space *space;
    uint64_t flows, n_flows;
    bool moved;
    int n_starts;
    sx_tiling start[MAX_STARTS];
    uint8_t task[MAX_STARTS]; /* start of a task */
} plan;

/* The tensor that stays at a level; the outermost level changes fastest. */
static int staying_tensor(const plan *p, uint64_t flows, int level) {
    uint64_t n = (uint64_t)p->space->problem->n_tensors;
    for (int s = p->space->arch->n_levels - 1; s > level; s--) flows /= n;
    return (int)(flows % n);
}

/* Finds the beginnings: all factors outermost, the array filled with one dimension after another. */
static void find_starts(plan *p, uint64_t seed, void *point, void *saved) {
    int n_dims = p->space->problem->n_dims;
    for (int first = 0; first < n_dims; first++) {
        sx_rng rng = sx_rng_stream(seed, "factorflow", 0);
        sx_tiling t = {.space = p->space, .point = point, .saved = saved};
        uint8_t prefer[SX_MAX_DIMS];
        bool known = false;
        for (int i = 0; i < n_dims; i++) prefer[i] = (uint8_t)((first + i) % n_dims);
        bool legal = sx_tiling_begin(&t, &rng);
        t.bare = !legal;
        if (!legal && !sx_tiling_begin(&t, &rng)) return;
        for (int s = 0; s < p->space->arch->n_levels; s++)
            if (p->space->spatial_slot[s] >= 0) sx_tiling_fill(&t, s, prefer);
        for (int i = 0; i < p->n_starts; i++)
            known = known || memcmp(p->start[i].factor, t.factor, sizeof t.factor) == 0;
        if (!known) p->start[p->n_starts++] = t;
    }
}

/* A descent. */
typedef struct descent {
    const plan *plan;
    sx_tiling t;
    sx_worker *worker;
    void *base; /* the point before a move */
    bool over;
} descent;

/* Evaluates the point under the descent's dataflows; INFINITY where it is not legal. */
static double evaluate_point(descent *d) {
    for (int s = 1; s < d->t.space->arch->n_levels; s++)
        sx_tiling_hold(&d->t, s, staying_tensor(d->plan, d->plan->flows, s));
    sx_map_normalize(d->t.space, d->t.point);
    sx_outcome outcome = sx_worker_evaluate(d->worker, d->t.point, false);
    d->over = d->over || outcome.reason == SX_NOT_EVALUATED;
    return outcome.reason ? INFINITY : outcome.value;
}

/* A move of a prime factor. */
typedef struct move {
    double value;
    uint32_t prime;
    int dim, from, to;
} move;

/* Tries a move, and takes it back. */
static void try_move(descent *d, move m, move *best) {
    uint32_t factor[SX_MAX_SLOTS];
    memcpy(d->base, d->t.point, d->t.space->space.point_size);
    memcpy(factor, d->t.factor[m.dim], sizeof factor);
    if (!sx_tiling_move(&d->t, m.dim, m.prime, m.from, m.to)) {
        sx_worker_reject(d->worker, 1);
        return;
    }
    m.value = evaluate_point(d);
    if (m.value < best->value) *best = m;
    memcpy(d->t.factor[m.dim], factor, sizeof factor);
    memcpy(d->t.point, d->base, d->t.space->space.point_size);
}

/* Finds the best move of one prime factor of a dimension. */
static void try_moves(descent *d, int dim, move *best) {
    const sx_map_space *space = d->t.space;
    for (int from = 0; from < space->n_slots; from++)
        for (int to = 0; to < space->n_slots && !d->over; to++) {
            bool spatial = space->slot[from].spatial || space->slot[to].spatial;
            if (from == to || (spatial && !d->plan->moved)) continue;
            for (int i = 0; i < space->n_primes[dim] && !d->over; i++)
                if (d->t.factor[dim][from] % space->prime[dim][i] == 0)
                    try_move(d, (move){0, space->prime[dim][i], dim, from, to}, best);
        }
}

/* A task: one descent; its output is the local optimum. */
static sx_status run_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const plan *p = input;
    optimum *out = output;
    descent d = {
        .plan = p, .t = p->start[p->task[task]], .worker = worker, .base = sx_worker_scratch(worker, 2)};
    d.t.point = sx_worker_scratch(worker, 0);
    d.t.saved = sx_worker_scratch(worker, 1);
    memcpy(d.t.point, p->space->blank, p->space->space.point_size);
    for (int s = 0; s < p->space->arch->n_levels; s++)
        sx_map_level(d.t.point, s)->keep =
            (uint8_t)(p->space->fixed_keep[s] | (d.t.bare ? 0 : p->space->free_keep[s]));
    sx_tiling_write(&d.t);
    double value = evaluate_point(&d);
    while (!d.over && !sx_worker_stopped(worker)) {
        move best = {.value = value};
        for (int dim = 0; dim < p->space->problem->n_dims; dim++) try_moves(&d, dim, &best);
        if (d.over || !(best.value < value)) break;
        if (!sx_tiling_move(&d.t, best.dim, best.prime, best.from, best.to)) break;
        value = best.value;
    }
    *out = (optimum){.flows = p->flows, .known = !d.over};
    for (int s = 0; s < p->space->arch->n_levels; s++)
        for (int dim = 0; dim < p->space->problem->n_dims; dim++)
            out->loops[s] |= (uint16_t)((d.t.factor[dim][p->space->temporal_slot[s]] > 1) << dim);
    return SX_OK;
}

/* Whether two tensors that stay order some loops alike: those inside are the same, or none or all are. */
static bool same_order(const plan *p, unsigned loops, int a, int b) {
    unsigned in_a = loops & ~(unsigned)p->space->model->shape[a].dims,
             in_b = loops & ~(unsigned)p->space->model->shape[b].dims;
    bool one_a = in_a == 0 || in_a == loops, one_b = in_b == 0 || in_b == loops;
    return in_a == in_b || (one_a && one_b);
}

/* Whether a local optimum is one of the current dataflows, too. */
static bool is_known(const plan *p, const optimum *o) {
    if (!o->known) return false;
    for (int s = 1; s < p->space->arch->n_levels; s++)
        if (!same_order(p, o->loops[s], staying_tensor(p, o->flows, s), staying_tensor(p, p->flows, s)))
            return false;
    return true;
}

/* Lists the starts whose local optimum under the current dataflows is not known. */
static size_t list_tasks(plan *p, const state *s) {
    size_t n = 0;
    for (int i = 0; i < p->n_starts; i++) {
        bool known = false;
        for (int k = 0; k < KNOWN; k++) known = known || is_known(p, &s->known[i][k]);
        if (!known) p->task[n++] = (uint8_t)i;
    }
    return n;
}

/* Searches combination after combination. */
static void search_flows(sx_run *run, plan *p, state *s) {
    for (;; s->flows++) {
        optimum found[MAX_STARTS] = {{0}};
        size_t n = 0;
        for (p->flows = s->flows; p->flows < p->n_flows && !(n = list_tasks(p, s)); p->flows++) continue;
        s->flows = p->flows;
        if (n == 0 || !sx_run_continue(run)) return;
        sx_run_tasks(run, n, run_task, p, found, sizeof *found);
        for (size_t i = 0; i < n; i++) s->known[p->task[i]][s->flows % KNOWN] = found[i];
    }
}

static sx_status search_by_factorflow(sx_run *run) {
    state *s = sx_run_state(run, sizeof *s, NULL);
    plan *p = calloc(1, sizeof *p);
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    size_t size = space->space.point_size;
    char *points = calloc(2, size);
    bool ready = s && p && points;
    if (ready) {
        p->space = space;
        p->moved = sx_run_setting(run, FANOUTS) != 0;
        p->n_flows = 1;
        for (int i = 1; i < space->arch->n_levels; i++)
            if (p->n_flows < MAX_FLOWS) p->n_flows *= (uint64_t)space->problem->n_tensors;
        find_starts(p, sx_run_seed(run), points, points + size);
        if (!s->begun) sx_run_evaluate_starts(run, 0);
        s->begun = 1;
        search_flows(run, p, s);
        if (!sx_run_stopped(run) && !sx_run_incumbent(run, NULL))
            (void)sx_tiling_rescue(run, "factorflow.rescue", 0, points);
    }
    free(p);
    free(points);
    return ready ? SX_OK : sx_error_memory();
}

SX_NAVIGATOR(factorflow) = {
    .space = "map",
    .model = "map",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_factorflow,
};
