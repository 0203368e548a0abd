/* The choices of a map space's levels that differ in cost, given their loops. */
#ifndef SX_MAPSPACE_MAP_CHOICES_H
#define SX_MAPSPACE_MAP_CHOICES_H

#include "mapspace/map_space.h"

/* Lists made on demand and kept; may be shared by threads. */
typedef struct sx_map_choices sx_map_choices;

SX_MUST_USE sx_status sx_map_choices_new(const sx_map_space *space, SX_OWN sx_map_choices **out);
void sx_map_choices_free(SX_TAKE sx_map_choices *choices);

/* Whether the order of a level's loops can matter; `spread`: the innermost level has spatial loops. Without
 * them its loops only step through operands, each of which is fetched anew every time. */
bool sx_map_order_matters(const sx_map_space *space, int level, bool spread);

/* One order, whole, of each class that the constraints leave for a level's temporal loops (a mask of
 * dimensions); only one order at all unless it matters. On failure NULL, of which sx_orders_failure(*n) makes
 * the error. */
const uint8_t (*sx_map_orders_of(sx_map_choices *choices, int level, uint32_t loops, bool matters,
                                 size_t *n))[SX_MAX_DIMS];

/* How many classes these are, without listing them; 0 where there are more than `most` and no formula gives
 * their number. And an estimate that is right on average. */
double sx_map_count_orders(const sx_map_space *space, int level, uint32_t loops, size_t most);
double sx_map_probe_orders(const sx_map_space *space, int level, uint32_t loops, sx_rng *rng);

/* The ways to lay a level's spatial loops (a mask of dimensions) on X and Y, as masks of those on X; NULL
 * when memory is out. */
const uint16_t *sx_map_layouts_of(sx_map_choices *choices, int level, uint32_t loops, size_t *n);

/* Whether a level's array has room for spatial factors laid on X by a mask, and on Y otherwise. */
bool sx_map_layout_fits(const sx_map_space *space, int level, const uint32_t *factor, unsigned x);

/* Lays a level's spatial loops on X where a mask has them, else on Y; does not normalize the point. */
void sx_map_set_layout(const sx_map_space *space, int level, unsigned x, void *point);

/* What a level keeps, and by which shares of its banks (where it is banked). */
typedef struct sx_map_keep {
    uint8_t keep;
    uint8_t banks[SX_MAX_TENSORS];
} sx_map_keep;

/* All that a level may keep when its tile reaches so far: writes up to 256, returns how many. */
int sx_map_keeps_of(const sx_map_space *space, int level, const uint32_t *extent, sx_map_keep *out);

#endif
