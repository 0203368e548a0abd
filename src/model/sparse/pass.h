/* What zeros save (docs/sparse.md): a pass over the dense counts of a mapping. It has two parts. What depends
 * on the mapping alone comes first: which loops make the ranks of each format, whether formats and metadata
 * fit, how many non-zeros tiles hold, and how likely accesses are ineffectual. Then dense counts become random,
 * gated and skipped ones. Both parts follow one of two semantics: the exact one, or Timeloop's. */
#ifndef SX_MODEL_SPARSE_PASS_H
#define SX_MODEL_SPARSE_PASS_H

#include "model/model.h"
#include "model/sparse/density.h"

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
    bool whole;       /* loops are given to ranks from the outermost on, and the first takes all there are */
    uint16_t first;   /* of its ranks in sx_sparse */
    double most_bits; /* exact: of metadata per word of a tile, at the most; INFINITY: not known */
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

/* What a level's accesses cost. */
typedef struct sx_sparse_level {
    double energy[SX_N_ACTION_KINDS][SX_N_ACCESSES];          /* pJ per vector of data */
    double metadata_energy[SX_N_ACTION_KINDS][SX_N_ACCESSES]; /* pJ per vector of metadata */
    bool free[SX_N_ACTION_KINDS];                             /* they take no energy and no bandwidth */
    double width, word_bits; /* width: bits of a vector of metadata; 0: none */
    double metadata_limit;   /* bits */
    double compression_energy, decompression_energy;
} sx_sparse_level;

/* What of an architecture's sparse optimizations concerns a problem. */
struct sx_sparse_model {
    bool timeloop, formatted;
    bool gates, skips; /* computes */
    bool any_placed;
    bool chooses; /* some action has several options */
    uint8_t n_actions;
    uint8_t thin; /* mask of tensors that have zeros */
    /* Exact: the tensors on which accesses depend by actions of one option, and whether one of these skips. */
    uint8_t on[SX_MAX_LEVELS][SX_MAX_TENSORS];
    bool skips_on[SX_MAX_LEVELS][SX_MAX_TENSORS];
    sx_density density[SX_MAX_TENSORS];
    sx_positions *placed[SX_MAX_TENSORS]; /* of tensors whose non-zeros have known places; else NULL */
    const sx_format_model *format[SX_MAX_LEVELS][SX_MAX_TENSORS]; /* NULL: none */
    uint16_t dims[SX_MAX_TENSORS];    /* that a tensor depends on, those of one iteration among them */
    uint16_t windows[SX_MAX_TENSORS]; /* those that share a rank, of tensors with no dimension in two ranks */
    uint8_t converts;                 /* mask of tensors that some levels hold compressed and others do not */
    uint8_t nested; /* mask of tensors whose formats fit in one another, whatever levels keep them */
    sx_sparse_level level[SX_MAX_LEVELS];
    sx_action_model action[SX_MAX_ACTIONS];
    sx_format_model formats[SX_MAX_FORMATS];
    struct sx_check_pool *checks; /* workspaces of legality checks */
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
    uint8_t on;                              /* exact: the tensors on which accesses depend by it */
    uint64_t words;                          /* dense; 0: not kept */
    uint64_t number;                         /* as sx_density_empty takes it */
    uint64_t fiber[SX_MAX_FORMAT_RANKS];     /* coordinates of a rank's fibers */
    uint64_t sub[SX_MAX_FORMAT_RANKS + 1];   /* tile below a coordinate of the rank, as sx_density_empty takes
                                                it: its words, or its size's number; the last: the tile */
    double instances, occupancy, density;    /* on average */
    double metadata[SX_MAX_FORMAT_RANKS][2]; /* expected words of metadata and payload */
    double bits;                             /* expected, of metadata */
    bool possible;                           /* some occupancy is */
    double ineffectual;       /* Timeloop's: probability that an access is, where an action is at work */
    double exists, effectual; /* exact: what remains of accesses before and after the level's own action */
} sx_sparse_tile;

/* What became of a tensor's accesses at a level, in the unit of the counts. Beside random ones there are gated
 * or skipped ones, not both. */
typedef struct sx_sparse_counts {
    double actions[SX_N_ACTION_KINDS][SX_N_ACCESSES];
    double metadata[SX_N_ACTION_KINDS][SX_N_ACCESSES][SX_MAX_FORMAT_RANKS][2];
    double bits[SX_N_ACTION_KINDS][SX_N_ACCESSES]; /* of all ranks' metadata, by Timeloop's rules */
    double reductions, decompressions, compressions;
} sx_sparse_counts;

/* Probabilities that tiles of a tensor are empty, by their words; and the blocks that the last tile of each level
 * takes on average. */
