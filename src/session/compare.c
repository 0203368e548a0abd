/* The runs of a comparison and their statistics. */
#include "sextant/compare.h"

#include "base/ranks.h"
#include "base/status.h"
#include "run/uphold.h"
#include "session/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIAGNOSIS_TRIES = 10000 };

void sx_comparison_free(sx_comparison *c) {
    if (!c) return;
    for (size_t i = 0; i < c->n_runs; i++) free(c->run[i].trace);
    for (size_t i = 0; c->label && i < c->n_navigators; i++) free(c->label[i]);
    for (size_t i = 0; c->settings && i < c->n_navigators; i++) free(c->settings[i]);
    for (size_t i = 0; c->problem && i < c->n_problems; i++) {
        free(c->problem[i].name);
        free(c->problem[i].diagnosis);
    }
    for (size_t i = 0; i < c->n_metrics; i++) free(c->metric[i]);
    free(c->model);
    free(c->run);
    free(c->label);
    free(c->settings);
    free(c->problem);
    free(c->seed);
    free(c);
}

size_t sx_comparison_total(const sx_comparison *c) {
    return c->n_problems * c->n_navigators * c->n_seeds;
}

/* Copies a text into a comparison. */
static sx_status copy_text(const char *text, char **out) {
    *out = strdup(text);
    return *out ? SX_OK : sx_error_memory();
}

/* Refuses a list with one entry twice. */
static sx_status check_unique(const sx_comparison *c) {
    for (size_t i = 0; i < c->n_navigators; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(c->label[i], c->label[j]) == 0)
                return sx_error_new(SX_ERR_USAGE, "'%s' is compared with itself", c->label[i]);
    for (size_t i = 0; i < c->n_seeds; i++)
        for (size_t j = 0; j < i; j++)
            if (c->seed[i] == c->seed[j])
                return sx_error_new(SX_ERR_USAGE, "seed %llu is given twice", (unsigned long long)c->seed[i]);
    return SX_OK;
}

/* Fills an empty comparison with what is to be compared. */
static sx_status fill_comparison(const sx_comparison_options *o, sx_comparison *c) {
    if (!o->n_problems || !o->n_navigators || !o->n_seeds || !o->open)
        return sx_error_new(SX_ERR_USAGE, "a comparison needs a problem, a navigator and a seed");
    c->n_problems = o->n_problems;
    c->n_navigators = o->n_navigators;
    c->n_seeds = o->n_seeds;
    c->problem = calloc(o->n_problems, sizeof *c->problem);
    c->label = calloc(o->n_navigators, sizeof *c->label);
    c->settings = calloc(o->n_navigators, sizeof *c->settings);
    c->seed = calloc(o->n_seeds, sizeof *c->seed);
    c->run = calloc(sx_comparison_total(c), sizeof *c->run);
    if (!c->problem || !c->label || !c->settings || !c->seed || !c->run) return sx_error_memory();
    for (size_t i = 0; i < o->n_problems; i++) SX_TRY(copy_text(o->problem[i], &c->problem[i].name));
    for (size_t i = 0; i < o->n_navigators; i++) {
        SX_TRY(copy_text((o->label ? o->label : o->navigator)[i], &c->label[i]));
        SX_TRY(sx_navigator_text(o->navigator[i], NULL, &c->settings[i]));
    }
    memcpy(c->seed, o->seed, o->n_seeds * sizeof *c->seed);
    sx_objective_text(&o->run.objective, c->objective, sizeof c->objective);
    c->evaluations = o->run.evaluations;
    c->seconds = o->run.seconds;
    c->clock = !o->no_clock;
    return check_unique(c);
}

