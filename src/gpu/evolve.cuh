/* Compact points, for one number of levels and tensors: a file that defines SX_CORE_FIXED_LEVELS, _TENSORS and _WINDOW, or none of them,
 * and SX_GPU_EVOLVE, and includes this one. Points may have children that are listed one by one, for which a thread has room in
 * its local memory; other kernels leave such mappings out. */
#define SX_CORE_GPU_LISTS /* before anything of the core */
#include "gpu/points.h"
#include "gpu/warp.cuh"

namespace {

/* Copies what an image says of compact points into shared memory. */
__device__ const sx_core_space *load_space(const sx_gpu_image *image, void *shared) {
    const uint32_t *from = (const uint32_t *)sx_gpu_space_of(image);
    uint32_t *to = (uint32_t *)shared;
    for (unsigned i = threadIdx.x; i < sizeof(sx_core_space) / 4; i += blockDim.x) to[i] = from[i];
    __syncthreads();
    return (const sx_core_space *)shared;
}

/* Draws points and keeps the best of each warp. */
__global__ void __launch_bounds__(SX_GPU_BLOCK, 4) draw_points(const sx_gpu_image *image, uint64_t seed, uint64_t first,
                                                          uint64_t n, sx_gpu_best *best, unsigned long long *legal) {
    extern __shared__ __align__(16) char shared[];
    const sx_core_space *space = load_space(image, shared);
    sx_core_work work;
    uint64_t threads = (uint64_t)gridDim.x * blockDim.x, thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    sx_gpu_best mine = {INFINITY, {0, 0, 0, 0}};
    unsigned long long count = 0;
    sx_gpu_begin_points(space, &work);
    for (uint64_t i = thread; i < n; i += threads) {
        sx_gpu_point point;
        sx_gpu_best found = {sx_gpu_try_point(image, space, &work, seed, first + i, &point), {first + i, 0, 0, 0}};
        if (found.value == INFINITY) continue;
        if (sx_gpu_better(&found, &mine)) mine = found;
        count++;
    }
    mine = best_of_warp(mine);
    if (threadIdx.x % 32 == 0) best[thread / 32] = mine;
    atomicAdd(legal, count);
}

/* Some generations of a population, a warp for an island and a thread for a member; best: one for each warp. */
__global__ void __launch_bounds__(SX_GPU_BLOCK, 4) evolve(const sx_gpu_image *image, sx_gpu_epoch epoch,
                                                          const sx_gpu_member *before, sx_gpu_member *after,
                                                          sx_gpu_best *best, unsigned long long *legal) {
    extern __shared__ __align__(16) char shared[];
    const sx_core_space *space = load_space(image, shared);
    sx_core_work work;
    uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, at = threadIdx.x % 32;
    sx_gpu_best mine = {INFINITY, {UINT64_MAX, 0, 0, 0}};
    unsigned long long count = 0;
    sx_gpu_begin_points(space, &work);
    for (uint32_t k = warp; k < epoch.islands; k += gridDim.x * blockDim.x / 32) {
        const uint64_t member = (uint64_t)k * SX_GPU_ISLAND + at;
        sx_gpu_member *island = after + (uint64_t)k * SX_GPU_ISLAND;
        const sx_gpu_member *other = before + (uint64_t)((k ? k : epoch.islands) - 1) * SX_GPU_ISLAND;
        island[at] = before[member];
        if (epoch.first == 0) island[at].value = INFINITY;
        __syncwarp();
        uint32_t worst = sx_gpu_worst_member(island), best_there = sx_gpu_best_member(other);
        __syncwarp();
        if (epoch.first > 0 && at == worst && other[best_there].value < island[at].value) island[at] = other[best_there];
        for (uint32_t g = 0; g < epoch.generations; g++) {
            sx_core_rng rng = sx_gpu_stream(epoch.seed, 2 + epoch.first + g, member);
            sx_gpu_member child;
            __syncwarp();
            sx_gpu_breed(image, space, &work, &epoch.chances, island, &rng, &child);
            count += child.value < INFINITY;
            __syncwarp();
            if (child.value <= island[at].value) island[at] = child;
        }
        sx_gpu_best one = {island[at].value, {member, 0, 0, 0}};
        if (sx_gpu_better(&one, &mine)) mine = one;
    }
    mine = best_of_warp(mine);
    if (at == 0) best[warp] = mine;
    atomicAdd(legal, count);
}

} // namespace

extern const sx_gpu_point_kernels SX_GPU_EVOLVE = {(const void *)draw_points, (const void *)evolve};
