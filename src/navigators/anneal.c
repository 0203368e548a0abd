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
 * are these, which move where they are evaluated.
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

enum { TRIES = 100 };             /* to find a legal move */
static const double taken = 0.98; /* share of moves taken at tmax */
static const double ratio = 1.5;  /* of two temperatures while exploring */
enum { TEMPERATURES = 48 };       /* walks that exploring is cut to fit */

enum phase { FIRST, COOLER, HOTTER, QUENCH, ANNEAL };

/* State of a search: this, then an energy and an outcome per chain, then the chains' points, then the
 * points they may move to, then one for scratch; of compact points, then an outcome and a point per chain. */
typedef struct state {
    sx_rng rng;
    uint64_t phase, cycle;
    double t, tmax, tmin;
    double least;         /* the smallest rise seen; INFINITY: none */
    uint64_t step, steps; /* of the schedule */
    uint64_t spent, share,
        walk; /* evaluations of exploring, the most it may have, and for each temperature */
    uint64_t moves, accepted, improved; /* of the walk under way */
} state;

typedef struct annealer {
    sx_run *run;
    const sx_space *space;
    size_t chains, size;
    state *s;
    double *energy;
    sx_outcome *outcome;
    unsigned char *current, *next, *scratch;
    sx_compact_search *compact; /* what compact points are changed by, */
    sx_core_splits *splits;     /* NULL: points are the space's */
    unsigned char *made;        /* by tasks: outcomes and compact points */
} annealer;

/* The energy of an outcome: that of an illegal one is INFINITY. */
static double energy_of(const annealer *a, const sx_outcome *outcome) {
    if (outcome->reason || sx_run_setting(a->run, SCALE) == 0) return outcome->value;
    return outcome->value > 0 ? log(outcome->value) : outcome->value;
}

