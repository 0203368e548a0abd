/* What the modules for CUDA share: plain C for those that load them, and the check of CUDA's calls. */
#ifndef SX_BASE_CUDA_H
#define SX_BASE_CUDA_H

/* Bytes of the message of a module's function that fails. */
enum { SX_CUDA_MESSAGE = 512 };

#ifdef __CUDACC__
#include <cuda_runtime.h>
#include <stdio.h>

/* Returns 1 from the enclosing function, with a message, unless the call succeeds. */
#define TRY_CUDA(call)                                                                                       \
    do {                                                                                                     \
        cudaError_t error_ = (call);                                                                         \
        if (error_ != cudaSuccess) {                                                                         \
            snprintf(message, SX_CUDA_MESSAGE, "%s", cudaGetErrorString(error_));                            \
            return 1;                                                                                        \
        }                                                                                                    \
    } while (0)

/* Returns 1 from the enclosing function unless the call returns 0. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        if (call) return 1;                                                                                  \
    } while (0)
#endif

#endif
