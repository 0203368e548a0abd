/* The kernels, for one number of levels and tensors: a file that defines SX_CORE_FIXED_LEVELS, _TENSORS and _WINDOW, or none of
 * them, and SX_GPU_TABLE, and includes this one. */
#ifdef SX_CORE_FIXED_LEVELS
#define SX_CORE_ROW_NUMBERS /* before anything of the core */
#endif
#include "gpu/warp.cuh"

namespace {

/* Blocks of a processor at a time, for which registers are given up: single scores of a tensor whose tiles overlap in part
 * wait for memory most of the time (on an H200, 8 are 14 % faster than 4; without such a tensor 3, 5, 6 and 8 are slower). */
#if defined SX_CORE_FIXED_WINDOW && SX_CORE_FIXED_WINDOW
enum { BLOCKS = 8 };
#else
enum { BLOCKS = 4 };
#endif

/* Threads that sweep one order: on an H200, 4 and 32 are slower, and 16 about as fast. Single points have one thread each,
 * of which 4 and 8 are slower. */
enum { LANES = 8 };

/* What a group has in shared memory for sweeps; charges follow it. */
struct sweep_room {
    sx_core_state st;
    sx_core_scratch scratch;
    sx_gpu_sweep sweep;
};

/* A lane of a group of LANES threads, which goes side by side with the others of its warp. */
__device__ sx_core_lane lane_beside() {
    sx_core_lane lane;
    lane.at = threadIdx.x % LANES;
    lane.n = LANES;
    lane.group = threadIdx.x % 32 / LANES;
    lane.groups = 32 / LANES;
    lane.mask = 0xffffffffu;
    return lane;
}

/* Reads loops as one number. */
__device__ sx_core_loops read_loops(const sx_core_loops *from) {
    uint64_t word = *(const uint64_t *)from;
    sx_core_loops to;
    to.dims = (uint32_t)word;
    to.n = (uint8_t)(word >> 32);
    to.n_x = (uint8_t)(word >> 40);
    return to;
}

/* Reads a nest, of its levels those that there are. */
__device__ void read_nest(const sx_core_nest *from, sx_core_nest *to) {
    const uint64_t *rows = (const uint64_t *)from->row;
    SX_UNROLL
    for (int d = 0; d < SX_CORE_DIMS; d++) to->row[d] = (uint16_t)(rows[d / 4] >> 16 * (d % 4));
    uint64_t keep = *(const uint64_t *)from->keep;
    SX_UNROLL
    for (int s = 0; s < SX_CORE_LEVELS_AT_MOST; s++) {
        to->loops[s] = read_loops(&from->loops[s]);
        to->slots[s] = read_loops(&from->slots[s]);
        to->keep[s] = (uint8_t)(keep >> 8 * s);
    }
}

/* Scores points. The head is a constant, which all threads of a warp read at the same place. */
__global__ void __launch_bounds__(SX_GPU_BLOCK, BLOCKS) score_points(const __grid_constant__ sx_gpu_image head,
                                                                const sx_gpu_image *image, const sx_core_nest *point,
                                                                uint64_t n, sx_core_score *score, uint8_t *verdict) {
    sx_gpu_view view = sx_gpu_view_of(&head, image);
    const sx_core_lane alone = {0, 1, 0, 1, 1};
    sx_core_scratch own;
    sx_core_state st;
    double charge[SX_CORE_TENSORS_AT_MOST * SX_CORE_CHARGE];
    uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    st.own = &own;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        read_nest(point + i, &st.nest);
        sx_core_score out = {0, 0, 0, 0};
        verdict[i] = (uint8_t)sx_gpu_score_nest(&view, &st, charge, alone, &out);
        score[i] = out;
    }
}

/* Writes legal points, one per thread. */
__global__ void __launch_bounds__(SX_GPU_BLOCK) draw_legal(const sx_gpu_image *image, uint64_t seed, uint64_t n, unsigned tries,
                                                  sx_core_nest *out, uint64_t *number) {
    extern __shared__ __align__(16) char shared[];
    sx_gpu_view view = load_head(image, (sx_gpu_image *)shared);
    const sx_core_lane alone = {0, 1, 0, 1, 1};
    sx_core_scratch own;
    sx_core_state st;
    double charge[SX_CORE_TENSORS_AT_MOST * SX_CORE_CHARGE];
    st.own = &own;
    uint64_t groups = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += groups) {
        number[i] = UINT64_MAX;
        for (unsigned k = 0; k < tries; k++) {
            sx_core_score score;
            sx_gpu_draw_nest(&view, &st, seed, i * tries + k);
            out[i] = st.nest;
            if (sx_gpu_score_nest(&view, &st, charge, alone, &score) != SX_CORE_LEGAL) continue;
            number[i] = i * tries + k;
            break;
        }
    }
}

