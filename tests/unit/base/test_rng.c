#include "sextant/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void generator_gives_the_published_numbers(void **state) {
    (void)state;
    sx_rng rng = {{1, 2, 3, 4}};
    const uint64_t expected[] = {
        11520, 0, 1509978240, 1215971899390074240u, 1216172134540287360u, 607988272756665600u};
    for (int i = 0; i < 6; i++) assert_true(sx_rng_next(&rng) == expected[i]);
}

static void streams_are_the_same_on_every_machine(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(1, "test", 0);
    assert_true(sx_rng_next(&rng) == 0xc28cbfc99284f83bu);
    assert_true(sx_rng_next(&rng) == 0x475779bd08541804u);
    assert_true(sx_rng_next(&rng) == 0x6907e42144543818u);
    rng = sx_rng_stream(42, "genetic.mutate", 7);
    assert_true(sx_rng_next(&rng) == 0xb071349a6b5f7519u);
    assert_true(sx_rng_next(&rng) == 0x04a5efd4541e9c64u);
}

static void streams_differ_by_seed_name_and_number(void **state) {
    (void)state;
    const sx_rng base = sx_rng_stream(1, "a", 0);
    const sx_rng others[] = {sx_rng_stream(2, "a", 0), sx_rng_stream(1, "b", 0), sx_rng_stream(1, "a", 1),
                             sx_rng_stream(0, "a", 0), sx_rng_stream(1, "", 0),  sx_rng_stream(1, "aa", 0)};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_memory_not_equal(&base, &others[i], sizeof base);
    const sx_rng same = sx_rng_stream(1, "a", 0);
    assert_memory_equal(&base, &same, sizeof base);
}

static void neighbouring_streams_share_no_bits(void **state) {
    (void)state;
    int ones[64] = {0};
    for (uint64_t i = 0; i < 4096; i++) {
        sx_rng a = sx_rng_stream(9, "neighbour", i), b = sx_rng_stream(9, "neighbour", i + 1);
        uint64_t differ = sx_rng_next(&a) ^ sx_rng_next(&b);
        for (int bit = 0; bit < 64; bit++) ones[bit] += (int)(differ >> bit & 1);
    }
    for (int bit = 0; bit < 64; bit++) assert_in_range(ones[bit], 2048 - 200, 2048 + 200);
}

static void below_is_below_and_reaches_every_value(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(1, "below", 0);
    for (uint64_t bound = 1; bound <= 40; bound++) {
        uint64_t seen = 0;
        for (int i = 0; i < 2000; i++) {
            uint64_t x = sx_rng_below(&rng, bound);
            assert_true(x < bound);
            seen |= (uint64_t)1 << x;
        }
        assert_true(seen == ((uint64_t)1 << bound) - 1);
    }
    for (int i = 0; i < 100; i++) assert_true(sx_rng_below(&rng, UINT64_MAX) < UINT64_MAX);
}

/* Pearson's chi square of n draws over k cells. */
static double chi_square(const unsigned *count, unsigned k, unsigned n) {
    double expected = (double)n / k, sum = 0;
    for (unsigned i = 0; i < k; i++) sum += (count[i] - expected) * (count[i] - expected) / expected;
    return sum;
}

static void below_is_unbiased_for_small_bounds(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(1, "unbiased", 0);
    for (unsigned bound = 2; bound <= 11; bound++) {
        unsigned count[11] = {0};
        for (int i = 0; i < 100000; i++) count[sx_rng_below(&rng, bound)]++;
        assert_true(chi_square(count, bound, 100000) < 32); /* 10 degrees of freedom: beyond 1 in 2000 */
    }
}

