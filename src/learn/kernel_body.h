/* The kernels of one instruction set: a file that includes this says how many rows a tile has, SX_KERNEL_ROWS, and how many vectors a
 * row of it, SX_KERNEL_VECTORS. */
#ifndef SX_LEARN_KERNEL_BODY_H
#define SX_LEARN_KERNEL_BODY_H

#include "learn/kernel.h"
#include "learn/vector.h"

#ifndef SX_KERNEL_ROWS
#define SX_KERNEL_ROWS 4
#define SX_KERNEL_VECTORS 2
#endif

#if defined(SX_FV_FMA)

enum { COLUMNS = SX_KERNEL_VECTORS * SX_WIDTH };

static inline sx_fv load(const float *at) {
    sx_fv v;
    memcpy(&v, at, sizeof v);
    return v;
}
static inline void store(float *at, sx_fv v) {
    memcpy(at, &v, sizeof v);
}

static inline void tile(size_t k, const float *restrict a, const float *restrict b, float *restrict c,
                        size_t stride) {
    sx_fv sum[SX_KERNEL_ROWS][SX_KERNEL_VECTORS];
    for (int i = 0; i < SX_KERNEL_ROWS; i++)
        for (int v = 0; v < SX_KERNEL_VECTORS; v++) sum[i][v] = load(c + (size_t)i * stride + v * SX_WIDTH);
    for (size_t p = 0; p < k; p++, a += SX_KERNEL_ROWS, b += COLUMNS) {
        sx_fv row[SX_KERNEL_VECTORS];
        for (int v = 0; v < SX_KERNEL_VECTORS; v++) row[v] = load(b + v * SX_WIDTH);
        for (int i = 0; i < SX_KERNEL_ROWS; i++)
            for (int v = 0; v < SX_KERNEL_VECTORS; v++)
                sum[i][v] = SX_FV_FMA(row[v], SX_FV_ALL(a[i]), sum[i][v]);
    }
    for (int i = 0; i < SX_KERNEL_ROWS; i++)
        for (int v = 0; v < SX_KERNEL_VECTORS; v++) store(c + (size_t)i * stride + v * SX_WIDTH, sum[i][v]);
}

/* Adds up to eight rows, in their order. */
static inline void combine_rows(size_t n, int k, const float *a, const float *const *row, float *restrict y) {
    size_t j = 0;
    for (; j + SX_WIDTH <= n; j += SX_WIDTH) {
        sx_fv sum = load(y + j);
        for (int p = 0; p < k; p++) sum = SX_FV_FMA(load(row[p] + j), SX_FV_ALL(a[p]), sum);
        store(y + j, sum);
    }
    for (; j < n; j++)
        for (int p = 0; p < k; p++) y[j] = __builtin_fmaf(a[p], row[p][j], y[j]);
}

static inline void combine(size_t n, size_t k, const uint32_t *index, const float *a, const float *b,
                           size_t stride, float *y) {
    const float *row[8];
    for (; k >= 8; k -= 8, a += 8, index += 8) {
        for (int p = 0; p < 8; p++) row[p] = b + index[p] * stride;
        combine_rows(n, 8, a, row, y);
    }
    for (; k > 0; k--, a++, index++) {
        row[0] = b + index[0] * stride;
        combine_rows(n, 1, a, row, y);
    }
}

/* Four rows at a time are transposed, so that a vector holds one column of them and each sum stays one chain. */
static inline void dots(size_t n, const float *a, const float *const row[SX_KERNEL_DOTS],
                        float y[SX_KERNEL_DOTS]) {
    enum { GROUPS = SX_KERNEL_DOTS / 4 };
    sx_f4 sum[GROUPS];
    for (int g = 0; g < GROUPS; g++) sum[g] = sx_f4_load(y + 4 * g);
    size_t j = 0;
    for (; j + 4 <= n; j += 4) {
        for (int g = 0; g < GROUPS; g++) {
            sx_f4 v[4];
            for (int i = 0; i < 4; i++) v[i] = sx_f4_load(row[4 * g + i] + j);
            sx_f4_transpose(v);
            for (int i = 0; i < 4; i++) {
                float x = a[j + (size_t)i];
                sum[g] = SX_F4_FMA(v[i], ((sx_f4){x, x, x, x}), sum[g]);
            }
        }
    }
    for (int g = 0; g < GROUPS; g++) sx_f4_store(y + 4 * g, sum[g]);
    for (; j < n; j++)
        for (int i = 0; i < SX_KERNEL_DOTS; i++) y[i] = __builtin_fmaf(a[j], row[i][j], y[i]);
}

#endif
#endif
