/* The module's functions on one core of the CPU, by the core's text in the GPU's order of work: the reference that a GPU's bits are
 * compared with, and searches without one. */
#include "gpu/breed.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    CHARGES = SX_CORE_TENSORS * 64 * SX_CORE_CHARGE,
    HOST_STEP = 1 << 12 /* factorisations of a search */
};

struct sx_gpu_device {
    const sx_gpu_image *image;
    sx_gpu_item *items;     /* SX_GPU_MEASURED at most */
    double charge[CHARGES]; /* workspace */
    sx_gpu_member *members; /* of a population, before and after an epoch */
    uint32_t islands;
    struct sx_core_work *work; /* for compact points; NULL: the image has none */
};

static int out_of_memory(char *message) {
    snprintf(message, SX_CUDA_MESSAGE, "out of memory");
    return 1;
}

static int make_device(const sx_gpu_image *image, sx_gpu_device **out, char *message) {
    sx_gpu_device *d = calloc(1, sizeof *d);
    if (!d) return out_of_memory(message);
    d->image = image;
    if (image->space_at && !(d->work = sx_gpu_work_new(image))) {
        free(d);
        return out_of_memory(message);
    }
    *out = d;
    return 0;
}

static void end_device(sx_gpu_device *d) {
    if (!d) return;
    free(d->items);
    free(d->members);
    free(d->work);
    free(d);
}

static int score_nests(sx_gpu_device *d, const sx_core_nest *point, size_t n, sx_core_score *out,
                       uint8_t *verdict, char *message) {
    const sx_core_lane alone = {0, 1, 0, 1, 1};
    sx_gpu_view view = sx_gpu_view_of(d->image, d->image);
    sx_core_scratch own;
    sx_core_state st = {.own = &own};
    double charge[SX_CORE_TENSORS * SX_CORE_CHARGE];
    (void)message;
    for (size_t i = 0; i < n; i++) {
        st.nest = point[i];
        out[i] = (sx_core_score){0};
        verdict[i] = (uint8_t)sx_gpu_score_nest(&view, &st, charge, alone, &out[i]);
    }
    return 0;
}

/* A search for a given number of seconds is one of a given number of steps. */
static int search_factorisations(sx_gpu_device *d, uint64_t *from, uint64_t to, double seconds,
                                 sx_gpu_found *found, sx_gpu_missed *missed, char *message) {
    sx_gpu_view view = sx_gpu_view_of(d->image, d->image);
    sx_core_scratch own;
    sx_core_state st = {.own = &own};
    double *charge = d->charge;
    (void)message;
    if (seconds > 0 && to - *from > HOST_STEP) to = *from + HOST_STEP;
    for (; *from < to; ++*from)
        sx_gpu_look_at(&view, &st, charge, *from, &found->best, &found->counts, missed);
    return 0;
}

static int draw_points(sx_gpu_device *d, uint64_t seed, uint64_t first, uint64_t n, sx_gpu_found *found,
                       char *message) {
    (void)message;
    for (uint64_t i = first; i < first + n; i++) {
        sx_gpu_point point;
        sx_gpu_best drawn = {sx_gpu_draw_value(d->image, d->work, seed, i, &point), {i, 0, 0, 0}};
        if (drawn.value == INFINITY) continue;
        if (sx_gpu_better(&drawn, &found->best)) found->best = drawn;
        found->counts.legal++;
    }
    return 0;
}

static int prune_orders(sx_gpu_device *d, uint64_t seed, uint64_t first, uint64_t n, uint64_t most,
                        uint64_t *listed, sx_gpu_found *found, char *message) {
    const sx_core_lane alone = {0, 1, 0, 1, 1};
    sx_gpu_view view = sx_gpu_view_of(d->image, d->image);
    sx_core_scratch own;
    sx_core_state st = {.own = &own};
    sx_gpu_sweep sweep = {0};
    sx_gpu_missed missed = {0, 0, NULL};
    double *charge = d->charge;
    if (!d->items) d->items = malloc(SX_GPU_MEASURED * sizeof *d->items);
    if (!d->items) return out_of_memory(message);
    *listed = 0;
    for (uint64_t i = first; i < first + n; i++)
        *listed += sx_gpu_draw_item(&view, &st, seed, i, &d->items[*listed]);
    if (*listed > most) return 0;
    for (uint64_t i = 0; i < *listed; i++)
        sx_gpu_look(&view, &st, &sweep, charge, alone, &d->items[i], &found->best, &found->counts, &missed);
    return 0;
}

/* Makes room for a population, before and after an epoch. */
static bool reserve_members(sx_gpu_device *d, uint32_t islands) {
    if (d->islands == islands) return true;
    free(d->members);
    d->members = malloc((size_t)2 * islands * SX_GPU_ISLAND * sizeof *d->members);
    d->islands = d->members ? islands : 0;
    return d->members != NULL;
}

static int evolve_islands(sx_gpu_device *d, const sx_gpu_epoch *e, sx_gpu_found *found, sx_gpu_point *best,
                          char *message) {
    size_t size = (size_t)e->islands * SX_GPU_ISLAND;
    if (!reserve_members(d, e->islands)) return out_of_memory(message);
    sx_gpu_member *before = d->members, *after = d->members + size;
    for (size_t i = 0; i < size; i++) {
        if (e->first == 0) before[i] = (sx_gpu_member){.value = INFINITY};
        after[i] = before[i];
    }
    for (uint32_t k = 0; k < e->islands; k++) {
        sx_gpu_member *island = after + (size_t)k * SX_GPU_ISLAND;
        const sx_gpu_member *other = before + (size_t)((k ? k : e->islands) - 1) * SX_GPU_ISLAND;
        uint32_t worst = sx_gpu_find_member(island, false), best_there = sx_gpu_find_member(other, true);
        if (e->first > 0 && other[best_there].value < island[worst].value) island[worst] = other[best_there];
        for (uint32_t g = 0; g < e->generations; g++)
            found->counts.legal += sx_gpu_breed_island(d->image, d->work, e, e->first + g, k, island);
        for (uint32_t i = 0; i < SX_GPU_ISLAND; i++) {
            sx_gpu_best one = {island[i].value, {(uint64_t)k * SX_GPU_ISLAND + i, 0, 0, 0}};
            if (!(one.value < found->best.value)) continue;
            found->best = one;
            *best = island[i].point;
        }
    }
    for (size_t i = 0; i < size; i++) before[i] = after[i];
    return 0;
}

const sx_gpu_module *sx_gpu_emulation(void) {
    static const sx_gpu_module module = {SX_GPU_MODULE_VERSION, make_device,           end_device,
                                         score_nests,           search_factorisations, draw_points,
                                         prune_orders,          evolve_islands,        NULL};
    return &module;
}
