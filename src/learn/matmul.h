/* The own matrix product: packed, blocked and split over the threads by tiles of C, never over k. */
#ifndef SX_LEARN_MATMUL_H
#define SX_LEARN_MATMUL_H

#include "learn/kernel.h"
#include "learn/matrix.h"

/* Floats that one thread needs for lists and for tiles that stick out. */
size_t sx_matmul_room(void);

/* Jobs that a product is split into. The caller sets the memory. */
typedef struct sx_matmul_plan {
    const sx_matmul *product;
    const sx_matrix_kernel *kernel;
    bool thin;                            /* few rows: no packing */
    size_t rows, columns, across, n_jobs; /* of C per job; jobs side by side */
    size_t size_a, size_b;                /* floats of the packed factors */
    float *room;                          /* sx_matmul_room() for each worker */
    float *a, *b;                         /* the packed factors */
} sx_matmul_plan;

sx_matmul_plan sx_matmul_split(const sx_matmul *product, const sx_matrix_kernel *kernel, unsigned threads);

/* How many jobs pack the factors, and one of them; all are done before the first job of the product. */
size_t sx_matmul_packing_jobs(const sx_matmul_plan *plan);
void sx_matmul_pack(void *plan, size_t index, unsigned worker);

void sx_matmul_job(void *plan, size_t index, unsigned worker);

#endif
