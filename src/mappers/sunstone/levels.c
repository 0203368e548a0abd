/* Sunstone's walk from memory to memory.
 *
 * Source: Sunstone (thesis 2022), sections 4.7 and 4.8, algorithms 7 and 8. For each unrolling, tile of a
 * memory and order of the loops around it the cost is found as if all that is left were loops of the next
 * memory; each unrolling and tile goes on with its best order. Partial mappings are taken up by ascending
 * cost, and given up (with all after them) when the cost and the least that the memories further out can cost
 * exceed the best complete mapping.
 *
 * The cost of a partial mapping is the model's own: the loops left stand at the next memory, which has, as
 * all further out, no limit of size. So every tensor comes once from outside, and what the model says is the
 * thesis' cost and its ideal bound in one, with bandwidths, and true for bypassed tensors. It is no bound of
 * the cycles where an array further out can unroll loops that are left: alpha-beta then may lose the best
 * (docs/studies/sunstone.md). Partial mappings are not points of the space and do not count as evaluations.
 *
 * What differs. The search goes deep instead of level by level, so that there is something to compare with
 * early. Where several items are walked at a time they compare with what was best when they began. The
 * released code's bound for more than two memories is none (e_opt = 0); here it is the same for any number.
 *
 * Complexity: per stage and parent, unrollings x tiles x orders evaluations of the model. */
#include "mappers/sunstone/levels.h"

#include "base/status.h"
#include "mappers/sunstone/partial.h"
#include "mapspace/map_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How much more than the best an unrolling may seem to cost: with tensors that pass its memory by, loops of
 * one order there may cost more than two kinds of loops. */
static const double SLACK = 1.1;

enum { BATCH = 16 /* items visited at a time, at most */ };

/* A task's walk. */
typedef struct walk {
    sx_sunstone *plan;
    sx_worker *worker;
    sx_model_workspace *workspace[SX_MAX_LEVELS]; /* number i: without limits from memory i outward */
    double bound;                                 /* worse partial mappings are pruned */
    uint64_t partial, tiles[SX_MAX_LEVELS];
    bool over;
} walk;

/* --- partial mappings --- */

/* Finds the best order of the loops that are left, at a memory, and what the whole costs at least when the
 * memories beyond stage `number` - 1 have no limits. False where it cannot be better than what is there
 * already. */
static bool price_item(walk *w, int number, int memory, double bound, sx_sunstone_partial *at,
                       sx_sunstone_item *item) {
    const sx_sunstone *plan = w->plan;
    sx_sunstone_put_tile(plan, memory, at->left, at->point);
    size_t n = 0;
    const uint8_t(*order)[SX_MAX_DIMS] =
        sx_sunstone_orders_of(plan->orders, sx_sunstone_loops(plan, at->left), &n);
    if (!order) atomic_store(&w->plan->failed, true);
    item->value = INFINITY;
    for (size_t i = 0; i < n; i++) {
        sx_score score;
        sx_sunstone_put_order(plan, memory, order[i], at->point);
        w->partial++;
        sx_verdict verdict =
            sx_evaluate_within(w->workspace[number], sx_map_point(at->point), plan->objective, bound, &score);
        if (verdict.reason == SX_NO_MEMORY) atomic_store(&w->plan->failed, true);
        if (verdict.reason != SX_LEGAL) continue;
        double value = sx_objective_value(plan->objective, &score);
        if (value >= item->value) continue;
        item->value = value;
        bound = fmin(bound, value);
        memcpy(item->order, order[i], SX_MAX_DIMS);
    }
    return item->value < INFINITY;
}

/* Whether an unrolling (which `at` holds) could be better than what is there, had its memory no limit. */
static bool may_improve(walk *w, int number, const sx_sunstone_partial *at, sx_sunstone_partial *scratch) {
    sx_sunstone_item item;
    if (!w->plan->on.alphabeta || w->bound == INFINITY) return true;
    sx_sunstone_copy(w->plan, at, scratch);
    return price_item(w, number, w->plan->stage[number].memory, SLACK * w->bound, scratch, &item);
}

/* Copies a partial mapping and adds a tile. */
static void with_tile(const sx_sunstone *plan, int number, const sx_sunstone_partial *at,
                      const sx_sunstone_tile *tile, sx_sunstone_partial *to) {
    sx_sunstone_copy(plan, at, to);
    sx_sunstone_add_tile(plan, &plan->stage[number], tile, to);
}

