/* Vectors of floats of the instruction set that a file is compiled for, with an explicit fused multiply-add. Four-wide
 * vectors (sx_f4) exist everywhere. */
#ifndef SX_LEARN_VECTOR_H
#define SX_LEARN_VECTOR_H

typedef float sx_f4 __attribute__((vector_size(16)));
typedef float sx_f4_anywhere __attribute__((vector_size(16), aligned(4), may_alias));

static inline sx_f4 sx_f4_load(const float *at) {
    return *(const sx_f4_anywhere *)at;
}
static inline void sx_f4_store(float *at, sx_f4 v) {
    *(sx_f4_anywhere *)at = v;
}

/* Exchanges rows and columns. */
static inline void sx_f4_transpose(sx_f4 v[4]) {
    sx_f4 a = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6),
          b = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7);
    sx_f4 c = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6),
          d = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
    v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    v[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    v[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    v[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

#if defined(__aarch64__)
#include <arm_neon.h>
enum { SX_WIDTH = 4 };
typedef sx_f4 sx_fv;
#define SX_F4_FMA(a, b, c) ((sx_f4)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#define SX_FV_FMA SX_F4_FMA
#define SX_FV_ALL(x) ((sx_f4)vdupq_n_f32(x))
#define SX_FV_LOAD(at) sx_f4_load(at)
#define SX_FV_STORE(at, v) sx_f4_store(at, v)
#elif defined(__AVX512F__)
#include <immintrin.h>
enum { SX_WIDTH = 16 };
typedef __m512 sx_fv;
#define SX_F4_FMA(a, b, c) ((sx_f4)_mm_fmadd_ps((__m128)(a), (__m128)(b), (__m128)(c)))
#define SX_FV_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define SX_FV_ALL(x) _mm512_set1_ps(x)
#define SX_FV_LOAD(at) _mm512_loadu_ps(at)
#define SX_FV_STORE(at, v) _mm512_storeu_ps(at, v)
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
enum { SX_WIDTH = 8 };
typedef __m256 sx_fv;
#define SX_F4_FMA(a, b, c) ((sx_f4)_mm_fmadd_ps((__m128)(a), (__m128)(b), (__m128)(c)))
#define SX_FV_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define SX_FV_ALL(x) _mm256_set1_ps(x)
#define SX_FV_LOAD(at) _mm256_loadu_ps(at)
#define SX_FV_STORE(at, v) _mm256_storeu_ps(at, v)
#endif

#endif
