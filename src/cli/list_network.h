/* `sextant list` of one network or architecture: what it consists of. */
#ifndef SX_CLI_LIST_NETWORK_H
#define SX_CLI_LIST_NETWORK_H

#include "base/text.h"
#include "base/warnings.h"
#include "cli/options.h"
#include "sextant/network.h"
#include "sextant/problem.h"

#include <jansson.h>

/* Lists the layers of a network of the catalog. */
SX_MUST_USE sx_status sx_list_network(const sx_args *args, const char *name, bool json, sx_warnings *warnings,
                                      sx_text *out);

/* Draws the hierarchy of an architecture of the catalog; as JSON, the architecture. */
SX_MUST_USE sx_status sx_list_arch(const char *name, bool json, sx_text *out);

/* Adds the sizes of a problem, as C64 K128; those of 1 are left out. */
void sx_add_sizes(const sx_problem *problem, sx_text *out);

/* Draws the hierarchy of an architecture, the backing store first. */
void sx_list_draw_arch(sx_arch *arch, sx_text *out);

/* The layers of a network as a table; and as "network" and "layers" of an object. */
SX_MUST_USE sx_status sx_list_layers(const sx_network *network, sx_text *out);
SX_MUST_USE sx_status sx_list_layers_json(const sx_network *network, json_t *object);

/* Whether there is a file at a path; and what is in one. */
bool sx_list_is_file(const char *path);
SX_MUST_USE sx_status sx_list_file(const sx_args *args, const char *path, sx_warnings *warnings,
                                   sx_text *out);

/* Lists what was understood of an ONNX file. */
SX_MUST_USE sx_status sx_list_onnx(const sx_args *args, const char *path, bool json, sx_text *out);

#endif
