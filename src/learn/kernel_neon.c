/* 64-bit Arm: every processor has fused multiply-adds of four floats, and 32 registers of them. */
#include "learn/kernels.h"

#if defined(__aarch64__)
#define SX_KERNEL_ROWS 8
#include "learn/kernel_body.h"

const sx_matrix_kernel sx_kernel_neon = {"neon",        SX_KERNEL_ROWS, COLUMNS,
                                         multiply_tile, combine_picked, dot_rows};
#endif
