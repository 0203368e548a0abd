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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_prefixes_and_bytes),
                                       cmocka_unit_test(leaves_other_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
