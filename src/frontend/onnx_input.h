/* ONNX files as a part of an input: their symbols are the variables that are set. */
#ifndef SX_FRONTEND_ONNX_INPUT_H
#define SX_FRONTEND_ONNX_INPUT_H

#include "frontend/input.h"
#include "frontend/onnx/onnx.h"

/* Adds a file as a section `graph`; it is read when the graph is. */
SX_MUST_USE sx_status sx_onnx_input_add(sx_input *input, const char *path);

/* The path of the file that is the input's graph, NULL where that is no ONNX file. */
const char *sx_onnx_input_path(const sx_input *input);

/* Reads a file with the variables of an input as its symbols. *out is freed with sx_onnx_fini. */
SX_MUST_USE sx_status sx_onnx_input_read(const sx_input *input, const char *path, sx_onnx *out);

/* The graph of a file; a note says which operations with products are not mapped. */
SX_MUST_USE sx_status sx_onnx_input_graph(sx_input *input, const char *path, sx_graph *out);

#endif
