#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void numbers_have_no_digits_too_many(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"[0.2, 0.48, -4.8]", "[0.2, 0.48, -4.8]"},
        {"[0.20000000000000001, 0.30000000000000004]", "[0.2, 0.30000000000000004]"},
        {"[1e16, 1e17, 1.5e-7, 2.0]", "[10000000000000000.0, 1e17, 1.5e-7, 2.0]"},
        {"[1.3796834191031281e26, -1.1999999999999999e-9]", "[1.379683419103128e26, -1.2e-9]"},
        {"[9007199254740993, 4692231842231746.0]", "[9007199254740993, 4692231842231746.0]"},
        {"[\"0.20000000000000001\", \"a\\\"0.20000000000000001\\\\\", 0.20000000000000001]",
         "[\"0.20000000000000001\", \"a\\\"0.20000000000000001\\\\\", 0.2]"},
        {"{\"0.10000000000000001\": 0.10000000000000001, \"b\": true}",
         "{\"0.10000000000000001\": 0.1, \"b\": true}"},
        {"[]", "[]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *tree = sx_json_read(cases[i][0]);
        assert_non_null(tree);
        char *text = sx_json_dump(tree, JSON_PRESERVE_ORDER);
        assert_non_null(text);
        assert_string_equal(text, cases[i][1]);
        json_t *again = sx_json_read(text);
        assert_true(json_equal(tree, again));
        json_decref(again);
        json_decref(tree);
        free(text);
    }
}

/* Memory that ran out stays known: a text that may lack a part is none. In a process of its own, since nothing takes it
 * back. */
static void what_lacks_memory_is_not_printed(void **state) {
    (void)state;
    json_t *tree = sx_json_read("[1, \"two\"]");
    int status = 0;
    assert_non_null(tree);
    const pid_t child = fork();
    if (child == 0) {
        sx_json_fail();
        _exit(sx_json_dump(tree, 0) != NULL);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    json_decref(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_no_digits_too_many),
        cmocka_unit_test(what_lacks_memory_is_not_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
