/* The pass over dense counts by the exact semantics (sparse/exact.c), done on the core's state: the same figures in the same
 * order of operations. It covers densities by chance, actions of one option, and formats whose first rank takes all loops there
 * are; everything else goes by sparse/pass.h.
 *
 * zeros_tiles.c makes metadata and blocks of tiles, zeros_boxes.c what is left of accesses and computes, zeros.c the
 * score. */
#ifndef SX_MODEL_SPARSE_ZEROS_H
#define SX_MODEL_SPARSE_ZEROS_H

#include "core/point.h"
#include "model/sparse/pass.h"

/* A tensor at a level that keeps it. */
typedef struct sx_zeros_held {
    const sx_format_model *format; /* NULL: none */
    int8_t child, parent;          /* the next levels that keep the tensor; -1: none */
    uint8_t on;                    /* the tensors with zeros on which accesses depend by an action */
    uint8_t n_ranks;
    bool ranked; /* its ranks matter: it has a format, or is part of one that has */
    bool packed; /* the format is compressed */
    bool listed; /* all ranks are lists of coordinates, and tiles products of extents */
    bool fits;   /* the inner level's ranks are the first of this one's, which has more */
    bool skips;
    double words;             /* of the tile that bits and ratio are of */
    double bits;              /* expected, of metadata */
    double ratio;             /* vector accesses per full vector */
    double exists, effectual; /* what remains of accesses before and after the level's own action */
} sx_zeros_held;

/* A tensor's actions at the levels that keep it, outermost first. */
typedef struct sx_zeros_actions {
    uint8_t n, n_skips;
    uint8_t all; /* tensors on which some of them depend */
    bool alike;  /* all depend on the same ones */
    uint8_t level[SX_CORE_LEVELS], on[SX_CORE_LEVELS];
} sx_zeros_actions;

/* All loops as bits, the innermost first, at each level those of space before those of time. */
typedef struct sx_zeros_bits {
    uint64_t upto[SX_CORE_LEVELS]; /* at a level and inside it */
    uint64_t time;                 /* the temporal ones */
    uint64_t of[SX_CORE_TENSORS], of_dim[SX_CORE_DIMS];
    double n[64]; /* iterations */
    uint8_t dim[64];
} sx_zeros_bits;

/* One thread's; the core's model and state are its scorer's, which has opened a mapping. */
typedef struct sx_zero_pass {
    const sx_model *model;
    sx_core_model *p; /* the energy of its computes is that of the mapping scored last */
    sx_core_state *st;
    sx_sparse_state *sparse;
    int n_levels, n_dims, n_tensors;
    uint32_t bounded;                              /* mask of levels with limited bandwidth */
    uint32_t kept[SX_CORE_TENSORS];                /* masks of levels that keep a tensor */
    uint32_t held_for[SX_CORE_TENSORS];            /* those that `held` is for */
    bool sound[SX_CORE_TENSORS];                   /* levels can hand the tensor to one another */
    double density[SX_CORE_TENSORS];               /* of a word */
    double share[SX_CORE_TENSORS];                 /* of non-zeros */
    double blank[SX_CORE_TENSORS];                 /* the probability that a word is zero */
    bool several;                                  /* there are more than two operands */
    bool random[SX_CORE_TENSORS];                  /* hypergeometric */
    double block[SX_CORE_TENSORS][SX_CORE_LEVELS]; /* whole elements of a vector access */
    uint32_t limited;                              /* mask of levels with limited room for metadata */
    uint8_t mixed; /* mask of tensors whose tiles are no products of extents */
    bool gaps;     /* some boxes have no tile of a window, but parts of it that lie apart */
    sx_zeros_held held[SX_CORE_TENSORS][SX_CORE_LEVELS];
    sx_zeros_actions actions[SX_CORE_TENSORS];
    sx_zeros_bits bits;
    double charge[SX_CORE_TENSORS][SX_CORE_CHARGE];
} sx_zero_pass;

/* The probability that a tile of a given number of words of a hypergeometric tensor is empty, where it is not remembered. */
double sx_zeros_find_empty(const sx_zero_pass *f, int tensor, double words);

/* What a tensor's probabilities are remembered in; NULL where they are a product. */
static inline const struct sx_remembered *sx_zeros_memo(const sx_zero_pass *f, int v) {
    return f->random[v] ? f->sparse->empty[v].at : NULL;
}

/* The probability that a tile of a given number of words is empty. */
static inline double sx_zeros_empty(const sx_zero_pass *f, int v, const struct sx_remembered *memo,
                                    double words) {
    if (!memo) {
        double expected = words * f->share[v];
        return expected < 1 ? 1 - expected : 0;
    }
    const struct sx_remembered *at = &memo[sx_empty_place((uint64_t)words)];
    return at->words == (uint64_t)words ? at->empty : sx_zeros_find_empty(f, v, words);
}

/* Makes the tiles of a tensor; false where they are not covered, or illegal. */
bool sx_zeros_hold(sx_zero_pass *f, int tensor);

/* Sets what is left of accesses and computes; false where that is not covered. */
bool sx_zeros_settle(sx_zero_pass *f);

/* Whether the pass of a model can be done so. */
bool sx_zeros_cover(const sx_model *model);

/* In fresh memory, for free(); NULL when memory is out. `work` is the generic engine's. */
SX_OWN sx_zero_pass *sx_zeros_new(const sx_model *model, sx_sparse_state *sparse, sx_core_model *core,
                                  sx_core_work *work);

/* Scores the legal mapping that was opened (sx_core_scorer_sparse). */
bool sx_zeros_score(sx_zero_pass *f, const sx_objective *objective, double bound, sx_score *score,
                    sx_verdict *verdict);

#endif
