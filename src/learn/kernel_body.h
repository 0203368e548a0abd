/* The kernels of one instruction set: a file that includes this says how many rows a tile has, SX_KERNEL_ROWS, 4 or 8. */
#ifndef SX_LEARN_KERNEL_BODY_H
#define SX_LEARN_KERNEL_BODY_H

#include "learn/kernel.h"
#include "learn/vector.h"

#ifndef SX_KERNEL_ROWS
#define SX_KERNEL_ROWS 4
#endif

#if defined(SX_FV_FMA)

enum { COLUMNS = 3 * SX_WIDTH };

/* The rows of a tile one by one: sums in variables of their own, since compilers keep arrays of them in memory. */
#if SX_KERNEL_ROWS == 8
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#else
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3)
#endif

/* Values of A: lanes of two vectors where instructions take lanes, else one by one from memory. */
#if defined(__aarch64__)
#define LOAD_A sx_f4 a0 = sx_f4_load(a), a1 = sx_f4_load(a + 4);
#define TIMES_A(b, i, s)                                                                                     \
    ((sx_f4)vfmaq_laneq_f32((float32x4_t)(s), (float32x4_t)(b), (float32x4_t)(i < 4 ? a0 : a1), i % 4))
#else
#define LOAD_A
#define TIMES_A(b, i, s) SX_FV_FMA(b, SX_FV_ALL(a[i]), s)
#endif

#define LOAD_ROW(i)                                                                                          \
    sx_fv s##i##0 = SX_FV_LOAD(c + i * stride), s##i##1 = SX_FV_LOAD(c + i * stride + SX_WIDTH),             \
          s##i##2 = SX_FV_LOAD(c + i * stride + 2 * SX_WIDTH);
#define ADD_ROW(i)                                                                                           \
    s##i##0 = TIMES_A(b0, i, s##i##0);                                                                       \
    s##i##1 = TIMES_A(b1, i, s##i##1);                                                                       \
    s##i##2 = TIMES_A(b2, i, s##i##2);
#define STORE_ROW(i)                                                                                         \
    SX_FV_STORE(c + i * stride, s##i##0);                                                                    \
    SX_FV_STORE(c + i * stride + SX_WIDTH, s##i##1);                                                         \
    SX_FV_STORE(c + i * stride + 2 * SX_WIDTH, s##i##2);

static inline void multiply_tile(size_t k, const float *restrict a, const float *restrict b,
                                 float *restrict c, size_t stride) {
    EACH_ROW(LOAD_ROW)
#pragma GCC unroll 4
    for (size_t p = 0; p < k; p++, a += SX_KERNEL_ROWS, b += COLUMNS) {
        sx_fv b0 = SX_FV_LOAD(b), b1 = SX_FV_LOAD(b + SX_WIDTH), b2 = SX_FV_LOAD(b + 2 * SX_WIDTH);
        LOAD_A
        EACH_ROW(ADD_ROW)
    }
    EACH_ROW(STORE_ROW)
}

/* Adds up to eight rows, in their order. */
static inline void combine_rows(size_t n, int k, const float *a, const float *const *row, float *restrict y) {
    size_t j = 0;
    for (; j + SX_WIDTH <= n; j += SX_WIDTH) {
        sx_fv sum = SX_FV_LOAD(y + j);
        for (int p = 0; p < k; p++) sum = SX_FV_FMA(SX_FV_LOAD(row[p] + j), SX_FV_ALL(a[p]), sum);
        SX_FV_STORE(y + j, sum);
    }
    for (; j < n; j++)
        for (int p = 0; p < k; p++) y[j] = __builtin_fmaf(a[p], row[p][j], y[j]);
}

static inline void combine_picked(size_t n, size_t k, const uint32_t *index, const float *a, const float *b,
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
static inline void dot_rows(size_t n, const float *a, const float *const row[SX_KERNEL_DOTS],
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
