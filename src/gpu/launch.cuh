/* Kernels by numbers of levels and tensors, and launching them. */
#ifndef SX_SCALE_CUDA_LAUNCH_CUH
#define SX_SCALE_CUDA_LAUNCH_CUH

#include "gpu/module.h"

#include <cuda_runtime.h>

enum { SX_GPU_BLOCK = 128 /* threads */, SX_GPU_ITEM_ORDERS = 2048 };

/* Kernels, and the shared memory that a block of `look` takes besides the image's head. */
typedef struct sx_gpu_kernels {
    const void *score, *look, *screen, *legal, *items;
    size_t (*sweep_bytes)(const sx_gpu_image *image);
} sx_gpu_kernels;

extern const sx_gpu_kernels sx_gpu_kernels_any, sx_gpu_kernels_3_3, sx_gpu_kernels_3_3_window, sx_gpu_kernels_3_4,
    sx_gpu_kernels_4_3, sx_gpu_kernels_4_3_window;

/* The kernels that draw and breed compact points. */
typedef struct sx_gpu_point_kernels {
    const void *draw, *evolve;
} sx_gpu_point_kernels;

extern const sx_gpu_point_kernels sx_gpu_evolve_any, sx_gpu_evolve_3_3, sx_gpu_evolve_3_3_window, sx_gpu_evolve_3_4,
    sx_gpu_evolve_4_3, sx_gpu_evolve_4_3_window;

#endif
