/* Navigators that call others, over a toy space, and states that grow. */
#include "run/engine.h"
#include "support/expect.h"
#include "support/toy_space.h"

#include "sextant/navigator.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What the calling navigator saw. */
static struct {
    uint64_t after[3];
    bool stopped[3], started;
    sx_status failure;
} seen;

/* Calls random up to 100 evaluations, then up to 250, then without a limit of its own. */
static sx_status call_three(sx_run *run) {
    const uint64_t until[] = {100, 250, UINT64_MAX};
    uint64_t *call = sx_run_state(run, sizeof *call, NULL);
    for (; sx_run_continue(run) && *call < 3; ++*call) {
        SX_TRY(sx_run_call(run, "random", until[*call], 0));
        seen.after[*call] = sx_run_result(run).evaluations;
        seen.stopped[*call] = sx_run_stopped(run);
        if (sx_run_stopped(run)) break;
    }
    return SX_OK;
}

/* Calls itself until that is too deep. */
static sx_status call_deep(sx_run *run) {
    SX_TRY(sx_run_call(run, "random", 10, 0));
    run->depth += SX_MAX_DEPTH - 1;
    seen.failure = sx_run_call(run, "random", 20, 0);
    run->depth -= SX_MAX_DEPTH - 1;
    return sx_run_call(run, "nobody", 20, 0);
}

/* Looks at what a called navigator begins with. */
static sx_status look_at_start(sx_run *run) {
    size_t n = 0;
    sx_run_starts(run, &n);
    assert_int_equal(n, 0);
    SX_TRY(sx_run_call(run, "random", 50, 0));
    run->frame[1].start = malloc(run->space->point_size);
    memcpy(run->frame[1].start, sx_run_incumbent(run, NULL), run->space->point_size);
    run->depth++;
    const void *start = sx_run_starts(run, &n);
    seen.started = n == 1 && memcmp(start, sx_run_incumbent(run, NULL), run->space->point_size) == 0;
    run->depth--;
    return SX_OK;
}

/* Grows its state by a number at every safe point. */
static sx_status grow(sx_run *run) {
    size_t size = sizeof(uint64_t);
    bool resumed;
    uint64_t *state = sx_run_state_sized(run, &size, &resumed);
    assert_true(resumed || size == sizeof *state);
    assert_true(size == (1 + state[0]) * sizeof *state);
    while (sx_run_continue(run) && state[0] < 20) {
        uint64_t n = state[0] + 1;
        state = sx_run_state_resize(run, (1 + n) * sizeof *state);
        assert_non_null(state);
        assert_true(state[n] == 0);
        state[n] = n * n;
        state[0] = n;
        SX_TRY(sx_run_call(run, "random", 10 * n, 0));
        for (uint64_t i = 1; i <= n; i++) assert_true(state[i] == i * i);
    }
    return SX_OK;
}

/* Lets genetic go on in steps to 1500 evaluations, with others of another navigator in between. */
static sx_status call_on(sx_run *run) {
    uint64_t *part = sx_run_state(run, sizeof *part, NULL);
    for (; *part < 10 && sx_run_continue(run); ++*part) {
        if (*part % 2)
            SX_TRY(sx_run_call(run, "random", 100 * *part + 100, 0));
        else
            SX_TRY(sx_run_call_on(run, "genetic:population=20", 100 * *part / 2 + 100, 0));
    }
    assert_true(sx_run_stopped(run) || sx_run_called_on(run) == 500);
    return SX_OK;
}

static sx_status call_alone(sx_run *run) {
    uint64_t *part = sx_run_state(run, sizeof *part, NULL);
    (void)part;
    return sx_run_call_on(run, "genetic:population=20", 500, 0);
}

static sx_run *search_by(const sx_space *space, sx_status (*search)(sx_run *), const sx_run_options *options,
                         sx_status *status) {
    static sx_navigator navigator;
    sx_run *run;
    navigator = (sx_navigator){.search = search};
    memset(&seen, 0, sizeof seen);
    sx_expect_ok(sx_run_new(space, NULL, options, &run));
    *status = sx_run_search_by(run, "caller", &navigator, NULL);
    return run;
}

static void limits_of_a_call_end_only_the_call(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        sx_run_options options;
        sx_status status;
        sx_run_options_init(&options);
        options.evaluations = 700;
        options.threads = threads;
        sx_run *run = search_by(space, call_three, &options, &status);
        sx_expect_ok(status);
        assert_int_equal(seen.after[0], 100);
        assert_int_equal(seen.after[1], 250);
        assert_int_equal(seen.after[2], 700);
        assert_false(seen.stopped[0] || seen.stopped[1]);
        assert_true(seen.stopped[2]);
        assert_int_equal(sx_run_result(run).stop, SX_STOP_EVALUATIONS);
        sx_run_free(run);
    }
    space->type->free(space);
}

