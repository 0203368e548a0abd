/* What tasks append to their outputs. */
#include "sextant/navigator.h"
#include "sextant/space_type.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

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

enum { FIRST_BAD = 9, EACH = 5 };

/* Tasks of which several fail, the later ones at once, the first of them last; the others evaluate a few points. */
static sx_status fail_late(const void *input, size_t task, sx_worker *worker, void *output) {
    const sx_space *space = input;
    (void)output;
    if (task > FIRST_BAD && task % 2) return sx_error_new(SX_ERR_LIMIT, "task %zu is too large", task);
    nanosleep(&(struct timespec){.tv_nsec = task < FIRST_BAD ? 3000000 : 6000000}, NULL);
    for (int i = 0; i < EACH; i++) {
        sx_rng rng = sx_rng_stream(task, "late", (uint64_t)i);
        void *point = sx_worker_scratch(worker, 0);
        space->type->draw(space, &rng, point);
        sx_worker_evaluate(worker, point, false);
    }
    return task == FIRST_BAD ? sx_error_new(SX_ERR_LIMIT, "task %zu is too large", task) : SX_OK;
}

static sx_status search_late(sx_run *run) {
    sx_run_tasks(run, TASKS, fail_late, sx_run_space(run), NULL, 0);
    return SX_OK;
}

/* The error of the first task that fails wins, and what the tasks before it found stays, whatever comes first. */
static void the_first_task_that_fails_decides(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    const sx_navigator navigator = {.search = search_late};
    for (unsigned threads = 1; threads <= 8; threads++) {
        sx_run_options o;
        sx_run *run;
        sx_run_options_init(&o);
        o.threads = threads;
        sx_expect_ok(sx_run_new(space, NULL, &o, &run));
        sx_expect_error(sx_run_search_by(run, "late", &navigator, NULL), "task 9 is too large");
        assert_int_equal(sx_run_result(run).evaluations, (FIRST_BAD + 1) * EACH);
        sx_run_free(run);
    }
    sx_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_append_plain_data_of_any_length),
        cmocka_unit_test(the_first_task_that_fails_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
