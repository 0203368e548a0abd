/* The legal point nearest to a vector: Mind Mappings' getProjection (ASPLOS 2021, section 4.2 and appendix
 * B).
 *
 * As there, every dimension takes the split nearest to what is asked for, orders go by the positions asked
 * for, and banks are distributed as near as possible. Where that is not legal, Mind Mappings advances the
 * dimension whose next split is nearest, one at a time; here the combinations of splits come in the exact
 * order of their distance (the k best sums of sorted lists), which cannot pass a nearer one by, and legality
 * is that of the model and all constraints rather than the size of the array alone. What is still not legal
 * is repaired. Then the point goes to its nearest legal neighbour as long as that is nearer to the vector, so
 * that the answer is a local minimum of the distance over the legal points. O(splits + COMBINATIONS * check +
 * steps * neighbours). */
#include "mapspace/map_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEAREST = 32, COMBINATIONS = 400, REPAIRS = 8, ROOM = COMBINATIONS * SX_MAX_DIMS };

/* One combination: which of its nearest splits each dimension takes, and the sum of their distances. */
typedef struct combination {
    double distance;
    uint8_t pick[SX_MAX_DIMS];
    uint8_t first; /* the first dimension that its successors may advance: each combination comes once */
} combination;

/* A projection in the making. */
typedef struct projection {
    const sx_map_space *space;
    struct project_point {
        sx_mapping mapping;
        uint8_t banks[SX_MAX_LEVELS * SX_MAX_TENSORS];
    } near, best; /* points, which are no longer than that */
    double target[SX_MAP_MAX_VALUES], values[SX_MAP_MAX_VALUES];
    double here[SX_MAP_MAX_VALUES],
        least; /* the point to improve, and its distance or that of a better one */
    uint32_t split[SX_MAX_DIMS][NEAREST][SX_MAX_SLOTS];
    double distance[SX_MAX_DIMS][NEAREST];
    size_t n_splits[SX_MAX_DIMS];
    combination heap[ROOM];
    int n_heap;
} projection;

/* The squared distance of a point from the target. */
static double distance_of(projection *p, const void *point) {
    sx_map_encode(&p->space->space, point, p->values);
    double sum = 0;
    for (size_t i = 0; i < p->space->space.n_values; i++) {
        double away = p->values[i] - p->target[i];
        sum += away * away;
    }
    return sum;
}

/* Whether one combination comes before another. */
static bool comes_before(const combination *a, const combination *b) {
    if (a->distance != b->distance) return a->distance < b->distance;
    return memcmp(a->pick, b->pick, sizeof a->pick) < 0;
}

static void push_combination(projection *p, const combination *item) {
    if (p->n_heap == ROOM) return;
    int i = p->n_heap++;
    for (; i > 0 && comes_before(item, &p->heap[(i - 1) / 2]); i = (i - 1) / 2)
        p->heap[i] = p->heap[(i - 1) / 2];
    p->heap[i] = *item;
}

static combination pop_combination(projection *p) {
    combination top = p->heap[0], last = p->heap[--p->n_heap];
    int i = 0;
    for (int child = 1; child < p->n_heap; child = 2 * i + 1) {
        if (child + 1 < p->n_heap && comes_before(&p->heap[child + 1], &p->heap[child])) child++;
        if (!comes_before(&p->heap[child], &last)) break;
        p->heap[i] = p->heap[child];
        i = child;
    }
    p->heap[i] = last;
    return top;
}

/* Makes the point of a combination of splits. */
static void make_point(const projection *p, const combination *c, void *point) {
    memcpy(point, p->space->blank, p->space->space.point_size);
    for (int d = 0; d < p->space->problem->n_dims; d++)
        sx_map_set_factors(p->space, d, p->split[d][c->pick[d]], point);
    sx_map_decode_levels(p->space, p->target, point);
}

