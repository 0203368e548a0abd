/* Hyphens of files, as Timeloop takes them. */
#include "frontend/keys.h"
#include "text/document/hyphens.h"

#include "frontend/input.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void known_words_get_underscores(void **state) {
    (void)state;
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"word-bits: 8", "word_bits: 8"},
        {"block-size", "block_size"},
        {"payload-word-bits: 4", "payload-word_bits: 4"}, /* word-bits comes first */
        {"network-word-bits", "network-word_bits"},
        {"metadata-word-bits", "metadata_word_bits"}, /* and metadata-word-bits before it */
        {"read-bandwidth: 3", "read-bandwidth: 3"},
        {"optimization-metrics", "optimization_metrics"},
        {"rank-application-order: inner-to-outer", "rank_application_order: inner_to_outer"},
        {"xword-bits word-bitsx _word-bits", "xword-bits word-bitsx _word-bits"},
        {"word-bits-", "word-bits-"},
        {"word-bits->x word-bits.hpp word-bits.cpp word-bits.c",
         "word-bits->x word-bits.hpp word-bits.cpp word_bits.c"},
        {"-word-bits", "-word_bits"},
        {"word-bit", "word-bit"},
        {"log-all-mappings log-all", "log_all_mappings log_all"}, /* log-all stops at a hyphen behind it */
        {"-", "-"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        strcpy(text, cases[i].before);
        sx_hyphens_convert(text, strlen(text));
        assert_string_equal(text, cases[i].after);
    }
}

/* A key whose hyphens stay is another key: it is neither found nor read, and a warning says so. */
static void other_keys_are_taken_literally(void **state) {
    (void)state;
    static const char text[] = "problem: {block-size: 1, read-bandwidth: 2, my-name: 3}\n";
    static const sx_key_rule rules[] = {SX_KEY("block_size", NULL, NULL),
                                        SX_KEY("read_bandwidth", NULL, NULL)};
    static const sx_keys keys = SX_KEYS("test", true, rules);
    for (int like = 0; like < 3; like++) {
        sx_input *input;
        sx_expect_ok(sx_input_new(&input));
        if (like) sx_input_read_as(input, SX_READ_LIKE_TIMELOOP);
        sx_expect_ok(sx_input_add_text(input, "t.yaml", text, sizeof text - 1));
        const sx_node *map = sx_input_section(input, "problem", 0)->value;
        if (like == 2) sx_input_read_as(input, SX_READ_STRICT); /* warnings are errors */
        sx_status status = sx_node_check_keys(input, map, "the test", &keys);
        if (like == 2)
            sx_expect_error(status,
                            "t.yaml:1:26: 'read_bandwidth' of the test is written with hyphens and ignored");
        else
            sx_expect_ok(status);
        assert_non_null(sx_node_get(map, "block_size"));
        assert_true((sx_node_get(map, "read_bandwidth") != NULL) == !like);
        assert_non_null(sx_node_get(map, "my-name"));
        sx_input_free(input);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_words_get_underscores),
        cmocka_unit_test(other_keys_are_taken_literally),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
