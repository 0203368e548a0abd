#include "mappers/directed.h"

#include "base/status.h"
#include "model/capacity.h"
#include "space/map_choices.h"

#include <string.h>

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

/* A tiling under construction: what is not placed yet is at the outermost level. */
typedef struct tiling {
    const plan *plan;
    const sx_map_space *space;
    sx_rng *rng;
    void *point, *saved;
    uint32_t factor[SX_MAX_DIMS][SX_MAX_SLOTS];
    unsigned x[SX_MAX_LEVELS]; /* dimensions on X */
    double relief;             /* by which shares are multiplied */
} tiling;

/* Writes the factors of a dimension into the point. */
static void write_dim(const tiling *t, int d) {
    sx_map_set_factors(t->space, d, t->factor[d], t->point);
    for (int s = 0; s < t->space->arch->n_levels; s++)
        if (t->space->spatial_slot[s] >= 0) sx_map_set_layout(t->space, s, t->x[s], t->point);
    sx_map_normalize(t->space, t->point);
}

/* Whether the point is legal. */
static bool is_legal(const tiling *t) {
    return t->space->space.type->check(&t->space->space, t->point) == 0;
}

/* Begins: the least factors everywhere, the rest outermost, every level keeping all that it may; false where that is
 * not legal. */
static bool begin(tiling *t) {
    const sx_map_space *space = t->space;
    int last = space->n_slots - 1;
    space->space.type->draw(&space->space, t->rng, t->point);
    for (int s = 0; s < space->arch->n_levels; s++) {
        t->x[s] = space->fixed_x[s];
        if (!space->banked[s]) sx_map_level(t->point, s)->keep = space->fixed_keep[s] | space->free_keep[s];
    }
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint64_t all = 1, size = space->problem->size[d];
        for (int i = 0; i < last; i++) {
            t->factor[d][i] = space->min[d][i] > 1 ? space->min[d][i] : 1;
            all *= t->factor[d][i];
        }
        t->factor[d][last] = (uint32_t)(all <= size ? size / all : 1);
        if (all > size || size % all || t->factor[d][last] > space->max[d][last])
            sx_factors_draw(space->factors[d], t->rng, t->factor[d]);
        write_dim(t, d);
    }
    return is_legal(t);
}

/* Moves a prime of a dimension from the outermost slot to another where the result is legal. */
static bool move(tiling *t, int d, uint32_t prime, int slot) {
    const sx_map_space *space = t->space;
    uint32_t *factor = t->factor[d], *rest = &factor[space->n_slots - 1];
    unsigned x = t->x[space->slot[slot].level];
    if (*rest % prime || *rest / prime < space->min[d][space->n_slots - 1] ||
        (uint64_t)factor[slot] * prime > space->max[d][slot])
        return false;
    memcpy(t->saved, t->point, space->space.point_size);
    *rest /= prime;
    factor[slot] *= prime;
    write_dim(t, d);
    if (is_legal(t)) return true;
    *rest *= prime;
    factor[slot] /= prime;
    t->x[space->slot[slot].level] = x;
    memcpy(t->point, t->saved, space->space.point_size);
    return false;
}

/* Moves a random prime of a random dimension to a slot; false where none can move. */
static bool move_any(tiling *t, int slot) {
    struct {
        uint8_t dim, prime;
    } pair[SX_MAX_DIMS * 10];
    size_t n = 0;
    for (int d = 0; d < t->space->problem->n_dims; d++)
        for (int i = 0; i < t->space->n_primes[d]; i++) {
            pair[n].dim = (uint8_t)d;
            pair[n++].prime = (uint8_t)i;
        }
    while (n > 0) {
        size_t at = sx_rng_below(t->rng, n);
        int d = pair[at].dim, s = t->space->slot[slot].level;
        bool fresh = t->space->slot[slot].spatial && t->factor[d][slot] == 1 && t->space->free_x[s] >> d & 1;
        unsigned axis = (unsigned)sx_rng_below(t->rng, 2), x = t->x[s];
        if (fresh) t->x[s] = (x & ~(1u << d)) | axis << d;
        if (move(t, d, t->space->prime[d][pair[at].prime], slot)) return true;
        if (fresh) t->x[s] = (x & ~(1u << d)) | (axis ^ 1) << d;
        if (fresh && move(t, d, t->space->prime[d][pair[at].prime], slot)) return true;
        t->x[s] = x;
        pair[at] = pair[--n];
    }
    return false;
}

/* Fills one axis of a level's array with as much of a dimension as fits. */
static void fill_axis(tiling *t, int level, int d, bool on_x) {
    const sx_map_space *space = t->space;
    int slot = space->spatial_slot[level];
    unsigned x = t->x[level];
    if (space->free_x[level] >> d & 1) t->x[level] = (x & ~(1u << d)) | (unsigned)on_x << d;
    for (int i = space->n_primes[d] - 1; i >= 0; i--)
        while (move(t, d, space->prime[d][i], slot)) continue;
    if (t->factor[d][slot] == 1) t->x[level] = x;
}

