/* Simulated annealing on any space.
 *
 * Source: the baseline of Mind Mappings (ASPLOS 2021), section 5.2 and appendix A, which is the Python
 * library simanneal with its automatic schedule. A move changes one gene; it is taken when it does not raise
 * the energy (the objective's value), and with probability exp(-rise / T) when it does. T falls exponentially
 * from tmax to tmin over the schedule's steps. The automatic schedule walks at constant temperatures: T
 * begins at the first difference there is; it is divided by 1.5 while more than 98 % of a walk's moves are
 * taken, then multiplied by 1.5 until 98 % are: that is tmax. Then it is divided by 1.5 until a walk has no
 * move that lowers the energy: that is tmin.
 *
 * What differs. The library explores before it counts; here exploring is paid from the same budget, so it may
 * take `explore` of it at most, its walks are shortened to fit (the library's 2,000 moves are the most), and
 * where the share ends first, the smallest rise seen stands for tmin. Temperatures are not rounded to two
 * figures. What a move is the paper does not say: here it is a small step of a random gene, or the gene drawn
 * anew. The steps are what the budget leaves after exploring. `scale=log` takes the logarithm of the
 * objective's value as energy, which is no longer the paper's method, but suits values that span decades.
 * Several chains may share one schedule; they move at once, so that threads help. Points of map spaces that compact points cover
 * are these, which move where they are evaluated: a task makes several moves of a chain, up to where the schedule decides
 * something.
 *
 * Complexity: one evaluation per move and chain, memory for two points per chain. */
#include "base/status.h"
#include "run/compact.h"
#include "run/navigator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEDULE, TMAX, TMIN, STEPS, EXPLORE, WALK, NUDGE, SCALE, CYCLES, CHAINS };

static const char *const schedules[] = {"auto", "fixed", NULL};
static const char *const scales[] = {"linear", "log", NULL};

static const sx_setting settings[] = {
    [SCHEDULE] = {"schedule", "schedule: temperatures found by exploring, or tmax and tmin as given", "auto",
                  0, 0, 1, true, schedules},
    [TMAX] = {"tmax", "first temperature of a fixed schedule", "25000, simanneal's", 25000, 1e-300, 1e300,
              false, NULL},
    [TMIN] = {"tmin", "last temperature of a fixed schedule", "2.5, simanneal's", 2.5, 1e-300, 1e300, false,
              NULL},
    [STEPS] = {"steps", "moves of a schedule; 0: what the budget leaves (without one: 50000)",
               "50000, simanneal's", 0, 0, 1e15, true, NULL},
    [EXPLORE] = {"explore", "maximum share of the budget for finding temperatures", NULL, 0.3, 0, 0.9, false,
                 NULL},
    [WALK] = {"walk", "maximum moves per temperature while exploring", "2000, simanneal's", 2000, 1, 1e9,
              true, NULL},
    [NUDGE] = {"nudge", "share of moves that are small steps; the others redraw a gene", NULL, 0.3, 0, 1,
               false, NULL},
    [SCALE] = {"scale", "the energy: the objective's value or its logarithm", "linear", 0, 0, 1, true,
               scales},
    [CYCLES] = {"cycles", "restarts within the budget, each from a new point", "1", 1, 1, 1e6, true, NULL},
    [CHAINS] = {"chains", "number of points annealed in parallel", "1", 1, 1, 4096, true, NULL},
};

enum { TRIES = 100, MOVES = 64 }; /* to find a legal move; of a chain in a task, at most */
static const double taken = 0.98; /* share of moves taken at tmax */
static const double ratio = 1.5;  /* of two temperatures while exploring */
enum { TEMPERATURES = 48 };       /* walks that exploring is cut to fit */

enum phase { FIRST, COOLER, HOTTER, QUENCH, ANNEAL };

/* What became of moves. */
typedef struct tally {
    double least; /* the smallest rise seen; INFINITY: none */
    uint64_t moves, accepted, improved;
} tally;

/* State of a search: this, then an energy and an outcome per chain, then the chains' points, then the
 * points they may move to, then one for scratch; of compact points, then an outcome and a point per chain. */
typedef struct state {
    sx_rng rng;
    uint64_t phase, cycle;
    double t, tmax, tmin;
    uint64_t step, steps; /* of the schedule */
    uint64_t spent, share,
        walk;     /* evaluations of exploring, the most it may have, and for each temperature */
    tally walked; /* the walk under way; but `least` is of all */
} state;

