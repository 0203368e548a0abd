/* The inside of a frame. Counts are doubles that hold integers below 2^53. Plain arrays of fixed size.
 *
 * Stages, each redone only where what it rests on has changed: rows.c reads the mapping (loops that are there,
 * extents, children); legality.c makes the tiles and says whether they fit; flows.c and window.c count what a level
 * hands to its children; charge.c turns that into energies and rates of one tensor for one set of levels that keep
 * it; frame.c adds up. */
#ifndef SX_MODEL_FRAME_STATE_H
#define SX_MODEL_FRAME_STATE_H

#include "model/frame/frame.h"

enum { SX_FRAME_LEVELS = 8, SX_FRAME_MIXED = 4, SX_FRAME_RECORDS = 16, SX_FRAME_CHARGES = 64 };

/* A tensor, compiled for frames. */
typedef struct sx_frame_tensor {
    uint32_t dims, solo; /* masks of dimensions */
    bool output, plain;
    uint8_t n_unit,
        n_stretched; /* ranks of one dimension that no other rank has: with coefficient 1, and others */
    uint8_t n_mixed;
    uint8_t unit[SX_MAX_DIMS], stretched[SX_MAX_DIMS];
    double stretch[SX_MAX_DIMS]; /* coefficients of the stretched ranks */
    uint8_t mixed_rank[SX_FRAME_MIXED], mixed_dim[SX_FRAME_MIXED][2];
    double reach[SX_FRAME_MIXED][2];
    int8_t mixed_of[SX_MAX_DIMS]; /* the mixed rank that a dimension moves; -1: none */
    double coef[SX_MAX_DIMS];     /* by how much */
    double words;
    double elided; /* words whose first read is free */
} sx_frame_tensor;

/* The loops of a level that are there, innermost first. */
typedef struct sx_frame_loops {
    uint8_t n, n_x; /* n_x: of spatial loops, those on X */
    uint8_t dim[SX_MAX_DIMS];
} sx_frame_loops;

/* How a level's children lie in the mixed ranks of a tensor. */
typedef struct sx_frame_spans {
    bool apart;   /* they stand apart, by at most `span` */
    bool uniform; /* no two loops move the same rank */
    double span[SX_FRAME_MIXED];
} sx_frame_spans;

/* Accesses that each serve m children, `scatter` at a time. */
typedef struct sx_frame_record {
    double m, scatter, accesses;
} sx_frame_record;

/* Records of what a level hands to its children of one tensor, in order of (m, scatter). */
typedef struct sx_frame_records {
    int n;        /* 0: one group after another gets the same */
    double links; /* words that children hand to one another */
    sx_frame_record record[SX_FRAME_RECORDS];
} sx_frame_records;

/* The parts of a tile of a tensor that is not plain. */
typedef struct sx_frame_tile {
    double solo; /* without the mixed ranks */
    double mixed[SX_FRAME_MIXED];
} sx_frame_tile;

/* What one tensor costs with one set of levels that keep it. */
typedef struct sx_frame_charge {
    uint64_t stamp;  /* of the flows that it was made of */
    uint32_t kept;   /* mask of levels */
    double total;    /* energy of all levels */
    double accesses; /* of all instances of the outermost level that keeps it */
    double energy[SX_FRAME_LEVELS];
    double reads[SX_FRAME_LEVELS], writes[SX_FRAME_LEVELS]; /* of levels with limited bandwidth, a cycle */
} sx_frame_charge;

/* Which flows of a tensor are out of date. */
typedef struct sx_frame_stale {
    int below;       /* those of levels below this one */
    uint32_t spread; /* mask of levels */
} sx_frame_stale;

struct sx_cost_frame {
    const sx_model *model;
    sx_fanout_scratch *scratch;
    struct sx_sparse_state *sparse; /* NULL: dense */
    sx_nest *nest;                  /* of sparse models: the mapping, for the pass over dense counts */
    struct sx_frame_zeros *zeros;   /* of sparse models whose pass the frame does itself; else NULL */
    int n_levels, n_dims, n_tensors;
    uint32_t all;            /* mask of the tensors */
    uint32_t bounded, leaks; /* masks of levels with limited bandwidth, and that leak */
    double size[SX_MAX_DIMS];
    double compute_energy, computes, latency;
    double share; /* computes of each compute unit */
    sx_frame_tensor tensor[SX_MAX_TENSORS];
    uint64_t relevant[SX_MAX_DIMS]; /* a byte per tensor: all ones where the dimension indexes it */

