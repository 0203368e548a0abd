/* Searches of small spaces of all kinds, with a proof wanted and without, by the mapper alone and in sessions, to the end and
 * ended early, against the cost of every mapping: no bound is above one, and no optimum has a better one beside it. Counted for
 * each directive, key of a law, semantics, option, objective and way to ask: test_sessions [spaces [seed [first]]]. From a
 * hundred thousand cases on, of which others have as many, a twentieth: a space is several searches. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/kind_counts.h"
#include "support/optima.h"

#include "model/model.h"
#include "sextant/run.h"
#include "sextant/session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FEW = 300, MOST = 1500, SEARCHES = 5, MOST_TOLD = 20, ENDLESS = 3000 };

typedef struct settings {
    uint64_t count, seed, first;
} settings;

static const double SLACK = 4e-12;

static const char *const objectives[] = {"edp",
                                         "energy",
                                         "delay",
                                         "ed2p",
                                         "e^2*d",
                                         "utilization",
                                         "last-level",
                                         "delay,energy",
                                         "energy,delay",
                                         "utilization,edp",
                                         "last-level,energy",
                                         "edp,delay,energy",
                                         "latency",
                                         "energy*latency",
                                         "latency,energy",
                                         "energy,latency"};
enum { N_OBJECTIVES = sizeof objectives / sizeof *objectives, ONLY_CYCLES = 12 };

/* The last ones take long. */
static const char *const mappers[] = {"optimal:sunstone=0,gamma=0",
                                      "optimal:sunstone=0,gamma=0,descents=0",
                                      "optimal:sunstone=0,gamma=0,tables=off",
                                      "optimal:sunstone=0,gamma=0,arrays=3",
                                      "optimal:sunstone=0,gamma=0,effort=0.01",
                                      "optimal:sunstone=0,gamma=0,gap=0.1",
                                      "exhaustive",
                                      "auto:gamma=0,effort=0.02",
                                      "auto:gamma=40,effort=0.02",
                                      "optimal:gamma=50",
                                      "auto:gamma=40",
                                      "auto:gamma=40,gap=0.1",
                                      "auto"};
enum { N_MAPPERS = sizeof mappers / sizeof *mappers, QUICK = 9 };

/* What is counted of each trait of a space and each way to ask. */
enum { SPACES, SEARCHED, BOUNDS, OPTIMA, FALSE_BOUNDS, FALSE_OPTIMA, N_COUNTS };
static const char *const counted[] = {"spaces", "searches", "bounds", "optima", "false b.", "false o."};

typedef struct tally {
    sx_kind_counts kinds;
    size_t n_traits; /* kinds that are traits of spaces; the others are ways to ask */
    uint64_t false_bounds, false_optima, told;
} tally;

/* The costs of all legal mappings of a space. */
typedef struct crowd {
    size_t n;
    sx_score *score;
} crowd;

/* What is asked. */
typedef struct question {
    const char *mapper;
    sx_run_options options;
    bool session, widen;
} question;

/* What a search says of a space. */
typedef struct claim {
    const char *about;
    double lower_bound;
    bool optimal, none, found;
    double value;
    sx_score score;
} claim;

/* A space at hand, and its number. */
typedef struct trial {
    sx_small_space small, dividing;
    crowd all, dividing_all;
    bool divides;
    uint64_t number;
    tally *t;
} trial;

/* Notes how a question is asked. */
static void note_question(sx_kind_counts *kinds, const question *q, size_t objective) {
    const sx_run_options *o = &q->options;
    for (size_t i = 0; i < N_OBJECTIVES; i++) sx_kind_set(kinds, objectives[i], i == objective);
    for (size_t i = 0; i < N_MAPPERS; i++) sx_kind_set(kinds, mappers[i], strcmp(mappers[i], q->mapper) == 0);
    sx_kind_set(kinds, "a proof is wanted", o->proof);
    sx_kind_set(kinds, "no proof is wanted", !o->proof);
    sx_kind_set(kinds, "1 to 40 evaluations", o->evaluations > 0);
    sx_kind_set(kinds, "any number of evaluations", o->evaluations == 0);
    sx_kind_set(kinds, "several best", o->k_best > 1);
    sx_kind_set(kinds, "a front", o->pareto);
    sx_kind_set(kinds, "several threads", o->threads > 1);
    sx_kind_set(kinds, "a target", o->target > 0);
    sx_kind_set(kinds, "patience", o->patience > 0);
    sx_kind_set(kinds, "by the mapper alone", !q->session);
    sx_kind_set(kinds, "in a session", q->session && !q->widen);
    sx_kind_set(kinds, "in a session with remainders beside", q->widen);
}

