/* Hints that list names. */
#include "base/hint.h"

#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_list_is_part_of_the_hint(void **state) {
    sx_text list = {0}, empty = {0};
    (void)state;
    sx_text_add(&list, "a, b");
    sx_expect_error(sx_error_hint_list(sx_error_new(SX_ERR_INPUT, "no"), "known:", &list),
                    "no\n  known: a, b");
    assert_null(list.data);
    sx_expect_error(sx_error_hint_list(sx_error_new(SX_ERR_INPUT, "no"), "known:", &empty), "no");
}

static void a_list_that_is_lost_is_no_shorter_hint(void **state) {
    sx_text list = {0};
    (void)state;
    sx_text_add(&list, "a");
    list.failed = true;
    sx_status status = sx_error_hint_list(sx_error_new(SX_ERR_INPUT, "no"), "known:", &list);
    assert_int_equal(sx_status_code(status), SX_ERR_MEMORY);
    assert_null(list.data);
    sx_status_free(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_part_of_the_hint),
        cmocka_unit_test(a_list_that_is_lost_is_no_shorter_hint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
