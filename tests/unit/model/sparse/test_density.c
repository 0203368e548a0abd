#include "model/sparse/density.h"

#include "base/cancel.h"
#include "sextant/all.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

__extension__ typedef unsigned __int128 wide;

/* C(n, k), exactly. */
static wide choose(unsigned n, unsigned k) {
    wide c = 1;
    for (unsigned i = 0; i < k; i++) c = c * (n - i) / (i + 1);
    return c;
}

/* a / b rounded to the nearest double. */
static double quotient(wide a, wide b) {
    if (a == 0) return 0;
    int shift = 0;
    while (a < b) a <<= 1, shift++;
    while (a >= b << 1) b <<= 1, shift--;
    uint64_t digits = 0;
    for (int i = 0; i < 54; i++) {
        digits = digits << 1 | (a >= b);
        if (a >= b) a -= b;
        a <<= 1;
    }
    bool up = digits & 1 && (a != 0 || digits & 2);
    return ldexp((double)((digits >> 1) + up), -52 - shift);
}

static void probabilities_are_the_nearest_doubles(void **state) {
    (void)state;
    sx_density_cache *cache = sx_density_cache_new(true, NULL);
    assert_non_null(cache);
    for (unsigned words = 1; words <= 40; words++)
        for (unsigned r = 0; r <= words; r++)
            for (unsigned n = 1; n <= words; n++) {
                sx_density d =
                    sx_density_make(SX_DENSITY_HYPERGEOMETRIC, ((double)r - 0.5) / (double)words, words);
                assert_int_equal(d.nonzeros, r);
                sx_occupancies at;
                double sum = 0;
                assert_true(sx_density_window(&d, cache, n, &at));
                for (size_t i = 0; i < at.n; i++) {
                    unsigned k = (unsigned)(at.first + i);
                    double p = quotient(choose(r, k) * choose(words - r, n - k), choose(words, n));
                    assert_float_equal(at.probability[i], p, 0);
                    sum += p;
                }
                assert_float_equal(sum, 1, 1e-12);
                double empty = n + r > words ? 0 : quotient(choose(words - r, n), choose(words, n));
                assert_float_equal(sx_density_empty(&d, cache, n), empty, 0);
            }
    sx_density_cache_free(cache);
}

/* The least tile that is never empty: one word more than there are zeros. */
static void tiles_beyond_the_zeros_are_never_empty(void **state) {
    (void)state;
    for (unsigned words = 1; words <= 40; words++)
        for (unsigned r = 1; r <= words; r++) {
            sx_density d =
                sx_density_make(SX_DENSITY_HYPERGEOMETRIC, ((double)r - 0.5) / (double)words, words);
            assert_int_equal(d.never_empty, words - r + 1);
        }
}

/* What is remembered of one size of tiles is not taken for that of another, beyond the room for all of them. */
static void sizes_of_tiles_are_told_apart(void **state) {
    (void)state;
    sx_density_cache *remembers = sx_density_cache_new(true, NULL),
                     *forgets = sx_density_cache_new(false, NULL);
    sx_density d = sx_density_make(SX_DENSITY_HYPERGEOMETRIC, 3e-4, 200000);
    for (int round = 0; round < 2; round++)
        for (uint64_t n = 1; n < 20000; n += 3)
            assert_true(sx_density_empty(&d, remembers, n) == sx_density_empty(&d, forgets, n));
    sx_density_cache_free(remembers);
    sx_density_cache_free(forgets);
}

/* Far beyond what fits integers: mean and sum are right, and the window is narrow. */
static void windows_of_large_tiles_are_narrow(void **state) {
    (void)state;
    sx_density_cache *cache = sx_density_cache_new(false, NULL);
    sx_density d = sx_density_make(SX_DENSITY_HYPERGEOMETRIC, 0.1, 100000000);
    sx_occupancies at;
    double sum = 0, mean = 0;
    assert_int_equal(d.nonzeros, 10000000);
    assert_true(sx_density_window(&d, cache, 1000000, &at));
    for (size_t i = 0; i < at.n; i++) {
        sum += at.probability[i];
        mean += at.probability[i] * (double)(at.first + i);
    }
    assert_float_equal(sum, 1, 1e-11);
    assert_float_equal(mean, 100000, 1e-5);
    assert_true(at.n < 12000);
    sx_density_cache_free(cache);
}

static void fixed_tiles_have_their_share(void **state) {
    (void)state;
    sx_density_cache *cache = sx_density_cache_new(false, NULL);
    sx_density d = sx_density_make(SX_DENSITY_FIXED_STRUCTURED, 0.25, 64);
    sx_occupancies at;
    assert_float_equal(sx_density_empty(&d, cache, 1), 0.75, 0);
    assert_float_equal(sx_density_empty(&d, cache, 4), 0, 0);
    assert_int_equal(sx_density_most(&d, 4), 1);
    assert_int_equal(sx_density_most(&d, 5), 2);
    assert_true(sx_density_window(&d, cache, 6, &at));
    assert_int_equal(at.first, 1);
    assert_int_equal(at.n, 2);
    assert_float_equal(at.probability[1], 0.5, 0);
    sx_density dense = sx_density_make(SX_DENSITY_NONE, 0, 64);
    assert_int_equal(sx_density_most(&dense, 5), 5);
    assert_float_equal(sx_density_empty(&dense, cache, 1), 0, 0);
    sx_density_cache_free(cache);
}

/* A count that a signal ends says what keeps a lower bound one: all tiles are empty. It is not remembered. */
static void ended_counts_are_lower_bounds(void **state) {
    (void)state;
    sx_problem problem;
    sx_positions *placed;
    sx_cancel cancel = {0};
    sx_steps steps = {.cancel = &cancel};
    sx_expect_ok(sx_einsum_parse("Z[m] += A[k,m] {m:40000,k:40000}", &problem));
    sx_expect_ok(sx_problem_set_band(&problem, 1, 0));
    sx_expect_ok(sx_positions_new(&problem, 1, &placed));
    sx_density d = sx_density_placed(SX_DENSITY_BANDED, placed);
    sx_density_cache *cache = sx_density_cache_new(true, &steps);
    uint32_t extent[SX_MAX_DIMS] = {0};
    extent[placed->dim[0]] = 2;
    extent[placed->dim[1]] = 1;
    uint64_t tile = sx_positions_tile(placed, extent);
    sx_cancel_set(&cancel);
    assert_true(sx_density_empty(&d, cache, tile) == 1);
    assert_true(sx_density_cache_failed(cache));
    assert_int_equal(sx_density_most_counted(&d, cache, tile), 0);
    assert_true(sx_density_blocks(&d, cache, tile, 4) == 0);
    assert_true(sx_density_cache_failed(cache));
    assert_false(sx_density_cache_failed(cache));
    steps.cancel = NULL;
    atomic_store(&steps.stopped, false);
    assert_true(fabs(sx_density_empty(&d, cache, tile) - (1 - 1.0 / 20000)) < 1e-12);
    assert_int_equal(sx_density_most_counted(&d, cache, tile), 1);
    assert_false(sx_density_cache_failed(cache));
    sx_density_cache_free(cache);
    sx_positions_free(placed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_are_the_nearest_doubles),
        cmocka_unit_test(tiles_beyond_the_zeros_are_never_empty),
        cmocka_unit_test(sizes_of_tiles_are_told_apart),
        cmocka_unit_test(windows_of_large_tiles_are_narrow),
        cmocka_unit_test(fixed_tiles_have_their_share),
        cmocka_unit_test(ended_counts_are_lower_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