/* Gathers the costs of all legal mappings. */
static void gather(const sx_small_space *small, crowd *c) {
    void *point = malloc(sx_space_point_size(small->space));
    sx_model_workspace *evaluator;
    *c = (crowd){.score = malloc((small->n + 1) * sizeof *c->score)};
    sx_expect_ok(sx_model_workspace_new(small->model, &evaluator));
    for (uint64_t i = 0; i < small->n; i++) {
        sx_cardinal index = {.low = i, .exact = true};
        sx_mapping mapping;
        assert_true(sx_space_at(small->space, &index, point));
        if (!sx_space_legal(small->space, point, NULL, 0)) continue;
        sx_map_space_mapping(small->space, point, &mapping);
        if (sx_evaluate_score(evaluator, &mapping, &c->score[c->n]).reason == SX_LEGAL) c->n++;
    }
    sx_model_workspace_free(evaluator);
    free(point);
}

/* Whether a found mapping is the best of all, by all criteria. */
static bool is_best(const claim *claimed, const sx_objective *o, const double *least) {
    const int last = o->n_criteria - 1;
    for (int k = 0; k <= last; k++) {
        double value = sx_criterion_value(&o->criterion[k], &claimed->score);
        double slack = k == last ? SLACK : o->tolerance + 1e-9;
        if (fabs(value - least[k]) > slack * fmax(fabs(value), fabs(least[k]))) return false;
    }
    return true;
}

/* Tells of a false claim. */
static void tell(const trial *x, const question *q, const char *what, const claim *claimed, double least) {
    char objective[160], *space, *arch;
    if (x->t->told++ >= MOST_TOLD) return;
    sx_objective_text(&q->options.objective, objective, sizeof objective);
    space = sx_small_space_text(&x->small);
    sx_expect_ok(sx_arch_write(&x->small.c.arch, SX_JSON, &arch));
    print_error("space %llu: %s %s: %s by %s, seed %llu, %llu evaluations, proof %d, session %d, widen %d, "
                "target %.17g, patience %llu, k %u, front %d: bound %.17g, value %.17g, optimal %d, none %d; "
                "there is %.17g\n%s\n%s\n",
                (unsigned long long)x->number, what, claimed->about, objective, q->mapper,
                (unsigned long long)q->options.seed, (unsigned long long)q->options.evaluations,
                q->options.proof, q->session, q->widen, q->options.target,
                (unsigned long long)q->options.patience, q->options.k_best, q->options.pareto,
                claimed->lower_bound, claimed->value, claimed->optimal, claimed->none, least, space,
                x->small.c.options.latency_tile ? arch : "");
    free(space);
    free(arch);
}

/* Compares a claim with all mappings that it is about. */
static void judge(const trial *x, const question *q, const crowd *c, const claim *claimed) {
    tally *t = x->t;
    double least[SX_MAX_CRITERIA];
    sx_find_optima(c->score, c->n, &q->options.objective, least);
    const bool bounded = claimed->lower_bound > 0;
    const bool bad_bound = bounded && c->n > 0 && claimed->lower_bound > fmax(least[0], 0) * (1 + SLACK);
    const bool bad_none = claimed->none && c->n > 0;
    const bool bad_optimum =
        claimed->optimal && (!claimed->found || !is_best(claimed, &q->options.objective, least));
    sx_kind_add(&t->kinds, 0, BOUNDS, bounded);
    sx_kind_add(&t->kinds, 0, OPTIMA, claimed->optimal || claimed->none);
    sx_kind_add(&t->kinds, 0, FALSE_BOUNDS, bad_bound);
    sx_kind_add(&t->kinds, 0, FALSE_OPTIMA, bad_optimum || bad_none);
    t->false_bounds += bad_bound;
    t->false_optima += bad_optimum || bad_none;
    if (bad_bound) tell(x, q, "false bound", claimed, least[0]);
    if (bad_none || bad_optimum)
        tell(x, q, "false optimum", claimed, least[q->options.objective.n_criteria - 1]);
}

/* Whether a mapping costs a value. */
static bool costs(const sx_found *found, double value) {
    return fabs(found->value - value) <= SLACK * fabs(value);
}

/* The value of a mapping that is better than the last of the k best and none of them; INFINITY where there is none. */
static double missing_best(const crowd *c, const sx_run *run, const sx_objective *o) {
    sx_found found, last = {.value = INFINITY};
    for (size_t k = 0; sx_run_best(run, k, &found); k++) last = found;
    for (size_t i = 0; i < c->n; i++) {
        const double value = sx_objective_value(o, &c->score[i]);
        bool there = value > last.value - SLACK * fabs(last.value);
        for (size_t k = 0; !there && sx_run_best(run, k, &found); k++) there = costs(&found, value);
        if (!there) return value;
    }
    return INFINITY;
}

