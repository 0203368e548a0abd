/* The graphs of the network that a command maps, where it is a run of a network or the architecture has a vector unit. */
#ifndef SX_CLI_RUN_GRAPH_H
#define SX_CLI_RUN_GRAPH_H

#include "input/sources.h"
#include "sextant/result.h"

/* The graph of a model, a name of the catalog or a file, for one run. *out is freed with sx_graph_fini. */
SX_MUST_USE sx_status sx_model_graph(const sx_args *args, const char *model,
                                     const sx_network_options *options, sx_graph *out);

/* Reads the runs and the layers of a result's network. Its graphs, with the widths of --bits and divided among its chips,
 * stay NULL where --problem is no single whole network and where nothing is to be said of vector operators. Elements have
 * the width of the words of the outermost level. */
SX_MUST_USE sx_status sx_run_network(const sx_args *args, sx_sources *sources, sx_result *r);

#endif
