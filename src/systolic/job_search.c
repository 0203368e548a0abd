/* The searches of a job. */
#include "base/clock.h"
#include "base/status.h"
#include "systolic/job.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIAGNOSIS_TRIES = 2000 };
enum { QUICK_DRAWS = 16 }; /* random arrays that every search gets first where time is limited */

/* The numbers of the designs chosen, for a kernel: in order, none twice. */
static sx_status chosen_designs(const sx_systolic_job *job, const sx_systolic_kernel *kernel, size_t **out,
                                size_t *n) {
    size_t all = sx_systolic_n_designs(kernel), count = 0;
    bool *open = calloc(all, sizeof *open);
    size_t *list = calloc(all, sizeof *list);
    sx_status status = open && list ? SX_OK : sx_error_memory();
    for (size_t i = 0; !status && i < job->n_names; i++) {
        size_t number;
        status = sx_systolic_design_find(kernel, job->design_name[i], &number);
        if (!status) open[number] = true;
    }
    for (size_t i = 0; !status && i < all; i++)
        if (open[i] || !job->n_names) list[count++] = i;
    free(open);
    if (status) {
        free(list);
        return status;
    }
    *out = list;
    *n = count;
    return SX_OK;
}

sx_status sx_systolic_job_space(const sx_systolic_job *job, const sx_systolic_kernel *kernels, size_t n,
                                const size_t *design, sx_space **out) {
    sx_systolic_options options = job->options;
    size_t *list = NULL;
    options.designs = design;
    options.n_designs = 1;
    if (!design) {
        SX_TRY(chosen_designs(job, &kernels[0], &list, &options.n_designs));
        options.designs = list;
    }
    sx_status status = sx_systolic_space_new(kernels, n, &job->device, &options, out);
    free(list);
    return status;
}

/* Copies out the trace of improvements. */
static sx_status copy_trace(const sx_systolic_job *job, const sx_run *run, sx_systolic_answer *out) {
    sx_trace_point line;
    size_t n = 0;
    while (sx_run_trace(run, n, &line)) n++;
    out->trace = calloc(n + 1, sizeof *out->trace);
    if (!out->trace) return sx_error_memory();
    for (; out->n_trace < n; out->n_trace++) {
        (void)sx_run_trace(run, out->n_trace, &line);
        if (!job->clock) line.seconds = 0;
        out->trace[out->n_trace] = line;
    }
    return SX_OK;
}

/* Copies out what a run found. */
static sx_status collect(const sx_systolic_job *job, const sx_space *space, const sx_run *run,
                         sx_systolic_answer *out) {
    sx_found found;
    out->searched = true;
    out->summary = sx_run_result(run);
    if (!job->clock) out->summary.seconds = 0;
    out->found = sx_run_best(run, 0, &found);
    if (out->found) {
        out->point = *(const sx_systolic_point *)found.point;
        out->value = found.value;
        (void)sx_systolic_evaluate(space, &out->point, -1, &out->cost);
    }
    return copy_trace(job, run, out);
}

/* Whether every search gets a quick answer first: where time may end before the last one has begun. */
static bool is_hurried(const sx_systolic_job *job) {
    return job->deadline > 0 && (job->run.evaluations == 0 || job->run.evaluations > QUICK_DRAWS);
}

/* Whether a signal or the time limit ends the search; asked where something is left to search. */
static bool is_over(sx_systolic_job *job) {
    job->late |= job->deadline > 0 && sx_clock_seconds() >= job->deadline;
    return job->interrupted || job->late;
}

/* The options of the next run: the time that is left is divided among the searches that are left. A quick one
 * may take all of it, so that the first answer does not depend on the number of searches. */
static sx_run_options run_options(sx_systolic_job *job, const sx_systolic_answer *before, bool quick) {
    sx_run_options run = job->run;
    if (job->deadline > 0) {
        double left = job->deadline - sx_clock_seconds();
        run.seconds = fmax(quick ? left : left / (double)job->left, 1e-3);
    }
    if (quick)
        run.evaluations = QUICK_DRAWS;
    else if (run.evaluations > 0)
        run.evaluations -= before->summary.evaluations;
    job->left -= !quick;
    if (before->found) {
        run.starts = &before->point;
        run.n_starts = 1;
    }
    return run;
}

