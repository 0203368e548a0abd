/* Options that say something of tensors: TENSOR=VALUE,... */
#ifndef SX_INPUT_TENSOR_OPTION_H
#define SX_INPUT_TENSOR_OPTION_H

#include "input/args.h"
#include "sextant/network.h"

/* Applies one part of an option to a network: text is all of the option's value, for messages. The part may be
 * written to. */
typedef sx_status sx_option_part(const char *text, char *part, sx_network *network);

/* Applies all parts of all uses of an option, in order; an error where one overrides another. */
SX_MUST_USE sx_status sx_option_apply(const sx_args *args, const char *option, sx_option_part *apply,
                                      sx_network *network);

/* The tensor of a name, or of that role; -1 where there is none. */
int sx_option_tensor(const sx_problem *problem, const char *name);

/* The error for a tensor of an option that no layer has. */
SX_MUST_USE sx_status sx_option_no_tensor(const char *option, const char *name, const sx_network *network);

#endif
