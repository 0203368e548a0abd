/* One point of each of several fronts, so that a product of the sums is least.
 *
 * The sums of all choices are the Minkowski sum of the fronts. E^a * D^b with a, b >= 0 has convex upper level sets where E and
 * D are positive (a log E + b log D is concave), so it is least at a corner of the convex hull of that sum; and it grows with
 * both, so at a corner of the lower left part. Such a corner is the sum of corners of the fronts' own hulls, those with the
 * least E + w * D for one weight w. So: from the least energies on, the edges of all hulls in the order of the cycles that they
 * save for their energy; the corners that this walks through are all candidates. With the corners of convex regions that hold
 * the fronts, the same walk is a lower bound of all choices of points in them.
 *
 * A layer that runs several times has the same point each time: n times a hull has n times its corners.
 *
 * Complexity: O(p log p) for p points of all fronts. */
#include "session/front_choice.h"

#include "base/status.h"
#include "ir/goal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { TANGENTS = SX_RELAXED_POINTS - 2 };

/* An edge of a front's hull: from one point to another with more energy and fewer cycles. */
typedef struct edge {
    double saving; /* cycles for each unit of energy */
    size_t front, to;
} edge;

static double saving_of(const sx_front_point *from, const sx_front_point *to) {
    return (from->cycles - to->cycles) / (to->energy - from->energy);
}

/* Appends the edges of a front's lower left hull; their savings descend. Returns how many. */
static size_t list_edges(const sx_choice_front *front, size_t index, edge *out) {
    size_t n = 0;
    for (size_t i = 1; i < front->n; i++) {
        assert(front->point[i].energy > front->point[i - 1].energy);
        assert(front->point[i].cycles < front->point[i - 1].cycles);
        edge next = {.front = index, .to = i};
        for (;; n--) {
            const size_t from = n > 0 ? out[n - 1].to : 0;
            next.saving = saving_of(&front->point[from], &front->point[i]);
            if (n == 0 || out[n - 1].saving > next.saving) break;
        }
        out[n++] = next;
    }
    return n;
}

/* Orders edges by descending saving; those of one front have different ones. */
static int compare_edges(const void *a, const void *b) {
    const edge *x = a, *y = b;
    if (x->saving != y->saving) return x->saving > y->saving ? -1 : 1;
    return (x->front > y->front) - (x->front < y->front);
}

/* The product of the sums of the points chosen. */
static double value_of(const sx_choice_front *front, size_t n, const sx_criterion *criterion) {
    sx_score sum = {0};
    for (size_t i = 0; i < n; i++) {
        sum.energy_pj += front[i].times * front[i].point[front[i].chosen].energy;
        sum.cycles += front[i].times * front[i].point[front[i].chosen].cycles;
    }
    return sx_criterion_value(criterion, &sum);
}

/* Walks along edges; sets the best point of each front. */
static void walk_edges(const edge *list, size_t n_edges, sx_choice_front *front, size_t n,
                       const sx_criterion *criterion) {
    size_t best = 0;
    for (size_t i = 0; i < n; i++) front[i].chosen = 0;
    double least = value_of(front, n, criterion);
    for (size_t e = 0; e < n_edges; e++) {
        front[list[e].front].chosen = list[e].to;
        const double value = value_of(front, n, criterion);
        if (value < least) least = value, best = e + 1;
    }
    for (size_t i = 0; i < n; i++) front[i].chosen = 0;
    for (size_t e = 0; e < best; e++) front[list[e].front].chosen = list[e].to;
}

sx_status sx_front_choose(sx_choice_front *front, size_t n, const sx_criterion *criterion, double *value) {
    size_t points = 0, n_edges = 0;
    for (size_t i = 0; i < n; i++) points += front[i].n;
    edge *list = malloc((points + 1) * sizeof *list);
    if (!list) return sx_error_memory();
    for (size_t i = 0; i < n; i++) n_edges += list_edges(&front[i], i, list + n_edges);
    qsort(list, n_edges, sizeof *list, compare_edges);
    walk_edges(list, n_edges, front, n, criterion);
    free(list);
    *value = value_of(front, n, criterion);
    return SX_OK;
}

/* The curve of equal product is convex, and by the inequality of weighted means no point on it or beyond is below its tangent
 * at (E, D): a * e / E + b * d / D >= a + b. The region is what two axes and the tangents leave; its corners are where
 * neighbours among these meet. Tangents stand at energies in equal ratios r, so at cycles in equal ratios s. */
size_t sx_front_relax(const sx_front_point *least, double bound, const sx_criterion *criterion,
                      sx_front_point out[SX_RELAXED_POINTS]) {
    const double a = criterion->energy_power, b = criterion->delay_power;
    sx_front_point at = *least;
    if (b == 0 && bound > 0) at.energy = fmax(at.energy, pow(bound, 1 / a));
    if (a == 0 && bound > 0) at.cycles = fmax(at.cycles, pow(bound, 1 / b));
    out[0] = at;
    if (a == 0 || b == 0 || !(at.energy > 0) || !(at.cycles > 0)) return 1;
    const double most = pow(bound / sx_goal_power(at.cycles, b), 1 / a); /* energy at the least cycles */
    if (!(most > at.energy * (1 + 1e-9))) return 1;
    const double r = pow(most / at.energy, 1.0 / (TANGENTS - 1)), s = pow(r, -a / b);
    const double x = (a + b) / a * (1 / s - 1) / (1 / s - 1 / r),
                 y = (a + b) / b * (1 - 1 / r) / (1 / s - 1 / r);
    at.cycles = pow(bound / sx_goal_power(at.energy, a), 1 / b);
    out[0].cycles = at.cycles;
    for (size_t i = 1; i < TANGENTS; i++, at.energy *= r, at.cycles *= s)
        out[i] = (sx_front_point){at.energy * x, at.cycles * y};
    out[TANGENTS] = (sx_front_point){most, least->cycles};
    return TANGENTS + 1;
}
