/* Child processes that answer lines: in time, late, never, too much; and their end. */
#include "base/child.h"
#include "base/clock.h"
#include "support/expect.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* Asks one question of a command; the child stays. */
static sx_reply ask(const char *command, const char *line, double seconds, sx_child **child) {
    sx_reply reply;
    sx_expect_ok(sx_child_start(command, child));
    sx_expect_ok(sx_child_ask(*child, line, strlen(line), seconds, NULL, &reply));
    return reply;
}

static void test_answers(void **state) {
    (void)state;
    sx_child *child;
    sx_reply reply;
    assert_int_equal(ask("while read -r x; do echo \"got $x\"; done", "one\n", 60, &child), SX_REPLY_LINE);
    assert_string_equal(sx_child_line(child), "got one");
    sx_expect_ok(sx_child_ask(child, "two\n", 4, 60, NULL, &reply));
    assert_int_equal(reply, SX_REPLY_LINE);
    assert_string_equal(sx_child_line(child), "got two");
    sx_child_end(child, 10);
}

/* A question that is longer than a pipe, and a child that writes much to standard error before it reads. */
static void test_long_question(void **state) {
    (void)state;
    enum { SIZE = 300000 };
    char *line = malloc(SIZE + 1);
    sx_child *child;
    memset(line, 'x', SIZE);
    line[SIZE - 1] = '\n';
    line[SIZE] = 0;
    assert_int_equal(
        ask("head -c 300000 /dev/zero | tr '\\0' e >&2; read -r x; echo ${#x}", line, 60, &child),
        SX_REPLY_LINE);
    assert_string_equal(sx_child_line(child), "299999");
    assert_int_equal(strlen(sx_child_said(child)), 512);
    sx_child_end(child, 10);
    free(line);
}

static void test_failures(void **state) {
    (void)state;
    sx_child *child;
    char text[100];
    assert_int_equal(ask("echo why >&2; exit 5", "x\n", 60, &child), SX_REPLY_DIED);
    sx_child_exit_text(child, text, sizeof text);
    assert_string_equal(text, "it exited with code 5");
    assert_string_equal(sx_child_said(child), "why\n");
    sx_child_end(child, 0);
    assert_int_equal(ask("read -r x; kill -9 $$", "x\n", 60, &child), SX_REPLY_DIED);
    sx_child_exit_text(child, text, sizeof text);
    assert_string_equal(text, "it was killed by signal 9");
    sx_child_end(child, 0);
    assert_int_equal(ask("sleep 1000", "x\n", 0.1, &child), SX_REPLY_LATE);
    sx_child_end(child, 0);
    assert_int_equal(ask("yes", "x\n", 60, &child), SX_REPLY_MORE);
    sx_child_end(child, 0);
    assert_int_equal(ask("read -r x; tr '\\0' x </dev/zero", "x\n", 60, &child), SX_REPLY_LONG);
    sx_child_end(child, 0);
}

static void *cancel_soon(void *cancel) {
    struct timespec time = {.tv_nsec = 100000000};
    nanosleep(&time, NULL);
    sx_cancel_set(cancel);
    return NULL;
}

/* Whether a process is gone, or goes soon: its parent may have to reap it. */
static bool gone(long process) {
    struct timespec time = {.tv_nsec = 10000000};
    for (int i = 0; i < 1000 && kill((pid_t)process, 0) == 0; i++) nanosleep(&time, NULL);
    return kill((pid_t)process, 0) != 0;
}

/* A question that is cancelled while the child hangs; then the child is killed with all that it started. */
static void test_cancel(void **state) {
    (void)state;
    sx_cancel cancel = {0};
    pthread_t thread;
    sx_child *child;
    sx_reply reply;
    double began = sx_clock_seconds();
    sx_expect_ok(sx_child_start("sleep 1000 & echo $! >&2; wait", &child));
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &cancel), 0);
    sx_expect_ok(sx_child_ask(child, "x\n", 2, 600, &cancel, &reply));
    pthread_join(thread, NULL);
    assert_int_equal(reply, SX_REPLY_CANCELLED);
    assert_true(sx_clock_seconds() - began < 60);
    long grandchild = atol(sx_child_said(child));
    assert_true(grandchild > 1);
    sx_child_end(child, 0);
    assert_true(gone(grandchild));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_long_question),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
