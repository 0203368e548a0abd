/* Widths of elements on the command line. */
#ifndef SX_INPUT_TENSOR_BITS_H
#define SX_INPUT_TENSOR_BITS_H

#include "input/args.h"
#include "sextant/network.h"

/* Gives the tensors of all layers the widths of --bits. */
SX_MUST_USE sx_status sx_bits_apply(const sx_args *args, sx_network *network);

#endif
