/* What the loops outside a tile fetch where some of them are decided and factors may leave remainders. */
#ifndef SX_BOUND_DECIDED_H
#define SX_BOUND_DECIDED_H

#include "bound/bound.h"

/* The loops of the innermost levels of a mapping, which are decided, with the spatial factors of all levels.
 * `reach[s][d]`: the factors inside level s multiplied, so reach[s + 1] is level s's tile; `base[s][d]`: the same with the
 * spatial factor of level s; `place[s][d]`: how many loops of level s stand inside the one on d. */
typedef struct sx_decided {
    const sx_model *model;
    uint32_t spatial[SX_MAX_LEVELS][SX_MAX_DIMS];
    uint64_t reach[SX_MAX_LEVELS + 1][SX_MAX_DIMS], base[SX_MAX_LEVELS][SX_MAX_DIMS];
    uint8_t place[SX_MAX_LEVELS][SX_MAX_DIMS];
} sx_decided;

/* A temporal loop that has several iterations; level n_levels: none of them. */
typedef struct sx_loop_place {
    int level, dim;
} sx_loop_place;

/* Sets the factors of a level's temporal loop in one dimension, from the innermost level outward. */
void sx_decided_set(sx_decided *decided, int level, int dim, uint64_t factor);

/* The last factor that makes as many blocks of a dimension as another does at a level. */
uint64_t sx_decided_alike(const sx_decided *decided, int level, int dim, uint64_t factor);

/* Whether a level's loop on a dimension has several iterations. */
bool sx_decided_loops(const sx_decided *decided, int level, int dim);

/* The innermost loop on some dimensions outside the tile of level `child` (-1: compute units) up to level `last`; its
 * level is last + 1 where there is none. */
sx_loop_place sx_decided_first(const sx_decided *decided, int child, int last, unsigned dims);

/* The iterations of a dimension that all children of the level outside `child` see, temporal loops inside `from` left
 * out; `alone`: one child under each of its parents. Levels up to `last` are decided. */
uint64_t sx_decided_visits(const sx_decided *decided, int dim, int child, int last, const sx_loop_place *from,
                           bool alone);

/* The words along the dimension of a decided loop, the innermost one outside the tile of `child` on dimensions of a tensor,
 * whose tile a child does not leave in a sweep of it. */
uint64_t sx_decided_still(const sx_decided *decided, int child, const sx_loop_place *first);

/* The same, at most, where that loop is outside level `last`; the size of the dimension where there can be none. */
uint64_t sx_decided_still_outside(const sx_decided *decided, int child, int last, int dim);

/* The steps along a dimension that the first compute unit takes, at least; `ranged`: with any factor of the last level up to the
 * one that is decided that makes as many blocks. */
uint64_t sx_decided_steps(const sx_decided *decided, int last, int dim, bool ranged);

#endif
