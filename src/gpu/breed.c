#define SX_CORE_GPU_LISTS /* before anything of the core */
#include "gpu/breed.h"
#include "gpu/points.h"

#include <stdlib.h>

struct sx_core_work *sx_gpu_work_new(const sx_gpu_image *image) {
    sx_core_work *work = calloc(1, sizeof *work);
    if (work) sx_gpu_begin_points(sx_gpu_space_of(image), work);
    return work;
}

double sx_gpu_draw_value(const sx_gpu_image *image, sx_core_work *work, uint64_t seed, uint64_t index,
                         sx_gpu_point *out) {
    return sx_gpu_try_point(image, sx_gpu_space_of(image), work, seed, index, out);
}

void sx_gpu_draw_again(const sx_gpu_image *image, uint64_t seed, uint64_t index, sx_gpu_point *out) {
    sx_gpu_draw_point(sx_gpu_space_of(image), seed, index, out);
}

uint64_t sx_gpu_breed_island(const sx_gpu_image *image, sx_core_work *work, const sx_gpu_epoch *epoch,
                             uint64_t generation, uint32_t island, sx_gpu_member *members) {
    sx_gpu_member child[SX_GPU_ISLAND];
    uint64_t legal = 0;
    for (uint32_t i = 0; i < SX_GPU_ISLAND; i++) {
        sx_core_rng rng = sx_gpu_stream(epoch->seed, 2 + generation, (uint64_t)island * SX_GPU_ISLAND + i);
        sx_gpu_breed(image, sx_gpu_space_of(image), work, &epoch->chances, members, &rng, &child[i]);
        legal += child[i].value < INFINITY;
    }
    for (uint32_t i = 0; i < SX_GPU_ISLAND; i++)
        if (child[i].value <= members[i].value) members[i] = child[i];
    return legal;
}

uint32_t sx_gpu_find_member(const sx_gpu_member *island, bool best) {
    return best ? sx_gpu_best_member(island) : sx_gpu_worst_member(island);
}
