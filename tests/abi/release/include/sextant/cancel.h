/* Telling a search to stop: any thread may, and a signal handler. */
#ifndef SX_CANCEL_H
#define SX_CANCEL_H

#include "sextant/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Any number of searches may look at one, and end soon after it is set, with the best so far. It must outlive the
 * searches. */
typedef struct sx_cancel sx_cancel;

SX_API SX_MUST_USE sx_status sx_cancel_new(SX_OWN sx_cancel **out);
SX_API void sx_cancel_free(SX_TAKE sx_cancel *cancel);
SX_API void sx_cancel_set(sx_cancel *cancel);
/* Takes it back, for the next search. */
SX_API void sx_cancel_clear(sx_cancel *cancel);
/* Whether it is set; NULL is not. */
SX_API bool sx_cancel_is_set(const sx_cancel *cancel);

#ifdef __cplusplus
}
#endif

#endif
