/* Options by their names on the command line. */
#include "support/expect.h"

#include "api/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static sx_options *new_options(void) {
    sx_options *options;
    sx_expect_ok(sx_options_new(&options));
    return options;
}

static void options_reach_the_search(void **state) {
    (void)state;
    static const char *const given[][2] = {
        {"mapper", "gamma:population=20"},
        {"objective", "energy"},
        {"evals", "1000"},
        {"time", "2.5"},
        {"target", "3"},
        {"patience", "40"},
        {"seed", "7"},
        {"threads", "3"},
        {"k-best", "5"},
        {"pareto", "on"},
        {"proof", "on"},
        {"warm-start", "off"},
        {"again", "on"},
        {"checkpoint", "c"},
        {"remainders", "on"},
        {"keep-all", "on"},
        {"no-banks", "on"},
        {"split-axes", "on"},
        {"checkpoint-seconds", "9"},
    };
    sx_options *options = new_options();
    sx_session_options out;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        sx_expect_ok(sx_options_set(options, given[i][0], given[i][1]));
    sx_expect_ok(sx_options_session(options, &out));
    assert_string_equal(out.mapper, "gamma:population=20");
    assert_true(out.run.objective.criterion[0].energy_power == 1 &&
                out.run.objective.criterion[0].delay_power == 0);
    assert_true(out.run.evaluations == 1000 && out.run.seconds == 2.5 && out.run.target == 3);
    assert_true(out.run.patience == 40 && out.run.seed == 7 && out.run.threads == 3 && out.run.k_best == 5);
    assert_true(out.run.pareto && out.run.proof && out.again && out.warm == SX_WARM_OFF && !out.widen);
    assert_true(out.space.remainders && out.space.keep_all && out.space.no_banks && out.space.split_axes);
    assert_true(out.run.checkpoint_seconds == 9 && strcmp(out.checkpoint, "c") == 0 && out.run.cache > 0);
    sx_expect_ok(sx_options_set(options, "pareto", "off"));
    sx_expect_ok(sx_options_session(options, &out));
    assert_false(out.run.pareto);
    sx_options_free(options);
}

static void presets_are_those_of_the_command_line(void **state) {
    (void)state;
    sx_options *options = new_options();
    sx_session_options out;
    sx_expect_ok(sx_options_session(options, &out));
    assert_string_equal(out.mapper, "auto");
    assert_true(out.widen && out.warm == SX_WARM_SIMILARITY && out.run.evaluations == 0 &&
                out.run.threads >= 1);
    sx_expect_ok(sx_options_set(options, "mapper", "random"));
    sx_expect_ok(sx_options_session(options, &out));
    assert_int_equal(out.run.evaluations, SX_DEFAULT_EVALS);
    assert_false(out.widen);
    sx_expect_ok(sx_options_set(options, "time", "1"));
    sx_expect_ok(sx_options_session(options, &out));
    assert_int_equal(out.run.evaluations, 0);
    sx_options_free(options);
}

static void wrong_options_are_errors(void **state) {
    (void)state;
    sx_options *options = new_options();
    sx_expect_error(sx_options_set(options, "eval", "3"), "did you mean 'evals'");
    sx_expect_error(sx_options_set(options, "evals", "-3"), "expected a whole number");
    sx_expect_error(sx_options_set(options, "time", "-1"), "not negative");
    sx_expect_error(sx_options_set(options, "pareto", "yes"), "on or off");
    sx_expect_error(sx_options_set(options, "mapper", "gama"), "gama");
    sx_expect_error(sx_options_set(options, "objective", "speed"), "speed");
    sx_expect_error(sx_options_set(options, "warm-start", "hot"), "similarity, previous, off");
    sx_expect_error(sx_options_set(options, "sparse-semantics", "both"), "exact, timeloop");
    sx_expect_error(sx_options_set(options, "like", "zigzag"), "timeloop");
    const char *about;
    size_t n = 0;
    while (sx_list_name(SX_LIST_OPTIONS, n, &about)) assert_true(about[0] && n++ < 100);
    assert_true(n > 20);
    sx_options_free(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_reach_the_search),
        cmocka_unit_test(presets_are_those_of_the_command_line),
        cmocka_unit_test(wrong_options_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
