/* Walking the tiles of one shape, loop by loop: of each loop's choices those with the least bound first, none
 * whose bound is not below the best. A loop that is not yet chosen counts with the lower bound of those of
 * its choices that fit into the BRAM that is left. */
#include "systolic/exact.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 4096 }; /* nodes between two polls of the clock */

/* A choice with its bound. */
typedef struct branch {
    double bound;
    uint32_t choice;
} branch;

/* A walk. */
typedef struct walk {
    const sx_exact *exact;
    const sx_systolic_space *space;
    const sx_systolic_plan *plan;
    const sx_systolic_shape *shape;
    sx_worker *worker;
    double best, sums; /* sums: independent ones wanted in a PE */
    uint64_t looked;
    bool stopped;
    int n, order[SX_MAX_SYSTOLIC_LOOPS]; /* loops as they are chosen */
    uint32_t pes[SX_MAX_SYSTOLIC_LOOPS];
    const sx_step_choices *choices[SX_MAX_SYSTOLIC_LOOPS];
    size_t open[SX_MAX_SYSTOLIC_LOOPS][SX_MAX_SYSTOLIC_LOOPS]; /* [depth][loop]: choices with room */
    branch *branches[SX_MAX_SYSTOLIC_LOOPS];                   /* by depth */
    sx_systolic_point point;
    sx_systolic_tile (*tile)[SX_MAX_SYSTOLIC_LOOPS]; /* by kernel */
} walk;

/* Sets a loop's records to a choice, or to the lower bounds of all choices up to it. */
static void set_exact(walk *w, int loop, size_t choice) {
    for (size_t k = 0; k < w->space->n_kernels; k++)
        w->tile[k][loop] =
            sx_choice_exact(w->space, w->plan, loop, w->pes[loop], w->choices[loop], choice, k);
}

static void set_least(walk *w, int loop, size_t choice) {
    for (size_t k = 0; k < w->space->n_kernels; k++)
        w->tile[k][loop] =
            sx_choice_least(w->space, w->plan, loop, w->pes[loop], w->choices[loop], choice, k);
}

static double walk_value(walk *w) {
    w->looked++;
    return sx_systolic_objective_apply(&w->exact->objective, w->plan, w->shape->lanes, w->tile);
}

/* Whether the loops that are chosen, and the most that those from there on can be, make sums enough. */
static bool hides_latency(const walk *w, int chosen, const size_t *open) {
    double sums = 1;
    for (int i = 0; i < w->n; i++) {
        int loop = w->order[i];
        if (loop == w->plan->simd) continue;
        sums *= i < chosen ? w->tile[0][loop].hide : w->choices[loop]->step[open[loop] - 1];
    }
    return sums >= w->sums;
}

/* Finds, for each loop from a depth on, how many of its choices have room beside the least of all others;
 * false where one has none. */
static bool find_room(walk *w, int depth) {
    for (int i = depth; i < w->n; i++) {
        int loop = w->order[i];
        size_t fits = 0, high = depth > 0 ? w->open[depth - 1][loop] : w->choices[loop]->n;
        set_exact(w, loop, high - 1);
        bool all = !isinf(walk_value(w));
        if (all) fits = high;
        while (!all && fits + 1 < high) {
            size_t middle = fits + (high - fits) / 2;
            set_exact(w, loop, middle - 1);
            if (isinf(walk_value(w)))
                high = middle;
            else
                fits = middle;
        }
        if (fits == 0) return false;
        w->open[depth][loop] = fits;
        set_least(w, loop, fits - 1);
    }
    return true;
}

static int compare_branches(const void *a, const void *b) {
    const branch *x = a, *y = b;
    if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
    return x->choice < y->choice ? -1 : x->choice > y->choice;
}

/* Evaluates the tiles that are chosen. */
static void evaluate_tiles(walk *w) {
    sx_outcome outcome = sx_worker_evaluate(w->worker, &w->point, false);
    if (!outcome.reason)
        w->best = fmin(w->best, sx_exact_cutoff(sx_goal_objective(w->exact->objective.goal), outcome.value));
}

