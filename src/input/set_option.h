/* The option --set NAME=VALUE. */
#ifndef SX_INPUT_SET_OPTION_H
#define SX_INPUT_SET_OPTION_H

#include "input/sources.h"

/* Gives an input the variables of --set; the inputs of a command share what is kept of their use. */
SX_MUST_USE sx_status sx_set_option_apply(const sx_args *args, sx_input *input);

/* The error for a name of --set that nothing read so far uses. */
SX_MUST_USE sx_status sx_set_option_check(const sx_args *args);

/* The same for the files of a command; what it did not need of them is read first, since it may use the name. Constraints
 * are those of a problem on an architecture, or of all that the files hold (NULL). */
SX_MUST_USE sx_status sx_set_option_check_files(sx_sources *sources, const sx_problem *problem,
                                                const sx_arch *arch);

#endif
