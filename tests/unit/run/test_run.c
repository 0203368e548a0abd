/* Runs over a toy space, by navigators made for the purpose. */
#include "base/status.h"
#include "run/worker_pool.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include "base/clock.h"
#include "sextant/navigator.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_TASKS = 40, MAX_STEPS = 30, MAX_CALLS = 4, MAX_ALL = MAX_CALLS * MAX_TASKS * MAX_STEPS };

/* What a scripted navigator does: calls of tasks of steps, each a few rejected draws and a point. */
typedef struct step {
    sx_toy_point point;
    uint64_t rejected;
    bool within;
    sx_outcome outcome;
} step;

typedef struct script {
    size_t n_calls, n_tasks[MAX_CALLS], n_steps[MAX_CALLS][MAX_TASKS];
    step *step[MAX_CALLS][MAX_TASKS];
    uint64_t trailing; /* rejected at the end of every task */
    size_t call;       /* the current one */
} script;

static script *the_script; /* a search has no argument of its own */

static sx_status play_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const script *s = input;
    (void)output;
    for (size_t i = 0; i < s->n_steps[s->call][task]; i++) {
        step *st = &s->step[s->call][task][i];
        sx_worker_reject(worker, st->rejected);
        memcpy(sx_worker_scratch(worker, 3), &st->point, sizeof st->point);
        st->outcome = sx_worker_evaluate(worker, sx_worker_scratch(worker, 3), st->within);
    }
    sx_worker_reject(worker, s->trailing);
    return SX_OK;
}

static sx_status play(sx_run *run) {
    script *s = the_script;
    uint64_t *call = sx_run_state(run, sizeof *call, NULL);
    for (; sx_run_continue(run) && *call < s->n_calls; ++*call) {
        s->call = *call;
        sx_run_tasks(run, s->n_tasks[s->call], play_task, s, NULL, 0);
    }
    return SX_OK;
}

static const sx_navigator player = {.search = play};

/* Searches by a navigator of the test's own. */
static sx_run *search_by(const sx_space *space, const sx_navigator *navigator,
                         const sx_run_options *options) {
    sx_run *run;
    sx_expect_ok(sx_run_new(space, NULL, options, &run));
    sx_expect_ok(sx_run_search_by(run, "own", navigator, NULL));
    return run;
}

static void script_draw(sx_rng *rng, const sx_space *space, script *s) {
    memset(s, 0, sizeof *s);
    s->n_calls = 1 + sx_rng_below(rng, MAX_CALLS);
    s->trailing = sx_rng_below(rng, 3);
    for (size_t c = 0; c < s->n_calls; c++) {
        s->n_tasks[c] = sx_rng_below(rng, 3) ? sx_rng_below(rng, MAX_TASKS) : 1;
        for (size_t t = 0; t < s->n_tasks[c]; t++) {
            size_t n = s->n_steps[c][t] = sx_rng_below(rng, MAX_STEPS);
            s->step[c][t] = calloc(n + 1, sizeof(step));
            assert_non_null(s->step[c][t]);
            for (size_t i = 0; i < n; i++) {
                step *st = &s->step[c][t][i];
                space->type->draw(space, rng, &st->point);
                if (i > 0 && sx_rng_below(rng, 8) == 0) st->point = s->step[c][t][sx_rng_below(rng, i)].point;
                if (c > 0 && s->n_tasks[0] > 0 && sx_rng_below(rng, 3) == 0) {
                    size_t other = sx_rng_below(rng, s->n_tasks[0]);
                    if (s->n_steps[0][other] > 0)
                        st->point = s->step[0][other][sx_rng_below(rng, s->n_steps[0][other])].point;
                }
                st->rejected = sx_rng_below(rng, 4) ? 0 : sx_rng_below(rng, 9);
                st->within = sx_rng_below(rng, 2);
            }
        }
    }
}

static void script_fini(script *s) {
    for (size_t c = 0; c < s->n_calls; c++)
        for (size_t t = 0; t < s->n_tasks[c]; t++) free(s->step[c][t]);
}

/* What a run should come to, worked out step by step with no cleverness. */
typedef struct reckoning {
    uint64_t evaluations, valid, rejected;
    sx_stop stop;
    size_t n, n_trace;
    sx_trace_point trace[MAX_ALL];
    struct entry {
        const sx_toy_point *point;
        sx_metrics metrics;
        double value;
        uint64_t evaluation;
    } legal[MAX_ALL]; /* in order of evaluation */
} reckoning;

