/* A session at any time. Shares of a limit of time: half for all layers alike, half by what they cost at the least. A layer is
 * searched as without a limit, and paused at its share of the first half of the time. Then the layers whose gaps cost most are
 * searched in rounds, for twice the time that they had or for their share of all gaps, whichever is more: those that were
 * paused go on where they were, still as without a limit until half of the time is over, so that a network whose proofs take
 * half of the time is searched as if there were none; others begin again from the answer there is. And a session that is
 * interrupted gives layers that it has not reached a quick answer, so that it answers for the whole network: Sunstone, random
 * draws where Sunstone finds nothing, and what is left of the time that this may take for those that cost most. */
#include "base/cancel.h"
#include "base/status.h"
#include "session/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double LEAST_ROUND = 0.05, QUICK_ROUND = 0.1;
static const double LATE_SHARE =
    0.1; /* of the time, beyond its end: for a layer that costs more than all others */
static const double LONGER = 1.25;       /* times its time, until a round that is not paused ends */
static const double QUICK_SECONDS = 1.5; /* of all layers together */
enum { QUICK_EVALUATIONS = 20000 };

double sx_session_times(const sx_session *session, size_t index) {
    double times = 0;
    for (size_t i = index; i < session->network->n_layers; i++)
        if (session->first[i] == index) times += (double)session->network->layer[i].count;
    return times;
}

/* The compulsory minimum of layer `index`, as often as it runs; 0 where it is not known. */
static double least_cost(const sx_session *session, size_t index) {
    sx_model *model = NULL;
    sx_status status = sx_model_new(&session->network->layer[index].problem, session->arch,
                                    &session->options->model, &model);
    const double least = status ? 0 : sx_session_minimum(session, model, &session->out->layer[index]);
    sx_status_free(status);
    sx_model_free(model);
    return sx_session_times(session, index) * least;
}

/* Whether time that is left is to be spent on rounds. */
static bool has_rounds(const sx_session *session) {
    const sx_run_options *run = &session->options->run;
    return !session->options->once && run->seconds > 0 && run->evaluations == 0 && run->k_best <= 1 &&
           !run->pareto && run->objective.n_criteria == 1 && !session->options->outside &&
           !sx_ranks_active(run->ranks);
}

sx_status sx_session_weigh(sx_session *session) {
    const size_t n = session->network->n_layers;
    double sum = 0, distinct = 0;
    if (session->options->run.seconds <= 0) return SX_OK;
    session->weight = calloc(n, sizeof *session->weight);
    if (!session->weight) return sx_error_memory();
    for (size_t i = 0; i < n; i++) {
        if (session->first[i] != i) continue;
        sum += session->weight[i] = least_cost(session, i);
        distinct++;
    }
    if (distinct > 1 && has_rounds(session) && !session->options->navigator) {
        session->paused = calloc(n, sizeof *session->paused);
        if (!session->paused) return sx_error_memory();
    }
    for (size_t i = 0; i < n; i++)
        session->weight[i] = 1 / distinct + (sum > 0 && isfinite(sum) ? session->weight[i] / sum : 0);
    return SX_OK;
}

/* What closing the gap of a layer could save; 0: nothing is open, or only to remainders, of which the same search would find
 * the same. */
static double open_cost(const sx_session *session, size_t index) {
    const sx_layer_result *result = &session->out->layer[index];
    const sx_run_summary *s = &result->summary;
    if (session->first[index] != index || s->optimal || s->none) return 0;
    if (!result->found) return INFINITY;
    if (result->remainders && result->dividing.optimal && s->stop == SX_STOP_DONE) return 0;
    return sx_session_times(session, index) * fmax(0, result->best.value - s->lower_bound);
}

static double seconds_left(const sx_session *session) {
    double left = session->options->run.seconds;
    for (size_t i = 0; i < session->network->n_layers; i++)
        if (session->first[i] == i) left -= session->out->layer[i].summary.seconds;
    return left;
}

