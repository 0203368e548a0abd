#include "base/decimal.h"

#include "sextant/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void decimals_come_back_as_they_were_written(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "0.2",
                                        "-0.48",
                                        "4.8",
                                        "123456.789",
                                        "1000000",
                                        "10000000000000000",
                                        "99999999999999984",
                                        "1e+17",
                                        "1.5e-07",
                                        "0.0001",
                                        "344886012762910.75",
                                        "4692231842231746",
                                        "1.379683419103128e+26"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[SX_DECIMAL_SIZE];
        sx_decimal_text(strtod(texts[i], NULL), text);
        assert_string_equal(text, texts[i]);
    }
}

static void every_double_reads_back(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(1, "test.decimal", 0);
    char text[SX_DECIMAL_SIZE], digits[40];
    int shorter = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = sx_rng_next(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        sx_decimal_text(value, text);
        assert_true(strtod(text, NULL) == value);
        snprintf(digits, sizeof digits, "%.17g", value);
        assert_true(strlen(text) <= strlen(digits));
        shorter += strlen(text) < strlen(digits);
    }
    assert_in_range(shorter, 10000, 100000);
}

static void parts_are_those_of_the_text(void **state) {
    (void)state;
    static const struct {
        double value;
        sx_decimal parts;
    } cases[] = {{0, {0, 0}},         {0.2, {2, -1}},     {-4.75, {-475, -2}},
                 {1200, {12, 2}},     {1e17, {1, 17}},    {1.5e-07, {15, -8}},
                 {1e-300, {1, -300}}, {1e16, {1, 16}},    {344886012762910.75, {34488601276291075, -2}},
                 {1e22, {1, 22}},     {3.5e30, {35, 29}}, {100, {1, 2}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_decimal parts = sx_decimal_of(cases[i].value);
        assert_int_equal(parts.digits, cases[i].parts.digits);
        assert_int_equal(parts.exponent, cases[i].parts.exponent);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_come_back_as_they_were_written),
        cmocka_unit_test(every_double_reads_back),
        cmocka_unit_test(parts_are_those_of_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
