/* Matrix products by cuBLASLt, with what is fused to them, each by the algorithm that was measured to be the fastest. */
#ifndef SX_LEARN_CUDA_GEMM_CUH
#define SX_LEARN_CUDA_GEMM_CUH

#include "learn/cuda/check.cuh"

enum { SX_GEMM_WORKSPACE = 64 << 20 };

/* D (m x n) = op(A) (m x k) op(B) (k x n) + beta D, all column by column without gaps, which is row by row transposed. */
typedef struct gemm_plan {
    int m, n, k;
    bool a_transposed, b_transposed;
    cudaDataType_t in, out; /* of A and B, and of D */
    cublasComputeType_t compute;
    cublasLtEpilogue_t epilogue;
    void *bias; /* of the epilogue: read (bias) or written (gradient); NULL: none */
    cudaDataType_t bias_type;
    void *mask;          /* of ReLU: written or read; NULL: none */
    int64_t mask_stride; /* bits */
    const void *a, *b;
    void *d;
    float beta;
} gemm_plan;

typedef struct gemm {
    gemm_plan plan;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, d;
    cublasLtMatmulAlgo_t algo;
    bool found; /* there is an algorithm with that epilogue */
    float time; /* milliseconds, of the fastest */
} gemm;

/* Prepares a product and measures its algorithms. Freed by gemm_end, also on failure. */
int gemm_make(gemm *g, const gemm_plan *plan, cublasLtHandle_t handle, void *workspace, char *message);
int gemm_run(const gemm *g, cublasLtHandle_t handle, void *workspace, cudaStream_t stream, char *message);
void gemm_end(gemm *g);

#endif
