/* The innermost loops of the own matrix product, one set per instruction set. Every one of them computes the same
 * chains of fused multiply-adds. */
#ifndef SX_LEARN_KERNEL_H
#define SX_LEARN_KERNEL_H

#include <stddef.h>
#include <stdint.h>

enum { SX_KERNEL_MAX_ROWS = 8, SX_KERNEL_MAX_COLUMNS = 48, SX_KERNEL_DOTS = 16 };

typedef struct sx_matrix_kernel {
    const char *name;
    unsigned rows, columns; /* of a tile of C */

    /* C += A B for a tile: a holds k columns of `rows` values, b holds k rows of `columns` values, rows of c are `stride`
     * apart. */
    void (*tile)(size_t k, const float *a, const float *b, float *c, size_t stride);

    /* y[j] += sum over p of a[p] * b[index[p]][j] for n columns; rows of b are `stride` apart. */
    void (*combine)(size_t n, size_t k, const uint32_t *index, const float *a, const float *b, size_t stride,
                    float *y);

    /* y[i] += sum over j of a[j] * row[i][j], of SX_KERNEL_DOTS rows of n values. */
    void (*dots)(size_t n, const float *a, const float *const row[SX_KERNEL_DOTS], float y[SX_KERNEL_DOTS]);
} sx_matrix_kernel;

/* The fastest that this processor runs; NULL where it has no fused multiply-add. */
const sx_matrix_kernel *sx_matrix_kernel_best(void);

#endif