typedef struct annealer {
    sx_run *run;
    const sx_space *space;
    size_t chains, size;
    state *s;
    double *energy;
    sx_outcome *outcome;
    unsigned char *current, *next, *scratch;
    sx_compact_search *compact; /* what compact points are changed by; NULL: points are the space's */
    unsigned char *made;        /* by tasks: outcomes and compact points */
} annealer;

/* The energy of an outcome: that of an illegal one is INFINITY. */
static double energy_of(const annealer *a, const sx_outcome *outcome) {
    if (outcome->reason || sx_run_setting(a->run, SCALE) == 0) return outcome->value;
    return outcome->value > 0 ? log(outcome->value) : outcome->value;
}

/* The memory of a search, in the run's state block; false when memory is out. */
static bool register_state(annealer *a, bool *resumed) {
    size_t n = a->chains, points = (2 * n + 1) * a->size;
    if (a->compact) points += n * (sizeof *a->outcome + a->size);
    a->s =
        sx_run_state(a->run, sizeof *a->s + n * (sizeof *a->energy + sizeof *a->outcome) + points, resumed);
    if (!a->s) return false;
    a->energy = (double *)(a->s + 1);
    a->outcome = (sx_outcome *)(a->energy + n);
    a->current = (unsigned char *)(a->outcome + n);
    a->next = a->current + n * a->size;
    a->scratch = a->next + n * a->size;
    a->made = a->scratch + a->size;
    return true;
}

/* Takes over a point of the space. */
static void adopt_point(annealer *a, const void *point, unsigned char *to) {
    sx_core_rng rng = {a->compact ? sx_rng_next(&a->s->rng) : 0};
    if (a->compact)
        sx_map_compact(a->compact->space, &a->compact->core, point, &rng, (void *)to);
    else
        memcpy(to, point, a->size);
}

/* Changes of compact points: from where, by which random numbers; NULL: they are drawn. */
typedef struct proposals {
    const annealer *a;
    const unsigned char *from;
    sx_core_rng rng;
} proposals;

/* A random number from 0 to 1. */
static double draw_share(sx_core_rng *rng) {
    return (double)(sx_core_next(rng) >> 11) * 0x1p-53;
}

/* Makes a compact point one move away from another, or (from NULL) draws one, and evaluates it. */
static sx_outcome try_compact(const annealer *a, sx_worker *worker, struct sx_core_work *work,
                              sx_core_rng *rng, const void *from, sx_compact_level *to) {
    const sx_compact_search *search = a->compact;
    bool redraw = draw_share(rng) >= sx_run_setting(a->run, NUDGE);
    bool legal = from && (sx_compact_search_step(search, work, rng, redraw, TRIES, from, to) ||
                          sx_compact_search_step(search, work, rng, !redraw, TRIES, from, to));
    if (!legal) legal = sx_compact_search_draw(search, worker, work, rng, to);
    if (!legal && from) {
        memcpy(to, from, search->size);
        legal = search->engine->check(&search->core, work, to);
    }
    if (!legal) return (sx_outcome){.value = INFINITY, .reason = SX_NOT_EVALUATED};
    return sx_compact_search_evaluate(search, worker, work, to, false);
}

/* A task: makes and evaluates a compact point; its output. */
static sx_status make_compact(const void *input, size_t task, sx_worker *worker, void *output) {
    const proposals *p = input;
    struct sx_core_work *work = sx_compact_search_work(p->a->compact, worker);
    sx_core_rng rng = sx_compact_search_part(p->rng, task);
    const void *from = p->from ? p->from + task * p->a->size : NULL;
    if (work)
        *(sx_outcome *)output =
            try_compact(p->a, worker, work, &rng, from, (void *)((sx_outcome *)output + 1));
    return SX_OK;
}

/* Makes and evaluates n compact points, moves from others or (from NULL) drawn; their outcomes are the chains', and the points
 * are at `to`. Returns how many were evaluated. */
static size_t evaluate_compact(annealer *a, const unsigned char *from, unsigned char *to, size_t n) {
    const proposals p = {a, from, {sx_rng_next(&a->s->rng)}};
    size_t each = sizeof *a->outcome + a->size, done = 0;
    for (size_t c = 0; c < n; c++)
        *(sx_outcome *)(void *)(a->made + c * each) =
            (sx_outcome){.value = INFINITY, .reason = SX_NOT_EVALUATED};
    sx_run_tasks(a->run, n, make_compact, &p, a->made, each);
    for (; done < n; done++) {
        const sx_outcome *made = (const sx_outcome *)(const void *)(a->made + done * each);
        if (made->reason == SX_NOT_EVALUATED) break;
        a->outcome[done] = *made;
        memcpy(to + done * a->size, made + 1, a->size);
    }
    return done;
}

