/* The default mapper: a good answer at once, and as much of a proof as the
 * budget allows.
 *
 * Source: our own, a portfolio: Gamma for some thousand evaluations; then the optimal mapper, which goes on with
 * Gamma beside the proof (mappers/optimal/heuristics.c) and proves the answer, or says how far from the optimum it can be. Where it
 * does not complete Gamma has the rest of its evaluations, and what is left of a budget; where it refuses the
 * space, Sunstone too. All calls of Gamma go on where the last one ended: its first 100,000 evaluations are
 * those of Gamma alone. Where several best mappings are wanted Gamma and Sunstone come after the proof, as that
 * needs every mapping in the form that stands for all that no cost tells from it.
 *
 * With remainders, tiles that divide come first, in a search of their own with half of the budget, unless there is a
 * mapping to begin with; then mappings of padded sizes (padding.c). Where these were not
 * asked for (sx_map_space_options: brief) a short proof comes before padded sizes, unless compute units idle, and ends the
 * search where it completes; another one, with Gamma's first evaluations before it, follows where these have helped.
 *
 * Without a limit of time the proof takes a fixed number of steps at most, so that the answer does not depend
 * on the machine.
 *
 * Complexity: as theirs. */
#include "base/status.h"
#include "mappers/gamma/rounds.h"
#include "mappers/measured/measured.h"
#include "mappers/optimal/cutoff.h"
#include "mappers/optimal/heuristics.h"
#include "mappers/padding.h"
#include "run/navigator.h"

#include <math.h>
#include <stdio.h>

enum { GAP, EFFORT, GAMMA };

static const sx_setting settings[] = {
    [GAP] = {"gap", "stop when the gap to the lower bound is at most this", NULL, 0, 0, 10, false, NULL},
    [EFFORT] = {"effort", "maximum steps of the proof, in millions, unless time is limited; 0: no limit",
                NULL, 150, 0, 1e9, false, NULL},
    [GAMMA] = {"gamma",
               "maximum evaluations of gamma, unless time is limited; fewer where the proof is short", NULL,
               300000, 0, 1e9, true, NULL},
};

enum stage { DIVIDING, BRIEF_PROOF, PADDING, FIRST, PROOF, GAMMA_MORE, SUNSTONE_LATE, GAMMA_LATE, DONE };

enum {
    FIRST_EVALUATIONS = 2000, /* of Gamma, before anything else */
    GENERATION = 100,         /* of Gamma: what it has in a row are whole ones */
    FEW_EVALUATIONS = 20000,  /* a run with no more of them gives Gamma most of them */
    LATE_SUNSTONE = 1500000,  /* evaluations of it, where there is no proof */
    GAINED = 4,               /* times as long a brief proof takes where there is a gain */
};

/* Of the time, for these first evaluations of Gamma, where it is short. */
static const double SHORT_SHARE = 0.3;

/* State of a search. */
typedef struct state {
    uint64_t stage;
    uint64_t until;   /* evaluations up to which it may go; 0: not set */
    uint64_t refused; /* the proof was refused */
    uint64_t tried;   /* the brief proof came before padded sizes */
    sx_padding_state padding;
} state;

/* Whether the best so far reaches a lower bound of the whole space. */
static bool reaches_bound(const sx_run *run) {
    double best, bound = sx_run_result(run).lower_bound;
    return sx_run_objective(run)->n_criteria == 1 && sx_run_k_best(run) == 1 && !sx_run_pareto(run) &&
           bound > 0 && sx_run_incumbent(run, &best) && best * (1 - 1e-12) <= bound;
}

/* Whether there is nothing left to find, to within the gap. */
static bool is_closed(sx_run *run) {
    if (reaches_bound(run) && !sx_run_wants_proof(run)) sx_run_optimal(run);
    sx_run_summary summary = sx_run_result(run);
    double best, gap = sx_run_setting(run, GAP);
    return summary.optimal || (gap > 0 && sx_run_incumbent(run, &best) && best > 0 &&
                               best <= summary.lower_bound * (1 + gap) * (1 + 1e-9));
}

/* The million steps of a search of remainders that were not asked for; 0: they were. */
static double brief_steps(const sx_run *run) {
    return sx_map_space_of(sx_run_space(run))->options.brief;
}

/* The proof of remainders that were not asked for, which has GAINED times the steps where some help. */
static sx_status prove_briefly(sx_run *run, const state *s) {
    const double share = 8; /* of an effort, for remainders: its inverse */
    double effort = brief_steps(run) * share * (s->padding.helped ? GAINED : 1);
    char text[128];
    snprintf(text, sizeof text, "optimal:gap=%.17g,effort=%.17g,gamma=%.0f,sunstone=0,descents=0",
             sx_run_setting(run, GAP), fmin(effort, sx_run_setting(run, EFFORT)),
             s->padding.helped ? sx_run_setting(run, GAMMA) : 0);
    return sx_run_call(run, text, UINT64_MAX, 0);
}

/* The proof, with what it begins with. */
static sx_status prove_optimum(sx_run *run) {
    double effort = sx_run_time(run) > 0 ? 0 : sx_run_setting(run, EFFORT);
    char text[128];
    snprintf(text, sizeof text, "optimal:gap=%.17g,effort=%.17g,gamma=%.0f", sx_run_setting(run, GAP), effort,
             sx_run_setting(run, GAMMA));
    return sx_run_call(run, text, UINT64_MAX, 0);
}

