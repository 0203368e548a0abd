/* One point of each of several fronts, so that a product of the sums is least. */
#ifndef SX_SESSION_FRONT_CHOICE_H
#define SX_SESSION_FRONT_CHOICE_H

#include "sextant/error.h"
#include "sextant/objective.h"

#include <stddef.h>

typedef struct sx_front_point {
    double energy, cycles;
} sx_front_point;

/* A front of a layer: points of ascending energy and descending cycles, at least one. */
typedef struct sx_choice_front {
    const sx_front_point *point;
    size_t n;
    double times; /* how often the layer runs */
    size_t chosen;
} sx_choice_front;

/* Chooses a point of each front, so that the sums of energy and cycles, each point as often as its layer runs, have the least
 * product; *value: that product, by a criterion of kind SX_PRODUCT. Exact, to rounding. */
SX_MUST_USE sx_status sx_front_choose(sx_choice_front *front, size_t n, const sx_criterion *criterion,
                                      double *value);

/* Room for what sx_front_relax writes. */
#define SX_RELAXED_POINTS 34

/* Writes the corners of a convex region of energy and cycles that holds all points with no less than those of `least` and a
 * product of at least `bound` (0: any); returns how many. */
size_t sx_front_relax(const sx_front_point *least, double bound, const sx_criterion *criterion,
                      sx_front_point out[SX_RELAXED_POINTS]);

#endif
