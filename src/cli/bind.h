/* Tensors that architecture, constraints and mapping name, bound to those of a problem. */
#ifndef SX_CLI_BIND_H
#define SX_CLI_BIND_H

#include "base/text.h"
#include "cli/command.h"
#include "codesign/designs.h"
#include "input/sources.h"

#define SX_OPTION_BIND                                                                                       \
    SX_ROW_MANY("bind", 0, "NAME=TENSOR,...", TEXT,                                                          \
                "which tensor of the problem a name in the architecture, the constraints or the mapping "    \
                "means; otherwise names the problem does not have are bound by role (off: by name only)")

/* Gives the tensors of a problem, or of all layers of a network, the names by which the sources call them:
 * those of --bind, then by role. `designs` (may be NULL) name tensors to split levels by. Adds what was
 * bound, and what could not be. */
SX_MUST_USE sx_status sx_bind_problem(const sx_sources *sources, const sx_arch *arch, sx_problem *problem,
                                      sx_output *result);
SX_MUST_USE sx_status sx_bind_network(const sx_sources *sources, const sx_arch *arch,
                                      const sx_designs *designs, sx_network *network, sx_output *result);

#endif
