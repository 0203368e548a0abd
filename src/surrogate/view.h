/* A surrogate applied to a map space: what of a point's vector is which input, and the predicted objective
 * with its gradient. */
#ifndef SX_SURROGATE_VIEW_H
#define SX_SURROGATE_VIEW_H

#include "surrogate/surrogate.h"

typedef struct sx_view {
    const sx_surrogate *surrogate;
    const sx_map_space *space;
    int source[SX_MAX_INPUTS];    /* which number of the space's vector an input is, or sets; -1: none */
    uint8_t which[SX_MAX_INPUTS]; /* the problem's dimension or tensor of an input */
    float fixed[SX_MAX_INPUTS];   /* the inputs that are none, as the net takes them */
    double energy_power, delay_power, utilization_power; /* the objective */
    double minimum; /* log2 of the objective of the algorithmic minimum */
} sx_view;

/* Compares a surrogate with a space and an objective; an error that says why where it does not fit. With
 * `anyway`, one of another architecture or space is taken as far as levels, dimensions and tensors are the
 * same: inputs that the space lacks are at their mean. */
SX_MUST_USE sx_status sx_view_init(const sx_surrogate *surrogate, const sx_map_space *space,
                                   const sx_objective *objective, bool anyway, sx_view *out);

/* The error for a space with split axes. */
SX_MUST_USE sx_status sx_view_no_split(void);

/* From a point and its vector to the net's inputs. */
void sx_view_inputs(const sx_view *view, const void *point, const double *values, float *input);
/* From inputs, a step away from those of a point, to the vector, as far as it has them. A tensor that is to be kept or
 * bypassed gets the share of the banks for that. */
void sx_view_values(const sx_view *view, const void *point, const float *input, double *values);

/* log2 of the predicted objective, of the net's outputs. */
double sx_view_predict(const sx_view *view, const float *output);

/* The gradient of the predicted objective over that of the minimum (or, with `sum`, of the sum of all outputs)
 * with respect to the net's outputs. */
void sx_view_gradient(const sx_view *view, const float *output, bool sum, float *gradient);

#endif
