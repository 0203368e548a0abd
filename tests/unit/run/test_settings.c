/* Settings and the registry. */
#include "registry/registry.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const words[] = {"slow", "fast", "very-fast"};
static const sx_setting settings[] = {
    {"steps", "how many", "100", 100, 1, 1000000, true, NULL},
    {"rate", "how fast", NULL, 0.1, 0, 1, false, NULL},
    {"speed", "in words", NULL, 1, 0, 2, true, words},
    {"depth", "without end", NULL, 3, -5, (double)INFINITY, true, NULL},
};
static const sx_navigator navigator = {.settings = settings, .n_settings = 4};
static const sx_setting with_text[] = {
    {"file", "a name", NULL, 0, 0, 0, SX_SETTING_TEXT, NULL},
    {"steps", "how many", "100", 100, 1, 1000000, true, NULL},
    {"other", "a name", NULL, 0, 0, 0, SX_SETTING_TEXT, NULL},
};
static const sx_navigator reader = {.settings = with_text, .n_settings = 3};
static const sx_registered reads = {"reads", "reads", "ALWAYS", &reader};
static const sx_registered entry = {"hill", "climbs", "ALWAYS", &navigator};
static const sx_navigator plain = {.settings = NULL, .n_settings = 0};
static const sx_registered simple = {"walk", "walks", "ALWAYS", &plain};

/* Reads settings and compares the text they are written as. */
static void expect_text(const char *text, const char *expected) {
    double *values;
    char *written;
    sx_expect_ok(sx_settings_of(&entry, text, &values));
    sx_expect_ok(sx_settings_text(&entry, values, &written));
    assert_string_equal(written, expected);
    free(values);
    free(written);
}

static void expect_refused(const char *text, const char *part) {
    double *values = NULL;
    sx_expect_error(sx_settings_of(&entry, text, &values), part);
    assert_null(values);
}

static void settings_are_read_and_written(void **state) {
    (void)state;
    expect_text(NULL, "hill:steps=100,rate=0.1,speed=fast,depth=3");
    expect_text("steps=7", "hill:steps=7,rate=0.1,speed=fast,depth=3");
    expect_text("speed=very-fast,rate=1e-3", "hill:steps=100,rate=0.001,speed=very-fast,depth=3");
    expect_text("depth=-5,steps=1e6,rate=0.30000000000000004",
                "hill:steps=1000000,rate=0.30000000000000004,speed=fast,depth=-5");
    expect_text("rate=1,steps=1", "hill:steps=1,rate=1,speed=fast,depth=3");
}

static void wrong_settings_are_refused_with_what_is_right(void **state) {
    (void)state;
    expect_refused("", "'' is not a setting with a value\n  settings are written hill:key=value,key=value");
    expect_refused("steps", "'steps' is not a setting with a value");
    expect_refused("=3", "'' is not a setting with a value");
    expect_refused("steps=3,", "'' is not a setting with a value");
    expect_refused("step=3",
                   "has no setting 'step'\n  did you mean 'steps'? Known: steps, rate, speed, depth");
    expect_refused("temperature=3", "has no setting 'temperature'\n  known: steps, rate, speed, depth");
    expect_refused("steps=3,rate=0.5,steps=3", "the setting 'steps' is given twice");
    expect_refused("steps=", "'steps' cannot be ''\n  it is a whole number from 1 to 1000000");
    expect_refused("steps=2.5", "'steps' cannot be '2.5'\n  it is a whole number from 1 to 1000000");
    expect_refused("steps=0", "'steps' is out of range: 0\n  it is a whole number from 1 to 1000000");
    expect_refused("rate=1.5", "'rate' is out of range: 1.5\n  it is a number from 0 to 1");
    expect_refused("rate=-0.1", "'rate' is out of range");
    expect_refused("rate=nan", "'rate' cannot be 'nan'");
    expect_refused("rate=inf", "'rate' cannot be 'inf'");
    expect_refused("rate=1e999", "'rate' cannot be '1e999'");
    expect_refused("rate=0x1", "'rate' cannot be '0x1'");
    expect_refused("rate= 1", "'rate' cannot be ' 1'");
    expect_refused("rate=1 ", "'rate' cannot be '1 '");
    expect_refused("rate=1=2", "'rate' cannot be '1=2'");
    expect_refused("depth=-6", "'depth' is out of range: -6\n  it is a whole number of at least -5");
    expect_refused("depth=inf", "'depth' cannot be 'inf'");
    expect_refused("speed=fats",
                   "'speed' cannot be 'fats'\n  did you mean 'fast'? Known: slow, fast, very-fast");
    expect_refused("speed=1", "'speed' cannot be '1'\n  known: slow, fast, very-fast");
    expect_refused("rate=0000000000000000000000000000000000000000000000000000000000000000001", "is too long");
    double *values = NULL;
    sx_expect_error(sx_settings_of(&simple, "steps=1", &values), "it has no settings");
}

