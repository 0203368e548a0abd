/* The module: images in a GPU's memory, and what is done with them there. */
#include "gpu/launch.cuh"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEM_ROOM = 1 << 24, MISSED_ROOM = 1 << 20, MOST_BLOCKS = 1 << 16, BATCH = SX_GPU_MEASURED };

/* Numbers that kernels count, in the GPU's memory. */
typedef struct numbers {
    unsigned long long n_items, next, counts[4], legal;
    sx_gpu_missed missed;
    unsigned wide;
} numbers;

struct sx_gpu_device {
    sx_gpu_image head;
    const sx_gpu_kernels *kernels;
    const sx_gpu_point_kernels *points;
    int processors;
    size_t most_shared;
    sx_gpu_image *image; /* in the GPU's memory, as all below */
    sx_gpu_item *items;
    sx_gpu_best *best;
    sx_gpu_place *place;
    sx_core_nest *point; /* BATCH of each */
    sx_core_score *score;
    uint8_t *verdict;
    numbers *count;
    sx_gpu_member *members[2]; /* of a population, before and after an epoch */
    uint32_t islands;
    uint64_t chunk; /* factorisations to screen at a time */
};

/* Chooses the kernels for an image. */
static void choose_kernels(const sx_gpu_image *image, sx_gpu_device *d) {
    static const struct {
        unsigned levels, tensors;
        bool window;
        const sx_gpu_kernels *kernels;
        const sx_gpu_point_kernels *points;
    } fixed[] = {
        {3, 3, false, &sx_gpu_kernels_3_3, &sx_gpu_evolve_3_3},
        {3, 3, true, &sx_gpu_kernels_3_3_window, &sx_gpu_evolve_3_3_window},
        {3, 4, false, &sx_gpu_kernels_3_4, &sx_gpu_evolve_3_4},
        {4, 3, false, &sx_gpu_kernels_4_3, &sx_gpu_evolve_4_3},
        {4, 3, true, &sx_gpu_kernels_4_3_window, &sx_gpu_evolve_4_3_window},
    };
    d->kernels = &sx_gpu_kernels_any;
    d->points = &sx_gpu_evolve_any;
    for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        if (fixed[i].levels != image->core.n_levels || fixed[i].tensors != image->core.n_tensors ||
            fixed[i].window != (image->core.window >= 0))
            continue;
        if (image->first_number[0] != UINT64_MAX) d->kernels = fixed[i].kernels;
        d->points = fixed[i].points;
    }
}

/* Launches a kernel over n threads or fewer (0: as many as run at once); *warps: how many there are. */
static int launch_kernel(sx_gpu_device *d, const void *kernel, uint64_t n, void **arguments, uint64_t *warps,
                         char *message) {
    int at_once = 0;
    size_t shared = sizeof d->head + (kernel == d->kernels->look ? d->kernels->sweep_bytes(&d->head) : 0);
    if (kernel == d->kernels->score) shared = 0;
    if (kernel == d->points->draw || kernel == d->points->evolve) shared = sizeof(sx_core_space);
    if (shared > d->most_shared) {
        snprintf(message, SX_CUDA_MESSAGE,
                 "the GPU has too little shared memory for the choices of this space");
        return 1;
    }
    TRY_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    TRY_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, kernel, SX_GPU_BLOCK, shared));
    uint64_t blocks = (uint64_t)at_once * (uint64_t)d->processors * (n ? 4 : 1);
    if (n && (n + SX_GPU_BLOCK - 1) / SX_GPU_BLOCK < blocks) blocks = (n + SX_GPU_BLOCK - 1) / SX_GPU_BLOCK;
    if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
    if (warps) *warps = blocks * SX_GPU_BLOCK / 32;
    TRY_CUDA(cudaLaunchKernel(kernel, dim3((unsigned)blocks), dim3(SX_GPU_BLOCK), arguments, shared, 0));
    return 0;
}

static void free_device(sx_gpu_device *d) {
    if (!d) return;
    cudaFree(d->image);
    cudaFree(d->items);
    cudaFree(d->best);
    cudaFree(d->place);
    cudaFree(d->point);
    cudaFree(d->score);
    cudaFree(d->verdict);
    cudaFree(d->count);
    cudaFree(d->members[0]);
    cudaFree(d->members[1]);
    free(d);
}

