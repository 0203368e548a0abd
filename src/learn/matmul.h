/* The own matrix product: packed, blocked and split over the threads by tiles of C, never over k. */
#ifndef SX_LEARN_MATMUL_H
#define SX_LEARN_MATMUL_H

#include "learn/kernel.h"
#include "learn/matrix.h"

/* Floats that one thread needs for packing and for lists. */
size_t sx_matmul_room(void);

/* Jobs that a product is split into, and one of them, with a thread's memory. */
typedef struct sx_matmul_plan {
    const sx_matmul *product;
    const sx_matrix_kernel *kernel;
    float *room;                          /* sx_matmul_room() for each worker */
    bool thin;                            /* few rows: no packing */
    size_t rows, columns, across, n_jobs; /* of C per job; jobs side by side */
} sx_matmul_plan;

sx_matmul_plan sx_matmul_split(const sx_matmul *product, const sx_matrix_kernel *kernel, float *room,
                               unsigned threads);
void sx_matmul_job(void *plan, size_t index, unsigned worker);

#endif
