/* An outline: spatial factors of all levels and the tensors that each level keeps. What its traffic costs by rule T0
 * of docs/proof.md, and the compulsory part of it (T1). */
#ifndef SX_CHECK_OUTLINE_H
#define SX_CHECK_OUTLINE_H

#include "check/space.h"

/* Bounds are capped here: sums of a few of them still fit 64 bits, and a smaller bound is a bound. Where there is no
 * mapping at all, a bound is SX_CHECK_NONE. */
#define SX_CHECK_CAP ((int64_t)1 << 58)
#define SX_CHECK_NONE ((int64_t)1 << 60)

/* a * b and a + b of numbers that are not negative, no more than the cap. */
static inline int64_t sx_capped_mul(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > SX_CHECK_CAP ? SX_CHECK_CAP : product;
}
static inline int64_t sx_capped_add(int64_t a, int64_t b) {
    return a + b > SX_CHECK_CAP ? SX_CHECK_CAP : a + b;
}

/* What a word of each tensor costs at each level. */
typedef struct sx_check_prices {
    int64_t of[SX_MAX_LEVELS][SX_MAX_TENSORS][SX_N_ACCESSES];
} sx_check_prices;

/* What does not change from outline to outline. */
typedef struct sx_check_shape {
    unsigned dims[SX_MAX_TENSORS]; /* that index a tensor and are larger than 1 */
    unsigned solo[SX_MAX_TENSORS]; /* of these, those alone in all their ranks */
    unsigned plain; /* tensors each word of which has one place in the iterations of their dimensions */
    unsigned free;  /* tensors without a rule: they count nothing (T9) */
    int64_t macs;
    int output;
} sx_check_shape;

/* A number by a tensor and the level that its words go to; 0 stands for the compute units, s + 1 for level s. */
enum { SX_UNITS = 0, SX_N_HOLDERS = SX_MAX_LEVELS + 1 };

/* How the places of two neighbours on the mesh of a level's children differ in the iterations of its spatial loops, in any
 * layout and up to the sign. */
enum { SX_MAX_NEIGHBOURS = 128 };
typedef struct sx_check_neighbours {
    int n; /* -1: there are too many to list */
    int16_t by[SX_MAX_NEIGHBOURS][SX_MAX_DIMS];
} sx_check_neighbours;

typedef struct sx_check_outline {
    const sx_check_space *space;
    const sx_check_shape *shape;
    const sx_check_spatial *spatial;
    unsigned keep[SX_MAX_LEVELS];
    bool linked[SX_MAX_TENSORS]; /* compute units may hand words of a tensor to each other */
    int64_t apart[SX_MAX_TENSORS]
                 [SX_MAX_LEVELS + 1]; /* copies that spatial loops at or outside a level make */
    int64_t used[SX_MAX_LEVELS + 1];  /* instances of level s - 1 in use; 0: compute units */
    int64_t steps;                    /* of the compute units */
    int64_t left[SX_MAX_DIMS];        /* iterations of temporal loops, over all levels */
    /* accesses to a tensor that are left where the children of a level share them: groups of some children, at least */
    int64_t groups[SX_MAX_LEVELS][SX_MAX_TENSORS], children[SX_MAX_LEVELS][SX_MAX_TENSORS];
    sx_check_neighbours near[SX_MAX_LEVELS];
} sx_check_outline;

/* The shape of a problem; doubts where its size does not fit. */
void sx_check_shape_init(sx_check_shape *out, const sx_check_case *c, sx_check_doubt *doubt);

/* The energies of a machine as prices. */
void sx_check_energy_prices(const sx_check_case *c, sx_check_prices *out);

/* Sets all of an outline but what levels keep and `linked`, from its spatial factors. */
void sx_check_outline_spread(sx_check_outline *o);

/* The outermost level that keeps a tensor; -1: none does. */
int sx_check_top(const sx_check_outline *o, int tensor);

/* The words of a tensor's flow into a holder and out of its parent, for every repetition of all tiles, where the tile
 * outside whose loops nothing is idle has temporal extents `extent`: at least so much they cost together. */
int64_t sx_check_flow(const sx_check_outline *o, const sx_check_prices *prices, int tensor, int holder,
                      const int64_t *extent);

/* T5: the same for one pass over all tiles where the innermost loop outside the holder that indexes the tensor is one of
 * a level, of a given number of iterations (0: not known), on a dimension that shares a rank with others: the tile slides, and
 * fetches at least what is new. */
int64_t sx_check_slide(const sx_check_outline *o, const sx_check_prices *prices, int tensor, int holder,
                       int level, int dim, int64_t iterations, const int64_t *extent);

/* What leaks in every cycle where a given number of instances of each level are in use, as in an outline. */
sx_wide sx_check_leakage(const sx_check_machine *machine, const int64_t used[SX_MAX_LEVELS + 1]);

/* What all mappings of an outline pay or save alike: words that compute units take without help from each other, first
 * reads and fills of the output that are spared. */
sx_wide sx_check_constant(const sx_check_outline *o, const sx_check_prices *prices);

/* T1: the least that flows cost, each tile moved once. */
int64_t sx_check_compulsory(const sx_check_outline *o, const sx_check_prices *prices);

#endif
