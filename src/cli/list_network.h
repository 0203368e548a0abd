/* `sextant list` of one network or architecture: what it consists of. */
#ifndef SX_CLI_LIST_NETWORK_H
#define SX_CLI_LIST_NETWORK_H

#include "base/text.h"
#include "cli/options.h"
#include "sextant/problem.h"

/* Lists the layers of a network of the catalog. */
SX_MUST_USE sx_status sx_list_network(const sx_args *args, const char *name, bool json, sx_text *out);

/* Draws the hierarchy of an architecture of the catalog; as JSON, the architecture. */
SX_MUST_USE sx_status sx_list_arch(const char *name, bool json, sx_text *out);

/* Adds the sizes of a problem, as C64 K128; those of 1 are left out. */
void sx_add_sizes(const sx_problem *problem, sx_text *out);

/* Lists what was understood of an ONNX file. */
SX_MUST_USE sx_status sx_list_onnx(const sx_args *args, const char *path, bool json, sx_text *out);

#endif
