/* The inside of the cost model, shared by its files.
 *
 * An evaluation goes through four steps, each a file: nest.c lays out the loops and decides legality;
 * access_stats.c (exact factors) or walk.c (remainders) counts, per level and tensor, the words that each
 * level hands to its children; collapse.c turns these into reads, fills and updates, with bypass, peers and
 * first-read elision; energy.c adds up energies and cycles. */
#ifndef SX_MODEL_MODEL_H
#define SX_MODEL_MODEL_H

#include "base/guard.h"
#include "model/latency_words.h"
#include "sextant/model.h"

#include <stdlib.h>

/* A loop at least doubles its dimension's reach, which stays below twice the dimension's size: with 16
 * dimensions and all sizes together below 2^62 that makes fewer than 80 loops. */
enum { MAX_LOOPS = 80 };

/* One tensor, compiled: the dimensions each rank is made of. */
typedef struct sx_shape {
    uint16_t dims; /* mask of the dimensions that index it */
    uint16_t solo; /* those that are alone in their rank, and in no other rank */
    bool output;
    bool plain;  /* all dimensions are solo: tiles never overlap in part */
    bool unit;   /* plain, and every coefficient is 1 */
    bool simple; /* no dimension is in two ranks */
    bool narrow; /* no rank has more than two dimensions: their coefficients' magnitudes are in `pair` */
    struct sx_rank_pair {
        uint64_t reach[2];
        uint8_t dim[2];
    } pair[SX_MAX_RANKS];
    uint8_t n_ranks, n_mixed;
    uint8_t mixed[SX_MAX_RANKS]; /* the ranks that are not of one solo dimension */
    uint16_t n_terms;
    uint16_t first_term[SX_MAX_RANKS + 1];
    uint16_t first_of_dim[SX_MAX_DIMS + 1];
    struct sx_term {
        uint8_t rank, dim;
        int32_t coef;
    } * term, *of_dim; /* by rank, and the same by dimension */
} sx_shape;

/* One level, compiled. */
typedef struct sx_level {
    double effective;  /* words a tile may take; infinite without a limit */
    double minimum;    /* words it must take */
    double bank_words; /* 0: not banked */
    double banks;
    uint64_t mesh_x, mesh_y, instances, clusters;
    uint64_t fanout_x, fanout_y;
    double read_bandwidth, write_bandwidth, shared_bandwidth;
    double read_energy, fill_energy, update_energy, leak_energy, addr_gen_energy;
    double energy_per_hop, router_energy;
    double leak_share; /* instances per instance of the gating level, where that is above 1; else 0 */
    uint8_t gate;
    bool limited; /* in capacity */
    bool bounded; /* in bandwidth */
    bool reduces, transparent, net_energy;
    bool sized;                                           /* elements of some tensor are not of one word */
    double scale[SX_MAX_TENSORS];                         /* words of bandwidth that an element counts as */
    double element[SX_MAX_TENSORS], word[SX_MAX_TENSORS]; /* an element takes element / word words */
    double vector[SX_MAX_TENSORS];                        /* a vector access moves vector / element of them */
    double per_vector[SX_MAX_TENSORS];                    /* element / vector where that is exact, else 0 */
    const struct sx_density
        *packed[SX_MAX_TENSORS]; /* of tensors with a format, which take less room; else NULL */
    bool packs;                  /* some are */
} sx_level;

/* The words of a level that an element of a tensor takes. */
static inline double sx_level_width(const sx_level *level, int tensor) {
    return level->element[tensor] / level->word[tensor];
}

/* The elements of a tensor that a vector access moves. */
static inline double sx_level_block(const sx_level *level, int tensor) {
    return level->vector[tensor] / level->element[tensor];
}

/* The same in whole elements, at least one. */
static inline uint32_t sx_level_whole_block(const sx_level *level, int tensor) {
    double block = sx_level_block(level, tensor);
    return block < 1 ? 1 : (uint32_t)block;
}

/* The vector accesses that move a given number of elements, in parts. */
static inline double sx_level_vectors(const sx_level *level, int tensor, double elements) {
    if (level->per_vector[tensor] > 0) return elements * level->per_vector[tensor];
    return elements * level->element[tensor] / level->vector[tensor];
}

