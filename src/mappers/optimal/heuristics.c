/* Primal heuristics beside the proof of the mapper `optimal`, called as parts of the search.
 *
 * Gamma has evaluations before anything else, and then, up to ALIKE, as many as take about as long as the proof has taken;
 * later fewer, up to a limit. A limit of time changes none of that for UNTIMED_STEPS of the proof and UNTIMED_SHARE of the
 * time, so that a proof within reach takes no longer than without it. From then on, and from the beginning where the first
 * bounds take more than UNTIMED_SHARE, Gamma has TIME_SHARE of the time, by the clock, LATER_TIME_SHARE after SX_GAMMA_ALONE
 * evaluations, and STALE_TIME_SHARE once the last half of the run's evaluations has hardly improved on the best; after these
 * SX_GAMMA_ALONE no call is longer than a quarter of all before it. With remainders, after a search of tiles that divide, it
 * has FOLLOWING_TIME_SHARE from the beginning, and Sunstone nothing. Its calls go on where the last one ended
 * (mappers/gamma/rounds.c). What the proof is about to do in one go, a bound of every way to spread the loops, counts
 * beforehand. A run with few evaluations has its bounds before Gamma takes the last of them.
 *
 * Where time is short (below 5 s), Gamma has a generation before a long list, so that there is an answer; then Sunstone
 * with everything on has EARLY_SHARE of it at most once the search no longer does what it does without a limit; then Gamma
 * has EARLY_GAMMA_SHARE of the rest, and whatever improves on the best is polished (polish.c). Where time alone is limited
 * but not short, the best is polished as late, and once the proof has taken LONG_STEPS. Otherwise Sunstone comes next if
 * there are few ways to spread loops, or once the proof takes long. Descents by random moves take their place where these
 * are switched off or find nothing, and where several best mappings are wanted: then every point is made the one that
 * stands for all that no cost tells from it, as it would otherwise count twice. */
#include "mappers/optimal/heuristics.h"

#include "base/status.h"
#include "mappers/gamma/rounds.h"
#include "mappers/optimal/polish.h"
#include "mappers/optimal/witness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOGETHER = 8,
    FEW_MOVES = 20,
    FIRST_GAMMA = 2000,
    GENERATION = 100,          /* of Gamma */
    SLICE = 1000,              /* evaluations of Gamma in a row, at least */
    STEPS_PER_EVALUATION = 50, /* of the proof, in the time of one of Gamma */
    ALIKE = 20000,             /* evaluations of Gamma until the proof has more time than it */
    LATER_STEPS_PER_EVALUATION = 1000,
    SUNSTONE_STEPS = 16,       /* the same of Sunstone */
    LATE_STEPS = 10000000,     /* from here on a proof is long, */
    LONG_STEPS = 2000000,      /* and from here on where time alone is limited */
    UNTIMED_STEPS = 150000000, /* up to here a limit of time changes nothing; `auto` has as many without */
    MOST_SUNSTONE = 1500000,   /* evaluations of it in a long proof */
};

static const double UNTIMED_SHARE = 0.5; /* of the time, in which its limit changes nothing */
/* Of Gamma, where time is limited: first, later, and once the best mapping is old. */
static const double TIME_SHARE = 2.0 / 3, LATER_TIME_SHARE = 0.5, STALE_TIME_SHARE = 0.1;
static const double FOLLOWING_TIME_SHARE = 0.25; /* with remainders, after tiles that divide */
/* Where time is short: of Sunstone, of the time that is left, and of Gamma, of what is left then. */
static const double EARLY_SHARE = 0.5, EARLY_GAMMA_SHARE = 0.4;
static const double SUNSTONE_SHARE = 0.25; /* of Sunstone, of the time that is left */
static const double STALE = 0.003;         /* relative improvement that is hardly one */
static const double STEP_SECONDS = 1e-7;   /* of the proof, about */

/* What tasks read. */
typedef struct walks {
    const sx_heuristics *start;
    uint64_t from, moves;
} walks;

/* Evaluates a point, or its canonical equivalent; INFINITY if that is not legal. */
static sx_outcome try_point(const sx_heuristics *start, void *point, sx_worker *worker) {
    sx_status failure = SX_OK;
    bool several = sx_run_k_best(start->run) > 1;
    bool normal = !several || sx_point_canonical(start->space, start->choices, point, &failure);
    if (failure) sx_worker_fail(worker, failure);
    if (!normal) return (sx_outcome){.value = __builtin_inf(), .reason = 1};
    return sx_worker_evaluate(worker, point, false);
}

