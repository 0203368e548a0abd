/* Values that are one of a few words. */
#ifndef SX_BASE_CHOICE_H
#define SX_BASE_CHOICE_H

#include "base/status.h"

#include <stddef.h>

/* The place of a value in a list such as "timeloop, tile"; `out` may be NULL. An error about the option where it is none of
 * the words. */
SX_MUST_USE sx_status sx_choice_read(const char *option, const char *value, const char *words, size_t *out);

#endif
