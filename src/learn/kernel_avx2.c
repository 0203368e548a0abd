/* x86-64 with AVX2 and FMA: eight floats, 16 registers. Compiled with -mavx2 -mfma. */
#include "learn/kernels.h"

#if defined(__x86_64__)
#define SX_KERNEL_ROWS 4
#include "learn/kernel_body.h"

const sx_matrix_kernel sx_kernel_avx2 = {"avx2",        SX_KERNEL_ROWS, COLUMNS,
                                         multiply_tile, combine_picked, dot_rows};
#endif
