/* Local search around the incumbent, where time alone is limited.
 *
 * Several descents at a time: one from the incumbent itself, unless that is a local optimum already, the others from
 * copies of it that a few random moves have changed (iterated local search). A descent goes through all neighbours of
 * a mapping (mapspace/map_moves.c: a prime factor moves, a loop changes its place or its axis, a level keeps or
 * bypasses a tensor) and takes each that is better, until a whole pass finds none.
 *
 * Descents from changed copies have no more evaluations than a share of the run's, so that a search which does not
 * profit loses little.
 *
 * Complexity: a pass is O(dimensions * primes * slots^2) evaluations. */
#include "mappers/optimal/polish.h"

#include "mappers/gamma/rounds.h"
#include "mapspace/map_parts.h"

#include <math.h>
#include <string.h>

enum {
    TOGETHER = 8,
    MOST = 3000, /* evaluations of a descent */
    KICKS = 4,   /* random moves before it, at most */
    SHARE = 3,   /* a share of the run's evaluations, */
    LESS = 32,   /* and where the incumbent is old */
};

/* What tasks read. */
typedef struct polishing {
    const sx_heuristics *start;
    const void *from;
    double value;
    uint64_t first; /* number of the first descent */
    bool fresh;     /* the first one begins at the incumbent itself */
} polishing;

/* Changes a point by random moves; false where none is legal. */
static bool kick_point(const sx_space *space, sx_rng *rng, sx_worker *worker, void *point) {
    bool moved = false;
    for (uint64_t n = 1 + sx_rng_below(rng, KICKS); n > 0; n--)
        moved |= sx_space_mutate(space, rng, -1, false, 20, point, sx_worker_scratch(worker, 2));
    return moved;
}

/* Evaluates a neighbour; its value, INFINITY where it is illegal or beyond the best. *over: there are no more. */
static double value_of(const sx_space *space, const void *point, sx_worker *worker, bool *over) {
    if (space->type->check(space, point) != 0) {
        sx_worker_reject(worker, 1);
        return INFINITY;
    }
    sx_outcome outcome = sx_worker_evaluate(worker, point, false);
    *over |= outcome.reason == SX_NOT_EVALUATED;
    return outcome.reason == 0 ? outcome.value : INFINITY;
}

/* A task: a descent. */
static sx_status run_descent(const void *input, size_t task, sx_worker *worker, void *output) {
    const polishing *p = input;
    const sx_space *space = &p->start->space->space;
    sx_rng rng = sx_rng_stream(sx_run_seed(p->start->run), "optimal.polish", p->first + task);
    void *now = sx_worker_scratch(worker, 0), *next = sx_worker_scratch(worker, 1);
    uint64_t *used = output;
    double best = p->value;
    bool over = false;
    memcpy(now, p->from, space->point_size);
    if (task > 0 || !p->fresh) {
        if (!kick_point(space, &rng, worker, now)) return SX_OK;
        best = value_of(space, now, worker, &over);
    }
    for (bool better = true; better;) {
        sx_map_walk walk = {.space = p->start->space, .point = now};
        better = false;
        while (!over && *used < MOST && sx_map_walk_next(&walk, next)) {
            double value = value_of(space, next, worker, &over);
            ++*used;
            if (value >= best) continue;
            best = value;
            better = true;
            memcpy(now, next, space->point_size);
        }
    }
    return SX_OK;
}

/* Whether it is of use in this run. */
static bool is_wanted(const sx_run *run) {
    return sx_run_timed(run) && sx_run_k_best(run) == 1 && sx_run_objective(run)->n_criteria == 1;
}

void sx_polish(const sx_heuristics *start, sx_polish_state *at, bool stale) {
    uint64_t used[TOGETHER], slow = sx_gamma_slowness(start->space);
    polishing p = {.start = start};
    if (!is_wanted(start->run) || slow > 1) return;
    while ((p.from = sx_run_incumbent(start->run, &p.value)) && sx_run_continue(start->run)) {
        uint64_t most = sx_run_result(start->run).evaluations / (stale ? LESS : SHARE);
        bool spent = at->evaluations + TOGETHER * MOST > most;
        p.fresh = !at->walks || p.value != at->value;
        p.first = at->walks;
        if (!p.fresh && spent) return;
        memset(used, 0, sizeof used);
        sx_run_tasks(start->run, spent ? 1 : TOGETHER, run_descent, &p, used, sizeof *used);
        if (sx_run_stopped(start->run)) return;
        for (int i = 0; i < TOGETHER; i++) at->evaluations += used[i];
        at->walks += TOGETHER;
        at->value = p.value;
    }
}