/* One allocation, with what is behind the pointers after it: as much as problem and architecture have. */
struct sx_model {
    sx_problem *problem;
    sx_arch *arch;
    sx_shape *shape; /* per tensor */
    sx_level *level; /* per level */
    sx_model_options options;
    uint8_t n_levels, n_dims, n_tensors;
    uint32_t size[SX_MAX_DIMS];
    uint32_t ones[SX_MAX_DIMS];     /* 1 for each dimension */
    uint64_t words[SX_MAX_TENSORS]; /* of the whole tensor */
    bool net_energy;                /* some network costs energy */
    uint64_t computes, latency;
    uint64_t compute_x, compute_y, compute_instances;
    double compute_energy;
    struct sx_sparse_model *sparse; /* NULL: zeros change nothing */
    /* What zeros leave at the least, for bounds; 1 without sparse tensors. */
    double least[SX_MAX_LEVELS][SX_MAX_TENSORS];     /* of accesses to a tensor at a level */
    double least_use[SX_MAX_LEVELS][SX_MAX_TENSORS]; /* of the words through a level's ports */
    double least_steps;                              /* of compute cycles */
    double least_compute_energy;                     /* of a compute's energy, pJ */
    double least_leak;                               /* of the energy that leaks per cycle */
    struct sx_range_model *range;                    /* of several densities; NULL: of one */
    struct sx_formats_model *formats;                /* of several sets of formats; NULL: of one */
    struct sx_latency_model *law;                    /* the tile pipeline; NULL: latency is cycles */
    sx_guard *guard;                                 /* of the model that this one is part of, or its own */
    sx_guard own_guard;
};

typedef struct sx_loop {
    uint32_t step; /* of the dimension, per iteration */
    uint32_t n;    /* iterations */
    uint32_t last; /* iterations where all outer loops of the dimension are at their last */
    uint8_t dim, level;
} sx_loop;

/* The loops of a mapping without those of one iteration, innermost first. */
typedef struct sx_nest {
    bool perfect;
    uint8_t n_temporal, n_spatial;
    uint8_t temporal_of[SX_MAX_LEVELS + 1]; /* first temporal loop at that level or above */
    uint8_t spatial_of[SX_MAX_LEVELS + 1];
    uint8_t n_x[SX_MAX_LEVELS];                            /* how many of a level's spatial loops lie on X */
    uint64_t slot_x[SX_MAX_LEVELS], slot_y[SX_MAX_LEVELS]; /* children a level's spatial loops spread over */
    uint64_t expand_x[SX_MAX_LEVELS], expand_y[SX_MAX_LEVELS]; /* instances of the level in use */
    uint64_t used_x, used_y;                                   /* compute units in use */
    uint64_t cycles;                                           /* temporal steps of the first compute unit */
    uint64_t tile[SX_MAX_TENSORS][SX_MAX_LEVELS];              /* words of the tile at a level */
    uint64_t above[SX_MAX_LEVELS + 1];                         /* instances of the level in use */
    uint32_t extent[SX_MAX_LEVELS][SX_MAX_DIMS];               /* of the tile at a level */
    uint64_t suffix[MAX_LOOPS + 1];            /* product of n of the temporal loops from this one outward */
    sx_loop temporal[MAX_LOOPS + SX_MAX_DIMS]; /* with room for a level that turns out to be impossible */
    sx_loop spatial[MAX_LOOPS + SX_MAX_DIMS];
} sx_nest;

/* Where an instance stands in a spatial loop reached with all outer loops of its dimension at their last
 * iteration: before the last one in use, at it, or beyond it and idle. */
enum { SX_EARLY, SX_ON, SX_IDLE };

/* Words that one access serves to m children at once, `scatter` such groups at a time. */
typedef struct sx_access_entry {
    uint64_t m, scatter;
    double accesses, hops;
} sx_access_entry;

/* What one level hands to its children of one tensor: per instance for exact factors, over all instances for
 * remainders. Its records stand in the workspace's pool, sorted by (m, scatter). */
typedef struct sx_access_stats {
    uint32_t first, n_records;
    uint64_t fanout;
    double links;
} sx_access_stats;

