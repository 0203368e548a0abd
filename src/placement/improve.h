/* Descent from a valid placement. */
#ifndef SX_PLACEMENT_IMPROVE_H
#define SX_PLACEMENT_IMPROVE_H

#include "placement/place.h"

/* Moves single tensors, and swaps two, as long as the latency falls, or stays and faster memories get room;
 * what was valid stays so. `stopped` (may be NULL) is asked now and then. */
void sx_place_improve(sx_place_state *state, bool (*stopped)(const void *user), const void *user);

#endif
