#define SX_CORE_GPU_LISTS /* before anything of the core */
#include "gpu/breed.h"

uint64_t sx_gpu_breed_island(const sx_gpu_view *view, const sx_gpu_epoch *epoch, uint64_t generation,
                             uint32_t island, sx_gpu_member *members) {
    sx_gpu_member child[SX_GPU_ISLAND];
    sx_core_scratch own;
    sx_core_listing listing;
    sx_core_state st;
    double charge[SX_CORE_TENSORS * SX_CORE_CHARGE];
    uint64_t legal = 0;
    sx_gpu_prepare(&own, &listing, &st);
    for (uint32_t i = 0; i < SX_GPU_ISLAND; i++) {
        uint64_t random = sx_gpu_stream(epoch->seed, 2 + generation, (uint64_t)island * SX_GPU_ISLAND + i);
        sx_gpu_breed(view->p, members, &random, &child[i].genome);
        sx_gpu_express(view, &st, &child[i].genome);
        child[i].value = sx_gpu_value_of(view, &st, charge);
        legal += child[i].value < INFINITY;
    }
    for (uint32_t i = 0; i < SX_GPU_ISLAND; i++)
        if (child[i].value <= members[i].value) members[i] = child[i];
    return legal;
}
