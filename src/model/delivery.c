/* A mapping takes T steps of all compute units. Its innermost loop in time with more than one iteration is along some
 * dimension, and every tensor that this dimension indexes is another part of the tensor in every step: the innermost level
 * that keeps it hands out (or is updated with) as many words as the units use of it side by side, T times. The compulsory
 * minimum has each word of the tensor once; where that is at the outermost level, an access costs no less there than at the
 * cheapest level. So the others cost the cheapest access each, for the best choice of the innermost loop. Tensors whose ranks
 * are sums of dimensions may pass parts on from step to step and are left out. */
#include "model/delivery.h"

#include <math.h>

/* The words that are handed out beyond one for each of the tensor; 0 where that is not known. */
static double words_again(const sx_model *model, int v, const double *spread, double steps) {
    const sx_shape *shape = &model->shape[v];
    double side_by_side = 1, all = 1;
    if (!shape->plain) return 0;
    for (int d = 0; d < model->n_dims; d++)
        if (shape->dims >> d & 1) {
            side_by_side *= spread[d];
            all *= (double)model->size[d];
        }
    return fmax(0, side_by_side * steps - all);
}

double sx_model_delivery(const sx_model *model, const double *access, const double *spread) {
    double energy[SX_MAX_TENSORS], steps = 1, least = INFINITY;
    if (model->sparse || model->range || model->formats) return 0;
    for (int d = 0; d < model->n_dims; d++) steps *= (double)model->size[d] / spread[d];
    for (int v = 0; v < model->n_tensors; v++) energy[v] = words_again(model, v, spread, steps) * access[v];
    for (int d = 0; d < model->n_dims; d++) {
        double sum = 0;
        if (!((double)model->size[d] > spread[d])) continue;
        for (int v = 0; v < model->n_tensors; v++)
            if (model->shape[v].dims >> d & 1) sum += energy[v];
        least = fmin(least, sum);
    }
    return isfinite(least) ? least * (1 - 1e-9) : 0;
}
