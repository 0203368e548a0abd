#define _DEFAULT_SOURCE /* flock */
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A scratch folder; every test uses its own. */
static char folder[64];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/sextant-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

/* The path of a file in the scratch folder, in one of two buffers by turns. */
static const char *in_folder(const char *name) {
    static char path[2][512];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

/* How many files the scratch folder holds. */
static int files_in_folder(void) {
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = readdir(dir));) n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static int remove_folder(void **state) {
    (void)state;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.') remove(in_folder(entry->d_name));
    closedir(dir);
    return rmdir(folder);
}

/* Asserts that a call failed with a code and a message that holds `part`. */
static void assert_fails(sx_status status, sx_code code, const char *part) {
    assert_non_null(status);
    assert_int_equal(status->code, code);
    assert_non_null(strstr(status->message, part));
    sx_status_free(status);
}

static void written_bytes_are_read_back(void **state) {
    (void)state;
    const char bytes[] = "first\nsecond\0third";
    char *text;
    size_t size;
    assert_null(sx_file_write(in_folder("a"), bytes, sizeof bytes));
    assert_null(sx_file_read(in_folder("a"), 1000, &text, &size));
    assert_int_equal(size, sizeof bytes);
    assert_memory_equal(text, bytes, sizeof bytes);
    assert_int_equal(text[size], 0);
    free(text);
}

static void empty_file_is_an_empty_text(void **state) {
    (void)state;
    char *text;
    size_t size = 9;
    assert_null(sx_file_write(in_folder("a"), "", 0));
    assert_null(sx_file_read(in_folder("a"), 0, &text, &size));
    assert_int_equal(size, 0);
    assert_string_equal(text, "");
    free(text);
}

static void large_file_is_whole(void **state) {
    (void)state;
    enum { SIZE = 300001 };
    char *bytes = malloc(SIZE), *text;
    size_t size;
    for (int i = 0; i < SIZE; i++) bytes[i] = (char)(i * 31 + i / 256);
    assert_null(sx_file_write(in_folder("a"), bytes, SIZE));
    assert_null(sx_file_read(in_folder("a"), SIZE, &text, &size));
    assert_int_equal(size, SIZE);
    assert_memory_equal(text, bytes, SIZE);
    free(text);
    free(bytes);
}

