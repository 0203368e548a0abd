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

sx_status sx_plan_search(const sx_plan_space *space, double gap, sx_plan_stop *stop, void *user,
                         sx_plan_answer *out) {
    plan_search p = {.space = space, .stop = stop, .user = user};
    memset(out, 0, sizeof *out);
    for (bool done = false; !done && !p.stopped;) {
        sx_plan plan;
        sx_status status = sx_plan_join(space, true, &plan);
        if (!status) out->lower_bound = plan.weight;
        if (!status) status = settle_plan(&p, &plan, SX_INNER_SKETCH);
        if (!status && p.n == 0 && !p.stopped) {
            status = is_close(&p, out->lower_bound, gap, &done);
            if (!status && !done) status = settle_plan(&p, &plan, SX_INNER_SEARCH);
            done |= p.n == 0;
        }
        sx_plan_fini(&plan);
        SX_TRY(status);
    }
    out->stopped = p.stopped;
    return sx_plan_join(space, false, &out->plan);
}