    sx_mapping_level seen[SX_FRAME_LEVELS]; /* the mapping that rows and loops are of */
    bool known;                             /* there is one */
    uint64_t directives;                    /* bits of a level's tail that frames do not cover */
    int tiles_from, tiles_to;               /* tiles from one level up to another are out of date */
    uint32_t unchecked, unfit;    /* masks of levels whose tiles are to be checked, and do not fit */
    bool spread_checked, spreads; /* the array has the instances in use */
    int flat_below;               /* temporal loops have changed below this level */
    bool checked;                 /* `verdict` holds for it */
    sx_verdict verdict;
    sx_frame_stale stale[SX_MAX_TENSORS];
    uint64_t stamp[SX_MAX_TENSORS]; /* of the flows */
    uint32_t kept[SX_MAX_TENSORS];  /* masks of the levels that keep a tensor */

    double temporal[SX_FRAME_LEVELS][SX_MAX_DIMS], spatial[SX_FRAME_LEVELS][SX_MAX_DIMS]; /* factors */
    double spread[SX_FRAME_LEVELS][SX_MAX_DIMS]; /* extents of a level's children together */
    double extent[SX_FRAME_LEVELS][SX_MAX_DIMS];
    sx_frame_loops loops[SX_FRAME_LEVELS], slots[SX_FRAME_LEVELS];
    double slot_x[SX_FRAME_LEVELS], slot_y[SX_FRAME_LEVELS], children[SX_FRAME_LEVELS];
    double expand_x[SX_FRAME_LEVELS], expand_y[SX_FRAME_LEVELS], above[SX_FRAME_LEVELS];
    double clusters[SX_FRAME_LEVELS], leaking[SX_FRAME_LEVELS];
    double cycles;
    double words[SX_MAX_TENSORS][SX_FRAME_LEVELS]; /* of tiles */
    sx_frame_tile tile[SX_MAX_TENSORS][SX_FRAME_LEVELS];

    int end[SX_FRAME_LEVELS + 1];       /* loops at that level and above */
    uint8_t flat[MAX_LOOPS];            /* dimensions of the temporal loops, outermost first */
    uint8_t flat_level[MAX_LOOPS];      /* their levels */
    double suffix[MAX_LOOPS + 1];       /* product of the first so many of them */
    uint64_t last[SX_FRAME_LEVELS + 1]; /* a byte per tensor: how many up to the last that indexes it */

    double groups[SX_MAX_TENSORS][SX_FRAME_LEVELS]; /* of children that want the same words */
    sx_frame_spans spans[SX_MAX_TENSORS][SX_FRAME_LEVELS];
    double handed[SX_MAX_TENSORS][SX_FRAME_LEVELS]; /* words to each child, where there are no records */
    sx_frame_records records[SX_MAX_TENSORS][SX_FRAME_LEVELS];
    uint32_t split[SX_MAX_TENSORS]; /* mask of levels whose flow has records */
    sx_frame_charge charge[SX_MAX_TENSORS][SX_FRAME_CHARGES];
};