static bool reckon_step(reckoning *r, const sx_run_options *o, sx_scorer *scorer, const step *st,
                        uint64_t *improved) {
    sx_outcome is;
    sx_expect_ok(sx_scorer_score(scorer, &st->point, 1, INFINITY, &is));
    r->rejected += st->rejected;
    r->evaluations++;
    if (is.reason == 0) {
        double value = is.value;
        r->valid++;
        r->legal[r->n++] = (struct entry){&st->point, is.metrics, value, r->evaluations};
        if (r->n_trace == 0 || value < r->trace[r->n_trace - 1].value) {
            r->trace[r->n_trace++] = (sx_trace_point){r->evaluations, 0, value};
            *improved = r->evaluations;
            r->stop = SX_STOP_TARGET;
            if (o->target != 0 && value <= o->target) return false;
        }
    }
    r->stop = SX_STOP_EVALUATIONS;
    if (r->evaluations == o->evaluations) return false;
    r->stop = SX_STOP_PATIENCE;
    if (o->patience && r->evaluations - *improved >= o->patience) return false;
    r->stop = SX_STOP_DONE;
    return true;
}

static void reckon(reckoning *r, const sx_run_options *o, const sx_space *space, const script *s) {
    sx_scorer *scorer;
    uint64_t improved = 0;
    bool on = true;
    memset(r, 0, sizeof *r);
    sx_expect_ok(sx_scorer_new(space, NULL, &o->objective, &scorer));
    for (size_t c = 0; on && c < s->n_calls; c++)
        for (size_t t = 0; on && t < s->n_tasks[c]; t++) {
            for (size_t i = 0; on && i < s->n_steps[c][t]; i++)
                on = reckon_step(r, o, scorer, &s->step[c][t][i], &improved);
            if (on) r->rejected += s->trailing;
        }
    sx_scorer_free(scorer);
}

/* The earliest best point that is not among the first n of `taken`, NULL where there is none. */
static const struct entry *next_best(const reckoning *r, const struct entry **taken, size_t n) {
    const struct entry *best = NULL;
    for (size_t i = 0; i < r->n; i++) {
        const struct entry *e = &r->legal[i];
        bool known = best && e->value >= best->value;
        for (size_t j = 0; j < n && !known; j++)
            known = memcmp(taken[j]->point, e->point, sizeof *e->point) == 0;
        if (!known) best = e;
    }
    return best;
}

static void expect_found(const sx_found *f, const struct entry *e) {
    assert_memory_equal(f->point, e->point, sizeof *e->point);
    assert_memory_equal(&f->metrics, &e->metrics, sizeof f->metrics);
    assert_true(f->value == e->value && f->evaluation == e->evaluation);
}

static bool dominates(const struct entry *a, const struct entry *b) {
    const double *x = a->metrics.value, *y = b->metrics.value;
    bool no_worse = x[0] <= y[0] && x[1] <= y[1], same = x[0] == y[0] && x[1] == y[1];
    return no_worse && (!same || a->evaluation < b->evaluation);
}

static void expect_reckoned(const sx_run *run, const sx_run_options *o, const reckoning *r) {
    sx_run_summary summary = sx_run_result(run);
    sx_found f;
    sx_trace_point t;
    assert_true(summary.evaluations == r->evaluations);
    assert_true(summary.valid == r->valid);
    assert_true(summary.rejected == r->rejected);
    assert_string_equal(sx_stop_name(summary.stop), sx_stop_name(r->stop));
    for (size_t i = 0; i < r->n_trace; i++) {
        assert_true(sx_run_trace(run, i, &t));
        assert_true(t.evaluations == r->trace[i].evaluations && t.value == r->trace[i].value);
    }
    assert_false(sx_run_trace(run, r->n_trace, &t));
    const struct entry *taken[16];
    size_t k = o->k_best ? o->k_best : 1, n = 0;
    for (; n < k && (taken[n] = next_best(r, taken, n)) != NULL; n++) {
        assert_true(sx_run_best(run, n, &f));
        expect_found(&f, taken[n]);
    }
    assert_false(sx_run_best(run, n, &f));
    size_t front = 0;
    for (size_t i = 0; o->pareto && i < r->n; i++) {
        bool beaten = false;
        for (size_t j = 0; j < r->n; j++) beaten = beaten || dominates(&r->legal[j], &r->legal[i]);
        if (beaten) continue;
        size_t at = 0;
        while (sx_run_front(run, at, &f) && f.evaluation != r->legal[i].evaluation) at++;
        assert_true(sx_run_front(run, at, &f));
        expect_found(&f, &r->legal[i]);
        front++;
    }
    assert_false(sx_run_front(run, front, &f));
}

