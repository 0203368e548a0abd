/* Points out of lines of JSON. */
#include "support/expect.h"
#include "systolic/points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sx_status read(const char *text, sx_outside_point *out) {
    return sx_outside_point_read("p.jsonl", 7, text, strlen(text), out);
}

/* Fails unless a line is refused with words that hold a part. */
static void refuse(const char *text, const char *part) {
    sx_outside_point p;
    sx_expect_error(read(text, &p), part);
}

static void products_and_einsums_are_the_same(void **state) {
    (void)state;
    sx_outside_point a, b;
    sx_expect_ok(read(
        "{\"family\": \"mm\", \"problem\": {\"i\": 64, \"j\": 32, \"k\": 16.0}, \"design\": \"kernel3_2\", "
        "\"tiles\": {\"i_t1\": 8, \"i_t2\": 4, \"j_t1\": 6, \"j_t2\": 3, \"k_t1\": 9, \"k_t2\": 1e0}, "
        "\"extra\": [1]}",
        &a));
    sx_expect_ok(
        read("{\"einsum\": \"C[i,j] += A[i,k]*B[j,k] {i:64,j:32,k:16}\", \"design\": \"3_2\", "
             "\"tiles\": {\"i_t1\": 8, \"i_t2\": 4, \"j_t1\": 6, \"j_t2\": 3, \"k_t1\": 9, \"k_t2\": 1}}",
             &b));
    assert_memory_equal(&a.point, &b.point, sizeof a.point);
    assert_int_equal(a.point.design, 11);
    assert_true(a.point.t1[1] == 6 && a.point.t2[2] == 1 && a.point.t1[3] == 0);
    assert_memory_equal(a.kernel.loop, b.kernel.loop, sizeof a.kernel.loop);
}

static void loops_of_one_step_need_no_tiles(void **state) {
    (void)state;
    sx_outside_point p;
    sx_expect_ok(read(
        "{\"family\": \"conv\", \"problem\": {\"i\": 1, \"o\": 1, \"r\": 5, \"c\": 1, \"p\": 3, \"q\": 1}, "
        "\"design\": \"0_0\", \"tiles\": {\"r_t1\": 5, \"r_t2\": 5}}",
        &p));
    assert_true(p.point.t1[0] == 1 && p.point.t1[1] == 5 && p.point.t2[3] == 1);
}

static void errors_name_the_line_and_what_would_be_right(void **state) {
    (void)state;
    refuse("", "p.jsonl:7:1: 0 objects in one line");
    refuse("[1", "p.jsonl:7:");
    refuse("{\"family\": \"mm\"", "p.jsonl:7:");
    refuse("{\"family\": \"fft\", \"problem\": {}}", "it is mm or conv");
    refuse("{\"family\": \"mm\", \"problem\": {\"i\": 1, \"j\": 2}}", "the problem has no 'k'");
    refuse("{\"family\": \"mm\", \"problem\": {\"i\": 1, \"j\": 2, \"k\": -1}}", "whole number");
    refuse("{\"family\": \"conv\", \"problem\": {\"i\": 1, \"o\": 1, \"r\": 1, \"c\": 1, \"p\": 70000, "
           "\"q\": 70000}}",
           "p.jsonl:7:31: a window");
    refuse("{\"einsum\": \"C[i\"}", "p.jsonl:7:12: at character");
    refuse("{\"einsum\": \"O[m] += A[m]*B[m]*C[m] {m:4}\"}", "multiplies two");
    refuse("{\"family\": \"mm\", \"problem\": {\"i\": 1, \"j\": 1, \"k\": 1}, \"design\": \"6_0\"}",
           "no design '6_0'");
    refuse("{\"family\": \"mm\", \"problem\": {\"i\": 2, \"j\": 1, \"k\": 1}, \"design\": \"0_0\", "
           "\"tiles\": {}}",
           "'tiles' has no 'i_t1'\n  for example");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_and_einsums_are_the_same),
        cmocka_unit_test(loops_of_one_step_need_no_tiles),
        cmocka_unit_test(errors_name_the_line_and_what_would_be_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
