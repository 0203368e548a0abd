#include "sextant/all.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void optional_parts_are_lines(void **state) {
    (void)state;
    const char *features = sx_features();
    size_t size = strlen(features);
    assert_true(size == 0 || features[size - 1] == '\n');
    assert_null(strstr(features, "\n\n"));
}

static void the_database_is_there_as_told(void **state) {
    (void)state;
    const char *engine = sx_store_engine(), *told = strstr(sx_features(), "SQLite");
    assert_int_equal(engine != NULL, told != NULL);
    if (engine) return;
    sx_store *store = NULL;
    sx_expect_error(sx_store_open("a.db", &store), "this build of Sextant has no database");
    assert_null(store);
    sx_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optional_parts_are_lines),
        cmocka_unit_test(the_database_is_there_as_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
