/* Scoring every mapping of a space of any kind: the functions of the GPU take dense tensors, few windows and plain arrays;
 * all else (banks, sparse tensors, dimensions on both axes, hops, shares in use, kinds of reuse that are forbidden) is
 * enumerated by the exhaustive mapper and scored by the cost model. */
#include "session/everywhere.h"

#include "sextant/run.h"

#include <math.h>
#include <stdio.h>

/* A running score of all mappings. */
typedef struct look {
    const sx_everywhere_options *options;
    uint64_t mappings; /* of the space that differ in cost */
} look;

/* Tells how far the functions of the GPU are. */
static bool go_on(void *user, uint64_t done, uint64_t all, const sx_gpu_found *found) {
    const sx_everywhere_options *o = ((look *)user)->options;
    if (o->progress) o->progress(o->user, done, all, false, found->best.value);
    return !o->cancel || !sx_cancel_is_set(o->cancel);
}

/* Tells how far the cost model is. */
static void show_enumeration(void *user, const sx_progress *progress) {
    const look *l = user;
    l->options->progress(l->options->user, progress->evaluations, l->mappings, true, progress->best);
}

/* The mappings of a space that differ in cost, legal or not. */
static sx_status count_mappings(const sx_space *space, double *out) {
    sx_size size = {.count = {.log10 = INFINITY}};
    SX_TRY(sx_space_count(space));
    for (size_t i = 0; sx_space_size(space, i, &size); i++) continue;
    *out = round(pow(10, size.count.log10));
    return SX_OK;
}

/* Writes down what a run found. */
static void set_answer(const sx_space *space, const sx_run *run, sx_gpu_look_answer *out) {
    sx_run_summary summary = sx_run_result(run);
    sx_found best;
    out->complete = summary.stop == SX_STOP_DONE;
    out->found = sx_run_best(run, 0, &best);
    out->value = out->found ? best.value : INFINITY;
    if (out->found) sx_map_space_mapping(space, best.point, &out->mapping);
    out->counts.legal = out->counts.uncovered = summary.valid;
    out->seconds = summary.seconds;
}

/* Has the cost model score everything. */
static sx_status look_by_model(const sx_space *space, const sx_objective *objective, look *l, double mappings,
                               sx_gpu_look_answer *out) {
    const sx_everywhere_options *o = l->options;
    sx_run_options options;
    sx_run *run;
    char mapper[64];
    *out = (sx_gpu_look_answer){.mappings = mappings};
    l->mappings = (uint64_t)fmin(mappings, 0x1p63);
    sx_run_options_init(&options);
    options.objective = *objective;
    options.threads = o->threads;
    options.cancel = o->cancel;
    options.progress = o->progress ? show_enumeration : NULL;
    options.user = l;
    SX_TRY(sx_run_new(space, NULL, &options, &run));
    snprintf(mapper, sizeof mapper, "exhaustive:limit=%.0f", o->model_limit);
    sx_status status = sx_run_search(run, mapper);
    if (!status) set_answer(space, run, out);
    sx_run_free(run);
    return status;
}

sx_status sx_look_everywhere(const sx_space *space, const sx_objective *objective,
                             const sx_everywhere_options *options, sx_gpu_look_answer *out) {
    look l = {.options = options};
    sx_gpu_look_options fast = {.limit = options->limit, .go_on = go_on, .user = &l};
    sx_status status = sx_gpu_look_everywhere(space, objective, &fast, out);
    double mappings;
    if (!status || (status->code != SX_ERR_USAGE && status->code != SX_ERR_LIMIT)) return status;
    sx_status counted = count_mappings(space, &mappings);
    if (!counted && status->code == SX_ERR_LIMIT && mappings > options->model_limit) return status;
    sx_status_free(status);
    SX_TRY(counted);
    return look_by_model(space, objective, &l, mappings, out);
}