/* Whether layer `index` may have a round: only paused ones while the search is as without a limit. */
static bool is_eligible(const sx_session *session, const bool *closed, size_t index, bool calm) {
    return !closed[index] && (!calm || session->paused[index].state);
}

/* The open layer whose gap costs most, and what all gaps of layers that may have a round cost; 0: there is none. */
static double find_costliest(const sx_session *session, const bool *closed, bool calm, size_t *index,
                             double *all) {
    double most = 0;
    *all = 0;
    for (size_t i = 0; i < session->network->n_layers; i++) {
        const double cost = is_eligible(session, closed, i, calm) ? open_cost(session, i) : 0;
        *all += cost;
        if (cost <= most) continue;
        most = cost;
        *index = i;
    }
    return most;
}

/* What the answers of all layers cost. */
static double sum_values(const sx_session *session) {
    double sum = 0;
    for (size_t i = 0; i < session->network->n_layers; i++)
        if (session->first[i] == i && session->out->layer[i].found)
            sum += sx_session_times(session, i) * session->out->layer[i].best.value;
    return sum;
}

bool sx_session_choose_round(const sx_session *session, const bool *closed, sx_round *out) {
    const double total = session->options->run.seconds;
    double left = seconds_left(session), calm_left = left - total / 2, all, most = 0;
    *out = (sx_round){.calm = session->paused && calm_left >= LEAST_ROUND};
    if (out->calm) most = find_costliest(session, closed, true, &out->index, &all);
    if (most > 0) left = calm_left;
    if (!(most > 0)) out->calm = false, most = find_costliest(session, closed, false, &out->index, &all);
    const bool late = left < LEAST_ROUND;
    if (!(most > 0) || (late && (most < sum_values(session) / 2 || left <= -LATE_SHARE * total)))
        return false;
    const double share = isfinite(all) ? left * most / all : left / 4;
    out->seconds = late ? LATE_SHARE * total / 2
                        : fmin(left, fmax(share, 2 * session->out->layer[out->index].summary.seconds));
    return true;
}

/* Whether what a round found is to be taken for what there was. */
static bool is_better(const sx_session *session, const sx_layer_result *old, const sx_layer_result *fresh) {
    if (!fresh->found) return false;
    if (!old->found) return true;
    int order = sx_objective_compare(&session->options->run.objective, &fresh->best.score, &old->best.score);
    bool proves = fresh->summary.optimal || fresh->summary.lower_bound >= old->summary.lower_bound;
    return order < 0 ? proves || !session->options->run.proof : order == 0 && proves;
}

/* Joins what there was of layer `index` with what a round found, which is in its place; *gained: the round was of use. */
static sx_status join_round(const sx_session *session, size_t index, sx_layer_result *old, bool *gained) {
    sx_layer_result *fresh = &session->out->layer[index];
    sx_run_summary *s = &fresh->summary;
    const sx_run_summary before = old->summary, after = fresh->summary;
    *gained = fresh->found && (!old->found || fresh->best.value < old->best.value || after.optimal ||
                               after.lower_bound > before.lower_bound);
    fresh->best.evaluation += before.evaluations;
    sx_status status = sx_session_append_trace(fresh, old);
    if (is_better(session, old, fresh)) {
        sx_trace_point *trace = old->trace;
        old->trace = fresh->trace;
        fresh->trace = trace;
        fresh->n_trace = old->n_trace;
        if (fresh->remainders == old->remainders && !after.optimal)
            s->lower_bound = fmax(after.lower_bound, before.lower_bound);
    } else {
        sx_layer_result kept = *old;
        *old = *fresh;
        *fresh = kept;
        s->stop = after.stop;
    }
    s->evaluations = before.evaluations + after.evaluations;
    s->valid = before.valid + after.valid;
    s->rejected = before.rejected + after.rejected;
    s->cache_hits = before.cache_hits + after.cache_hits;
    s->seconds = before.seconds + after.seconds;
    s->repeatable = false;
    sx_session_uphold(session, index);
    return status;
}

/* Makes what there was of layer `index` its result again where a search that went on from it found nothing, or frees it;
 * *gained: the round was of use. */
