#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void text_grows_by_any_amount(void **state) {
    (void)state;
    sx_text text = {0};
    size_t length = 0;
    for (int i = 0; i < 1000; i++) {
        sx_text_add(&text, "%d,", i);
        length += i < 10 ? 2 : i < 100 ? 3 : 4;
        assert_int_equal(text.size, length);
        assert_int_equal(strlen(text.data), length);
    }
    char *out;
    assert_null(sx_text_take(&text, &out));
    assert_memory_equal(out, "0,1,2,3,", 8);
    assert_string_equal(out + length - 8, "998,999,");
    assert_null(text.data);
    assert_int_equal(text.size, 0);
    free(out);
}

static void one_large_piece_fits(void **state) {
    (void)state;
    enum { SIZE = 100000 };
    char *piece = malloc(SIZE);
    memset(piece, 'a', SIZE);
    sx_text text = {0};
    sx_text_add(&text, "<");
    sx_text_add_bytes(&text, piece, SIZE);
    sx_text_add(&text, ">");
    assert_int_equal(text.size, SIZE + 2);
    assert_int_equal(text.data[SIZE + 1], '>');
    assert_int_equal(text.data[SIZE + 2], 0);
    sx_text_free(&text);
    free(piece);
}

static void sizes_around_the_first_room_are_terminated(void **state) {
    (void)state;
    for (size_t size = 250; size < 262; size++) {
        char piece[300];
        memset(piece, 'x', sizeof piece);
        sx_text text = {0};
        sx_text_add_bytes(&text, piece, size);
        assert_int_equal(strlen(text.data), size);
        sx_text_add(&text, "%s", "");
        assert_int_equal(text.size, size);
        sx_text_free(&text);
    }
}

static void bytes_may_hold_zeros_and_be_none(void **state) {
    (void)state;
    sx_text text = {0};
    sx_text_add_bytes(&text, "a\0b", 3);
    sx_text_add_bytes(&text, "", 0);
    assert_int_equal(text.size, 3);
    char *out;
    assert_null(sx_text_take(&text, &out));
    assert_memory_equal(out, "a\0b", 4);
    free(out);
}

static void empty_text_is_taken_as_an_empty_string(void **state) {
    (void)state;
    sx_text text = {0};
    char *out;
    assert_null(sx_text_take(&text, &out));
    assert_string_equal(out, "");
    free(out);
    sx_text_free(&text);
}

static void failed_text_ignores_additions_and_gives_the_memory_error(void **state) {
    (void)state;
    sx_text text = {0};
    sx_text_add(&text, "kept");
    text.failed = true;
    sx_text_add(&text, "lost");
    sx_text_add_bytes(&text, "lost", 4);
    assert_int_equal(text.size, 4);
    char *out = NULL;
    assert_ptr_equal(sx_text_take(&text, &out), sx_error_memory());
    assert_null(out);
    assert_null(text.data);
}

static const char *const words[] = {"entries",    "instances",      "word-bits",
                                    "block-size", "read_bandwidth", "name"};
enum { N_WORDS = sizeof words / sizeof words[0] };

/* Asserts which of the words is nearest; NULL for none. */
static void assert_nearest(const char *word, const char *expected) {
    const char *nearest = sx_text_nearest(word, words, N_WORDS);
    if (expected) {
        assert_non_null(nearest);
        assert_string_equal(nearest, expected);
    } else {
        assert_null(nearest);
    }
}

static void nearest_finds_slips_of_the_hand(void **state) {
    (void)state;
    assert_nearest("entries", "entries");
    assert_nearest("entrys", "entries");
    assert_nearest("entires", "entries");
    assert_nearest("ntries", "entries");
    assert_nearest("instancess", "instances");
    assert_nearest("naem", "name");
    assert_nearest("read_bandwith", "read_bandwidth");
}

static void nearest_sees_no_case_and_no_kind_of_dash(void **state) {
    (void)state;
    assert_nearest("word_bits", "word-bits");
    assert_nearest("Block_Size", "block-size");
    assert_nearest("READ-BANDWIDTH", "read_bandwidth");
}

static void nearest_gives_up_on_strange_words(void **state) {
    (void)state;
    assert_nearest("technology", NULL);
    assert_nearest("xyz", NULL);
    assert_nearest("", NULL);
    const char *const options[] = {"quiet", "k", "threads"}, *const budget[] = {"quiet", "budget"};
    assert_null(sx_text_nearest("bugdet", options, 3));
    assert_null(sx_text_nearest("x", options, 3));
    assert_string_equal(sx_text_nearest("bugdet", budget, 2), "budget");
    assert_null(sx_text_nearest("name", words, 0));
}

