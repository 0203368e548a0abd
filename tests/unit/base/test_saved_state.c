#include "base/saved_state.h"

#include "base/file.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const sx_state_kind kind = {"sextant test ", "checkpoint of a test", 3};
static char path[64];

static int make_path(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/sextant-state-%ld", (long)getpid());
    return 0;
}

static int remove_path(void **state) {
    (void)state;
    return remove(path);
}

/* Fails unless two identities differ in that way; "": they are the same. */
static void expect_difference(const char *there, const char *here, const char *what) {
    sx_text text = {0};
    const bool differs = sx_identity_differs(there, strlen(there), here, &text);
    assert_int_equal(differs, what[0] != 0);
    if (differs) assert_string_equal(text.data, what);
    sx_text_free(&text);
}

static void identities_differ_in_words(void **state) {
    (void)state;
    expect_difference("--evals 30\n--seed 1\n", "--evals 30\n--seed 1\n", "");
    expect_difference("--evals 30\n--seed 1\n", "--evals 3000\n--seed 1\n",
                      "it was made with --evals 30, not 3000");
    expect_difference("--seed 1\n--evals 30\n", "--evals 3\n--seed 2\n",
                      "it was made with --evals 30, not 3");
    expect_difference("--seed 1\n", "--evals 3\n--seed 1\n", "it does not say its --evals");
    expect_difference("--evals 3\n--seed 1\n", "--seed 1\n", "it says more than this one");
    expect_difference("chip a 0123456789abcdef\n", "chip a 0123456789abcdee\n",
                      "it was made with another chip of the name a");
    expect_difference("chip a 0123456789abcdef\n", "chip b 0123456789abcdee\n",
                      "it was made with chip a, not b");
    expect_difference("files  0123456789abcdef\n", "files  0123456789abcdee\n",
                      "it was made with another files");
    expect_difference("--mapper auto\n", "--mapper auto \n", "it was made with --mapper auto, not auto ");
}

static void a_value_has_no_line_break(void **state) {
    (void)state;
    sx_text text = {0};
    char *whole;
    sx_identity_add(&text, "--evaluator", "exec:%s", "a\n--seed 2");
    sx_identity_add_digest(&text, "chip", "b", 255);
    sx_expect_ok(sx_text_take(&text, &whole));
    assert_string_equal(whole, "--evaluator exec:a --seed 2\nchip b 00000000000000ff\n");
    free(whole);
}

/* What reading the file says; *bytes is freed by the caller. */
static sx_status read_state(char **bytes, sx_saved_state *out) {
    size_t size;
    SX_TRY(sx_state_load(&kind, path, bytes, &size));
    return sx_state_parse(&kind, path, *bytes, size, out);
}

static void expect_refused(const char *text, size_t size, const char *part) {
    char *bytes = NULL;
    sx_saved_state saved;
    sx_expect_ok(sx_file_write(path, text, size));
    sx_expect_error(read_state(&bytes, &saved), part);
    free(bytes);
}

static void state_is_read_back(void **state) {
    (void)state;
    static const char identity[] = "--seed 1\n", body[] = "a\0b";
    char *bytes;
    sx_saved_state saved;
    size_t size;
    remove(path);
    sx_expect_ok(sx_state_load(&kind, path, &bytes, &size));
    assert_null(bytes);
    sx_expect_ok(sx_state_write(&kind, path, identity, strlen(identity), body, sizeof body));
    sx_expect_ok(read_state(&bytes, &saved));
    assert_int_equal(saved.size, sizeof body);
    assert_memory_equal(saved.body, body, sizeof body);
    sx_expect_ok(sx_state_check(path, &saved, identity));
    sx_expect_error(sx_state_check(path, &saved, "--seed 2\n"),
                    "belongs to another search: it was made with --seed 1, not 2");
    free(bytes);
}

static void other_formats_are_named(void **state) {
    (void)state;
    static const char first[] = "sextant test 0123456789abcdef 3 2\nabc", newer[] = "sextant test 4 anything";
    expect_refused(first, strlen(first), "was written in format 1; this program reads format 3");
    expect_refused(newer, strlen(newer), "was written in format 4; this program reads format 3");
    expect_refused("sextant test x", 14, "is damaged");
    expect_refused("sextant tes", 11, "is not a checkpoint of a test");
}

/* A file of another kind that is too large to be read: it is not. */
static void the_mark_is_read_first(void **state) {
    (void)state;
    char *bytes = NULL;
    size_t size;
    sx_expect_ok(sx_file_write(path, "x", 1));
    assert_int_equal(truncate(path, (off_t)1 << 33), 0);
    sx_expect_error(sx_state_load(&kind, path, &bytes, &size), "is not a checkpoint of a test");
    assert_null(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identities_differ_in_words), cmocka_unit_test(a_value_has_no_line_break),
        cmocka_unit_test(state_is_read_back),         cmocka_unit_test(other_formats_are_named),
        cmocka_unit_test(the_mark_is_read_first),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
