/* JSON Schemas (draft 2020-12) of the files that commands read, made from the tables of keys that the readers use. */
#ifndef SX_REPORT_SCHEMA_H
#define SX_REPORT_SCHEMA_H

#include "base/text.h"

/* The name of schema `index`, with a line about it; NULL past the last. */
const char *sx_schema_name(size_t index, const char **about);

/* Adds the schema of a name as JSON; an error that lists the names where none matches. */
SX_MUST_USE sx_status sx_schema_write(const char *name, sx_text *out);

#endif
