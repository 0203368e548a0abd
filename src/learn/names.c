#include "learn/names.h"

#include "base/text.h"

#include <string.h>

sx_status sx_name_find(const char *what, const char *name, const char *const *names, size_t n, size_t *out) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = i;
        return SX_OK;
    }
    sx_text list = {0};
    for (size_t i = 0; i < n; i++) sx_text_add(&list, "%s%s", i ? ", " : "", names[i]);
    sx_status error = sx_error_new(SX_ERR_USAGE, "unknown %s '%s'", what, name);
    if (!list.failed) error = sx_error_hint(error, "known: %s", list.data);
    sx_text_free(&list);
    return error;
}
