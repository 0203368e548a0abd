/* Compact points for any numbers of levels and tensors. */
#define SX_GPU_EVOLVE sx_gpu_evolve_any
#include "gpu/evolve.cuh"
