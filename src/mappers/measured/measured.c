/* Few questions to an outside evaluator, with the cost model beside it.
 *
 * Source: our own; Bayesian optimisation of the ratio between two models, as in calibration after Kennedy and O'Hagan
 * (2001). The model's optimum comes first, since a model that is roughly right is worth more than any number of
 * questions that a search without it asks. What is learned is the ratio of measured to modelled, which is smoother than
 * either. Candidates are points some moves from the best answers and from the model's best; each chain climbs the
 * expected improvement.
 *
 * Answers of earlier layers to the same evaluator are part of what is learned from.
 *
 * Complexity: a question takes `chains` times `steps` evaluations of the model and predictions, O(answers^2) each. */
#include "mappers/measured/measured.h"

#include "base/status.h"
#include "learn/elementary.h"
#include "mappers/measured/correction.h"
#include "mappers/measured/features.h"
#include "run/engine.h"
#include "run/registered.h"
#include "space/outside_evaluator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BEST = SX_PROPOSALS - 2, /* proposals by the energy-delay product; one each by delay and by energy */
    CHAINS = 10,             /* climbs of the expected improvement per question */
    PARENTS = 4,             /* answers that they begin from */
    STEPS = 120,             /* moves of each */
    ANSWERS = 300,           /* that are learned from at a time */
    QUESTIONS = 100,         /* where nothing limits the run */
    TRIES = 20,              /* draws of a move until it is legal */
};

/* What is remembered between safe points; answers follow: value, features, point. */
typedef struct state {
    sx_rng rng;
    uint64_t n;     /* answers, refusals among them */
    uint64_t asked; /* proposals */
} state;

typedef struct measured {
    sx_run *run;
    const sx_space *space;
    const sx_map_space *map;
    sx_outside_evaluator *outside;
    sx_model_workspace *workspace;
    sx_correction correction;
    state *s;
    size_t d, record; /* features; bytes of an answer */
    unsigned char *proposal;
    size_t n_proposals;
    unsigned char *at, *trial, *scratch, *next; /* points */
    double *features;
    sx_cost *cost;
    double best; /* the least expected logarithm of an answer */
} measured;

bool sx_is_measured(const sx_run *run) {
    return sx_outside_evaluator_of(sx_run_model(run)) && sx_map_space_of(sx_run_space(run));
}

/* Answer number i: its value (infinite: refused) and its point. */
static double *answer_value(const measured *m, size_t i) {
    return (double *)((unsigned char *)(m->s + 1) + i * m->record);
}
static unsigned char *answer_point(const measured *m, size_t i) {
    return (unsigned char *)(answer_value(m, i) + 1);
}

/* Whether a point was asked about. */
static bool was_asked(const measured *m, const void *point) {
    for (size_t i = 0; i < m->s->n; i++)
        if (memcmp(answer_point(m, i), point, m->space->point_size) == 0) return true;
    return false;
}

/* The logarithm of the modelled energy-delay product of features. */
static double modelled_log(const double *features) {
    return features[0] + features[1];
}

/* Learns an answer: what was measured over what was modelled. */
static void learn_answer(measured *m, const void *point, double value, bool remember) {
    if (!(value > 0) || isinf(value)) return;
    if (!sx_mapping_features(m->map, m->workspace, sx_map_point(point), m->cost, m->features)) return;
    double ratio = sx_log(value) - modelled_log(m->features);
    sx_correction_add(&m->correction, m->features, ratio);
    if (remember) sx_outside_evaluator_remember(m->outside, m->d, m->features, ratio);
}

/* Asks about a point and keeps the answer; false when the run ends or memory is out. */
static bool ask_machine(measured *m, const void *point) {
    sx_outcome outcome;
    if (sx_run_evaluate(m->run, point, 1, &outcome) != 1 || outcome.reason == SX_NOT_EVALUATED) return false;
    state *s = sx_run_state_resize(m->run, sizeof *s + (m->s->n + 1) * m->record);
    if (!s) return false;
    m->s = s;
    memcpy(answer_point(m, s->n), point, m->space->point_size);
    *answer_value(m, s->n) = outcome.reason ? INFINITY : outcome.value;
    s->n++;
    learn_answer(m, point, outcome.reason ? INFINITY : outcome.value, true);
    return true;
}

