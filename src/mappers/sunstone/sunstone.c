/* Sunstone: algebraic pruning of orders, unrollings and tiles, and alpha-beta between memories.
 *
 * Source: Sunstone (thesis 2022; ISPASS 2023), chapter 4. The parts: orders.c, unroll.c,
 * tiles.c, and levels.c for the walk and the cost of partial mappings. Each can be switched
 * off to see what it is worth (section 6.5).
 *
 * What differs, beside what these files say. All levels keep all that they may. Where constraints leave none
 * of the mappings that Sunstone would make, some are drawn. plus=on recovers known losses, starting from
 * the result of plain Sunstone, by these phases:
 *   bypass   toggles bypass of one tensor at one level, takes the best such change, until none improves
 *   wide     also unrolls dimensions of any tensors together, fills fan-outs as far as possible even where an
 *            exact fill exists, and tries non-maximal tiles of the inner memories where bandwidth limits
 *            the maximal ones
 *   uneven   treats each level as a memory of its own, where levels hold different tensors side by side
 *   improve  steps to neighbours of the best point, until none improves
 *
 * Complexity: see levels.c; typically some thousand evaluations, and as many costs of partial
 * mappings, for a convolution on three memories. */
#include "base/status.h"
#include "mappers/sunstone/levels.h"
#include "mappers/tiling.h"
#include "mapspace/map_parts.h"
#include "run/navigator.h"

#include <string.h>

enum { ORDER, UNROLLING, TILES, ALPHABETA, PLUS, LIMIT };

static const char *const switches[] = {"off", "on", NULL};

static const sx_setting settings[] = {
    [ORDER] = {"order", "try only the loop orders that the trie keeps", "on", 1, 0, 1, true, switches},
    [UNROLLING] = {"unrolling", "unroll only what the unrolling rules allow", "on", 1, 0, 1, true, switches},
    [TILES] = {"tiles", "try only maximal tiles", "on", 1, 0, 1, true, switches},
    [ALPHABETA] = {"alphabeta", "prune partial mappings that cost more than the incumbent", "on", 1, 0, 1,
                   true, switches},
    [PLUS] = {"plus", "search beyond the paper's rules: mixed unrollings, smaller tiles, neighbours", "off",
              0, 0, 1, true, switches},
    [LIMIT] = {"limit", "maximum partial mappings kept at once", NULL, 1e6, 1, 1e9, true, NULL},
};

enum {
    NEIGHBOURS = 16, /* of a task */
    DRAWS = 16,      /* where nothing else is found */
};

enum phase { PLAIN, BYPASS, WIDE, UNEVEN, DRAW, IMPROVE, DONE };

/* State of a search. */
typedef struct state {
    uint64_t phase;
    uint64_t next;                 /* item, or neighbour of the best */
    double incumbent;              /* the best when the phase, or its part, began */
    uint64_t flip;                 /* the choice of what to keep that is tried */
    uint64_t better;               /* whether one of them was */
    uint8_t bypass[SX_MAX_LEVELS]; /* what they begin from */
} state;

/* What the best point does not keep though it could. */
static void read_bypass(sx_run *run, uint8_t *bypass) {
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    const void *best = sx_run_incumbent(run, NULL);
    for (int s = 0; best && s < space->arch->n_levels; s++)
        bypass[s] = space->free_keep[s] & (uint8_t)~sx_map_point(best)->level[s].keep;
}

/* Begins a part of a phase. */
static void begin_part(sx_run *run, state *s) {
    s->next = 0;
    sx_run_incumbent(run, &s->incumbent);
}

static void begin_phase(sx_run *run, state *s, enum phase phase) {
    s->phase = phase;
    s->flip = s->better = 0;
    read_bypass(run, s->bypass);
    begin_part(run, s);
}

/* Searches by the rules of a plan. */
static sx_status walk_items(sx_run *run, const sx_sunstone_switches *on, state *s) {
    sx_sunstone plan;
    SX_TRY(sx_sunstone_init(sx_map_space_of(sx_run_space(run)), sx_run_objective(run), on, &plan));
    plan.incumbent = s->incumbent;
    sx_status status = sx_sunstone_begin(&plan, run);
    if (!status) status = sx_sunstone_walk(&plan, run, &s->next);
    sx_sunstone_fini(&plan);
    return status;
}

/* How many choices of what to keep there are. */
static uint64_t count_flips(const sx_map_space *space) {
    uint64_t n = 0;
    for (int s = 0; s < space->arch->n_levels; s++) n += (uint64_t)__builtin_popcount(space->free_keep[s]);
    return n;
}

/* Changes choice number `index` of what to keep; past the last one, none. */
static void flip_keep(const sx_map_space *space, uint64_t index, uint8_t *bypass) {
    for (int s = 0; s < space->arch->n_levels; s++)
        for (unsigned more = space->free_keep[s]; more; more &= more - 1)
            if (index-- == 0) bypass[s] ^= (uint8_t)(more & -more);
}

/* Keeps what the best point keeps, then one tensor at a level more or less than that, one after the other;
 * begins again from the best of these until none is better. */
static sx_status walk_bypasses(sx_run *run, sx_sunstone_switches on, state *s) {
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    uint64_t n = count_flips(space) + 1;
    while (s->flip < n && !sx_run_stopped(run)) {
        memcpy(on.bypass, s->bypass, sizeof on.bypass);
        flip_keep(space, (s->flip + n - 1) % n, on.bypass);
        SX_TRY(walk_items(run, &on, s));
        if (sx_run_stopped(run)) break;
        double before = s->incumbent;
        begin_part(run, s);
        s->better |= s->incumbent < before;
        if (++s->flip < n || !s->better) continue;
        read_bypass(run, s->bypass);
        s->flip = s->better = 0;
    }
    return SX_OK;
}