static void tasks_are_joined_as_if_one_after_another(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    script s;
    reckoning *r = malloc(sizeof *r);
    assert_non_null(r);
    the_script = &s;
    for (uint64_t i = 0; i < 300; i++) {
        sx_rng rng = sx_rng_stream(1, "run.script", i);
        sx_run_options o;
        sx_run_options_init(&o);
        script_draw(&rng, space, &s);
        if (sx_rng_below(&rng, 2)) o.evaluations = 1 + sx_rng_below(&rng, 900);
        if (sx_rng_below(&rng, 2)) o.patience = 1 + sx_rng_below(&rng, 200);
        if (sx_rng_below(&rng, 2)) o.target = 20000 + 30000 * sx_rng_double(&rng);
        o.k_best = (unsigned)sx_rng_below(&rng, 9);
        o.pareto = sx_rng_below(&rng, 2);
        reckon(r, &o, space, &s);
        for (unsigned threads = 1; threads <= 4; threads++) {
            o.threads = threads;
            o.cache = threads % 2 ? 0 : 64;
            sx_run *run = search_by(space, &player, &o);
            expect_reckoned(run, &o, r);
            sx_run_free(run);
        }
        script_fini(&s);
    }
    free(r);
    sx_space_free(space);
}

/* Looks at what each step of a script came back with, given that none was past the end. */
static void check_outcomes(const script *s, const sx_space *space, const sx_run_options *o) {
    sx_scorer *scorer;
    double best = INFINITY;
    sx_expect_ok(sx_scorer_new(space, NULL, &o->objective, &scorer));
    for (size_t c = 0; c < s->n_calls; c++) {
        double before = best;
        for (size_t t = 0; t < s->n_tasks[c]; t++) {
            double bound = before;
            for (size_t i = 0; i < s->n_steps[c][t]; i++) {
                const step *st = &s->step[c][t][i];
                sx_outcome is;
                sx_expect_ok(sx_scorer_score(scorer, &st->point, 1, INFINITY, &is));
                unsigned reason = is.reason;
                double value = is.value;
                bool cut = reason == 0 && st->within && o->k_best <= 1 && !o->pareto && value > bound;
                assert_int_equal(st->outcome.reason, cut ? SX_BEYOND : reason);
                assert_true(st->outcome.value == (cut ? INFINITY : value));
                if (!cut && !reason)
                    assert_memory_equal(&st->outcome.metrics, &is.metrics, sizeof is.metrics);
                if (value < bound) bound = value;
                if (value < best) best = value;
            }
        }
    }
    sx_scorer_free(scorer);
}

static void tasks_see_what_does_not_depend_on_others(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    script s;
    the_script = &s;
    uint64_t total = 0;
    for (uint64_t i = 0; i < 60; i++) {
        sx_rng rng = sx_rng_stream(2, "run.script", i);
        sx_run_options o;
        sx_run_options_init(&o);
        script_draw(&rng, space, &s);
        o.k_best = i % 3 == 1 ? 3 : 1;
        o.pareto = i % 3 == 2;
        uint64_t hits = 0;
        for (unsigned kind = 0; kind < 4; kind++) {
            o.threads = kind % 2 ? 4 : 1;
            o.cache = kind < 2 ? 0 : 5000;
            sx_run *run = search_by(space, &player, &o);
            check_outcomes(&s, space, &o);
            if (kind == 2) hits = sx_run_result(run).cache_hits;
            assert_true(sx_run_result(run).cache_hits == (kind < 2 ? 0 : hits));
            total += hits;
            sx_run_free(run);
        }
        script_fini(&s);
    }
    sx_expect_compared("cache hits", (uint64_t)total, 1000);
    sx_space_free(space);
}

