/* The best of all tiles that divide their loops: what searches without padding can find.
 *
 * Source: the divisor-only search that Odyssey (DAC 2023), "Evaluation Results", compares its own with.
 * First-level tiles divide the size of their loop (of several kernels, that of one of them), second-level
 * tiles the first-level ones. What differs: not every combination is evaluated. They are counted, reported as
 * rejected draws, and the best of them is found by tile_box.c; only what improves on all before is given to
 * the run. Of several criteria the first decides. It proves its answer only where the space holds no other
 * tiles.
 *
 * Complexity: a box of tiles for every design and every first-level tile of the first loop. */
#include "run/navigator.h"
#include "systolic/tile_box.h"

#include "base/divisor.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>

enum { ROUND = 64 }; /* boxes between two safe points */

/* The state between safe points. */
typedef struct state {
    uint64_t next; /* box */
} state;

/* A round of boxes. */
typedef struct job {
    const sx_systolic_objective_value *objective;
    sx_systolic_tile_set tiles[SX_MAX_SYSTOLIC_LOOPS];
    uint64_t others; /* pairs of tiles of all loops but the first, multiplied */
    uint64_t first;  /* box */
    double best;     /* at its start */
} job;

/* A task: the tiles of a design with one first-level tile of the first loop; its output is whether it
 * completed. */
static sx_status search_box(const void *input, size_t task, sx_worker *worker, void *output) {
    const job *j = input;
    bool failed;
    const sx_systolic_space *space = j->objective->space;
    uint64_t number = j->first + task;
    sx_tile_box box;
    sx_tile_find find = {.best = j->best};
    for (int d = 0; d < space->n_loops; d++) {
        box.t1[d] = j->tiles[d].t1;
        box.n[d] = j->tiles[d].n;
    }
    box.t1[0] += number % j->tiles[0].n;
    box.n[0] = 1;
    uint32_t design = space->open_list[number / j->tiles[0].n];
    bool whole = sx_tile_box_search(j->objective, design, &box, worker, &find, &failed);
    if (!whole) return failed ? sx_error_memory() : SX_OK;
    uint64_t points = sx_tile_times(sx_divisors_of(*box.t1[0], NULL), j->others);
    sx_worker_reject(worker, find.found ? points - 1 : points);
    *(bool *)output =
        !find.found || sx_worker_evaluate(worker, &find.point, false).reason != SX_NOT_EVALUATED;
    return SX_OK;
}

/* Lists the tiles of every loop; they are freed with tiles_fini, also after an error. */
static sx_status tiles_init(const sx_systolic_space *space, job *j) {
    uint32_t *sizes = malloc(space->n_kernels * sizeof *sizes);
    sx_status status = sizes ? SX_OK : sx_error_memory();
    j->others = 1;
    for (int d = 0; d < space->n_loops && !status; d++) {
        for (size_t k = 0; k < space->n_kernels; k++) sizes[k] = space->kernel[k].loop[d].size;
        status = sx_systolic_tile_set_init(sizes, space->n_kernels, true, 0, 0, &j->tiles[d]);
        if (d > 0) j->others = sx_tile_times(j->others, j->tiles[d].divisors);
    }
    free(sizes);
    return status;
}

static void tiles_fini(job *j) {
    for (int d = 0; d < SX_MAX_SYSTOLIC_LOOPS; d++) sx_systolic_tile_set_fini(&j->tiles[d]);
}

/* Searches the next boxes; false where one was left unfinished. */
static bool search_round(sx_run *run, job *j, uint64_t total, state *s) {
    bool done[ROUND] = {false}, whole = true;
    size_t n = total - s->next < ROUND ? (size_t)(total - s->next) : ROUND;
    j->first = s->next;
    j->best = INFINITY;
    sx_run_incumbent(run, &j->best);
    sx_run_tasks(run, n, search_box, j, done, sizeof *done);
    for (size_t i = 0; i < n; i++) whole &= done[i];
    s->next += n;
    return whole;
}

/* States what is proven, where the space holds nothing else. */
static void tell_proof(sx_run *run, const sx_systolic_space *space) {
    double best;
    if (space->options.tiles != SX_TILES_DIVISORS || sx_run_objective(run)->n_criteria != 1) return;
    if (!sx_run_incumbent(run, &best)) return;
    sx_run_bound(run, best);
    sx_run_optimal(run);
}

static sx_status search_by_divisors(sx_run *run) {
    const sx_systolic_objective_value objective =
        sx_systolic_objective_of(sx_systolic_space_of(sx_run_space(run)), sx_run_goal(run));
    bool resumed, whole = true;
    state *s = sx_run_state(run, sizeof *s, &resumed);
    if (!s) return sx_error_memory();
    job j = {.objective = &objective};
    sx_status status = tiles_init(objective.space, &j);
    uint64_t total = objective.space->n_open * j.tiles[0].n;
    if (!status && s->next > total) status = sx_run_damaged(run);
    if (!status && !resumed) sx_run_evaluate_starts(run, 0);
    while (!status && whole && s->next < total && sx_run_continue(run))
        whole = search_round(run, &j, total, s);
    if (!status && whole && s->next == total && !sx_run_stopped(run)) tell_proof(run, objective.space);
    tiles_fini(&j);
    return status;
}

SX_NAVIGATOR(divisors) = {
    .space = "systolic",
    .model = "systolic",
    .complete = true,
    .search = search_by_divisors,
};