/* Sunstone, where the proof does not call it: with half of the evaluations that are left. */
static sx_status call_sunstone(sx_run *run, state *s, double share) {
    uint64_t used = sx_run_result(run).evaluations, left = sx_run_left(run), most = LATE_SUNSTONE;
    if (left < UINT64_MAX && left / 2 < most) most = left / 2;
    if (!s->until) s->until = used + most + 1;
    return sx_run_call(run, "sunstone:plus=on", s->until, share);
}

/* Whether remainders are searched after tiles that divide. */
static bool has_remainders(const sx_run *run) {
    return sx_map_space_of(sx_run_space(run))->options.remainders;
}

/* Whether padded sizes are tried: unless evaluations are few and nothing else is cut. */
static bool tries_padding(const sx_run *run) {
    return has_remainders(run) && (sx_run_left(run) > FEW_EVALUATIONS || brief_steps(run) > 0);
}

/* Reports the compulsory minimum, so that an answer has a bound whatever stage it comes from. A certificate does not use it. */
static void report_minimum(sx_run *run) {
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    const sx_prune_rule rule = {.objective = sx_run_objective(run)};
    if (sx_run_wants_proof(run) || rule.objective->n_criteria > 1 || !sx_prune_rule_monotone(&rule, 0))
        return;
    const sx_score least = sx_model_minimum(space->model, space->fixed_keep[space->arch->n_levels - 1]);
    if (least.cycles > 0) sx_run_bound(run, sx_prune_rule_value(&rule, &least) * (1 - 1e-12));
}

/* Searches tiles that divide, as without remainders. */
static sx_status search_dividing(sx_run *run) {
    char text[96];
    snprintf(text, sizeof text, "auto:gap=%.17g,effort=%.17g,gamma=%.0f", sx_run_setting(run, GAP),
             sx_run_setting(run, EFFORT), sx_run_setting(run, GAMMA));
    return sx_padding_begin(run, text);
}

/* The brief proof comes before padded sizes, too: where it completes these are not needed. Not where compute units idle,
 * as remainders gain there, nor within limits, which the proof would use up. */
static sx_status try_proof(sx_run *run, state *s) {
    if (!has_remainders(run) || brief_steps(run) == 0 || sx_run_limited(run)) return SX_OK;
    sx_padding_plan(run, &s->padding);
    if (sx_run_stopped(run) || s->padding.plan == 0) return SX_OK;
    s->tried = 1;
    return prove_briefly(run, s);
}

/* Whether a stage is left out, as remainders were not asked for. */
static bool is_skipped(const sx_run *run, const state *s) {
    if (brief_steps(run) == 0) return false;
    return s->stage > PROOF || (s->stage == FIRST && !s->padding.helped) ||
           (s->stage == PROOF && s->tried && !s->padding.improved);
}

/* Goes through a stage, or on with it. */
static sx_status run_stage(sx_run *run, state *s) {
    bool single = sx_run_k_best(run) == 1;
    uint64_t left = sx_run_left(run), most = (uint64_t)sx_run_setting(run, GAMMA);
    uint64_t slow = sx_gamma_slowness(sx_map_space_of(sx_run_space(run)));
    uint64_t first = FIRST_EVALUATIONS / slow > GENERATION ? FIRST_EVALUATIONS / slow : GENERATION;
    if (left <= FEW_EVALUATIONS) first = left / 10 * 9 / GENERATION * GENERATION;
    if (is_skipped(run, s)) return SX_OK;
    switch ((enum stage)s->stage) {
    case DIVIDING:
        return has_remainders(run) && !s->padding.begun ? search_dividing(run) : SX_OK;
    case BRIEF_PROOF:
        return try_proof(run, s);
    case PADDING:
        return s->padding.begun || tries_padding(run) ? sx_padding_search(run, &s->padding) : SX_OK;
    case FIRST:
        if (!s->until) s->until = (first < most ? first : most) + 1;
        return single ? sx_gamma_go_on(run, s->until - 1, sx_run_hurried(run) ? SHORT_SHARE : 0) : SX_OK;
    case PROOF:
        return brief_steps(run) > 0 ? prove_briefly(run, s) : prove_optimum(run);
    case GAMMA_MORE:
        return sx_gamma_go_on(run, most / slow, s->refused ? 0.5 : 0);
    case SUNSTONE_LATE:
        return s->refused || !single ? call_sunstone(run, s, 0.5) : SX_OK;
    case GAMMA_LATE:
        return sx_run_limited(run) ? sx_gamma_go_on(run, UINT64_MAX, 0) : SX_OK;
    case DONE:
        break;
    }
    return SX_OK;
}

static sx_status search_by_auto(sx_run *run) {
    if (sx_is_measured(run)) {
        char text[96];
        snprintf(text, sizeof text, "auto:effort=%.17g,gamma=%.0f", sx_run_setting(run, EFFORT),
                 sx_run_setting(run, GAMMA));
        return sx_measured_search(run, text);
    }
    state *s = sx_run_state(run, sizeof *s, NULL);
    if (!s) return sx_error_memory();
    if (s->stage > DONE) return sx_run_damaged(run);
    report_minimum(run);
    while (!is_closed(run) && s->stage != DONE && sx_run_continue(run)) {
        sx_status status = run_stage(run, s);
        if (status && status->code != SX_ERR_LIMIT) return status;
        s->refused |= status && s->stage == PROOF;
        sx_status_free(status);
        if (sx_run_stopped(run)) continue;
        s->stage++;
        s->until = 0;
    }
    return SX_OK;
}

SX_NAVIGATOR(auto) = {
    .space = "map",
    .model = "map",
    .measures = true,
    .complete = true,
    .proves = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_auto,
};