/* Lists the items of factorisations; *n_items counts them beyond the room, too. Sets *wide where one has too many orders. */
__global__ void __launch_bounds__(SX_GPU_BLOCK) screen(const sx_gpu_image *image, uint64_t from, uint64_t to, sx_gpu_item *items,
                                              uint64_t room, unsigned long long *n_items, unsigned *wide) {
    extern __shared__ __align__(16) char shared[];
    sx_gpu_view view = load_head(image, (sx_gpu_image *)shared);
    sx_core_scratch own;
    sx_core_state st;
    st.own = &own;
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t f = from + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; f < to; f += step) {
        if (!sx_gpu_screen(&view, &st, f)) continue;
        uint32_t n = 1;
        for (uint32_t layout = 0; layout < n; layout++) {
            if (!sx_gpu_spreads(&view, &st, layout, &n)) continue;
            uint32_t orders = sx_gpu_count_orders(&view, &st);
            if (orders == 0 || layout > UINT16_MAX) *wide = 1;
            for (uint32_t at = 0; at < orders; at += SX_GPU_ITEM_ORDERS) {
                unsigned long long i = atomicAdd(n_items, 1ull);
                uint32_t left = orders - at;
                if (i >= room) continue;
                sx_gpu_item item = {f, at, left < SX_GPU_ITEM_ORDERS ? left : SX_GPU_ITEM_ORDERS, (uint16_t)layout, {0}};
                items[i] = item;
            }
        }
    }
}

/* Lists the blocks of orders that are drawn; *n_items counts them beyond the room, too. */
__global__ void __launch_bounds__(SX_GPU_BLOCK) draw_items(const sx_gpu_image *image, uint64_t seed, uint64_t first, uint64_t n,
                                                  sx_gpu_item *items, uint64_t room, unsigned long long *n_items) {
    extern __shared__ __align__(16) char shared[];
    sx_gpu_view view = load_head(image, (sx_gpu_image *)shared);
    sx_core_scratch own;
    sx_core_state st;
    st.own = &own;
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        sx_gpu_item item;
        if (!sx_gpu_draw_item(&view, &st, seed, first + i, &item)) continue;
        unsigned long long at = atomicAdd(n_items, 1ull);
        if (at < room) items[at] = item;
    }
}

/* Looks at all mappings of the items, each warp taking the next one; best: one for each warp, counts: sums. */
__global__ void __launch_bounds__(SX_GPU_BLOCK) look(const sx_gpu_image *image, const sx_gpu_item *items, uint64_t n,
                                                     unsigned long long *next, sx_gpu_best *best,
                                                     unsigned long long *counts, sx_gpu_missed *missed) {
    extern __shared__ __align__(16) char shared[];
    sx_gpu_view view = load_head(image, (sx_gpu_image *)shared);
    sx_core_lane lane = lane_beside();
    size_t size = sizeof(sweep_room) + view.p->n_charges * sx_core_charge_size(&view.p->core) * sizeof(double);
    sweep_room *room = (sweep_room *)(shared + sizeof *image + threadIdx.x / LANES * size);
    double *charge = (double *)(room + 1);
    uint32_t *table = (uint32_t *)(shared + sizeof *image + SX_GPU_BLOCK / LANES * size);
    if (lane.at == 0) {
        bool fits = view.p->most_keeps <= SX_GPU_TABLE_KEEPS;
        room->st.own = &room->scratch;
        room->sweep.table = fits ? table + threadIdx.x / 32 * view.p->most_keeps : NULL;
    }
    __syncwarp();
    sx_gpu_best mine = {INFINITY, {UINT64_MAX, 0, 0, 0}};
    sx_gpu_counts sum = {0, 0, 0, 0};
    for (;;) {
        unsigned long long i = 0;
        if (threadIdx.x % 32 == 0) i = atomicAdd(next, 1ull);
        i = __shfl_sync(0xffffffffu, i, 0);
        if (i >= n) break;
        sx_gpu_item item = items[i];
        sx_gpu_look(&view, &room->st, &room->sweep, charge, lane, &item, &mine, &sum, missed);
        __syncwarp();
    }
    mine = best_of_warp(mine);
    if (threadIdx.x % 32 == 0) best[((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32] = mine;
    atomicAdd(&counts[0], (unsigned long long)sum.factorisations);
    atomicAdd(&counts[1], (unsigned long long)sum.orders);
    atomicAdd(&counts[2], (unsigned long long)sum.legal);
    atomicAdd(&counts[3], (unsigned long long)sum.uncovered);
}

/* The shared memory that a block takes besides the head. */
size_t sweep_bytes(const sx_gpu_image *image) {
    size_t charges = image->n_charges * (3 * image->core.n_levels + 1) * sizeof(double);
    size_t table = image->most_keeps <= SX_GPU_TABLE_KEEPS ? image->most_keeps * sizeof(uint32_t) : 0;
    return SX_GPU_BLOCK / LANES * (sizeof(sweep_room) + charges) + SX_GPU_BLOCK / 32 * table;
}

} // namespace

extern const sx_gpu_kernels SX_GPU_TABLE = {(const void *)score_points, (const void *)look, (const void *)screen,
                                            (const void *)draw_legal, (const void *)draw_items, sweep_bytes};
