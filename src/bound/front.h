/* Pareto fronts of what tiles cause. */
#ifndef SX_BOUND_FRONT_H
#define SX_BOUND_FRONT_H

#include "bound/bound.h"

/* Whether no number is above its like. */
bool sx_traffic_undercuts(const double *a, const double *b, int n);

/* Adds a row; false when memory is out. */
bool sx_traffic_front_add(sx_traffic_front *sky, size_t *room, int width, const double *flows);

/* Drops rows that another one undercuts; where too many are left, puts neighbours together. False where it
 * was ended early. */
bool sx_traffic_front_thin(sx_traffic_front *sky, int width, const sx_interrupt *halt);

/* The least over a front of the words at prices (0: not counted). */
double sx_traffic_front_least(const sx_traffic_front *sky, int n, const double *price);

#endif