/* A growing pool of records. */
typedef struct sx_access_entries {
    sx_access_entry *data;
    size_t n, room;
} sx_access_entries;

typedef struct sx_walker sx_walker;
typedef struct sx_window_dp sx_window_dp;
typedef struct sx_fanout_scratch sx_fanout_scratch;
struct sx_core_scorer;

/* Distinct blocks of iterations that a walk tells apart. */
enum { SX_MAX_BLOCKS = 1 << 24 };

struct sx_model_workspace {
    const sx_model *model;
    sx_nest nest;
    sx_access_stats flow[SX_MAX_LEVELS]; /* of the current tensor */
    double partition[SX_MAX_LEVELS];     /* of the current tensor, when walked: words ever held, over all
                                        instances */
    sx_access_entries records;
    sx_fanout_scratch *slot;
    struct sx_core_scorer *core; /* NULL: not covered */
    sx_walker *walker;
    sx_window_dp *window;            /* of remainders under sliding windows; NULL before the first */
    bool walks;                      /* walk windows with remainders, as a reference for the fast path */
    uint32_t max_blocks;             /* of a walk: SX_LIMIT_BLOCKS */
    bool opened;                     /* the core has counted the mapping */
    bool exact;                      /* walk every mapping, also those with exact factors */
    bool failed;                     /* memory ran out, or the limit below is exceeded */
    sx_verdict limit;                /* SX_LEGAL: none is */
    bool overflow;                   /* a count exceeded 2^62 */
    sx_latency_words words;          /* at the levels that launch tiles */
    struct sx_sparse_state *sparse;  /* NULL: dense */
    sx_model_workspace **at_density; /* one for each density of a range; else NULL */
    sx_model_workspace **at_formats; /* one for each set of formats that is searched; else NULL */
};

/* Counts of one tensor at one level, in the unit of sx_access_stats. */
typedef struct sx_counts {
    uint64_t tile;
    double partition, reads, fills, updates, reductions;
} sx_counts;

/* Ends an evaluation at a limit of the model. */
static inline void sx_model_workspace_limit(sx_model_workspace *workspace, sx_reason reason, int level,
                                            int tensor, double have, double limit) {
    workspace->failed = true;
    workspace->limit = (sx_verdict){reason, (int8_t)level, (int8_t)tensor, -1, have, limit};
}

/* Lays out the loops of a mapping and says whether it is legal. */
sx_verdict sx_nest_build(const sx_model *model, const sx_mapping *mapping, sx_nest *nest);

/* Gives a model, and those that it consists of, the guard of another one, which must outlive it. */
void sx_model_share_guard(sx_model *model, sx_guard *guard);

/* As sx_check, of a mapping that has the model's shape and whose orders are permutations. */
sx_verdict sx_check_tiles(const sx_model *model, const sx_mapping *mapping);

/* The words of a box of the given extents. */
static inline uint64_t sx_shape_words(const sx_shape *shape, const uint32_t *extent) {
    uint64_t words = 1;
    if (shape->unit) {
        for (int i = 0; i < shape->n_terms; i++) words *= extent[shape->term[i].dim];
        return words;
    }
    if (shape->narrow) {
        for (int r = 0; r < shape->n_ranks; r++) {
            const struct sx_rank_pair *p = &shape->pair[r];
            words *= 1 + p->reach[0] * (extent[p->dim[0]] - 1u) + p->reach[1] * (extent[p->dim[1]] - 1u);
        }
        return words;
    }
    for (int r = 0; r < shape->n_ranks; r++) {
        uint64_t rank = 1;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++)
            rank += (uint64_t)abs(shape->term[i].coef) * (extent[shape->term[i].dim] - 1u);
        words *= rank;
    }
    return words;
}

/* The words of a tensor that the computation touches, at least. */
double sx_model_touched(const sx_model *model, int tensor);

/* The visits at which a plain tensor's tile moves, the first among them: those at which a loop that indexes
 * the tensor advances, or one outside it. */
static inline uint64_t sx_plain_visits(const sx_shape *shape, const sx_nest *nest, int level) {
    int j = nest->temporal_of[level];
    while (j < nest->n_temporal && !(shape->dims >> nest->temporal[j].dim & 1)) j++;
    return nest->suffix[j];
}

