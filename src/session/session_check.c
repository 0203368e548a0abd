/* Checking what a checkpoint says. Its hash detects damage, not intent: an edited file may have a correct
 * hash. So nothing is used unchecked: answers are evaluated again, and numbers must be in the range that a
 * search gives. Navigators check their own states (sextant/navigator.h). */
#include "session/session.h"

#include "base/status.h"
#include "sextant/space_type.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What answers of a layer are checked with. */
typedef struct outside {
    const sx_session *session;
    const sx_problem *problem;
    const sx_constraints *constraints;
    sx_model_workspace *workspace;
    uint64_t evaluations;
} outside;

/* Whether the fields beyond a mapping's last level are zero. */
static bool ends_blank(const sx_mapping *mapping) {
    const sx_mapping_level blank = {0};
    for (int s = mapping->n_levels; s < SX_MAX_LEVELS; s++)
        if (memcmp(&mapping->level[s], &blank, sizeof blank) != 0) return false;
    return true;
}

/* Whether a value is that of the objective; of one that an outside workspace gave, it is a number. */
static bool value_holds(const sx_session *session, const sx_objective *objective, const sx_score *score,
                        double value) {
    return session->options->outside ? isfinite(value) : sx_objective_value(objective, score) == value;
}

static bool answer_holds(const outside *j, const sx_answer *answer) {
    const sx_objective *objective = &j->session->options->run.objective;
    sx_score score;
    return sx_evaluate_score(j->workspace, &answer->mapping, &score).reason == SX_LEGAL &&
           ends_blank(&answer->mapping) &&
           sx_constraints_allow(j->constraints, &answer->mapping, j->problem, j->session->arch, NULL, 0) &&
           memcmp(&score, &answer->score, sizeof score) == 0 &&
           value_holds(j->session, objective, &score, answer->value) && answer->evaluation <= j->evaluations;
}

static bool answers_hold(const outside *j, const sx_answer *answer, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!answer_holds(j, &answer[i])) return false;
    return true;
}

/* Whether a time or a bound is a number that a search may give. */
static bool is_plausible(double value) {
    return value >= 0 && isfinite(value);
}

/* Whether a text has no characters that would control a terminal. */
static bool is_printable(const char *text) {
    for (; text && *text; text++)
        if (((unsigned char)*text < 0x20 && *text != '\n') || *text == 0x7f) return false;
    return true;
}

/* Whether the numbers of a result are plausible. */
static bool numbers_hold(const sx_layer_result *result, const sx_run_options *o) {
    const sx_run_summary *s = &result->summary;
    for (size_t i = 0; i < result->n_trace; i++)
        if (!isfinite(result->trace[i].value) || !is_plausible(result->trace[i].seconds) ||
            result->trace[i].evaluations > s->evaluations)
            return false;
    return (!o->evaluations || s->evaluations <= o->evaluations) && s->valid <= s->evaluations &&
           is_plausible(s->seconds) && is_plausible(s->lower_bound) && is_plausible(result->warm_value) &&
           (result->found || (!s->optimal && !result->proven_before)) && is_printable(result->diagnosis) &&
           is_printable(result->warm_name) && result->n_best <= (o->k_best > 1 ? o->k_best : 0) &&
           (o->pareto || result->n_front == 0);
}

sx_status sx_session_check(const sx_session *session, size_t index, bool *holds) {
    const sx_session_options *o = session->options;
    const sx_layer_result *result = &session->out->layer[index];
    const sx_problem *problem = &session->network->layer[index].problem;
    sx_constraints *constraints = malloc(sizeof *constraints);
    sx_model *model = NULL;
    outside j = {session, problem, constraints, NULL, result->summary.evaluations};
    sx_status status =
        constraints ? sx_session_constraints(session, problem, constraints) : sx_error_memory();
    if (!status) status = sx_model_new(problem, session->arch, &o->model, &model);
    if (!status) status = sx_model_workspace_new(model, &j.workspace);
    if (!status)
        *holds = numbers_hold(result, &o->run) && (!result->found || answer_holds(&j, &result->best)) &&
                 answers_hold(&j, result->other, result->n_best) &&
                 answers_hold(&j, result->front, result->n_front) &&
                 result->minimum == sx_session_minimum(session, model, result);
    sx_model_workspace_free(j.workspace);
    sx_model_free(model);
    free(constraints);
    return status;
}

sx_status sx_session_check_start(const sx_session *session, const sx_space *space, bool *holds) {
    const sx_objective *objective = &session->options->run.objective;
    const sx_start *start = &session->start;
    sx_scorer *scorer;
    sx_outcome outcome;
    *holds = !start->point;
    if (!start->point || start->size != space->point_size || !space->type->holds(space, start->point) ||
        space->type->check(space, start->point) != 0)
        return SX_OK;
    *holds = is_printable(start->name) && start->value == 0;
    if (session->options->outside) return SX_OK;
    SX_TRY(sx_scorer_new(space, NULL, objective, &scorer));
    sx_status status = sx_scorer_score(scorer, start->point, 1, INFINITY, &outcome);
    *holds = !status && outcome.reason == 0 && outcome.value == start->value && is_printable(start->name);
    sx_scorer_free(scorer);
    return status;
}
