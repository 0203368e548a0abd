/* Draws and breeding on one core of the CPU, with lists of children as the GPU's kernels have them. */
#ifndef SX_GPU_BREED_H
#define SX_GPU_BREED_H

#include "gpu/module.h"

/* A thread's memory, freed with free(); NULL when memory is out. */
struct sx_core_work *sx_gpu_work_new(const sx_gpu_image *image);

/* Draws point number `index` of a seed's sequence; its value, infinite where it is not legal or not covered. */
double sx_gpu_draw_value(const sx_gpu_image *image, struct sx_core_work *work, uint64_t seed, uint64_t index,
                         sx_gpu_point *out);

/* Draws it without a value. */
void sx_gpu_draw_again(const sx_gpu_image *image, uint64_t seed, uint64_t index, sx_gpu_point *out);

/* One generation of an island; counts the children that are legal. */
uint64_t sx_gpu_breed_island(const sx_gpu_image *image, struct sx_core_work *work, const sx_gpu_epoch *epoch,
                             uint64_t generation, uint32_t island, sx_gpu_member *members);

/* The first of the best or worst members of an island. */
uint32_t sx_gpu_find_member(const sx_gpu_member *island, bool best);

#endif