/* The memory of a search, in the run's state block; false when memory is out. */
static bool remember(annealer *a, bool *resumed) {
    size_t n = a->chains, points = (2 * n + 1) * a->size;
    if (a->splits) points += n * (sizeof *a->outcome + a->size);
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
    sx_core_rng rng = {a->splits ? sx_rng_next(&a->s->rng) : 0};
    if (a->splits)
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

/* A task: makes a compact point one move away from a chain's, or draws one, and evaluates it; its output. */
static sx_status make_compact(const void *input, size_t task, sx_worker *worker, void *output) {
    const proposals *p = input;
    const sx_compact_search *search = p->a->compact;
    struct sx_core_work *work = sx_compact_search_work(search, worker);
    sx_core_rng rng = sx_compact_search_part(p->rng, task);
    sx_compact_level *to = (void *)((sx_outcome *)output + 1);
    const void *from = p->from ? p->from + task * p->a->size : NULL;
    if (!work) return SX_OK;
    double nudge = sx_run_setting(p->a->run, NUDGE);
    bool redraw = (double)(sx_core_next(&rng) >> 11) * 0x1p-53 >= nudge;
    bool legal = from && (sx_compact_search_step(search, p->a->splits, work, &rng, redraw, TRIES, from, to) ||
                          sx_compact_search_step(search, p->a->splits, work, &rng, !redraw, TRIES, from, to));
    if (!legal) legal = sx_compact_search_draw(search, p->a->splits, worker, work, &rng, to);
    if (!legal && from) {
        memcpy(to, from, search->size);
        legal = search->engine->check(&search->core, work, to);
    }
    if (legal) *(sx_outcome *)output = sx_compact_search_evaluate(search, worker, work, to, false);
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
        bool legal = a->splits ? evaluate_compact(a, NULL, point, 1) > 0
                               : sx_space_draw_legal(a->space, &a->s->rng, point, &rejected);
        sx_run_reject(a->run, rejected);
        if (!legal) return false;
        if (!a->splits) sx_run_evaluate(a->run, point, 1, a->outcome);
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
    s->least = INFINITY;
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
static void propose(annealer *a, const unsigned char *from, unsigned char *to) {
    sx_rng *rng = &a->s->rng;
    bool redraw = sx_rng_double(rng) >= sx_run_setting(a->run, NUDGE);
    memcpy(to, from, a->size);
    if (sx_space_mutate(a->space, rng, -1, redraw, TRIES, to, a->scratch)) return;
    if (sx_space_mutate(a->space, rng, -1, !redraw, TRIES, to, a->scratch)) return;
    uint64_t rejected = 0;
    if (sx_space_draw_legal(a->space, rng, a->scratch, &rejected)) memcpy(to, a->scratch, a->size);
    sx_run_reject(a->run, rejected);
}

/* Metropolis: takes or refuses a chain's move, and counts. */
static void decide_move(annealer *a, size_t c) {
    state *s = a->s;
    double energy = energy_of(a, &a->outcome[c]), rise = energy - a->energy[c];
    if (s->phase == FIRST && rise != 0 && isfinite(rise)) {
        s->t = fabs(rise);
        s->phase = COOLER;
    }
    if (rise > 0 && rise < s->least) s->least = rise;
    s->moves++;
    if (!(rise < INFINITY)) return;
    if (rise > 0 && exp(-rise / s->t) < sx_rng_double(&s->rng)) return;
    s->accepted++;
    s->improved += rise < 0;
    a->energy[c] = energy;
    memcpy(a->current + c * a->size, a->next + c * a->size, a->size);
}

/* What the walk at one temperature tells: the next temperature, or that tmax or tmin is found. */
static void learn(annealer *a) {
    state *s = a->s;
    double share = (double)s->accepted / (double)s->moves;
    if (s->phase == COOLER && share <= taken) s->phase = HOTTER;
    if (s->phase == HOTTER && share >= taken) {
        s->phase = QUENCH;
        s->tmax = s->t;
    }
    bool frozen = s->phase == QUENCH && !s->improved;
    s->moves = s->accepted = s->improved = 0;
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
    s->tmin = s->least < s->t ? s->least : s->t;
    if (!(s->tmin > 0)) s->tmin = s->tmax;
    if (s->tmin > s->tmax) s->tmin = s->tmax;
    begin_schedule(a);
}

/* The temperature of the next moves, and what the schedule's phase is. */
static void cool(annealer *a) {
    state *s = a->s;
    if (s->phase == ANNEAL) {
        s->step += a->chains;
        s->t = s->tmax * exp(-log(s->tmax / s->tmin) * ((double)s->step / (double)s->steps));
        return;
    }
    s->spent += a->chains;
    if (s->spent >= s->share)
        give_up_exploring(a);
    else if (s->phase != FIRST && s->moves >= s->walk)
        learn(a);
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
    for (size_t c = 0; c < a->chains && a->splits; c++)
        if (!sx_map_compact_holds(&a->compact->core, (const void *)(a->current + c * a->size))) return false;
    return a->splits || sx_run_holds(a->run, a->current, a->chains);
}

/* Moves all chains once; returns how many moves were evaluated. */
static size_t move_chains(annealer *a) {
    if (a->splits) return evaluate_compact(a, a->current, a->next, a->chains);
    for (size_t c = 0; c < a->chains && !sx_run_stopped(a->run); c++)
        propose(a, a->current + c * a->size, a->next + c * a->size);
    return sx_run_stopped(a->run) ? 0 : sx_run_evaluate(a->run, a->next, a->chains, a->outcome);
}

/* Anneals cycle after cycle. */
static sx_status anneal_chains(annealer *a) {
    bool resumed;
    if (!remember(a, &resumed)) return sx_error_memory();
    if (resumed && !state_holds(a)) return sx_run_damaged(a->run);
    if (!resumed && !begin_annealing(a)) return SX_OK;
    take_news(a);
    while (sx_run_continue(a->run)) {
        if (a->s->phase == ANNEAL && a->s->step >= a->s->steps && !begin_again(a)) break;
        size_t n = move_chains(a);
        if (n == 0) continue;
        for (size_t c = 0; c < n; c++) decide_move(a, c);
        cool(a);
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
    SX_TRY(sx_compact_search_new(run, &a.compact));
    sx_status status = a.compact ? sx_map_core_splits(a.compact->space, &a.compact->core, &a.splits) : SX_OK;
    if (a.splits) a.size = a.compact->size;
    if (!status) status = anneal_chains(&a);
    free(a.splits);
    free(a.compact);
    return status;
}

SX_NAVIGATOR(anneal) = {
    .source = "Mind Mappings (ASPLOS 2021), section 5.2 and appendix A; simanneal",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_anneal,
};
