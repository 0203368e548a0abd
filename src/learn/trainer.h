/* Training: steps of gradient descent on batches of a data set, on the CPU or on a GPU. */
#ifndef SX_LEARN_TRAINER_H
#define SX_LEARN_TRAINER_H

#include "learn/loss.h"
#include "learn/net.h"
#include "learn/optimizer.h"

/* Where and how products are computed. On the CPU always fp32. */
typedef enum sx_trainer_device { SX_DEVICE_CPU, SX_DEVICE_CUDA } sx_trainer_device;
typedef enum sx_trainer_precision { SX_FP32, SX_TF32, SX_BF16 } sx_trainer_precision;

/* A device ("cpu", "cuda") or precision ("fp32", "tf32", "bf16") of a name. */
SX_MUST_USE sx_status sx_trainer_device_find(const char *name, sx_trainer_device *out);
SX_MUST_USE sx_status sx_trainer_precision_find(const char *name, sx_trainer_precision *out);

enum { SX_TRAINER_MAX_BATCH = 1 << 20 };

typedef struct sx_trainer_options {
    sx_trainer_device device;
    sx_trainer_precision precision;
    sx_loss loss;
    size_t batch;
} sx_trainer_options;

typedef struct sx_trainer sx_trainer;

/* Net, optimizer and engine (which the GPU does not use) are borrowed. An error where the device is not there or cannot
 * run the net's layers. */
SX_MUST_USE sx_status sx_trainer_new(sx_nn *net, sx_optimizer *optimizer, sx_matrix_engine *engine,
                                     const sx_trainer_options *options, SX_OWN sx_trainer **out);
void sx_trainer_free(SX_TAKE sx_trainer *trainer);

/* The rows to train on, which replace those before: n rows of inputs and of targets. Borrowed on the CPU, copied to the
 * memory of a GPU. */
SX_MUST_USE sx_status sx_trainer_data(sx_trainer *trainer, const float *input, const float *target, size_t n);

/* One step on the batch of rows that `row` numbers, options.batch of them, at a rate. On a GPU it may return before the
 * step is done. */
SX_MUST_USE sx_status sx_trainer_step(sx_trainer *trainer, const uint32_t *row, float rate);

/* The mean loss of the steps since the last call (0 where there were none), before each step's change; waits for the
 * steps. NaN where a step met numbers that are not finite. */
SX_MUST_USE sx_status sx_trainer_loss(sx_trainer *trainer, double *out);

/* Brings net and optimizer up to date with what the device has. On the CPU they always are. */
SX_MUST_USE sx_status sx_trainer_sync(sx_trainer *trainer);

#endif