/* A task: a descent by random moves. */
static sx_status run_walk(const void *input, size_t task, sx_worker *worker, void *output) {
    const walks *w = input;
    (void)output;
    const sx_space *space = &w->start->space->space;
    sx_rng rng = sx_rng_stream(sx_run_seed(w->start->run), "optimal.descent", w->from + task);
    void *now = sx_worker_scratch(worker, 0), *next = sx_worker_scratch(worker, 1);
    uint64_t rejected = 0;
    bool drawn = sx_space_draw_legal(space, &rng, now, &rejected);
    sx_worker_reject(worker, rejected);
    if (!drawn) return SX_OK;
    sx_outcome best = try_point(w->start, now, worker);
    for (uint64_t i = 0; i < w->moves && best.reason != SX_NOT_EVALUATED && sx_worker_goes_on(worker); i++) {
        memcpy(next, now, space->point_size);
        if (!sx_space_mutate(space, &rng, -1, sx_rng_below(&rng, 4) == 0, 20, next,
                             sx_worker_scratch(worker, 2)))
            continue;
        sx_outcome outcome = try_point(w->start, next, worker);
        if (outcome.reason == SX_NOT_EVALUATED) break;
        if (outcome.reason != 0 || outcome.value > best.value) continue;
        best = outcome;
        memcpy(now, next, space->point_size);
    }
    return SX_OK;
}

/* Evaluates the start points. */
static sx_status evaluate_starts(const sx_heuristics *start) {
    size_t n, size = start->space->space.point_size;
    const unsigned char *given = sx_run_starts(start->run, &n);
    if (sx_run_k_best(start->run) == 1) {
        sx_run_evaluate_starts(start->run, 0);
        return SX_OK;
    }
    void *point = malloc(size);
    sx_outcome outcome;
    sx_status failure = point ? SX_OK : sx_error_memory();
    for (size_t i = 0; i < n && !failure; i++) {
        memcpy(point, given + i * size, size);
        if (sx_point_canonical(start->space, start->choices, point, &failure))
            sx_run_evaluate(start->run, point, 1, &outcome);
    }
    free(point);
    return failure;
}

/* Whether Gamma has a part in it. */
static bool has_gamma(const sx_heuristics *start) {
    return start->gamma > 0 && sx_run_k_best(start->run) == 1;
}

/* Whether Gamma has had its time alone, and the last half of the evaluations has hardly improved on the best. */
static bool is_stale(const sx_run *run) {
    const uint64_t half = sx_run_result(run).evaluations / 2;
    double then = INFINITY, now;
    sx_trace_point t;
    if (sx_run_called_on(run) < SX_GAMMA_ALONE || !sx_run_incumbent(run, &now)) return false;
    for (size_t i = 0; sx_run_trace(run, i, &t) && t.evaluations <= half; i++) then = t.value;
    return then - now <= STALE * fabs(now);
}

/* Whether the first bounds alone take more of a limited time than a proof within reach. */
static bool is_scarce(const sx_heuristics *start) {
    const double time = sx_run_time(start->run);
    return time > 0 && (double)start->likely * STEP_SECONDS > UNTIMED_SHARE * time;
}

/* Whether the search does after a given number of steps of the proof what it does without a limit of time. */
static bool is_untimed(const sx_heuristics *start, uint64_t steps) {
    const double time = sx_run_time(start->run);
    if (time <= 0) return true;
    if (is_scarce(start)) return false;
    return steps < UNTIMED_STEPS && sx_run_seconds(start->run) < UNTIMED_SHARE * time;
}

/* Whether the search is one of remainders that follows one of tiles that divide: it begins from the answer of that, and
 * Gamma and Sunstone have had their time there. */
static bool follows_dividing(const sx_heuristics *start) {
    return start->space->options.remainders && start->space->options.dividing > 0;
}

