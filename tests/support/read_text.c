#include "support/read_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* An input that holds a text; fails the test on an error. */
static sx_input *new_input(void) {
    sx_input *input;
    assert_null(sx_input_new(&input));
    return input;
}

/* Adds a text and reads its architecture. */
static sx_status read_into(sx_input *input, const char *text, sx_arch *out) {
    SX_TRY(sx_input_add_text(input, "t.yaml", text, strlen(text)));
    return sx_input_arch(input, out);
}

void sx_read_arch(const char *text, sx_arch *out) {
    sx_input *input = new_input();
    sx_status error = read_into(input, text, out);
    char *why = error ? sx_status_text(error) : NULL;
    sx_status_free(error);
    sx_input_free(input);
    if (why) print_error("%s\n%s\n", text, why);
    free(why);
    assert_null(error);
}

/* Whether a text is refused as said, and nothing was written; says what differs. */
static bool refused(const sx_refused *c) {
    static sx_arch arch, untouched;
    sx_input *input = new_input();
    sx_status error = read_into(input, c->text, &arch);
    char place[32] = "";
    if (error) snprintf(place, sizeof place, "%d:%d", error->line, error->column);
    bool good = error && strcmp(place, c->place) == 0 && strcmp(error->message, c->message) == 0 &&
                (!c->hint || (error->hint && strcmp(error->hint, c->hint) == 0));
    char *why = error ? sx_status_text(error) : NULL;
    if (!good) print_error("%s\nexpected %s: %s\n", c->text, c->place, c->message);
    if (!good) print_error("found    %s\n", why ? why : "no error");
    free(why);
    sx_status_free(error);
    sx_input_free(input);
    return good && memcmp(&arch, &untouched, sizeof arch) == 0;
}

void sx_assert_archs_refused(const sx_refused *cases, size_t n) {
    bool good = true;
    for (size_t i = 0; i < n; i++) good = refused(&cases[i]) && good;
    assert_true(good);
}

size_t sx_count_arch_notes(const char *text, const char *part) {
    static sx_arch arch;
    sx_input *input = new_input();
    size_t count = 0;
    assert_null(read_into(input, text, &arch));
    for (size_t i = 0; sx_input_note(input, i); i++) count += strstr(sx_input_note(input, i), part) != NULL;
    sx_input_free(input);
    return count;
}
