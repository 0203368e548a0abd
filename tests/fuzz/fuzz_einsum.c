/* Any text is an einsum, a sound problem that writes and reads back to itself, or an error. */
#include "fuzz/fuzz.h"

#include <string.h>

/* The problem, written as a document, reads back to the same bytes. */
static void check_document(const sx_problem *problem, sx_format format) {
    char *text;
    sx_input *input;
    sx_problem again;
    promise(succeeded(sx_problem_write(problem, format, &text)));
    promise(succeeded(sx_input_new(&input)));
    promise(succeeded(sx_input_add_text(input, "written", text, strlen(text))));
    promise(succeeded(sx_input_problem(input, &again)));
    promise(memcmp(problem, &again, sizeof again) == 0);
    sx_input_free(input);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1), *written;
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = 0;
    sx_problem problem, again;
    if (succeeded(sx_einsum_parse(text, &problem))) {
        promise(succeeded(sx_problem_check(&problem)));
        promise(succeeded(sx_einsum_text(&problem, &written)));
        promise(succeeded(sx_einsum_parse(written, &again)));
        promise(memcmp(&problem, &again, sizeof again) == 0);
        check_document(&problem, SX_YAML);
        check_document(&problem, SX_JSON);
        free(written);
    }
    free(text);
    return 0;
}