/* Writes a choice into the point. */
static void choose_tiles(walk *w, int loop, size_t choice) {
    uint32_t step = w->choices[loop]->step[choice];
    w->point.t1[loop] = step * w->pes[loop];
    w->point.t2[loop] = loop == w->plan->simd ? w->shape->lanes : step;
    set_exact(w, loop, choice);
}

/* Whether the walk should go on; polls the clock. */
static bool goes_on(walk *w) {
    if (w->looked >= PATIENCE) {
        sx_worker_reject(w->worker, w->looked);
        w->looked = 0;
        w->stopped = w->stopped || !sx_worker_goes_on(w->worker);
    }
    return !w->stopped;
}

/* Chooses the loops from a depth on. */
static void descend_loops(walk *w, int depth) {
    if (depth == w->n) {
        evaluate_tiles(w);
        return;
    }
    if (!find_room(w, depth) || !hides_latency(w, depth, w->open[depth]) ||
        !sx_systolic_promises(walk_value(w), w->best))
        return;
    int loop = w->order[depth];
    size_t n = 0, open = w->open[depth][loop];
    branch *branches = w->branches[depth];
    for (size_t i = 0; i < open; i++) {
        set_exact(w, loop, i);
        double bound = walk_value(w);
        if (isinf(bound)) break;
        if (sx_systolic_promises(bound, w->best)) branches[n++] = (branch){bound, (uint32_t)i};
    }
    if (n > 1) qsort(branches, n, sizeof *branches, compare_branches);
    for (size_t i = 0; i < n && sx_systolic_promises(branches[i].bound, w->best) && goes_on(w); i++) {
        choose_tiles(w, loop, branches[i].choice);
        for (int later = depth + 1; later < w->n; later++)
            set_least(w, w->order[later], w->open[depth][w->order[later]] - 1);
        if (hides_latency(w, depth + 1, w->open[depth])) descend_loops(w, depth + 1);
    }
    set_least(w, loop, open - 1);
}

/* The order of the loops, and their choices; false where a loop has none. */
static bool order_loops(walk *w) {
    const sx_systolic_design *design = &w->plan->design;
    sx_loops done = 0;
    for (int pass = 0; pass < 3; pass++)
        for (int d = 0; d < w->space->n_loops; d++) {
            bool is_space = w->plan->form.space >> d & 1, lanes = d == w->plan->simd;
            if ((done >> d & 1) || (pass == 0 && (!is_space || lanes)) || (pass == 1 && lanes)) continue;
            w->order[w->n++] = d;
            done |= (sx_loops)(1u << d);
        }
    for (int d = 0; d < w->space->n_loops; d++) {
        w->pes[d] = 1;
        for (int i = 0; i < design->n_space; i++)
            if (design->space[i] == d) w->pes[d] = w->shape->pes[i];
        w->choices[d] = sx_exact_choices(w->exact, w->shape, d);
        if (!w->choices[d]) return false;
        set_least(w, d, w->choices[d]->n - 1);
    }
    return true;
}

bool sx_exact_walk(const sx_exact *exact, const sx_systolic_shape *shape, sx_worker *worker, double *best) {
    const sx_systolic_space *space = exact->space;
    const sx_systolic_plan *plan = &space->plan[shape->design];
    walk w = {.exact = exact, .space = space, .plan = plan, .shape = shape, .worker = worker, .best = *best};
    w.sums = sx_systolic_sums_wanted(plan, shape->lanes);
    w.point.design = shape->design;
    w.tile = malloc(space->n_kernels * sizeof *w.tile);
    bool fine = w.tile && order_loops(&w);
    size_t room = 0;
    for (int d = 0; fine && d < space->n_loops; d++) room += w.choices[d]->n;
    branch *branches = malloc((room ? room : 1) * sizeof *branches);
    size_t at = 0;
    for (int i = 0; fine && branches && i < w.n; i++) {
        w.branches[i] = branches + at;
        at += w.choices[w.order[i]]->n;
    }
    if (!w.tile || !branches) sx_worker_fail(worker, sx_error_memory());
    if (fine && branches) descend_loops(&w, 0);
    sx_worker_reject(worker, w.looked);
    bool complete = w.tile && branches && !w.stopped && !sx_worker_stopped(worker);
    free(branches);
    free(w.tile);
    *best = w.best;
    return complete;
}
