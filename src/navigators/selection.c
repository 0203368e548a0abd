/* Choosing among evaluated points. Ranking is a stable merge sort, n log n comparisons; the front is found by
 * sweeping the members in order of energy. */
#include "navigators/selection.h"

#include <string.h>

int sx_outcome_compare(const sx_objective *objective, const sx_outcome *a, const sx_outcome *b) {
    if (a->reason || b->reason) return (a->reason != 0) - (b->reason != 0);
    return sx_objective_compare(objective, &a->score, &b->score);
}

size_t sx_select_tournament(const sx_objective *objective, const sx_outcome *outcome, size_t n, size_t size,
                            sx_rng *rng) {
    size_t best = sx_rng_below(rng, n);
    for (size_t i = 1; i < size; i++) {
        size_t other = sx_rng_below(rng, n);
        if (sx_outcome_compare(objective, &outcome[other], &outcome[best]) < 0) best = other;
    }
    return best;
}

/* By energy, then by cycles; the objective is not looked at. */
static int compare_energy(const sx_objective *objective, const sx_outcome *a, const sx_outcome *b) {
    (void)objective;
    if (a->reason || b->reason) return (a->reason != 0) - (b->reason != 0);
    if (a->score.energy_pj != b->score.energy_pj) return a->score.energy_pj < b->score.energy_pj ? -1 : 1;
    return (a->score.cycles > b->score.cycles) - (a->score.cycles < b->score.cycles);
}

typedef int comparison(const sx_objective *objective, const sx_outcome *a, const sx_outcome *b);

/* Merges two sorted runs of member numbers, from[low..middle) and from[middle..high), into `to`. */
static void merge(const sx_objective *objective, const sx_outcome *outcome, comparison *compare,
                  const uint32_t *from, size_t low, size_t middle, size_t high, uint32_t *to) {
    size_t a = low, b = middle;
    for (size_t i = low; i < high; i++) {
        bool first =
            a < middle && (b >= high || compare(objective, &outcome[from[a]], &outcome[from[b]]) <= 0);
        to[i] = first ? from[a++] : from[b++];
    }
}

/* Sorts member numbers, best first, equal ones as they were. `scratch` is room for n. */
static void sort(const sx_objective *objective, const sx_outcome *outcome, comparison *compare, size_t n,
                 uint32_t *order, uint32_t *scratch) {
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t middle = low + width < n ? low + width : n;
            size_t high = low + 2 * width < n ? low + 2 * width : n;
            merge(objective, outcome, compare, order, low, middle, high, scratch);
        }
        memcpy(order, scratch, n * sizeof *order);
    }
}

/* Brings the members of the front of energy and cycles before the others, both kinds in the order they had,
 * and returns how many they are. The order must be that of compare_energy. */
static size_t part_front(const sx_outcome *outcome, size_t n, uint32_t *order, uint32_t *scratch) {
    size_t front = 0, others = 0;
    const sx_outcome *last = NULL;
    for (size_t i = 0; i < n; i++) {
        const sx_outcome *o = &outcome[order[i]];
        bool equal =
            last && o->score.cycles == last->score.cycles && o->score.energy_pj == last->score.energy_pj;
        if (!o->reason && (!last || o->score.cycles < last->score.cycles || equal)) {
            last = o;
            order[front++] = order[i];
        } else {
            scratch[others++] = order[i];
        }
    }
    memcpy(order + front, scratch, others * sizeof *order);
    return front;
}

size_t sx_select_rank(const sx_objective *objective, const sx_outcome *outcome, size_t n, bool pareto,
                      uint32_t *order) {
    uint32_t *scratch = order + n;
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    size_t front = 0;
    if (pareto) {
        sort(objective, outcome, compare_energy, n, order, scratch);
        front = part_front(outcome, n, order, scratch);
        sort(objective, outcome, sx_outcome_compare, front, order, scratch);
    }
    sort(objective, outcome, sx_outcome_compare, n - front, order + front, scratch);
    return front ? front : 1;
}
