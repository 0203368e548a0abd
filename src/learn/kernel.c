#include "learn/kernel.h"

#include "learn/kernels.h"

const sx_matrix_kernel *sx_matrix_kernel_best(void) {
#if defined(__aarch64__)
    return &sx_kernel_neon;
#elif defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma")) return &sx_kernel_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &sx_kernel_avx2;
    return NULL;
#else
    return NULL;
#endif
}
