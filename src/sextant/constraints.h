/* What a search may not do: limits on factors, orders, spatial factors and keeping, as an architect or Timeloop's
 * constraint files state them. */
#ifndef SX_CONSTRAINTS_H
#define SX_CONSTRAINTS_H

#include "sextant/cost.h"

/* Limits of the loops of one slot (a level's temporal or spatial loops). */
typedef struct sx_loop_limits {
    uint32_t min[SX_MAX_DIMS]; /* >= 1 */
    uint32_t max[SX_MAX_DIMS]; /* SX_MAX_DIM_SIZE: no limit */
    bool rest[SX_MAX_DIMS];    /* all that the inner slots leave: no factor but 1 further out */
    uint8_t n_inner, n_outer;
    uint8_t inner[SX_MAX_DIMS]; /* these dimensions are the innermost, in this order (innermost first) */
    uint8_t outer[SX_MAX_DIMS]; /* and these the outermost (the last one outermost of all) */
} sx_loop_limits;

typedef struct sx_level_limits {
    sx_loop_limits temporal, spatial;
    int8_t split; /* the first ones of the spatial order that lie on X, those of one iteration counted where
                     `inner` and `outer` place them; -1: free */
    uint8_t must_keep, must_bypass; /* bit masks over tensors */
    uint8_t no_temporal_reuse, no_multicast, no_link_transfer, rmw_first_update,
        no_coalesce;        /* of all mappings, as masks */
    double min_utilization; /* share of the level's words in use; 0: any */
    double min_parallelism; /* share of the compute units inside an instance in use; 0: any */
} sx_level_limits;

/* Gives a level of a mapping the switches against reuse that its limits ask for. */
static inline void sx_level_limits_impose(const sx_level_limits *limits, sx_mapping_level *level) {
    level->no_temporal_reuse = limits->no_temporal_reuse;
    level->no_multicast = limits->no_multicast;
    level->no_link_transfer = limits->no_link_transfer;
    level->rmw_first_update = limits->rmw_first_update;
    level->no_coalesce = limits->no_coalesce;
}

/* Plain data, made for one problem and one architecture. */
typedef struct sx_constraints {
    uint8_t n_levels, n_dims, n_tensors;
    sx_level_limits level[SX_MAX_LEVELS];
} sx_constraints;

/* No constraints at all. */
void sx_constraints_init(sx_constraints *constraints, const sx_problem *problem, const sx_arch *arch);

/* Whether a mapping obeys; where it does not and `text` is not NULL, says which constraint it breaks. Orders
 * are held to their constraints only where loops have more than one iteration. */
bool sx_constraints_allow(const sx_constraints *constraints, const sx_mapping *mapping,
                          const sx_problem *problem, const sx_arch *arch, char *text, size_t size);

#endif
