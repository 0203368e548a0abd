/* The matrix product and its back ends. Matrices are rows of floats, one after another. */
#ifndef SX_LEARN_MATRIX_H
#define SX_LEARN_MATRIX_H

#include "base/pool.h"

#include <stdbool.h>
#include <stddef.h>

/* Own: element c[i][j] is one chain of fused multiply-adds over k = 0, 1, 2, ..., so that blocking, vectors,
 * threads and machines do not change a bit. Plain: the same chain as three loops, to compare with. OpenBLAS:
 * as fast as that library is, other bits on other machines. */
typedef enum sx_matrix_backend { SX_MATRIX_OWN, SX_MATRIX_PLAIN, SX_MATRIX_OPENBLAS } sx_matrix_backend;

/* A back end of a name ("own", "plain", "openblas"; "fast": OpenBLAS where there is one, else own); an error where there is
 * no such name. */
SX_MUST_USE sx_status sx_matrix_backend_find(const char *name, sx_matrix_backend *out);
const char *sx_matrix_backend_name(sx_matrix_backend backend);

/* A back end with its threads and packing buffers, used by one thread at a time. */
typedef struct sx_matrix_engine sx_matrix_engine;

/* With a pool, which must outlive the engine, work is shared out to its threads (then no call may come from a
 * job of that pool); NULL: the caller's thread does all of it. Results of own and plain do not depend on it. */
SX_MUST_USE sx_status sx_matrix_engine_new(sx_matrix_backend backend, sx_pool *pool,
                                           SX_OWN sx_matrix_engine **out);
void sx_matrix_engine_free(SX_TAKE sx_matrix_engine *engine);

/* C (m x n) = A (m x k) B (k x n), or C + A B. A transposed factor is stored k x m, or n x k. */
typedef struct sx_matmul {
    size_t m, n, k;
    const float *a, *b;
    float *c;
    bool a_transposed, b_transposed;
    bool add;            /* the chain begins with c[i][j] rather than 0 */
    const float *bias;   /* n: or with bias[j]; NULL: not */
    const float *wanted; /* m x n: where it is 0, c need not be computed; NULL: all of C is wanted */
} sx_matmul;

/* Computes the product. Zeros of A times infinity may count as 0. */
void sx_matrix_product(sx_matrix_engine *engine, const sx_matmul *product);

/* Does jobs 0 to n - 1 on the engine's threads. */
void sx_matrix_engine_run(sx_matrix_engine *engine, size_t n, sx_pool_job *job, void *user);

/* Does something on the elements [first, first + n). */
typedef void sx_matrix_span(void *user, size_t first, size_t n);

/* Does it on elements 0 to n - 1, in spans of `each` that the engine's threads share out. */
void sx_matrix_engine_spans(sx_matrix_engine *engine, size_t n, size_t each, sx_matrix_span *span,
                            void *user);

#endif