enum { SX_EMPTY_MEMO_BITS = 8 };
typedef struct sx_empty_memo {
    struct sx_remembered {
        uint64_t words; /* 0: none */
        double empty;
    } at[1 << SX_EMPTY_MEMO_BITS];
    struct {
        uint64_t words; /* 0: none */
        double blocks;
    } last[SX_MAX_LEVELS];
} sx_empty_memo;

/* Counts of one tensor at a level while actions are applied. */
typedef struct sx_sparse_progress {
    double words[SX_N_ACCESSES];
    double metadata[SX_N_ACCESSES][SX_MAX_FORMAT_RANKS][2];
    bool done;
} sx_sparse_progress;

/* The workspace of a pass. */
typedef struct sx_sparse_state {
    const sx_model *model;
    const sx_nest *nest;
    sx_density_cache *cache;
    sx_empty_memo *empty; /* per tensor; NULL where there are no counts */
    bool failed;          /* memory ran out */
    bool details;         /* counts of each rank are wanted */
    bool laid_out;        /* the complete nest is */
    uint8_t n_loops[SX_MAX_LEVELS];
    sx_full_loop loop[SX_MAX_LEVELS][2 * SX_MAX_DIMS]; /* innermost first */
    sx_sparse_tile tile[SX_MAX_TENSORS][SX_MAX_LEVELS];
    double conditioned[SX_MAX_TENSORS]; /* exact: probability that a tensor's zeros leave out a compute, */
    double skipped[SX_MAX_TENSORS];     /* and that they do so by accesses that are skipped, not gated */
    double state[SX_MAX_TENSORS][3]; /* probability that an operand of a compute is non-zero, zero, absent */
    double computes[SX_N_ACTION_KINDS];
    sx_sparse_progress progress[SX_MAX_LEVELS]; /* of one tensor, by Timeloop's semantics */
    sx_counts dense[SX_MAX_TENSORS][SX_MAX_LEVELS];
    sx_sparse_counts (*counts)[SX_MAX_LEVELS]; /* per tensor; exact: where details are wanted */
} sx_sparse_state;

/* By the exact semantics, the words of data that are left of a given number of dense accesses to a tile, of which `share` takes
 * place. */
static inline double sx_exact_words(const sx_sparse_tile *tile, double count, double share) {
    return tile->format ? count * tile->density * share : count * share;
}

/* Compiles what of the architecture's sparse optimizations concerns the problem; *out is NULL where nothing
 * does. */
SX_MUST_USE sx_status sx_sparse_compile(const sx_model *model, struct sx_sparse_model **out);

/* The density of an output that follows from those of its operands, as a probability of a word. */
SX_MUST_USE sx_status sx_output_density(const sx_model *model, const struct sx_sparse_model *sparse,
                                        int output, double *out);

void sx_sparse_model_free(SX_TAKE struct sx_sparse_model *sparse);

/* Sets what zeros leave of accesses and computes at the least, in every mapping. */
void sx_sparse_least(sx_model *model);

/* A workspace; NULL when memory is out. One that only checks mappings has no counts, and remembers nothing but
 * what must be counted word by word. */
SX_OWN sx_sparse_state *sx_sparse_state_new(const sx_model *model, bool counts);
void sx_sparse_state_free(SX_TAKE sx_sparse_state *state);

/* The density of a tensor. */
static inline const sx_density *sx_sparse_density(const sx_sparse_state *state, int tensor) {
    return &state->model->sparse->density[tensor];
}

/* Where the probability that a tile of a given number of words is empty is remembered. */
static inline uint64_t sx_empty_place(uint64_t words) {
    return words * 0x9e3779b97f4a7c15u >> (64 - SX_EMPTY_MEMO_BITS);
}

/* The probability that a tile of a tensor is empty, given as for sx_density_empty. */
static inline double sx_sparse_empty(const sx_sparse_state *state, int tensor, uint64_t tile) {
    const sx_density *density = sx_sparse_density(state, tensor);
    if (density->placed) return sx_density_empty(density, state->cache, tile);
    uint64_t hash = sx_empty_place(tile);
    if (state->empty[tensor].at[hash].words != tile) {
        state->empty[tensor].at[hash].empty = sx_density_empty(density, state->cache, tile);
        state->empty[tensor].at[hash].words = tile;
    }
    return state->empty[tensor].at[hash].empty;
}

