/* A map space and its cost model as one block of bytes without pointers: what a GPU needs of compact points, or to score nests
 * and to list them all, or both. Plain C that the CUDA compiler takes too; it includes nothing of the library, so that the GPU
 * part builds alone. The block is a head (sx_gpu_image) and tables behind it, at the offsets that the head says. */
#ifndef SX_GPU_IMAGE_H
#define SX_GPU_IMAGE_H

#define SX_CORE_GPU /* states are small: before anything of the core */
#include "core/space.h"

/* Changes with everything below. */
enum { SX_GPU_VERSION = 4 };

enum {
    SX_GPU_LEVELS = 6,
    SX_GPU_TABLE_KEEPS = 512 /* as many sets of kept tensors are listed in a table */
};

/* Entries first to first + n of a table. */
typedef struct sx_gpu_list {
    uint32_t first, n;
} sx_gpu_list;

typedef struct sx_gpu_image {
    char magic[8]; /* "sxgpu" */
    uint32_t version, padding;
    uint64_t size;                    /* bytes of the whole block */
    uint64_t check;                   /* of the bytes behind the head */
    double energy_power, delay_power; /* of the objective */
    uint32_t n_charges;               /* choices of levels, of all tensors together */
    uint32_t most_keeps;              /* sets of tensors that the levels may keep, where all fit */
    uint32_t first_charge[SX_CORE_TENSORS];
    uint64_t factorisations;           /* 0: there are no tables */
    uint64_t weight[SX_CORE_DIMS + 1]; /* factorisations that begin alike up to a dimension */
    uint32_t n_rows[SX_CORE_DIMS], first_row[SX_CORE_DIMS];
    uint64_t first_number[2]; /* first_row, 16 bits each; all ones where the rows are more than 2^16 */
    uint64_t space_at;        /* sx_core_space; 0: there are no compact points */
    uint64_t rows_at;         /* sx_core_cell, n_levels of each row */
    uint64_t lists_at;   /* sx_gpu_list of the orders of level s, spread or not, and a mask of dimensions */
    uint64_t layouts_at; /* sx_gpu_list of the layouts of level s and a mask of dimensions */
    uint64_t loops_at;   /* sx_core_loops that both lists point into */
    sx_core_model core;
    char name[128]; /* of the problem and the architecture */
} sx_gpu_image;

/* An image to read from: its head, which may be a copy near at hand, and its tables. */
typedef struct sx_gpu_view {
    const sx_gpu_image *p;
    const sx_core_cell *rows;
    const sx_gpu_list *lists, *layouts;
    const sx_core_loops *loops;
} sx_gpu_view;

/* The place of a mapping in the space: a factorisation; then layout, order and kept tensors, each a number. */
typedef struct sx_gpu_place {
    uint64_t factorisation;
    uint32_t order;
    uint16_t layout, keep;
} sx_gpu_place;

/* The best of many. */
typedef struct sx_gpu_best {
    double value; /* infinite: none */
    sx_gpu_place at;
} sx_gpu_best;

/* What was looked at. */
typedef struct sx_gpu_counts {
    uint64_t factorisations; /* with a layout that is legal */
    uint64_t orders;         /* of their loops and layouts, each with all that levels can keep */
    uint64_t legal;          /* mappings that were scored */
    uint64_t uncovered;      /* orders that the GPU cannot score */
} sx_gpu_counts;

/* The tables of an image whose head is `p`; `image`: the whole block. */
SX_HD sx_gpu_view sx_gpu_view_of(const sx_gpu_image *p, const void *image) {
    const char *base = (const char *)image;
    sx_gpu_view view;
    view.p = p;
    view.rows = (const sx_core_cell *)(const void *)(base + p->rows_at);
    view.lists = (const sx_gpu_list *)(const void *)(base + p->lists_at);
    view.layouts = (const sx_gpu_list *)(const void *)(base + p->layouts_at);
    view.loops = (const sx_core_loops *)(const void *)(base + p->loops_at);
    return view;
}

/* What an image says of compact points. */
SX_HD const sx_core_space *sx_gpu_space_of(const sx_gpu_image *image) {
    return (const sx_core_space *)(const void *)((const char *)image + image->space_at);
}

/* The random numbers that belong to a seed and two counters. */
SX_HD sx_core_rng sx_gpu_stream(uint64_t seed, uint64_t a, uint64_t b) {
    sx_core_rng rng = {seed};
    rng.state = sx_core_next(&rng) ^ a;
    rng.state = sx_core_next(&rng) ^ b;
    rng.state = sx_core_next(&rng);
    return rng;
}

SX_HD double sx_gpu_power(double x, double exponent) {
    return exponent == 0 ? 1 : exponent == 1 ? x : x * x;
}

/* The value of the objective. */
SX_HD double sx_gpu_value(const sx_gpu_image *p, double energy, double cycles) {
    return sx_gpu_power(energy, p->energy_power) * sx_gpu_power(cycles, p->delay_power);
}

/* Sets the sum over the bytes behind the head, and says whether a block of bytes is an image of this version, of that sum, whose
 * tables lie within it. */
#ifdef __cplusplus
extern "C" {
#endif
void sx_gpu_image_seal(sx_gpu_image *image);
bool sx_gpu_image_is_whole(const sx_gpu_image *image, size_t size);
#ifdef __cplusplus
}
#endif

#endif
