/* Warnings: what may make an answer another one than was meant. */
#ifndef SX_WARNINGS_H
#define SX_WARNINGS_H

#include "sextant/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A list of warnings, each once. NULL is an empty one wherever a list is only read. */
typedef struct sx_warnings sx_warnings;

SX_API SX_MUST_USE sx_status sx_warnings_new(SX_OWN sx_warnings **out);
SX_API void sx_warnings_free(SX_TAKE sx_warnings *warnings);

/* The message of warning number `index`, NULL past the last. *place is "file:line:column", or NULL where the
 * warning is about no place of a file. */
SX_API const char *sx_warnings_at(const sx_warnings *warnings, size_t index, const char **place);

/* Replaces the warnings about keys that are not understood by a single one that names the keys. */
SX_API void sx_warnings_join_keys(sx_warnings *warnings);

#ifdef __cplusplus
}
#endif

#endif
