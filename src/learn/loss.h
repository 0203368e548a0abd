/* Losses: the mean over all elements. */
#ifndef SX_LEARN_LOSS_H
#define SX_LEARN_LOSS_H

#include "base/status.h"

#include <stddef.h>

/* With d = prediction - target. Huber: d^2 / 2 up to |d| = 1, |d| - 1/2 beyond. MSE: d^2. MAE: |d|. */
typedef enum sx_loss { SX_LOSS_HUBER, SX_LOSS_MSE, SX_LOSS_MAE } sx_loss;

/* A loss of a name ("huber", "mse", "mae"). */
SX_MUST_USE sx_status sx_loss_find(const char *name, sx_loss *out);
const char *sx_loss_name(sx_loss loss);

/* The mean loss of n elements, summed in their order; writes its gradient with respect to the predictions unless NULL. */
double sx_loss_of(sx_loss loss, const float *prediction, const float *target, size_t n, float *gradient);

#endif
