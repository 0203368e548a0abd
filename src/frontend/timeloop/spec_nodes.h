/* Values of an architecture of v0.4 that expressions name by what holds them: NODE.spatial.meshX, NODE.attributes.KEY,
 * spec.problem.instance.R; and the sizes of arrays, ARRAY_WORDLINES and its like, which follow from the nodes that are
 * tagged !ArrayContainer, and histograms of the problem's tensors, TENSOR_HIST, as in CiMLoop. */
#ifndef SX_FRONTEND_TIMELOOP_SPEC_NODES_H
#define SX_FRONTEND_TIMELOOP_SPEC_NODES_H

#include "frontend/input.h"

enum { SX_SPEC_FACTORS = 64 };

/* A value as a product of others; without factors it is 1. */
typedef struct sx_spec_product {
    struct {
        const sx_node *value;
        const sx_node *attributes; /* whose names the value may use; NULL: variables alone */
    } factor[SX_SPEC_FACTORS];
    size_t n;
    const char *times; /* a variable that counts, too; NULL: none */
} sx_spec_product;

/* What a name with dots stands for; false where that is nothing. */
bool sx_spec_find(const sx_input *input, const char *name, sx_spec_product *out);

/* What the name of a size of arrays stands for; false where it is no such name, or there is no !ArrayContainer. */
bool sx_spec_array(const sx_input *input, const char *name, sx_spec_product *out);

/* The histogram of the problem that a variable such as INPUTS_HIST stands for; false where there is none. */
bool sx_spec_histogram(const sx_input *input, const char *name, const sx_pair **out);

/* The attributes of the node of the architecture in whose constraints a node stands; NULL where there are none. */
const sx_node *sx_spec_attributes(const sx_input *input, const sx_node *constraint);

#endif
