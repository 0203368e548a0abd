/* The cost model of mappings with exact factors as plain numbers: what the core scores by, on a CPU and on a GPU. Plain C that
 * the CUDA compiler takes too; it includes nothing of the library. Counts are doubles that hold integers below 2^53. */
#ifndef SX_CORE_MODEL_H
#define SX_CORE_MODEL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define SX_HD static __host__ __device__ __forceinline__
#define SX_UNROLL _Pragma("unroll")
#else
#define SX_HD static inline
#if !defined SX_CORE_FIXED_LEVELS
#define SX_UNROLL
#elif defined __clang__
#define SX_UNROLL _Pragma("unroll")
#else
#define SX_UNROLL _Pragma("GCC unroll 8")
#endif
#endif

/* A function that is called from several places: inline as all others, but in kernels with operators and repair, which would
 * otherwise be larger than what a GPU remembers of its instructions. */
#if defined __CUDACC__ && defined SX_CORE_GPU_LISTS
#define SX_HD_CALL static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define SX_HD_CALL SX_HD
#endif

/* The core is compiled for some numbers of levels and tensors, and for one tensor or none whose tiles overlap in part: loops
 * are then unrolled, and states are smaller. Without these numbers it is for any, and any tensors may overlap. */
#ifdef SX_CORE_FIXED_LEVELS
#define SX_CORE_N_LEVELS(p) ((void)(p), SX_CORE_FIXED_LEVELS)
#define SX_CORE_N_TENSORS(p) ((void)(p), SX_CORE_FIXED_TENSORS)
#define SX_CORE_LEVELS_AT_MOST SX_CORE_FIXED_LEVELS
#define SX_CORE_TENSORS_AT_MOST SX_CORE_FIXED_TENSORS
#define SX_CORE_HAS_WINDOW(p) ((void)(p), SX_CORE_FIXED_WINDOW)
#define SX_CORE_IS_WINDOW(p, v) (SX_CORE_FIXED_WINDOW && (v) == (p)->window)
#else
#define SX_CORE_N_LEVELS(p) ((int)(p)->n_levels)
#define SX_CORE_N_TENSORS(p) ((int)(p)->n_tensors)
#define SX_CORE_LEVELS_AT_MOST SX_CORE_LEVELS
#define SX_CORE_TENSORS_AT_MOST SX_CORE_TENSORS
#define SX_CORE_HAS_WINDOW(p) ((p)->window >= 0)
#define SX_CORE_IS_WINDOW(p, v) (!(p)->tensor[v].plain)
#endif

enum {
    SX_CORE_LEVELS = 8,
    SX_CORE_DIMS = 8,
    SX_CORE_TENSORS = 4,
    SX_CORE_MIXED = 2,   /* ranks of two dimensions of a tensor */
    SX_CORE_CHOICES = 16 /* sets of tensors that a level may keep */
};

/* A state that lies in a GPU's memory has little room, and lists of children only where SX_CORE_GPU_LISTS is defined. */
#ifdef SX_CORE_GPU
enum {
    SX_CORE_LOOPS = 40,     /* temporal loops of a mapping */
    SX_CORE_KEYS = 8,       /* displacements of neighbours */
    SX_CORE_ANSWERS = 1,    /* lists that are remembered, */
    SX_CORE_KEPT_GROUPS = 1 /* sizes of groups at most */
};
#ifdef SX_CORE_GPU_LISTS
enum {
    SX_CORE_RECORDS = 16, /* kinds of accesses of a level to a tensor */
    SX_CORE_LISTED = 256, /* children of a level that are listed one by one */
    SX_CORE_LISTS = 1
};
#else
enum { SX_CORE_RECORDS = 5, SX_CORE_LISTED = 1, SX_CORE_LISTS = 0 };
#endif
#else
enum {
    SX_CORE_LOOPS = 64,
    SX_CORE_RECORDS = 32,
    SX_CORE_KEYS = 64,
    SX_CORE_LISTED = 4096,
    SX_CORE_ANSWERS = 128,
    SX_CORE_KEPT_GROUPS = 6,
    SX_CORE_LISTS = 1
};
#endif

