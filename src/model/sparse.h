/* What zeros save (docs/sparse.md): a pass over the dense counts of a mapping. It has two parts. What depends
 * on the mapping alone comes first: which loops make the ranks of each format, whether formats and metadata
 * fit, how many non-zeros tiles hold, and how likely accesses are ineffectual. Then dense counts become random,
 * gated and skipped ones. Both parts follow one of two semantics: the exact one, or Timeloop's. */
#ifndef SX_MODEL_SPARSE_H
#define SX_MODEL_SPARSE_H

#include "model/density.h"
#include "model/model.h"

/* One rank of a format, for one problem. */
typedef struct sx_rank_model {
    uint8_t kind, n_flattened;
    uint16_t flattened[SX_MAX_FLATTENED]; /* masks of dimensions */
    uint32_t bits[2];                     /* of a metadata and a payload word */
} sx_rank_model;

/* The format of a tensor at a level. */
typedef struct sx_format_model {
    uint8_t n_ranks;
    bool compressed, inner_to_outer;
    bool whole;     /* loops are given to ranks from the outermost on, and the first takes all there are */
    uint16_t first; /* of its ranks in sx_sparse */
    sx_rank_model rank[SX_MAX_FORMAT_RANKS];
} sx_format_model;

/* An action, for one problem. */
typedef struct sx_action_model {
    uint8_t level, n_options;
    bool skips;
    struct {
        uint8_t target, on; /* on: a mask of tensors */
    } option[SX_MAX_ACTION_OPTIONS];
} sx_action_model;

/* What of an architecture's sparse optimizations concerns a problem. */
struct sx_sparse_model {
    bool timeloop, formatted;
    bool gates, skips; /* computes */
    bool any_placed;
    uint8_t n_actions;
    sx_density density[SX_MAX_TENSORS];
    sx_placement *placed[SX_MAX_TENSORS]; /* of tensors whose non-zeros have known places; else NULL */
    const sx_format_model *format[SX_MAX_LEVELS][SX_MAX_TENSORS]; /* NULL: none */
    uint16_t dims[SX_MAX_TENSORS];        /* that a tensor depends on, those of one iteration among them */
    double metadata_limit[SX_MAX_LEVELS]; /* bits */
    sx_action_model action[SX_MAX_ACTIONS];
    sx_format_model formats[SX_MAX_FORMATS];
};

/* A loop of the complete nest, in which loops of one iteration stand, too. */
typedef struct sx_full_loop {
    uint32_t n;
    uint8_t dim;
    bool spatial;
} sx_full_loop;

/* A tensor's tile at a level. */
typedef struct sx_sparse_tile {
    const sx_format_model *format; /* NULL: none */
    int8_t parent, child;          /* the next levels that keep the tensor; -1: none */
    uint8_t n_ranks;
    bool acts, skips;                        /* an action is at work */
    uint64_t words;                          /* dense; 0: not kept */
    uint64_t number;                         /* as sx_density_empty takes it */
    uint64_t fiber[SX_MAX_FORMAT_RANKS];     /* coordinates of a rank's fibers */
    uint64_t sub[SX_MAX_FORMAT_RANKS + 1];   /* tile below a coordinate of the rank, as sx_density_empty takes
                                                it: its words, or its size's number; the last: the tile */
    double instances, occupancy, density;    /* on average */
    double empty[SX_MAX_FORMAT_RANKS + 1];   /* exact: probability that a tile of `sub` is */
    double metadata[SX_MAX_FORMAT_RANKS][2]; /* expected words of metadata and payload */
    double bits;                             /* expected, of metadata */
    bool possible;                           /* some occupancy is */
    double ineffectual;       /* Timeloop's: probability that an access is, where an action is at work */
    double exists, effectual; /* exact: what remains of accesses before and after the level's own action */
} sx_sparse_tile;

/* What became of a tensor's accesses at a level, in the unit of the counts. */
typedef struct sx_sparse_counts {
    double actions[SX_N_ACTION_KINDS][SX_N_ACCESSES];
    double metadata[SX_N_ACTION_KINDS][SX_N_ACCESSES][SX_MAX_FORMAT_RANKS]
                   [2];                            /* exact: where details are wanted */
    double bits[SX_N_ACTION_KINDS][SX_N_ACCESSES]; /* of all ranks' metadata */
    double reductions, decompressions, compressions;
} sx_sparse_counts;

