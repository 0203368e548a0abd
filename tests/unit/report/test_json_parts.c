/* Parts of JSON that commands share. */
#include "report/json_parts.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* A text for which there was no memory is an error at once: what stands in it is not read. */
static void texts_without_memory_are_errors(void **state) {
    (void)state;
    sx_text out = {.failed = true};
    sx_expect_error(sx_json_finish(json_object(), &out), "out of memory");
    sx_expect_error(sx_json_finish_line(json_object(), &out), "out of memory");
    sx_text_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_without_memory_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
