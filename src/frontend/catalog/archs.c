/* The built-in architectures: the files of share/sextant/archs, in Timeloop's flat dialect. Buffers that are built for one
 * tensor know it by the names Weights, Inputs and Outputs, which every convolution and matrix product of the catalog
 * has; other problems' tensors are bound to these names by role (sx_problem_role) or as asked. */
#include "frontend/catalog/archs.h"

#include "frontend/catalog/catalog.h"

#include <string.h>

static const sx_catalog_entry entries[] = {
#define ARCH(word, name, about) {name, about, sx_arch_text_##word},
#include "frontend/catalog/archs.def"
};

const sx_catalog_entry *sx_catalog_archs(size_t *n) {
    *n = sizeof entries / sizeof *entries;
    return entries;
}

/* What the sequencer of Gemmini does: rows of the array take reductions, its columns weights of different outputs; weights
 * stay in the array while inputs stream; a launch has all of its reduction inside, so that no partial sum leaves the
 * accumulators. */
static const char gemmini_constraints[] =
    "constraints:\n"
    "- {type: spatial, target: Scratchpad, no_iteration_over_dataspaces: [Inputs]}\n"
    "- {type: spatial, target: Accumulator, no_iteration_over_dataspaces: [Outputs]}\n"
    "- {type: temporal, target: Registers, no_iteration_over_dataspaces: [Weights]}\n"
    "- {type: temporal, target: Scratchpad, default_max_factor: 1}\n"
    "- {type: temporal, target: DRAM, must_iterate_over_dataspaces: [Outputs]}\n"
    "- {type: dataspace, target: Scratchpad, keep_only: [Inputs, Weights]}\n"
    "- {type: dataspace, target: Accumulator, keep_only: [Outputs]}\n"
    "- {type: dataspace, target: DRAM, keep: '*'}\n";

const char *sx_catalog_constraints(const char *arch) {
    return strcmp(arch, "gemmini") == 0 ? gemmini_constraints : NULL;
}
