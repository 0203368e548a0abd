/* What other readers take of Timeloop's dialects. */
#ifndef SX_FRONTEND_TIMELOOP_TIMELOOP_H
#define SX_FRONTEND_TIMELOOP_TIMELOOP_H

#include "frontend/input.h"

/* A mapping of a list of directives, wherever it stands; on an error it is untouched. */
SX_MUST_USE sx_status sx_timeloop_directives(sx_input *input, const sx_node *list, const sx_problem *problem,
                                             const sx_arch *arch, sx_mapping *out);

#endif
