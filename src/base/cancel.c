#include "base/cancel.h"

#include <stdlib.h>

sx_status sx_cancel_new(sx_cancel **out) {
    sx_cancel *cancel = calloc(1, sizeof *cancel);
    if (!cancel) return sx_error_memory();
    *out = cancel;
    return SX_OK;
}

void sx_cancel_free(sx_cancel *cancel) {
    free(cancel);
}

void sx_cancel_set(sx_cancel *cancel) {
    __atomic_store_n(&cancel->set, 1, __ATOMIC_RELAXED);
}

void sx_cancel_clear(sx_cancel *cancel) {
    __atomic_store_n(&cancel->set, 0, __ATOMIC_RELAXED);
}

bool sx_cancel_is_set(const sx_cancel *cancel) {
    return sx_is_cancelled(cancel);
}
