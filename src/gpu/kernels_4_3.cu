/* Kernels for 4 levels and 3 tensors, none whose tiles overlap in part. */
#define SX_CORE_FIXED_LEVELS 4
#define SX_CORE_FIXED_TENSORS 3
#define SX_CORE_FIXED_WINDOW 0
#define SX_GPU_TABLE sx_gpu_kernels_4_3
#include "gpu/kernels.cuh"