/* Evaluates the start points and gives each chain the best of those that fall to it. */
static void take_starts(annealer *a) {
    size_t n, size = a->space->point_size;
    const unsigned char *start = sx_run_starts(a->run, &n);
    for (size_t i = 0; i < n && !sx_run_stopped(a->run); i++) {
        size_t c = i % a->chains;
        sx_run_evaluate(a->run, start + i * size, 1, a->outcome);
        double energy = energy_of(a, a->outcome);
        if (!(energy < a->energy[c])) continue;
        a->energy[c] = energy;
        adopt_point(a, start + i * size, a->current + c * a->size);
    }
}

/* Gives every chain without an energy a legal point; false where there seems to be none. */
static bool draw_chains(annealer *a) {
    for (size_t c = 0; c < a->chains && !sx_run_stopped(a->run); c++) {
        if (a->energy[c] < INFINITY) continue;
        unsigned char *point = a->current + c * a->size;
        uint64_t rejected = 0;
        bool legal = a->compact ? evaluate_compact(a, NULL, point, 1) > 0
                                : sx_space_draw_legal(a->space, &a->s->rng, point, &rejected);
        sx_run_reject(a->run, rejected);
        if (!legal) return false;
        if (!a->compact) sx_run_evaluate(a->run, point, 1, a->outcome);
        a->energy[c] = energy_of(a, a->outcome);
    }
    return true;
}

/* Begins the annealing itself, over what the budget leaves to this cycle. */
static void begin_schedule(annealer *a) {
    state *s = a->s;
    uint64_t cycles = (uint64_t)sx_run_setting(a->run, CYCLES), left = sx_run_left(a->run);
    uint64_t remaining = s->cycle < cycles ? cycles - s->cycle : 1;
    s->steps = (uint64_t)sx_run_setting(a->run, STEPS);
    if (!s->steps) s->steps = left == UINT64_MAX ? 50000 : left / remaining;
    if (s->steps < 1) s->steps = 1;
    s->step = 0;
    s->phase = ANNEAL;
    s->t = s->tmax;
}

/* Begins the first cycle: start points, and exploring where that is asked for. */
static bool begin_annealing(annealer *a) {
    state *s = a->s;
    s->rng = sx_rng_stream(sx_run_seed(a->run), "anneal", 0);
    s->walked.least = INFINITY;
    for (size_t c = 0; c < a->chains; c++) a->energy[c] = INFINITY;
    take_starts(a);
    if (!draw_chains(a)) return false;
    double budget = (double)sx_run_evaluations(a->run, 50000);
    s->share = (uint64_t)(sx_run_setting(a->run, EXPLORE) * budget / sx_run_setting(a->run, CYCLES));
    s->walk = (uint64_t)sx_run_setting(a->run, WALK);
    if (s->walk > s->share / TEMPERATURES) s->walk = s->share / TEMPERATURES;
    if (s->walk < 1) s->walk = 1;
    s->phase = FIRST;
    if (sx_run_setting(a->run, SCHEDULE) == 1) {
        s->tmax = sx_run_setting(a->run, TMAX);
        s->tmin = sx_run_setting(a->run, TMIN);
        begin_schedule(a);
    }
    return true;
}

/* Begins another cycle from new points, with the temperatures of the first. */
static bool begin_again(annealer *a) {
    a->s->cycle++;
    for (size_t c = 0; c < a->chains; c++) a->energy[c] = INFINITY;
    if (!draw_chains(a)) return false;
    begin_schedule(a);
    return true;
}

/* Makes a legal point one move away: where there is none near by, any legal point, or the same again. */
static void propose_point(annealer *a, const unsigned char *from, unsigned char *to) {
    sx_rng *rng = &a->s->rng;
    bool redraw = sx_rng_double(rng) >= sx_run_setting(a->run, NUDGE);
    memcpy(to, from, a->size);
    if (sx_space_mutate(a->space, rng, -1, redraw, TRIES, to, a->scratch)) return;
    if (sx_space_mutate(a->space, rng, -1, !redraw, TRIES, to, a->scratch)) return;
    uint64_t rejected = 0;
    if (sx_space_draw_legal(a->space, rng, a->scratch, &rejected)) memcpy(to, a->scratch, a->size);
    sx_run_reject(a->run, rejected);
}

