/* A map space and its cost model as one block of bytes without pointers: what a GPU needs to score mappings and to list
 * them all. Plain C that the CUDA compiler takes too; it includes nothing of the library, so that the GPU part builds
 * alone. The block is a head (sx_gpu_image) and tables behind it, at the offsets that the head says. */
#ifndef SX_SCALE_CUDA_IMAGE_H
#define SX_SCALE_CUDA_IMAGE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define SX_HD static __host__ __device__ __forceinline__
#define SX_UNROLL _Pragma("unroll")
#else
#define SX_HD static inline
#define SX_UNROLL
#endif

/* Kernels are compiled for some numbers of levels and tensors, and for one tensor or none whose tiles overlap in part: loops
 * are then unrolled, and states are smaller. */
#ifdef SX_GPU_FIXED_LEVELS
#define SX_GPU_N_LEVELS(p) SX_GPU_FIXED_LEVELS
#define SX_GPU_N_TENSORS(p) SX_GPU_FIXED_TENSORS
#define SX_GPU_LEVELS_AT_MOST SX_GPU_FIXED_LEVELS
#define SX_GPU_TENSORS_AT_MOST SX_GPU_FIXED_TENSORS
#define SX_GPU_WINDOW(p) SX_GPU_FIXED_WINDOW
#define SX_GPU_RECORD_LEVELS (SX_GPU_FIXED_WINDOW < 0 ? 1 : SX_GPU_FIXED_LEVELS)
#else
#define SX_GPU_N_LEVELS(p) ((int)(p)->n_levels)
#define SX_GPU_N_TENSORS(p) ((int)(p)->n_tensors)
#define SX_GPU_LEVELS_AT_MOST SX_GPU_LEVELS
#define SX_GPU_TENSORS_AT_MOST SX_GPU_TENSORS
#define SX_GPU_WINDOW(p) ((p)->window)
#define SX_GPU_RECORD_LEVELS SX_GPU_LEVELS
#endif

/* Changes with everything below. */
enum { SX_GPU_VERSION = 1 };

enum {
    SX_GPU_LEVELS = 6,
    SX_GPU_DIMS = 8,
    SX_GPU_TENSORS = 4,
    SX_GPU_MIXED = 2,        /* ranks of two dimensions of a tensor */
    SX_GPU_LOOPS = 40,       /* temporal loops of a mapping */
    SX_GPU_RECORDS = 5,      /* kinds of accesses of a level to the tensor whose tiles overlap in part */
    SX_GPU_KEYS = 8,         /* displacements of its neighbours */
    SX_GPU_CHOICES = 16,     /* sets of tensors that a level may keep */
    SX_GPU_TABLE_KEEPS = 512 /* as many are listed in a table */
};

/* A tensor (model/frame/state.h). */
typedef struct sx_gpu_tensor {
    double words, elided;
    double stretch[SX_GPU_DIMS], coef[SX_GPU_DIMS];
    double reach[SX_GPU_MIXED][2];
    uint32_t dims, solo; /* masks of dimensions */
    uint8_t output, plain, n_unit, n_stretched, n_mixed;
    uint8_t unit[SX_GPU_DIMS], stretched[SX_GPU_DIMS];
    uint8_t mixed_dim[SX_GPU_MIXED][2];
    int8_t mixed_of[SX_GPU_DIMS];
    uint8_t bit
        [SX_GPU_LEVELS]; /* in the number of a choice of levels that keep it: the level's bit, 0: no choice */
    uint8_t fixed;       /* mask of levels that always keep it */
    uint8_t n_free;      /* levels that may keep it */
} sx_gpu_tensor;

/* A level (model/model.h). */
typedef struct sx_gpu_level {
    double effective, minimum, bank_words, banks;
    double mesh_x, mesh_y, instances, clusters, fanout_x;
    double room_x, room_y; /* children of one instance, where the space asks for that; else infinite */
    double read_bandwidth, write_bandwidth, shared_bandwidth;
    double read_energy, fill_energy, update_energy, leak_energy, addr_gen_energy, leak_share;
    double scale[SX_GPU_TENSORS], element[SX_GPU_TENSORS], word[SX_GPU_TENSORS];
    double vector[SX_GPU_TENSORS], per_vector[SX_GPU_TENSORS];
    uint8_t gate, limited, bounded, transparent, sized, leaks;
    uint8_t links;     /* mask of tensors whose words children may hand to one another */
    uint8_t must, may; /* masks of tensors: kept always, and kept or not */
} sx_gpu_level;

