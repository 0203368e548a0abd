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
    int64_t asked[SX_MAX_TENSORS];                 /* accesses that compute units make, at least */
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
 * tensors, and by level, unless that is NULL. */
SX_MUST_USE sx_status sx_check_tilings_least(sx_check_tilings *tilings, const unsigned *keep, sx_wide *out,
                                             sx_wide *by_level);

/* Whether words of a tensor that flow into a level beyond the first time are read and filled: those of an output only where
 * it is known what is spared. */
bool sx_check_comes_back(const sx_check_work *work, int tensor);

/* What such a word costs at the level that it comes from; `back`: it is read there, also of an output. */
int64_t sx_check_access_price(const sx_check_work *work, int tensor, int from, bool back);

/* A walk over all mappings of spatial factors and of what levels keep. */
typedef struct sx_check_pair {
    sx_check_spatial spatial;
    unsigned keep[SX_MAX_LEVELS];
    sx_wide tiles[SX_MAX_LEVELS]; /* energy that tiles add, by level */
} sx_check_pair;

/* Whether there are rules for such walks: no tensor has windows, and networks cost no energy. */
bool sx_check_may_walk_remainders(const sx_check_work *work);

/* The energy and the cycles of a mapping of a pair that the walk knows of on its way to it, at least: with its tiles known in
 * part, then with its loops. */
SX_MUST_USE sx_status sx_check_follow_walk(sx_check_work *work, const sx_check_pair *pair,
                                           const sx_mapping *mapping, sx_check_corner *out);

/* T12: whether all mappings of a pair reach the target, by evaluating those that no bound closes; one that does not is found's.
 * False also where there are too many. */
SX_MUST_USE sx_status sx_check_walk_remainders(sx_check_work *work, const sx_check_pair *pair,
                                               sx_check_found *found, bool *closed);

/* The words of a tensor that are touched, at least. */
int64_t sx_check_touched(const sx_check_case *c, int tensor);

/* The least energy and cycles of all mappings that leave remainders, have a spread and keep these tensors; `tiles` is
 * the energy that tiles add. */
sx_check_corner sx_check_remainder_bound(const sx_check_work *work, const sx_check_spread *spread,
                                         const unsigned *keep, sx_wide tiles);

/* A lower bound of the value of all mappings that leave remainders, no more than `enough` need be shown; a mapping that is
 * below the target is found's. An error where memory is out. */
SX_MUST_USE sx_status sx_check_remainders(sx_check_work *work, sx_wide enough, sx_check_found *found,
                                          sx_wide *out);

#endif