/* The energy of a mapping that no member of the front is as good as; INFINITY where there is none. */
static double missing_front(const crowd *c, const sx_run *run) {
    sx_found found;
    for (size_t i = 0; i < c->n; i++) {
        bool there = false;
        for (size_t k = 0; !there && sx_run_front(run, k, &found); k++)
            there = found.metrics.value[0] <= c->score[i].energy_pj * (1 + SLACK) &&
                    found.metrics.value[1] <= c->score[i].cycles * (1 + SLACK);
        if (!there) return c->score[i].energy_pj;
    }
    return INFINITY;
}

/* Compares the lists of a search that proves its optimum with all mappings. */
static void judge_lists(const trial *x, const question *q, const sx_run *run, const claim *claimed) {
    const sx_objective *o = &q->options.objective;
    const bool lists = claimed->optimal && o->n_criteria == 1;
    const double best = lists && q->options.k_best > 1 ? missing_best(&x->all, run, o) : INFINITY,
                 front = lists && q->options.pareto ? missing_front(&x->all, run) : INFINITY;
    if (isinf(best) && isinf(front)) return;
    sx_kind_add(&x->t->kinds, 0, FALSE_OPTIMA, 1);
    x->t->false_optima++;
    tell(x, q, isinf(front) ? "missing among the best" : "missing on the front", claimed, fmin(best, front));
}

/* Lets a mapper search the space; false where it refuses to. */
static bool search_alone(const trial *x, const question *q) {
    sx_run *run;
    sx_found found;
    sx_expect_ok(sx_run_new(x->small.space, NULL, &q->options, &run));
    sx_status status = sx_run_search(run, q->mapper);
    if (status && status->code != SX_ERR_LIMIT) sx_expect_ok(status);
    const bool good = !status;
    const sx_run_summary s = sx_run_result(run);
    claim claimed = {.about = "of a run", .lower_bound = s.lower_bound, .optimal = s.optimal, .none = s.none};
    claimed.found = sx_run_best(run, 0, &found);
    if (claimed.found) {
        claimed.value = found.value;
        claimed.score = sx_metrics_score(&found.metrics);
    }
    judge(x, q, &x->all, &claimed);
    judge_lists(x, q, run, &claimed);
    if (claimed.found && s.lower_bound > fmax(found.value, 0) * (1 + SLACK))
        tell(x, q, "bound above its own answer", &claimed, found.value);
    sx_status_free(status);
    sx_run_free(run);
    return good;
}

static sx_status give_limits(void *user, const sx_problem *problem, const sx_arch *arch,
                             sx_constraints *out) {
    (void)problem;
    (void)arch;
    *out = *(const sx_constraints *)user;
    return SX_OK;
}

/* Compares what a session says of the layer. */
static void judge_layer(const trial *x, const question *q, const sx_layer_result *layer) {
    const sx_run_summary *s = &layer->summary;
    const bool all = !q->widen || layer->remainders || layer->any_optimal;
    claim claimed = {.about = "of a session",
                     .lower_bound = s->lower_bound,
                     .optimal = s->optimal,
                     .none = s->none,
                     .found = layer->found,
                     .value = layer->best.value,
                     .score = layer->best.score};
    judge(x, q, all ? &x->all : &x->dividing_all, &claimed);
    if (!q->widen) return;
    claimed.none = false;
    claimed.about = "with remainders";
    claimed.lower_bound = layer->any_bound;
    claimed.optimal = layer->any_optimal;
    judge(x, q, &x->all, &claimed);
    if (!(layer->dividing.value > 0)) return;
    claimed.about = "of tiles that divide";
    claimed.lower_bound = layer->dividing.lower_bound;
    claimed.optimal = false;
    judge(x, q, &x->dividing_all, &claimed);
}

/* Lets a session map the problem as its only layer; false where its mapper refuses to. */
static bool search_in_session(const trial *x, const question *q) {
    sx_network network = {.n_layers = 1, .layer = calloc(1, sizeof *network.layer)};
    sx_session_options options;
    sx_session_result result;
    network.layer[0].count = 1;
    network.layer[0].problem = x->small.c.problem;
    sx_session_options_init(&options);
    options.mapper = q->mapper;
    options.run = q->options;
    options.space = x->small.options;
    options.model = x->small.c.options;
    if (q->widen) options.space.remainders = false;
    options.widen = q->widen;
    options.constraints = give_limits;
    options.user = (void *)&x->small.limits;
    sx_status status = sx_session_run(&network, &x->small.c.arch, &options, &result);
    const bool good = !status;
    if (status && status->code != SX_ERR_LIMIT) sx_expect_ok(status);
    if (good) judge_layer(x, q, &result.layer[0]);
    sx_status_free(status);
    sx_session_result_fini(&result);
    sx_network_fini(&network);
    return good;
}

