#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void sx_expect_ok(sx_status status) {
    if (!status) return;
    char *text = sx_status_text(status);
    print_error("%s\n", text);
    free(text);
    sx_status_free(status);
    fail();
}

void sx_expect_error(sx_status status, const char *part) {
    char *text = sx_status_text(status);
    bool good = status && text && strstr(text, part);
    if (!good) print_error("expected: %s\nfound:    %s\n", part, text);
    free(text);
    sx_status_free(status);
    assert_true(good);
}

sx_input *sx_expect_input(const char *text) {
    sx_input *input = NULL;
    sx_expect_ok(sx_input_new(&input));
    sx_expect_ok(sx_input_add_text(input, "t.yaml", text, strlen(text)));
    return input;
}

size_t sx_count_notes(const sx_input *input, const char *part) {
    size_t count = 0;
    for (size_t i = 0; sx_input_note(input, i); i++) count += strstr(sx_input_note(input, i), part) != NULL;
    return count;
}

size_t sx_count_warnings(const sx_input *input, const char *part) {
    sx_warnings *list;
    const char *message, *place;
    size_t count = 0;
    sx_expect_ok(sx_warnings_new(&list));
    sx_expect_ok(sx_input_warnings(input, list));
    for (size_t i = 0; (message = sx_warnings_at(list, i, &place)); i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s%s", place ? place : "", place ? ": " : "", message);
        count += strstr(text, part) != NULL;
    }
    sx_warnings_free(list);
    return count;
}

bool sx_is_recorded(const char *name, const uint64_t *found, const uint64_t *recorded, size_t n) {
    if (memcmp(found, recorded, n * sizeof *found) == 0) return true;
    print_error("{\"%s\",\n {", name);
    for (size_t i = 0; i < n; i++)
        print_error("0x%016llxu%s", (unsigned long long)found[i], i + 1 < n ? ", " : "}},\n");
    return false;
}