/* A tensor. Ranks of one dimension that no other rank has are unit (coefficient 1) or stretched. */
typedef struct sx_core_tensor {
    double words, elided; /* elided: words whose first read is free */
    double stretch[SX_CORE_DIMS], coef[SX_CORE_DIMS];
    double reach[SX_CORE_MIXED][2];
    uint32_t dims, solo; /* masks of dimensions; solo: alone in their rank */
    uint8_t output, plain, n_unit, n_stretched, n_mixed;
    uint8_t unit[SX_CORE_DIMS], stretched[SX_CORE_DIMS];
    uint8_t mixed_dim[SX_CORE_MIXED][2];
    int8_t mixed_of[SX_CORE_DIMS]; /* the mixed rank that a dimension moves, by coef; -1: none */
    uint8_t bit
        [SX_CORE_LEVELS]; /* in the number of a choice of levels that keep it: the level's bit, 0: no choice */
    uint8_t fixed;        /* mask of levels that always keep it */
    uint8_t n_free;       /* levels that may keep it */
} sx_core_tensor;

/* A level (model/model.h). */
typedef struct sx_core_level {
    double effective, minimum, bank_words, banks;
    double mesh_x, mesh_y, instances, clusters, fanout_x, fanout_y;
    double room_x, room_y; /* children of one instance, where the space asks for that; else infinite */
    double read_bandwidth, write_bandwidth, shared_bandwidth;
    double read_energy, fill_energy, update_energy, leak_energy, addr_gen_energy, leak_share;
    double scale[SX_CORE_TENSORS], element[SX_CORE_TENSORS], word[SX_CORE_TENSORS];
    double vector[SX_CORE_TENSORS], per_vector[SX_CORE_TENSORS];
    uint8_t gate, limited, bounded, transparent, sized, leaks;
    uint8_t links;     /* mask of tensors whose words children may hand to one another */
    uint8_t must, may; /* masks of tensors: kept always, and kept or not */
} sx_core_level;

/* A level's part of a split of a dimension. */
typedef struct sx_core_cell {
    double extent, spread; /* of the level's tile, and of its children together */
    double temporal, spatial;
} sx_core_cell;

/* Loops, innermost first, four bits each: a dimension. Of spatial loops those on X, then those on Y. */
typedef struct sx_core_loops {
    uint32_t dims;
    uint8_t n, n_x, padding[2];
} sx_core_loops;

typedef struct sx_core_model {
    uint32_t n_levels, n_dims, n_tensors;
    uint32_t all;   /* mask of tensors */
    int32_t window; /* the first tensor whose tiles overlap in part; -1: none */
    uint32_t padding;
    double computes, compute_energy, latency, share; /* share: computes of each compute unit */
    double compute_x, compute_y, compute_instances;
    sx_core_tensor tensor[SX_CORE_TENSORS];
    sx_core_level level[SX_CORE_LEVELS];
} sx_core_model;

/* The loops that are there, and the tensors that each level keeps; row: numbers of the dimensions' splits, where they are
 * in a table. */
typedef struct sx_core_nest {
    uint16_t row[SX_CORE_DIMS];
    sx_core_loops loops[SX_CORE_LEVELS], slots[SX_CORE_LEVELS];
    uint8_t keep[SX_CORE_LEVELS];
} sx_core_nest;

/* What became of a mapping. */
enum { SX_CORE_LEGAL, SX_CORE_ILLEGAL, SX_CORE_NOT_COVERED };

typedef struct sx_core_score {
    double energy, cycles, utilization, accesses;
} sx_core_score;

/* The larger and the smaller of two numbers, neither of which is NaN. */
SX_HD double sx_core_max(double a, double b) {
    return a > b ? a : b;
}
SX_HD double sx_core_min(double a, double b) {
    return a < b ? a : b;
}

/* trunc, ceil and round for numbers from -2^62 to 2^62, ceil and round of negative ones to within 1: a CPU has no instruction for
 * these that every machine knows, and conversions take less time than calls. */
#ifdef __CUDA_ARCH__
SX_HD double sx_core_trunc(double x) {
    return trunc(x);
}
SX_HD double sx_core_ceil(double x) {
    return ceil(x);
}
SX_HD double sx_core_round(double x) {
    return round(x);
}
#else
SX_HD double sx_core_trunc(double x) {
    return (double)(int64_t)x;
}
SX_HD double sx_core_ceil(double x) {
    double whole = sx_core_trunc(x);
    return whole < x ? whole + 1 : whole;
}
SX_HD double sx_core_round(double x) {
    double whole = sx_core_trunc(x);
    return x - whole >= 0.5 ? whole + 1 : whole;
}
#endif

/* Loop i of some loops. */
SX_HD unsigned sx_core_loop(const sx_core_loops *loops, int i) {
    return loops->dims >> 4 * i & 15;
}

#endif
