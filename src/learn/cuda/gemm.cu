#include "learn/cuda/gemm.cuh"

#include <string.h>

enum { CANDIDATES = 24, WARM = 2, TIMED = 5 };

static int set_attribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t what, const void *value,
                         size_t size, char *message) {
    TRY_BLAS(cublasLtMatmulDescSetAttribute(desc, what, value, size));
    return 0;
}

static int describe_gemm(gemm *g, char *message) {
    const gemm_plan *p = &g->plan;
    cublasOperation_t a = p->a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                      b = p->b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    TRY_BLAS(cublasLtMatmulDescCreate(&g->desc, p->compute, CUDA_R_32F));
    TRY(set_attribute(g->desc, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a, message));
    TRY(set_attribute(g->desc, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b, message));
    TRY(set_attribute(g->desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &p->epilogue, sizeof p->epilogue, message));
    if (p->bias) {
        TRY(set_attribute(g->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p->bias, sizeof p->bias, message));
        TRY(set_attribute(g->desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &p->bias_type, sizeof p->bias_type,
                          message));
    }
    if (p->mask) {
        TRY(set_attribute(g->desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &p->mask, sizeof p->mask,
                          message));
        TRY(set_attribute(g->desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &p->mask_stride,
                          sizeof p->mask_stride, message));
    }
    int am = p->a_transposed ? p->k : p->m, an = p->a_transposed ? p->m : p->k;
    int bm = p->b_transposed ? p->n : p->k, bn = p->b_transposed ? p->k : p->n;
    TRY_BLAS(cublasLtMatrixLayoutCreate(&g->a, p->in, (uint64_t)am, (uint64_t)an, am));
    TRY_BLAS(cublasLtMatrixLayoutCreate(&g->b, p->in, (uint64_t)bm, (uint64_t)bn, bm));
    TRY_BLAS(cublasLtMatrixLayoutCreate(&g->d, p->out, (uint64_t)p->m, (uint64_t)p->n, p->m));
    return 0;
}

int gemm_run(const gemm *g, cublasLtHandle_t handle, void *workspace, cudaStream_t stream, char *message) {
    const gemm_plan *p = &g->plan;
    float alpha = 1;
    TRY_BLAS(cublasLtMatmul(handle, g->desc, &alpha, p->a, g->a, p->b, g->b, &p->beta, p->d, g->d, p->d, g->d,
                            &g->algo, workspace, SX_GEMM_WORKSPACE, stream));
    return 0;
}

/* Milliseconds of the plan's algorithm; negative where it does not run. */
static float measure_gemm(const gemm *g, cublasLtHandle_t handle, void *workspace, cudaEvent_t start,
                          cudaEvent_t stop) {
    char message[SX_CUDA_MESSAGE];
    float time = -1;
    for (int i = 0; i < WARM; i++)
        if (gemm_run(g, handle, workspace, 0, message)) return -1;
    cudaEventRecord(start, 0);
    for (int i = 0; i < TIMED; i++) gemm_run(g, handle, workspace, 0, message);
    cudaEventRecord(stop, 0);
    if (cudaEventSynchronize(stop) != cudaSuccess || cudaEventElapsedTime(&time, start, stop) != cudaSuccess)
        return -1;
    return time;
}

/* Takes the fastest of the candidates. */
static int choose_gemm(gemm *g, const cublasLtMatmulHeuristicResult_t *candidate, int n,
                       cublasLtHandle_t handle, void *workspace, char *message) {
    cudaEvent_t start, stop;
    cublasLtMatmulAlgo_t best;
    float least = -1;
    TRY_CUDA(cudaEventCreate(&start));
    TRY_CUDA(cudaEventCreate(&stop));
    for (int i = 0; i < n; i++) {
        if (candidate[i].state != CUBLAS_STATUS_SUCCESS) continue;
        g->algo = candidate[i].algo;
        float time = measure_gemm(g, handle, workspace, start, stop);
        if (time < 0 || (least >= 0 && time >= least)) continue;
        least = time;
        best = g->algo;
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    g->found = least >= 0;
    g->time = least / TIMED;
    if (g->found) g->algo = best;
    return 0;
}

int gemm_make(gemm *g, const gemm_plan *plan, cublasLtHandle_t handle, void *workspace, char *message) {
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t candidate[CANDIDATES];
    size_t room = SX_GEMM_WORKSPACE;
    int n = 0;
    memset(g, 0, sizeof *g);
    g->plan = *plan;
    TRY(describe_gemm(g, message));
    TRY_BLAS(cublasLtMatmulPreferenceCreate(&preference));
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room,
                                         sizeof room);
    cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle, g->desc, g->a, g->b, g->d, g->d,
                                                           preference, CANDIDATES, candidate, &n);
    cublasLtMatmulPreferenceDestroy(preference);
    return status == CUBLAS_STATUS_SUCCESS ? choose_gemm(g, candidate, n, handle, workspace, message) : 0;
}

void gemm_end(gemm *g) {
    if (g->desc) cublasLtMatmulDescDestroy(g->desc);
    if (g->a) cublasLtMatrixLayoutDestroy(g->a);
    if (g->b) cublasLtMatrixLayoutDestroy(g->b);
    if (g->d) cublasLtMatrixLayoutDestroy(g->d);
    memset(g, 0, sizeof *g);
}
