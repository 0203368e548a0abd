#include "mappers/directed.h"

#include "base/status.h"
#include "mappers/tiling.h"
#include "model/capacity.h"

enum {
    TASKS = 16,
    TILINGS = 16, /* of a task */
    TRIES = 64,   /* tilings below the shares before the shares are halved */
    HALVINGS = 6, /* after these any share is enough */
    STOP_ONE_IN = 4,
    HOPELESS = 16, /* rounds of tasks without a legal mapping */
};

/* State of a search. */
typedef struct state {
    uint64_t begun, task, barren;
} state;

/* Shared by all tasks, read-only. */
typedef struct plan {
    const sx_map_space *space;
    const sx_directed *rules;
    uint64_t seed, first;
} plan;

/* A tiling under construction, and what it follows. */
typedef struct builder {
    sx_tiling t;
    const plan *plan;
    sx_rng *rng;
    double relief; /* by which shares are multiplied */
} builder;

/* Moves a random prime of a random dimension to a slot; false where none can move. */
static bool move_any(builder *b, int slot) {
    struct {
        uint8_t dim, prime;
    } pair[SX_MAX_DIMS * 10];
    size_t n = 0;
    for (int d = 0; d < b->t.space->problem->n_dims; d++)
        for (int i = 0; i < b->t.space->n_primes[d]; i++) {
            pair[n].dim = (uint8_t)d;
            pair[n++].prime = (uint8_t)i;
        }
    while (n > 0) {
        size_t at = sx_rng_below(b->rng, n);
        int d = pair[at].dim, s = b->t.space->slot[slot].level, rest = b->t.space->n_slots - 1;
        uint32_t prime = b->t.space->prime[d][pair[at].prime];
        bool fresh =
            b->t.space->slot[slot].spatial && b->t.factor[d][slot] == 1 && b->t.space->free_x[s] >> d & 1;
        unsigned axis = (unsigned)sx_rng_below(b->rng, 2), x = b->t.x[s];
        if (fresh) b->t.x[s] = (x & ~(1u << d)) | axis << d;
        if (sx_tiling_move(&b->t, d, prime, rest, slot)) return true;
        if (fresh) b->t.x[s] = (x & ~(1u << d)) | (axis ^ 1) << d;
        if (fresh && sx_tiling_move(&b->t, d, prime, rest, slot)) return true;
        b->t.x[s] = x;
        pair[at] = pair[--n];
    }
    return false;
}

/* Places the spatial loops: by preference, or drawn until none fits. False where too little of the array is used. */
static bool fill_array(builder *b) {
    const sx_map_space *space = b->t.space;
    const sx_directed *rules = b->plan->rules;
    double room = 1;
    for (int s = 0; s < space->arch->n_levels; s++) {
        int slot = space->spatial_slot[s];
        if (slot < 0) continue;
        if (rules->fixed) sx_tiling_fill(&b->t, s, rules->prefer);
        while (!rules->fixed && move_any(b, slot)) continue;
        room *= (double)space->room[s][0] * (double)space->room[s][1];
    }
    return sx_tiling_spread(&b->t) >= rules->array * b->relief * room;
}

/* The share of a level that its tiles take. */
static double share_of(const builder *b, int level) {
    const sx_level *at = &b->t.space->model->level[level];
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < b->t.space->problem->n_dims; d++) {
        uint64_t reach = sx_mapping_extent(b->t.point, level, d), size = b->t.space->problem->size[d];
        extent[d] = (uint32_t)(reach < size ? reach : size);
    }
    unsigned keep = sx_map_level(b->t.point, level)->keep;
    return sx_level_occupancy(b->t.space->model, at, keep, extent).words / at->effective;
}

/* Grows the tiles from the inside out: once a memory's share is reached, each further step may be the last. False
 * where a share is not reached. */
static bool grow_tiles(builder *b) {
    const sx_map_space *space = b->t.space;
    bool inner = true;
    for (int s = 0; s < space->arch->n_levels - 1; s++) {
        bool limited = space->model->level[s].limited && !space->model->level[s].transparent;
        double least = b->relief * (inner ? b->plan->rules->inner : b->plan->rules->outer);
        if (!limited) least = 0;
        while (share_of(b, s) < least || sx_rng_below(b->rng, STOP_ONE_IN))
            if (!move_any(b, space->temporal_slot[s])) break;
        if (limited && share_of(b, s) < least) return false;
        if (limited) inner = false;
    }
    return true;
}

