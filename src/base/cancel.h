/* Looking at a cancel object from inner loops. */
#ifndef SX_BASE_CANCEL_H
#define SX_BASE_CANCEL_H

#include "sextant/error.h"

/* Whether a search should stop; NULL: it should not. */
static inline bool sx_is_cancelled(const sx_cancel *cancel) {
    return cancel && __atomic_load_n(&cancel->set, __ATOMIC_RELAXED) != 0;
}

#endif
