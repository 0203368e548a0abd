/* Any text is a family of problems or an error, and what a family draws is a problem; any text describes a surrogate
 * or is an error, and what is read is written to the same text again. */
#include "fuzz/fuzz.h"
#include "surrogate/family.h"
#include "surrogate/surrogate.h"

#include <string.h>

/* Draws a few problems of a family, and reads its text. */
static void check_family(const char *text, size_t size) {
    static sx_family family;
    static sx_problem problem;
    char *line;
    if (!succeeded(sx_family_parse("fuzz.yaml", text, size, &family))) return;
    sx_rng rng = sx_rng_stream(1, "fuzz", 0);
    for (int i = 0; i < 4; i++) {
        sx_family_draw(&family, &rng, &problem);
        promise(succeeded(sx_problem_check(&problem)));
    }
    promise(succeeded(sx_family_text(&family, &line)));
    free(line);
}

/* Writes what was read, and reads that again. */
static void check_surrogate(const char *text) {
    sx_surrogate *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    char *first, *second;
    promise(a && b);
    if (succeeded(sx_surrogate_parse("fuzz", text, a))) {
        promise(succeeded(sx_surrogate_text(a, &first)));
        promise(succeeded(sx_surrogate_parse("fuzz", first, b)));
        promise(succeeded(sx_surrogate_text(b, &second)));
        promise(strcmp(first, second) == 0);
        free(first);
        free(second);
    }
    sx_surrogate_free(a);
    sx_surrogate_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    check_family(text, size);
    check_surrogate(text);
    free(text);
    return 0;
}
