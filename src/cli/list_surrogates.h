/* `sextant list surrogates`. */
#ifndef SX_CLI_LIST_SURROGATES_H
#define SX_CLI_LIST_SURROGATES_H

#include "base/text.h"

#include <jansson.h>

/* Adds a line for each surrogate that comes with the program; or an object to a list. */
SX_MUST_USE sx_status sx_list_surrogates(int indent, sx_text *out);
SX_MUST_USE sx_status sx_list_surrogates_json(json_t *list);

#endif
