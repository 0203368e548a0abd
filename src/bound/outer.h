/* What quick bounds share, and the workspace of one. */
#ifndef SX_BOUND_OUTER_H
#define SX_BOUND_OUTER_H

#include "bound/bound.h"

void sx_outer_tables_free(SX_TAKE sx_outer_tables *outer_tables);

/* The bytes that the places of a quick bound take, per form of a tile. */
size_t sx_place_size(void);

#endif
