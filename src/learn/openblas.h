/* OpenBLAS, loaded when it is asked for. */
#ifndef SX_LEARN_OPENBLAS_H
#define SX_LEARN_OPENBLAS_H

#include "learn/matrix.h"

/* The library's cblas_sgemm. */
typedef struct sx_openblas {
    void (*sgemm)(int order, int a_transposed, int b_transposed, int m, int n, int k, float alpha,
                  const float *a, int a_stride, const float *b, int b_stride, float beta, float *c,
                  int c_stride);
} sx_openblas;

/* Loads the library and sets the number of its threads, which are its own and shared by the process; an error where it is
 * not there or the build did not find it. */
SX_MUST_USE sx_status sx_openblas_open(unsigned threads, sx_openblas *out);
void sx_openblas_product(const sx_openblas *blas, const sx_matmul *product);

#endif
