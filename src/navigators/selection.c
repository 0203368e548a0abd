/* Choosing among evaluated points. Ranking is a stable merge sort, n log n comparisons; members of the front are then
 * inserted one by one into a list, by bisection. */
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

/* Whether a member ranks behind another by the objective; `single`: it has one criterion, and illegal members are at infinity. */
static inline bool is_behind(const sx_goal *goal, bool single, const sx_outcome *a, const sx_outcome *b) {
    return single ? a->value > b->value : sx_outcome_compare(goal, a, b) > 0;
}

/* Merges two sorted runs of member numbers, from[low..middle) and from[middle..high), into `to`. */
static void merge_runs(const sx_goal *goal, const sx_outcome *outcome, const uint32_t *from, size_t low,
                       size_t middle, size_t high, uint32_t *to) {
    const bool single = goal->objective.n_criteria == 1;
    const uint32_t *a = from + low, *b = from + middle, *a_end = b, *b_end = from + high;
    to += low;
    while (a < a_end && b < b_end) *to++ = is_behind(goal, single, &outcome[*a], &outcome[*b]) ? *b++ : *a++;
    while (a < a_end) *to++ = *a++;
    while (b < b_end) *to++ = *b++;
}

/* Sorts member numbers by the objective, best first, equal ones as they were. `scratch` is room for n. */
static void sort_members(const sx_goal *goal, const sx_outcome *outcome, size_t n, uint32_t *order,
                         uint32_t *scratch) {
    uint32_t *from = order, *to = scratch;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t middle = low + width < n ? low + width : n;
            size_t high = low + 2 * width < n ? low + 2 * width : n;
            merge_runs(goal, outcome, from, low, middle, high, to);
        }
        uint32_t *other = from;
        from = to;
        to = other;
    }
    if (from != order) memcpy(order, from, n * sizeof *order);
}

/* How many members of a front, listed by places in an order with the first metric rising, have no more of that than `most`. */
static size_t count_up_to(const sx_goal *goal, const sx_outcome *outcome, const uint32_t *order,
                          const uint32_t *place, size_t front, double most) {
    size_t low = 0, high = front;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (outcome[order[place[middle]]].metrics.value[goal->front[0]] <= most)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Lists the places in the order of the legal members that none dominates, with the first metric rising and the second falling;
 * returns how many they are. */
static size_t list_front(const sx_goal *goal, const sx_outcome *outcome, size_t n, const uint32_t *order,
                         uint32_t *place) {
    const size_t first = goal->front[0], second = goal->front[1];
    size_t front = 0;
    for (size_t i = 0; i < n && !outcome[order[i]].reason; i++) {
        const double *own = outcome[order[i]].metrics.value;
        size_t at = count_up_to(goal, outcome, order, place, front, own[first]), end = at;
        const double *before = at > 0 ? outcome[order[place[at - 1]]].metrics.value : NULL;
        bool same = before && before[first] == own[first] && before[second] == own[second];
        if (before && !same && before[second] <= own[second]) continue;
        while (!same && at > 0 && outcome[order[place[at - 1]]].metrics.value[first] == own[first]) at--;
        while (end < front && outcome[order[place[end]]].metrics.value[second] >= own[second]) end++;
        memmove(place + at + 1, place + end, (front - end) * sizeof *place);
        place[at] = (uint32_t)i;
        front = front - (end - at) + 1;
    }
    return front;
}

/* Brings the members of the front before the others, both kinds in the order they had, and returns how many
 * they are. `scratch` is room for n. */
static size_t part_front(const sx_goal *goal, const sx_outcome *outcome, size_t n, uint32_t *order,
                         uint32_t *scratch) {
    const uint32_t mark = (uint32_t)1 << 31;
    size_t front = list_front(goal, outcome, n, order, scratch), next = 0, others = 0;
    for (size_t k = 0; k < front; k++) order[scratch[k]] |= mark;
    for (size_t i = 0; i < n; i++) {
        if (order[i] & mark)
            order[next++] = order[i] & ~mark;
        else
            scratch[others++] = order[i];
    }
    memcpy(order + front, scratch, others * sizeof *order);
    return front;
}

size_t sx_select_rank(const sx_goal *goal, const sx_outcome *outcome, size_t n, bool pareto,
                      uint32_t *order) {
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    sort_members(goal, outcome, n, order, order + n);
    size_t front = pareto ? part_front(goal, outcome, n, order, order + n) : 0;
    return front ? front : 1;
}

size_t sx_select_worst(const sx_goal *goal, const sx_outcome *outcome, size_t n) {
    size_t worst = 0;
    for (size_t i = 1; i < n; i++)
        if (sx_outcome_compare(goal, &outcome[i], &outcome[worst]) > 0) worst = i;
    return worst;
}

void sx_select_news(const sx_run *run, size_t n, sx_outcome *outcome, void *points) {
    sx_outcome found;
    size_t size = sx_run_space(run)->point_size;
    const void *point = sx_run_news(run, &found);
    if (!point) return;
    size_t worst = sx_select_worst(sx_run_goal(run), outcome, n);
    outcome[worst] = found;
    memcpy((unsigned char *)points + worst * size, point, size);
}
