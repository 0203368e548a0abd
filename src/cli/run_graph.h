/* The graph of the network that a command maps, where it is one run of a network or the architecture has a vector unit. */
#ifndef SX_CLI_RUN_GRAPH_H
#define SX_CLI_RUN_GRAPH_H

#include "input/sources.h"

/* Reads the graph, with the widths of --bits; *out stays NULL where --problem is no single whole network, for --phase
 * both, and where nothing is to be said of vector operators. It is freed with sx_graph_fini and free. */
SX_MUST_USE sx_status sx_run_graph(const sx_args *args, sx_sources *sources, const sx_arch *arch,
                                   SX_OWN sx_graph **out);

#endif
