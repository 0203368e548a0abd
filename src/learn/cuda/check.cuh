/* Errors of CUDA's calls as messages. */
#ifndef SX_LEARN_CUDA_CHECK_CUH
#define SX_LEARN_CUDA_CHECK_CUH

#include "learn/cuda/module.h"

#include <cublasLt.h>
#include <cuda_runtime.h>
#include <stdio.h>

/* Returns 1 from the enclosing function, with a message, unless the call succeeds. */
#define TRY_CUDA(call)                                                                                                 \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            snprintf(message, SX_CUDA_MESSAGE, "%s", cudaGetErrorString(error_));                                      \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)
#define TRY_BLAS(call)                                                                                                 \
    do {                                                                                                               \
        cublasStatus_t error_ = (call);                                                                                \
        if (error_ != CUBLAS_STATUS_SUCCESS) {                                                                         \
            snprintf(message, SX_CUDA_MESSAGE, "cuBLAS: %s", cublasLtGetStatusString(error_));                         \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if (call) return 1;                                                                                            \
    } while (0)

#endif