/* The workspace of a pass. */
typedef struct sx_sparse_state {
    const sx_model *model;
    const sx_nest *nest;
    sx_density_cache *cache;
    bool failed;  /* memory ran out */
    bool details; /* counts of each rank are wanted */
    uint8_t n_loops[SX_MAX_LEVELS];
    sx_full_loop loop[SX_MAX_LEVELS][2 * SX_MAX_DIMS]; /* innermost first */
    sx_sparse_tile tile[SX_MAX_TENSORS][SX_MAX_LEVELS];
    double
        conditioned[SX_MAX_TENSORS]; /* probability that a word's tile, on which accesses depend, is empty */
    double skipped[SX_MAX_TENSORS];  /* the same where these accesses are skipped, not gated */
    uint64_t box[SX_MAX_TENSORS][SX_MAX_LEVELS]
                [SX_MAX_TENSORS];    /* exact: on which accesses depend; 0: none */
    double state[SX_MAX_TENSORS][3]; /* probability that an operand of a compute is non-zero, zero, absent */
    double computes[SX_N_ACTION_KINDS];
    sx_counts dense[SX_MAX_TENSORS][SX_MAX_LEVELS];
    sx_sparse_counts (*counts)[SX_MAX_LEVELS]; /* per tensor */
} sx_sparse_state;

/* Compiles what of the architecture's sparse optimizations concerns the problem; *out is NULL where nothing
 * does. */
SX_MUST_USE sx_status sx_sparse_compile(const sx_model *model, struct sx_sparse_model **out);

/* The density of an output that follows from those of its operands, as a probability of a word. */
SX_MUST_USE sx_status sx_output_density(const sx_model *model, const struct sx_sparse_model *sparse,
                                        int output, double *out);

void sx_sparse_model_free(SX_TAKE struct sx_sparse_model *sparse);

/* Sets what zeros leave of accesses and computes at the least, in every mapping. */
void sx_sparse_least(sx_model *model);

/* A workspace; NULL when memory is out. One that only checks mappings has no counts, and remembers nothing. */
SX_OWN sx_sparse_state *sx_sparse_state_new(const sx_model *model, bool counts);
void sx_sparse_state_free(SX_TAKE sx_sparse_state *state);

/* The density of a tensor. */
static inline const sx_density *sx_sparse_density(const sx_sparse_state *state, int tensor) {
    return &state->model->sparse->density[tensor];
}

/* A tensor's tile of these extents, as sx_density_empty takes it. */
static inline uint64_t sx_sparse_number(const sx_model *model, int tensor, const uint32_t *extent) {
    const sx_placement *placed = model->sparse->density[tensor].placed;
    return placed ? sx_placement_tile(placed, extent) : sx_shape_words(&model->shape[tensor], extent);
}

/* Lays out tiles and ranks; says whether formats fit the mapping. */
sx_verdict sx_sparse_ranks(sx_sparse_state *state, const sx_mapping *mapping);

/* The first part of the pass. */
sx_verdict sx_sparse_prepare(sx_sparse_state *state, const sx_mapping *mapping, const sx_nest *nest);

/* The bits that words of a tile's ranks take. */
double sx_rank_words_bits(const sx_sparse_tile *tile, double (*words)[2]);

/* The second, over state->dense; counts of each rank only where `details` are wanted. */
void sx_sparse_count(sx_sparse_state *state, bool details);

/* The parts of the two semantics. */
sx_verdict sx_timeloop_prepare(sx_sparse_state *state);
void sx_timeloop_count(sx_sparse_state *state);
sx_verdict sx_exact_prepare(sx_sparse_state *state);
void sx_exact_count(sx_sparse_state *state);

/* The words of metadata and payload of a tile of a tensor that holds k non-zeros, by Timeloop's rules; and the
 * most that one can take. */
void sx_timeloop_metadata(const sx_sparse_state *state, int tensor, int level, uint64_t k, double (*out)[2]);
void sx_exact_metadata(const sx_sparse_state *state, int tensor, int level, uint64_t k, double (*out)[2]);

/* The width of a rank's metadata and payload words; 0 where it has one coordinate and is left out. */
void sx_rank_widths(const sx_sparse_tile *tile, int rank, double bits[2]);

#endif