/* Takes over a later answer: what both runs took together, and the better array. */
static void take_answer(sx_systolic_answer *to, const sx_systolic_answer *from) {
    sx_systolic_answer before = *to;
    *to = *from;
    to->summary.evaluations += before.summary.evaluations;
    to->summary.rejected += before.summary.rejected;
    to->summary.seconds += before.summary.seconds;
    if (before.found && (!from->found || before.value < from->value)) {
        to->found = true;
        to->point = before.point;
        to->cost = before.cost;
        to->value = before.value;
    }
    free(before.trace);
}

/* Searches a space; quickly: for any array. */
static sx_status search_space(sx_systolic_job *job, const sx_space *space, bool quick,
                              sx_systolic_answer *out) {
    sx_run *run = NULL;
    sx_systolic_answer answer = {.recalled = out->recalled};
    sx_run_options options = run_options(job, out, quick);
    sx_status status = sx_run_new(space, NULL, &options, &run);
    if (!status) status = sx_run_search(run, quick ? "random" : job->method);
    if (!status) status = collect(job, space, run, &answer);
    if (!status) job->interrupted |= answer.summary.stop == SX_STOP_SIGNAL;
    if (!status) take_answer(out, &answer);
    if (status) free(answer.trace);
    sx_run_free(run);
    if (!status && !quick && out->found && job->keep && !job->unkept)
        job->unkept = job->keep(job->keeper, job, space, out);
    return status;
}

/* Searches for the best array of some kernels, of one design or of all that are chosen, unless it is known
 * from before; quickly: for any. */
static sx_status search(sx_systolic_job *job, const sx_systolic_kernel *kernels, size_t n,
                        const size_t *design, bool quick, sx_systolic_answer *out) {
    sx_space *space = NULL;
    sx_status status = sx_systolic_job_space(job, kernels, n, design, &space);
    if (!status && job->recall && !out->recalled) status = job->recall(job->keeper, job, space, out);
    if (!status && !out->proven_before) status = search_space(job, space, quick, out);
    if (out->proven_before) job->left -= !quick;
    sx_space_free(space);
    return status;
}

/* Whether one answer ranks before another: the better value, then the smaller number. */
static bool ranks_before(const sx_systolic_job *job, size_t a, size_t b) {
    const sx_systolic_answer *x = &job->answer[a], *y = &job->answer[b];
    if (x->found != y->found) return x->found;
    if (x->found && x->value < y->value) return true;
    if (x->found && x->value > y->value) return false;
    return a < b;
}

/* Sorts the answers by insertion: there are a few dozen. */
static void sort_answers(sx_systolic_job *job) {
    for (size_t i = 0; i < job->n_designs; i++) {
        size_t at = i;
        for (; at > 0 && ranks_before(job, i, job->order[at - 1]); at--) job->order[at] = job->order[at - 1];
        job->order[at] = i;
    }
}

/* Reports the title of the next search. */
static SX_PRINTF(2, 3) void announce(const sx_systolic_job *job, const char *format, ...) {
    char title[SX_NAME_SIZE + 48];
    va_list arguments;
    if (!job->begins) return;
    va_start(arguments, format);
    vsnprintf(title, sizeof title, format, arguments);
    va_end(arguments);
    job->begins(job->user, title);
}

/* Searches every design of the only problem, from the first on as long as there is time. */
static sx_status search_each_design(sx_systolic_job *job, bool quick) {
    const sx_systolic_kernel *kernel = &job->layer[0].kernel;
    for (size_t i = 0; i < job->n_designs && !is_over(job); i++) {
        sx_systolic_design design;
        char name[16];
        sx_systolic_design_at(kernel, job->design[i], &design);
        sx_systolic_design_name(&design, name, sizeof name);
        announce(job, "%zu/%zu %s", i + 1, job->n_designs, name);
        SX_TRY(search(job, kernel, 1, &job->design[i], quick, &job->answer[i]));
    }
    return SX_OK;
}

