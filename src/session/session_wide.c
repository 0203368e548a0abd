/* A layer searched twice: with tiles that divide, then with remainders. The second search begins from the answer of
 * the first and does not prove again what that has proven.
 *
 * Where remainders are asked for, the first search is the one without them and each has half of the budget, the second
 * what the first leaves of it: so asking never gives a worse answer than not asking with half of the budget, and what is
 * proven in the end holds for the whole space. Where they are not (`widen`) there are two ways. At length, with halves of
 * the budget, too: no spatial mapping with factors that divide uses three quarters of the compute units, and the problem
 * has no sliding windows (an evaluation with remainders takes milliseconds there). Briefly, everywhere else: the first
 * search has the whole budget, as if there were no other; once it is complete the second has what is left, and steps in
 * proportion to the evaluations of the first (Gamma has evaluations in proportion to the steps of a proof). Brief ones
 * are for dense models alone, and not where answers are those of Timeloop or of another evaluator.
 * What is proven by the second search holds for all mappings, as tiles that divide are part of its space. The optimum of
 * several criteria among tiles that divide need not be near enough to the optimum of all mappings: the second search finds
 * both optima again, and its answer is the one that its proof is of. No certificate covers several criteria with remainders:
 * where one is wanted there is no second search. */
#include "base/status.h"
#include "base/vector.h"
#include "mappers/optimal/spatial_mappings.h"
#include "model/model.h"
#include "session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double IDLE = 0.75, LEAST_SECONDS = 1e-3;
static const double LEAST_BRIEF = 0.05, BRIEF_STEPS = 5e-6; /* million steps; for each evaluation before */
enum {
    CACHED = 1 << 16,
    CACHED_BRIEFLY = 1 << 10,
    FEW_EVALUATIONS = 20000,
    ORDERS =
        8 /* times the answers that a list has room for: a second search tells orders of equal cost apart */
};

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
    result->summary.lower_bound = result->any_bound;
    result->any_bound = 0;
    result->summary.optimal = result->summary.none = false;
}

/* Whether a search with remainders that nobody asked for may follow. */
static bool may_widen(const sx_session_options *o) {
    return o->widen && (o->run.objective.n_criteria == 1 || !o->run.proof);
}

/* Whether a brief search with remainders follows. */
static bool follows_briefly(const sx_session *session, const sx_model *model) {
    const sx_session_options *o = session->options;
    return may_widen(o) && !o->outside && !o->model.like_timeloop && !model->sparse && !model->range &&
           !model->formats;
}

/* Whether a search with remainders has half of the budget. */
static bool is_at_length(const sx_session *session, const sx_model *model, double share) {
    bool windows = false;
    for (int v = 0; v < model->n_tensors; v++) windows |= !model->shape[v].plain;
    return sx_session_in_parts(session) || (may_widen(session->options) && !windows && share < IDLE);
}

sx_status sx_session_width(const sx_session *session, const sx_model *model, const sx_space *space,
                           sx_width *out) {
    SX_TRY(sx_spatial_mappings_utilization(sx_map_space_of(space), &out->share));
    out->at_length = is_at_length(session, model, out->share);
    out->widens = out->at_length || follows_briefly(session, model);
    return SX_OK;
}

sx_width sx_session_second_width(const sx_session *session, const sx_model *model) {
    const double share = session->out->layer[session->at].share;
    return (sx_width){share, false, is_at_length(session, model, share)};
}

double sx_session_brief(const sx_session *session, const sx_width *width) {
    const sx_layer_result *before = &session->out->layer[session->at];
    const uint64_t all = session->options->run.evaluations;
    const bool few = session->options->widen && all > 0 && all <= FEW_EVALUATIONS;
    return width->at_length && !few ? 0
                                    : fmax(LEAST_BRIEF, BRIEF_STEPS * (double)before->summary.evaluations);
}

