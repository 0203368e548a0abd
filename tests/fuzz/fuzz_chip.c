/* Any text is a chip that keeps every rule, and on which a small network has placements, or is an error. */
#include "fuzz/fuzz.h"

#include "placement/place.h"
#include "sextant/placement.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sx_chip chip;
    sx_place_node node[2] = {{.ops = 1000, .weight_bytes = 100, .weight_read = 100, .activation_bytes = 50},
                             {.ops = 10, .activation_bytes = 20}};
    size_t zero = 0, one = 1;
    const sx_place_graph graph = {.n_nodes = 2, .n_edges = 1, .node = node, .input = &zero, .user = &one};
    sx_space *space;
    node[0].n_users = node[0].last = node[1].n_inputs = node[1].last = 1;
    if (!succeeded(sx_chip_parse("fuzz.yaml", (const char *)data, size, &chip))) return 0;
    promise(succeeded(sx_chip_check(&chip)));
    promise(chip.name[0] && memchr(chip.name, 0, sizeof chip.name));
    if (!succeeded(sx_placement_space_new(&graph, &chip, &space))) return 0;
    sx_placement_cost cost;
    sx_placement_evaluate(space, sx_placement_space_of(space)->compiled, &cost);
    promise(cost.valid && isfinite(cost.latency) && cost.latency >= 0 && isfinite(cost.energy));
    sx_space_free(space);
    return 0;
}
