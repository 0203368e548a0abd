/* Source: none; exhaustive search, as in the evaluation of Odyssey (DAC 2023). Constructions are walked from
 * the first to the last as the space numbers them, in parallel stretches; those that are legal are evaluated,
 * the others count as rejected. A search that completes has proven its incumbent optimal.
 *
 * Complexity: a construction and a check per point, an evaluation per legal one; no memory. */
#include "navigators/sweep.h"

#include "base/status.h"
#include "space/cardinal.h"

#include <math.h>

enum { TASKS = 64, TASK_SIZE = 1024 }; /* tasks between two safe points, constructions in a task */

/* What is remembered between safe points. */
typedef struct state {
    uint64_t high, low; /* number of the next construction */
} state;

/* A round of tasks. */
typedef struct job {
    const sx_space *space;
    sx_u128 first, total;
} job;

/* A task: the constructions of its stretch. */
static sx_status sweep_stretch(const void *input, size_t task, sx_worker *worker, void *output) {
    const job *j = input;
    (void)output;
    const sx_space *space = j->space;
    size_t room, n = 0;
    unsigned char *points = sx_worker_batch(worker, &room);
    sx_u128 at = j->first + (sx_u128)task * TASK_SIZE;
    for (int i = 0; i < TASK_SIZE && at < j->total && !sx_worker_stopped(worker); i++, at++) {
        void *point = points + n * space->point_size;
        if (!space->type->at(space, at, point)) break;
        if (space->type->check(space, point)) {
            sx_worker_reject(worker, 1);
        } else if (++n == room) {
            sx_worker_evaluate_batch(worker, points, n, true, NULL);
            n = 0;
        }
    }
    sx_worker_evaluate_batch(worker, points, n, true, NULL);
    return SX_OK;
}

/* The raw size of a space: the first line of its account that is not a component. */
static sx_cardinal raw_size(const sx_space *space) {
    sx_size size = {.component = true};
    for (size_t i = 0; size.component && sx_space_size(space, i, &size); i++) continue;
    return size.count;
}

/* Refuses a space that is too large. */
static sx_status check_size(const sx_run *run, const sx_cardinal *size, double limit) {
    double points = pow(10, size->log10);
    if (size->exact && (sx_run_limited(run) || points <= limit * (1 + 1e-9))) return SX_OK;
    char text[64];
    sx_cardinal_text(size, text, sizeof text);
    if (!size->exact)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT, "the space has %s points, too many to number", text),
                             "use another search method");
    return sx_error_hint(
        sx_error_new(SX_ERR_LIMIT, "the space has %s points, more than the limit of %g", text, limit),
        "use another search method, limit evaluations or time, or set limit=%.0e", points);
}

sx_status sx_sweep(sx_run *run, double limit) {
    const sx_space *space = sx_run_space(run);
    if (!space->type->size || !space->type->at)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT, "a %s space cannot be enumerated", space->type->name),
                             "use another search method");
    SX_TRY(sx_space_count(space));
    const sx_cardinal size = raw_size(sx_run_space(run));
    SX_TRY(check_size(run, &size, limit));
    job j = {.space = sx_run_space(run), .total = sx_cardinal_u128(size)};
    bool resumed;
    state *s = sx_run_state(run, sizeof *s, &resumed);
    if (!s) return sx_error_memory();
    if (!resumed) sx_run_evaluate_starts(run, 0);
    j.first = (sx_u128)s->high << 64 | s->low;
    if (j.first > j.total) return sx_run_damaged(run);
    while (j.first < j.total && sx_run_continue(run)) {
        sx_u128 left = (j.total - j.first - 1) / TASK_SIZE + 1, n = left < TASKS ? left : TASKS;
        sx_run_tasks(run, (size_t)n, sweep_stretch, &j, NULL, 0);
        j.first = n == left ? j.total : j.first + n * TASK_SIZE;
        s->high = (uint64_t)(j.first >> 64);
        s->low = (uint64_t)j.first;
    }
    bool found = sx_run_incumbent(run, NULL);
    if (!sx_run_stopped(run) && (!found || sx_run_objective(run)->n_criteria == 1)) sx_run_optimal(run);
    return SX_OK;
}