/* Adds up to `most` best points of a space's own model by an objective to the n points at `points`. */
static sx_status propose_points(const sx_space *space, const sx_proposing *how, const char *objective,
                                size_t most, unsigned char *points, size_t *n) {
    sx_run_options options;
    sx_run *inner;
    sx_found found;
    sx_run_options_init(&options);
    SX_TRY(sx_objective_parse(objective, &options.objective));
    options.seed = how->seed;
    options.cancel = how->cancel;
    options.k_best = (unsigned)most;
    SX_TRY(sx_run_new(space, NULL, &options, &inner));
    sx_status status = sx_run_search_among(inner, how->registry, how->navigator);
    for (size_t k = 0; !status && k < most && sx_run_best(inner, k, &found); k++) {
        bool known = false;
        for (size_t i = 0; i < *n; i++)
            known |= memcmp(points + i * space->point_size, found.point, space->point_size) == 0;
        if (!known) memcpy(points + (*n)++ * space->point_size, found.point, space->point_size);
    }
    sx_run_free(inner);
    return status;
}

sx_status sx_measured_propose(const sx_space *space, const sx_proposing *how, void *points, size_t *n) {
    *n = 0;
    SX_TRY(propose_points(space, how, "edp", BEST, points, n));
    SX_TRY(propose_points(space, how, "delay", 1, points, n));
    return propose_points(space, how, "energy", 1, points, n);
}

/* The logarithm of the expected improvement of a point; *expected: the logarithm of its expected answer. */
static double expected_improvement(measured *m, const void *point, double *expected) {
    double mean, deviation;
    *expected = INFINITY;
    if (!sx_mapping_features(m->map, m->workspace, sx_map_point(point), m->cost, m->features))
        return -INFINITY;
    sx_correction_predict(&m->correction, m->features, &mean, &deviation);
    *expected = modelled_log(m->features) + mean;
    return sx_log_expected_improvement(*expected, deviation, m->best);
}

/* Sets the least expected answer of the points that were asked about. */
static void set_best(measured *m) {
    double expected;
    m->best = INFINITY;
    for (size_t i = 0; i < m->s->n; i++) {
        if (isinf(*answer_value(m, i))) continue;
        (void)expected_improvement(m, answer_point(m, i), &expected);
        m->best = fmin(m->best, expected);
    }
}

/* Where chain number `chain` begins: one of the best answers, a proposal, or a draw; false where there is none. */
static bool begin_chain(measured *m, size_t chain) {
    const unsigned char *from = NULL;
    if (chain < PARENTS) {
        double above = -INFINITY;
        for (size_t rank = 0; rank <= chain; rank++) {
            size_t least = m->s->n;
            for (size_t i = 0; i < m->s->n; i++)
                if (*answer_value(m, i) > above &&
                    (least == m->s->n || *answer_value(m, i) < *answer_value(m, least)))
                    least = i;
            if (least == m->s->n || isinf(*answer_value(m, least))) break;
            above = *answer_value(m, least);
            from = answer_point(m, least);
        }
    } else if (chain < CHAINS - 2 && m->n_proposals > 0) {
        from = m->proposal + sx_rng_below(&m->s->rng, m->n_proposals) * m->space->point_size;
    }
    if (!from) return sx_space_draw_legal(m->space, &m->s->rng, m->at, NULL);
    memcpy(m->at, from, m->space->point_size);
    return true;
}

/* Climbs the expected improvement from a chain's beginning; what is best and not yet asked becomes `next`. */
static void climb_improvement(measured *m, size_t chain, double *most, double *expected) {
    double here, at_mean;
    if (!begin_chain(m, chain)) return;
    here = expected_improvement(m, m->at, &at_mean);
    for (int i = 0; i < STEPS; i++) {
        double mean;
        memcpy(m->trial, m->at, m->space->point_size);
        for (uint64_t moves = 1 + sx_rng_below(&m->s->rng, 3); moves > 0; moves--)
            (void)sx_space_mutate(m->space, &m->s->rng, -1, sx_rng_below(&m->s->rng, 3) == 0, TRIES, m->trial,
                                  m->scratch);
        double there = expected_improvement(m, m->trial, &mean);
        if (there > *most && !sx_correction_knows(&m->correction, m->features) && !was_asked(m, m->trial)) {
            *most = there;
            *expected = mean;
            memcpy(m->next, m->trial, m->space->point_size);
        }
        if (there < here) continue;
        here = there;
        memcpy(m->at, m->trial, m->space->point_size);
    }
}

