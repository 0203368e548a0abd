/* The variables that expressions of any section may use. */
#ifndef SX_FRONTEND_TIMELOOP_VARIABLES_H
#define SX_FRONTEND_TIMELOOP_VARIABLES_H

#include "frontend/timeloop/attributes.h"

/* The variables of the section 'variables', a map or a list of maps of which later ones override earlier
 * ones, overridden by those that the user sets. What the scope holds lives as long as the input. */
SX_MUST_USE sx_status sx_variables_scope(sx_input *input, sx_attribute_scope *out);

#endif
