/* Buffers joined into larger ones, for memories that are to be filled without waste. */
#ifndef SX_PLACEMENT_JOINS_H
#define SX_PLACEMENT_JOINS_H

#include "placement/addresses/allocate.h"

typedef struct sx_joins sx_joins;

/* Room for joins of n buffers, which are borrowed. */
SX_MUST_USE sx_status sx_joins_new(const sx_buffer *buffer, size_t n, SX_OWN sx_joins **out);
void sx_joins_free(SX_TAKE sx_joins *joins);

/* The most bytes that live at a step. */
SX_MUST_USE sx_status sx_joins_live(const sx_joins *joins, uint64_t *out);

/* Whether the buffers leave less than a hundredth of a memory empty, from the first step to the last. */
bool sx_joins_suit(const sx_joins *joins, uint64_t capacity);

/* Joins the buffers anew, differently for each `attempt`; fills in those that are left, of which there may be n, and
 * returns how many. */
size_t sx_joins_make(sx_joins *joins, uint64_t attempt, sx_buffer *left);

/* From the offsets of those that are left to the offsets of all buffers. */
void sx_joins_expand(sx_joins *joins, const sx_buffer *left, sx_buffer *buffer);

#endif
