/* The best design with its best tiles, proven: branch and bound over all shapes of arrays and all tiles.
 *
 * Source: none; Odyssey (DAC 2023) searches the same space exhaustively where that is possible at all (1.6 to
 * 35 hours on 36 threads for its smaller kernels). Three things make it fast:
 *   1. Dominance: with the PEs and lanes fixed, of all tiles with the same trips only the smallest matters
 *      (choices.h), and the inner tile of a loop that is not a space loop enters nothing but the hiding of
 * latency,
 *      so it is the outer one.
 *   2. Partial costs: every term is a product over loops, so the model itself gives the cost of tiles that
 *      are known in part (plan.h).
 *   3. Shapes in the order of their bounds, so that the first incumbents prune most others.
 *
 * Any objective is fine whose value grows with cycles, energy or words moved. Of several criteria only the
 * first is proven. Points that a walk looks at count as rejected draws; those that improve on all before are
 * evaluated.
 *
 * Complexity: the number of shapes is about D log D for arrays of D lanes; within one, a loop of n steps with
 * P PEs has at most about 2 sqrt(n/P) choices. */
#include "systolic/exact.h"

#include "base/status.h"

#include <math.h>

enum { DRAWS = 64 }; /* to begin with, where time is limited: listing shapes may take all of it */
enum { ROUND = 64 }; /* shapes that are walked before the best is shared, at most; at first fewer */

/* The state between safe points. */
typedef struct state {
    uint64_t next; /* shape */
} state;

/* A round of walks. */
typedef struct job {
    const sx_exact *exact;
    size_t first;
    double best; /* at its start */
} job;

/* A task: walks a shape; its output is whether it completed. */
static sx_status walk_shape(const void *input, size_t task, sx_worker *worker, void *output) {
    const job *j = input;
    double best = j->best;
    *(bool *)output = sx_exact_walk(j->exact, &j->exact->shape[j->first + task], worker, &best);
    return SX_OK;
}

/* The cutoff of the run's incumbent. */
static double cutoff_of(const sx_run *run) {
    double best = INFINITY;
    sx_run_incumbent(run, &best);
    return sx_exact_cutoff(sx_run_objective(run), best);
}

/* Walks the next shapes; false where one was left unfinished. */
static bool walk_round(sx_run *run, const sx_exact *exact, state *s) {
    job j = {.exact = exact, .first = (size_t)s->next, .best = cutoff_of(run)};
    size_t n = 0, most = s->next < ROUND ? (size_t)s->next + 1 : ROUND;
    while (n < most && s->next + n < exact->n &&
           sx_systolic_promises(exact->shape[s->next + n].bound, j.best))
        n++;
    bool done[ROUND] = {false};
    sx_run_tasks(run, n, walk_shape, &j, done, sizeof *done);
    for (size_t i = 0; i < n; i++) {
        if (!done[i]) return false;
        s->next++;
    }
    return !sx_run_stopped(run);
}

/* States what is proven: nothing in the shapes that are left is better than the first of them. */
static void tell_bound(sx_run *run, const sx_exact *exact, const state *s) {
    double best = INFINITY, bound = s->next < exact->n ? exact->shape[s->next].bound : INFINITY;
    sx_run_incumbent(run, &best);
    bound = fmin(best, bound);
    if (isfinite(bound)) sx_run_bound(run, bound);
}

static sx_status search_by_exact(sx_run *run) {
    bool resumed;
    sx_exact exact;
    state *s = sx_run_state(run, sizeof *s, &resumed);
    if (!s) return sx_error_memory();
    if (!resumed) sx_run_evaluate_starts(run, 0);
    if (!resumed && sx_run_time(run) > 0) SX_TRY(sx_run_call(run, "random", DRAWS, 0));
    sx_status status = sx_exact_init(run, &exact);
    if (!status && exact.whole && s->next > exact.n) status = sx_run_damaged(run);
    while (!status && sx_run_continue(run) && exact.whole) {
        bool left = s->next < exact.n && sx_systolic_promises(exact.shape[s->next].bound, cutoff_of(run));
        if (!left) {
            if (!sx_run_incumbent(run, NULL) || sx_run_objective(run)->n_criteria == 1) sx_run_optimal(run);
            break;
        }
        if (!walk_round(run, &exact, s)) break;
        tell_bound(run, &exact, s);
    }
    if (!status && exact.whole) tell_bound(run, &exact, s);
    sx_exact_fini(&exact);
    return status;
}

SX_NAVIGATOR(exact) = {
    .space = "systolic",
    .model = "systolic",
    .complete = true,
    .search = search_by_exact,
};