/* No fewer words than the children of all instances of a level fetch of a tensor, with exact factors. */
static inline double sx_access_stats_most(const sx_model_workspace *workspace, int tensor, int level,
                                          bool always) {
    const sx_nest *nest = &workspace->nest;
    const sx_shape *shape = &workspace->model->shape[tensor];
    uint64_t visits = nest->suffix[nest->temporal_of[level]];
    if (shape->plain && !always) visits = sx_plain_visits(shape, nest, level);
    double words = level > 0 ? (double)nest->tile[tensor][level - 1] : 1;
    double children = (double)(nest->slot_x[level] * nest->slot_y[level]) * (double)nest->above[level];
    return words * (double)visits * children;
}

/* Fills workspace->flow for a tensor of a nest with exact factors, as Timeloop counts. `hops` asks for hop
 * counts even where they cost no energy. */
void sx_access_stats_count(sx_model_workspace *workspace, const sx_mapping *mapping, int tensor, bool hops);

/* The same by compressed execution of every iteration, with or without remainders. Counts are over all
 * instances. */
void sx_walk_count(sx_model_workspace *workspace, const sx_mapping *mapping, int tensor, bool hops);

/* Makes room in the pool for at least `more` records; false when memory is out. */
bool sx_access_entries_reserve(sx_model_workspace *workspace, size_t more);

/* Starts an empty flow at the end of the pool. */
static inline void sx_access_stats_begin(sx_model_workspace *workspace, sx_access_stats *flow) {
    flow->first = (uint32_t)workspace->records.n;
    flow->n_records = 0;
    flow->fanout = 1;
    flow->links = 0;
}

/* Adds to the flow begun last, merging equal (m, scatter). */
void sx_access_stats_merge(sx_model_workspace *workspace, sx_access_stats *flow, sx_access_entry record);

/* The same, at once where it is the first. */
static inline void sx_access_stats_add(sx_model_workspace *workspace, sx_access_stats *flow,
                                       sx_access_entry record) {
    if (flow->n_records == 0 && workspace->records.n < workspace->records.room) {
        workspace->records.data[workspace->records.n++] = record;
        flow->n_records = 1;
    } else {
        sx_access_stats_merge(workspace, flow, record);
    }
}

/* What is known of one tensor at one level on the way to its counts. */
typedef struct sx_level_traffic {
    uint64_t tile;    /* 0 once the level is bypassed */
    double partition; /* words ever held */
    double demand;    /* words handed to children */
    double supply;    /* words got from the parent */
    double peers;     /* words exchanged with neighbours */
} sx_level_traffic;

/* Whether the first read and the first fill of a tensor's words at a level are free, if it is an output. */
bool sx_collapse_elides(const sx_model *model, const sx_mapping *mapping, int level, int tensor);

/* The counts of a level; `elide`: the first read and the first fill of each output word are free. */
sx_counts sx_collapse_count(const sx_level_traffic *at, bool output, bool outermost, bool elide);

/* Turns the flows of a tensor into counts per level. Changes the flows' accesses where levels are bypassed.
 * Partitions of inputs are only set where asked for. */
void sx_collapse(sx_model_workspace *workspace, const sx_mapping *mapping, int tensor, bool partitions,
                 sx_counts *counts);

/* Counts a tensor of a mapping that leaves remainders by the fast path, over all instances; false if it does not apply. Sets no
 * partitions and no flows. */
bool sx_fast_count_imperfect(sx_model_workspace *workspace, const sx_mapping *mapping, int tensor,
                             sx_counts *counts);

/* sx_evaluate_batch for mappings that lie `stride` bytes apart. */
void sx_evaluate_span(sx_model_workspace *workspace, const char *mappings, size_t stride, size_t n,
                      sx_score *scores, sx_verdict *verdicts);

void sx_window_free(SX_TAKE sx_window_dp *window);
void sx_walker_free(SX_TAKE sx_walker *walker);
SX_OWN sx_fanout_scratch *sx_fanout_scratch_new(void);
void sx_fanout_scratch_free(SX_TAKE sx_fanout_scratch *scratch);

#endif
