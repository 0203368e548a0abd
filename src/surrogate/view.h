/* A surrogate held against a map space: what of a point's vector is which input, and the predicted objective
 * with its gradient. */
#ifndef SX_SURROGATE_VIEW_H
#define SX_SURROGATE_VIEW_H

#include "surrogate/surrogate.h"

typedef struct sx_view {
    const sx_surrogate *surrogate;
    const sx_map_space *space;
    int source[SX_MAX_INPUTS];  /* which number of the space's vector an input is; -1: none */
    float fixed[SX_MAX_INPUTS]; /* the inputs that are none, as the net takes them */
    double energy_power, delay_power, utilization_power; /* the objective */
    double minimum; /* log2 of the objective of the algorithmic minimum */
} sx_view;

/* Holds a surrogate against a space and an objective; an error that says why where it does not fit. With
 * `anyway`, one of another architecture or space is taken as far as levels, dimensions and tensors are the
 * same: inputs that the space lacks are at their mean. */
SX_MUST_USE sx_status sx_view_init(const sx_surrogate *surrogate, const sx_map_space *space,
                                   const sx_objective *objective, bool anyway, sx_view *out);

/* From the vector of a point to the net's inputs; and back, as far as the vector has them. */
void sx_view_inputs(const sx_view *view, const double *values, float *input);
void sx_view_values(const sx_view *view, const float *input, double *values);

/* log2 of the predicted objective, of the net's outputs. */
double sx_view_predict(const sx_view *view, const float *output);

/* The gradient of the predicted objective over that of the minimum (or, with `sum`, of the sum of all outputs)
 * with respect to the net's outputs. */
void sx_view_gradient(const sx_view *view, const float *output, bool sum, float *gradient);

#endif