/* A tensor's tile of these extents, as sx_density_empty takes it. */
static inline uint64_t sx_sparse_number(const sx_model *model, int tensor, const uint32_t *extent) {
    const sx_positions *placed = model->sparse->placed[tensor];
    const sx_shape *shape = &model->shape[tensor];
    uint64_t words = 1;
    if (placed) return sx_positions_tile(placed, extent);
    if (!shape->unit) return sx_shape_words(shape, extent);
    const struct sx_term *end = shape->term + shape->n_terms;
    for (const struct sx_term *term = shape->term; term != end; term++) words *= extent[term->dim];
    return words;
}

/* Why a level cannot take a tensor in its own format (NULL: none) from a level outside; SX_LEGAL where it can. */
sx_reason sx_sparse_hand_over(const sx_model *model, int tensor, const sx_format_model *outside, int level,
                              const sx_format_model *here);

/* Lays out tiles and ranks; says whether formats fit the mapping. */
sx_verdict sx_sparse_ranks(sx_sparse_state *state, const sx_mapping *mapping);

/* The first part of the pass; with what only a report shows where `details` are wanted. A workspace without
 * counts is told what of it is a matter of legality. */
sx_verdict sx_sparse_prepare(sx_sparse_state *state, const sx_mapping *mapping, const sx_nest *nest,
                             bool details);

/* The bits that words of a tile's ranks take. */
double sx_rank_words_bits(const sx_sparse_tile *tile, double (*words)[2]);

/* The second, over state->dense. */
void sx_sparse_count(sx_sparse_state *state);

/* The parts of the two semantics. */
sx_verdict sx_timeloop_prepare(sx_sparse_state *state);
void sx_timeloop_count(sx_sparse_state *state);
void sx_exact_prepare(sx_sparse_state *state);
void sx_exact_count(sx_sparse_state *state);

/* Sets the states in which computes find an operand, given what is left out; `absent`: they do not find zeros. */
void sx_exact_operand(sx_sparse_state *state, int tensor, bool absent);

/* Metadata for a tile whose words below a coordinate of each rank (the last: the whole tile) are empty with these
 * probabilities: expected numbers of coordinates that are present (`out` may be NULL); returns their bits. */
double sx_exact_rank_words(const sx_format_model *format, int n_ranks, const double *fiber,
                           const double *empty, double (*out)[2]);

/* The words that a level decompresses and compresses, by the exact semantics; false: none. */
bool sx_exact_conversions(const sx_sparse_state *state, int tensor, int level, double *decompressions,
                          double *compressions);

/* How many iterations of each loop of a nest a box spans. */
typedef struct sx_box_loops {
    uint32_t spatial[MAX_LOOPS + SX_MAX_DIMS], temporal[MAX_LOOPS + SX_MAX_DIMS];
} sx_box_loops;

/* The box on which an access to a tensor at a level depends, by the exact semantics; its loops, too, where they are
 * wanted (else NULL). */
void sx_exact_box(const sx_sparse_state *state, int target, int level, uint32_t *box, sx_box_loops *loops);

/* The words of a tensor with windows in a box of these loops and extents; and in that of an access to another one. */
uint64_t sx_window_words(const sx_sparse_state *state, int tensor, const sx_box_loops *loops,
                         const uint32_t *extent);
uint64_t sx_window_box(const sx_sparse_state *state, int tensor, int target, int level);

/* What a tensor has in the box of these extents of an access to another one, as sx_density_empty takes it. */
static inline uint64_t sx_exact_box_number(const sx_sparse_state *state, int tensor, int target, int level,
                                           const uint32_t *extent) {
    if (state->model->sparse->windows[tensor]) return sx_window_box(state, tensor, target, level);
    return sx_sparse_number(state->model, tensor, extent);
}

/* The boxes of a condition tensor that leave out computes where they are empty: the smallest of each target that
 * depends on it, named by the level of its action. */
typedef struct sx_left_out {
    uint8_t n, target[SX_MAX_TENSORS], level[SX_MAX_TENSORS];
    uint64_t words; /* of the box that is empty most often, as sx_density_empty takes it */
    double most;    /* the probability of that */
} sx_left_out;

/* The probability that one of the boxes at least is empty. */
double sx_exact_some_empty(const sx_sparse_state *state, int tensor, const sx_left_out *boxes);

/* The words of metadata and payload of a tile of a tensor that holds k non-zeros, by Timeloop's rules; and the
 * most that one can take. */
void sx_timeloop_metadata(const sx_sparse_state *state, int tensor, int level, uint64_t k, double (*out)[2]);
void sx_exact_metadata(const sx_sparse_state *state, int tensor, int level, uint64_t k, double (*out)[2]);

/* The width of a rank's metadata and payload words; 0 where it has one coordinate and is left out. */
void sx_rank_widths(const sx_sparse_tile *tile, int rank, double bits[2]);

#endif