/* Asks the next question; false when the run ends, or nothing is left to ask. */
static sx_status ask_next(measured *m, bool *go) {
    double most = -INFINITY, expected = INFINITY;
    if (m->s->asked < m->n_proposals) {
        const unsigned char *point = m->proposal + m->s->asked++ * m->space->point_size;
        *go = was_asked(m, point) || ask_machine(m, point);
        return SX_OK;
    }
    SX_TRY(sx_correction_learn(&m->correction));
    set_best(m);
    for (size_t chain = 0; chain < CHAINS && !sx_run_stopped(m->run); chain++)
        climb_improvement(m, chain, &most, &expected);
    *go = !isinf(most);
    if (!*go) return SX_OK;
    sx_outside_evaluator_expect(m->outside, sx_exp(expected));
    *go = ask_machine(m, m->next);
    return SX_OK;
}

/* Makes the memory of a search. */
static sx_status prepare_search(measured *m, bool *resumed) {
    size_t size = sizeof *m->s, point = m->space->point_size;
    m->d = sx_mapping_features_count(m->map);
    m->record = sizeof(double) + point;
    m->s = sx_run_state_sized(m->run, &size, resumed);
    m->proposal = calloc(SX_PROPOSALS + 5, point); /* and room for a start point and four others */
    m->features = calloc(m->d, sizeof *m->features);
    m->cost = malloc(sizeof *m->cost);
    if (!m->s || !m->proposal || !m->features || !m->cost) return sx_error_memory();
    if (*resumed && (m->s->n != (size - sizeof *m->s) / m->record || !sx_rng_holds(&m->s->rng)))
        return sx_run_damaged(m->run);
    for (size_t i = 0; i < m->s->n; i++)
        if (isnan(*answer_value(m, i)) || !sx_run_holds(m->run, answer_point(m, i), 1))
            return sx_run_damaged(m->run);
    m->at = m->proposal + (SX_PROPOSALS + 1) * point;
    m->trial = m->at + point;
    m->scratch = m->trial + point;
    m->next = m->scratch + point;
    SX_TRY(sx_model_workspace_new(m->map->model, &m->workspace));
    return sx_correction_init(&m->correction, m->d, ANSWERS);
}

/* Learns what is known before the first question: answers of other layers, and those of a checkpoint. */
static void learn_before(measured *m) {
    size_t n;
    const double *known = sx_outside_evaluator_remembered(m->outside, m->d, &n);
    for (size_t i = n > ANSWERS / 2 ? n - ANSWERS / 2 : 0; i < n; i++)
        sx_correction_add(&m->correction, known + i * (m->d + 1), known[i * (m->d + 1) + m->d]);
    for (size_t i = 0; i < m->s->n; i++) learn_answer(m, answer_point(m, i), *answer_value(m, i), false);
}

/* Adds the run's first start point to the proposals, as the last. */
static void add_start(measured *m) {
    size_t n, size = m->space->point_size;
    const unsigned char *start = sx_run_starts(m->run, &n);
    if (n > 0) memcpy(m->proposal + m->n_proposals++ * size, start, size);
}

sx_status sx_measured_search(sx_run *run, const char *proposals) {
    measured m = {.run = run, .space = sx_run_space(run), .map = sx_map_space_of(sx_run_space(run))};
    bool resumed = false, go = true;
    m.outside = sx_outside_evaluator_of(sx_run_model(run));
    sx_status status = prepare_search(&m, &resumed);
    if (!status && !resumed) m.s->rng = sx_rng_stream(sx_run_seed(run), "measured", 0);
    const sx_proposing how = {proposals, sx_run_registry(run), sx_run_seed(run), run->options.cancel};
    if (!status) status = sx_measured_propose(m.space, &how, m.proposal, &m.n_proposals);
    if (!status) learn_before(&m);
    if (!status) add_start(&m);
    while (!status && go && sx_run_continue(run)) {
        if (!sx_run_limited(run) && m.s->n >= QUESTIONS) break;
        status = ask_next(&m, &go);
    }
    sx_model_workspace_free(m.workspace);
    sx_correction_fini(&m.correction);
    free(m.proposal);
    free(m.features);
    free(m.cost);
    return status;
}