/* Draws a question; returns the number of its objective. */
static size_t ask(const trial *x, sx_rng *rng, question *q) {
    static const double tolerances[] = {0.001, 0.05, 0.3};
    sx_run_options *o = &q->options;
    size_t objective = sx_rng_below(rng, x->small.c.options.latency_tile ? N_OBJECTIVES : ONLY_CYCLES);
    if (x->small.model->law && sx_rng_below(rng, 2))
        objective = ONLY_CYCLES + sx_rng_below(rng, N_OBJECTIVES - ONLY_CYCLES);
    if (sx_is_aimed(&x->small)) objective = 0;
    *q = (question){.mapper = mappers[sx_rng_below(rng, sx_rng_below(rng, 4) ? QUICK : N_MAPPERS)]};
    sx_run_options_init(o);
    sx_expect_ok(sx_objective_parse(objectives[objective], &o->objective));
    o->objective.tolerance = tolerances[sx_rng_below(rng, 3)];
    o->seed = sx_rng_below(rng, 1000);
    o->proof = sx_rng_below(rng, 3) == 0;
    if (sx_rng_below(rng, 3) == 0) o->evaluations = 1 + sx_rng_below(rng, 40);
    if (sx_rng_below(rng, 6) == 0) o->k_best = (unsigned)sx_rng_range(rng, 2, 5);
    if (sx_rng_below(rng, 6) == 0) o->pareto = true;
    if (sx_rng_below(rng, 24) == 0) o->threads = 3;
    if (sx_rng_below(rng, 24) == 0) o->patience = 1 + sx_rng_below(rng, 40);
    if (sx_rng_below(rng, 24) == 0 && x->all.n > 0)
        o->target = fmax(0, sx_objective_value(&o->objective, &x->all.score[sx_rng_below(rng, x->all.n)]));
    if (o->target > 0 && o->evaluations == 0 && o->patience == 0)
        o->evaluations = ENDLESS; /* none may reach it */
    q->session = sx_rng_below(rng, 3) == 0;
    q->widen = q->session && x->divides && sx_rng_below(rng, 2);
    return objective;
}

/* Searches one space several times; returns whether it has legal mappings. */
static bool try_space(const settings *set, uint64_t number, tally *t) {
    sx_rng rng = sx_rng_stream(set->seed, "sessions", number);
    trial x = {.number = number, .t = t};
    sx_random_mixed_space(&rng, sx_rng_below(&rng, 8) ? FEW : MOST, &x.small);
    gather(&x.small, &x.all);
    x.divides = x.small.options.remainders && sx_dividing_space(&x.small, &x.dividing);
    if (x.divides) gather(&x.dividing, &x.dividing_all);
    sx_kind_set_traits(&t->kinds, &x.small);
    if (t->n_traits == 0) t->n_traits = t->kinds.n;
    for (size_t i = t->n_traits; i < t->kinds.n; i++) t->kinds.of[i].now = false;
    sx_kind_add(&t->kinds, 0, SPACES, 1);
    for (int i = 0; i < SEARCHES; i++) {
        question q;
        const size_t objective = ask(&x, &rng, &q);
        note_question(&t->kinds, &q, objective);
        sx_kind_add(&t->kinds, t->n_traits, SPACES, 1);
        sx_kind_add(&t->kinds, 0, SEARCHED, q.session ? search_in_session(&x, &q) : search_alone(&x, &q));
    }
    const bool legal = x.all.n > 0;
    free(x.all.score);
    free(x.dividing_all.score);
    if (x.divides) sx_small_space_fini(&x.dividing);
    sx_small_space_fini(&x.small);
    return legal;
}

/* Prints the counts, and fails where something is false or too little was compared. */
static void expect_counts(const tally *t, uint64_t legal, uint64_t count) {
    sx_kind_expect(&t->kinds, counted, N_COUNTS, SEARCHED, count / 250);
    print_message("%llu false bounds, %llu false optima\n", (unsigned long long)t->false_bounds,
                  (unsigned long long)t->false_optima);
    sx_expect_compared("spaces with legal mappings", legal, count / 2);
    assert_int_equal(t->told, 0);
}

static void nothing_is_claimed_that_is_not_so(void **state) {
    const settings *set = *state;
    tally *t = calloc(1, sizeof *t);
    uint64_t legal = 0;
    for (uint64_t i = 0; i < set->count; i++) legal += try_space(set, set->first + i, t);
    expect_counts(t, legal, set->count);
    free(t);
}

int main(int argc, char **argv) {
    settings set = {500, 1, 0};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10);
    if (set.count >= 100000) set.count /= 20;
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    if (argc > 3) set.first = strtoull(argv[3], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(nothing_is_claimed_that_is_not_so, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