/* Some neighbours of a point. */
typedef struct neighbours {
    size_t size, n;
    unsigned char *point;
} neighbours;

/* A task: evaluates its part of a batch of neighbours. */
static sx_status evaluate_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const neighbours *c = input;
    (void)output;
    for (size_t i = task * NEIGHBOURS; i < (task + 1) * NEIGHBOURS && i < c->n; i++)
        sx_worker_evaluate(worker, c->point + i * c->size, true);
    return SX_OK;
}

/* Collects up to `room` legal neighbours from number *next on, which moves on. */
static void gather_neighbours(const sx_map_space *space, const void *point, uint64_t *next, size_t room,
                              neighbours *c) {
    sx_map_walk walk = {.space = space, .point = point};
    c->n = 0;
    for (uint64_t i = 0; c->n < room; i++) {
        void *to = c->point + c->n * c->size;
        if (!sx_map_walk_next(&walk, to)) break;
        if (i < *next) continue;
        *next = i + 1;
        if (space->space.type->check(&space->space, to) == 0) c->n++;
    }
}

/* Goes from the best point to better neighbours until there is none. */
static sx_status improve_best(sx_run *run, state *s) {
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    enum { ROOM = 16 * NEIGHBOURS };
    size_t size = space->space.point_size;
    unsigned char *room = malloc((ROOM + 1) * size), *here = room;
    if (!room) return sx_error_memory();
    neighbours c = {.size = size, .point = room + size};
    while (sx_run_incumbent(run, NULL) && sx_run_continue(run)) {
        memcpy(here, sx_run_incumbent(run, NULL), size);
        gather_neighbours(space, here, &s->next, ROOM, &c);
        if (c.n == 0) break;
        sx_run_tasks(run, (c.n + NEIGHBOURS - 1) / NEIGHBOURS, evaluate_task, &c, NULL, 0);
        if (memcmp(here, sx_run_incumbent(run, NULL), size) != 0) s->next = 0;
    }
    free(room);
    return SX_OK;
}

/* Draws points where constraints leave nothing of what the search would make. */
static sx_status draw_some(sx_run *run, state *s) {
    void *point = malloc(sx_run_space(run)->point_size);
    if (!point) return sx_error_memory();
    for (; s->next < DRAWS && !sx_run_incumbent(run, NULL) && sx_run_continue(run); s->next++)
        (void)sx_tiling_rescue(run, "sunstone.draw", s->next, point);
    free(point);
    return SX_OK;
}

/* Goes through one phase, or on with it. */
static sx_status step_level(sx_run *run, sx_sunstone_switches on, state *s) {
    enum phase phase = (enum phase)s->phase;
    on.mixed = on.smaller = phase == WIDE || phase == UNEVEN;
    on.uneven = phase == UNEVEN;
    switch (phase) {
    case PLAIN:
        return walk_items(run, &on, s);
    case BYPASS:
    case WIDE:
        return walk_bypasses(run, on, s);
    case UNEVEN:
        if (!sx_sunstone_uneven(sx_map_space_of(sx_run_space(run)))) return SX_OK;
        return walk_bypasses(run, on, s);
    case DRAW:
        return draw_some(run, s);
    case IMPROVE:
        return improve_best(run, s);
    case DONE:
        break;
    }
    return SX_OK;
}

/* The phase after one. */
static enum phase next_phase(enum phase now, bool plus) {
    if (!plus && now == PLAIN) return DRAW;
    if (!plus && now == DRAW) return DONE;
    return (enum phase)(now + 1);
}

/* Whether the state is one that a search may have. */
static bool state_holds(const sx_run *run, const state *s) {
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    for (int i = 0; i < SX_MAX_LEVELS; i++)
        if (s->bypass[i] & ~(i < space->arch->n_levels ? space->free_keep[i] : 0)) return false;
    return s->phase <= DONE && s->flip <= count_flips(space) + 1 && s->better <= 1;
}

static sx_status search_by_sunstone(sx_run *run) {
    const sx_sunstone_switches on = {.order = sx_run_setting(run, ORDER) > 0,
                                     .unrolling = sx_run_setting(run, UNROLLING) > 0,
                                     .tiles = sx_run_setting(run, TILES) > 0,
                                     .alphabeta = sx_run_setting(run, ALPHABETA) > 0,
                                     .limit = sx_run_setting(run, LIMIT)};
    bool plus = sx_run_setting(run, PLUS) > 0, resumed;
    state *s = sx_run_state(run, sizeof *s, &resumed);
    if (!s) return sx_error_memory();
    if (resumed && !state_holds(run, s)) return sx_run_damaged(run);
    if (!resumed) {
        sx_run_evaluate_starts(run, 0);
        begin_phase(run, s, PLAIN);
    }
    while (s->phase != DONE && sx_run_continue(run)) {
        SX_TRY(step_level(run, on, s));
        if (sx_run_stopped(run)) continue;
        begin_phase(run, s, next_phase((enum phase)s->phase, plus));
    }
    return SX_OK;
}

SX_NAVIGATOR(sunstone) = {
    .space = "map",
    .model = "map",
    .complete = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_sunstone,
};
