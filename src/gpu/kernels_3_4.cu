/* Kernels for 3 levels and 4 tensors, none whose tiles overlap in part. */
#define SX_CORE_FIXED_LEVELS 3
#define SX_CORE_FIXED_TENSORS 4
#define SX_CORE_FIXED_WINDOW 0
#define SX_GPU_TABLE sx_gpu_kernels_3_4
#include "gpu/kernels.cuh"
