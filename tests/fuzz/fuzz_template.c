/* Templates by a grammar: each becomes a text, of which every position has a place, or is an error. */
#include "fuzz/fuzz.h"
#include "fuzz/grammar.h"
#include "text/template/template.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *names[] = {"N", "W"}, *values[] = {"3", "wide"};
    const sx_template_options options = {.name = names, .value = values, .n_variables = 2};
    sx_arena arena = {.limit = 64 << 20};
    sx_source source;
    char *text = sx_grammar_text("template", data, size);
    if (succeeded(sx_source_text(&arena, &options, "fuzz.yaml", text, strlen(text), &source))) {
        promise(strlen(source.text) <= source.size);
        for (size_t line = 0; line < 4; line++) promise(sx_source_place(&source, line, 0).file);
        sx_source_fini(&source);
    }
    sx_arena_free(&arena);
    check_input(text, strlen(text));
    free(text);
    return 0;
}