/* Adds the partial mappings of a list of tiles for an unrolling (which `at` holds). */
static void price_tiles(walk *w, int number, const sx_sunstone_partial *at, const sx_vector *tiles,
                        uint64_t root, sx_sunstone_partial *scratch, sx_vector *out) {
    for (size_t i = 0; i < tiles->n && !w->over; i++) {
        sx_sunstone_item item = {.root = root, .tile = *(sx_sunstone_tile *)sx_vector_at(tiles, i)};
        with_tile(w->plan, number, at, &item.tile, scratch);
        w->tiles[number]++;
        if (i % 64 == 63 && w->worker && !sx_worker_goes_on(w->worker)) w->over = true;
        double bound = w->plan->on.alphabeta ? w->bound : INFINITY;
        if (!price_item(w, number + 1, w->plan->stage[number].outer, bound, scratch, &item)) continue;
        sx_sunstone_item *new = sx_vector_add(out);
        if (new) *new = item;
    }
}

/* The cycles of all multiply-accumulates on the units that a point unrolls over. */
static double least_cycles(const sx_sunstone *plan, const void *point) {
    double cycles = (double)sx_problem_computes(plan->space->problem);
    for (int s = 0; s < plan->space->arch->n_levels; s++)
        for (int d = 0; d < plan->space->problem->n_dims; d++)
            cycles /= sx_map_point(point)->level[s].spatial[d];
    return cycles;
}

/* Whether bandwidth slows down every tile of a list. */
static bool is_slow(walk *w, int number, const sx_sunstone_partial *at, const sx_vector *tiles,
                    sx_sunstone_partial *scratch) {
    double least = least_cycles(w->plan, at->point);
    for (size_t i = 0; i < tiles->n && !w->over; i++) {
        sx_score score;
        if (i % 64 == 63 && w->worker && !sx_worker_goes_on(w->worker)) w->over = true;
        with_tile(w->plan, number, at, sx_vector_at(tiles, i), scratch);
        sx_sunstone_put_tile(w->plan, w->plan->stage[number].outer, scratch->left, scratch->point);
        w->partial++;
        sx_verdict verdict =
            sx_evaluate_score(w->workspace[number + 1], sx_map_point(scratch->point), &score);
        if (verdict.reason == SX_NO_MEMORY) atomic_store(&w->plan->failed, true);
        if (verdict.reason == SX_LEGAL && score.cycles <= 1.001 * least) return false;
    }
    return true;
}

/* Adds the partial mappings of a stage for one unrolling of it. */
static void expand_stage(walk *w, int number, const sx_sunstone_partial *from,
                         const sx_sunstone_unrolling *parts, uint64_t root, sx_vector *out) {
    const sx_sunstone *plan = w->plan;
    size_t size = plan->space->space.point_size;
    sx_vector tiles = {.size = sizeof(sx_sunstone_tile)};
    sx_sunstone_partial at = {.point = malloc(2 * size)}, scratch = {.point = NULL};
    if (at.point) {
        scratch.point = (unsigned char *)at.point + size;
        sx_sunstone_copy(plan, from, &at);
        sx_sunstone_put_unrolling(plan, &plan->stage[number], parts, &at);
        bool improves = may_improve(w, number, &at, &scratch);
        if (improves)
            sx_sunstone_list_tiles(plan, &plan->stage[number], &at, plan->on.tiles, w->worker, &tiles);
        if (improves && plan->on.smaller && is_slow(w, number, &at, &tiles, &scratch)) {
            tiles.n = 0;
            sx_sunstone_list_tiles(plan, &plan->stage[number], &at, false, w->worker, &tiles);
        }
        price_tiles(w, number, &at, &tiles, root, &scratch, out);
    }
    if (!at.point || tiles.failed || out->failed) atomic_store(&w->plan->failed, true);
    if (out->n >= (size_t)plan->on.limit) w->over = true;
    sx_vector_clear(&tiles);
    free(at.point);
}

/* --- complete mappings --- */

/* Evaluates a complete mapping under all orders of the outermost memory. */
static void try_orders(walk *w, const sx_sunstone_stage *stage, const uint32_t *left, void *point) {
    sx_sunstone *plan = w->plan;
    size_t n = 0;
    const uint8_t(*order)[SX_MAX_DIMS] =
        sx_sunstone_orders_of(plan->orders, sx_sunstone_loops(plan, left), &n);
    if (!order) atomic_store(&plan->failed, true);
    for (size_t i = 0; i < n && !w->over; i++) {
        sx_sunstone_put_order(plan, stage->outer, order[i], point);
        sx_map_normalize(plan->space, point);
        sx_outcome outcome = sx_worker_evaluate(w->worker, point, plan->on.alphabeta);
        w->over = outcome.reason == SX_NOT_EVALUATED;
        if (!outcome.reason && outcome.value < w->bound) w->bound = outcome.value;
    }
}

