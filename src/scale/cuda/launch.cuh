/* Kernels by numbers of levels and tensors, and launching them. */
#ifndef SX_SCALE_CUDA_LAUNCH_CUH
#define SX_SCALE_CUDA_LAUNCH_CUH

#include "scale/cuda/module.h"

#include <cuda_runtime.h>

enum { SX_GPU_BLOCK = 128 /* threads */, SX_GPU_ITEM_ORDERS = 2048 };
enum { SX_KERNEL_SCORE, SX_KERNEL_DRAW, SX_KERNEL_LOOK, SX_KERNEL_SCREEN, SX_KERNEL_LEGAL };

typedef struct sx_gpu_kernels {
    const void *(*kernel)(int which, int lanes);
    size_t (*room)(int which, int lanes, const sx_gpu_image *image);
} sx_gpu_kernels;

extern const sx_gpu_kernels sx_gpu_kernels_any, sx_gpu_kernels_3_3, sx_gpu_kernels_3_3_window, sx_gpu_kernels_3_4,
    sx_gpu_kernels_4_3, sx_gpu_kernels_4_3_window;

#endif
