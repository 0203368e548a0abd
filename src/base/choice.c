#include "base/choice.h"

#include <string.h>

sx_status sx_choice_read(const char *option, const char *value, const char *words, size_t *out) {
    const size_t length = strlen(value);
    size_t index = 0;
    for (const char *word = words; word; index++) {
        const size_t n = strcspn(word, ",");
        if (n == length && memcmp(word, value, n) == 0) {
            if (out) *out = index;
            return SX_OK;
        }
        word = word[n] ? word + n + 2 : NULL;
    }
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "%s: '%s' is not a valid value", option, value),
                         "valid value%s: %s", strchr(words, ',') ? "s" : "", words);
}