/* Whether a complete mapping is one of the space, and legal. */
static bool is_legal(const sx_sunstone *plan, const void *point) {
    for (int d = 0; d < plan->space->problem->n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        sx_map_get_factors(plan->space, point, d, factor);
        for (int i = 0; i < plan->space->n_slots; i++)
            if (factor[i] < plan->space->min[d][i] || factor[i] > plan->space->max[d][i]) return false;
    }
    return plan->space->space.type->check(&plan->space->space, point) == 0;
}

/* Evaluates all complete mappings of the last stage for one unrolling of it. */
static void finish_stage(walk *w, const sx_sunstone_partial *from, const sx_sunstone_unrolling *parts) {
    sx_sunstone *plan = w->plan;
    const sx_sunstone_stage *stage = &plan->stage[plan->n_stages - 1];
    sx_vector tiles = {.size = sizeof(sx_sunstone_tile)};
    sx_sunstone_partial at = {.point = sx_worker_scratch(w->worker, 0)};
    sx_sunstone_copy(plan, from, &at);
    sx_sunstone_put_unrolling(plan, stage, parts, &at);
    sx_sunstone_list_tiles(plan, stage, &at, plan->on.tiles, w->worker, &tiles);
    if (tiles.failed) atomic_store(&plan->failed, true);
    void *point = sx_worker_scratch(w->worker, 1);
    for (size_t i = 0; i < tiles.n && !w->over; i++) {
        const sx_sunstone_tile *tile = sx_vector_at(&tiles, i);
        uint32_t left[SX_MAX_DIMS];
        w->tiles[plan->n_stages - 1]++;
        memcpy(point, at.point, plan->space->space.point_size);
        if (stage->memory >= 0) sx_sunstone_put_tile(plan, stage->memory, tile->factor, point);
        for (int d = 0; d < plan->space->problem->n_dims; d++) left[d] = at.left[d] / tile->factor[d];
        sx_sunstone_put_tile(plan, stage->outer, left, point);
        sx_sunstone_put_banks(plan, point);
        sx_map_normalize(plan->space, point);
        if (is_legal(plan, point))
            try_orders(w, stage, left, point);
        else
            sx_worker_reject(w->worker, 1);
        if (sx_worker_stopped(w->worker)) w->over = true;
    }
    sx_vector_clear(&tiles);
}

