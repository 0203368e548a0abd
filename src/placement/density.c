/* Tensors in the order of the time that they save per byte and step of capacity, outputs and weights together,
 * each in the fastest memory where it fits beside those before it. What a tensor saves is the difference that
 * it makes alone, moved from the slowest to the fastest memory.
 *
 * Source: none; the greedy rule for knapsacks. Complexity: memories times steps per tensor, and sorting. */
#include "placement/place.h"
#include "placement/rule.h"
#include "run/navigator.h"

static sx_status search_by_density(sx_run *run) {
    return sx_place_search_rule(run, sx_place_density);
}

SX_NAVIGATOR(density) = {
    .space = "placement",
    .complete = true,
    .search = search_by_density,
};
