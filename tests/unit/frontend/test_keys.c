/* Keys that are not known: which are errors, which warnings. */
#include "frontend/input.h"
#include "frontend/keys.h"
#include "support/expect.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define N(array) (sizeof(array) / sizeof *(array))

static const sx_key_rule rules[] = {
    SX_KEY("read-bandwidth", NULL, NULL),
    SX_KEY("write_bandwidth", NULL, NULL),
    SX_KEY("fill_latency", NULL, NULL),
    SX_KEY("multiple-buffering", NULL, NULL),
    SX_KEY("word_bits", NULL, NULL),
    SX_KEY_SAME("datawidth", "word_bits"),
    SX_KEY("entries", NULL, NULL),
    SX_KEY("depth", NULL, NULL),
    SX_KEY("meshX", NULL, NULL),
    SX_KEY("meshY", NULL, NULL),
    SX_KEY_IDLE("technology"),
};
static const sx_keys keys = SX_KEYS("test", true, rules);

/* Distances: case, hyphens, underscores and abbreviations do not count; slips are one letter, or two from eight on. */
static void distances_of_keys(void **state) {
    (void)state;
    static const struct {
        const char *key, *known;
        unsigned distance;
    } cases[] = {
        {"read_bw", "read-bandwidth", 0},
        {"ReadBW", "read-bandwidth", 0},
        {"readbandwidth", "read-bandwidth", 0},
        {"READ_BANDWIDTH", "read-bandwidth", 0},
        {"fill-lat", "fill_latency", 0},
        {"fill_buf", "fill_buffer", 0},
        {"rbw", "read-bandwidth", UINT_MAX},
        {"lateral", "latency", UINT_MAX},
        {"depht", "depth", 1},
        {"dept", "depth", 1},
        {"depths", "depth", 1},
        {"dpths", "depth", UINT_MAX},
        {"dep", "depth", UINT_MAX},
        {"entris", "entries", 1},
        {"entirs", "entries", UINT_MAX},
        {"enrtis", "entries", UINT_MAX},
        {"word_bis", "word_bits", 1},
        {"wrd_bis", "word_bits", UINT_MAX},
        {"wrod_btis", "word_bits", 2},
        {"datawith", "datawidth", 1},
        {"dtawith", "datawidth", UINT_MAX},
        {"datwaitdh", "datawidth", 2},
        {"read_bandwit", "read-bandwidth", 2},
        {"red_bandwit", "read-bandwidth", UINT_MAX},
        {"ab", "abc", UINT_MAX},
        {"abc", "abcd", 1},
    };
    for (size_t i = 0; i < N(cases); i++) {
        unsigned distance = sx_key_distance(cases[i].key, cases[i].known);
        if (distance != cases[i].distance) print_error("%s, %s\n", cases[i].key, cases[i].known);
        assert_int_equal(distance, cases[i].distance);
    }
}

/* Keys as long as a text can be are only equal or not. */
static void long_keys_are_no_slips(void **state) {
    (void)state;
    char key[300];
    memset(key, 'a', sizeof key);
    key[sizeof key - 1] = 0;
    assert_int_equal(sx_key_distance(key, "entries"), UINT_MAX);
    assert_int_equal(sx_key_distance(key, key), UINT_MAX);
    memcpy(key, "_bw_bw_bw_bw_bw_bw_bw_bw_bw_bw_bw_bw_bw_bw_bw", 46);
    key[46] = 0;
    assert_int_equal(sx_key_distance(key, "entries"), UINT_MAX);
}

/* Checks the keys of a map in a text. */
static sx_status check_keys(sx_input *input, const char *map) {
    char text[256];
    snprintf(text, sizeof text, "x: &x %s\n", map);
    sx_expect_ok(sx_input_add_text(input, "t.yaml", text, strlen(text)));
    return sx_node_check_keys(input, sx_input_section(input, "x", 0)->value, "the level", &keys);
}