static const double sx_frame_ones[SX_MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* Extents of what a child of a level holds. */
static inline const double *sx_frame_inner(const sx_cost_frame *f, int level) {
    return level > 0 ? f->extent[level - 1] : sx_frame_ones;
}

/* The words of a tile of a tensor with these extents; sets its parts. */
static inline double sx_frame_words(const sx_frame_tensor *t, const double *extent, sx_frame_tile *tile) {
    double words = 1;
    for (int i = 0; i < t->n_unit; i++) words *= extent[t->unit[i]];
    for (int i = 0; i < t->n_stretched; i++) words *= 1 + t->stretch[i] * (extent[t->stretched[i]] - 1);
    tile->solo = words;
    for (int k = 0; k < t->n_mixed; k++) {
        const uint8_t *dim = t->mixed_dim[k];
        tile->mixed[k] = 1 + t->reach[k][0] * (extent[dim[0]] - 1) + t->reach[k][1] * (extent[dim[1]] - 1);
        words *= tile->mixed[k];
    }
    return words;
}

/* Compiles a tensor; false where a rank has three dimensions, a dimension two ranks, or counts may exceed 2^53. */
bool sx_frame_tensor_compile(const sx_model *model, int tensor, sx_frame_tensor *out);

/* The bits of a level behind its orders that frames of these tensors do not cover. */
uint64_t sx_frame_directives(uint32_t tensors);

/* Reads a mapping; false where the frame does not cover it. */
bool sx_frame_read(sx_cost_frame *f, const sx_mapping *mapping);

/* Says whether the mapping that was read is legal. */
const sx_verdict *sx_frame_check(sx_cost_frame *f);

/* Whether the array has the instances in use, whatever is kept. */
bool sx_frame_spreads(sx_cost_frame *f);

/* Whether a level may keep these tensors' tiles. */
bool sx_frame_fits(const sx_cost_frame *f, int level, unsigned keep);

/* Brings the flows of a tensor up to date; false where the frame does not cover them. */
bool sx_frame_recount(sx_cost_frame *f, int tensor);
static inline bool sx_frame_count(sx_cost_frame *f, int tensor) {
    return (!f->stale[tensor].below && !f->stale[tensor].spread) || sx_frame_recount(f, tensor);
}

/* Counts the flow of a tensor that is not plain; false where the frame does not cover it. `links`: children may hand
 * words to one another; `alike`: under the first level, each has a neighbour that wants the same operands. */
bool sx_frame_window(sx_cost_frame *f, int tensor, int level, bool links, bool alike);

/* Counts the flow under the first level of a plain tensor whose children do not fill rows of the mesh. */
bool sx_frame_feed(sx_cost_frame *f, int tensor);

/* Whether the criterion is already beyond its bound with at least this energy and these cycles to come. */
static inline bool sx_frame_beyond(const sx_criterion *criterion, double bound, double energy,
                                   double cycles) {
    if (criterion->kind != SX_PRODUCT) return false;
    sx_score least = {.energy_pj = energy, .cycles = cycles};
    return sx_criterion_value(criterion, &least) > bound * (1 + 1e-12);
}

/* Makes the charge of a tensor where the levels in the mask `kept` keep it. */
void sx_frame_charge_make(const sx_cost_frame *f, int tensor, uint32_t kept, sx_frame_charge *charge);

/* Accesses of one instance of each level to a tensor that the levels in the mask `kept` keep. */
typedef struct sx_frame_counts {
    double reads, fills, updates;
} sx_frame_counts;
void sx_frame_count_levels(const sx_cost_frame *f, int tensor, uint32_t kept, sx_frame_counts *counts);

/* Makes what a frame of a sparse model needs; false when memory is out. */
bool sx_frame_sparse_new(sx_cost_frame *f);

/* sx_frame_score of a sparse model, for a mapping that was read and whose dense part is legal. */
bool sx_frame_score_sparse(sx_cost_frame *f, const sx_mapping *mapping, const sx_objective *objective,
                           double bound, sx_score *score, sx_verdict *verdict);

/* What a tensor costs where the levels in the mask `kept` keep it. */
static inline const sx_frame_charge *sx_frame_charge_of(sx_cost_frame *f, int tensor, uint32_t kept) {
    sx_frame_charge *charge = &f->charge[tensor][(kept ^ kept >> 6) % SX_FRAME_CHARGES];
    if (charge->stamp != f->stamp[tensor] || charge->kept != kept) {
        sx_frame_charge_make(f, tensor, kept, charge);
        charge->stamp = f->stamp[tensor];
        charge->kept = kept;
    }
    return charge;
}

/* What computes take: cycles, energy, and how many there are to each unit. */
typedef struct sx_frame_computes {
    double cycles, energy, share;
} sx_frame_computes;

/* What all computes take. */
static inline sx_frame_computes sx_frame_all_computes(const sx_cost_frame *f) {
    return (sx_frame_computes){f->cycles, f->compute_energy, f->share};
}

/* Scores the mapping that was read, which is legal, where the levels in kept[v] keep tensor v; as sx_evaluate_within, -1
 * where the frame does not cover it. */
int sx_frame_add(sx_cost_frame *f, const uint32_t *kept, const sx_objective *objective, double bound,
                 sx_score *score);

/* Adds the charges of all tensors up; `kept` is the mask of levels that keep one. */
void sx_frame_sum(const sx_cost_frame *f, sx_frame_computes computes, const sx_frame_charge *const *charge,
                  uint32_t kept, sx_score *out);

#endif
