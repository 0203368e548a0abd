/* Merge keys. `<<: x` gives a map the keys of x that it lacks; `<<<: x`, Timeloop's own, does so at every
 * depth, and puts x's list items behind the map's. x is a map or a list of maps, of which earlier ones win. A
 * value tagged !nomerge stays as it is. */
#ifndef SX_TEXT_DOCUMENT_MERGE_H
#define SX_TEXT_DOCUMENT_MERGE_H

#include "base/arena.h"
#include "text/document/document.h"

/* Refuses a map with a key twice, and does its merge in place. */
SX_MUST_USE sx_status sx_merge(sx_arena *arena, sx_node *map);

#endif
