#include "support/read_text.h"

#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void sx_read_arch(const char *text, sx_arch *out) {
    sx_input *input = sx_expect_input(text);
    sx_expect_ok(sx_input_arch(input, out));
    sx_input_free(input);
}

/* Whether a text is refused as said, and nothing was written; says what differs. */
static bool refused(const sx_refused *c) {
    static sx_arch arch, untouched;
    sx_input *input = sx_expect_input(c->text);
    sx_status error = sx_input_arch(input, &arch);
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

/* Counts something of an input from which an architecture was read. */
static size_t count_of_arch(const char *text, const char *part,
                            size_t (*count)(const sx_input *, const char *)) {
    static sx_arch arch;
    sx_input *input = sx_expect_input(text);
    sx_expect_ok(sx_input_arch(input, &arch));
    size_t n = count(input, part);
    sx_input_free(input);
    return n;
}

size_t sx_count_arch_notes(const char *text, const char *part) {
    return count_of_arch(text, part, sx_count_notes);
}

size_t sx_count_arch_warnings(const char *text, const char *part) {
    return count_of_arch(text, part, sx_count_warnings);
}
