/* Seconds of a mapped layer on a real machine. */
#ifndef SX_TIMING_LAYER_H
#define SX_TIMING_LAYER_H

#include "sextant/cost.h"
#include "timing/operator.h"

/* A layer as an operator: matrix products (repeated, or of convolutions) by their sizes, other einsums by their number of
 * multiplications. Its bytes are the caller's. */
void sx_layer_operator(const sx_arch *arch, const sx_timing *timing, const sx_problem *problem,
                       sx_timed_operator *out);

/* The time of a mapped layer that runs `repeat` times as one operator and moves a number of bytes to and from the outermost
 * level each time. Where the machine has no units, compute cycles and the bandwidths of all levels are those of the
 * mapping. */
sx_operator_time sx_time_layer(const sx_arch *arch, const sx_timing *timing, const sx_problem *problem,
                               const sx_cost *cost, double repeat, double bytes);

#endif
