#include "base/cancel.h"

void sx_cancel_set(sx_cancel *cancel) {
    __atomic_store_n(&cancel->set, 1, __ATOMIC_RELAXED);
}

void sx_cancel_clear(sx_cancel *cancel) {
    __atomic_store_n(&cancel->set, 0, __ATOMIC_RELAXED);
}

bool sx_cancel_is_set(const sx_cancel *cancel) {
    return sx_is_cancelled(cancel);
}
