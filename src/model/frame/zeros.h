/* The pass over dense counts by the exact semantics (sparse/exact.c), done by a frame: the same figures in the same
 * order of operations, without a nest. It covers densities by chance, actions of one option, and formats whose first
 * rank takes all loops there are; everything else goes by frame/sparse_scores.c.
 *
 * zeros_tiles.c makes metadata and blocks of tiles, zeros_boxes.c what is left of accesses and computes, zeros.c the
 * score. */
#ifndef SX_MODEL_FRAME_ZEROS_H
#define SX_MODEL_FRAME_ZEROS_H

#include "model/frame/state.h"
#include "model/sparse/pass.h"

/* A tensor at a level that keeps it. */
typedef struct sx_frame_held {
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
} sx_frame_held;

/* A tensor's actions at the levels that keep it, outermost first. */
typedef struct sx_frame_actions {
    uint8_t n, n_skips;
    uint8_t all; /* tensors on which some of them depend */
    bool alike;  /* all depend on the same ones */
    uint8_t level[SX_FRAME_LEVELS], on[SX_FRAME_LEVELS];
} sx_frame_actions;

/* All loops as bits, the innermost first, at each level those of space before those of time. */
typedef struct sx_frame_bits {
    uint64_t upto[SX_FRAME_LEVELS]; /* at a level and inside it */
    uint64_t time;                  /* the temporal ones */
    uint64_t of[SX_MAX_TENSORS], of_dim[SX_MAX_DIMS];
    double n[64]; /* iterations */
    uint8_t dim[64];
} sx_frame_bits;

struct sx_frame_zeros {
    uint32_t kept[SX_MAX_TENSORS];                 /* masks of levels that `held` is for */
    bool sound[SX_MAX_TENSORS];                    /* levels can hand the tensor to one another */
    double density[SX_MAX_TENSORS];                /* of a word */
    double share[SX_MAX_TENSORS];                  /* of non-zeros */
    double blank[SX_MAX_TENSORS];                  /* the probability that a word is zero */
    bool several;                                  /* there are more than two operands */
    bool random[SX_MAX_TENSORS];                   /* hypergeometric */
    double block[SX_MAX_TENSORS][SX_FRAME_LEVELS]; /* whole elements of a vector access */
    uint32_t limited;                              /* mask of levels with limited room for metadata */
    uint8_t mixed; /* mask of tensors whose tiles are no products of extents */
    bool gaps;     /* some boxes have no tile of a window, but parts of it that lie apart */
    sx_frame_held held[SX_MAX_TENSORS][SX_FRAME_LEVELS];
    sx_frame_actions actions[SX_MAX_TENSORS];
    sx_frame_bits bits;
    sx_frame_charge charge[SX_MAX_TENSORS];
};

/* The probability that a tile of so many words of a hypergeometric tensor is empty, where it is not remembered. */
double sx_frame_find_empty(const sx_cost_frame *f, int tensor, double words);

/* What a tensor's probabilities are remembered in; NULL where they are a product. */
static inline const struct sx_remembered *sx_frame_memo(const sx_cost_frame *f, int v) {
    return f->zeros->random[v] ? f->sparse->empty[v].at : NULL;
}

/* The probability that a tile of so many words is empty. */
static inline double sx_frame_empty(const sx_cost_frame *f, int v, const struct sx_remembered *memo,
                                    double words) {
    if (!memo) {
        double expected = words * f->zeros->share[v];
        return expected < 1 ? 1 - expected : 0;
    }
    const struct sx_remembered *at = &memo[sx_empty_place((uint64_t)words)];
    return at->words == (uint64_t)words ? at->empty : sx_frame_find_empty(f, v, words);
}

/* Makes the tiles of a tensor; false where the frame does not cover them, or they are illegal. */
bool sx_frame_hold(sx_cost_frame *f, int tensor);

/* Sets what is left of accesses and computes; false where the frame does not cover it. */
bool sx_frame_settle(sx_cost_frame *f);

/* Whether a frame can do the pass of a model. */
bool sx_frame_has_zeros(const sx_model *model);

/* sx_frame_score_sparse; false where the frame does not do the pass itself. */
bool sx_frame_score_zeros(sx_cost_frame *f, const sx_objective *objective, double bound, sx_score *score,
                          sx_verdict *verdict);

#endif
