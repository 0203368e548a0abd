/* A layer searched twice: with tiles that divide, and with remainders where those must leave compute units
 * idle.
 *
 * The rule: no spatial mapping with factors that divide uses three quarters of the compute units, and
 * the problem has no sliding windows (an evaluation with remainders takes milliseconds there). Each search
 * has half of the budget, the second what the first leaves of it. The second does not begin from the answer
 * of the first, which is mostly far from any good one with remainders. What is proven by the second holds for
 * all mappings, as tiles that divide are part of its space. */
#include "base/status.h"
#include "base/vector.h"
#include "mappers/optimal/utilization.h"
#include "session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double IDLE = 0.75, LEAST_SECONDS = 1e-3;

sx_status sx_session_share(const sx_session *session, const sx_space *space, double *share, bool *widens) {
    bool windows;
    SX_TRY(sx_max_utilization(space, share, &windows));
    *widens = session->options->widen && !session->wide && !windows && *share < IDLE;
    return SX_OK;
}

void sx_session_budget(const sx_session *session, const sx_layer_result *before, sx_run_options *run) {
    const uint64_t all = session->options->run.evaluations;
    if (!before) {
        run->evaluations = all ? (all + 1) / 2 : 0;
        run->seconds /= 2;
        return;
    }
    uint64_t used = before->summary.evaluations;
    if (all) run->evaluations = all > used ? all - used : 1;
    if (run->seconds > 0) run->seconds = fmax(run->seconds - before->summary.seconds, LEAST_SECONDS);
    run->cache = (size_t)1 << 16;
}

/* Appends what a second search found to the trace. */
static sx_status merge_trace(const sx_layer_result *wide, sx_layer_result *result) {
    size_t n = result->n_trace, room = n;
    if (!sx_reserve(&result->trace, &room, n + wide->n_trace, sizeof *result->trace))
        return sx_error_memory();
    sx_trace_point *trace = result->trace;
    for (size_t i = 0; i < wide->n_trace; i++) {
        sx_trace_point line = wide->trace[i];
        if (n > 0 && line.value >= trace[n - 1].value) continue;
        line.evaluations += result->summary.evaluations;
        line.seconds += result->summary.seconds;
        trace[n++] = line;
    }
    result->n_trace = n;
    return SX_OK;
}

/* Takes the answer of a second search, and what it proves. */
static void take_answer(const sx_layer_result *wide, sx_layer_result *result) {
    sx_run_summary *s = &result->summary;
    result->dividing = (sx_dividing){result->found ? result->best.value : 0, s->lower_bound, s->optimal};
    result->found = result->remainders = true;
    result->best = wide->best;
    result->best.evaluation += s->evaluations;
    s->lower_bound = wide->summary.lower_bound;
    s->optimal = wide->summary.optimal;
    free(result->diagnosis);
    result->diagnosis = NULL;
}

sx_status sx_session_merge(const sx_session *session, const sx_layer_result *wide, sx_layer_result *result) {
    const sx_objective *objective = &session->options->run.objective;
    sx_run_summary *s = &result->summary;
    bool better = wide->found && (!result->found || sx_objective_compare(objective, &wide->best.score,
                                                                         &result->best.score) < 0);
    if (better) SX_TRY(merge_trace(wide, result));
    if (better) take_answer(wide, result);
    result->widened = true;
    s->evaluations += wide->summary.evaluations;
    s->valid += wide->summary.valid;
    s->rejected += wide->summary.rejected;
    s->cache_hits += wide->summary.cache_hits;
    s->seconds += wide->summary.seconds;
    s->stop = wide->summary.stop;
    s->repeatable &= wide->summary.repeatable;
    s->none = !result->found && s->none && wide->summary.none;
    return SX_OK;
}
