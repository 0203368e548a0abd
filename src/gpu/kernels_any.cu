/* Kernels for any numbers of levels and tensors. */
#define SX_GPU_TABLE sx_gpu_kernels_any
#include "gpu/kernels.cuh"