static void below_is_unbiased_where_a_modulo_would_not_be(void **state) {
    (void)state;
    /* Of 3 * 2^62 values, x % bound would hit the first third twice as often as the others. */
    const uint64_t third = (uint64_t)1 << 62;
    sx_rng rng = sx_rng_stream(1, "modulo", 0);
    unsigned count[3] = {0};
    for (int i = 0; i < 30000; i++) count[sx_rng_below(&rng, 3 * third) / third]++;
    assert_true(chi_square(count, 3, 30000) < 16);
}

static void range_holds_both_ends(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(1, "range", 0);
    bool low = false, high = false;
    for (int i = 0; i < 1000; i++) {
        int64_t x = sx_rng_range(&rng, -3, 4);
        assert_true(x >= -3 && x <= 4);
        low |= x == -3;
        high |= x == 4;
    }
    assert_true(low && high);
    assert_true(sx_rng_range(&rng, 7, 7) == 7);
}

static void range_may_be_as_wide_as_the_type(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(1, "wide", 0);
    int negative = 0;
    for (int i = 0; i < 1000; i++) negative += sx_rng_range(&rng, INT64_MIN, INT64_MAX) < 0;
    assert_in_range(negative, 400, 600);
    for (int i = 0; i < 1000; i++) assert_true(sx_rng_range(&rng, INT64_MIN, INT64_MAX - 1) < INT64_MAX);
    for (int i = 0; i < 1000; i++) assert_true(sx_rng_range(&rng, -2, INT64_MAX) >= -2);
}

static void doubles_fill_the_unit_interval(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(1, "double", 0);
    double sum = 0;
    unsigned count[10] = {0};
    for (int i = 0; i < 100000; i++) {
        double x = sx_rng_double(&rng);
        assert_true(x >= 0 && x < 1);
        sum += x;
        count[(int)(x * 10)]++;
    }
    assert_true(sum > 49500 && sum < 50500);
    assert_true(chi_square(count, 10, 100000) < 32);
    sx_rng ones = {{0, UINT64_MAX / 5, 0, 0}};
    assert_true(sx_rng_double(&ones) < 1);
}

static void shuffle_keeps_the_items_and_reaches_every_order(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(1, "shuffle", 0);
    unsigned count[24] = {0};
    for (int i = 0; i < 24000; i++) {
        uint8_t item[4] = {0, 1, 2, 3};
        sx_rng_shuffle(&rng, item, 4);
        unsigned seen = 0, number = 0;
        for (int a = 0; a < 4; a++) {
            unsigned smaller = 0;
            for (int b = a + 1; b < 4; b++) smaller += item[b] < item[a];
            number = number * (unsigned)(4 - a) + smaller;
            seen |= 1u << item[a];
        }
        assert_int_equal(seen, 15);
        count[number]++;
    }
    assert_true(chi_square(count, 24, 24000) < 52); /* 23 degrees of freedom: beyond 1 in 2000 */
}

static void shuffle_of_none_or_one_does_nothing(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(1, "shuffle", 0), before = rng;
    uint8_t item[1] = {9};
    sx_rng_shuffle(&rng, item, 0);
    sx_rng_shuffle(&rng, item, 1);
    assert_int_equal(item[0], 9);
    assert_memory_equal(&rng, &before, sizeof rng);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator_gives_the_published_numbers),
        cmocka_unit_test(streams_are_the_same_on_every_machine),
        cmocka_unit_test(streams_differ_by_seed_name_and_number),
        cmocka_unit_test(neighbouring_streams_share_no_bits),
        cmocka_unit_test(below_is_below_and_reaches_every_value),
        cmocka_unit_test(below_is_unbiased_for_small_bounds),
        cmocka_unit_test(below_is_unbiased_where_a_modulo_would_not_be),
        cmocka_unit_test(range_holds_both_ends),
        cmocka_unit_test(range_may_be_as_wide_as_the_type),
        cmocka_unit_test(doubles_fill_the_unit_interval),
        cmocka_unit_test(shuffle_keeps_the_items_and_reaches_every_order),
        cmocka_unit_test(shuffle_of_none_or_one_does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
