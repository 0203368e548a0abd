/* Sets of tiles against their definition, and the counts of designs that Odyssey prints. */
#include "space/cardinal.h"
#include "support/expect.h"
#include "systolic/space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Whether t is a first-level tile of a loop of n steps. */
static bool is_tile(uint32_t t, uint32_t n, bool divisors) {
    if (divisors) return t <= n && n % t == 0;
    if (t <= n) return true;
    for (uint32_t x = 1; x < n; x++)
        if ((n + x - 1) / x * x == t) return true;
    return false;
}

/* Whether t2 is a second-level tile of t1. */
static bool is_inner(uint32_t t1, uint32_t t2, uint32_t lanes) {
    return t1 % t2 == 0 && (!lanes || (t2 <= lanes && (t2 & (t2 - 1)) == 0));
}

/* Fails unless a set holds the tiles of some sizes and no others, with their pairs in order. */
static void expect_set(const uint32_t *sizes, size_t n_sizes, bool divisors, uint32_t pad_to,
                       uint32_t lanes) {
    sx_systolic_tile_set set;
    size_t at = 0;
    uint64_t pairs = 0, any = 0;
    sx_expect_ok(sx_systolic_tile_set_init(sizes, n_sizes, divisors, pad_to, lanes, &set));
    for (uint32_t t = 1; t <= 2 * 100; t++) {
        bool in = !divisors && t <= pad_to;
        for (size_t i = 0; i < n_sizes; i++) in = in || is_tile(t, sizes[i], divisors);
        assert_int_equal(sx_systolic_tile_find(&set, t), at);
        assert_int_equal(sx_systolic_tile_in(&set, t), in);
        if (!in) continue;
        assert_true(at < set.n && set.t1[at] == t);
        assert_int_equal(set.before[at++], pairs);
        for (uint32_t t2 = 1; t2 <= t; t2++) {
            any += t % t2 == 0;
            assert_int_equal(sx_systolic_inner_in(&set, t, t2), is_inner(t, t2, lanes));
            if (!is_inner(t, t2, lanes)) continue;
            sx_pair_of_tiles pair = sx_systolic_tile_pair(&set, pairs++);
            assert_true(pair.t1 == t && pair.t2 == t2);
        }
    }
    assert_int_equal(set.n, at);
    assert_int_equal(set.before[at], pairs);
    assert_int_equal(set.divisors, any);
    sx_systolic_tile_set_fini(&set);
}

static void sets_hold_what_the_definition_says(void **state) {
    (void)state;
    for (uint32_t n = 1; n <= 100; n++)
        for (int kind = 0; kind < 4; kind++) expect_set(&n, 1, kind & 1, n % 3 ? 0 : 20, kind & 2 ? 8 : 0);
    const uint32_t sizes[] = {7, 60, 1, 98};
    for (int kind = 0; kind < 4; kind++) expect_set(sizes, 4, kind & 1, 64, kind & 2 ? 16 : 0);
}

static void a_loop_of_1024_steps_has_7262_pairs(void **state) {
    (void)state;
    const uint32_t n = 1024;
    sx_systolic_tile_set set;
    sx_expect_ok(sx_systolic_tile_set_init(&n, 1, false, 0, 0, &set));
    assert_int_equal(set.before[sx_systolic_tile_find(&set, n + 1)], 7262);
    sx_systolic_tile_set_fini(&set);
    sx_expect_ok(sx_systolic_tile_set_init(&n, 1, false, 0, 8, &set));
    assert_int_equal(set.before[sx_systolic_tile_find(&set, n + 1)], 1920);
    sx_systolic_tile_set_fini(&set);
    sx_expect_ok(sx_systolic_tile_set_init(&n, 1, true, 0, 8, &set));
    assert_int_equal(set.n, 11);
    assert_int_equal(set.before[11], 1 + 2 + 3 + 8 * 4);
    assert_int_equal(set.divisors, 66);
    sx_systolic_tile_set_fini(&set);
}

static void long_loops_are_refused(void **state) {
    (void)state;
    sx_systolic_tile_set set;
    const uint32_t longest = SX_MAX_SYSTOLIC_SIZE, longer = longest + 1;
    sx_expect_error(sx_systolic_tile_set_init(&longer, 1, false, 0, 0, &set), "1048577 steps is too long");
    sx_systolic_tile_set_fini(&set);
    sx_expect_ok(sx_systolic_tile_set_init(&longest, 1, false, 0, 0, &set));
    assert_true(set.t1[set.n - 1] < 2 * longest && set.t1[0] == 1);
    sx_systolic_tile_set_fini(&set);
}

/* The nearest second-level tile by looking at all. */
static uint32_t inner_by_hand(uint32_t t1, uint32_t lanes, double t2) {
    uint32_t best = 1;
    for (uint32_t d = 1; d <= t1; d++)
        if (is_inner(t1, d, lanes) && fabs(d - t2) < fabs(best - t2)) best = d;
    return best;
}

