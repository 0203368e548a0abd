/* How many mappings Sunstone's techniques leave. */
#ifndef SX_SUPPORT_SUNSTONE_COUNT_H
#define SX_SUPPORT_SUNSTONE_COUNT_H

#include "mappers/sunstone/plan.h"
#include "run/registered.h"

extern const sx_navigator sx_navigator_sunstone;

/* Sizes of the search by the techniques that are on, before alpha-beta. */
typedef struct sx_sunstone_counters {
    sx_cardinal orders;     /* of the loops of all dimensions */
    sx_cardinal unrollings; /* of the first stage */
    sx_cardinal tiles;      /* of the innermost memory, for all of these */
    sx_cardinal partial;    /* partial mappings whose cost is found: tiles of all stages with their orders */
    sx_cardinal complete;   /* mappings to evaluate, when each tile goes on with its best order */
    sx_cardinal mappings;   /* the space that is left: every tile goes on with every order */
    uint64_t evaluated;     /* with alpha-beta on: those that a search evaluated; else 0 */
} sx_sunstone_counters;

/* Counts, by samples of at most 64 unrollings and 16 tiles of each where there are more; lists are cut at the
 * limit, and what is cut is not counted. With alpha-beta on it also searches, by the energy-delay product. */
SX_MUST_USE sx_status sx_sunstone_count(const sx_space *space, const sx_sunstone_switches *on,
                                        sx_sunstone_counters *out);

#endif
