/* Source: none; the baseline that every search is held against (Demystifying Map Space Exploration, section
 * 3.1; Mind Mappings, section 5.2). Legal points are drawn uniformly and evaluated, none twice on purpose.
 * Complexity: a draw and an evaluation per point; no memory. */
#include "base/status.h"
#include "run/navigator.h"

enum { TASKS = 64, DRAWS = 64 }; /* tasks between two safe points, points in a task */

/* What is remembered between safe points. */
typedef struct state {
    uint64_t begun; /* start points are evaluated */
    uint64_t next;  /* number of the next task of all */
} state;

/* A round of tasks. */
typedef struct job {
    const sx_run *run;
    uint64_t first;
} job;

/* A task: draws and evaluates points of a stream of its own until one cannot be drawn; its output is whether
 * it found one. */
static sx_status draw(const void *input, size_t task, sx_worker *worker, void *output) {
    const job *j = input;
    const sx_space *space = sx_run_space(j->run);
    sx_rng rng = sx_rng_stream(sx_run_seed(j->run), "random", j->first + task);
    size_t room, n = 1;
    unsigned char *points = sx_worker_batch(worker, &room);
    for (size_t i = 0; i < DRAWS && n > 0 && !sx_worker_stopped(worker); i += n) {
        size_t wanted = DRAWS - i < room ? DRAWS - i : room;
        bool legal = true;
        for (n = 0; n < wanted && legal; n += legal) {
            uint64_t rejected = 0;
            legal = sx_space_draw_legal(space, &rng, points + n * space->point_size, &rejected);
            sx_worker_reject(worker, rejected);
        }
        *(bool *)output |= n > 0;
        sx_worker_evaluate_batch(worker, points, n, true, NULL);
        if (!legal) break;
    }
    return SX_OK;
}

/* A task: evaluates a start point. */
static sx_status evaluate_start(const void *input, size_t task, sx_worker *worker, void *output) {
    const job *j = input;
    size_t n;
    (void)output;
    const unsigned char *starts = sx_run_starts(j->run, &n);
    sx_worker_evaluate(worker, starts + task * sx_run_space(j->run)->point_size, false);
    return SX_OK;
}

/* Whether a round of tasks found a legal point. */
static bool draw_round(sx_run *run, uint64_t first) {
    const job j = {.run = run, .first = first};
    bool drew[TASKS] = {false};
    uint64_t left = sx_run_left(run), turn = sx_run_turn_left(run);
    uint64_t most = turn < left ? (turn + DRAWS - 1) / DRAWS : left / DRAWS + 1;
    sx_run_tasks(run, most < TASKS ? (size_t)most : TASKS, draw, &j, drew, sizeof *drew);
    for (int i = 0; i < TASKS; i++)
        if (drew[i]) return true;
    return false;
}

static sx_status search_by_random(sx_run *run) {
    state *s = sx_run_state(run, sizeof *s, NULL);
    if (!s) return sx_error_memory();
    while (sx_run_continue(run)) {
        if (!s->begun) {
            job j = {.run = run};
            size_t n;
            sx_run_starts(run, &n);
            sx_run_tasks(run, n, evaluate_start, &j, NULL, 0);
            s->begun = 1;
        } else {
            if (!draw_round(run, s->next)) break;
            s->next += TASKS;
        }
    }
    return SX_OK;
}

SX_NAVIGATOR(random) = {
    .source = "the baseline of all papers",
    .search = search_by_random,
};