/* The evaluations that Gamma should have had after a given number of steps of the proof. */
static uint64_t due_evaluations(const sx_heuristics *start, const sx_heuristics_state *at, uint64_t steps) {
    bool timed = !is_untimed(start, steps), stale = is_stale(start->run);
    uint64_t slow = sx_gamma_slowness(start->space), most = start->gamma / slow;
    uint64_t all = steps + at->other, wish = all / STEPS_PER_EVALUATION;
    uint64_t later = ALIKE + all / LATER_STEPS_PER_EVALUATION;
    if ((!timed || stale) && wish > later) wish = later;
    wish = (FIRST_GAMMA + wish) / slow;
    uint64_t half = sx_run_left(start->run) < UINT64_MAX ? sx_run_result(start->run).evaluations / 2 : 0;
    if (wish < half) wish = half;
    if (!timed) return wish < most ? wish : most;
    uint64_t had = sx_run_called_on(start->run);
    double share = had < SX_GAMMA_ALONE ? TIME_SHARE : stale ? STALE_TIME_SHARE : LATER_TIME_SHARE;
    if (follows_dividing(start)) share = is_stale(start->run) ? STALE_TIME_SHARE : FOLLOWING_TIME_SHARE;
    uint64_t clock = had + sx_run_called_behind(start->run, share);
    if (had < UINT64_MAX && wish < clock) wish = clock;
    uint64_t alone = SX_GAMMA_ALONE / slow, longest = had > alone ? had : alone;
    if (had >= SX_GAMMA_ALONE)
        longest = had / 4;
    else if (at->stage == SX_OPTIMAL_STARTS)
        return wish;
    return had < UINT64_MAX && wish > had + longest ? had + longest : wish;
}

/* Calls Sunstone, or goes on with it: with half of the evaluations that are left, and a share of the time. */
static sx_status call_sunstone(const sx_heuristics *start, sx_heuristics_state *at, uint64_t most,
                               double share) {
    uint64_t left = sx_run_left(start->run), used = sx_run_result(start->run).evaluations;
    if (!at->until) {
        at->from = used;
        if (left < UINT64_MAX && left / 2 < most) most = left / 2;
        at->until = most < UINT64_MAX ? used + most + 1 : UINT64_MAX;
    }
    sx_status status = sx_run_call(start->run, "sunstone:plus=on", at->until, share);
    if (status && status->code != SX_ERR_LIMIT) return status;
    sx_status_free(status);
    if (sx_run_stopped(start->run)) return SX_OK;
    at->other += (sx_run_result(start->run).evaluations - at->from) * SUNSTONE_STEPS;
    at->until = 0;
    return SX_OK;
}

/* Descends by random moves, as often as is asked for; unless `all`, only a few moves. */
static void walk_randomly(const sx_heuristics *start, sx_heuristics_state *at, bool all) {
    walks few = {start, start->walks, FEW_MOVES};
    if (!all && !sx_run_incumbent(start->run, NULL)) sx_run_tasks(start->run, 1, run_walk, &few, NULL, 0);
    if (!all) return;
    while (at->walks < start->walks && sx_run_continue(start->run)) {
        uint64_t left = start->walks - at->walks, n = left < TOGETHER ? left : TOGETHER;
        walks w = {start, at->walks, start->moves / sx_gamma_slowness(start->space)};
        sx_run_tasks(start->run, n, run_walk, &w, NULL, 0);
        if (!sx_run_stopped(start->run)) at->walks += n;
    }
}

/* Whether Sunstone and Gamma are called because time is short: once, where the search no longer does what it does without
 * a limit. A call that was interrupted goes on first, whatever the clock says now. */
static bool is_hurry_due(const sx_heuristics *start, const sx_heuristics_state *at, uint64_t steps) {
    if (sx_run_resuming(start->run)) return at->until > 0 && at->stage < SX_OPTIMAL_LISTING;
    return sx_run_hurried(start->run) && has_gamma(start) && !at->early && !is_untimed(start, steps);
}

/* Where time is short: Sunstone and Gamma. */
static sx_status hurry_start(const sx_heuristics *start, sx_heuristics_state *at, uint64_t steps) {
    if (!is_hurry_due(start, at, steps)) return SX_OK;
    if (start->sunstone > 0 && at->stage < SX_OPTIMAL_ALL)
        SX_TRY(call_sunstone(start, at, MOST_SUNSTONE, EARLY_SHARE));
    if (!sx_run_continue(start->run)) return SX_OK;
    at->early = 1;
    return sx_gamma_go_on(start->run, SX_GAMMA_ALONE / sx_gamma_slowness(start->space), EARLY_GAMMA_SHARE);
}

sx_status sx_heuristics_hurry(const sx_heuristics *start) {
    if (!sx_run_hurried(start->run) || !has_gamma(start) || sx_run_incumbent(start->run, NULL)) return SX_OK;
    return sx_gamma_go_on(start->run, GENERATION, 0);
}