/* A misspelt key is an error where the map lacks the known one and all that mean the same, else a warning. */
static void misspelt_keys_are_errors(void **state) {
    (void)state;
    static const struct {
        const char *map, *meant; /* NULL: a warning */
    } cases[] = {
        {"{read_bw: 4}", "read-bandwidth"},
        {"{read_bw: 4, read_bandwidth: 8}", NULL},
        {"{read_bw: 4, read-bandwidth: 8}", NULL},
        {"{read_bw: 4, read-bandwidth: }", "read-bandwidth"},
        {"{read_bw: 4, write-bandwidth: 8}", "read-bandwidth"},
        {"{data_width: 4}", "datawidth"},
        {"{data_width: 4, word-bits: 8}", NULL},
        {"{wordbits: 4, datawidth: 8}", NULL},
        {"{meshZ: 4}", "meshX"},
        {"{meshZ: 4, meshX: 2}", "meshY"},
        {"{meshZ: 4, meshX: 2, meshY: 2}", NULL},
        {"{mesh_x: 4, meshX: 2}", NULL},
        {"{tecnology: 4}", NULL},
        {"{color: 4}", NULL},
    };
    for (size_t i = 0; i < N(cases); i++) {
        char expected[160];
        sx_input *input;
        sx_expect_ok(sx_input_new(&input));
        sx_status status = check_keys(input, cases[i].map);
        snprintf(expected, sizeof expected, "did you mean '%s'? --lenient ignores the key", cases[i].meant);
        if (cases[i].meant)
            sx_expect_error(status, expected);
        else
            sx_expect_ok(status);
        assert_int_equal(sx_count_warnings(input, "is not understood"), !cases[i].meant);
        sx_input_free(input);
    }
}

/* A lenient input warns of a misspelt key, by a warning that is not joined with those of other keys. */
static void lenient_inputs_warn(void **state) {
    (void)state;
    sx_input *input;
    sx_warnings *list;
    const char *place;
    sx_expect_ok(sx_input_new(&input));
    sx_input_read_as(input, SX_READ_LENIENT);
    sx_expect_ok(check_keys(input, "{color: 1, shape: 2, read_bw: 4}"));
    sx_expect_ok(sx_warnings_new(&list));
    sx_expect_ok(sx_input_warnings(input, list));
    sx_warnings_join_keys(list);
    assert_string_equal(
        sx_warnings_at(list, 0, &place),
        "unknown key of the level: 'read_bw' is ignored, though 'read-bandwidth' is probably meant");
    assert_string_equal(place, "t.yaml:1:28");
    assert_string_equal(sx_warnings_at(list, 1, &place),
                        "2 keys are not understood and ignored: 'color', 'shape' (--verbose shows where)");
    assert_null(sx_warnings_at(list, 2, &place));
    sx_warnings_free(list);
    sx_input_free(input);
}

/* A strict input refuses every key that is not known. */
static void strict_inputs_refuse(void **state) {
    (void)state;
    sx_input *input;
    sx_expect_ok(sx_input_new(&input));
    sx_input_read_as(input, SX_READ_STRICT);
    sx_expect_error(check_keys(input, "{color: 1}"),
                    "t.yaml:1:8: the key 'color' of the level is not understood");
    sx_input_free(input);
}

/* A key that an expression uses is understood. */
static void used_keys_are_understood(void **state) {
    (void)state;
    sx_input *input;
    sx_expect_ok(sx_input_new(&input));
    sx_expect_ok(check_keys(input, "{color: 1, shape: 2}"));
    sx_expect_ok(sx_input_use(input, &sx_input_section(input, "x", 0)->value->pair[1]));
    assert_int_equal(sx_count_warnings(input, ""), 1);
    assert_int_equal(sx_count_warnings(input, "'color'"), 1);
    sx_input_free(input);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_of_keys),        cmocka_unit_test(long_keys_are_no_slips),
        cmocka_unit_test(misspelt_keys_are_errors), cmocka_unit_test(lenient_inputs_warn),
        cmocka_unit_test(strict_inputs_refuse),     cmocka_unit_test(used_keys_are_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
