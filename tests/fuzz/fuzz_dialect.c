/* Files in the dialects of architectures, problems, constraints and mappings, by a grammar. */
#include "fuzz/fuzz.h"
#include "fuzz/grammar.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = sx_grammar_text("dialect", data, size);
    check_input(text, strlen(text));
    check_constraints(text, strlen(text));
    free(text);
    return 0;
}
