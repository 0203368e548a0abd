/* Any text is a certificate or is refused. */
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_certificate((const char *)data, size);
    return 0;
}
