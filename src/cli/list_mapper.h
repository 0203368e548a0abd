/* The settings of a mapper or a method, for `sextant list NAME`. */
#ifndef SX_CLI_LIST_MAPPER_H
#define SX_CLI_LIST_MAPPER_H

#include "base/text.h"

#include <stdbool.h>

/* Whether a mapper of that name is registered. */
bool sx_is_mapper(const char *name);

/* Adds a table of its settings, or the same as JSON. */
void sx_list_mapper(const char *name, sx_text *out);
SX_MUST_USE sx_status sx_list_mapper_json(const char *name, sx_text *out);

#endif
