/* What kernels share. */
#ifndef SX_GPU_WARP_CUH
#define SX_GPU_WARP_CUH

#include "gpu/launch.cuh"

namespace {

/* Copies the head of an image into shared memory. */
__device__ sx_gpu_view load_head(const sx_gpu_image *image, sx_gpu_image *head) {
    const uint32_t *from = (const uint32_t *)image;
    uint32_t *to = (uint32_t *)head;
    for (unsigned i = threadIdx.x; i < sizeof *image / 4; i += blockDim.x) to[i] = from[i];
    __syncthreads();
    return sx_gpu_view_of(head, image);
}

/* The best of a warp. */
__device__ sx_gpu_best best_of_warp(sx_gpu_best mine) {
    const uint32_t mask = 0xffffffffu;
    for (int step = 16; step > 0; step /= 2) {
        sx_gpu_best other;
        other.value = __shfl_xor_sync(mask, mine.value, step);
        other.at.factorisation = __shfl_xor_sync(mask, mine.at.factorisation, step);
        other.at.order = __shfl_xor_sync(mask, mine.at.order, step);
        other.at.layout = (uint16_t)__shfl_xor_sync(mask, (unsigned)mine.at.layout, step);
        other.at.keep = (uint16_t)__shfl_xor_sync(mask, (unsigned)mine.at.keep, step);
        if (sx_gpu_better(&other, &mine)) mine = other;
    }
    return mine;
}

} // namespace

#endif
