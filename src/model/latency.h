/* The tile pipeline: a latency beside Timeloop's cycles (docs/latency.md).
 *
 * A boundary is a level with a law: its temporal loops launch tiles, which are loaded, computed and stored. Boundaries
 * nest: the latency of an inner one is the compute time of a tile of the next outer one. Other levels count with
 * Timeloop's cycles, unless they are inside an array. */
#ifndef SX_MODEL_LATENCY_H
#define SX_MODEL_LATENCY_H

#include "base/extreme.h"
#include "model/model.h"

/* Lines of a tile in memory, and those that the sets of each cache must hold for them. */
typedef struct sx_lines {
    double n, crowded[SX_MAX_CACHES];
} sx_lines;

/* A tensor as it lies in memory: its ranks, outermost first, each a sum of dimensions. */
typedef struct sx_stored {
    double bytes; /* of an element */
    bool output;
    uint16_t dims; /* that index it */
    uint8_t n_ranks;
    uint16_t first[SX_MAX_RANKS + 1]; /* term of each rank */
    double whole[SX_MAX_RANKS];       /* the extents of the whole tensor */
    uint16_t rank_dims[SX_MAX_RANKS]; /* that index each rank */
    /* Where a rank is the innermost that a tile has not whole: what the lines from one of its runs to the next and the sets of
     * each cache have as greatest common divisor, or 0 where these are not whole lines. */
    double spread[SX_MAX_RANKS][SX_MAX_CACHES];
    sx_lines whole_lines;
    struct sx_stored_term {
        uint32_t coef;
        uint8_t dim;
    } * term;
} sx_stored;

/* A cache behind the port of a level that launches tiles. */
typedef struct sx_boundary_cache {
    double bytes, miss;
    double lost; /* share of the layer's lines that is lost in the end, where the boundary is the outermost */
    uint64_t sets;
} sx_boundary_cache;

/* A level that launches tiles. */
typedef struct sx_boundary {
    const sx_law *law;
    uint8_t level, outer; /* loops of level to outer - 1 launch its tiles */
    uint16_t ports;       /* mask of levels from which its tiles are loaded */
    uint16_t reduction;   /* dimensions that do not index the output */
    uint16_t stationary;  /* dimensions of the operand that stays in the array */
    int8_t stream;        /* dimension along which instructions run; -1: of one step */
    bool array;
    uint32_t block[SX_MAX_DIMS]; /* places of the array along a dimension, else 1 */
    double load_bus;             /* bytes per cycle */
    double store_time;           /* cycles per request, or per byte where there are none */
    uint8_t n_caches;            /* of the law, those that do not hold the whole layer */
    sx_boundary_cache cache[SX_MAX_CACHES];
    sx_stored *stored; /* per tensor */
} sx_boundary;

typedef struct sx_latency_model {
    uint8_t n;      /* boundaries, innermost first */
    bool counted;   /* words or cycles as Timeloop counts them are needed */
    uint16_t timed; /* levels that count with Timeloop's cycles */
    sx_boundary boundary[SX_MAX_LAWS];
} sx_latency_model;

/* Refuses the tile pipeline on an architecture (or NULL) without keys of latency, and an objective (or NULL) with latency
 * where it is not that of the tile pipeline. */
SX_MUST_USE sx_status sx_latency_check(bool tile, const sx_arch *arch, const sx_objective *objective);

/* Compiles the laws of a model's architecture; *out is NULL where there are none. Freed with free(). */
SX_MUST_USE sx_status sx_latency_compile(const sx_model *model, SX_OWN sx_latency_model **out);

/* Whether the latency of mappings depends on the order of loops beyond what Timeloop's words do: caches do. */
bool sx_latency_sees_orders(const sx_model *model);

/* The tiles in flight that share a level with the tile pipeline; 1 where it holds one alone or their number has no limit. */
double sx_latency_slots(const sx_arch *arch, int level);

/* The cycles of moving some elements of a tensor once between the outermost level and the next one, which take `cycles` by
 * bandwidth: those of a launch that computes nothing, without misses of caches. */
double sx_latency_of_move(const sx_model *model, int tensor, double elements, bool inward, double cycles);

/* No mapping is faster whose outermost level keeps at least the tensors of a mask; of a model with a law. */
double sx_latency_minimum(const sx_model *model, unsigned kept);

/* The latency of a legal mapping: the law's, or `cycles` (of the levels in `timed`, infinite rates aside) where that is
 * more. words are NULL for exact factors, unless `counted`; steps are the compute cycles. The parts go to `out` unless that is
 * NULL. */
double sx_latency_of(const sx_model *model, const sx_mapping *mapping, const sx_latency_words *words,
                     double steps, double cycles, sx_cost *out);

/* The latency of a mapping of exact factors whose law needs no words; `cycles` where there is no law. */
static inline double sx_latency_score(const sx_model *model, const sx_mapping *mapping, double cycles) {
    if (!model->law) return cycles;
    double steps = 1;
    if (!model->law->boundary[0].array)
        for (int s = 0; s < model->n_levels; s++)
            for (int d = 0; d < model->n_dims; d++) steps *= mapping->level[s].temporal[d];
    return sx_latency_of(model, mapping, NULL, steps, 0, NULL);
}

/* No mapping whose outermost boundary launches tiles of these extents, which divide the sizes, is faster; its level
 * keeps at least the tensors of a mask. larger: nor one of any extents that are no smaller and are launched as often. */
double sx_latency_least(const sx_model *model, const uint32_t *tile, unsigned kept, bool larger);

/* Sets the caches of a boundary whose tensors and outer level are set. */
void sx_latency_compile_caches(const sx_model *model, sx_boundary *boundary);

/* The lines of each tensor of a mask that miss each cache while a boundary's loops run once, for a tile of these extents, whose
 * tensors' ranks have those of `rank`. */
void sx_latency_misses(const sx_model *model, const sx_boundary *boundary, const sx_mapping *mapping,
                       unsigned kept, const uint32_t *tile, const double (*rank)[SX_MAX_RANKS],
                       double (*missed)[SX_MAX_TENSORS]);

/* The least value, over all orders of the outermost level's loops, of a function that does not fall with the cycles that all
 * loads and all stores wait for lines missed of the tensors of a mask; tiles divide the sizes. Where there are too many loops
 * nothing is missed. */
typedef double sx_latency_after(const void *user, double load, double store);
double sx_latency_least_misses(const sx_model *model, const sx_boundary *boundary, const uint32_t *tile,
                               unsigned kept, sx_latency_after *after, const void *user);

/* A number below 2^63 rounded up: without a call, since every evaluation has some. */
static inline double sx_rounded_up(double x) {
    const double whole = (double)(int64_t)x;
    return whole < x ? whole + 1 : whole;
}

/* The extent of a rank of a tensor. */
static inline double sx_stored_extent(const sx_stored *stored, int rank, const uint32_t *extent) {
    uint64_t places = 1;
    for (int i = stored->first[rank]; i < stored->first[rank + 1]; i++)
        places += (uint64_t)stored->term[i].coef * (extent[stored->term[i].dim] - 1u);
    return (double)(int64_t)places;
}

#endif
