/* Populations, for one number of levels and tensors: a file that defines SX_CORE_FIXED_LEVELS, _TENSORS and _WINDOW, or none of them,
 * and SX_GPU_EVOLVE, and includes this one. Members may have children that are listed one by one, for which a thread has room in
 * its local memory; other kernels leave such mappings out. */
#define SX_CORE_GPU_LISTS /* before anything of the core */
#include "gpu/warp.cuh"

namespace {

/* Some generations of a population, a warp for an island and a thread for a member; best: one for each warp. */
__global__ void __launch_bounds__(SX_GPU_BLOCK, 4) evolve(const sx_gpu_image *image, sx_gpu_epoch epoch,
                                                          const sx_gpu_member *before, sx_gpu_member *after,
                                                          sx_gpu_best *best, unsigned long long *legal) {
    extern __shared__ __align__(16) char shared[];
    sx_gpu_view view = load_head(image, (sx_gpu_image *)shared);
    sx_gpu_member *island = (sx_gpu_member *)(shared + sizeof *image) + threadIdx.x / 32 * SX_GPU_ISLAND;
    sx_core_scratch own;
    sx_core_listing listing;
    sx_core_state st;
    double charge[SX_CORE_TENSORS_AT_MOST * SX_CORE_CHARGE];
    uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, at = threadIdx.x % 32;
    sx_gpu_best mine = {INFINITY, {UINT64_MAX, 0, 0, 0}};
    unsigned long long count = 0;
    sx_gpu_prepare(&own, &listing, &st);
    for (uint32_t k = warp; k < epoch.islands; k += gridDim.x * blockDim.x / 32) {
        const uint64_t member = (uint64_t)k * SX_GPU_ISLAND + at;
        const sx_gpu_member *other = before + (uint64_t)((k ? k : epoch.islands) - 1) * SX_GPU_ISLAND;
        island[at] = before[member];
        if (epoch.first == 0) island[at].value = INFINITY;
        __syncwarp();
        uint32_t worst = sx_gpu_worst_member(island), best_there = sx_gpu_best_member(other);
        __syncwarp();
        if (epoch.first > 0 && at == worst && other[best_there].value < island[at].value) island[at] = other[best_there];
        for (uint32_t g = 0; g < epoch.generations; g++) {
            uint64_t random = sx_gpu_stream(epoch.seed, 2 + epoch.first + g, member);
            sx_gpu_member child;
            __syncwarp();
            sx_gpu_breed(view.p, island, &random, &child.genome);
            sx_gpu_express(&view, &st, &child.genome);
            child.value = sx_gpu_value_of(&view, &st, charge);
            count += child.value < INFINITY;
            __syncwarp();
            if (child.value <= island[at].value) island[at] = child;
        }
        sx_gpu_best one = {island[at].value, {member, 0, 0, 0}};
        if (sx_gpu_better(&one, &mine)) mine = one;
        after[member] = island[at];
        __syncwarp();
    }
    mine = best_of_warp(mine);
    if (at == 0) best[warp] = mine;
    atomicAdd(legal, count);
}

} // namespace

extern const void *const SX_GPU_EVOLVE = (const void *)evolve;