static void nearest_tiles_are_nearest(void **state) {
    (void)state;
    const uint32_t n = 60;
    for (int kind = 0; kind < 4; kind++) {
        sx_systolic_tile_set set;
        sx_expect_ok(sx_systolic_tile_set_init(&n, 1, kind & 1, 0, kind & 2 ? 8 : 0, &set));
        for (double x = -3; x < 140; x += 0.25) {
            uint32_t nearest = set.t1[0];
            for (size_t i = 0; i < set.n; i++)
                if (fabs(set.t1[i] - x) < fabs(nearest - x)) nearest = set.t1[i];
            assert_int_equal(sx_systolic_tile_nearest(&set, x), nearest);
            for (uint32_t t1 = 1; t1 <= 72; t1 += 7)
                assert_int_equal(sx_systolic_inner_nearest(&set, t1, x), inner_by_hand(t1, set.lanes, x));
        }
        assert_int_equal(sx_systolic_tile_nearest(&set, INFINITY), set.t1[set.n - 1]);
        assert_int_equal(sx_systolic_tile_nearest(&set, -INFINITY), 1);
        sx_systolic_tile_set_fini(&set);
    }
}

static void next_tiles_are_next(void **state) {
    (void)state;
    const uint32_t n = 60;
    for (uint32_t lanes = 0; lanes <= 8; lanes += 8) {
        sx_systolic_tile_set set;
        sx_expect_ok(sx_systolic_tile_set_init(&n, 1, false, 0, lanes, &set));
        for (uint32_t t1 = 1; t1 <= 72; t1++)
            for (uint32_t t2 = 1; t2 <= t1; t2++) {
                if (!is_inner(t1, t2, lanes)) continue;
                uint32_t above = t2 + 1, below = t2 - 1;
                while (above <= t1 && !is_inner(t1, above, lanes)) above++;
                while (below >= 1 && !is_inner(t1, below, lanes)) below--;
                assert_int_equal(sx_systolic_inner_next(&set, t1, t2, true), above > t1 ? t2 : above);
                assert_int_equal(sx_systolic_inner_next(&set, t1, t2, false), below < 1 ? t2 : below);
            }
        sx_systolic_tile_set_fini(&set);
    }
}

/* Line `name` of the account of a space's size. */
static double size_of(const sx_systolic_kernel *kernel, const sx_systolic_options *options,
                      const char *name) {
    sx_device device;
    sx_space *space;
    sx_size size;
    double found = -1;
    sx_expect_ok(sx_catalog_device("u250", &device));
    sx_expect_ok(sx_systolic_space_new(kernel, 1, &device, options, &space));
    for (size_t i = 0; sx_space_size(space, i, &size); i++)
        if (strcmp(size.name, name) == 0) found = (double)size.count.high * 0x1p64 + (double)size.count.low;
    sx_space_free(space);
    return found;
}

/* Fails unless a number has these digits. */
static void expect_digits(double found, double digits, double unit) {
    if (fabs(found - digits) > unit / 2) fail_msg("found %.10g where %.10g is published", found, digits);
}

static void spaces_have_the_papers_sizes(void **state) {
    (void)state;
    static const struct {
        uint32_t size[6];
        double count, unit;
    } kernels[] = {
        {{128, 256, 512}, 3.658e9, 0.001e9},
        {{1024, 64, 512}, 7.745e9, 0.001e9},
        {{1024, 256, 256}, 3.317e10, 0.001e10},
        {{1024, 1024, 512}, 1.989e11, 0.001e11},
        {{1024, 1024, 1024}, 2.386e11, 0.001e11},
        {{1024, 256, 14, 14, 1, 1}, 3.480e10, 0.001e10},
        {{128, 128, 28, 28, 3, 3}, 5.306e10, 0.001e10},
        {{96, 576, 14, 14, 1, 1}, 8.468e10, 0.001e10},
        {{64, 128, 112, 112, 3, 3}, 1.283e12, 0.001e12},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const uint32_t *s = kernels[i].size;
        sx_systolic_kernel kernel;
        sx_expect_ok(s[3] ? sx_systolic_convolution(s[0], s[1], s[2], s[3], s[4], s[5], &kernel)
                          : sx_systolic_matrix(s[0], s[1], s[2], &kernel));
        expect_digits(size_of(&kernel, NULL, "published"), kernels[i].count, kernels[i].unit);
    }
    sx_systolic_kernel kernel;
    const size_t one = 11;
    const sx_systolic_options options = {.designs = &one, .n_designs = 1};
    sx_expect_ok(sx_systolic_matrix(1024, 1024, 1024, &kernel));
    expect_digits(size_of(&kernel, &options, "published"), 1.326e10, 0.001e10);
    assert_true(size_of(&kernel, &options, "designs") == 1);
    assert_true(size_of(&kernel, NULL, "designs") == 18);
    assert_true(size_of(&kernel, NULL, "k") == 38);
    assert_true(size_of(&kernel, NULL, "raw") * 66 == size_of(&kernel, NULL, "published") * 38);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_hold_what_the_definition_says),
        cmocka_unit_test(a_loop_of_1024_steps_has_7262_pairs),
        cmocka_unit_test(long_loops_are_refused),
        cmocka_unit_test(nearest_tiles_are_nearest),
        cmocka_unit_test(next_tiles_are_next),
        cmocka_unit_test(spaces_have_the_papers_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
