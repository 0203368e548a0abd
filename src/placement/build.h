/* From a graph to a placement graph: what its files share. */
#ifndef SX_PLACEMENT_BUILD_H
#define SX_PLACEMENT_BUILD_H

#include "base/vector.h"
#include "sextant/placement.h"

/* A placement graph under construction. */
typedef struct sx_place_build {
    const sx_graph *graph;
    uint32_t bytes; /* of an element; 0: as the graph says */
    bool operators;
    sx_vector node;  /* sx_place_node */
    sx_vector input; /* size_t */
    size_t *made;    /* by tensor of the graph: the node whose output it is; SX_NO_INDEX: none */
    size_t *fused;   /* by node of the graph: the addition that it is computed in; SX_NO_INDEX: none */
    size_t *einsum;  /* by addition: the node of the graph that is computed in it; SX_NO_INDEX: none */
    size_t mask;     /* the node that prepares the attention mask; SX_NO_INDEX: none yet */
} sx_place_build;

/* Where features stand in Table 1. */
enum {
    SX_FEATURE_OPID,
    SX_FEATURE_WEIGHT_SIZE,
    SX_FEATURE_IFM, /* x, y, z */
    SX_FEATURE_OFM = SX_FEATURE_IFM + 3,
    SX_FEATURE_IFM_SIZE = SX_FEATURE_OFM + 3,
    SX_FEATURE_OFM_SIZE,
    SX_FEATURE_OPS_LEFT,
    SX_FEATURE_WEIGHTS_LEFT,
    SX_FEATURE_GROUPS,
    SX_FEATURE_KERNEL_X,
    SX_FEATURE_KERNEL_Y,
    SX_FEATURE_STRIDE,
    SX_FEATURE_PAD,
    SX_FEATURE_DILATION,
    SX_FEATURE_BATCH,
};

/* Appends a node that reads the outputs of n nodes, each counted once; returns its number. Where memory is out
 * the vectors have failed. */
size_t sx_place_add(sx_place_build *build, const sx_place_node *node, const size_t *inputs, size_t n);

/* Appends a node that reads one output and writes as much: a step of a framework that computes elements. */
size_t sx_place_add_step(sx_place_build *build, const char *name, const char *step, sx_op_class op,
                         size_t input, uint64_t weight_bytes);

/* Appends the operators of node number `at` of the graph, described by `node`. */
void sx_place_add_operators(sx_place_build *build, size_t at, sx_place_node *node, const size_t *inputs,
                            size_t n);

/* Fills in the features that tensors and einsum of node number `at` of the graph decide. */
void sx_place_features(const sx_place_build *build, size_t at, sx_place_node *node);

/* The class of an einsum. */
sx_op_class sx_place_einsum_class(const sx_graph *graph, const sx_graph_node *node);

#endif