bool sx_session_goes_on(const sx_width *width, const sx_layer_result *before) {
    const sx_stop stop = before->summary.stop;
    if (!width->widens || stop == SX_STOP_TARGET || stop >= SX_STOP_SIGNAL) return false;
    return width->at_length || (before->found && stop == SX_STOP_DONE);
}

void sx_session_budget(const sx_session *session, const sx_width *width, const sx_layer_result *before,
                       sx_run_options *run) {
    const uint64_t all = session->options->run.evaluations;
    if (!before && !width->at_length) return;
    if (!before) {
        run->evaluations = all ? (all + 1) / 2 : 0;
        run->seconds /= 2;
        return;
    }
    uint64_t used = before->summary.evaluations;
    if (all) run->evaluations = all > used ? all - used : 1;
    if (run->seconds > 0) run->seconds = fmax(run->seconds - before->summary.seconds, LEAST_SECONDS);
    run->cache = width->at_length ? CACHED : CACHED_BRIEFLY;
    if (run->k_best > 1) run->k_best = run->k_best * ORDERS;
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

/* Puts an answer into a list before the first that it is better than, or after the last. */
static void insert_answer(const sx_objective *objective, const sx_answer *found, sx_answer *list, size_t n) {
    size_t place = 0;
    while (place < n && sx_objective_compare(objective, &found->score, &list[place].score) >= 0) place++;
    memmove(list + place + 1, list + place, (n - place) * sizeof *list);
    list[place] = *found;
}

/* Orders answers by energy, then by cycles, then by when they were found. */
static int compare_energies(const void *a, const void *b) {
    const sx_answer *first = a, *second = b;
    const sx_score *x = &first->score, *y = &second->score;
    if (x->energy_pj != y->energy_pj) return x->energy_pj < y->energy_pj ? -1 : 1;
    if (x->cycles != y->cycles) return x->cycles < y->cycles ? -1 : 1;
    return (first->evaluation > second->evaluation) - (first->evaluation < second->evaluation);
}

/* Leaves of answers by energy those of a front. */
static void cut_front(sx_answer *answer, size_t *n) {
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++)
        if (kept == 0 || answer[i].score.cycles < answer[kept - 1].score.cycles) answer[kept++] = answer[i];
    *n = kept;
}

/* Whether two answers differ in the orders of their loops at the most, and cost the same. */
static bool is_same(const sx_answer *a, const sx_answer *b, const sx_arch *arch) {
    bool same = a->score.energy_pj == b->score.energy_pj && a->score.cycles == b->score.cycles;
    for (int s = 0; s < arch->n_levels && same; s++) {
        const sx_mapping_level *x = &a->mapping.level[s], *y = &b->mapping.level[s];
        same = x->keep == y->keep && memcmp(x->spatial, y->spatial, sizeof x->spatial) == 0 &&
               memcmp(x->temporal, y->temporal, sizeof x->temporal) == 0;
    }
    return same;
}

/* Adds the answers of a second search that leave remainders to a list of at most `most`, or to a front (0); *changed: some
 * are in it. Those whose tiles divide are the first search's to list; orders of equal cost count once. */
static sx_status join_answers(const sx_session *session, const sx_answer *wide, size_t n_wide, size_t most,
                              sx_answer **answer, size_t *n, bool *changed) {
    const sx_layer_result *before = &session->out->layer[session->at];
    const sx_problem *problem = &session->network->layer[session->at].problem;
    const sx_objective *objective = &session->options->run.objective;
    size_t room = *n;
    if (!sx_reserve(answer, &room, *n + n_wide, sizeof **answer)) return sx_error_memory();
    for (size_t i = 0; i < n_wide; i++) {
        bool listed = sx_mapping_perfect(&wide[i].mapping, problem);
        for (size_t k = 0; k < *n && !listed; k++) listed = is_same(&(*answer)[k], &wide[i], session->arch);
        if (listed) continue;
        sx_answer found = wide[i];
        found.evaluation += before->summary.evaluations;
        insert_answer(objective, &found, *answer, (*n)++);
    }
    if (most && *n > most) *n = most;
    if (!most) {
        if (*n > 0) qsort(*answer, *n, sizeof **answer, compare_energies);
        cut_front(*answer, n);
    }
    for (size_t i = 0; i < *n; i++) *changed |= !sx_mapping_perfect(&(*answer)[i].mapping, problem);
    return SX_OK;
}