/* Takes over the names of a model's metrics, or refuses a model that has others than the problems before. */
static sx_status check_model(sx_comparison *c, const sx_compare_space *s) {
    const sx_point_model *model = s->model ? s->model : sx_space_model(s->space);
    if (!model) return sx_error_new(SX_ERR_USAGE, "a space to compare on has no model");
    const sx_point_model_type *type = model->type;
    if (!c->model) {
        SX_TRY(copy_text(type->name, &c->model));
        for (; c->n_metrics < type->n_metrics; c->n_metrics++)
            SX_TRY(copy_text(type->metrics[c->n_metrics].name, &c->metric[c->n_metrics]));
    }
    bool same = c->n_metrics == type->n_metrics;
    for (size_t i = 0; same && i < c->n_metrics; i++) same = strcmp(c->metric[i], type->metrics[i].name) == 0;
    if (same) return SX_OK;
    return sx_error_new(SX_ERR_USAGE, "the models '%s' and '%s' cannot be compared: their metrics differ",
                        c->model, type->name);
}

/* Copies out what a run found. */
static sx_status take_result(const sx_run *run, bool clock, sx_compare_run *out) {
    sx_found best;
    out->summary = sx_run_result(run);
    if (!clock) out->summary.seconds = 0;
    out->found = sx_run_best(run, 0, &best);
    if (out->found) {
        out->metrics = best.metrics;
        out->value = best.value;
    }
    return sx_run_copy_trace(run, clock, &out->trace, &out->n_trace);
}

/* The runs on one problem. */
typedef struct problem_runs {
    const sx_comparison_options *o;
    sx_comparison *c;
    sx_compare_space space;
    size_t problem;
    size_t refused_navigator, why_index; /* the navigator that refused the problem last; a run that this */
    sx_status why;                       /* process saw refused, and why */
} problem_runs;

/* Whether an error is a navigator's refusal of a problem, which the caller wants to know of. */
static bool is_refusal(const sx_comparison_options *o, const struct sx_error *why) {
    return o->refused && (why->code == SX_ERR_USAGE || why->code == SX_ERR_LIMIT);
}

/* Makes run number `index` of a problem: by navigator, then by seed. */
static sx_status run_once(const problem_runs *p, size_t index, sx_compare_run *out) {
    const sx_comparison *c = p->c;
    const size_t navigator = index / c->n_seeds;
    const uint64_t seed = c->seed[index % c->n_seeds];
    sx_run_options options = p->o->run;
    sx_run *run = NULL;
    options.seed = seed;
    if (p->o->begins) p->o->begins(p->o->user, c, p->problem, navigator, seed);
    SX_TRY(sx_run_new(p->space.space, p->space.model, &options, &run));
    *out = (sx_compare_run){.problem = p->problem, .navigator = navigator, .seed = seed};
    sx_status status = sx_run_search(run, c->settings[navigator]);
    if (!status) status = take_result(run, c->clock, out);
    sx_run_free(run);
    return status;
}

/* Makes a run; its bytes are the result and the trace, none where the navigator refuses the problem. */
static sx_status make_run(void *user, size_t first, size_t n, sx_text *out) {
    problem_runs *p = user;
    sx_compare_run run = {0};
    (void)n;
    if (first / p->c->n_seeds == p->refused_navigator) return SX_OK;
    sx_status status = run_once(p, first, &run);
    if (status && is_refusal(p->o, status)) {
        sx_status_free(p->why);
        p->why = status;
        p->why_index = first;
        return SX_OK;
    }
    sx_text_add_bytes(out, (const char *)&run, sizeof run);
    if (run.n_trace) sx_text_add_bytes(out, (const char *)run.trace, run.n_trace * sizeof *run.trace);
    free(run.trace);
    return status;
}

/* Takes a run that was refused: all of its navigator are, where it is the first of them. */
static sx_status take_refusal(problem_runs *p, size_t index) {
    sx_comparison *c = p->c;
    const size_t navigator = index / c->n_seeds;
    sx_compare_run run = {0};
    if (navigator == p->refused_navigator) return SX_OK;
    if (!p->why || p->why_index != index) {
        sx_status_free(p->why);
        p->why = run_once(p, index, &run);
        free(run.trace);
    }
    sx_status why = p->why;
    p->why = SX_OK;
    if (!why || index % c->n_seeds) return why;
    p->refused_navigator = navigator;
    c->n_refused += c->n_seeds;
    p->o->refused(p->o->user, c, p->problem, navigator, why);
    sx_status_free(why);
    return SX_OK;
}

