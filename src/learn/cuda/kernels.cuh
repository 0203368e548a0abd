/* What a training step does besides matrix products. Activations and their gradients are floats or bf16 ("half"). */
#ifndef SX_LEARN_CUDA_KERNELS_CUH
#define SX_LEARN_CUDA_KERNELS_CUH

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdint.h>

enum { SX_LOSS_BLOCKS = 64 };

/* What changes from step to step, in the GPU's memory; the rows' numbers follow it. */
typedef struct step_head {
    float rate, correct1, correct2; /* Adam: 1 / (1 - beta^step) */
    uint32_t unused;
} step_head;

/* The data set, in the GPU's memory. */
typedef struct data_set {
    const float *input, *target;
} data_set;

/* Copies the batch's rows to `to`, rows of `padded` values, zeros beyond `width`. */
void launch_gather(const data_set *data, const step_head *head, int batch, int width, int padded, bool half, void *to,
                   cudaStream_t stream);

/* The gradient of the loss with respect to the outputs, rows of `padded` values, and SX_LOSS_BLOCKS parts of its mean. */
void launch_loss(int loss, const data_set *data, const step_head *head, int batch, int width, int padded, bool half,
                 const void *output, void *gradient, double *part, cudaStream_t stream);

/* Adds the parts to the sum of losses. */
void launch_loss_sum(const double *part, double *sum, cudaStream_t stream);

/* gradient = output > 0 ? gradient : 0. */
void launch_mask(const void *output, void *gradient, size_t n, bool half, cudaStream_t stream);

/* The sums of columns, by way of SX_SUM_PARTS sums of each in `part`. */
enum { SX_SUM_PARTS = 32 };
void launch_column_sums(const void *rows, int n, int width, bool half, float *part, float *sum, cudaStream_t stream);

/* Exchanges rows and columns. */
void launch_transpose(const float *from, int rows, int columns, float *to, cudaStream_t stream);

/* One layer's parameters of which the first n_weights have their momentum updated already; all for Adam have not. */
typedef struct update {
    float *parameter, *first, *second;
    const float *gradient;
    __nv_bfloat16 *copy; /* NULL: none */
    size_t n_weights, n;
    float momentum, beta1, beta2, epsilon;
} update;
void launch_sgd(const update *u, const step_head *head, cudaStream_t stream);
void launch_adam(const update *u, const step_head *head, cudaStream_t stream);

/* A copy as bf16. */
void launch_copy(const float *from, __nv_bfloat16 *to, size_t n, cudaStream_t stream);

#endif
