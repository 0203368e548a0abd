/* The kernels of all instruction sets that a build has. */
#ifndef SX_LEARN_KERNELS_H
#define SX_LEARN_KERNELS_H

#include "learn/kernel.h"

extern const sx_matrix_kernel sx_kernel_neon, sx_kernel_avx2, sx_kernel_avx512;

#endif
