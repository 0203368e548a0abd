/* Tables of comma-separated values: what a line is cut into, and what is refused where. */
#include "support/expect.h"
#include "text/csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sx_status parse(const char *text, sx_csv *out) {
    char *copy = strdup(text);
    assert_non_null(copy);
    return sx_csv_parse("t.csv", copy, strlen(text), out);
}

static void lines_are_cut_into_fields(void **state) {
    (void)state;
    sx_csv csv;
    bool more;
    double number;
    sx_expect_ok(parse("\na, \"b, \"\"c\"\"\" ,d\r\n \n 1 ,x y ,\"2.5\"\r\n,,", &csv));
    assert_int_equal(csv.n_columns, 3);
    assert_string_equal(csv.column[1], "b, \"c\"");
    assert_int_equal(sx_csv_column(&csv, (const char *const[]){"z", "d"}, 2), 2);
    assert_int_equal(sx_csv_column(&csv, (const char *const[]){"z"}, 1), -1);
    sx_expect_ok(sx_csv_next(&csv, &more));
    assert_true(more);
    assert_string_equal(csv.field[0], "1");
    assert_string_equal(csv.field[1], "x y");
    sx_expect_ok(sx_csv_number(&csv, 2, &number));
    assert_true(number == 2.5);
    assert_int_equal(sx_csv_place(&csv, 0).column, 2);
    assert_int_equal(sx_csv_place(&csv, 1).column, 5);
    assert_int_equal(sx_csv_place(&csv, 2).line, 4);
    sx_expect_error(sx_csv_number(&csv, 1, &number), "t.csv:4:5: 'b, \"c\"' must be a number, not 'x y'");
    sx_expect_ok(sx_csv_next(&csv, &more));
    assert_true(more);
    assert_string_equal(csv.field[2], "");
    sx_expect_ok(sx_csv_next(&csv, &more));
    assert_false(more);
    sx_csv_fini(&csv);
}

static void bad_tables_are_refused_where_they_are_wrong(void **state) {
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "t.csv: the file is empty\n  the first line names the columns"},
        {"a,\"b\n", "t.csv:1:3: a quote is not closed at the end of its field"},
        {"a,\"b\"c\n", "t.csv:1:3: a quote is not closed at the end of its field"},
        {"a,b\n1\n", "t.csv:2:1: 1 fields, but 2 columns"},
        {"a,b\n1,2, 3,4\n", "t.csv:2:6: 4 fields, but 2 columns"},
        {"a,b\n1,\"2\n", "t.csv:2:3: a quote is not closed at the end of its field"},
        {"a\n1,2\n", "t.csv:2:3: 2 fields, but 1 columns"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_csv csv;
        bool more;
        sx_status status = parse(cases[i].text, &csv);
        if (!status) {
            status = sx_csv_next(&csv, &more);
            sx_csv_fini(&csv);
        }
        sx_expect_error(status, cases[i].error);
    }
}

static void no_column_is_dropped(void **state) {
    (void)state;
    sx_csv csv;
    char text[2 * SX_CSV_COLUMNS + 2] = "";
    for (int i = 1; i < SX_CSV_COLUMNS; i++) strcat(text, "a,");
    strcat(text, "z");
    sx_expect_ok(parse(text, &csv));
    assert_int_equal(sx_csv_column(&csv, (const char *const[]){"z"}, 1), SX_CSV_COLUMNS - 1);
    sx_csv_fini(&csv);
    strcat(text, ",");
    sx_expect_error(parse(text, &csv), "t.csv:1:129: more than 64 columns");
}

static void what_is_written_is_read_as_it_was(void **state) {
    static const char *const names[] = {"plain", "a,b",       "\"",   "say \"x\"", " blank", "blank\t",
                                        "",      "<b>&amp;'", "=1+1", "-1",        "+1",     "@x"};
    enum { N = sizeof names / sizeof *names };
    sx_text text = {0};
    sx_csv csv;
    bool more;
    char *copy;
    (void)state;
    for (int i = 0; i < N; i++) sx_csv_add(&text, i ? "c" : "a", i < N - 1 ? "," : "\n");
    for (int i = 0; i < N; i++) sx_csv_add(&text, names[i], i < N - 1 ? "," : "\n");
    sx_expect_ok(sx_text_take(&text, &copy));
    sx_expect_ok(sx_csv_parse("t.csv", copy, strlen(copy), &csv));
    sx_expect_ok(sx_csv_next(&csv, &more));
    assert_true(more);
    for (int i = 0; i < N; i++) assert_string_equal(csv.field[i], names[i]);
    sx_csv_fini(&csv);
    sx_csv_add(&text, "a\nb\r", ";");
    assert_string_equal(text.data, "\"a\nb\r\";");
    sx_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_cut_into_fields),
        cmocka_unit_test(bad_tables_are_refused_where_they_are_wrong),
        cmocka_unit_test(no_column_is_dropped),
        cmocka_unit_test(what_is_written_is_read_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
