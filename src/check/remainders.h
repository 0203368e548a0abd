/* T10 of docs/proof.md: lower bounds of mappings that leave remainders, which are counted by true execution
 * (docs/model.md, section 7). */
#ifndef SX_CHECK_REMAINDERS_H
#define SX_CHECK_REMAINDERS_H

#include "check/target.h"

/* What spatial factors say of the mappings that have them, or of all mappings. */
typedef struct sx_check_spread {
    int64_t used[SX_MAX_LEVELS]; /* instances, at most */
    int64_t held[SX_MAX_TENSORS]
                [SX_MAX_LEVELS]; /* instances of a level that each need a word of a tensor, at least */
    int64_t copies[SX_MAX_TENSORS][SX_MAX_LEVELS]; /* the same, at most */
    int64_t group[SX_MAX_TENSORS][SX_MAX_LEVELS];  /* children that may share an access, at most */
    bool linked[SX_MAX_TENSORS];                   /* compute units may hand words to each other */
    int64_t steps;                                 /* of the busiest unit, at least */
    sx_wide leak;                                  /* energy of a cycle, at least */
} sx_check_spread;

/* The spread of spatial factors; NULL: what holds for all. */
void sx_check_spread_init(sx_check_spread *out, const sx_check_space *space, const sx_check_shape *shape,
                          const sx_check_spatial *spatial);

/* Energies that tiles add, by what a level and those outside it keep. */
typedef struct sx_check_tilings sx_check_tilings;
SX_MUST_USE sx_status sx_check_tilings_new(const sx_check_work *work, SX_OWN sx_check_tilings **out);
void sx_check_tilings_free(SX_TAKE sx_check_tilings *tilings);

/* T2: the energy that the tiles of all levels with one instance add to words that move once, where levels keep these
 * tensors. */
SX_MUST_USE sx_status sx_check_tilings_least(sx_check_tilings *tilings, const unsigned *keep, sx_wide *out);

/* The words of a tensor that are touched, at least. */
int64_t sx_check_touched(const sx_check_case *c, int tensor);

/* The least energy and cycles of all mappings that leave remainders, have a spread and keep these tensors; `tiles` is
 * the energy that tiles add. */
sx_check_corner sx_check_remainder_bound(const sx_check_work *work, const sx_check_spread *spread,
                                         const unsigned *keep, sx_wide tiles);

/* A lower bound of the value of all mappings that leave remainders, no more than `enough` need be shown. An error where
 * memory is out. */
SX_MUST_USE sx_status sx_check_remainders(sx_check_work *work, sx_wide enough, sx_wide *out);

#endif
