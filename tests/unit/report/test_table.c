/* Tables on terminals of several widths. */
#include "report/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A table of a name, a figure and two figures that may be left out. */
static sx_text make_table(int width) {
    static const char *const cells[] = {"name",  "energy", "seconds", "rate",
                                        "conv1", "1.5 uJ", "0.25",    "100"};
    sx_text out = {.width = width};
    sx_table table;
    sx_table_begin(&table, "lrRR");
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) sx_table_cell(&table, "%s", cells[i]);
    sx_table_end(&table, 0, &out);
    assert_false(out.failed);
    return out;
}

static void columns_that_do_not_fit_are_named(void **state) {
    (void)state;
    sx_text narrow = make_table(22), tight = make_table(27), wide = make_table(0);
    assert_string_equal(narrow.data, "name   energy  seconds\nconv1  1.5 uJ     0.25\n"
                                     "not shown for lack of\ncolumns: rate\n");
    assert_string_equal(tight.data, "name   energy  seconds\nconv1  1.5 uJ     0.25\n"
                                    "not shown for lack of\ncolumns: rate\n");
    assert_string_equal(wide.data, "name   energy  seconds  rate\nconv1  1.5 uJ     0.25   100\n");
    sx_text_free(&narrow);
    sx_text_free(&tight);
    sx_text_free(&wide);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns_that_do_not_fit_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
