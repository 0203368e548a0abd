/* Names of choices. */
#ifndef SX_LEARN_NAMES_H
#define SX_LEARN_NAMES_H

#include "base/status.h"

/* The index of a name; an error that names the nearest and all of them otherwise. */
SX_MUST_USE sx_status sx_name_find(const char *what, const char *name, const char *const *names, size_t n,
                                   size_t *out);

#endif
