/* Hints that list names. */
#ifndef SX_BASE_HINT_H
#define SX_BASE_HINT_H

#include "base/status.h"
#include "base/text.h"

/* Gives an error the hint "BEFORE LIST" unless the list is empty, and frees the list. Where memory ran out while it was
 * made, that is the error. */
SX_ERROR sx_status sx_error_hint_list(SX_TAKE sx_status error, const char *before, SX_TAKE sx_text *list);

#endif
