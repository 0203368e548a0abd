/* Certificates by a grammar. */
#include "fuzz/fuzz.h"
#include "fuzz/grammar.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = sx_grammar_text("claim", data, size);
    check_certificate(text, strlen(text));
    free(text);
    return 0;
}
