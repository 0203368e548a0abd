/* The mapper for those who do not want to choose one: a good answer soon, and as much of a proof as the
 * budget allows.
 *
 * Source: our own, a portfolio: Sunstone with everything on, then Gamma for a while, each beginning from the
 * best so far; then the optimal mapper, which has a good incumbent to cut by and proves the answer, or says
 * how far from the optimum it can be. Where it comes to no end, or refuses the space, Gamma has what is left
 * of a budget. Where several best mappings are wanted the optimal mapper goes first, as it needs every
 * mapping in the form that stands for all that no cost tells from it.
 *
 * Without a budget the proof takes a fixed number of steps at most, so that the answer does not depend on the
 * machine; with --time it takes the time that is left.
 *
 * Complexity: as theirs. */
#include "base/status.h"
#include "run/navigator.h"

#include <stdio.h>

enum { GAP, EFFORT, GAMMA };

static const sx_setting settings[] = {
    [GAP] = {"gap", "end when the best is proven to be within this share of the optimum", NULL, 0, 0, 10,
             false, NULL},
    [EFFORT] = {"effort", "million steps of the proof, at most, unless time is limited; 0: no limit", NULL, 5,
                0, 1e9, false, NULL},
    [GAMMA] = {"gamma", "evaluations of Gamma before the proof, at most", NULL, 20000, 0, 1e9, true, NULL},
};

enum stage { BEGIN, SUNSTONE_PLUS, GAMMA_SOON, PROOF, GAMMA_LATE, DONE };

enum { LATE_EVALUATIONS = 100000 }; /* where there is no limit and no proof */

/* What a search remembers. */
typedef struct state {
    uint64_t next;    /* stage, of the order they have */
    uint64_t until;   /* evaluations up to which it may go */
    uint64_t set;     /* that is known */
    uint64_t refused; /* the proof was not to be had */
} state;

/* The stages in order. */
static enum stage stage_at(const sx_run *run, uint64_t index) {
    static const enum stage order[] = {BEGIN, SUNSTONE_PLUS, GAMMA_SOON, PROOF, GAMMA_LATE, DONE};
    static const enum stage several[] = {PROOF, SUNSTONE_PLUS, GAMMA_SOON, GAMMA_LATE, DONE, DONE};
    return sx_run_k_best(run) > 1 ? several[index] : order[index];
}

/* Whether there is nothing left to find, to within the gap. */
static bool is_closed(const sx_run *run) {
    sx_run_summary summary = sx_run_result(run);
    double best, gap = sx_run_setting(run, GAP);
    return summary.optimal || (gap > 0 && sx_run_incumbent(run, &best) && best > 0 &&
                               best <= summary.lower_bound * (1 + gap) * (1 + 1e-9));
}

/* The evaluations up to which a stage may go, and the share of the time. */
static uint64_t limit_of(const sx_run *run, const state *s, double *time) {
    uint64_t left = sx_run_left(run), used = sx_run_result(run).evaluations, most;
    *time = 0;
    switch (stage_at(run, s->next)) {
    case SUNSTONE_PLUS:
        *time = 0.25;
        return left == UINT64_MAX ? UINT64_MAX : used + (left + 1) / 2;
    case GAMMA_SOON:
        *time = 0.5;
        most = (uint64_t)sx_run_setting(run, GAMMA);
        return used + (left / 2 < most ? left / 2 : most);
    case GAMMA_LATE:
        return sx_run_limited(run) ? UINT64_MAX : used + LATE_EVALUATIONS;
    default:
        return UINT64_MAX;
    }
}

/* Goes through a stage, or on with it. */
static sx_status step(sx_run *run, state *s) {
    double share, limit = sx_run_time(run), effort = limit > 0 ? 0 : sx_run_setting(run, EFFORT);
    enum stage stage = stage_at(run, s->next);
    char text[128];
    if (!s->set) s->until = limit_of(run, s, &share);
    s->set = true;
    limit_of(run, s, &share);
    snprintf(text, sizeof text, "optimal:gap=%.17g,effort=%.17g,sunstone=off,descents=%d",
             sx_run_setting(run, GAP), effort, sx_run_k_best(run) > 1 ? 16 : 0);
    switch (stage) {
    case BEGIN:
        sx_run_evaluate_starts(run, 0);
        return SX_OK;
    case SUNSTONE_PLUS:
        return sx_run_call(run, "sunstone:plus=on", s->until, limit * share);
    case PROOF:
        return sx_run_call(run, text, s->until, 0);
    case GAMMA_LATE:
        if (!s->refused && !sx_run_limited(run)) return SX_OK;
        return sx_run_call(run, "gamma", s->until, 0);
    case GAMMA_SOON:
        if (s->until == sx_run_result(run).evaluations) return SX_OK;
        return sx_run_call(run, "gamma", s->until, limit * share);
    case DONE:
        break;
    }
    return SX_OK;
}

static sx_status search(sx_run *run) {
    state *s = sx_run_state(run, sizeof *s, NULL);
    if (!s) return sx_error_memory();
    while (stage_at(run, s->next) != DONE && !is_closed(run) && sx_run_continue(run)) {
        sx_status status = step(run, s);
        if (status && status->code != SX_ERR_LIMIT) return status;
        s->refused |= status && stage_at(run, s->next) == PROOF;
        sx_status_free(status);
        if (sx_run_stopped(run)) continue;
        s->next++;
        s->set = false;
    }
    return SX_OK;
}

SX_NAVIGATOR(auto) = {
    .source = "our own: sunstone, gamma and optimal one after another",
    .needs = SX_MAP_SPACE,
    .complete = true,
    .proves = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search,
};
