/* The map space as the independent checker reads it, from the case alone (docs/proof.md, section 1). */
#ifndef SX_CHECK_SPACE_H
#define SX_CHECK_SPACE_H

#include "check/case.h"

/* Least and most of a loop's factors. */
typedef struct sx_check_range {
    int64_t least, most;
} sx_check_range;

/* Spatial factors of all levels. */
typedef struct sx_check_spatial {
    int64_t factor[SX_MAX_LEVELS][SX_MAX_DIMS];
} sx_check_spatial;

typedef struct sx_check_space {
    const sx_check_case *c;
    int n_levels, n_dims, n_tensors;
    sx_check_range temporal[SX_MAX_LEVELS][SX_MAX_DIMS], spatial[SX_MAX_LEVELS][SX_MAX_DIMS];
    unsigned may[SX_MAX_LEVELS], must[SX_MAX_LEVELS]; /* tensors that a level keeps */
    bool banked[SX_MAX_LEVELS]; /* a level bypasses a tensor only where banks are too few */
    bool splits[SX_MAX_LEVELS]; /* a dimension may lie on both axes */
    uint8_t rank[SX_MAX_LEVELS][2]
                [SX_MAX_DIMS];     /* where limits place temporal and spatial loops: lower inside */
    int64_t *divisor[SX_MAX_DIMS]; /* of the sizes, ascending */
    int n_divisors[SX_MAX_DIMS];
} sx_check_space;

enum { SX_TEMPORAL, SX_SPATIAL };

/* Reads a space; the case must outlive it. *out is freed with sx_check_space_fini, also after an error. */
SX_MUST_USE sx_status sx_check_space_init(sx_check_space *out, const sx_check_case *c);
void sx_check_space_fini(sx_check_space *space);

/* Whether a level may keep just these tensors where its tile has these extents: capacity, whole banks, the rule of
 * banks about tensors that are bypassed, minimum utilization. */
bool sx_check_fits(const sx_check_space *space, int level, unsigned keep, const int64_t *extent);

/* Whether the tiles alone have room, by words and whole banks: where they have none, larger ones have none. */
bool sx_check_has_room(const sx_check_space *space, int level, unsigned keep, const int64_t *extent);

/* Whether a level's spatial loops may lie on X and Y in some way. */
bool sx_check_lies_somehow(const sx_check_space *space, int level, const int64_t *factor);

/* Whether a level's spatial loops may lie so that those of a mask are on X and the others on Y; and the level of a
 * mapping that they then make. */
bool sx_check_lies(const sx_check_space *space, int level, const int64_t *factor, unsigned x);
void sx_check_lay(const sx_check_space *space, int level, const int64_t *factor, unsigned x,
                  sx_mapping_level *at);

/* Whether the temporal loops of a level may stand in an order, `n` loops of more than one iteration innermost first. */
bool sx_check_order_allowed(const sx_check_space *space, int level, const uint8_t *order, int n);

/* Whether enough of the compute units inside every level are in use. */
bool sx_check_parallel_enough(const sx_check_space *space, const sx_check_spatial *spatial);

/* Calls `visit` for all spatial factors of the space, with enough units in use or not; ends where that returns false. */
typedef bool sx_check_spatial_visitor(void *user, const sx_check_spatial *spatial);
void sx_check_list_spatial(const sx_check_space *space, sx_check_spatial_visitor *visit, void *user);

/* Whether the case's mapping is in the space; where it is not, `doubt` says why. */
bool sx_check_contains(const sx_check_space *space, const sx_mapping *mapping, sx_check_doubt *doubt);

#endif
