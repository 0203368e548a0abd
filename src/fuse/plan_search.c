#include "fuse/plan_search.h"

#include <string.h>

/* A search of a plan. */
typedef struct plan_search {
    const sx_plan_space *space;
    sx_plan_stop *stop;
    void *user;
    bool stopped;
    size_t n; /* inner optima that the last pass searched */
} plan_search;

/* Searches an inner optimum with an effort, unless it is settled. */
static sx_status settle_optimum(plan_search *p, size_t optimum, sx_inner_effort effort) {
    if (optimum == SX_NO_INDEX || p->stopped || sx_inner_settled(p->space->inner, optimum, effort))
        return SX_OK;
    p->stopped = p->stop(p->user);
    if (p->stopped) return SX_OK;
    p->n++;
    return sx_inner_settle(p->space->inner, optimum, effort);
}

/* Searches the inner optima of a plan with an effort. */
static sx_status settle_plan(plan_search *p, const sx_plan *plan, sx_inner_effort effort) {
    p->n = 0;
    for (size_t i = 0; i < plan->n_parts; i++) {
        const sx_plan_part *part = &plan->part[i];
        SX_TRY(settle_optimum(p, part->optimum, effort));
        if (part->group == SX_NO_INDEX) continue;
        const sx_fuse_group *group = &p->space->group[part->group];
        for (int r = 0; r < group->n_runs; r++) {
            size_t optimum;
            SX_TRY(sx_plan_group_optimum(p->space, group, &group->run[r], part->state, &optimum));
            SX_TRY(settle_optimum(p, optimum, effort));
        }
    }
    return SX_OK;
}

/* Whether a plan is known that is close enough to a bound. */
static sx_status is_close(const plan_search *p, double bound, double gap, bool *out) {
    sx_plan plan;
    *out = false;
    if (gap <= 0) return SX_OK;
    sx_status status = sx_plan_join(p->space, false, &plan);
    *out = !status && plan.found && plan.weight <= bound * (1 + gap);
    sx_plan_fini(&plan);
    return status;
}

/* Frees plans. */
static void free_plans(sx_plan *plan, size_t n) {
    for (size_t i = 0; i < n; i++) sx_plan_fini(&plan[i]);
}

void sx_plan_answer_fini(sx_plan_answer *answer) {
    sx_plan_fini(&answer->plan);
    free_plans(answer->other, SX_MAX_PLANS - 1);
    answer->n_others = 0;
}

/* Searches the inner optima of k plans with an effort. */
static sx_status settle_plans(plan_search *p, const sx_plan *plan, size_t k, sx_inner_effort effort) {
    size_t n = 0;
    for (size_t i = 0; i < k; i++) {
        SX_TRY(settle_plan(p, &plan[i], effort));
        n += p->n;
    }
    p->n = n;
    return SX_OK;
}

/* One round: the best plans by lower bounds are found, and inner optima on which they rest are searched. */
static sx_status search_round(plan_search *p, double gap, size_t k, double *bound, bool *done) {
    sx_plan plan[SX_MAX_PLANS];
    sx_status status = sx_plan_join_best(p->space, true, k, plan);
    if (!status) *bound = plan[0].weight;
    if (!status) status = settle_plans(p, plan, k, SX_INNER_SKETCH);
    if (!status && p->n == 0 && !p->stopped) {
        status = is_close(p, *bound, gap, done);
        if (!status && !*done) status = settle_plans(p, plan, k, SX_INNER_SEARCH);
        *done |= p->n == 0;
    }
    free_plans(plan, k);
    return status;
}

sx_status sx_plan_search(const sx_plan_space *space, double gap, double cutoff, size_t k, sx_plan_stop *stop,
                         void *user, sx_plan_answer *out) {
    plan_search p = {.space = space, .stop = stop, .user = user};
    sx_plan plan[SX_MAX_PLANS];
    memset(out, 0, sizeof *out);
    for (bool done = false; !done && !p.stopped && out->lower_bound < cutoff;)
        SX_TRY(search_round(&p, gap, k, &out->lower_bound, &done));
    out->stopped = p.stopped;
    sx_status status = sx_plan_join_best(space, false, k, plan);
    out->plan = plan[0];
    for (size_t i = 1; i < k; i++) out->other[i - 1] = plan[i];
    while (out->n_others + 1 < k && out->other[out->n_others].found) out->n_others++;
    return status;
}
