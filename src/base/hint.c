#include "base/hint.h"

sx_status sx_error_hint_list(sx_status error, const char *before, sx_text *list) {
    const bool failed = list->failed;
    if (!failed && list->size) error = sx_error_hint(error, "%s %s", before, list->data);
    sx_text_free(list);
    if (!failed) return error;
    sx_status_free(error);
    return sx_error_memory();
}