/* Places the spatial loops: by preference, or drawn until none fits. False where too little of the array is used. */
static bool fill_array(tiling *t) {
    const sx_map_space *space = t->space;
    const sx_directed *rules = t->plan->rules;
    double used = 1, room = 1;
    for (int s = 0; s < space->arch->n_levels; s++) {
        int slot = space->spatial_slot[s];
        if (slot < 0) continue;
        for (int i = 0; rules->fixed && i < space->problem->n_dims; i++) {
            int d = rules->prefer[i];
            fill_axis(t, s, d, i != 1);
            if (i > 1 && t->factor[d][slot] == 1) fill_axis(t, s, d, false);
        }
        while (!rules->fixed && move_any(t, slot)) continue;
        for (int d = 0; d < space->problem->n_dims; d++) used *= t->factor[d][slot];
        room *= (double)space->room[s][0] * (double)space->room[s][1];
    }
    return used >= rules->array * t->relief * room;
}

/* The share of a level that its tiles take. */
static double share_of(const tiling *t, int level) {
    const sx_level *at = &t->space->model->level[level];
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < t->space->problem->n_dims; d++) {
        uint64_t reach = sx_mapping_extent(t->point, level, d), size = t->space->problem->size[d];
        extent[d] = (uint32_t)(reach < size ? reach : size);
    }
    unsigned keep = sx_map_level(t->point, level)->keep;
    return sx_level_occupancy(t->space->model, at, keep, extent).words / at->effective;
}

/* Grows the tiles from the inside out: once a memory's share is reached, each further step may be the last. False
 * where a share is not reached. */
static bool grow(tiling *t) {
    const sx_map_space *space = t->space;
    bool inner = true;
    for (int s = 0; s < space->arch->n_levels - 1; s++) {
        bool limited = space->model->level[s].limited && !space->model->level[s].transparent;
        double least = t->relief * (inner ? t->plan->rules->inner : t->plan->rules->outer);
        if (!limited) least = 0;
        while (share_of(t, s) < least || sx_rng_below(t->rng, STOP_ONE_IN))
            if (!move_any(t, space->temporal_slot[s])) break;
        if (limited && share_of(t, s) < least) return false;
        if (limited) inner = false;
    }
    return true;
}

/* Orders the loops of a level: those that do not index a tensor inside, so that it stays; or (-1) at random. */
static void set_order(tiling *t, int level, int tensor) {
    uint8_t *order = sx_map_level(t->point, level)->temporal_order;
    int n_dims = t->space->problem->n_dims, n = 0;
    for (int pass = 0; tensor >= 0 && pass < 2; pass++)
        for (int d = 0; d < n_dims; d++)
            if ((t->space->model->shape[tensor].dims >> d & 1) == pass) order[n++] = (uint8_t)d;
    for (int d = 0; tensor < 0 && d < n_dims; d++) {
        size_t at = sx_rng_below(t->rng, (uint64_t)d + 1);
        order[d] = order[at];
        order[at] = (uint8_t)d;
    }
}

/* Evaluates a tiling under its orders; false where the run ends. */
static bool evaluate_orders(tiling *t, sx_worker *worker, bool *found) {
    const sx_directed *rules = t->plan->rules;
    uint64_t n_levels = t->space->arch->n_levels, n_tensors = t->space->problem->n_tensors, all = 1;
    for (uint64_t s = 1; s < n_levels && all <= rules->orders; s++) all *= n_tensors;
    bool listed = rules->stationary && all <= rules->orders;
    for (uint64_t i = 0; i < (listed ? all : rules->orders); i++) {
        uint64_t digits = i;
        for (uint64_t s = 1; s < n_levels; s++, digits /= n_tensors) {
            int drawn = (int)sx_rng_below(t->rng, n_tensors);
            set_order(t, (int)s, !rules->stationary ? -1 : listed ? (int)(digits % n_tensors) : drawn);
        }
        sx_map_normalize(t->space, t->point);
        sx_outcome outcome = sx_worker_evaluate(worker, t->point, true);
        if (outcome.reason == SX_NOT_EVALUATED) return false;
        *found = true;
    }
    return true;
}

/* Builds a tiling that reaches the shares, which fall, for the rest of the task, where that fails; false where none is
 * legal. */
static bool build(tiling *t, sx_worker *worker) {
    for (int i = 0; i < TRIES * (HALVINGS + 1); i++) {
        if (i > 0 && i % TRIES == 0) t->relief = i / TRIES < HALVINGS ? t->relief / 2 : 0;
        if (sx_worker_stopped(worker)) return false;
        if (begin(t) && fill_array(t) && grow(t)) return true;
        sx_worker_reject(worker, 1);
    }
    return sx_map_repair(t->space, t->rng, t->point);
}

/* A task: some tilings; its output is whether any was legal. */
static sx_status run_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const plan *p = input;
    sx_rng rng = sx_rng_stream(p->seed, p->rules->stream, p->first + task);
    tiling t = {.plan = p, .space = p->space, .rng = &rng, .relief = 1};
    t.point = sx_worker_scratch(worker, 0);
    t.saved = sx_worker_scratch(worker, 1);
    for (int i = 0; i < TILINGS && !sx_worker_stopped(worker); i++)
        if (!build(&t, worker) || !evaluate_orders(&t, worker, output)) break;
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