/* A level's part of a split of a dimension. */
typedef struct sx_gpu_cell {
    double extent, spread; /* of the level's tile, and of its children together */
    double temporal, spatial;
} sx_gpu_cell;

/* Entries first to first + n of a table. */
typedef struct sx_gpu_list {
    uint32_t first, n;
} sx_gpu_list;

/* Loops, innermost first, four bits each: a dimension. Of spatial loops those on X, then those on Y. */
typedef struct sx_gpu_loops {
    uint32_t dims;
    uint8_t n, n_x, padding[2];
} sx_gpu_loops;

typedef struct sx_gpu_image {
    char magic[8]; /* "sxgpu" */
    uint32_t version, n_levels, n_dims, n_tensors;
    uint64_t size;  /* bytes of the whole block */
    uint64_t check; /* of the bytes behind the head */
    double computes, compute_energy, latency, share;
    double compute_x, compute_y, compute_instances;
    double energy_power, delay_power; /* of the objective */
    uint32_t bounded;                 /* mask of levels */
    uint32_t all;                     /* mask of tensors */
    int32_t window;                   /* the tensor whose tiles overlap in part; -1: none */
    uint32_t n_charges;               /* choices of levels, of all tensors together */
    uint32_t most_keeps;              /* sets of tensors that the levels may keep, where all fit */
    uint32_t padding;
    uint32_t first_charge[SX_GPU_TENSORS];
    uint64_t factorisations;
    uint64_t weight[SX_GPU_DIMS + 1]; /* factorisations that begin alike up to a dimension */
    uint32_t n_rows[SX_GPU_DIMS], first_row[SX_GPU_DIMS];
    uint64_t rows_at;    /* sx_gpu_cell, n_levels of each row */
    uint64_t lists_at;   /* sx_gpu_list of the orders of level s, spread or not, and a mask of dimensions */
    uint64_t layouts_at; /* sx_gpu_list of the layouts of level s and a mask of dimensions */
    uint64_t loops_at;   /* sx_gpu_loops that both lists point into */
    sx_gpu_tensor tensor[SX_GPU_TENSORS];
    sx_gpu_level level[SX_GPU_LEVELS];
    char name[128]; /* of the problem and the architecture */
} sx_gpu_image;

/* An image to read from: its head, which may be a copy near at hand, and its tables. */
typedef struct sx_gpu_view {
    const sx_gpu_image *p;
    const sx_gpu_cell *rows;
    const sx_gpu_list *lists, *layouts;
    const sx_gpu_loops *loops;
} sx_gpu_view;

/* A mapping: a split for each dimension, loops that are there, and the tensors that each level keeps. */
typedef struct sx_gpu_point {
    uint16_t row[SX_GPU_DIMS];
    sx_gpu_loops loops[SX_GPU_LEVELS], slots[SX_GPU_LEVELS];
    uint8_t keep[SX_GPU_LEVELS], padding[2];
} sx_gpu_point;

/* What became of a point. */
enum { SX_GPU_LEGAL, SX_GPU_ILLEGAL, SX_GPU_NOT_COVERED };

typedef struct sx_gpu_score {
    double energy, cycles, utilization, accesses;
} sx_gpu_score;

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
    view.rows = (const sx_gpu_cell *)(const void *)(base + p->rows_at);
    view.lists = (const sx_gpu_list *)(const void *)(base + p->lists_at);
    view.layouts = (const sx_gpu_list *)(const void *)(base + p->layouts_at);
    view.loops = (const sx_gpu_loops *)(const void *)(base + p->loops_at);
    return view;
}

/* Loop i of some loops. */
SX_HD unsigned sx_gpu_loop(const sx_gpu_loops *loops, int i) {
    return loops->dims >> 4 * i & 15;
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
