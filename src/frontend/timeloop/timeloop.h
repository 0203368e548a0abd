/* The readers of Timeloop's dialects, one per noun. On an error the output is untouched. */
#ifndef SX_FRONTEND_TIMELOOP_TIMELOOP_H
#define SX_FRONTEND_TIMELOOP_TIMELOOP_H

#include "frontend/input.h"

SX_MUST_USE sx_status sx_timeloop_problem(sx_input *input, sx_problem *out);
SX_MUST_USE sx_status sx_timeloop_arch(sx_input *input, sx_arch *out);
SX_MUST_USE sx_status sx_timeloop_mapping(sx_input *input, const sx_problem *problem, const sx_arch *arch,
                                          sx_mapping *out);
/* The same of a list of directives, wherever it stands. */
SX_MUST_USE sx_status sx_timeloop_directives(sx_input *input, const sx_node *list, const sx_problem *problem,
                                             const sx_arch *arch, sx_mapping *out);

#endif
