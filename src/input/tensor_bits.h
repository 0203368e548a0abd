/* Widths of elements on the command line. */
#ifndef SX_INPUT_TENSOR_BITS_H
#define SX_INPUT_TENSOR_BITS_H

#include "input/args.h"
#include "sextant/network.h"

/* Gives the tensors of all layers the widths of --bits. */
SX_MUST_USE sx_status sx_bits_apply(const sx_args *args, sx_network *network);

/* Gives the tensors of a graph, whose bytes are counted, the widths of --bits: of all tensors, or by role. */
SX_MUST_USE sx_status sx_bits_apply_graph(const sx_args *args, sx_graph *graph);

#endif
