/* Reading the section `graph`. */
#ifndef SX_FRONTEND_GRAPH_READ_H
#define SX_FRONTEND_GRAPH_READ_H

#include "frontend/input.h"

/* The graph of an input; on an error the output is untouched. */
SX_MUST_USE sx_status sx_graph_read(sx_input *input, sx_graph *out);

#endif