/* Orders the loops of a level: those that do not index a tensor inside, so that it stays; or (-1) at random. */
static void set_order(builder *b, int level, int tensor) {
    uint8_t *order = sx_map_level(b->t.point, level)->temporal_order;
    if (tensor >= 0) sx_tiling_hold(&b->t, level, tensor);
    for (int d = 0; tensor < 0 && d < b->t.space->problem->n_dims; d++) {
        size_t at = sx_rng_below(b->rng, (uint64_t)d + 1);
        order[d] = order[at];
        order[at] = (uint8_t)d;
    }
}

/* Evaluates a tiling under its orders; false where the run ends. */
static bool evaluate_orders(builder *b, sx_worker *worker, bool *found) {
    const sx_directed *rules = b->plan->rules;
    uint64_t n_levels = b->t.space->arch->n_levels, n_tensors = b->t.space->problem->n_tensors, all = 1;
    for (uint64_t s = 1; s < n_levels && all <= rules->orders; s++) all *= n_tensors;
    bool listed = rules->stationary && all <= rules->orders;
    for (uint64_t i = 0; i < (listed ? all : rules->orders); i++) {
        uint64_t digits = i;
        for (uint64_t s = 1; s < n_levels; s++, digits /= n_tensors) {
            int drawn = (int)sx_rng_below(b->rng, n_tensors);
            set_order(b, (int)s, !rules->stationary ? -1 : listed ? (int)(digits % n_tensors) : drawn);
        }
        sx_map_normalize(b->t.space, b->t.point);
        sx_outcome outcome = sx_worker_evaluate(worker, b->t.point, true);
        if (outcome.reason == SX_NOT_EVALUATED) return false;
        *found = true;
    }
    return true;
}

/* Builds a tiling that reaches the shares, which fall, for the rest of the task, where that fails; false where none is
 * legal. */
static bool build_tiling(builder *b, sx_worker *worker) {
    for (int i = 0; i < TRIES * (HALVINGS + 1); i++) {
        if (i > 0 && i % TRIES == 0) b->relief = i / TRIES < HALVINGS ? b->relief / 2 : 0;
        if (sx_worker_stopped(worker)) return false;
        if (sx_tiling_begin(&b->t, b->rng) && fill_array(b) && grow_tiles(b)) return true;
        sx_worker_reject(worker, 1);
    }
    return sx_map_repair(b->t.space, b->rng, b->t.point);
}

/* A task: some tilings; its output is whether any was legal. */
static sx_status run_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const plan *p = input;
    sx_rng rng = sx_rng_stream(p->seed, p->rules->stream, p->first + task);
    builder b = {.t = {.space = p->space}, .plan = p, .rng = &rng, .relief = 1};
    b.t.point = sx_worker_scratch(worker, 0);
    b.t.saved = sx_worker_scratch(worker, 1);
    for (int i = 0; i < TILINGS && !sx_worker_stopped(worker); i++)
        if (!build_tiling(&b, worker) || !evaluate_orders(&b, worker, output)) break;
    return SX_OK;
}

sx_status sx_directed_search(sx_run *run, const sx_directed *rules) {
    plan p = {.space = sx_map_space_of(sx_run_space(run)), .rules = rules, .seed = sx_run_seed(run)};
    state *s = sx_run_state(run, sizeof *s, NULL);
    if (!s) return sx_error_memory();
    while (s->barren < HOPELESS && sx_run_continue(run)) {
        if (!s->begun) sx_run_evaluate_starts(run, 0);
        s->begun = 1;
        bool found[TASKS] = {false}, any = false;
        uint64_t left = sx_run_left(run), turn = sx_run_turn_left(run), size = TILINGS * rules->orders;
        uint64_t n = (turn < left ? turn : left) / size + 1;
        p.first = s->task;
        sx_run_tasks(run, n < TASKS ? n : TASKS, run_task, &p, found, sizeof *found);
        s->task += n < TASKS ? n : TASKS;
        for (int i = 0; i < TASKS; i++) any |= found[i];
        s->barren = any ? 0 : s->barren + 1;
    }
    return SX_OK;
}