/* Goes through combinations from the nearest on until one is legal; false where none is. */
static bool try_combinations(projection *p, void *point) {
    int n_dims = p->space->problem->n_dims;
    combination start = {0};
    for (int d = 0; d < n_dims; d++) {
        const double *target = p->target + d * p->space->n_slots;
        p->n_splits[d] =
            sx_factors_nearest(p->space->factors[d], target, NEAREST, p->split[d], p->distance[d]);
        start.distance += p->distance[d][0];
    }
    p->n_heap = 0;
    push_combination(p, &start);
    for (int tries = 0; tries < COMBINATIONS && p->n_heap > 0; tries++) {
        combination c = pop_combination(p);
        make_point(p, &c, point);
        if (sx_map_check(&p->space->space, point) == 0) return true;
        for (int d = c.first; d < n_dims; d++) {
            if (c.pick[d] + 1u >= p->n_splits[d]) continue;
            combination next = c;
            next.distance += p->distance[d][c.pick[d] + 1] - p->distance[d][c.pick[d]];
            next.pick[d]++;
            next.first = (uint8_t)d;
            push_combination(p, &next);
        }
    }
    return false;
}

/* Repairs the nearest construction in a few random ways and keeps the nearest result; false where none is
 * legal. */
static bool repair_nearest(projection *p, void *point, void *best) {
    const combination nearest = {0};
    double least = INFINITY;
    for (uint64_t i = 0; i < REPAIRS; i++) {
        sx_rng rng = sx_rng_stream(0, "map.project", i);
        make_point(p, &nearest, point);
        if (!sx_map_repair(p->space, &rng, point)) continue;
        double distance = distance_of(p, point);
        if (distance >= least) continue;
        least = distance;
        memcpy(best, point, p->space->space.point_size);
    }
    if (least < INFINITY) memcpy(point, best, p->space->space.point_size);
    return least < INFINITY;
}

/* Whether a neighbour with these factors of a dimension may be nearer than the least distance: the sum over
 * all factors, which comes first in the sum over all values, is below it. */
static bool may_be_nearer(void *context, int dim, const uint32_t *factor) {
    projection *p = context;
    int n_slots = p->space->n_slots, n = p->space->problem->n_dims * n_slots, first = dim * n_slots;
    double sum = 0;
    for (int i = 0; i < n && sum < p->least; i++) {
        bool changed = i >= first && i < first + n_slots;
        double away = (changed ? sx_map_log2(factor[i - first]) : p->here[i]) - p->target[i];
        sum += away * away;
    }
    return sum < p->least;
}

/* Goes to the nearest legal neighbour as long as that is nearer to the target. */
static void descend_to_target(projection *p, void *point, void *near, void *best) {
    const sx_space *space = &p->space->space;
    p->least = distance_of(p, point);
    for (bool better = true; better;) {
        better = false;
        sx_map_encode(space, point, p->here);
        sx_map_walk walk = {.space = p->space, .point = point, .filter = may_be_nearer, .context = p};
        while (p->least > 0 && sx_map_walk_next(&walk, near)) {
            double distance = distance_of(p, near);
            if (distance >= p->least || sx_map_check(space, near)) continue;
            p->least = distance;
            better = true;
            memcpy(best, near, space->point_size);
        }
        if (better) memcpy(point, best, space->point_size);
    }
}

bool sx_map_project(const sx_space *base, const double *values, void *point) {
    const sx_map_space *space = sx_map_cast(base);
    projection *p = malloc(sizeof *p);
    if (!p) {
        atomic_store(&space->model->guard->unfinished, true);
        return false;
    }
    p->space = space;
    for (size_t i = 0; i < base->n_values; i++)
        p->target[i] = values[i] >= -1e6 && values[i] <= 1e6 ? values[i] : values[i] > 0 ? 1e6 : -1e6;
    bool found = try_combinations(p, point) || repair_nearest(p, point, &p->best);
    if (found) descend_to_target(p, point, &p->near, &p->best);
    free(p);
    return found;
}
