/* Errors of cuBLAS's calls as messages. */
#ifndef SX_LEARN_CUDA_CHECK_CUH
#define SX_LEARN_CUDA_CHECK_CUH

#include "learn/cuda/module.h"

#include <cublasLt.h>

/* As TRY_CUDA, for a call of cuBLAS. */
#define TRY_BLAS(call)                                                                                                 \
    do {                                                                                                               \
        cublasStatus_t error_ = (call);                                                                                \
        if (error_ != CUBLAS_STATUS_SUCCESS) {                                                                         \
            snprintf(message, SX_CUDA_MESSAGE, "cuBLAS: %s", cublasLtGetStatusString(error_));                         \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

#endif
