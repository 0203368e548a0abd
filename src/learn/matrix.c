#include "learn/matrix.h"

#include "learn/kernel.h"
#include "learn/matmul.h"
#include "learn/names.h"
#include "learn/openblas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"own", "plain", "openblas", "fast"};
enum { FAST = SX_MATRIX_OPENBLAS + 1 };

struct sx_matrix_engine {
    sx_matrix_backend backend;
    sx_pool *pool;
    unsigned threads;
    const sx_matrix_kernel *kernel; /* NULL: plain loops */
    float *room;
    float *packed; /* the factors of a product */
    size_t packed_size;
    sx_openblas blas;
};

/* OpenBLAS where it can be loaded, else the own one. */
static sx_matrix_backend fastest_backend(void) {
    sx_openblas blas;
    sx_status status = sx_openblas_open(1, &blas);
    sx_matrix_backend found = status ? SX_MATRIX_OWN : SX_MATRIX_OPENBLAS;
    sx_status_free(status);
    return found;
}

sx_status sx_matrix_backend_find(const char *name, sx_matrix_backend *out) {
    size_t i;
    SX_TRY(sx_name_find("matrix product", name, names, sizeof names / sizeof *names, &i));
    *out = i == FAST ? fastest_backend() : (sx_matrix_backend)i;
    return SX_OK;
}

const char *sx_matrix_backend_name(sx_matrix_backend backend) {
    return names[backend];
}

sx_status sx_matrix_engine_new(sx_matrix_backend backend, sx_pool *pool, sx_matrix_engine **out) {
    sx_matrix_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return sx_error_memory();
    sx_status status = SX_OK;
    engine->backend = backend;
    engine->pool = pool;
    engine->threads = pool ? sx_pool_threads(pool) : 1;
    if (backend == SX_MATRIX_OPENBLAS) status = sx_openblas_open(engine->threads, &engine->blas);
    if (backend == SX_MATRIX_OWN) engine->kernel = sx_matrix_kernel_best();
    if (engine->kernel) {
        size_t size = sx_matmul_room() * engine->threads * sizeof(float);
        engine->room = aligned_alloc(64, (size + 63) / 64 * 64);
        if (!engine->room) status = sx_error_memory();
    }
    if (status) {
        sx_matrix_engine_free(engine);
        return status;
    }
    *out = engine;
    return SX_OK;
}

void sx_matrix_engine_free(sx_matrix_engine *engine) {
    if (!engine) return;
    free(engine->room);
    free(engine->packed);
    free(engine);
}

/* Three loops, the definition of the result. */
static void plain_rows(void *user, size_t i, unsigned worker) {
    const sx_matmul *p = user;
    (void)worker;
    for (size_t j = 0; j < p->n; j++) {
        float sum = p->add ? p->c[i * p->n + j] : p->bias ? p->bias[j] : 0;
        for (size_t k = 0; k < p->k; k++) {
            float a = p->a_transposed ? p->a[k * p->m + i] : p->a[i * p->k + k];
            float b = p->b_transposed ? p->b[j * p->k + k] : p->b[k * p->n + j];
            sum = fmaf(a, b, sum);
        }
        p->c[i * p->n + j] = sum;
    }
}

/* Sees to memory for packed factors; false where there is none. */
static bool have_packed(sx_matrix_engine *engine, size_t size) {
    if (size <= engine->packed_size) return true;
    free(engine->packed);
    engine->packed = aligned_alloc(64, (size * sizeof(float) + 63) / 64 * 64);
    engine->packed_size = engine->packed ? size : 0;
    return engine->packed;
}

/* The product by packed factors; false where there is no memory for them. */
static bool own_product(sx_matrix_engine *engine, const sx_matmul *product) {
    sx_matmul_plan plan = sx_matmul_split(product, engine->kernel, engine->threads);
    size_t size_a = (plan.size_a + 15) / 16 * 16;
    if (!have_packed(engine, size_a + plan.size_b)) return false;
    plan.room = engine->room;
    plan.a = engine->packed;
    plan.b = plan.size_b ? plan.a + size_a : NULL;
    sx_matrix_engine_run(engine, sx_matmul_packing_jobs(&plan), sx_matmul_pack, &plan);
    sx_matrix_engine_run(engine, plan.n_jobs, sx_matmul_job, &plan);
    return true;
}

void sx_matrix_product(sx_matrix_engine *engine, const sx_matmul *product) {
    if (product->m == 0 || product->n == 0) return;
    if (engine->backend == SX_MATRIX_OPENBLAS) {
        sx_openblas_product(&engine->blas, product);
    } else if (!engine->kernel || !own_product(engine, product)) {
        sx_matmul plain = *product;
        sx_matrix_engine_run(engine, product->m, plain_rows, &plain);
    }
}

void sx_matrix_engine_run(sx_matrix_engine *engine, size_t n, sx_pool_job *job, void *user) {
    if (engine->pool && n > 1) {
        sx_pool_run(engine->pool, n, job, NULL, user);
    } else {
        for (size_t i = 0; i < n; i++) job(user, i, 0);
    }
}

/* Elements in spans. */
typedef struct spans {
    size_t n, each;
    sx_matrix_span *span;
    void *user;
} spans;

static void span_job(void *user, size_t index, unsigned worker) {
    const spans *s = user;
    size_t first = index * s->each;
    (void)worker;
    s->span(s->user, first, s->n - first < s->each ? s->n - first : s->each);
}

void sx_matrix_engine_spans(sx_matrix_engine *engine, size_t n, size_t each, sx_matrix_span *span,
                            void *user) {
    spans s = {n, each, span, user};
    sx_matrix_engine_run(engine, (n + each - 1) / each, span_job, &s);
}
