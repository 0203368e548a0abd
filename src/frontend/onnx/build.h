/* From the operations of a trace to the nodes and tensors of a graph. */
#ifndef SX_FRONTEND_ONNX_BUILD_H
#define SX_FRONTEND_ONNX_BUILD_H

#include "base/hash_table.h"
#include "frontend/onnx/rules.h"

typedef struct sx_onnx_builder {
    sx_onnx_trace *trace;
    sx_onnx *out;
    uint32_t *alias;    /* of each value: that which stands for it, itself where none does */
    size_t *tensor;     /* of each value: its tensor in the graph, SX_NO_INDEX: none yet */
    uint32_t *uses;     /* of each value: operations that read it, and one more for an output of the model */
    uint32_t *consumer; /* of each value: the last operation that reads it */
    uint32_t *result;   /* of each operation: the value that its group writes first */
    bool *grouped;      /* of each operation: it is a part of the one before it */
    size_t *first;      /* of each einsum: its first node that is mapped */
    sx_hash_table nodes, tensors; /* their names */
} sx_onnx_builder;

/* Builds the graph of a trace, and the lists beside it. */
SX_MUST_USE sx_status sx_onnx_build(sx_onnx_trace *trace, sx_onnx *out);

/* Finds which operations are parts of others, and which values are others under another name. */
void sx_onnx_group(sx_onnx_builder *b);

/* Adds a tensor called like the operation with a suffix, of the element type of its first input. */
SX_MUST_USE sx_status sx_onnx_add_own_tensor(sx_onnx_builder *b, const sx_onnx_op *op, const char *suffix,
                                             sx_onnx_shape shape, size_t *index);

/* The tensor of a value, which has a known shape and elements. */
SX_MUST_USE sx_status sx_onnx_tensor_of(sx_onnx_builder *b, uint32_t value, size_t *index);

/* Whether a value can be a tensor of the graph: its shape is known, and it has elements. */
bool sx_onnx_is_tensor(const sx_onnx_builder *b, uint32_t value);

/* Whether a value is a tensor of the file, or is made from one element by element. */
bool sx_onnx_is_weight(const sx_onnx_builder *b, uint32_t value);

/* Whether a value that a run is given, and a longer one that it gives, are a cache before and after the run: an input of
 * the model that one operation reads, and an output of the model. */
bool sx_onnx_is_cache(const sx_onnx_builder *b, uint32_t before, uint32_t after);

/* Adds the node that appends a tensor to a state, which has elements of earlier runs before it along a rank. */
SX_MUST_USE sx_status sx_onnx_append(sx_onnx_builder *b, const sx_onnx_op *op, const char *suffix,
                                     size_t state, size_t added, size_t rank, uint64_t before);

/* A new node of the graph, called like the operation with a suffix. */
void sx_onnx_new_node(sx_onnx_builder *b, const sx_onnx_op *op, const char *suffix, sx_op_kind kind,
                      sx_graph_node *out);

/* Adds a node; its name is entered. */
SX_MUST_USE sx_status sx_onnx_add_node(sx_onnx_builder *b, const sx_graph_node *node,
                                       const sx_problem *einsum, const sx_graph_operand *operand,
                                       size_t n_operands);

/* An error that does not know its operation as one that names it; success, and memory that is out, as they are. */
SX_MUST_USE sx_status sx_onnx_named(const sx_onnx_op *op, SX_TAKE sx_status status);

/* Adds a node with an einsum, of which the operands are those of its tensors, and counts it to the layer of
 * its operation. Nodes of equal einsums are of one layer. */
SX_MUST_USE sx_status sx_onnx_add_einsum(sx_onnx_builder *b, const sx_onnx_op *op, const char *suffix,
                                         const sx_problem *einsum, const sx_graph_operand *operand,
                                         uint64_t repeat);

/* The operand that is tensor v of an einsum: ranks as in sx_net_operand. */
SX_MUST_USE sx_status sx_onnx_operand(sx_onnx_builder *b, const sx_problem *einsum, int v, uint32_t value,
                                      const char *ranks, int split, sx_graph_operand *out);

/* Refuses an operation of which n inputs, or output number `output`, are not known in shape, or are too large; *empty is
 * whether one of them has no elements, or the output is left out. The inputs must be there. */
SX_MUST_USE sx_status sx_onnx_ready(const sx_onnx_builder *b, const sx_onnx_op *op, const size_t *input,
                                    size_t n, size_t output, bool *empty);

/* Counts the operations that are not mapped, by their names. */
SX_MUST_USE sx_status sx_onnx_count_rest(sx_onnx_builder *b);

/* Adds the node of an operation that is not mapped. */
SX_MUST_USE sx_status sx_onnx_add_plain(sx_onnx_builder *b, size_t op);

#endif
