#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void hashes_are_the_same_on_every_machine(void **state) {
    (void)state;
    const struct {
        const char *text;
        uint64_t seed, hash;
    } cases[] = {
        {"", 0, 0x82a2138436483d11u},          {"", 1, 0x95c3a65b3f8a3db8u},
        {"a", 0, 0x43d1524b52d6338fu},         {"a", 1, 0x895a92031dac51bbu},
        {"abcdefg", 0, 0x77abe0022973a78fu},   {"abcdefgh", 0, 0x6eee08b535065cdau},
        {"abcdefghi", 0, 0x3674209851d645e6u}, {"abcdefghi", 1, 0x4f2b037d0bba853eu},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_true(sx_hash_bytes(cases[i].text, strlen(cases[i].text), cases[i].seed) == cases[i].hash);
}

static void alignment_does_not_matter(void **state) {
    (void)state;
    char buffer[80];
    const char text[] = "a text that is longer than three words of eight bytes";
    uint64_t expected = sx_hash_bytes(text, sizeof text, 5);
    for (int offset = 0; offset < 16; offset++) {
        memcpy(buffer + offset, text, sizeof text);
        assert_true(sx_hash_bytes(buffer + offset, sizeof text, 5) == expected);
    }
}

static void trailing_zeros_count(void **state) {
    (void)state;
    const char zeros[32] = {0};
    for (size_t a = 0; a < sizeof zeros; a++)
        for (size_t b = a + 1; b <= sizeof zeros; b++)
            assert_true(sx_hash_bytes(zeros, a, 0) != sx_hash_bytes(zeros, b, 0));
}

static int bits(uint64_t x) {
    int n = 0;
    for (; x; x &= x - 1) n++;
    return n;
}

static void every_bit_of_the_text_changes_about_half_the_hash(void **state) {
    (void)state;
    unsigned char text[24];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (unsigned char)(i * 37);
    uint64_t base = sx_hash_bytes(text, sizeof text, 0);
    int total = 0;
    for (size_t bit = 0; bit < 8 * sizeof text; bit++) {
        text[bit / 8] ^= (unsigned char)(1u << bit % 8);
        int changed = bits(base ^ sx_hash_bytes(text, sizeof text, 0));
        assert_in_range(changed, 12, 52);
        total += changed;
        text[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    assert_in_range(total / (int)(8 * sizeof text), 30, 34);
}

static void small_numbers_do_not_collide(void **state) {
    (void)state;
    enum { N = 1 << 16 };
    static uint8_t taken[(1u << 28) / 8];
    int collisions = 0;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t at = (uint32_t)(sx_hash_bytes(&i, sizeof i, 0) & ((1u << 28) - 1));
        collisions += taken[at / 8] >> at % 8 & 1;
        taken[at / 8] |= (uint8_t)(1u << at % 8);
    }
    assert_in_range(collisions, 0, 30); /* 8 are expected of a random function */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_the_same_on_every_machine),
        cmocka_unit_test(alignment_does_not_matter),
        cmocka_unit_test(trailing_zeros_count),
        cmocka_unit_test(every_bit_of_the_text_changes_about_half_the_hash),
        cmocka_unit_test(small_numbers_do_not_collide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
