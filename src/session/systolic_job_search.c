/* The searches of a job. */
#include "base/clock.h"
#include "base/ranks.h"
#include "base/status.h"
#include "run/uphold.h"
#include "session/systolic_job.h"
#include "session/systolic_store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Copies out what a run found. */
static sx_status collect_answer(const sx_systolic_job *job, const sx_space *space, const sx_run *run,
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
    return sx_run_copy_trace(run, job->clock, &out->trace, &out->n_trace);
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
static void take_answer(const sx_systolic_job *job, sx_systolic_answer *to, const sx_systolic_answer *from) {
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
        (void)sx_uphold_bound(job->run.warnings, "an array", to->value, &to->summary.lower_bound,
                              &to->summary.optimal);
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
    if (!status) status = collect_answer(job, space, run, &answer);
    if (!status) job->interrupted |= answer.summary.stop == SX_STOP_SIGNAL;
    if (!status) job->late |= answer.summary.stop == SX_STOP_TIME;
    if (!status) take_answer(job, out, &answer);
    if (status) free(answer.trace);
    sx_run_free(run);
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

/* One of the searches of a job: for the best array of some kernels, of one design or of all that are chosen. */
typedef struct item {
    const sx_systolic_kernel *kernels;
    size_t n;
    const size_t *design; /* NULL: all */
    sx_systolic_answer *answer;
    char title[SX_NAME_SIZE + 48];
} item;

/* How many searches a job has: of every design, or of every layer and of one array for all. */
static size_t count_items(const sx_systolic_job *job) {
    size_t n = 1;
    if (!sx_systolic_is_network(job)) return job->n_designs;
    for (size_t i = 0; i < job->n_layers; i++) n += job->layer[i].same_as == i;
    return n;
}

/* The search of a design of the only problem. */
static void set_design(sx_systolic_job *job, size_t index, item *out) {
    const sx_systolic_kernel *kernel = &job->layer[0].kernel;
    sx_systolic_design design;
    char name[16];
    sx_systolic_design_at(kernel, job->design[index], &design);
    sx_systolic_design_name(&design, name, sizeof name);
    *out = (item){kernel, 1, &job->design[index], &job->answer[index], ""};
    snprintf(out->title, sizeof out->title, "%zu/%zu %s", index + 1, job->n_designs, name);
}

/* Search number `index`. */
static void set_item(sx_systolic_job *job, size_t index, item *out) {
    if (!sx_systolic_is_network(job)) {
        set_design(job, index, out);
        return;
    }
    size_t at = 0;
    for (; at < job->n_layers; at++)
        if (job->layer[at].same_as == at && index-- == 0) break;
    if (at == job->n_layers) {
        *out = (item){job->joined, job->n_joined, NULL, &job->shared, "one shared array"};
        return;
    }
    sx_systolic_layer *layer = &job->layer[at];
    *out = (item){&layer->kernel, 1, NULL, &layer->best, ""};
    snprintf(out->title, sizeof out->title, "%zu/%zu %s", at + 1, job->n_layers, layer->name);
}

/* A round of searches: all of them, quickly or not. */
typedef struct search_round {
    sx_systolic_job *job;
    bool quick;
} search_round;

/* Makes the space of a search and looks for an earlier answer, once. */
static sx_status recall_answer(sx_systolic_job *job, const item *at, sx_systolic_answer *answer,
                               sx_space **space) {
    SX_TRY(sx_systolic_job_space(job, at->kernels, at->n, at->design, space));
    if (!job->store || answer->recalled) return SX_OK;
    return sx_systolic_recall(job, *space, answer);
}

/* Adds an answer and its trace. */
static void add_answer(const sx_systolic_answer *answer, sx_text *out) {
    sx_text_add_bytes(out, (const char *)answer, sizeof *answer);
    if (answer->n_trace)
        sx_text_add_bytes(out, (const char *)answer->trace, answer->n_trace * sizeof *answer->trace);
}

/* Makes a search, unless its answer is known from before; nothing where a signal or the time limit came first. */
static sx_status make_item(void *user, size_t first, size_t n, sx_text *out) {
    const search_round *r = user;
    sx_systolic_job *job = r->job;
    item at;
    sx_space *space = NULL;
    (void)n;
    if (is_over(job)) return SX_OK;
    set_item(job, first, &at);
    if (job->begins) job->begins(job->user, at.title);
    sx_systolic_answer answer = *at.answer;
    answer.trace = NULL;
    sx_status status = recall_answer(job, &at, &answer, &space);
    if (!status && !answer.proven_before) status = search_space(job, space, r->quick, &answer);
    if (!status && answer.proven_before) job->left -= !r->quick;
    sx_space_free(space);
    if (!status) add_answer(&answer, out);
    free(answer.trace);
    return status;
}

/* Keeps the answer of a search among those for later ones. */
static sx_status keep_answer(sx_systolic_job *job, const item *at) {
    sx_space *space = NULL;
    if (!job->store || job->unkept || !at->answer->found || at->answer->proven_before) return SX_OK;
    SX_TRY(sx_systolic_job_space(job, at->kernels, at->n, at->design, &space));
    job->unkept = sx_systolic_keep(job, space, at->answer);
    sx_space_free(space);
    return SX_OK;
}

/* Takes the answer of a search. */
static sx_status take_item(void *user, size_t first, size_t n, const char *bytes, size_t size) {
    const search_round *r = user;
    sx_systolic_job *job = r->job;
    item at;
    (void)n;
    job->late |= size == 0 && job->deadline > 0;
    if (size == 0) return SX_OK;
    set_item(job, first, &at);
    sx_systolic_answer *answer = at.answer;
    free(answer->trace);
    memcpy(answer, bytes, sizeof *answer);
    answer->trace = calloc(answer->n_trace + 1, sizeof *answer->trace);
    if (!answer->trace) {
        answer->n_trace = 0;
        return sx_error_memory();
    }
    if (answer->n_trace)
        memcpy(answer->trace, bytes + sizeof *answer, answer->n_trace * sizeof *answer->trace);
    return r->quick ? SX_OK : keep_answer(job, &at);
}

/* Makes all searches, each by one process where several work together; a single one is divided by its tasks. */
static sx_status search_each(sx_systolic_job *job, bool quick) {
    search_round r = {job, quick};
    const sx_shared work = {.n = count_items(job),
                            .everyone = true,
                            .mark = quick,
                            .cancel = job->run.cancel,
                            .user = &r,
                            .make = make_item,
                            .take = take_item};
    if (work.n > 1 || !sx_ranks_active(job->run.ranks)) return sx_ranks_share(job->run.ranks, &work, NULL);
    sx_text bytes = {0};
    sx_status status = make_item(&r, 0, 1, &bytes);
    if (!status && bytes.failed) status = sx_error_memory();
    if (!status) status = take_item(&r, 0, 1, bytes.data, bytes.size);
    sx_text_free(&bytes);
    return status;
}

/* Gives all processes the earlier answers that process 0 finds. */
static sx_status recall_all(sx_systolic_job *job) {
    const size_t n = count_items(job), each = sizeof(sx_systolic_answer);
    size_t size = n * each;
    item at;
    if (!sx_ranks_active(job->run.ranks)) return SX_OK;
    char *all = calloc(n, each);
    sx_status status = all ? SX_OK : sx_error_memory();
    for (size_t i = 0; i < n && !status; i++) {
        sx_space *space = NULL;
        set_item(job, i, &at);
        status = recall_answer(job, &at, at.answer, &space);
        at.answer->recalled = true;
        sx_space_free(space);
        memcpy(all + i * each, at.answer, each);
    }
    if (!status) status = sx_ranks_tell(job->run.ranks, &all, &size);
    for (size_t i = 0; i < n && !status && size == n * each; i++) {
        set_item(job, i, &at);
        memcpy(at.answer, all + i * each, each);
    }
    free(all);
    return status;
}

/* Makes all searches; quickly first where time is limited. */
static sx_status search_all(sx_systolic_job *job) {
    job->left = count_items(job);
    SX_TRY(recall_all(job));
    if (is_hurried(job)) SX_TRY(search_each(job, true));
    return search_each(job, false);
}

/* Searches the designs of the only problem. */
static sx_status search_designs(sx_systolic_job *job) {
    SX_TRY(chosen_designs(job, &job->layer[0].kernel, &job->design, &job->n_designs));
    job->answer = calloc(job->n_designs, sizeof *job->answer);
    job->order = calloc(job->n_designs, sizeof *job->order);
    if (!job->answer || !job->order) return sx_error_memory();
    SX_TRY(search_all(job));
    sort_answers(job);
    return SX_OK;
}

sx_status sx_systolic_job_search(sx_systolic_job *job) {
    if (job->run.seconds > 0) job->deadline = sx_clock_seconds() + job->run.seconds;
    if (!sx_systolic_is_network(job)) return search_designs(job);
    SX_TRY(sx_systolic_job_join(job));
    return search_all(job);
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
