/* The built-in architectures: the files of share/sextant/archs, in Timeloop's flat dialect. Buffers that are built for one
 * tensor know it by the names Weights, Inputs and Outputs, which every convolution and matrix product of the catalog
 * has; other problems' tensors are bound to these names by role (sx_problem_role) or as asked. */
#include "frontend/catalog/archs.h"

#include "frontend/catalog/catalog.h"

static const sx_catalog_entry entries[] = {
#define ARCH(word, name, about) {name, about, sx_arch_text_##word},
#include "frontend/catalog/archs.def"
};

const sx_catalog_entry *sx_catalog_archs(size_t *n) {
    *n = sizeof entries / sizeof *entries;
    return entries;
}