/* Fails the test where an incumbent is worse than an earlier one by more than the tolerance. */
static void expect_no_drift(const sx_run *run, double tolerance) {
    sx_trace_point line;
    double least = INFINITY;
    for (size_t i = 0; sx_run_trace(run, i, &line); i++) {
        if (line.value < least) least = line.value;
        assert_true(line.value - least <= (tolerance + 1e-9) * fmax(fabs(line.value), fabs(least)));
    }
}

static void later_criteria_decide_among_equals(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    script s;
    the_script = &s;
    for (uint64_t i = 0; i < 40; i++) {
        sx_rng rng = sx_rng_stream(3, "run.script", i);
        sx_run_options o;
        sx_run_options_init(&o);
        sx_expect_ok(sx_objective_parse(i % 2 ? "delay,energy" : "utilization,edp", &o.objective));
        o.objective.tolerance = i % 4 < 2 ? 0.05 : 1.5;
        script_draw(&rng, space, &s);
        sx_run *alone = search_by(space, &player, &o);
        expect_no_drift(alone, o.objective.tolerance);
        o.threads = 3;
        sx_run *run = search_by(space, &player, &o);
        sx_found a, b;
        assert_int_equal(sx_run_best(alone, 0, &a), sx_run_best(run, 0, &b));
        if (sx_run_best(alone, 0, &a)) {
            assert_memory_equal(a.point, b.point, sizeof(sx_toy_point));
            assert_true(a.evaluation == b.evaluation);
        }
        sx_run_free(alone);
        sx_run_free(run);
        script_fini(&s);
    }
    sx_space_free(space);
}

/* The cut-off of several criteria is where a tie of the first one ends: below it a point may be better by the
 * next one, above it none is. */
static void cut_offs_are_where_ties_end(void **state) {
    (void)state;
    const double tolerances[] = {0, 0.001, 0.05, 0.5}, values[] = {1e-3, 1, 4711.5, 1e12};
    const double off = 1e-9;
    sx_objective o;
    sx_expect_ok(sx_objective_parse("energy,delay", &o));
    for (size_t t = 0; t < 4; t++)
        for (size_t i = 0; i < 4; i++) {
            o.tolerance = tolerances[t];
            double cutoff = sx_worker_pool_cutoff(&o, values[i]);
            const sx_score known = {.energy_pj = values[i], .cycles = 100};
            const sx_score below = {.energy_pj = cutoff * (1 - off), .cycles = 99};
            const sx_score above = {.energy_pj = cutoff * (1 + off), .cycles = 99};
            assert_int_equal(sx_objective_compare(&o, &below, &known), -1);
            assert_int_equal(sx_objective_compare(&o, &above, &known), 1);
        }
    sx_expect_ok(sx_objective_parse("utilization,delay", &o));
    for (size_t t = 0; t < 4; t++) {
        o.tolerance = tolerances[t];
        double cutoff = sx_worker_pool_cutoff(&o, -0.5);
        const sx_score known = {.utilization = 0.5, .cycles = 100};
        const sx_score below = {.utilization = -cutoff + off, .cycles = 99};
        const sx_score above = {.utilization = -cutoff - off, .cycles = 99};
        assert_int_equal(sx_objective_compare(&o, &below, &known), -1);
        assert_int_equal(sx_objective_compare(&o, &above, &known), 1);
    }
    sx_expect_ok(sx_objective_parse("energy", &o));
    assert_true(sx_worker_pool_cutoff(&o, 5) == 5);
}

/* Evaluates one batch and keeps what came back. */
enum { BATCH = 101 };
static sx_outcome batch_out[BATCH];
static size_t batch_done;

static sx_status evaluate_batch(sx_run *run) {
    static sx_toy_point points[BATCH];
    const sx_space *space = sx_run_space(run);
    sx_rng rng = sx_rng_stream(sx_run_seed(run), "batch", 0);
    sx_run_state(run, 0, NULL);
    for (int i = 0; i < BATCH; i++) space->type->draw(space, &rng, &points[i]);
    batch_done = sx_run_evaluate(run, points, BATCH, batch_out);
    assert_true(sx_run_evaluations(run, 5) == (batch_done < BATCH ? batch_done : 5));
    return SX_OK;
}

