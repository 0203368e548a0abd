/* The rules by which `optimal` passes over mappings without a bound, and the mapping that stands for each of them. */
#ifndef SX_MAPPERS_OPTIMAL_WITNESS_H
#define SX_MAPPERS_OPTIMAL_WITNESS_H

#include "bound/bound.h"
#include "mapspace/map_choices.h"

/* In the order in which a search decides. `exhaustive` has the first three as well. */
typedef enum sx_skip_rule {
    SX_SKIP_BANKS,     /* other shares of banks that keep the same tensors (mapspace/map_choices.c) */
    SX_SKIP_ORDER,     /* orders of one class (mapspace/orders.c) */
    SX_SKIP_INNERMOST, /* the order of the innermost level, where no neighbour sees it (sx_map_order_matters) */
    SX_SKIP_LAYOUT,    /* ways to lay spatial loops on X and Y (leaf.c), where one best mapping is wanted */
    SX_SKIP_MOVABLE,   /* loops that could belong to the next level (bound/movable.c), likewise */
    SX_N_SKIP_RULES
} sx_skip_rule;

/* What witnesses are made with; all of it outlives them. */
typedef struct sx_witness_maker {
    const sx_map_space *space;
    sx_map_choices *choices;
    const sx_bound *bound; /* of the space; NULL: no rule of movable loops */
} sx_witness_maker;

/* Makes a legal point the one that stands for it by a rule, in its one form. That may be passed over by another rule. Where
 * orders cannot be listed, nothing stands for it and *failure is set. */
sx_witness sx_witness_make(const sx_witness_maker *maker, sx_skip_rule rule, void *point, sx_status *failure);

/* Makes a point the one that stands for all that no cost tells from it where several best mappings are wanted: by the
 * rules of banks and orders. False where that is not legal, or orders cannot be listed (then *failure is set). */
bool sx_point_canonical(const sx_map_space *space, sx_map_choices *choices, void *point, sx_status *failure);

#endif
