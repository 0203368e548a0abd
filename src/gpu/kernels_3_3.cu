/* Kernels for 3 levels and 3 tensors, none whose tiles overlap in part. */
#define SX_CORE_FIXED_LEVELS 3
#define SX_CORE_FIXED_TENSORS 3
#define SX_CORE_FIXED_WINDOW 0
#define SX_GPU_TABLE sx_gpu_kernels_3_3
#include "gpu/kernels.cuh"
