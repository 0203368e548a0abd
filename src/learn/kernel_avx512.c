/* x86-64 with AVX-512: sixteen floats, 32 registers. Compiled with -mavx512f. */
#include "learn/kernels.h"

#if defined(__x86_64__)
#define SX_KERNEL_ROWS 8
#include "learn/kernel_body.h"

const sx_matrix_kernel sx_kernel_avx512 = {"avx512",      SX_KERNEL_ROWS, COLUMNS,
                                           multiply_tile, combine_picked, dot_rows};
#endif