/* Orders items by cost, then as they were found. */
static int by_value(const void *a, const void *b) {
    const sx_sunstone_item *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Puts items in the order of their costs. */
static void sort_items(sx_vector *items) {
    for (size_t i = 0; i < items->n; i++) ((sx_sunstone_item *)sx_vector_at(items, i))->number = i;
    if (items->n) qsort(items->data, items->n, items->size, by_value);
}

static void descend_stage(walk *w, int number, const sx_sunstone_partial *from);

/* Goes on from an item of a stage, with its unrolling. */
static void follow_item(walk *w, int number, const sx_sunstone_partial *from, const sx_sunstone_item *item,
                        const sx_sunstone_unrolling *parts) {
    const sx_sunstone *plan = w->plan;
    const sx_sunstone_stage *stage = &plan->stage[number];
    sx_sunstone_partial to = {.point = malloc(plan->space->space.point_size)};
    if (!to.point) {
        atomic_store(&w->plan->failed, true);
        return;
    }
    sx_sunstone_copy(plan, from, &to);
    sx_sunstone_put_unrolling(plan, stage, parts, &to);
    sx_sunstone_add_tile(plan, stage, &item->tile, &to);
    sx_sunstone_put_order(plan, stage->outer, item->order, to.point);
    descend_stage(w, number + 1, &to);
    free(to.point);
}

/* Goes through all that a stage can add to a partial mapping. */
static void descend_stage(walk *w, int number, const sx_sunstone_partial *from) {
    sx_sunstone *plan = w->plan;
    const sx_sunstone_stage *stage = &plan->stage[number];
    sx_vector roots = {.size = sx_sunstone_parts_size(stage)}, items = {.size = sizeof(sx_sunstone_item)};
    sx_sunstone_list_unrollings(plan, stage, from->left, &roots);
    for (size_t i = 0; i < roots.n && !w->over; i++) {
        if (number == plan->n_stages - 1)
            finish_stage(w, from, sx_vector_at(&roots, i));
        else
            expand_stage(w, number, from, sx_vector_at(&roots, i), i, &items);
    }
    sort_items(&items);
    for (size_t i = 0; i < items.n && !w->over; i++) {
        const sx_sunstone_item *item = sx_vector_at(&items, i);
        if (plan->on.alphabeta && item->value > w->bound) break;
        follow_item(w, number, from, item, sx_vector_at(&roots, item->root));
    }
    if (roots.failed || items.failed) atomic_store(&plan->failed, true);
    sx_vector_clear(&roots);
    sx_vector_clear(&items);
}

/* --- tasks --- */

/* Begins a walk; false when memory is out. */
static bool begin_walk(walk *w, sx_sunstone *plan, sx_worker *worker) {
    *w = (walk){.plan = plan, .worker = worker, .bound = fmin(plan->incumbent, plan->cutoff)};
    for (int i = 0; i < plan->n_stages && plan->n_stages > 1; i++) {
        const sx_model *model = i ? plan->stage[i - 1].relaxed : plan->open;
        sx_status status = sx_model_workspace_new(model, &w->workspace[i]);
        if (!status) continue;
        sx_status_free(status);
        atomic_store(&plan->failed, true);
        return false;
    }
    return true;
}

/* What a task has counted: its output. */
typedef struct counts {
    uint64_t partial, tiles[SX_MAX_LEVELS];
} counts;

/* Ends a walk; what it counted is `out`. */
static void end_walk(walk *w, counts *out) {
    for (int i = 0; i < w->plan->n_stages; i++) sx_model_workspace_free(w->workspace[i]);
    out->partial = w->partial;
    memcpy(out->tiles, w->tiles, sizeof out->tiles);
}

/* What tasks share. */
typedef struct job {
    sx_sunstone *plan;
    size_t first;   /* item, or unrolling */
    size_t each, n; /* unrollings of a task, and of all */
} job;

/* How a task on a plan ended. */
static sx_status task_ending(const sx_sunstone *plan) {
    return atomic_load(&plan->failed) ? sx_error_memory() : SX_OK;
}

/* A task: appends the partial mappings of some unrollings of the first stage. */
static sx_status expand_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const job *j = input;
    walk w;
    sx_vector made = {.size = sizeof(sx_sunstone_item)};
    sx_sunstone_partial start = sx_sunstone_start(j->plan);
    if (begin_walk(&w, j->plan, worker))
        for (size_t i = task * j->each; i < (task + 1) * j->each && i < j->n && !w.over; i++)
            expand_stage(&w, 0, &start, sx_vector_at(&j->plan->roots, i), i, &made);
    sx_worker_append(worker, made.data, made.n * made.size);
    sx_vector_clear(&made);
    end_walk(&w, output);
    return task_ending(j->plan);
}

/* A task: all complete mappings under an item. */
static sx_status visit_task(const void *input, size_t task, sx_worker *worker, void *output) {
    const job *j = input;
    walk w;
    sx_sunstone *plan = j->plan;
    sx_sunstone_partial start = sx_sunstone_start(plan);
    const sx_sunstone_item *item = sx_vector_at(&plan->items, j->first + task);
    if (begin_walk(&w, plan, worker)) {
        if (plan->n_stages == 1)
            finish_stage(&w, &start, sx_vector_at(&plan->roots, item->root));
        else
            follow_item(&w, 0, &start, item, sx_vector_at(&plan->roots, item->root));
    }
    end_walk(&w, output);
    return task_ending(plan);
}

/* Adds what was counted to a plan's. */
static void add_counts(sx_sunstone *plan, const counts *counted) {
    plan->partial += counted->partial;
    for (int i = 0; i < plan->n_stages; i++) plan->tiles[i] += counted->tiles[i];
}

/* Runs tasks on a plan and adds up what they count. */
static void run_tasks(sx_run *run, size_t n, sx_task *task, const job *j) {
    sx_sunstone *plan = j->plan;
    counts *counted = calloc(n + 1, sizeof *counted);
    if (!counted) {
        atomic_store(&plan->failed, true);
        return;
    }
    sx_run_tasks(run, n, task, j, counted, sizeof *counted);
    for (size_t t = 0; t < n; t++) add_counts(plan, &counted[t]);
    free(counted);
}

