#include "learn/names.h"

#include "base/hint.h"

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
    return sx_error_hint_list(error, "known:", &list);
}
