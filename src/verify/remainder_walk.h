/* Enumeration of all mappings that leave remainders: one thread's workspace. */
#ifndef SX_VERIFY_REMAINDER_WALK_H
#define SX_VERIFY_REMAINDER_WALK_H

#include "verify/enumeration.h"

typedef struct sx_remainder_walk sx_remainder_walk;

/* What a walk has come to: spatial mappings that were met, those whose mappings were enumerated, and evaluations. */
typedef struct sx_walk_counts {
    uint64_t spatial, searched, evaluations;
} sx_walk_counts;

/* A walk through a space with remainders; of the context, which must outlive it, bounds of tiles that divide are not used. */
SX_MUST_USE sx_status sx_remainder_walk_new(const sx_check_context *context, SX_OWN sx_remainder_walk **out);
void sx_remainder_walk_free(SX_TAKE sx_remainder_walk *walk);

/* Goes through all mappings of all spatial mappings; whether none that leaves a remainder is below a value. *least is the
 * value of one that is. `tick` is called now and then, if it is not NULL. */
sx_check_outcome sx_remainder_walk_check(sx_remainder_walk *walk, double value, void (*tick)(void *user),
                                         void *user, double *least);

sx_walk_counts sx_remainder_walk_counts(const sx_remainder_walk *walk);

/* The error of a walk that failed; the caller's from now on. */
SX_OWN sx_status sx_remainder_walk_failure(sx_remainder_walk *walk);

#endif
