/* The stand-in for a native compiler: one pass over the tensors, without look-ahead.
 *
 * Source: specification of the environment after EGRL (ICLR 2021), section 4: outputs in the order of the
 * nodes, then weights, each in the fastest memory where its live range fits beside what is placed already.
 * Complexity: memories times steps per tensor. */
#include "placement/place.h"
#include "placement/rule.h"
#include "run/navigator.h"

#include <string.h>

static sx_status compile_placement(const sx_placement_space *space, uint8_t *placement) {
    memcpy(placement, space->compiled, space->space.point_size);
    return SX_OK;
}

static sx_status search_by_compiler(sx_run *run) {
    return sx_place_search_rule(run, compile_placement);
}

SX_NAVIGATOR(compiler) = {
    .space = "placement",
    .complete = true,
    .search = search_by_compiler,
};