/* Metropolis: whether a move that raises the energy by that much is taken, by a random number from 0 to 1; counts it. */
static bool take_move(tally *counts, double rise, double t, double random) {
    if (rise > 0 && rise < counts->least) counts->least = rise;
    counts->moves++;
    if (!(rise < INFINITY) || (rise > 0 && exp(-rise / t) < random)) return false;
    counts->accepted++;
    counts->improved += rise < 0;
    return true;
}

/* Takes or refuses a chain's move. */
static void decide_move(annealer *a, size_t c) {
    state *s = a->s;
    double energy = energy_of(a, &a->outcome[c]), rise = energy - a->energy[c];
    if (s->phase == FIRST && rise != 0 && isfinite(rise)) {
        s->t = fabs(rise);
        s->phase = COOLER;
    }
    double random = rise > 0 && rise < INFINITY ? sx_rng_double(&s->rng) : 0;
    if (!take_move(&s->walked, rise, s->t, random)) return;
    a->energy[c] = energy;
    memcpy(a->current + c * a->size, a->next + c * a->size, a->size);
}

/* What a task has made of a chain: this, then its compact point. */
typedef struct walk {
    tally counts;
    double energy;
} walk;

/* What the tasks of a round of walks read: temperatures begin at `t` and are multiplied by `cooling`. */
typedef struct walks {
    const annealer *a;
    sx_core_rng rng;
    uint64_t moves;
    double t, cooling;
} walks;

/* A task: some moves of a chain's compact point; its output. */
static sx_status walk_compact(const void *input, size_t task, sx_worker *worker, void *output) {
    const walks *w = input;
    const annealer *a = w->a;
    struct sx_core_work *work = sx_compact_search_work(a->compact, worker);
    sx_core_rng rng = sx_compact_search_part(w->rng, task);
    walk *to = output;
    sx_compact_level *point = (void *)(to + 1), *next = sx_worker_scratch(worker, 1);
    double t = w->t;
    for (uint64_t i = 0; i < w->moves && work; i++, t *= w->cooling) {
        sx_outcome outcome = try_compact(a, worker, work, &rng, point, next);
        if (outcome.reason == SX_NOT_EVALUATED) break;
        double energy = energy_of(a, &outcome);
        if (!take_move(&to->counts, energy - to->energy, t, draw_share(&rng))) continue;
        to->energy = energy;
        memcpy(point, next, a->size);
    }
    return SX_OK;
}

/* How many moves each chain makes before the schedule decides something, MOVES at most. */
static uint64_t count_moves_ahead(const annealer *a) {
    const state *s = a->s;
    uint64_t n = s->steps - s->step;
    if (s->phase != ANNEAL) {
        n = s->walk - s->walked.moves;
        if (n > s->share - s->spent) n = s->share - s->spent;
    }
    n = (n + a->chains - 1) / a->chains;
    return n < MOVES ? n : MOVES;
}

/* Moves the compact points of all chains several times; returns how many moves were evaluated. */
static size_t walk_chains(annealer *a) {
    state *s = a->s;
    const size_t each = sizeof(walk) + a->size;
    double cooling = s->phase == ANNEAL ? pow(s->tmin / s->tmax, (double)a->chains / (double)s->steps) : 1;
    const walks w = {a, {sx_rng_next(&s->rng)}, count_moves_ahead(a), s->t, cooling};
    size_t done = 0;
    for (size_t c = 0; c < a->chains; c++) {
        walk *to = (walk *)(void *)(a->made + c * each);
        *to = (walk){{.least = s->walked.least}, a->energy[c]};
        memcpy(to + 1, a->current + c * a->size, a->size);
    }
    sx_run_tasks(a->run, a->chains, walk_compact, &w, a->made, each);
    for (size_t c = 0; c < a->chains; c++) {
        const walk *made = (const walk *)(const void *)(a->made + c * each);
        a->energy[c] = made->energy;
        memcpy(a->current + c * a->size, made + 1, a->size);
        s->walked.least = fmin(s->walked.least, made->counts.least);
        s->walked.moves += made->counts.moves;
        s->walked.accepted += made->counts.accepted;
        s->walked.improved += made->counts.improved;
        done += made->counts.moves;
    }
    return done;
}

_Static_assert(sizeof(walk) <= sizeof(sx_outcome), "a walk takes the place of an outcome");

