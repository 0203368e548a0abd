#include "base/warnings.h"

#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Fails unless a list's warning of an index is that one; a NULL message: there is none. */
static void expect_warning(const sx_warnings *list, size_t index, const char *place, const char *message) {
    const char *where = NULL, *text = sx_warnings_at(list, index, &where);
    assert_int_equal(!text, !message);
    if (!message) return;
    assert_string_equal(text, message);
    assert_int_equal(!where, !place);
    if (place) assert_string_equal(where, place);
}

/* A list keeps each warning once, in their order, and tells places apart. */
static void warnings_are_kept_once(void **state) {
    (void)state;
    sx_warnings *list;
    sx_expect_ok(sx_warnings_new(&list));
    sx_warnings_add(list, "a.yaml:1:2", NULL, "first");
    sx_warnings_add(list, "a.yaml:1:3", NULL, "first");
    sx_warnings_tell(list, "%s %d", "number", 3);
    sx_warnings_add(list, "a.yaml:1:2", NULL, "first");
    sx_warnings_tell(list, "number %d", 3);
    expect_warning(list, 0, "a.yaml:1:2", "first");
    expect_warning(list, 1, "a.yaml:1:3", "first");
    expect_warning(list, 2, NULL, "number 3");
    expect_warning(list, 3, NULL, NULL);
    sx_expect_ok(sx_warnings_status(list));
    sx_warnings_free(list);
}

/* No list is an empty one. */
static void no_list_is_empty(void **state) {
    (void)state;
    const char *place;
    sx_warnings *list;
    assert_null(sx_warnings_at(NULL, 0, &place));
    sx_warnings_free(NULL);
    sx_expect_ok(sx_warnings_new(&list));
    sx_warnings_append(list, NULL);
    sx_warnings_join_keys(list);
    expect_warning(list, 0, NULL, NULL);
    sx_warnings_free(list);
}

/* Keys that are not understood become one warning, after the others, with every key's name once. */
static void keys_are_joined(void **state) {
    (void)state;
    sx_warnings *list, *all;
    sx_expect_ok(sx_warnings_new(&list));
    sx_warnings_add(list, "a.yaml:1:1", "color", "unknown color");
    sx_warnings_add(list, "a.yaml:2:1", NULL, "another warning");
    sx_warnings_add(list, "a.yaml:3:1", "color", "unknown color");
    sx_warnings_add(list, "a.yaml:4:1", "shape", "unknown shape");
    sx_expect_ok(sx_warnings_new(&all));
    sx_warnings_append(all, list);
    sx_warnings_join_keys(all);
    expect_warning(all, 0, "a.yaml:2:1", "another warning");
    expect_warning(all, 1, NULL,
                   "3 keys are not understood and ignored: 'color', 'shape' (--verbose shows where)");
    expect_warning(all, 2, NULL, NULL);
    expect_warning(list, 3, "a.yaml:4:1", "unknown shape");
    sx_warnings_free(all);
    sx_warnings_free(list);
}

/* Of many keys eight are named. */
static void many_keys_are_counted(void **state) {
    (void)state;
    static const char *const names[] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"};
    sx_warnings *list;
    sx_expect_ok(sx_warnings_new(&list));
    for (size_t i = 0; i < 8; i++) sx_warnings_add(list, names[i], names[i], "unknown");
    sx_warnings_join_keys(list);
    expect_warning(list, 0, NULL,
                   "8 keys are not understood and ignored: 'k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7' "
                   "(--verbose shows where)");
    sx_warnings_free(list);
    sx_expect_ok(sx_warnings_new(&list));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        sx_warnings_add(list, names[i], names[i], "unknown");
    sx_warnings_join_keys(list);
    expect_warning(
        list, 0, NULL,
        "10 keys are not understood and ignored: 'k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7' and 2 "
        "others (--verbose shows where)");
    sx_warnings_free(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warnings_are_kept_once),
        cmocka_unit_test(no_list_is_empty),
        cmocka_unit_test(keys_are_joined),
        cmocka_unit_test(many_keys_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
