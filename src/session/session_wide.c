/* A layer searched twice: with tiles that divide, then with remainders. The second search begins from the answer of
 * the first and does not prove again what that has proven. Each has half of the budget, the second what the first
 * leaves of it.
 *
 * Where remainders are asked for, the first search is the one without them, so that asking never gives a worse answer
 * than not asking with half of the budget; what is proven in the end holds for the whole space. Where they are not,
 * the rule is: no spatial mapping with factors that divide uses three quarters of the compute units, and
 * the problem has no sliding windows (an evaluation with remainders takes milliseconds there). What is proven by the
 * second search holds for all mappings, as tiles that divide are part of its space. */
#include "base/status.h"
#include "base/vector.h"
#include "mappers/optimal/utilization.h"
#include "session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double IDLE = 0.75, LEAST_SECONDS = 1e-3;

/* Whether the mapper is the registered one of that name. */
static bool is_mapper(const sx_session *session, const char *name) {
    size_t length = strlen(name);
    return !session->options->navigator && strncmp(session->mapper, name, length) == 0 &&
           strchr(":", session->mapper[length]) != NULL;
}

bool sx_session_in_parts(const sx_session *session) {
    const sx_session_options *o = session->options;
    return o->space.remainders && !o->space.split_axes && !o->outside && o->run.k_best <= 1 &&
           !o->run.pareto && !o->run.proof && o->run.objective.n_criteria == 1 &&
           (is_mapper(session, "auto") || is_mapper(session, "optimal"));
}

void sx_session_unprove(const sx_session *session, sx_layer_result *result) {
    if (!sx_session_in_parts(session) || result->proven_before) return;
    result->summary.lower_bound = 0;
    result->summary.optimal = result->summary.none = false;
}

sx_status sx_session_share(const sx_session *session, const sx_space *space, double *share, bool *widens) {
    bool windows;
    SX_TRY(sx_max_utilization(space, share, &windows));
    bool idle = session->options->widen && !windows && *share < IDLE;
    *widens = !session->wide && (idle || sx_session_in_parts(session));
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

sx_status sx_session_append_trace(const sx_layer_result *later, sx_layer_result *result) {
    size_t n = result->n_trace, room = n;
    if (!sx_reserve(&result->trace, &room, n + later->n_trace, sizeof *result->trace))
        return sx_error_memory();
    sx_trace_point *trace = result->trace;
    for (size_t i = 0; i < later->n_trace; i++) {
        sx_trace_point line = later->trace[i];
        if (n > 0 && line.value >= trace[n - 1].value) continue;
        line.evaluations += result->summary.evaluations;
        line.seconds += result->summary.seconds;
        trace[n++] = line;
    }
    result->n_trace = n;
    return SX_OK;
}

/* Takes the answer of a second search. */
static void take_answer(const sx_layer_result *wide, sx_layer_result *result) {
    result->found = true;
    result->best = wide->best;
    result->best.evaluation += result->summary.evaluations;
    free(result->diagnosis);
    result->diagnosis = NULL;
}

/* Takes what a second search proves. */
static void take_proof(const sx_layer_result *wide, sx_layer_result *result) {
    result->summary.lower_bound = wide->summary.lower_bound;
    result->summary.optimal = wide->summary.optimal;
}

/* Notes whether a second search, which was not asked for, gave the answer, and what is known without it. */
static void note_remainders(const sx_layer_result *wide, bool better, sx_layer_result *result) {
    const sx_run_summary *s = &result->summary;
    result->widened = true;
    if (!better) return;
    result->remainders = true;
    result->dividing = (sx_dividing){result->found ? result->best.value : 0, s->lower_bound, s->optimal};
    take_proof(wide, result);
}

sx_status sx_session_merge(const sx_session *session, const sx_layer_result *wide, sx_layer_result *result) {
    const sx_objective *objective = &session->options->run.objective;
    sx_run_summary *s = &result->summary;
    bool better = wide->found && (!result->found || sx_objective_compare(objective, &wide->best.score,
                                                                         &result->best.score) < 0);
    if (better) SX_TRY(sx_session_append_trace(wide, result));
    if (sx_session_in_parts(session))
        take_proof(wide, result);
    else
        note_remainders(wide, better, result);
    if (better) take_answer(wide, result);
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
