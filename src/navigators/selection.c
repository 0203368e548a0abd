/* Choosing among evaluated points. Ranking is a stable merge sort, n log n comparisons; the front is found by
 * sweeping the members in order of its first metric. */
#include "navigators/selection.h"

#include "ir/goal.h"

#include <string.h>

int sx_outcome_compare(const sx_goal *goal, const sx_outcome *a, const sx_outcome *b) {
    if (a->reason || b->reason) return (a->reason != 0) - (b->reason != 0);
    if (goal->objective.n_criteria == 1) return (a->value > b->value) - (a->value < b->value);
    return sx_goal_compare(goal, &a->metrics, &b->metrics);
}

size_t sx_select_tournament(const sx_goal *goal, const sx_outcome *outcome, size_t n, size_t size,
                            sx_rng *rng) {
    size_t best = sx_rng_below(rng, n);
    for (size_t i = 1; i < size; i++) {
        size_t other = sx_rng_below(rng, n);
        if (sx_outcome_compare(goal, &outcome[other], &outcome[best]) < 0) best = other;
    }
    return best;
}

/* By the front's first metric, then by its second; the objective is not used. */
static int compare_axes(const sx_goal *goal, const sx_outcome *a, const sx_outcome *b) {
    if (a->reason || b->reason) return (a->reason != 0) - (b->reason != 0);
    for (int i = 0; i < 2; i++) {
        double x = a->metrics.value[goal->front[i]], y = b->metrics.value[goal->front[i]];
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

typedef int comparison(const sx_goal *goal, const sx_outcome *a, const sx_outcome *b);

/* Merges two sorted runs of member numbers, from[low..middle) and from[middle..high), into `to`. */
static void merge(const sx_goal *goal, const sx_outcome *outcome, comparison *compare, const uint32_t *from,
                  size_t low, size_t middle, size_t high, uint32_t *to) {
    size_t a = low, b = middle;
    for (size_t i = low; i < high; i++) {
        bool first = a < middle && (b >= high || compare(goal, &outcome[from[a]], &outcome[from[b]]) <= 0);
        to[i] = first ? from[a++] : from[b++];
    }
}

/* Sorts member numbers, best first, equal ones as they were. `scratch` is room for n. */
static void sort(const sx_goal *goal, const sx_outcome *outcome, comparison *compare, size_t n,
                 uint32_t *order, uint32_t *scratch) {
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t middle = low + width < n ? low + width : n;
            size_t high = low + 2 * width < n ? low + 2 * width : n;
            merge(goal, outcome, compare, order, low, middle, high, scratch);
        }
        memcpy(order, scratch, n * sizeof *order);
    }
}

/* Brings the members of the front before the others, both kinds in the order they had, and returns how many
 * they are. The order must be that of compare_axes. */
static size_t part_front(const sx_goal *goal, const sx_outcome *outcome, size_t n, uint32_t *order,
                         uint32_t *scratch) {
    size_t front = 0, others = 0;
    const sx_outcome *last = NULL;
    for (size_t i = 0; i < n; i++) {
        const sx_outcome *o = &outcome[order[i]];
        bool less = last && o->metrics.value[goal->front[1]] < last->metrics.value[goal->front[1]];
        if (!o->reason && (!last || less || compare_axes(goal, o, last) == 0)) {
            last = o;
            order[front++] = order[i];
        } else {
            scratch[others++] = order[i];
        }
    }
    memcpy(order + front, scratch, others * sizeof *order);
    return front;
}

size_t sx_select_rank(const sx_goal *goal, const sx_outcome *outcome, size_t n, bool pareto,
                      uint32_t *order) {
    uint32_t *scratch = order + n;
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    size_t front = 0;
    if (pareto) {
        sort(goal, outcome, compare_axes, n, order, scratch);
        front = part_front(goal, outcome, n, order, scratch);
        sort(goal, outcome, sx_outcome_compare, front, order, scratch);
    }
    sort(goal, outcome, sx_outcome_compare, n - front, order + front, scratch);
    return front ? front : 1;
}

void sx_select_news(const sx_run *run, size_t n, sx_outcome *outcome, void *points) {
    sx_outcome found;
    size_t worst = 0, size = sx_run_space(run)->point_size;
    const void *point = sx_run_news(run, &found);
    if (!point) return;
    for (size_t i = 1; i < n; i++)
        if (sx_outcome_compare(sx_run_goal(run), &outcome[i], &outcome[worst]) > 0) worst = i;
    outcome[worst] = found;
    memcpy((unsigned char *)points + worst * size, point, size);
}
