/* All texts that one change makes of a JSON text: a value that is gone, is of another kind, or another number; a member more. */
#ifndef SX_TESTS_CHANGED_JSON_H
#define SX_TESTS_CHANGED_JSON_H

#include <stddef.h>

typedef void sx_visit_text(void *user, const char *text);

/* Calls `visit` with each of them, always in the same order. `key`: changes only what is inside that member of the whole; NULL:
 * all. */
void sx_changed_json(const char *text, const char *key, sx_visit_text *visit, void *user);

#endif
