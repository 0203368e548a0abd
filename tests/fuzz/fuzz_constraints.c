/* Any text holds constraints that can be read, or is an error. */
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_constraints((const char *)data, size);
    return 0;
}
