/* The kernels, for one number of levels and tensors: a file that defines SX_GPU_FIXED_LEVELS, _TENSORS and _WINDOW, or none of
 * them, and SX_GPU_TABLE, and includes this one. A group of G threads of a warp works on one state in shared memory; with G = 1 the
 * state is a thread's own. */
#include "scale/cuda/launch.cuh"

namespace {

/* What a group has in shared memory for single points. */
struct score_room {
    sx_gpu_state st;
    sx_gpu_scratch scratch;
    double charge[SX_GPU_TENSORS_AT_MOST * SX_GPU_CHARGE];
};

/* And for sweeps; charges follow it. */
struct sweep_room {
    sx_gpu_state st;
    sx_gpu_scratch scratch;
    sx_gpu_sweep sweep;
};

/* Copies the head of an image into shared memory. */
__device__ sx_gpu_view load_head(const sx_gpu_image *image, sx_gpu_image *head) {
    const uint32_t *from = (const uint32_t *)image;
    uint32_t *to = (uint32_t *)head;
    for (unsigned i = threadIdx.x; i < sizeof *image / 4; i += blockDim.x) to[i] = from[i];
    __syncthreads();
    return sx_gpu_view_of(head, image);
}

/* A lane of a group that goes alone. */
template <int G> __device__ sx_gpu_lane lane_of() {
    sx_gpu_lane lane;
    unsigned first = threadIdx.x % 32 / G * G;
    lane.at = threadIdx.x % G;
    lane.n = G;
    lane.group = 0;
    lane.groups = 1;
    lane.mask = G == 1 ? 1 : (G == 32 ? 0xffffffffu : (1u << G % 32) - 1) << first;
    return lane;
}

/* A lane of a group that goes side by side with the others of its warp. */
template <int G> __device__ sx_gpu_lane lane_beside() {
    sx_gpu_lane lane = lane_of<G>();
    lane.group = threadIdx.x % 32 / G;
    lane.groups = 32 / G;
    lane.mask = 0xffffffffu;
    return lane;
}

/* Scores points. */
template <int G>
__global__ void __launch_bounds__(SX_GPU_BLOCK, 4) score_points(const sx_gpu_image *image, const sx_gpu_point *point, uint64_t n,
                                                    sx_gpu_score *score, uint8_t *verdict) {
    extern __shared__ __align__(16) char shared[];
    sx_gpu_view view = load_head(image, (sx_gpu_image *)shared);
    sx_gpu_lane lane = lane_of<G>();
    score_room *room = (score_room *)(shared + sizeof *image) + threadIdx.x / G;
    sx_gpu_scratch own;
    sx_gpu_state mine_st;
    double mine_charge[SX_GPU_TENSORS_AT_MOST * SX_GPU_CHARGE];
    sx_gpu_scratch *scratch = G == 1 ? &own : &room->scratch;
    sx_gpu_state *st = G == 1 ? &mine_st : &room->st;
    double *charge = G == 1 ? mine_charge : room->charge;
    if (lane.at == 0) st->own = scratch;
    SX_SYNC(lane);
    uint64_t groups = (uint64_t)gridDim.x * blockDim.x / G;
    for (uint64_t i = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / G; i < n; i += groups) {
        const uint64_t *from = (const uint64_t *)(point + i);
        uint64_t *to = (uint64_t *)&scratch->point;
        SX_UNROLL
        for (unsigned k = lane.at; k < sizeof *point / 8; k += G) to[k] = from[k];
        SX_SYNC(lane);
        sx_gpu_score out = {0, 0, 0, 0};
        int what = sx_gpu_score_point(&view, st, charge, lane, &out);
        if (lane.at == 0) {
            score[i] = out;
            verdict[i] = (uint8_t)what;
        }
        SX_SYNC(lane);
    }
}

/* Draws points and keeps the best of each group. */
template <int G>
__global__ void __launch_bounds__(SX_GPU_BLOCK, 4) draw_points(const sx_gpu_image *image, uint64_t seed, uint64_t first, uint64_t n,
                                                   sx_gpu_best *best, unsigned long long *legal) {
    extern __shared__ __align__(16) char shared[];
    sx_gpu_view view = load_head(image, (sx_gpu_image *)shared);
    sx_gpu_lane lane = lane_of<G>();
    score_room *room = (score_room *)(shared + sizeof *image) + threadIdx.x / G;
    sx_gpu_scratch own;
    sx_gpu_state mine_st;
    double mine_charge[SX_GPU_TENSORS_AT_MOST * SX_GPU_CHARGE];
    sx_gpu_scratch *scratch = G == 1 ? &own : &room->scratch;
    sx_gpu_state *st = G == 1 ? &mine_st : &room->st;
    double *charge = G == 1 ? mine_charge : room->charge;
    if (lane.at == 0) st->own = scratch;
    SX_SYNC(lane);
    uint64_t groups = (uint64_t)gridDim.x * blockDim.x / G, group = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / G;
    sx_gpu_best mine = {INFINITY, {0, 0, 0, 0}};
    unsigned long long count = 0;
    for (uint64_t i = group; i < n; i += groups) {
        if (lane.at == 0) sx_gpu_draw(&view, st, seed, first + i);
        SX_SYNC(lane);
        sx_gpu_score out;
        int what = sx_gpu_score_point(&view, st, charge, lane, &out);
        if (lane.at == 0 && what == SX_GPU_LEGAL) {
            sx_gpu_best found = {sx_gpu_value(view.p, out.energy, out.cycles), {first + i, 0, 0, 0}};
            if (sx_gpu_better(&found, &mine)) mine = found;
            count++;
        }
        SX_SYNC(lane);
    }
    if (lane.at == 0) {
        best[group] = mine;
        atomicAdd(legal, count);
    }
}

/* Writes legal points, one per thread. */
__global__ void __launch_bounds__(SX_GPU_BLOCK) draw_legal(const sx_gpu_image *image, uint64_t seed, uint64_t n, unsigned tries,
                                                  sx_gpu_point *out, uint64_t *number) {
    extern __shared__ __align__(16) char shared[];
    sx_gpu_view view = load_head(image, (sx_gpu_image *)shared);
    sx_gpu_lane lane = {0, 1, 0, 1, 1};
    sx_gpu_scratch own;
    sx_gpu_state st;
    double charge[SX_GPU_TENSORS_AT_MOST * SX_GPU_CHARGE];
    st.own = &own;
    uint64_t groups = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += groups) {
        number[i] = UINT64_MAX;
        for (unsigned k = 0; k < tries; k++) {
            sx_gpu_score score;
            sx_gpu_draw(&view, &st, seed, i * tries + k);
            out[i] = own.point;
            if (sx_gpu_score_point(&view, &st, charge, lane, &score) != SX_GPU_LEGAL) continue;
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
    sx_gpu_scratch own;
    sx_gpu_state st;
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

/* The better of the lanes of a group. */
template <int G> __device__ sx_gpu_best best_of(sx_gpu_best mine, uint32_t mask) {
    for (int step = G / 2; step > 0; step /= 2) {
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

/* Looks at all mappings of the items, each warp taking the next one; best: one for each warp, counts: sums. */
template <int G>
__global__ void __launch_bounds__(SX_GPU_BLOCK) look(const sx_gpu_image *image, const sx_gpu_item *items, uint64_t n,
                                                     unsigned long long *next, sx_gpu_best *best,
                                                     unsigned long long *counts, sx_gpu_missed *missed) {
    extern __shared__ __align__(16) char shared[];
    sx_gpu_view view = load_head(image, (sx_gpu_image *)shared);
    sx_gpu_lane lane = lane_beside<G>();
    size_t size = sizeof(sweep_room) + view.p->n_charges * sx_gpu_charge_size(view.p) * sizeof(double);
    sweep_room *room = (sweep_room *)(shared + sizeof *image + threadIdx.x / G * size);
    double *charge = (double *)(room + 1);
    uint32_t *table = (uint32_t *)(shared + sizeof *image + SX_GPU_BLOCK / G * size);
    if (lane.at == 0) room->st.own = &room->scratch;
    if (lane.at == 0) room->sweep.table = view.p->most_keeps <= SX_GPU_TABLE_KEEPS ? table + threadIdx.x / 32 * view.p->most_keeps : NULL;
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
    mine = best_of<32>(mine, 0xffffffffu);
    if (threadIdx.x % 32 == 0) best[((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32] = mine;
    atomicAdd(&counts[0], (unsigned long long)sum.factorisations);
    atomicAdd(&counts[1], (unsigned long long)sum.orders);
    atomicAdd(&counts[2], (unsigned long long)sum.legal);
    atomicAdd(&counts[3], (unsigned long long)sum.uncovered);
}

/* The kernel of a group size. */
const void *kernel(int which, int lanes) {
    switch (which) {
    case SX_KERNEL_SCORE:
        return lanes == 1 ? (const void *)score_points<1> : lanes == 4 ? (const void *)score_points<4> : (const void *)score_points<8>;
    case SX_KERNEL_DRAW:
        return lanes == 1 ? (const void *)draw_points<1> : (const void *)draw_points<4>;
    case SX_KERNEL_LOOK:
        return lanes == 4 ? (const void *)look<4> : lanes == 8 ? (const void *)look<8> : lanes == 16 ? (const void *)look<16> : (const void *)look<32>;
    case SX_KERNEL_SCREEN:
        return (const void *)screen;
    default:
        return (const void *)draw_legal;
    }
}

/* The shared memory that a group takes besides the head. */
size_t room(int which, int lanes, const sx_gpu_image *image) {
    size_t charges = image->n_charges * (3 * image->n_levels + 1) * sizeof(double);
    size_t table = image->most_keeps <= SX_GPU_TABLE_KEEPS ? image->most_keeps * sizeof(uint32_t) : 0;
    if (which == SX_KERNEL_LOOK) return sizeof(sweep_room) + charges + (table * lanes + 31) / 32;
    return (which == SX_KERNEL_SCORE || which == SX_KERNEL_DRAW) && lanes > 1 ? sizeof(score_room) : 0;
}

} // namespace

extern const sx_gpu_kernels SX_GPU_TABLE = {kernel, room};