static const sx_navigator batcher = {.search = evaluate_batch};

static void batches_are_cut_at_the_budget(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    sx_outcome whole[BATCH];
    sx_run_options o;
    sx_run_options_init(&o);
    sx_run_free(search_by(space, &batcher, &o));
    assert_int_equal(batch_done, BATCH);
    memcpy(whole, batch_out, sizeof whole);
    for (unsigned budget = 1; budget < BATCH; budget += 3)
        for (o.threads = 1; o.threads <= 3; o.threads++) {
            o.evaluations = budget;
            sx_run *run = search_by(space, &batcher, &o);
            assert_int_equal(batch_done, budget);
            assert_int_equal(sx_run_result(run).stop, SX_STOP_EVALUATIONS);
            for (unsigned i = 0; i < BATCH; i++) {
                assert_int_equal(batch_out[i].reason, i < budget ? whole[i].reason : SX_NOT_EVALUATED);
                assert_true(batch_out[i].value == (i < budget ? whole[i].value : INFINITY));
            }
            sx_run_free(run);
        }
    sx_space_free(space);
}

/* Notes how often it is called. */
typedef struct meter {
    unsigned n;
    uint64_t evaluations;
} meter;

static void note_progress(void *user, const sx_progress *p) {
    meter *m = user;
    m->n++;
    assert_true(p->evaluations >= m->evaluations && p->seconds_limit == 0.35 && p->limit == 0);
    assert_true(p->best <= p->first);
    m->evaluations = p->evaluations;
}

static void time_and_progress_go_by_the_clock(void **state) {
    (void)state;
    const sx_toy_options slow = {.work = 2000};
    sx_space *space = sx_toy_space_new(&slow);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        meter m = {0};
        sx_run_options o;
        sx_run_options_init(&o);
        o.threads = threads;
        o.seconds = 0.35;
        o.progress = note_progress;
        o.user = &m;
        sx_run *run;
        sx_expect_ok(sx_run_new(space, NULL, &o, &run));
        sx_expect_ok(sx_run_search(run, "random"));
        sx_run_summary s = sx_run_result(run);
        assert_int_equal(s.stop, SX_STOP_TIME);
        assert_false(s.repeatable);
        assert_true(s.seconds >= 0.35 && s.seconds < 20);
        assert_in_range(m.n, 1, (unsigned)(s.seconds * 10) + 1);
        sx_run_free(run);
    }
    sx_space_free(space);
}

static void slow_evaluations_do_not_hide_the_clock(void **state) {
    (void)state;
    const sx_toy_options slow = {.work = 5000000};
    sx_space *space = sx_toy_space_new(&slow);
    sx_run_options o;
    sx_run *run;
    sx_run_options_init(&o);
    o.seconds = 0.001;
    sx_expect_ok(sx_run_new(space, NULL, &o, &run));
    sx_expect_ok(sx_run_search(run, "random"));
    assert_int_equal(sx_run_result(run).stop, SX_STOP_TIME);
    assert_in_range(sx_run_result(run).evaluations, 0, 2);
    sx_run_free(run);
    sx_space_free(space);
}

static sx_status refuse(void *user, const void *bytes, size_t size) {
    (void)user, (void)bytes, (void)size;
    sx_status error = SX_OK;
    sx_run *run;
    sx_run_options o;
    sx_run_options_init(&o);
    o.seconds = -1;
    sx_space *space = sx_toy_space_new(NULL);
    error = sx_run_new(space, NULL, &o, &run);
    sx_space_free(space);
    return error;
}

