/* Errors about files name what may have been meant. */
#include "base/file.h"
#include "base/file_error.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The hint for a path that cannot be read. */
static void expect_hint(const char *path, const char *hint) {
    char *text;
    size_t size;
    sx_status status = sx_file_read(path, 100, &text, &size);
    assert_non_null(status);
    assert_string_equal(status->hint, hint);
    sx_status_free(status);
}

static void near_names_and_missing_folders_are_named(void **state) {
    (void)state;
    char folder[] = "file_error.XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    sx_expect_ok(sx_file_write("grid.yaml", "x", 1));
    sx_expect_ok(sx_file_write("grid.yamm", "x", 1));
    expect_hint("gird.yaml", "did you mean 'grid.yaml'?");
    expect_hint("./gird.yaml", "did you mean './grid.yaml'?");
    expect_hint("nothing-like-it", "paths are relative to the current folder");
    expect_hint("absent/grid.yaml", "there is no folder 'absent/'");
    assert_int_equal(unlink("grid.yaml") + unlink("grid.yamm"), 0);
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_names_and_missing_folders_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