/* What the walk at one temperature tells: the next temperature, or that tmax or tmin is found. */
static void end_temperature(annealer *a) {
    state *s = a->s;
    double share = (double)s->walked.accepted / (double)s->walked.moves;
    if (s->phase == COOLER && share <= taken) s->phase = HOTTER;
    if (s->phase == HOTTER && share >= taken) {
        s->phase = QUENCH;
        s->tmax = s->t;
    }
    bool frozen = s->phase == QUENCH && !s->walked.improved;
    s->walked = (tally){.least = s->walked.least};
    if (frozen) {
        s->tmin = s->t;
        begin_schedule(a);
    } else {
        s->t = s->phase == HOTTER ? s->t * ratio : s->t / ratio;
    }
}

/* Ends exploring where its share is spent. */
static void give_up_exploring(annealer *a) {
    state *s = a->s;
    if (s->phase < QUENCH) s->tmax = s->t > 0 ? s->t : 1;
    s->tmin = s->walked.least < s->t ? s->walked.least : s->t;
    if (!(s->tmin > 0)) s->tmin = s->tmax;
    if (s->tmin > s->tmax) s->tmin = s->tmax;
    begin_schedule(a);
}

/* The temperature after n moves, and what the schedule's phase is. */
static void set_temperature(annealer *a, size_t n) {
    state *s = a->s;
    if (s->phase == ANNEAL) {
        s->step += n;
        s->t = s->tmax * exp(-log(s->tmax / s->tmin) * ((double)s->step / (double)s->steps));
        return;
    }
    s->spent += n;
    if (s->spent >= s->share)
        give_up_exploring(a);
    else if (s->phase != FIRST && s->walked.moves >= s->walk)
        end_temperature(a);
}

/* The chain with the highest energy goes on from what other navigators have found. */
static void take_news(annealer *a) {
    sx_outcome outcome;
    size_t highest = 0;
    const void *point = sx_run_news(a->run, &outcome);
    if (!point) return;
    for (size_t c = 1; c < a->chains; c++)
        if (a->energy[c] > a->energy[highest]) highest = c;
    a->energy[highest] = energy_of(a, &outcome);
    adopt_point(a, point, a->current + highest * a->size);
}

/* Whether the state is one that a search may have. */
static bool state_holds(const annealer *a) {
    if (!sx_rng_holds(&a->s->rng) || a->s->phase > ANNEAL) return false;
    for (size_t c = 0; c < a->chains && a->compact; c++)
        if (!sx_map_compact_holds(&a->compact->core, (const void *)(a->current + c * a->size))) return false;
    return a->compact || sx_run_holds(a->run, a->current, a->chains);
}

/* Moves all chains once; returns how many moves were evaluated. */
static size_t move_chains(annealer *a) {
    size_t n = 0;
    for (size_t c = 0; c < a->chains && !a->compact && !sx_run_stopped(a->run); c++)
        propose_point(a, a->current + c * a->size, a->next + c * a->size);
    if (a->compact)
        n = evaluate_compact(a, a->current, a->next, a->chains);
    else if (!sx_run_stopped(a->run))
        n = sx_run_evaluate(a->run, a->next, a->chains, a->outcome);
    for (size_t c = 0; c < n; c++) decide_move(a, c);
    return n;
}

/* Anneals cycle after cycle. */
static sx_status anneal_chains(annealer *a) {
    bool resumed;
    if (!register_state(a, &resumed)) return sx_error_memory();
    if (resumed && !state_holds(a)) return sx_run_damaged(a->run);
    if (!resumed && !begin_annealing(a)) return SX_OK;
    take_news(a);
    while (sx_run_continue(a->run)) {
        if (a->s->phase == ANNEAL && a->s->step >= a->s->steps && !begin_again(a)) break;
        size_t n = a->compact && a->s->phase != FIRST ? walk_chains(a) : move_chains(a);
        if (n > 0) set_temperature(a, n);
    }
    return SX_OK;
}

static sx_status search_by_anneal(sx_run *run) {
    const sx_space *space = sx_run_space(run);
    annealer a = {.run = run, .space = space, .size = space->point_size};
    a.chains = (size_t)sx_run_setting(run, CHAINS);
    if (sx_run_setting(run, TMIN) > sx_run_setting(run, TMAX))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "tmin (%g) is above tmax (%g)",
                                          sx_run_setting(run, TMIN), sx_run_setting(run, TMAX)),
                             "temperatures fall from tmax to tmin");
    SX_TRY(sx_compact_search_new(run, SX_COMPACT_DRAWS, &a.compact));
    if (a.compact) a.size = a.compact->size;
    sx_status status = anneal_chains(&a);
    sx_compact_search_free(a.compact);
    return status;
}

SX_NAVIGATOR(anneal) = {
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_anneal,
};