static void misuse_is_refused(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    sx_run_options good, o;
    sx_run_options_init(&good);
    sx_run *run;
    o = good, o.seconds = (double)NAN;
    sx_expect_error(sx_run_new(space, NULL, &o, &run), "is not a valid time limit");
    o = good, o.target = (double)INFINITY;
    sx_expect_error(sx_run_new(space, NULL, &o, &run), "is not a valid target");
    o = good, o.checkpoint_seconds = -1;
    sx_expect_error(sx_run_new(space, NULL, &o, &run), "checkpoints cannot be");
    o = good, o.threads = 5000;
    sx_expect_error(sx_run_new(space, NULL, &o, &run), "at most 1024 threads");
    o = good, o.k_best = 1000000;
    sx_expect_error(sx_run_new(space, NULL, &o, &run), "at most 10000 best points");
    o = good, o.n_starts = 1;
    sx_expect_error(sx_run_new(space, NULL, &o, &run), "announced but none given");
    o = good, o.objective.n_criteria = 0;
    sx_expect_error(sx_run_new(space, NULL, &o, &run), "from 1 to 4 criteria");
    o = good, o.evaluations = 10;
    sx_expect_ok(sx_run_new(space, NULL, &o, &run));
    sx_expect_error(sx_run_search(run, "rondom"), "did you mean 'random'?");
    sx_expect_ok(sx_run_search(run, "random"));
    sx_expect_error(sx_run_search(run, "random"), "a run searches once");
    sx_run_free(run);
    sx_expect_ok(sx_run_new(space, NULL, &o, &run));
    sx_expect_error(sx_run_search(run, "gamma"), "searches map spaces only; this is a toy space");
    sx_run_free(run);
    o.checkpoint = refuse;
    sx_expect_ok(sx_run_new(space, NULL, &o, &run));
    sx_expect_error(sx_run_search(run, "random"), "is not a valid time limit");
    assert_int_equal(sx_run_result(run).stop, SX_STOP_FAILED);
    assert_false(sx_run_result(run).repeatable);
    sx_run_free(run);
    sx_run_free(NULL);
    sx_space_free(space);
}

/* States bounds. */
static sx_status bound(sx_run *run) {
    sx_run_optimal(run);
    sx_run_bound(run, 3);
    sx_run_bound(run, 2);
    sx_run_reject(run, 4);
    assert_null(sx_run_incumbent(run, NULL));
    assert_false(sx_run_stopped(run));
    return SX_OK;
}

static void bounds_only_rise(void **state) {
    (void)state;
    const sx_navigator binder = {.search = bound};
    sx_space *space = sx_toy_space_new(NULL);
    sx_run_options o;
    sx_run_options_init(&o);
    sx_run *run = search_by(space, &binder, &o);
    sx_run_summary s = sx_run_result(run);
    assert_true(s.lower_bound == 3 && !s.optimal && s.stop == SX_STOP_DONE && s.rejected == 4);
    sx_run_free(run);
    sx_space_free(space);
}

/* A task whose output is its number, and which fails at 7. */
static sx_status number_task(const void *input, size_t task, sx_worker *worker, void *output) {
    (void)worker;
    if (*(const bool *)input && task == 7) return sx_error_new(SX_ERR_FILE, "task %zu is lost", task);
    *(uint64_t *)output = task + 1;
    return SX_OK;
}

static sx_status number(sx_run *run) {
    uint64_t numbers[40] = {0};
    sx_run_tasks(run, 40, number_task, sx_run_user(run), numbers, sizeof *numbers);
    for (size_t i = 0; i < 40; i++)
        assert_true(numbers[i] == i + 1 || (*(const bool *)sx_run_user(run) && numbers[i] == 0));
    return SX_OK;
}

static void tasks_have_outputs_and_errors(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    for (unsigned threads = 1; threads <= 4; threads += 3)
        for (int fails = 0; fails < 2; fails++) {
            bool failing = fails;
            const sx_navigator navigator = {.search = number, .user = &failing};
            sx_run_options o;
            sx_run *run;
            sx_run_options_init(&o);
            o.threads = threads;
            sx_expect_ok(sx_run_new(space, NULL, &o, &run));
            sx_status status = sx_run_search_by(run, "numbers", &navigator, NULL);
            if (fails)
                sx_expect_error(status, "task 7 is lost");
            else
                sx_expect_ok(status);
            sx_run_free(run);
        }
    sx_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_are_joined_as_if_one_after_another),
        cmocka_unit_test(tasks_have_outputs_and_errors),
        cmocka_unit_test(tasks_see_what_does_not_depend_on_others),
        cmocka_unit_test(later_criteria_decide_among_equals),
        cmocka_unit_test(cut_offs_are_where_ties_end),
        cmocka_unit_test(batches_are_cut_at_the_budget),
        cmocka_unit_test(time_and_progress_go_by_the_clock),
        cmocka_unit_test(slow_evaluations_do_not_hide_the_clock),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(bounds_only_rise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
