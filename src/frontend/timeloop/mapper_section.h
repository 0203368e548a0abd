/* Timeloop's `mapper` section: what it optimises for is read, its search settings are not. */
#ifndef SX_FRONTEND_TIMELOOP_MAPPER_SECTION_H
#define SX_FRONTEND_TIMELOOP_MAPPER_SECTION_H

#include "frontend/input.h"
#include "sextant/objective.h"

/* Checks the keys of a `mapper` section and notes those that have no effect. */
SX_MUST_USE sx_status sx_mapper_section_check(sx_input *input, const sx_pair *section);

/* The objective of the `mapper` section and the place of its metrics; place->file is NULL where there is
 * none. */
SX_MUST_USE sx_status sx_input_objective(const sx_input *input, sx_objective *out, sx_place *place);

#endif
