/* What the navigators of this build say of themselves, and what is asked of them by name. */
#include "base/text.h"
#include "registry/registry.h"
#include "sextant/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The names of which something is said. */
static void expect_names(bool (*says)(const char *), const char *expected) {
    sx_text names = {0};
    for (size_t i = 0; i < sx_navigators.n; i++)
        if (says(sx_navigators.entry[i].name)) sx_text_add(&names, "%s ", sx_navigators.entry[i].name);
    assert_string_equal(names.data ? names.data : "", expected);
    sx_text_free(&names);
    assert_false(says("none") || says(""));
}

static void some_look_at_everything(void **state) {
    (void)state;
    expect_names(sx_navigator_complete, "exhaustive sunstone cosa optimal auto padding divisors exact "
                                        "compiler density greedy_dp place_exact place_mip ");
}

static void some_prove(void **state) {
    (void)state;
    expect_names(sx_navigator_proves, "optimal auto ");
    assert_true(sx_navigator_proves("optimal:gamma=0"));
}

static void some_ask_an_outside_evaluator(void **state) {
    (void)state;
    expect_names(sx_navigator_measures, "bayes gradient auto ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_look_at_everything),
        cmocka_unit_test(some_prove),
        cmocka_unit_test(some_ask_an_outside_evaluator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
