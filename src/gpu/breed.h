/* Breeding on one core of the CPU, with lists of children as the GPU's kernels have them. */
#ifndef SX_GPU_BREED_H
#define SX_GPU_BREED_H

#include "gpu/module.h"

/* One generation of an island; counts the children that are legal. */
uint64_t sx_gpu_breed_island(const sx_gpu_view *view, const sx_gpu_epoch *epoch, uint64_t generation,
                             uint32_t island, sx_gpu_member *members);

#endif
