/* Names of dimensions: those that --rename gives, and those that fit a design. */
#ifndef SX_INPUT_RENAME_H
#define SX_INPUT_RENAME_H

#include "base/text.h"
#include "input/args.h"
#include "sextant/network.h"

/* Renames the dimensions of all layers as --rename says; what became what is added to `renamed`. */
SX_MUST_USE sx_status sx_rename_as_told(const sx_args *args, sx_network *network, sx_text *renamed);

/* Whether the names of a problem's dimensions are those that a design uses. */
typedef bool sx_rename_test(void *user, const sx_problem *problem);

/* Renames the dimensions of a convolution to those of another convention where only that fits; false, and
 * nothing renamed, where none does. */
bool sx_rename_to_fit(sx_problem *problem, sx_rename_test *fits, void *user, sx_text *renamed);

#endif