/* Adds the lists of a second search to those of the first. What either has proven of its list or front does not hold of
 * both together; lower bounds do. */
static sx_status join_lists(const sx_session *session, const sx_layer_result *wide, sx_layer_result *result) {
    const sx_run_options *o = &session->options->run;
    sx_run_summary *s = &result->summary;
    bool changed = false;
    if (o->k_best > 1)
        SX_TRY(join_answers(session, wide->other, wide->n_best, o->k_best, &result->other, &result->n_best,
                            &changed));
    if (o->pareto)
        SX_TRY(
            join_answers(session, wide->front, wide->n_front, 0, &result->front, &result->n_front, &changed));
    if (!changed) return SX_OK;
    if (s->optimal && o->objective.n_criteria == 1) s->lower_bound = result->best.value;
    s->optimal = result->any_optimal = false;
    return SX_OK;
}

/* Takes what a second search proves. */
static void take_proof(sx_layer_result *wide, sx_layer_result *result) {
    sx_proof *proof = result->proof;
    result->summary.lower_bound = wide->summary.lower_bound;
    result->summary.optimal = wide->summary.optimal;
    result->proof = wide->proof;
    wide->proof = proof;
}

/* Notes whether the answer, of a second search that was not asked for, leaves remainders, and what is known without it. */
static void note_remainders(sx_layer_result *wide, bool leaves, sx_layer_result *result) {
    const sx_run_summary *s = &result->summary;
    result->widened = true;
    result->any_bound = wide->summary.lower_bound;
    result->any_optimal = wide->summary.optimal;
    result->remainders = leaves;
    if (!leaves && !wide->summary.optimal) return;
    if (leaves)
        result->dividing = (sx_dividing){result->found ? result->best.value : 0, s->lower_bound, s->optimal};
    take_proof(wide, result);
}

/* Whether the answer of a second search is taken; `leaves`: it leaves remainders. Within the tolerance of several criteria
 * comparing is no order. So of these a proven answer is taken even where it compares as worse, as the other one may be too
 * far from the optimum of the first criterion; and a proven answer of tiles that divide is not given up for another one. */
static bool takes_answer(const sx_session *session, const sx_layer_result *wide,
                         const sx_layer_result *result, bool leaves) {
    const sx_objective *objective = &session->options->run.objective;
    if (!wide->found || !result->found) return wide->found;
    if (objective->n_criteria > 1 && wide->summary.optimal)
        return memcmp(&wide->best.score, &result->best.score, sizeof wide->best.score) != 0;
    if (objective->n_criteria > 1 && result->summary.optimal && !leaves) return false;
    return sx_objective_compare(objective, &wide->best.score, &result->best.score) < 0;
}

sx_status sx_session_merge(const sx_session *session, sx_layer_result *wide, sx_layer_result *result) {
    const sx_problem *problem = &session->network->layer[session->at].problem;
    sx_run_summary *s = &result->summary;
    const bool leaves = wide->found && !sx_mapping_perfect(&wide->best.mapping, problem);
    const bool better = takes_answer(session, wide, result, leaves);
    if (better) SX_TRY(sx_session_append_trace(wide, result));
    if (sx_session_in_parts(session)) {
        take_proof(wide, result);
        result->any_bound = 0;
    } else
        note_remainders(wide, better && leaves, result);
    if (better) take_answer(wide, result);
    if (better) s->drawn = wide->summary.drawn;
    SX_TRY(join_lists(session, wide, result));
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