/* Takes a run. */
static sx_status take_run(void *user, size_t first, size_t n, const char *bytes, size_t size) {
    problem_runs *p = user;
    sx_compare_run run;
    (void)n;
    if (size == 0) return take_refusal(p, first);
    if (size < sizeof run) return sx_error_new(SX_ERR_INTERNAL, "the message of a run is damaged");
    memcpy(&run, bytes, sizeof run);
    if (run.n_trace != (size - sizeof run) / sizeof *run.trace)
        return sx_error_new(SX_ERR_INTERNAL, "the message of a run is damaged");
    run.trace = calloc(run.n_trace + 1, sizeof *run.trace);
    if (!run.trace) return sx_error_memory();
    if (run.n_trace) memcpy(run.trace, bytes + sizeof run, run.n_trace * sizeof *run.trace);
    p->c->run[p->c->n_runs++] = run;
    return SX_OK;
}

/* Makes the runs on a problem, each by one process where several work together; a single one is divided by its
 * tasks. */
static sx_status make_runs(problem_runs *p) {
    sx_ranks *ranks = p->o->run.ranks;
    const sx_shared work = {.n = p->c->n_navigators * p->c->n_seeds,
                            .mark = p->problem,
                            .cancel = p->o->run.cancel,
                            .user = p,
                            .make = make_run,
                            .take = take_run};
    if (work.n > 1 || !sx_ranks_active(ranks)) return sx_ranks_share(ranks, &work, NULL);
    sx_text bytes = {0};
    sx_status status = make_run(p, 0, 1, &bytes);
    if (!status && bytes.failed) status = sx_error_memory();
    if (!status) status = take_run(p, 0, 1, bytes.data, bytes.size);
    sx_text_free(&bytes);
    return status;
}

/* Finds out why a problem has no legal point, where no run found one. */
static sx_status diagnose_problem(const sx_space *space, size_t problem, sx_comparison *c) {
    sx_compare_problem *p = &c->problem[problem];
    bool found = false, any = false;
    for (size_t i = 0; i < c->n_runs; i++) {
        if (c->run[i].problem != problem) continue;
        any = true;
        p->none |= c->run[i].summary.none;
        found |= c->run[i].found;
    }
    return found || !any ? SX_OK : sx_space_diagnose(space, 0, DIAGNOSIS_TRIES, &p->diagnosis);
}

/* Withdraws bounds of a problem and of its runs, all of one space, that are above the best of these. */
static void uphold_bounds(const sx_comparison_options *o, size_t problem, sx_comparison *c) {
    sx_compare_problem *p = &c->problem[problem];
    double best = INFINITY;
    for (size_t i = 0; i < c->n_runs; i++)
        if (c->run[i].problem == problem && c->run[i].found) best = fmin(best, c->run[i].value);
    (void)sx_uphold_bound(o->run.warnings, p->name, best, &p->bound, &p->optimal);
    for (size_t i = 0; i < c->n_runs; i++) {
        sx_run_summary *s = &c->run[i].summary;
        if (c->run[i].problem == problem && c->run[i].found)
            (void)sx_uphold_bound(o->run.warnings, p->name, best, &s->lower_bound, &s->optimal);
    }
}

/* Takes the bound of a problem from its runs, where the space has come without. */
static void take_bound(size_t problem, sx_comparison *c) {
    sx_compare_problem *p = &c->problem[problem];
    if (p->bound != 0) return;
    for (size_t i = 0; i < c->n_runs; i++) {
        const sx_run_summary *summary = &c->run[i].summary;
        if (c->run[i].problem != problem || !c->run[i].found || !(summary->lower_bound > p->bound)) continue;
        p->bound = summary->lower_bound;
        p->optimal = summary->optimal;
    }
}

