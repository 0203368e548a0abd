/* Networks and chips of the commands that place. */
#ifndef SX_CLI_PLACE_INPUT_H
#define SX_CLI_PLACE_INPUT_H

#include "cli/options.h"
#include "sextant/placement.h"
#include "sextant/warnings.h"

#define SX_DEFAULT_CHIP "nnpi"

#define SX_OPTION_BYTES                                                                                      \
    SX_ROW_ONCE("bytes", 0, "N", COUNT, "bytes of an element of every tensor (as the graph says: 1)")
#define SX_OPTION_CHIP(letter)                                                                               \
    SX_ROW_ONCE("chip", letter, "FILE|NAME", INPUT,                                                          \
                "the chip: a name of `sextant list chips`, or a file that describes one (" SX_DEFAULT_CHIP   \
                ")")

/* Reads --chip. */
SX_MUST_USE sx_status sx_place_read_chip(const sx_args *args, sx_chip *out);

/* Reads a value of --graph, with --batch and --bytes, and adds the warnings about its file; *out is freed with
 * sx_place_graph_fini. */
SX_MUST_USE sx_status sx_place_read_graph(const sx_args *args, const char *value, sx_warnings *warnings,
                                          sx_place_graph *out);

#endif
