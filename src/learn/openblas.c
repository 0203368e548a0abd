#include "learn/openblas.h"

/* The build says which file to load; compiled by hand, there is none. */
#ifndef SX_OPENBLAS
#define SX_OPENBLAS ""
#endif

#include <dlfcn.h>
#include <string.h>

sx_status sx_openblas_open(unsigned threads, sx_openblas *out) {
    const char *name = SX_OPENBLAS;
    if (!name[0])
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "this build has no OpenBLAS"),
                             "install it and build again, or use the built-in one");
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    void (*set_threads)(int);
    if (!library) return sx_error_new(SX_ERR_FILE, "cannot load OpenBLAS: %s", dlerror());
    *(void **)&out->sgemm = dlsym(library, "cblas_sgemm");
    *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
    if (!out->sgemm || !set_threads) return sx_error_new(SX_ERR_FILE, "%s is not OpenBLAS", name);
    set_threads((int)threads);
    return SX_OK;
}

void sx_openblas_product(const sx_openblas *blas, const sx_matmul *p) {
    enum { ROW_MAJOR = 101, AS_IS = 111, TRANSPOSED = 112 };
    int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    for (size_t i = 0; p->bias && i < p->m; i++) memcpy(p->c + i * p->n, p->bias, p->n * sizeof *p->c);
    blas->sgemm(ROW_MAJOR, p->a_transposed ? TRANSPOSED : AS_IS, p->b_transposed ? TRANSPOSED : AS_IS, m, n,
                k, 1, p->a, p->a_transposed ? m : k, p->b, p->b_transposed ? k : n, p->add || p->bias ? 1 : 0,
                p->c, n);
}