/* Runs all navigators with all seeds on one problem. */
static sx_status run_problem(const sx_comparison_options *o, size_t problem, sx_comparison *c) {
    problem_runs p = {.o = o, .c = c, .problem = problem, .refused_navigator = SIZE_MAX};
    SX_TRY(o->open(o->user, problem, &p.space));
    c->problem[problem].minimum = p.space.minimum;
    c->problem[problem].bound = p.space.bound;
    c->problem[problem].optimal = p.space.optimal;
    sx_status status = check_model(c, &p.space);
    if (!status) status = make_runs(&p);
    sx_status_free(p.why);
    uphold_bounds(o, problem, c);
    take_bound(problem, c);
    if (!status) status = diagnose_problem(p.space.space, problem, c);
    if (o->close) o->close(o->user, problem, &p.space);
    return status;
}

sx_status sx_comparison_run(const sx_comparison_options *options, sx_comparison **out) {
    sx_comparison *c = calloc(1, sizeof *c);
    if (!c) return sx_error_memory();
    sx_status status = fill_comparison(options, c);
    for (size_t p = 0; !status && p < c->n_problems && !sx_cancel_is_set(options->run.cancel); p++)
        status = run_problem(options, p, c);
    if (status) {
        sx_comparison_free(c);
        return status;
    }
    c->complete = c->n_runs + c->n_refused == sx_comparison_total(c);
    for (size_t i = 0; i < c->n_runs; i++) c->complete &= c->run[i].summary.stop != SX_STOP_SIGNAL;
    *out = c;
    return SX_OK;
}

const sx_compare_run *sx_comparison_runs(const sx_comparison *c, size_t problem, size_t navigator,
                                         size_t *n) {
    size_t first = 0;
    while (first < c->n_runs && (c->run[first].problem != problem || c->run[first].navigator != navigator))
        first++;
    *n = 0;
    while (first + *n < c->n_runs && c->run[first + *n].problem == problem &&
           c->run[first + *n].navigator == navigator && c->run[first + *n].summary.stop != SX_STOP_SIGNAL)
        ++*n;
    return c->run + first;
}

bool sx_comparison_has_minima(const sx_comparison *c) {
    for (size_t i = 0; i < c->n_problems; i++)
        if (c->problem[i].minimum != 0) return true;
    return false;
}

double sx_comparison_reference(const sx_comparison *c, size_t problem) {
    double best = NAN;
    if (sx_comparison_has_minima(c)) return c->problem[problem].minimum;
    for (size_t i = 0; i < c->n_runs; i++)
        if (c->run[i].problem == problem && c->run[i].found && c->run[i].summary.stop != SX_STOP_SIGNAL)
            best = fmin(best, c->run[i].value);
    return best;
}

sx_status sx_comparison_summary(const sx_comparison *c, size_t problem, size_t navigator,
                                sx_compare_summary *out) {
    sx_compare_summary s = {0};
    const sx_compare_run *run = sx_comparison_runs(c, problem, navigator, &s.runs);
    double *value = malloc((s.runs + 1) * sizeof *value), evaluations = 0, seconds = 0;
    if (!value) return sx_error_memory();
    for (size_t i = 0; i < s.runs; i++) {
        if (run[i].found) value[s.found++] = run[i].value;
        evaluations += (double)run[i].summary.evaluations;
        seconds += run[i].summary.seconds;
    }
    sx_statistics v = sx_statistics_of(value, s.found);
    s.mean = v.mean;
    s.deviation = v.deviation;
    s.median = sx_median_of(value, s.found);
    s.geomean = v.geomean;
    s.best = v.low;
    s.worst = v.high;
    free(value);
    double reference = sx_comparison_reference(c, problem);
    s.normalised = reference != 0 ? (isnan(v.geomean) ? v.mean : v.geomean) / reference : NAN;
    s.evaluations = evaluations / (double)s.runs;
    s.seconds = seconds / (double)s.runs;
    s.per_second = seconds > 0 ? evaluations / seconds : NAN;
    *out = s;
    return SX_OK;
}