/* Refuses a list that is too long. */
static sx_status check_limit(const sx_sunstone *plan, size_t n) {
    if ((double)n < plan->on.limit) return SX_OK;
    return sx_error_hint(
        sx_error_new(SX_ERR_LIMIT, "more partial mappings than the limit of %.0f", plan->on.limit),
        "keep order, unrolling and tiles on, constrain the space, or raise limit");
}

/* Joins the items of tasks. */
static sx_status join_tasks(sx_sunstone *plan, const sx_run *run, size_t n_tasks) {
    for (size_t t = 0; t < n_tasks; t++) {
        size_t size;
        const sx_sunstone_item *made = sx_run_appended(run, t, &size);
        for (size_t i = 0; i < size / sizeof *made; i++) {
            sx_sunstone_item *new = sx_vector_add(&plan->items);
            if (new) *new = made[i];
        }
    }
    if (plan->items.failed || atomic_load(&plan->failed)) return sx_error_memory();
    sort_items(&plan->items);
    return check_limit(plan, plan->items.n);
}

/* Makes items of the unrollings alone. */
static sx_status take_roots(sx_sunstone *plan) {
    for (size_t i = 0; i < plan->roots.n; i++) {
        sx_sunstone_item *item = sx_vector_add(&plan->items);
        if (item) *item = (sx_sunstone_item){.root = i};
    }
    return plan->items.failed ? sx_error_memory() : SX_OK;
}

sx_status sx_sunstone_begin(sx_sunstone *plan, sx_run *run) {
    enum { TASKS = 64 };
    plan->roots.n = plan->items.n = 0;
    for (int d = 0; d < plan->space->problem->n_dims; d++)
        if (plan->left[d] == 0) return SX_OK;
    sx_sunstone_list_unrollings(plan, &plan->stage[0], plan->left, &plan->roots);
    if (plan->roots.failed) return sx_error_memory();
    SX_TRY(check_limit(plan, plan->roots.n));
    if (plan->n_stages == 1) return take_roots(plan);
    job j = {.plan = plan, .each = plan->roots.n / TASKS + 1, .n = plan->roots.n};
    size_t n_tasks = (j.n + j.each - 1) / j.each;
    run_tasks(run, n_tasks, expand_task, &j);
    return join_tasks(plan, run, n_tasks);
}

/* Evaluates all complete mappings under items first..first+n-1 that could be better than the incumbent, as
 * tasks of the run. */
static void visit_items(sx_sunstone *plan, sx_run *run, size_t first, size_t n) {
    job j = {.plan = plan, .first = first};
    run_tasks(run, n, visit_task, &j);
}

/* How many items to visit next: few at first, none that cannot be better than the best. */
static size_t count_next(const sx_sunstone *plan, size_t next) {
    size_t n = next < 1 ? 1 : next < BATCH ? next : BATCH, left = plan->items.n - next, use = 0;
    while (use < n && use < left) {
        const sx_sunstone_item *item = sx_vector_at(&plan->items, next + use);
        if (plan->on.alphabeta && item->value > fmin(plan->incumbent, plan->cutoff)) break;
        use++;
    }
    return use;
}

sx_status sx_sunstone_walk(sx_sunstone *plan, sx_run *run, uint64_t *next) {
    /* A run that ends while items are listed has fewer of them than the one that it goes on from. */
    if (*next > plan->items.n) return sx_run_continue(run) ? sx_run_damaged(run) : SX_OK;
    while (sx_run_continue(run)) {
        sx_run_incumbent(run, &plan->incumbent);
        size_t n = count_next(plan, *next);
        if (n == 0) break;
        visit_items(plan, run, *next, n);
        *next += n;
        if (atomic_load(&plan->failed)) return sx_error_memory();
    }
    return SX_OK;
}

void sx_sunstone_price(sx_sunstone *plan, uint64_t root, const sx_vector *tiles) {
    walk w;
    size_t size = plan->space->space.point_size;
    sx_sunstone_partial start = sx_sunstone_start(plan), at = {.point = malloc(2 * size)}, scratch;
    bool begun = begin_walk(&w, plan, NULL);
    if (at.point && begun) {
        scratch.point = (unsigned char *)at.point + size;
        sx_sunstone_copy(plan, &start, &at);
        sx_sunstone_put_unrolling(plan, &plan->stage[0], sx_vector_at(&plan->roots, root), &at);
        price_tiles(&w, 0, &at, tiles, root, &scratch, &plan->items);
    }
    if (!at.point || plan->items.failed) atomic_store(&plan->failed, true);
    counts counted;
    end_walk(&w, &counted);
    add_counts(plan, &counted);
    free(at.point);
}
