#include "fuse/plan_search.h"

#include <string.h>

/* Searches the inner optima of a plan that are not known; *n is how many there were. */
static sx_status settle_plan(const sx_plan *plan, sx_inner *inner, sx_plan_stop *stop, void *user, size_t *n,
                             bool *stopped) {
    *n = 0;
    for (size_t s = 0; s < plan->n_steps; s++) {
        const size_t optimum = plan->step[s].optimum;
        if (optimum == SX_NO_INDEX || sx_inner_at(inner, optimum)->searched) continue;
        if (stop(user)) {
            *stopped = true;
            return SX_OK;
        }
        SX_TRY(sx_inner_settle(inner, optimum));
        ++*n;
    }
    return SX_OK;
}

sx_status sx_plan_search(const sx_exchange *exchange, sx_inner *inner, sx_plan_stop *stop, void *user,
                         sx_plan_answer *out) {
    memset(out, 0, sizeof *out);
    for (size_t n = 1; n > 0 && !out->stopped;) {
        sx_plan plan;
        sx_status status = sx_plan_join(exchange, inner, true, &plan);
        if (!status) out->lower_bound = plan.weight;
        if (!status) status = settle_plan(&plan, inner, stop, user, &n, &out->stopped);
        sx_plan_fini(&plan);
        SX_TRY(status);
    }
    return sx_plan_join(exchange, inner, false, &out->plan);
}
