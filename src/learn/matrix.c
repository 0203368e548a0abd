#include "learn/matrix.h"

#include "learn/kernel.h"
#include "learn/matmul.h"
#include "learn/names.h"
#include "learn/openblas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"own", "plain", "openblas"};

struct sx_matrix_engine {
    sx_matrix_backend backend;
    sx_pool *pool;
    unsigned threads;
    const sx_matrix_kernel *kernel; /* NULL: plain loops */
    float *room;
    sx_openblas blas;
};

sx_status sx_matrix_backend_find(const char *name, sx_matrix_backend *out) {
    size_t i;
    SX_TRY(sx_name_find("matrix product", name, names, sizeof names / sizeof *names, &i));
    *out = (sx_matrix_backend)i;
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
    free(engine);
}

/* Three loops, the definition of the result. */
static void plain_rows(void *user, size_t i, unsigned worker) {
    const sx_matmul *p = user;
    (void)worker;
    for (size_t j = 0; j < p->n; j++) {
        float sum = p->add ? p->c[i * p->n + j] : 0;
        for (size_t k = 0; k < p->k; k++) {
            float a = p->a_transposed ? p->a[k * p->m + i] : p->a[i * p->k + k];
            float b = p->b_transposed ? p->b[j * p->k + k] : p->b[k * p->n + j];
            sum = fmaf(a, b, sum);
        }
        p->c[i * p->n + j] = sum;
    }
}

void sx_matrix_product(sx_matrix_engine *engine, const sx_matmul *product) {
    if (product->m == 0 || product->n == 0) return;
    if (engine->backend == SX_MATRIX_OPENBLAS) {
        sx_openblas_product(&engine->blas, product);
    } else if (engine->kernel) {
        sx_matmul_plan plan = sx_matmul_split(product, engine->kernel, engine->room, engine->threads);
        sx_matrix_engine_run(engine, plan.n_jobs, sx_matmul_job, &plan);
    } else {
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