static void limits_of_the_run_end_all(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    sx_run_options options;
    sx_status status;
    sx_run_options_init(&options);
    options.evaluations = 80;
    sx_run *run = search_by(space, call_three, &options, &status);
    sx_expect_ok(status);
    assert_int_equal(seen.after[0], 80);
    assert_true(seen.stopped[0]);
    assert_int_equal(sx_run_result(run).evaluations, 80);
    assert_int_equal(sx_run_result(run).stop, SX_STOP_EVALUATIONS);
    sx_run_free(run);
    space->type->free(space);
}

static void calls_begin_from_the_best(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    sx_run_options options;
    sx_status status;
    sx_run_options_init(&options);
    sx_run_free(search_by(space, look_at_start, &options, &status));
    sx_expect_ok(status);
    assert_true(seen.started);
    space->type->free(space);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    sx_run_options options;
    sx_status status;
    sx_run_options_init(&options);
    sx_run *run = search_by(space, call_deep, &options, &status);
    sx_expect_error(seen.failure, "navigators call each other 4 deep");
    sx_expect_error(status, "unknown search method 'nobody'");
    sx_run_free(run);
    space->type->free(space);
}

/* Keeps the last checkpoint before some number of evaluations. */
typedef struct archive {
    void *bytes;
    size_t size, wanted, n;
} archive;

static sx_status keep(void *user, const void *bytes, size_t size) {
    archive *s = user;
    if (s->n++ != s->wanted) return SX_OK;
    s->bytes = malloc(size);
    memcpy(s->bytes, bytes, size);
    s->size = size;
    return SX_OK;
}

static void calls_go_on_where_they_were(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    sx_run_options options;
    sx_status status;
    sx_found whole, resumed;
    sx_run_options_init(&options);
    sx_run *alone = search_by(space, call_alone, &options, &status);
    sx_expect_ok(status);
    for (size_t at = 0; at < 40; at += 5) {
        archive s = {.wanted = at};
        options.checkpoint = keep;
        options.user = &s;
        options.resume = NULL;
        sx_run *run = search_by(space, call_on, &options, &status);
        sx_expect_ok(status);
        assert_int_equal(sx_run_result(run).evaluations, 1000);
        assert_true(sx_run_best(alone, 0, &whole) && sx_run_best(run, 0, &resumed));
        assert_true(resumed.value <= whole.value);
        assert_non_null(s.bytes);
        options.checkpoint = NULL;
        options.resume = s.bytes;
        options.resume_size = s.size;
        sx_run *again = search_by(space, call_on, &options, &status);
        sx_expect_ok(status);
        assert_true(sx_run_best(run, 0, &whole) && sx_run_best(again, 0, &resumed));
        assert_true(whole.value == resumed.value && whole.evaluation == resumed.evaluation);
        assert_int_equal(sx_run_result(again).evaluations, 1000);
        sx_run_free(run);
        sx_run_free(again);
        free(s.bytes);
    }
    sx_run_free(alone);
    space->type->free(space);
}

static void states_grow_and_are_resumed(void **state) {
    (void)state;
    sx_space *space = sx_toy_space_new(NULL);
    for (size_t at = 0; at < 30; at += 3) {
        archive s = {.wanted = at};
        sx_run_options options;
        sx_status status;
        sx_found whole, resumed;
        sx_run_options_init(&options);
        options.checkpoint = keep;
        options.user = &s;
        sx_run *run = search_by(space, grow, &options, &status);
        sx_expect_ok(status);
        assert_int_equal(sx_run_result(run).evaluations, 200);
        assert_non_null(s.bytes);
        options.checkpoint = NULL;
        options.resume = s.bytes;
        options.resume_size = s.size;
        sx_run *again = search_by(space, grow, &options, &status);
        sx_expect_ok(status);
        assert_int_equal(sx_run_result(again).evaluations, 200);
        assert_true(sx_run_best(run, 0, &whole) && sx_run_best(again, 0, &resumed));
        assert_true(whole.value == resumed.value && whole.evaluation == resumed.evaluation);
        sx_run_free(run);
        sx_run_free(again);
        free(s.bytes);
    }
    space->type->free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_a_call_end_only_the_call), cmocka_unit_test(limits_of_the_run_end_all),
        cmocka_unit_test(calls_begin_from_the_best),          cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(calls_go_on_where_they_were),        cmocka_unit_test(states_grow_and_are_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
