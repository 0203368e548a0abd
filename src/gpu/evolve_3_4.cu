/* Compact points for 3 levels and 4 tensors. */
#define SX_CORE_FIXED_LEVELS 3
#define SX_CORE_FIXED_TENSORS 4
#define SX_CORE_FIXED_WINDOW 0
#define SX_GPU_EVOLVE sx_gpu_evolve_3_4
#include "gpu/evolve.cuh"
