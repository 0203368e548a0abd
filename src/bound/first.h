/* The energy of a flow by the loop that is the first outside a tile. */
#ifndef SX_BOUND_FIRST_H
#define SX_BOUND_FIRST_H

#include "bound/bound.h"

/* How many costs a tensor with windows has, for every form and c. */
static inline size_t sx_first_costs(const sx_bound *b) {
    return 2 * (size_t)(b->model->n_dims + b->n_classes);
}

/* Makes the energies of the outline, where they are not made. */
void sx_outline_bound_make_firsts(sx_outline_bound *bounds);

/* The energy of a flow into level c - 1 whose tile is that of a point, if the first loop outside is on a dimension that
 * indexes the tensor. */
static inline double sx_outline_bound_first(const sx_outline_bound *bounds, int tensor, int c, uint32_t point,
                                            int which) {
    const double *first = bounds->first[tensor][c];
    const sx_bound *b = bounds->bound;
    if (!first) return sx_outline_bound_cost(bounds, 0, tensor, c, point);
    size_t n = b->form[tensor].n_points, form = b->form_of[tensor][point];
    first += 2 * (size_t)which * n;
    return first[form] * b->times[tensor][point] + first[n + form];
}

/* The same if it is of a class that does not include the tensor, in any measure. */
static inline double sx_outline_bound_class_cost(const sx_outline_bound *bounds, int measure, int tensor,
                                                 int c, uint32_t point, int class) {
    if (measure > 0) return sx_outline_bound_cost(bounds, measure, tensor, c, point);
    return sx_outline_bound_first(bounds, tensor, c, point, bounds->bound->model->n_dims + class);
}

#endif
