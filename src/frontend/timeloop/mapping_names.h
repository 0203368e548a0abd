/* The names that mappings and constraints use: levels, tensors, and dimensions in an order. */
#ifndef SX_FRONTEND_TIMELOOP_MAPPING_NAMES_H
#define SX_FRONTEND_TIMELOOP_MAPPING_NAMES_H

#include "frontend/input.h"

/* The level that a target names, -1 where there is none: a level's own name, the name of the container or
 * component that it is the fan-out of, or its number from the innermost. With `fanout` the fan-out comes
 * first where both are there. */
int sx_target_level(const sx_arch *arch, const char *name, bool fanout);

/* The error for a name that is no level, no tensor or no dimension. */
SX_ERROR sx_status sx_level_unknown(sx_place place, const char *name, const sx_arch *arch);
SX_ERROR sx_status sx_tensor_unknown(sx_place place, const char *name, const sx_problem *problem);
SX_ERROR sx_status sx_dimension_unknown(sx_place place, const char *name, const sx_problem *problem);

/* Dimensions in the order in which they are written; none twice. */
typedef struct sx_order {
    uint8_t dim[SX_MAX_DIMS];
    int n;
    int gap; /* how many stand before the "_" that stands for all the others; -1 without one */
} sx_order;

/* Reads a permutation: names, or letters where every one of them names a dimension. A "_" is an error unless
 * `gap` allows one. */
SX_MUST_USE sx_status sx_order_read(const sx_node *node, const sx_problem *problem, bool gap, sx_order *out);

/* Warns of `no_coalesce` at the outermost level, where nothing outside is asked: the tensors of the mask are cleared. */
SX_MUST_USE sx_status sx_check_no_coalesce(sx_input *input, const sx_pair *pair, const sx_arch *arch,
                                           int level, uint8_t *mask);

/* Checks how many dimensions of a permutation lie on X. More than there are all lie there: from 99 on that is meant, below it is
 * an error in a mapping, a warning in a constraint, which may be for several problems. */
SX_MUST_USE sx_status sx_split_check(sx_input *input, const sx_pair *pair, uint64_t split,
                                     const sx_problem *problem, bool mapping);

#endif
