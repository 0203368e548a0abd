/* Adding to a list of warnings. */
#ifndef SX_BASE_WARNINGS_H
#define SX_BASE_WARNINGS_H

#include "base/status.h"
#include "sextant/warnings.h"

#include <stdbool.h>

/* Adds a warning about a place ("file:line:column", may be NULL) unless the list has it. `key`: the key that is
 * not understood, NULL for other warnings. */
void sx_warnings_add(sx_warnings *warnings, const char *place, const char *key, const char *message);

/* Adds the formatted message as a warning about no place. */
void sx_warnings_tell(sx_warnings *warnings, const char *format, ...) SX_PRINTF(2, 3);

/* Adds the formatted message as a warning that a result of the program contradicts another. */
void sx_warnings_fault(sx_warnings *warnings, const char *format, ...) SX_PRINTF(2, 3);

/* Whether a list has such a warning. */
bool sx_warnings_faulty(const sx_warnings *warnings);

/* Adds what another list has. */
void sx_warnings_append(sx_warnings *warnings, const sx_warnings *other);

/* The error, if memory ran out for a warning. */
SX_MUST_USE sx_status sx_warnings_status(const sx_warnings *warnings);

#endif
