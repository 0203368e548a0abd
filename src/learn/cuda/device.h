/* Training on a GPU by the CUDA module. */
#ifndef SX_LEARN_CUDA_DEVICE_H
#define SX_LEARN_CUDA_DEVICE_H

#include "learn/trainer.h"

typedef struct sx_cuda_trainer sx_cuda_trainer;

/* Loads the module and takes over the parameters and the optimizer's state. An error where the build has no CUDA, the
 * module or a GPU is not there, or the net has other layers than dense ones with ReLUs. */
SX_MUST_USE sx_status sx_cuda_trainer_new(const sx_nn *net, const sx_optimizer *optimizer,
                                          const sx_trainer_options *options, SX_OWN sx_cuda_trainer **out);
void sx_cuda_trainer_free(SX_TAKE sx_cuda_trainer *trainer);

/* As those of learn/trainer.h; the loss is the sum over the steps since the last call. */
SX_MUST_USE sx_status sx_cuda_trainer_data(sx_cuda_trainer *trainer, const float *input, const float *target,
                                           size_t n);
SX_MUST_USE sx_status sx_cuda_trainer_step(sx_cuda_trainer *trainer, const uint32_t *row, float rate);
SX_MUST_USE sx_status sx_cuda_trainer_loss(sx_cuda_trainer *trainer, double *sum);
SX_MUST_USE sx_status sx_cuda_trainer_sync(sx_cuda_trainer *trainer, sx_nn *net, sx_optimizer *optimizer);

#endif