static void settle_resumed(const sx_session *session, size_t index, double seconds, sx_layer_result *old,
                           bool *gained) {
    sx_layer_result *fresh = &session->out->layer[index];
    *gained = fresh->found && (fresh->best.value < old->best.value || fresh->summary.optimal ||
                               fresh->summary.lower_bound > old->summary.lower_bound);
    if (fresh->found) return;
    sx_layer_result kept = *old;
    *old = *fresh;
    *fresh = kept;
    fresh->summary.seconds += seconds;
}

/* Sets the limits of a search that goes on where it was paused, and what it goes on from. */
static void set_resumed(sx_session *session, const sx_round *r, double had) {
    sx_paused *paused = &session->paused[r->index];
    const double left = fmax(seconds_left(session), r->seconds), until = r->calm ? left : LONGER * r->seconds;
    session->seconds = had + fmin(left, until);
    session->pause = r->calm || until < left ? had + r->seconds : 0;
    session->start = paused->start;
    session->state = paused->state;
    session->state_size = paused->size;
    *paused = (sx_paused){.start.from = SX_WARM_NONE};
}

/* Searches a layer in a round, without a checkpoint: that says of finished layers only. */
static sx_status search_round(const sx_session *session, const sx_round *r, bool *gained) {
    const sx_session_options *o = session->options;
    sx_session_options options = *o;
    sx_session round = *session;
    sx_layer_result *slot = &session->out->layer[r->index], old = *slot;
    const bool resumed = session->paused && session->paused[r->index].state;
    options.checkpoint = NULL;
    options.store = NULL;
    round.options = &options;
    round.at = r->index;
    round.wide = false;
    round.seconds = r->seconds;
    round.again = resumed ? NULL : &old;
    round.start = (sx_start){.chosen = true, .from = SX_WARM_NONE};
    if (resumed) set_resumed(&round, r, old.summary.seconds);
    *slot = (sx_layer_result){.same_as = r->index, .warm_from = SX_WARM_NONE};
    if (o->layer_begins) o->layer_begins(o->user, r->index);
    sx_status status = sx_session_about(session, r->index, sx_session_search(&round)), joined = SX_OK;
    sx_start_fini(&round.start);
    if (resumed)
        settle_resumed(session, r->index, r->seconds, &old, gained);
    else
        joined = join_round(session, r->index, &old, gained);
    sx_layer_result_fini(&old);
    if (o->layer_ends) o->layer_ends(o->user, r->index, slot);
    if (!status) return joined;
    sx_status_free(joined);
    return status;
}

sx_status sx_session_rounds(sx_session *session) {
    if (!has_rounds(session) || !session->out->complete) return SX_OK;
    bool *closed = calloc(session->network->n_layers, sizeof *closed);
    if (!closed) return sx_error_memory();
    sx_status status = SX_OK;
    sx_round r;
    while (!status && !sx_is_cancelled(session->options->run.cancel) &&
           sx_session_choose_round(session, closed, &r)) {
        bool gained = false;
        status = search_round(session, &r, &gained);
        closed[r.index] = !gained && session->out->layer[r.index].summary.stop != SX_STOP_TIME;
        if (!status && session->options->checkpoint) status = sx_session_save(session, NULL, 0);
        if (!status && gained) status = sx_session_keep(session, r.index);
    }
    free(closed);
    return status;
}

