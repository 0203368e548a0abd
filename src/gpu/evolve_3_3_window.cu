/* Compact points for 3 levels and 3 tensors, the tiles of one tensor overlap in part. */
#define SX_CORE_FIXED_LEVELS 3
#define SX_CORE_FIXED_TENSORS 3
#define SX_CORE_FIXED_WINDOW 1
#define SX_GPU_EVOLVE sx_gpu_evolve_3_3_window
#include "gpu/evolve.cuh"