/* Searches the designs of the only problem; quickly first where time is limited. */
static sx_status search_designs(sx_systolic_job *job) {
    SX_TRY(chosen_designs(job, &job->layer[0].kernel, &job->design, &job->n_designs));
    job->answer = calloc(job->n_designs, sizeof *job->answer);
    job->order = calloc(job->n_designs, sizeof *job->order);
    if (!job->answer || !job->order) return sx_error_memory();
    job->left = job->n_designs;
    if (is_hurried(job)) SX_TRY(search_each_design(job, true));
    SX_TRY(search_each_design(job, false));
    sort_answers(job);
    return SX_OK;
}

/* Searches an array for every layer, and one for all. */
static sx_status search_each_layer(sx_systolic_job *job, bool quick) {
    for (size_t i = 0; i < job->n_layers && !is_over(job); i++) {
        sx_systolic_layer *layer = &job->layer[i];
        if (layer->same_as != i) continue;
        announce(job, "%zu/%zu %s", i + 1, job->n_layers, layer->name);
        SX_TRY(search(job, &layer->kernel, 1, NULL, quick, &layer->best));
    }
    if (is_over(job)) return SX_OK;
    announce(job, "one shared array");
    return search(job, job->joined, job->n_joined, NULL, quick, &job->shared);
}

/* Searches the arrays of a network; quickly first where time is limited. */
static sx_status search_layers(sx_systolic_job *job) {
    SX_TRY(sx_systolic_job_join(job));
    job->left = 1;
    for (size_t i = 0; i < job->n_layers; i++) job->left += job->layer[i].same_as == i;
    if (is_hurried(job)) SX_TRY(search_each_layer(job, true));
    return search_each_layer(job, false);
}

sx_status sx_systolic_job_search(sx_systolic_job *job) {
    if (job->run.seconds > 0) job->deadline = sx_clock_seconds() + job->run.seconds;
    return sx_systolic_is_network(job) ? search_layers(job) : search_designs(job);
}

bool sx_systolic_any_found(const sx_systolic_job *job) {
    bool any = job->shared.found;
    for (size_t i = 0; i < job->n_layers; i++) any |= job->layer[i].best.found;
    for (size_t i = 0; i < job->n_designs; i++) any |= job->answer[i].found;
    return any;
}

bool sx_systolic_all_found(const sx_systolic_job *job) {
    bool all = job->shared.found;
    if (!sx_systolic_is_network(job)) return sx_systolic_any_found(job);
    for (size_t i = 0; i < job->n_layers; i++) all &= job->layer[job->layer[i].same_as].best.found;
    return all;
}

/* Whether a search covered all that it could find, so that finding nothing proves that there is nothing. */
static bool is_whole(const sx_systolic_answer *answer) {
    return answer->found || (answer->searched && answer->summary.none);
}

/* Whether it is proven that nothing was missed. */
static bool is_proven(const sx_systolic_job *job) {
    bool whole = !sx_systolic_is_network(job) || is_whole(&job->shared);
    for (size_t i = 0; i < job->n_designs; i++) whole &= is_whole(&job->answer[i]);
    for (size_t i = 0; i < job->n_layers && sx_systolic_is_network(job); i++)
        whole &= job->layer[i].same_as != i || is_whole(&job->layer[i].best);
    return whole;
}

sx_status sx_systolic_job_why(const sx_systolic_job *job, sx_text *out) {
    const sx_systolic_kernel *kernel = job->joined;
    size_t n = job->n_joined;
    const char *who = "all layers";
    for (size_t i = job->n_layers; i-- > 0;) {
        if (job->layer[i].same_as != i || job->layer[i].best.found) continue;
        kernel = &job->layer[i].kernel;
        who = job->layer[i].name;
        n = 1;
    }
    sx_space *space;
    char *text;
    SX_TRY(sx_systolic_job_space(job, kernel, n, NULL, &space));
    sx_status status = sx_space_diagnose(space, job->run.seed, DIAGNOSIS_TRIES, &text);
    sx_space_free(space);
    SX_TRY(status);
    sx_text_add(out, "no array was found%s for %s on %s%s: %s", job->late ? " within the time limit" : "",
                who, job->device.name,
                is_proven(job) ? "" : " (the search was not exhaustive; there may be one)", text);
    free(text);
    return SX_OK;
}
