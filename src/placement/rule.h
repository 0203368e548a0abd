/* Navigators that evaluate the placement of a fixed rule. */
#ifndef SX_PLACEMENT_RULE_H
#define SX_PLACEMENT_RULE_H

#include "placement/place.h"
#include "sextant/navigator.h"

/* Evaluates the start points and the placement of a rule. */
typedef sx_status sx_place_rule(const sx_placement_space *space, uint8_t *placement);
SX_MUST_USE sx_status sx_place_search_rule(sx_run *run, sx_place_rule *rule);

#endif