/* Reads settings with texts; compares both, and what they are written as, which must read back. */
static void expect_texts(const char *text, const char *file, const char *other, const char *expected) {
    double *values;
    char *written;
    sx_expect_ok(sx_settings_of(&reads, text, &values));
    assert_string_equal(sx_settings_text_at(values, 0), file);
    assert_string_equal(sx_settings_text_at(values, 2), other);
    sx_expect_ok(sx_settings_text(&reads, values, &written));
    assert_string_equal(written, expected);
    free(values);
    if (text && strcmp(text, written + 6) != 0) expect_texts(written + 6, file, other, expected);
    free(written);
}

static void settings_may_be_texts(void **state) {
    (void)state;
    expect_texts(NULL, "", "", "reads:file=,steps=100,other=");
    expect_texts("file=net.bin,steps=3", "net.bin", "", "reads:file=net.bin,steps=3,other=");
    expect_texts("other=a=b c,file=\"x,y\"", "x,y", "a=b c", "reads:file=\"x,y\",steps=100,other=a=b c");
    expect_texts("file=\"plain\"", "plain", "", "reads:file=plain,steps=100,other=");
    expect_texts("file=a/very/long/path/that/is/longer/than/a/number/or/a/word/of/a/setting/may/be.bin",
                 "a/very/long/path/that/is/longer/than/a/number/or/a/word/of/a/setting/may/be.bin", "",
                 "reads:file=a/very/long/path/that/is/longer/than/a/number/or/a/word/of/a/setting/may/be.bin,"
                 "steps=100,other=");
    double *values = NULL;
    sx_expect_error(sx_settings_of(&reads, "file=\"x", &values), "the text of 'file' has no end");
    sx_expect_error(sx_settings_of(&reads, "file=\"x\"y", &values), "the text of 'file' has no end");
    sx_expect_error(sx_settings_of(&reads, "file=x,file=y", &values), "given twice");
    assert_null(values);
}

/* Searches that end by themselves need no limit; the settings behind a name do not matter. */
static void navigators_are_complete_or_not(void **state) {
    (void)state;
    static const char *const complete[] = {"exhaustive", "optimal", "auto", "sunstone", "exact"};
    static const char *const open_ended[] = {"random", "anneal", "genetic", "gamma", "hybrid", "nothing", ""};
    for (size_t i = 0; i < sizeof complete / sizeof *complete; i++)
        assert_true(sx_navigator_complete(complete[i]));
    for (size_t i = 0; i < sizeof open_ended / sizeof *open_ended; i++)
        assert_false(sx_navigator_complete(open_ended[i]));
    assert_true(sx_navigator_complete("optimal:none=1"));
    assert_false(sx_navigator_complete("anneal:none=2"));
    assert_false(sx_navigator_measures("nothing") || sx_navigator_proves("nothing"));
}

static void navigators_are_found_by_name(void **state) {
    (void)state;
    char *text;
    sx_setting_about about;
    const char *help = NULL;
    sx_expect_ok(sx_navigator_text("random", NULL, &text));
    assert_string_equal(text, "random");
    free(text);
    sx_expect_error(sx_navigator_text("randon", NULL, &text),
                    "unknown search method 'randon'\n  did you mean 'random'? Known: random, ");
    sx_expect_error(sx_navigator_text("", NULL, &text), "unknown search method ''");
    sx_expect_error(sx_navigator_text("random:steps=3", NULL, &text), "it has no settings");
    sx_expect_error(sx_navigator_text("random:", NULL, &text), "not a setting with a value");
    assert_false(sx_navigator_setting("nothing", 0, &about));
    assert_false(sx_navigator_setting("random", 0, &about));
    assert_false(sx_navigator_setting("rand", 0, &about));
    assert_string_equal(sx_navigator_name(0, &help), "random");
    assert_non_null(help);
    assert_string_equal(sx_navigator_name(0, NULL), "random");
    size_t n = 0;
    while (sx_navigator_name(n, NULL)) n++;
    assert_null(sx_navigator_name(n + 1, &help));
}

static void every_table_is_in_order(void **state) {
    (void)state;
    for (const sx_registered *r = sx_navigators.entry; r < sx_navigators.entry + sx_navigators.n; r++) {
        sx_setting_about s, other;
        for (size_t j = 0; sx_navigator_setting(r->name, j, &s); j++) {
            assert_true(s.name && *s.name && s.text && *s.text);
            assert_true(s.low <= s.preset && s.preset <= s.high);
            if (s.words) assert_true(s.kind == SX_SETTING_WHOLE && s.low == 0);
            for (size_t k = 0; k < j && sx_navigator_setting(r->name, k, &other); k++)
                assert_string_not_equal(s.name, other.name);
        }
        if (!r->navigator) assert_non_null(strstr(r->about, "(not built: needs "));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_read_and_written),
        cmocka_unit_test(wrong_settings_are_refused_with_what_is_right),
        cmocka_unit_test(settings_may_be_texts),
        cmocka_unit_test(navigators_are_complete_or_not),
        cmocka_unit_test(navigators_are_found_by_name),
        cmocka_unit_test(every_table_is_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
