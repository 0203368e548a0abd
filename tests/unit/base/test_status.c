#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Asserts the text of an error and frees both. */
static void assert_text(sx_status error, const char *expected) {
    char *text = sx_status_text(error);
    assert_string_equal(text, expected);
    free(text);
    sx_status_free(error);
}

static void success_is_null_and_free_takes_it(void **state) {
    (void)state;
    sx_status_free(SX_OK);
    assert_text(SX_OK, "ok");
}

static void new_error_has_code_and_message_only(void **state) {
    (void)state;
    sx_status error = sx_error_new(SX_ERR_LIMIT, "%d of %s", 3, "many");
    assert_int_equal(error->code, SX_ERR_LIMIT);
    assert_string_equal(error->message, "3 of many");
    assert_null(error->file);
    assert_null(error->hint);
    assert_int_equal(error->line, 0);
    assert_int_equal(error->column, 0);
    assert_text(error, "3 of many");
}

static void error_at_a_place_is_of_input(void **state) {
    (void)state;
    sx_status error = sx_error_at((sx_place){"a.yaml", 3, 7}, "bad %s", "key");
    assert_int_equal(error->code, SX_ERR_INPUT);
    assert_int_equal(error->line, 3);
    assert_int_equal(error->column, 7);
    assert_text(error, "a.yaml:3:7: bad key");
}

static void place_without_line_is_the_file(void **state) {
    (void)state;
    assert_text(sx_error_at((sx_place){"a.yaml", 0, 0}, "empty"), "a.yaml: empty");
    assert_text(sx_error_at((sx_place){NULL, 4, 2}, "nowhere"), "nowhere");
}

static void place_owns_its_name(void **state) {
    (void)state;
    char name[] = "first.yaml";
    sx_status error = sx_error_at((sx_place){name, 1, 1}, "x");
    name[0] = 'X';
    assert_text(error, "first.yaml:1:1: x");
}

static void place_is_given_once(void **state) {
    (void)state;
    sx_status error = sx_error_new(SX_ERR_USAGE, "x");
    assert_ptr_equal(sx_error_place(error, (sx_place){0}), error);
    assert_null(error->file);
    error = sx_error_place(error, (sx_place){"inner", 1, 2});
    error = sx_error_place(error, (sx_place){"outer", 8, 9});
    assert_int_equal(error->code, SX_ERR_USAGE);
    assert_text(error, "inner:1:2: x");
}

static void hint_goes_on_a_line_of_its_own_and_is_replaced(void **state) {
    (void)state;
    sx_status error = sx_error_hint(sx_error_new(SX_ERR_INPUT, "bad"), "try %d", 1);
    assert_string_equal(error->hint, "try 1");
    error = sx_error_hint(error, "try %d", 2);
    assert_text(error, "bad\n  try 2");
    assert_text(sx_error_hint(sx_error_at((sx_place){"f", 1, 2}, "bad"), "mend it"), "f:1:2: bad\n  mend it");
}

static void success_takes_no_place(void **state) {
    (void)state;
    assert_null(sx_error_place(SX_OK, (sx_place){"f", 1, 1}));
}

static void out_of_memory_is_static_and_stays_as_it_is(void **state) {
    (void)state;
    sx_status error = sx_error_memory();
    assert_int_equal(error->code, SX_ERR_MEMORY);
    sx_status hinted = sx_error_hint(error, "buy some");
    assert_ptr_equal(hinted, error);
    assert_ptr_equal(sx_error_place(error, (sx_place){"f", 1, 1}), error);
    assert_null(error->hint);
    assert_null(error->file);
    sx_status_free(error);
    sx_status_free(error);
    assert_text(sx_error_memory(), "out of memory");
}

static void long_texts_are_kept_whole(void **state) {
    (void)state;
    char word[5001];
    memset(word, 'w', 5000);
    word[5000] = 0;
    sx_status error =
        sx_error_hint(sx_error_at((sx_place){word, 2147483647, 2147483647}, "%s", word), "%s", word);
    char *text = sx_status_text(error);
    assert_int_equal(strlen(text), 3 * 5000 + strlen(":2147483647:2147483647: ") + strlen("\n  "));
    free(text);
    sx_status_free(error);
}

static sx_status fail_with(sx_status status, bool *reached) {
    SX_TRY(status);
    *reached = true;
    return SX_OK;
}

static void try_returns_the_failure_and_goes_on_after_success(void **state) {
    (void)state;
    bool reached = false;
    sx_status error = sx_error_new(SX_ERR_INTERNAL, "broken");
    assert_ptr_equal(fail_with(error, &reached), error);
    assert_false(reached);
    assert_null(fail_with(SX_OK, &reached));
    assert_true(reached);
    sx_status_free(error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success_is_null_and_free_takes_it),
        cmocka_unit_test(new_error_has_code_and_message_only),
        cmocka_unit_test(error_at_a_place_is_of_input),
        cmocka_unit_test(place_without_line_is_the_file),
        cmocka_unit_test(place_owns_its_name),
        cmocka_unit_test(place_is_given_once),
        cmocka_unit_test(hint_goes_on_a_line_of_its_own_and_is_replaced),
        cmocka_unit_test(success_takes_no_place),
        cmocka_unit_test(out_of_memory_is_static_and_stays_as_it_is),
        cmocka_unit_test(long_texts_are_kept_whole),
        cmocka_unit_test(try_returns_the_failure_and_goes_on_after_success),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
