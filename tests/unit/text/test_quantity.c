#include "text/quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void reads_prefixes_and_bytes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
        bool bytes;
    } right[] = {{"10k", 1e4, false},    {"10K", 1e4, false},        {"2 M", 2e6, false},
                 {"16 KB", 16384, true}, {"16KiB", 16384, true},     {"1.5 MB", 1572864, true},
                 {"512 B", 512, true},   {"1GiB", 1073741824, true}, {".5k", 500, false}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        sx_quantity found;
        assert_true(sx_quantity_parse(right[i].text, &found));
        assert_true(found.value == right[i].value && found.bytes == right[i].bytes);
    }
}

static void leaves_other_texts(void **state) {
    (void)state;
    static const char *const wrong[] = {"",       "10",    "1e4",  "k",   "10 kk",   "10ki",
                                        "10 KBs", "0x10k", "n*2k", "-1k", "16 KB/s", "10 b"};
    sx_quantity found;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(sx_quantity_parse(wrong[i], &found));
}

static void rates_are_decimal_bytes_per_second(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double rate;
    } right[] = {
        {"25 GB/s", 25e9}, {"1.5TB/s", 1.5e12}, {"2 GiB/s", 0x1p31}, {"64 kB/s", 64e3}, {"8 B/s", 8}};
    static const char *const wrong[] = {"25 GB", "25 G/s", "25", "GB/s", "25 GB/sec", "25 Gb/s", ""};
    double rate;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_true(sx_rate_parse(right[i].text, &rate));
        assert_true(rate == right[i].rate);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(sx_rate_parse(wrong[i], &rate));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rates_are_decimal_bytes_per_second),
                                       cmocka_unit_test(reads_prefixes_and_bytes),
                                       cmocka_unit_test(leaves_other_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
