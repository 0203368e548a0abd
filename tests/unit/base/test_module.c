#include "base/module.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef double function(double);

static void a_function_is_found(void **state) {
    (void)state;
    function *root = NULL;
    sx_expect_ok(sx_module_load("libm.so.6", "mathematics", "sqrt", false, &root));
    assert_true(root(9) == 3);
}

static void a_missing_file_is_an_error(void **state) {
    (void)state;
    function *root = NULL;
    sx_expect_error(sx_module_load("libnothing.so", "best", "sqrt", false, &root),
                    "cannot load the best module: libnothing.so: cannot open shared object file");
}

static void a_library_without_the_symbol_is_of_another_version(void **state) {
    (void)state;
    function *root = NULL;
    sx_expect_error(sx_module_load("libm.so.6", "mathematics", "sx_square_root", false, &root),
                    "libm.so.6 is of another version of this program");
    assert_null(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_is_found),
        cmocka_unit_test(a_missing_file_is_an_error),
        cmocka_unit_test(a_library_without_the_symbol_is_of_another_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