/* Words, and what is suggested for them by itself; NULL: nothing. */
static void nearest_suggests_what_may_be_meant(void **state) {
    static const struct {
        const char *word, *candidate;
        bool suggested;
    } pair[] = {
        {"memory", "memories", true},
        {"bugdet", "budget", true},
        {"objectiv", "objective", true},
        {"eyeris", "eyeriss", true},
        {"anneal", "annealing", true},
        {"thread", "threads", true},
        {"L3", "L2", false},
        {"energie", "energy", true},
        {"arch", "architecture", false},
        {"bugdet", "quiet", false},
        {"gamma", "random", false},
        {"edp", "delay", false},
        {"map", "eval", false},
        {"x", "k", false},
        {"k", "kn", false},
        {"problem", "program", false},
        {"time", "tiles", false},
        {"", "k", false},
        {"a", "", false},
        {"seed", "help", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        const char *nearest = sx_text_nearest(pair[i].word, &pair[i].candidate, 1);
        if (!nearest != !pair[i].suggested) print_error("%s, %s\n", pair[i].word, pair[i].candidate);
        assert_true(!nearest == !pair[i].suggested);
    }
}

static void nearest_prefers_the_smaller_distance_then_the_first(void **state) {
    (void)state;
    const char *const close[] = {"abxd", "abcd", "abcx"};
    assert_string_equal(sx_text_nearest("abcd", close, 3), "abcd");
    assert_string_equal(sx_text_nearest("abcy", close, 3), "abcd");
    const char *const equal[] = {"abcd1", "abcd2"};
    assert_string_equal(sx_text_nearest("abcd", equal, 2), "abcd1");
}

static void nearest_takes_words_of_any_length(void **state) {
    (void)state;
    char long_word[201];
    memset(long_word, 'a', 200);
    long_word[200] = 0;
    const char *const candidates[] = {long_word, "aaaa"};
    assert_null(sx_text_nearest(long_word, candidates, 2));
    assert_string_equal(sx_text_nearest("aaab", candidates, 2), "aaaa");
    char word[65], shorter[64];
    memset(word, 'b', sizeof word);
    memset(shorter, 'b', sizeof shorter);
    word[64] = shorter[63] = 0;
    assert_int_equal(sx_text_distance(shorter, word), UINT32_MAX);
    assert_int_equal(sx_text_distance(word, shorter), UINT32_MAX);
    assert_int_equal(sx_text_distance("", shorter), 63);
    char edge[2][64];
    memset(edge, 'b', sizeof edge);
    edge[0][63] = edge[1][62] = 0;
    const char *const edges[] = {edge[0]};
    assert_ptr_equal(sx_text_nearest(edge[1], edges, 1), edge[0]);
}

/* Shows a whole text and compares it. */
static void assert_shown(const char *text, const char *expected) {
    char shown[SX_SHOWN_ROOM];
    sx_text all = {0};
    for (size_t size; (size = sx_text_shown(text, shown)); text += size) sx_text_add(&all, "%s", shown);
    assert_int_equal(*text, 0);
    assert_string_equal(all.data ? all.data : "", expected);
    sx_text_free(&all);
}

static void text_is_shown_as_it_is(void **state) {
    (void)state;
    assert_shown("", "");
    assert_shown("a ~\"\\", "a ~\"\\");
    assert_shown("\xc2\xa0\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                 "\xc2\xa0\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
}

static void control_characters_are_escaped(void **state) {
    (void)state;
    assert_shown("\x1b[2J\n\t\x01", "\\x1b[2J\\x0a\\x09\\x01");
    assert_shown("\x7f\xc2\x9b\xc2\x80", "\\u007f\\u009b\\u0080");
    assert_shown("\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xef\xbb\xbf", "\\u202e\\u2066\\u061c\\ufeff");
    assert_shown("\xf0\x9f\xbf\xbe", "\\U0001fffe");
}

static void bytes_that_are_not_utf8_are_escaped(void **state) {
    (void)state;
    assert_shown("\x80"
                 "a\xff",
                 "\\x80a\\xff");
    assert_shown("\xe2\x82", "\\xe2\\x82");
    assert_shown("\xc0\x9b", "\\xc0\\x9b");
    assert_shown("\xe0\x80\x9b", "\\xe0\\x80\\x9b");
    assert_shown("\xed\xa0\x80", "\\xed\\xa0\\x80");
    assert_shown("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
}

static void name_fills_its_field_with_zeros(void **state) {
    (void)state;
    char field[8];
    memset(field, 'x', sizeof field);
    assert_null(sx_text_name(field, sizeof field, "abc", "a level"));
    assert_memory_equal(field, "abc\0\0\0\0\0", 8);
    assert_null(sx_text_name(field, sizeof field, "1234567", "a level"));
    assert_string_equal(field, "1234567");
}

static void name_is_refused_when_empty_or_too_long(void **state) {
    (void)state;
    char field[8] = "before";
    sx_status error = sx_text_name(field, sizeof field, "", "level 2");
    assert_int_equal(error->code, SX_ERR_INPUT);
    assert_string_equal(error->message, "level 2 has an empty name");
    sx_status_free(error);
    error = sx_text_name(field, sizeof field, "12345678", "level 2");
    assert_int_equal(error->code, SX_ERR_LIMIT);
    assert_string_equal(error->message, "the name of level 2 is 8 bytes long; at most 7 are allowed");
    sx_status_free(error);
    assert_string_equal(field, "before");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows_by_any_amount),
        cmocka_unit_test(one_large_piece_fits),
        cmocka_unit_test(sizes_around_the_first_room_are_terminated),
        cmocka_unit_test(bytes_may_hold_zeros_and_be_none),
        cmocka_unit_test(empty_text_is_taken_as_an_empty_string),
        cmocka_unit_test(failed_text_ignores_additions_and_gives_the_memory_error),
        cmocka_unit_test(nearest_finds_slips_of_the_hand),
        cmocka_unit_test(nearest_sees_no_case_and_no_kind_of_dash),
        cmocka_unit_test(nearest_gives_up_on_strange_words),
        cmocka_unit_test(nearest_suggests_what_may_be_meant),
        cmocka_unit_test(nearest_prefers_the_smaller_distance_then_the_first),
        cmocka_unit_test(nearest_takes_words_of_any_length),
        cmocka_unit_test(text_is_shown_as_it_is),
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(bytes_that_are_not_utf8_are_escaped),
        cmocka_unit_test(name_fills_its_field_with_zeros),
        cmocka_unit_test(name_is_refused_when_empty_or_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
