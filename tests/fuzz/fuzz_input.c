/* Any text is a set of documents that can be read, or an error. */
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_input((const char *)data, size);
    return 0;
}