static void writing_replaces_and_leaves_nothing_else(void **state) {
    (void)state;
    char *text;
    size_t size;
    struct stat info;
    assert_null(sx_file_write(in_folder("a"), "a longer first text", 19));
    assert_null(sx_file_write(in_folder("a"), "second", 6));
    assert_null(sx_file_read(in_folder("a"), 100, &text, &size));
    assert_string_equal(text, "second");
    free(text);
    assert_int_equal(files_in_folder(), 1);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat(in_folder("a"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0666 & ~mask);
}

static void a_file_keeps_its_permissions(void **state) {
    (void)state;
    struct stat info;
    assert_null(sx_file_write(in_folder("a"), "first", 5));
    assert_int_equal(chmod(in_folder("a"), 0600), 0);
    assert_null(sx_file_write(in_folder("a"), "second", 6));
    assert_int_equal(stat(in_folder("a"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void link_stays_a_link_to_the_new_text(void **state) {
    (void)state;
    char *text;
    size_t size;
    struct stat info;
    assert_null(sx_file_write(in_folder("a"), "old", 3));
    assert_int_equal(symlink("a", in_folder("link")), 0);
    assert_int_equal(stat(in_folder("a"), &info), 0);
    ino_t before = info.st_ino;
    assert_null(sx_file_write(in_folder("link"), "new", 3));
    assert_int_equal(stat(in_folder("a"), &info), 0);
    assert_true(info.st_ino != before);
    assert_int_equal(lstat(in_folder("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_null(sx_file_read(in_folder("a"), 100, &text, &size));
    assert_string_equal(text, "new");
    free(text);
    assert_int_equal(files_in_folder(), 2);
}

static void pipe_is_written_to_and_stays_a_pipe(void **state) {
    (void)state;
    struct stat info;
    char got[4] = "";
    assert_int_equal(mkfifo(in_folder("p"), 0600), 0);
    int fd = open(in_folder("p"), O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_null(sx_file_write(in_folder("p"), "abc", 3));
    assert_int_equal(read(fd, got, 3), 3);
    close(fd);
    assert_string_equal(got, "abc");
    assert_int_equal(stat(in_folder("p"), &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
}

static void failed_write_keeps_the_old_and_leaves_nothing(void **state) {
    (void)state;
    assert_int_equal(mkdir(in_folder("d"), 0755), 0);
    assert_fails(sx_file_write(in_folder("d"), "x", 1), SX_ERR_WRITE, "cannot write");
    struct stat info;
    assert_int_equal(stat(in_folder("d"), &info), 0);
    assert_true(S_ISDIR(info.st_mode));
    assert_int_equal(files_in_folder(), 1);
    assert_fails(sx_file_write(in_folder("none/a"), "x", 1), SX_ERR_WRITE,
                 "none/a': No such file or directory");
}

static void what_cannot_be_written_is_refused_beforehand(void **state) {
    (void)state;
    assert_int_equal(mkdir(in_folder("d"), 0755), 0);
    assert_fails(sx_file_writable(in_folder("d")), SX_ERR_FILE, "is a folder, not a file");
    assert_fails(sx_file_writable(in_folder("none/a")), SX_ERR_FILE, "none/a': No such file or directory");
    assert_fails(sx_file_writable(in_folder("a/")), SX_ERR_FILE, "is not a valid file name");
    assert_fails(sx_file_writable(""), SX_ERR_FILE, "'' is not a valid file name");
    assert_null(sx_file_writable(in_folder("a")));
    assert_null(sx_file_writable("/dev/null"));
    assert_int_equal(files_in_folder(), 1);
    assert_null(sx_file_write(in_folder("a"), "old", 3));
    assert_fails(sx_file_writable(in_folder("a/b")), SX_ERR_FILE, "Not a directory");
    assert_null(sx_file_writable(in_folder("a")));
    assert_int_equal(symlink("a", in_folder("link")), 0);
    assert_null(sx_file_writable(in_folder("link")));
    assert_int_equal(files_in_folder(), 3);
}

/* Makes a file of a name, and returns it open. */
static int make_file(const char *name) {
    int fd = open(in_folder(name), O_WRONLY | O_CREAT, 0666);
    assert_true(fd >= 0);
    return fd;
}

static bool is_there(const char *name) {
    struct stat info;
    return lstat(in_folder(name), &info) == 0;
}

/* What killed processes left beside a file is removed when it is written again; what is in use, belongs to
 * another file or is no plain file stays. */
static void left_over_files_are_removed(void **state) {
    (void)state;
    static const char *const stay[] = {"a.12-0",
                                       "a.12-0.sextant-tmp.yaml",
                                       "a.-0.sextant-tmp",
                                       "a.12-.sextant-tmp",
                                       "a.1x-0.sextant-tmp",
                                       "b.12-0.sextant-tmp",
                                       "aa.12-0.sextant-tmp",
                                       "a12-0.sextant-tmp",
                                       "a.sextant-tmp"};
    for (int writes = 0; writes < 2; writes++) {
        for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) close(make_file(stay[i]));
        close(make_file("a.999999-0.sextant-tmp"));
        close(make_file("a.1-17.sextant-tmp"));
        int used = make_file("a.5-5.sextant-tmp");
        assert_int_equal(flock(used, LOCK_EX), 0);
        if (writes == 0) assert_int_equal(mkfifo(in_folder("a.3-0.sextant-tmp"), 0600), 0);
        if (writes == 0) assert_int_equal(symlink("b", in_folder("a.4-0.sextant-tmp")), 0);
        assert_null(writes ? sx_file_write(in_folder("a"), "x", 1) : sx_file_writable(in_folder("a")));
        assert_false(is_there("a.999999-0.sextant-tmp") || is_there("a.1-17.sextant-tmp"));
        for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) assert_true(is_there(stay[i]));
        assert_true(is_there("a.5-5.sextant-tmp") && is_there("a.3-0.sextant-tmp"));
        assert_true(is_there("a.4-0.sextant-tmp"));
        close(used);
    }
    assert_null(sx_file_writable(in_folder("a")));
    assert_false(is_there("a.5-5.sextant-tmp"));
}

/* Several processes write one file and clean up after each other: nobody removes what another one needs. */
static void writers_leave_each_other_alone(void **state) {
    (void)state;
    enum { WRITERS = 4, TIMES = 50 };
    pid_t child[WRITERS];
    for (int w = 0; w < WRITERS; w++) {
        child[w] = fork();
        for (int i = 0; child[w] == 0 && i < TIMES; i++)
            if (sx_file_write(in_folder("a"), "text", 4)) _exit(1);
        if (child[w] == 0) _exit(0);
    }
    for (int w = 0; w < WRITERS; w++) {
        int code;
        assert_int_equal(waitpid(child[w], &code, 0), child[w]);
        assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    }
    assert_int_equal(files_in_folder(), 1);
}

static void size_limit_is_the_last_size_allowed(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 77;
    assert_null(sx_file_write(in_folder("a"), "0123456789", 10));
    assert_fails(sx_file_read(in_folder("a"), 9, &text, &size), SX_ERR_LIMIT, "is larger than 9 bytes");
    assert_null(text);
    assert_int_equal(size, 77);
    assert_null(sx_file_read(in_folder("a"), 10, &text, &size));
    free(text);
}

static void missing_file_and_folder_are_named(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    assert_fails(sx_file_read(in_folder("none.yaml"), 10, &text, &size), SX_ERR_FILE,
                 "none.yaml': No such file or directory");
    assert_fails(sx_file_read(folder, 10, &text, &size), SX_ERR_FILE, "is a folder, not a file");
    assert_null(text);
}

static void endless_file_ends_at_the_limit(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    if (access("/dev/zero", R_OK) != 0) skip();
    assert_fails(sx_file_read("/dev/zero", 1 << 20, &text, &size), SX_ERR_LIMIT,
                 "is larger than 1048576 bytes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written_bytes_are_read_back, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(empty_file_is_an_empty_text, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(large_file_is_whole, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(writing_replaces_and_leaves_nothing_else, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_file_keeps_its_permissions, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(link_stays_a_link_to_the_new_text, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(pipe_is_written_to_and_stays_a_pipe, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(failed_write_keeps_the_old_and_leaves_nothing, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_refused_beforehand, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(left_over_files_are_removed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(writers_leave_each_other_alone, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(size_limit_is_the_last_size_allowed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(missing_file_and_folder_are_named, make_folder, remove_folder),
        cmocka_unit_test(endless_file_ends_at_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
