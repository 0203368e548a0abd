/* Sets of words as the model meets them: a box of a tensor, less the part that was held already. */
#ifndef SX_MODEL_REMAINDERS_BOX_DELTA_H
#define SX_MODEL_REMAINDERS_BOX_DELTA_H

#include "sextant/problem.h"

/* What a child fetches at a visit, relative to its place among its siblings: a box with a hole, kept in the
 * one form that stands for this set of words. */
typedef struct sx_box_delta {
    int64_t low[SX_MAX_RANKS], high[SX_MAX_RANKS];
    int64_t hole_low[SX_MAX_RANKS], hole_high[SX_MAX_RANKS]; /* all 0 without a hole */
    uint64_t words;                                          /* 0: nothing */
} sx_box_delta;

/* The part of the box `low..high` that is not in `held_low..held_high`. */
sx_box_delta sx_box_delta_new(int ranks, const int64_t *low, const int64_t *high, const int64_t *held_low,
                              const int64_t *held_high);

/* The whole box. */
sx_box_delta sx_box_delta_whole(int ranks, const int64_t *low, const int64_t *high);

/* Whether a equals b moved by some displacement, *shift = a - b. */
bool sx_box_delta_congruent(int ranks, const sx_box_delta *a, const sx_box_delta *b, int64_t *shift);

#endif
