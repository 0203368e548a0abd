/* Any text is a result or is refused; one that is, is written and read back to the same bytes. */
#include "fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sx_result *result, *copy;
    char *text, *again;
    if (!succeeded(sx_result_read("fuzz", (const char *)data, size, &result))) return 0;
    if (succeeded(sx_result_write(result, &text))) {
        promise(succeeded(sx_result_read("written", text, strlen(text), &copy)));
        promise(succeeded(sx_result_write(copy, &again)));
        promise(strcmp(text, again) == 0);
        free(again);
        free(text);
        sx_result_free(copy);
    }
    sx_result_free(result);
    return 0;
}