/* Gives layer `index` an answer by a mapper within a given number of seconds, or leaves it without. */
static sx_status answer_by(sx_session *session, size_t index, const char *mapper, double seconds) {
    sx_session_options options = *session->options;
    sx_session quick = *session;
    char text[32];
    snprintf(text, sizeof text, "%s", mapper);
    options.run.cancel = NULL;
    options.run.progress = NULL;
    options.run.evaluations = QUICK_EVALUATIONS;
    options.run.proof = false;
    options.navigator = NULL;
    options.checkpoint = NULL;
    options.store = NULL;
    options.widen = false;
    quick.options = &options;
    quick.mapper = text;
    quick.at = index;
    quick.wide = false;
    quick.seconds = seconds;
    quick.pause = 0;
    quick.paused = NULL;
    quick.state = NULL;
    quick.state_size = 0;
    quick.start = (sx_start){.chosen = true, .from = SX_WARM_NONE};
    sx_session_clear(session, index);
    sx_status status = sx_session_about(session, index, sx_session_search(&quick));
    sx_start_fini(&quick.start);
    sx_layer_result *result = &session->out->layer[index];
    result->summary.stop = SX_STOP_SIGNAL;
    result->summary.optimal = result->summary.none = false;
    result->summary.lower_bound = result->found ? result->minimum : 0;
    sx_session_uphold(session, index);
    return status;
}

/* Whether a layer is to have a quick answer: its search was cut short before it found one, or never began. */
static bool lacks_answer(const sx_session *session, size_t index) {
    const sx_layer_result *result = &session->out->layer[index];
    const bool cut = result->summary.stop == SX_STOP_SIGNAL || result->summary.stop == SX_STOP_TIME;
    return session->first[index] == index && cut && !result->found && !result->summary.none;
}

/* Searches a layer that has a quick answer for a given number of seconds more, by the mapper of the session. */
static sx_status improve_layer(const sx_session *session, size_t index, double seconds) {
    sx_session_options options = *session->options;
    sx_session quick = *session;
    bool gained;
    options.run.cancel = NULL;
    options.run.progress = NULL;
    options.layer_begins = NULL;
    options.layer_ends = NULL;
    quick.options = &options;
    quick.state = NULL;
    quick.state_size = 0;
    quick.paused = NULL;
    SX_TRY(search_round(&quick, &(sx_round){index, seconds, false}, &gained));
    session->out->layer[index].summary.stop = SX_STOP_SIGNAL;
    return SX_OK;
}

/* Spends some seconds on layers that have a quick answer, those that cost most first, by their shares of the cost. */
static sx_status improve_layers(const sx_session *session, bool *quick, double left) {
    while (left >= LEAST_ROUND) {
        size_t largest = 0;
        double most = 0, all = 0;
        for (size_t i = 0; i < session->network->n_layers; i++) {
            if (!quick[i]) continue;
            const double cost = sx_session_times(session, i) * session->out->layer[i].best.value;
            all += cost;
            if (cost <= most) continue;
            most = cost;
            largest = i;
        }
        if (!(most > 0)) break;
        const double *spent = &session->out->layer[largest].summary.seconds, before = *spent;
        SX_TRY(improve_layer(session, largest, fmin(left, fmax(QUICK_ROUND, left * most / all))));
        left -= *spent - before;
        quick[largest] = false;
    }
    return SX_OK;
}

/* Gives the layers that lack one an answer, and marks them; *left: the seconds that remain. */
static sx_status answer_quickly(sx_session *session, bool *quick, double *left) {
    const size_t n = session->network->n_layers;
    size_t missing = 0;
    for (size_t i = 0; i < n; i++) missing += lacks_answer(session, i);
    for (size_t i = 0; i < n; i++) {
        const sx_layer_result *result = &session->out->layer[i];
        if (!lacks_answer(session, i)) continue;
        SX_TRY(answer_by(session, i, "sunstone:plus=on", QUICK_SECONDS / (double)missing));
        if (!result->found) SX_TRY(answer_by(session, i, "random", QUICK_SECONDS / (double)missing));
        *left -= result->summary.seconds;
        quick[i] = result->found;
    }
    return SX_OK;
}

sx_status sx_session_quick(sx_session *session) {
    const sx_session_options *o = session->options;
    const size_t n = session->network->n_layers;
    if (o->outside || o->navigator || sx_ranks_active(o->run.ranks) || n == 1) return SX_OK;
    double left = QUICK_SECONDS;
    bool *quick = calloc(n, sizeof *quick);
    if (!quick) return sx_error_memory();
    sx_status status = answer_quickly(session, quick, &left);
    if (!status) status = improve_layers(session, quick, left);
    free(quick);
    return status;
}
