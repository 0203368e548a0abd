/* Source: none; the baseline that every search is compared with (Demystifying Map Space Exploration, section
 * 3.1; Mind Mappings, section 5.2). Legal points are drawn uniformly and evaluated, none twice on purpose.
 * Of map spaces that compact points cover, these are drawn.
 * Complexity: a draw and an evaluation per point; no memory. */
#include "base/status.h"
#include "run/compact.h"
#include "run/navigator.h"

#include <stdlib.h>

enum { TASKS = 128, MOST_TASKS = 1024, DRAWS = 64 }; /* tasks between two safe points, points in a task */

/* What is remembered between safe points. */
typedef struct state {
    uint64_t begun; /* start points are evaluated */
    uint64_t next;  /* number of the next task of all */
} state;

/* A round of tasks. */
typedef struct job {
    const sx_run *run;
    uint64_t first;
    const sx_compact_search *compact; /* what compact points are drawn by; NULL: points are the space's */
} job;

/* A task: draws and evaluates points of a stream of its own until one cannot be drawn; its output is whether
 * it found one. */
static sx_status draw_points(const void *input, size_t task, sx_worker *worker, void *output) {
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

/* The same by compact points. */
static sx_status draw_compact(const void *input, size_t task, sx_worker *worker, void *output) {
    const job *j = input;
    sx_core_rng rng = sx_compact_search_rng(sx_run_seed(j->run), "random", j->first + task);
    struct sx_core_work *work = sx_compact_search_work(j->compact, worker);
    sx_compact_level *point = sx_worker_scratch(worker, 1);
    for (int i = 0; i < DRAWS && work && !sx_worker_stopped(worker); i++) {
        if (!sx_compact_search_draw(j->compact, worker, work, &rng, point)) break;
        *(bool *)output = true;
        double cycles = j->compact->engine->order(&j->compact->core, work, point);
        sx_compact_search_keep(j->compact, worker, work, cycles, sx_run_objective(j->run),
                               sx_compact_search_kept(j->compact, point), point);
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

/* Whether a round of n tasks found a legal point. */
static bool draw_round(sx_run *run, const job *j, uint64_t n) {
    bool drew[MOST_TASKS] = {false};
    sx_run_tasks(run, (size_t)n, j->compact ? draw_compact : draw_points, j, drew, sizeof *drew);
    for (uint64_t i = 0; i < n; i++)
        if (drew[i]) return true;
    return false;
}

/* The tasks of the next round: as many as were done before it, up to a limit, since threads wait for one another at its end. */
static uint64_t next_tasks(const sx_run *run, const state *s) {
    uint64_t left = sx_run_left(run), turn = sx_run_turn_left(run);
    uint64_t most = turn < left ? (turn + DRAWS - 1) / DRAWS : left / DRAWS + 1;
    uint64_t n = s->next < TASKS ? TASKS : s->next < MOST_TASKS ? s->next : MOST_TASKS;
    return most < n ? most : n;
}

/* Draws round after round; a round uses up the numbers of a multiple of TASKS tasks. */
static void draw_rounds(sx_run *run, job *j, state *s) {
    while (sx_run_continue(run)) {
        if (!s->begun) {
            size_t n;
            sx_run_starts(run, &n);
            sx_run_tasks(run, n, evaluate_start, j, NULL, 0);
            s->begun = 1;
        } else {
            uint64_t n = next_tasks(run, s);
            j->first = s->next;
            if (!draw_round(run, j, n)) break;
            s->next += (n + TASKS - 1) / TASKS * TASKS;
        }
    }
}

static sx_status search_by_random(sx_run *run) {
    sx_compact_search *compact;
    state *s = sx_run_state(run, sizeof *s, NULL);
    if (!s) return sx_error_memory();
    SX_TRY(sx_compact_search_new(run, SX_COMPACT_DRAWS, &compact));
    draw_rounds(run, &(job){.run = run, .compact = compact}, s);
    sx_compact_search_free(compact);
    return SX_OK;
}

SX_NAVIGATOR(random) = {
    .search = search_by_random,
};
