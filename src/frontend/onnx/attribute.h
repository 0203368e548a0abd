/* The attributes of a node. Those of a function's body may stand for attributes of the node that calls it. */
#ifndef SX_FRONTEND_ONNX_ATTRIBUTE_H
#define SX_FRONTEND_ONNX_ATTRIBUTE_H

#include "frontend/onnx/model.h"

/* A call of a function: its node, the call within which that is (NULL: none), and the function. */
typedef struct sx_onnx_call {
    const sx_onnx_node *node;
    const struct sx_onnx_call *outer;
    const sx_onnx_graph *function;
    const char *name; /* of the node */
} sx_onnx_call;

/* A node as a part of a call (NULL: of the model's graph). */
typedef struct sx_onnx_place {
    const sx_onnx_node *node;
    const sx_onnx_call *call;
} sx_onnx_place;

/* The message of an attribute; no data where the node does not have it. */
sx_bytes sx_onnx_attribute(sx_onnx_place place, const char *name);

/* A whole number, or the given one. Numbers beyond 2^40 are cut to it. */
int64_t sx_onnx_int(sx_onnx_place place, const char *name, int64_t otherwise);

/* Reads up to `room` whole numbers; returns how many there are, -1 where the node does not have the attribute. */
int sx_onnx_ints(sx_onnx_place place, const char *name, int64_t *out, int room);

/* Reads up to `room` real numbers likewise. */
int sx_onnx_floats(sx_onnx_place place, const char *name, double *out, int room);

/* A text, or an empty one. */
sx_bytes sx_onnx_string(sx_onnx_place place, const char *name);

/* A tensor or a graph; false where the node does not have it. */
bool sx_onnx_attribute_tensor(sx_onnx_place place, const char *name, sx_bytes *out);
bool sx_onnx_attribute_graph(sx_onnx_place place, const char *name, sx_bytes *out);

#endif
