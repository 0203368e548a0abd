/* What the files that are read together do with the names that a user sets (--set): which of them they use, and which names
 * could be set for them. */
#ifndef SX_TEXT_SETTINGS_H
#define SX_TEXT_SETTINGS_H

#include "base/status.h"
#include "base/vector.h"

#include <stdbool.h>

/* Begins as zeros. */
typedef struct sx_settings {
    sx_vector names;
} sx_settings;

void sx_settings_fini(sx_settings *settings);

/* Keeps that a name can be set and, where `used`, that the value that was set for it is used. `settings` may be NULL. */
SX_MUST_USE sx_status sx_settings_know(sx_settings *settings, const char *name, bool used);

/* The error for a name that is set and not used: it lists the names that can be set, the nearest first. */
SX_MUST_USE sx_status sx_settings_check(const sx_settings *settings, const char *name, const char *value);

#endif
