#define _XOPEN_SOURCE 700 /* mkdtemp, symlink */
#include "text/path_scope.h"

#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char top[] = "/tmp/sextant-scope-XXXXXX", before[4096];

static void make_file(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

/* A folder with a file, a folder with another one, and a link that leads from the second folder to the first. */
static int make_folders(void **state) {
    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    assert_non_null(mkdtemp(top));
    assert_int_equal(chdir(top), 0);
    assert_int_equal(mkdir("inner", 0700), 0);
    make_file("outer.mtx");
    make_file("inner/own.mtx");
    assert_int_equal(symlink("../outer.mtx", "inner/link.mtx"), 0);
    return 0;
}

static int remove_folders(void **state) {
    (void)state;
    (void)unlink("inner/link.mtx");
    (void)unlink("inner/own.mtx");
    (void)unlink("outer.mtx");
    (void)rmdir("inner");
    (void)rmdir(top);
    return chdir(before);
}

static void test_below(void **state) {
    (void)state;
    assert_true(sx_path_below("/a/b", "/a"));
    assert_true(sx_path_below("/a", "/a"));
    assert_true(sx_path_below("/a", "/"));
    assert_false(sx_path_below("/ab", "/a"));
    assert_false(sx_path_below("/b/a", "/a"));
}

static void test_own_folder_comes_first(void **state) {
    (void)state;
    char path[SX_PATH_SIZE];
    const sx_place place = {"inner/problem.yaml", 3, 4};
    sx_expect_ok(sx_path_find(NULL, place, "file", "own.mtx", path));
    assert_string_equal(path, "inner/own.mtx");
    sx_expect_ok(sx_path_find(NULL, place, "file", "nowhere.mtx", path));
    assert_string_equal(path, "nowhere.mtx");
}

static void test_outside_is_refused(void **state) {
    (void)state;
    static const char *const names[] = {"../outer.mtx", "outer.mtx", "link.mtx", "/etc/passwd"};
    char path[SX_PATH_SIZE];
    const sx_place place = {"inner/problem.yaml", 3, 4};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sx_status status = sx_path_find(NULL, place, "file", names[i], path);
        assert_non_null(status);
        assert_int_equal(status->code, SX_ERR_FILE);
        assert_int_equal(status->line, 3);
        sx_status_free(status);
    }
}

static void test_given_folders_count(void **state) {
    (void)state;
    const char *folder[] = {""};
    const sx_path_scope scope = {.folder = folder, .n_folders = 1};
    char path[SX_PATH_SIZE];
    const sx_place place = {"inner/problem.yaml", 3, 4};
    sx_expect_ok(sx_path_find(&scope, place, "file", "outer.mtx", path));
    assert_string_equal(path, "outer.mtx");
    sx_expect_ok(sx_path_find(&scope, place, "file", "link.mtx", path));
    sx_expect_ok(sx_path_find(&sx_path_any, place, "file", "/etc/passwd", path));
    sx_status status = sx_path_find(&scope, place, "file", "/etc/passwd", path);
    assert_non_null(status);
    assert_non_null(strstr(status->hint, "--include-path /etc/"));
    sx_status_free(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_own_folder_comes_first),
        cmocka_unit_test(test_outside_is_refused),
        cmocka_unit_test(test_given_folders_count),
    };
    return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
