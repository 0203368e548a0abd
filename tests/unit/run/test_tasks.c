/* What tasks append to their outputs. */
#include "sextant/navigator.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { TASKS = 40 };

/* A task that appends its number as often as the number says, in two parts; multiples of 3 append nothing. */
static sx_status repeat(const void *input, size_t task, sx_worker *worker, void *output) {
    uint64_t numbers[TASKS];
    const char *mark = input;
    (void)output;
    for (size_t i = 0; i < task; i++) numbers[i] = task;
    if (task % 3 == 0) return SX_OK;
    sx_worker_append(worker, numbers, task / 2 * sizeof *numbers);
    sx_worker_append(worker, numbers, (task - task / 2) * sizeof *numbers);
    sx_worker_append(worker, mark, task % 5);
    return SX_OK;
}

/* Asserts that a task has appended what it should. */
static void assert_appended(const sx_run *run, size_t task) {
    size_t size;
    const unsigned char *data = sx_run_appended(run, task, &size);
    if (task % 3 == 0 || task >= TASKS) {
        assert_null(data);
        assert_int_equal(size, 0);
        return;
    }
    assert_int_equal(size, task * sizeof(uint64_t) + task % 5);
    assert_int_equal((uintptr_t)data % alignof(uint64_t), 0);
    for (size_t i = 0; i < task; i++) assert_true(((const uint64_t *)(const void *)data)[i] == task);
    assert_memory_equal(data + task * sizeof(uint64_t), "mark!", task % 5);
}

static sx_status search(sx_run *run) {
    for (int again = 0; again < 2; again++) {
        sx_run_tasks(run, TASKS, repeat, "mark!", NULL, 0);
        for (size_t task = 0; task < TASKS + 2; task++) assert_appended(run, task);
        sx_run_tasks(run, 1, repeat, "mark!", NULL, 0);
        for (size_t task = 0; task < TASKS; task++) assert_null(sx_run_appended(run, task, &(size_t){0}));
    }
    return SX_OK;
}

static void tasks_append_plain_data_of_any_length(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    const sx_navigator navigator = {.search = search};
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        sx_run_options o;
        sx_run *run;
        sx_run_options_init(&o);
        o.threads = threads;
        sx_expect_ok(sx_run_new(space, NULL, &o, &run));
        sx_expect_ok(sx_run_search_by(run, "appending", &navigator, NULL));
        sx_run_free(run);
    }
    sx_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_append_plain_data_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