/* Gamma before the bounds. Where these take too much of the time it has most of what is left first. */
static sx_status call_gamma_first(const sx_heuristics *start, sx_heuristics_state *at) {
    if (at->early) sx_polish(start, &at->polish, is_stale(start->run));
    if (!sx_run_continue(start->run)) return SX_OK;
    if (!is_scarce(start)) return sx_gamma_go_on(start->run, at->first, 0);
    return sx_gamma_go_on(start->run, at->first > SX_GAMMA_ALONE ? at->first : SX_GAMMA_ALONE, 0.75);
}

sx_status sx_heuristics_first(const sx_heuristics *start, sx_heuristics_state *at) {
    SX_TRY(hurry_start(start, at, 0));
    uint64_t left = sx_run_left(start->run);
    if (at->stage == SX_OPTIMAL_STARTS) {
        if (!has_gamma(start)) SX_TRY(evaluate_starts(start));
        at->first = due_evaluations(start, at, start->listing);
        uint64_t half = sx_run_called_on(start->run) + left / 2 / GENERATION * GENERATION;
        if (left < UINT64_MAX && half < at->first) at->first = half;
        at->stage = SX_OPTIMAL_GAMMA;
    }
    if (at->stage != SX_OPTIMAL_GAMMA || !sx_run_continue(start->run)) return SX_OK;
    if (has_gamma(start)) SX_TRY(call_gamma_first(start, at));
    if (sx_run_stopped(start->run)) return SX_OK;
    if (!has_gamma(start) || (at->first > 0 && !sx_run_incumbent(start->run, NULL)))
        walk_randomly(start, at, left == UINT64_MAX);
    if (!sx_run_stopped(start->run)) at->stage = SX_OPTIMAL_LISTING;
    return SX_OK;
}

/* Runs Gamma up to its share of the evaluations if that is worth a call, or resumes an interrupted call. */
static sx_status share_gamma(const sx_heuristics *start, sx_heuristics_state *at, uint64_t steps) {
    uint64_t had = sx_run_called_on(start->run), slice = SLICE / sx_gamma_slowness(start->space);
    if (!at->target) at->target = due_evaluations(start, at, steps);
    if (sx_run_resuming(start->run) && at->target < had + slice) at->target = had + slice;
    bool enough = at->target > had && at->target - had >= slice;
    if (enough || at->stage == SX_OPTIMAL_LISTING) SX_TRY(sx_gamma_go_on(start->run, at->target, 0));
    if (!is_untimed(start, steps) && (sx_run_hurried(start->run) || steps >= LONG_STEPS))
        sx_polish(start, &at->polish, is_stale(start->run));
    if (!sx_run_stopped(start->run)) at->target = 0;
    return SX_OK;
}

sx_status sx_heuristics_share(const sx_heuristics *start, sx_heuristics_state *at, uint64_t steps) {
    bool single = sx_run_k_best(start->run) == 1, untimed = is_untimed(start, steps);
    bool few = start->spatials <= start->sunstone && (untimed || at->until > 0);
    const bool sunstone = start->sunstone > 0 && !follows_dividing(start);
    if (at->stage < SX_OPTIMAL_LISTING || !sx_run_continue(start->run)) return SX_OK;
    SX_TRY(hurry_start(start, at, steps));
    if (!sx_run_continue(start->run)) return SX_OK;
    if (has_gamma(start) && !at->until) SX_TRY(share_gamma(start, at, steps));
    if (at->stage == SX_OPTIMAL_LISTING && (!has_gamma(start) || !sx_run_incumbent(start->run, NULL)))
        walk_randomly(start, at, true);
    if (at->stage == SX_OPTIMAL_LISTING && !sx_run_stopped(start->run)) at->stage = SX_OPTIMAL_FEW;
    if (at->stage == SX_OPTIMAL_FEW && single && few && sunstone && sx_run_continue(start->run))
        SX_TRY(call_sunstone(start, at, UINT64_MAX, SUNSTONE_SHARE));
    if (at->stage == SX_OPTIMAL_FEW && !sx_run_stopped(start->run))
        at->stage = few || !single ? SX_OPTIMAL_ALL : SX_OPTIMAL_LONG;
    uint64_t late = sx_run_timed(start->run) && !untimed ? LONG_STEPS : LATE_STEPS;
    if (at->stage != SX_OPTIMAL_LONG || steps < late || !sx_run_continue(start->run)) return SX_OK;
    if (sunstone && !at->early) SX_TRY(call_sunstone(start, at, MOST_SUNSTONE, SUNSTONE_SHARE));
    if (!sx_run_stopped(start->run)) at->stage = SX_OPTIMAL_ALL;
    return SX_OK;
}
