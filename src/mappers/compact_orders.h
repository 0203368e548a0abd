/* The orders of temporal loops that walks over compact points go through, looked up once for each set of loops. */
#ifndef SX_MAPPERS_COMPACT_ORDERS_H
#define SX_MAPPERS_COMPACT_ORDERS_H

#include "core/space.h"
#include "mapspace/map_choices.h"

#include "sextant/navigator.h"

/* One order of each class of a set of loops. */
typedef struct sx_compact_orders {
    const uint8_t (*order)[SX_MAX_DIMS]; /* NULL: not asked for yet */
    size_t n;
} sx_compact_orders;

/* Those of all levels that were asked for; the last are where orders do not matter. All 0 at first. */
typedef struct sx_compact_order_lists {
    sx_compact_orders known[SX_CORE_LEVELS + 1][1 << SX_CORE_DIMS];
} sx_compact_order_lists;

/* The orders of a level of a point with these loops, temporal and spatial (sx_core_splits); NULL, and a run that has failed, where
 * there are too many. */
static inline const sx_compact_orders *sx_compact_orders_of(sx_compact_order_lists *lists,
                                                            const sx_map_space *space,
                                                            sx_map_choices *choices, sx_worker *worker,
                                                            int level, const uint64_t *loops) {
    const uint32_t all = (1u << SX_CORE_DIMS) - 1, here = (uint32_t)(loops[0] >> 8 * level) & all;
    bool matters = sx_map_order_matters(space, level, loops[1] & all);
    sx_compact_orders *known = &lists->known[matters ? level : SX_CORE_LEVELS][here];
    if (!known->order) known->order = sx_map_orders_of(choices, level, here, matters, &known->n);
    if (known->order) return known;
    sx_worker_fail(worker, sx_orders_failure(known->n));
    return NULL;
}

/* An order as compact points have it. */
static inline uint64_t sx_compact_pack_order(const uint8_t *order, uint32_t n_dims) {
    uint64_t packed = 0;
    for (uint32_t i = 0; i < n_dims; i++) packed |= (uint64_t)order[i] << 4 * i;
    return packed;
}

#endif