/* Takes the memory that a device needs, and copies the image. */
static int take_image(sx_gpu_device *d, const sx_gpu_image *image, char *message) {
    TRY_CUDA(cudaMalloc((void **)&d->image, image->size));
    TRY_CUDA(cudaMemcpy(d->image, image, image->size, cudaMemcpyHostToDevice));
    TRY_CUDA(cudaMalloc((void **)&d->items, ITEM_ROOM * sizeof *d->items));
    TRY_CUDA(cudaMalloc((void **)&d->best, (size_t)MOST_BLOCKS * SX_GPU_BLOCK * sizeof *d->best));
    TRY_CUDA(cudaMalloc((void **)&d->place, MISSED_ROOM * sizeof *d->place));
    TRY_CUDA(cudaMalloc((void **)&d->point, BATCH * sizeof *d->point));
    TRY_CUDA(cudaMalloc((void **)&d->score, BATCH * sizeof *d->score));
    TRY_CUDA(cudaMalloc((void **)&d->verdict, BATCH));
    TRY_CUDA(cudaMalloc((void **)&d->count, sizeof *d->count));
    return 0;
}

static int make_device(const sx_gpu_image *image, sx_gpu_device **out, char *message) {
    int device = 0, most = 0;
    TRY_CUDA(cudaGetDevice(&device));
    sx_gpu_device *d = (sx_gpu_device *)calloc(1, sizeof *d);
    if (!d) {
        snprintf(message, SX_CUDA_MESSAGE, "out of memory");
        return 1;
    }
    d->head = *image;
    choose_kernels(image, d);
    d->chunk = 1 << 22;
    if (cudaDeviceGetAttribute(&d->processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess ||
        take_image(d, image, message)) {
        free_device(d);
        return 1;
    }
    d->most_shared = (size_t)most;
    *out = d;
    return 0;
}

static int score_points(sx_gpu_device *d, const sx_core_nest *point, size_t n, sx_core_score *out,
                        uint8_t *verdict, char *message) {
    for (size_t first = 0; first < n; first += BATCH) {
        uint64_t some = n - first < BATCH ? n - first : BATCH;
        void *arguments[] = {&d->head, &d->image, &d->point, &some, &d->score, &d->verdict};
        TRY_CUDA(cudaMemcpy(d->point, point + first, some * sizeof *point, cudaMemcpyHostToDevice));
        TRY(launch_kernel(d, d->kernels->score, some, arguments, NULL, message));
        TRY_CUDA(cudaMemcpy(out + first, d->score, some * sizeof *out, cudaMemcpyDeviceToHost));
        TRY_CUDA(cudaMemcpy(verdict + first, d->verdict, some, cudaMemcpyDeviceToHost));
    }
    return 0;
}

/* Adds the best of n to what was found. */
static int add_best(sx_gpu_device *d, uint64_t n, sx_gpu_best *best, char *message) {
    sx_gpu_best *all = (sx_gpu_best *)malloc(n * sizeof *all);
    if (!all) {
        snprintf(message, SX_CUDA_MESSAGE, "out of memory");
        return 1;
    }
    cudaError_t error = cudaMemcpy(all, d->best, n * sizeof *all, cudaMemcpyDeviceToHost);
    for (uint64_t i = 0; i < n && error == cudaSuccess; i++)
        if (sx_gpu_better(&all[i], best)) *best = all[i];
    free(all);
    TRY_CUDA(error);
    return 0;
}

/* Lists the items of some factorisations, of as many as there is room for. */
static int list_items(sx_gpu_device *d, uint64_t from, uint64_t *to, numbers *count, char *message) {
    for (;;) {
        uint64_t room = ITEM_ROOM;
        unsigned long long *n_items = &d->count->n_items;
        unsigned *wide = &d->count->wide;
        void *arguments[] = {&d->image, &from, to, &d->items, &room, &n_items, &wide};
        TRY_CUDA(cudaMemcpy(d->count, count, sizeof *count, cudaMemcpyHostToDevice));
        TRY(launch_kernel(d, d->kernels->screen, *to - from, arguments, NULL, message));
        numbers now;
        TRY_CUDA(cudaMemcpy(&now, d->count, sizeof now, cudaMemcpyDeviceToHost));
        if (now.wide) {
            snprintf(message, SX_CUDA_MESSAGE, "a factorisation has more than 2^32 orders of its loops");
            return 1;
        }
        if (now.n_items <= ITEM_ROOM) return 0;
        d->chunk = (*to - from) / 2;
        *to = from + d->chunk;
    }
}

/* Looks at the mappings of the items that are listed. */
static int look_at_items(sx_gpu_device *d, sx_gpu_found *found, sx_gpu_missed *missed, char *message) {
    uint64_t warps;
    numbers now;
    TRY_CUDA(cudaMemcpy(&now, d->count, sizeof now, cudaMemcpyDeviceToHost));
    uint64_t n = now.n_items;
    unsigned long long *next = &d->count->next, *counts = d->count->counts;
    sx_gpu_missed *to = &d->count->missed;
    void *arguments[] = {&d->image, &d->items, &n, &next, &d->best, &counts, &to};
    TRY(launch_kernel(d, d->kernels->look, 0, arguments, &warps, message));
    TRY_CUDA(cudaMemcpy(&now, d->count, sizeof now, cudaMemcpyDeviceToHost));
    found->counts.factorisations += now.counts[0];
    found->counts.orders += now.counts[1];
    found->counts.legal += now.counts[2];
    found->counts.uncovered += now.counts[3];
    uint64_t more = now.missed.n < MISSED_ROOM ? now.missed.n : MISSED_ROOM, left = 0;
    if (missed->n < missed->room) left = missed->room - missed->n;
    if (more > left) more = left;
    if (more)
        TRY_CUDA(
            cudaMemcpy(missed->at + missed->n, d->place, more * sizeof *missed->at, cudaMemcpyDeviceToHost));
    missed->n += now.missed.n;
    return add_best(d, warps, &found->best, message);
}

/* The seconds between two events, which are then destroyed. */
static double seconds_between(cudaEvent_t from, cudaEvent_t to) {
    float ms = 0;
    cudaEventRecord(to);
    cudaEventSynchronize(to);
    cudaEventElapsedTime(&ms, from, to);
    return (double)ms / 1000;
}

static int search_factorisations(sx_gpu_device *d, uint64_t *from, uint64_t to, double seconds,
                                 sx_gpu_found *found, sx_gpu_missed *missed, char *message) {
    cudaEvent_t begin, end;
    int failed = 0;
    double spent = 0, earlier = 0, before = found->seconds;
    TRY_CUDA(cudaEventCreate(&begin));
    TRY_CUDA(cudaEventCreate(&end));
    TRY_CUDA(cudaEventRecord(begin));
    while (*from < to && !failed && (seconds == 0 || spent < seconds)) {
        numbers zero = {};
        uint64_t next = to - *from < d->chunk ? to : *from + d->chunk;
        zero.missed.room = MISSED_ROOM;
        zero.missed.at = d->place;
        failed = list_items(d, *from, &next, &zero, message) || look_at_items(d, found, missed, message);
        if (!failed) *from = next;
        spent = seconds_between(begin, end);
        if (spent - earlier > 2) d->chunk = d->chunk / 2 + 1;
        if (spent - earlier < 0.5) d->chunk *= 2;
        earlier = spent;
    }
    found->seconds = before + spent;
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return failed;
}

static int draw_points(sx_gpu_device *d, uint64_t seed, uint64_t first, uint64_t n, sx_gpu_found *found,
                       char *message) {
    cudaEvent_t begin, end;
    uint64_t warps;
    numbers now = {};
    TRY_CUDA(cudaEventCreate(&begin));
    TRY_CUDA(cudaEventCreate(&end));
    unsigned long long *legal = &d->count->legal;
    void *arguments[] = {&d->image, &seed, &first, &n, &d->best, &legal};
    TRY_CUDA(cudaMemcpy(d->count, &now, sizeof now, cudaMemcpyHostToDevice));
    TRY_CUDA(cudaEventRecord(begin));
    TRY(launch_kernel(d, d->points->draw, n, arguments, &warps, message));
    found->seconds += seconds_between(begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    TRY_CUDA(cudaMemcpy(&now, d->count, sizeof now, cudaMemcpyDeviceToHost));
    found->counts.legal += now.legal;
    return add_best(d, warps, &found->best, message);
}

static int prune_points(sx_gpu_device *d, uint64_t seed, uint64_t first, uint64_t n, uint64_t most,
                        uint64_t *listed, sx_gpu_found *found, char *message) {
    cudaEvent_t begin, end;
    sx_gpu_missed missed = {0, 0, NULL};
    numbers now = {};
    uint64_t room = ITEM_ROOM;
    unsigned long long *n_items = &d->count->n_items;
    void *arguments[] = {&d->image, &seed, &first, &n, &d->items, &room, &n_items};
    TRY_CUDA(cudaEventCreate(&begin));
    TRY_CUDA(cudaEventCreate(&end));
    TRY_CUDA(cudaEventRecord(begin));
    TRY_CUDA(cudaMemcpy(d->count, &now, sizeof now, cudaMemcpyHostToDevice));
    TRY(launch_kernel(d, d->kernels->items, n, arguments, NULL, message));
    TRY_CUDA(cudaMemcpy(&now, d->count, sizeof now, cudaMemcpyDeviceToHost));
    *listed = now.n_items;
    int failed = *listed > 0 && *listed <= most && look_at_items(d, found, &missed, message);
    found->seconds += seconds_between(begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return failed;
}

/* Takes memory for a population, before and after an epoch. */
static int take_members(sx_gpu_device *d, uint32_t islands, char *message) {
    if (d->islands == islands) return 0;
    d->islands = 0;
    for (int i = 0; i < 2; i++) {
        cudaFree(d->members[i]);
        d->members[i] = NULL;
        TRY_CUDA(
            cudaMalloc((void **)&d->members[i], (size_t)islands * SX_GPU_ISLAND * sizeof *d->members[i]));
    }
    d->islands = islands;
    return 0;
}

static int evolve_islands(sx_gpu_device *d, const sx_gpu_epoch *e, sx_gpu_found *found, sx_gpu_point *best,
                          char *message) {
    cudaEvent_t begin, end;
    uint64_t warps;
    numbers now = {};
    sx_gpu_found one = {};
    sx_gpu_epoch epoch = *e;
    one.best.value = INFINITY;
    TRY(take_members(d, e->islands, message));
    unsigned long long *legal = &d->count->legal;
    void *arguments[] = {&d->image, &epoch, &d->members[0], &d->members[1], &d->best, &legal};
    TRY_CUDA(cudaEventCreate(&begin));
    TRY_CUDA(cudaEventCreate(&end));
    TRY_CUDA(cudaMemcpy(d->count, &now, sizeof now, cudaMemcpyHostToDevice));
    TRY_CUDA(cudaEventRecord(begin));
    TRY(launch_kernel(d, d->points->evolve, (uint64_t)e->islands * SX_GPU_ISLAND, arguments, &warps,
                      message));
    found->seconds += seconds_between(begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    TRY_CUDA(cudaMemcpy(&now, d->count, sizeof now, cudaMemcpyDeviceToHost));
    TRY(add_best(d, warps, &one.best, message));
    found->counts.legal += now.legal;
    if (one.best.value < found->best.value) {
        const sx_gpu_member *from = d->members[1] + one.best.at.factorisation;
        found->best = one.best;
        TRY_CUDA(cudaMemcpy(best, &from->point, sizeof *best, cudaMemcpyDeviceToHost));
    }
    sx_gpu_member *after = d->members[1];
    d->members[1] = d->members[0];
    d->members[0] = after;
    return 0;
}

static int measure_points(sx_gpu_device *d, uint64_t seed, uint64_t n, unsigned tries, uint64_t *number,
                          sx_core_score *out, uint8_t *verdict, double *seconds, char *message) {
    cudaEvent_t begin, end;
    uint64_t *numbers_at = (uint64_t *)d->items;
    void *draws[] = {&d->image, &seed, &n, &tries, &d->point, &numbers_at};
    void *scores[] = {&d->head, &d->image, &d->point, &n, &d->score, &d->verdict};
    TRY(launch_kernel(d, d->kernels->legal, n, draws, NULL, message));
    TRY_CUDA(cudaMemcpy(number, numbers_at, n * sizeof *number, cudaMemcpyDeviceToHost));
    TRY_CUDA(cudaMemset(d->score, 0xff, n * sizeof *d->score));
    TRY_CUDA(cudaEventCreate(&begin));
    TRY_CUDA(cudaEventCreate(&end));
    *seconds = INFINITY;
    for (int i = 0; i < 8; i++) {
        TRY_CUDA(cudaEventRecord(begin));
        TRY(launch_kernel(d, d->kernels->score, n, scores, NULL, message));
        *seconds = fmin(*seconds, seconds_between(begin, end));
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    TRY_CUDA(cudaMemcpy(out, d->score, n * sizeof *out, cudaMemcpyDeviceToHost));
    TRY_CUDA(cudaMemcpy(verdict, d->verdict, n, cudaMemcpyDeviceToHost));
    return 0;
}

extern "C" __attribute__((visibility("default"))) const sx_gpu_module *sx_gpu_module_get(void) {
    static const sx_gpu_module module = {SX_GPU_MODULE_VERSION, make_device,           free_device,
                                         score_points,          search_factorisations, draw_points,
                                         prune_points,          evolve_islands,        measure_points};
    return &module;
}
