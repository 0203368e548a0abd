/* Splits of dimensions against a list of all of them, and at sizes no list can hold. */
#include "mapspace/factors.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_LIST = 20000 };

/* What is split how, and every way to do it in order. */
typedef struct listed {
    uint32_t size, min[SX_MAX_SLOTS], max[SX_MAX_SLOTS];
    int n_slots;
    bool remainders;
    size_t n;
    uint32_t split[MAX_LIST][SX_MAX_SLOTS];
    sx_factors *factors;
} listed;

/* Lists all splits by trying every factor. */
static void list(listed *l, int slot, uint32_t *factor, uint64_t inner) {
    if (slot == l->n_slots) {
        if (l->remainders ? inner < l->size : inner != l->size) return;
        assert_true(l->n < MAX_LIST);
        memcpy(l->split[l->n++], factor, sizeof l->split[0]);
        return;
    }
    uint64_t most = (l->size + inner - 1) / inner;
    for (uint32_t f = 1; f <= most; f++) {
        if (f < l->min[slot] || f > l->max[slot]) continue;
        if (!l->remainders && l->size % (inner * f)) continue;
        factor[slot] = f;
        list(l, slot + 1, factor, inner * f);
    }
}

/* A random thing to split, small enough to list. */
static void draw_listed(sx_rng *rng, listed *l) {
    memset(l, 0, sizeof *l);
    l->remainders = sx_rng_below(rng, 2);
    l->n_slots = 1 + (int)sx_rng_below(rng, l->remainders ? 3 : 5);
    l->size = 1 + (uint32_t)sx_rng_below(rng, l->remainders ? 40 : 200);
    for (int i = 0; i < l->n_slots; i++) {
        l->min[i] = 1 + (sx_rng_below(rng, 6) ? 0 : (uint32_t)sx_rng_below(rng, 3));
        l->max[i] = sx_rng_below(rng, 3) ? SX_MAX_DIM_SIZE : 1 + (uint32_t)sx_rng_below(rng, 20);
    }
    uint32_t factor[SX_MAX_SLOTS] = {0};
    list(l, 0, factor, 1);
    sx_expect_ok(sx_factors_new(l->size, l->n_slots, l->min, l->max, l->remainders, &l->factors));
}

static void numbers_run_through_all_splits(void **state) {
    (void)state;
    static listed l;
    for (uint64_t i = 0; i < 2000; i++) {
        sx_rng rng = sx_rng_stream(1, "numbers", i);
        draw_listed(&rng, &l);
        assert_true(sx_factors_count(l.factors) == l.n);
        sx_u128 rank;
        for (size_t j = 0; j < l.n; j++) {
            uint32_t factor[SX_MAX_SLOTS];
            sx_factors_at(l.factors, j, factor);
            assert_memory_equal(factor, l.split[j], (size_t)l.n_slots * sizeof *factor);
            assert_true(sx_factors_rank(l.factors, factor, &rank) && rank == j);
            assert_true(sx_factors_holds(l.factors, factor));
            factor[sx_rng_below(&rng, (uint64_t)l.n_slots)] = l.size + 1;
            assert_false(sx_factors_rank(l.factors, factor, &rank));
        }
        sx_factors_free(l.factors);
    }
}

static void other_factors_have_no_number(void **state) {
    (void)state;
    static listed l;
    for (uint64_t i = 0; i < 500; i++) {
        sx_rng rng = sx_rng_stream(1, "none", i);
        draw_listed(&rng, &l);
        for (int k = 0; k < 50; k++) {
            uint32_t factor[SX_MAX_SLOTS] = {0};
            for (int s = 0; s < l.n_slots; s++) factor[s] = (uint32_t)sx_rng_below(&rng, l.size + 2);
            bool among = false;
            for (size_t j = 0; j < l.n; j++) among |= !memcmp(factor, l.split[j], sizeof factor);
            sx_u128 rank;
            assert_int_equal(sx_factors_rank(l.factors, factor, &rank), among);
            assert_int_equal(sx_factors_holds(l.factors, factor), among);
        }
        sx_factors_free(l.factors);
    }
}

static void draws_are_uniform(void **state) {
    (void)state;
    static listed l;
    for (uint64_t i = 0; i < 40; i++) {
        sx_rng rng = sx_rng_stream(2, "draws", i);
        draw_listed(&rng, &l);
        static unsigned seen[MAX_LIST];
        memset(seen, 0, sizeof seen);
        size_t draws = 200 * l.n;
        for (size_t j = 0; j < draws; j++) {
            uint32_t factor[SX_MAX_SLOTS];
            sx_u128 rank;
            sx_factors_draw(l.factors, &rng, factor);
            assert_true(sx_factors_rank(l.factors, factor, &rank));
            seen[rank]++;
        }
        double chi = 0, free_count = (double)l.n - 1;
        for (size_t j = 0; j < l.n; j++) chi += (seen[j] - 200.0) * (seen[j] - 200.0) / 200.0;
        if (l.n > 1) assert_true(fabs(chi - free_count) < 5 * sqrt(2 * free_count));
        sx_factors_free(l.factors);
    }
}

/* Splits `size` freely over some slots. */
static sx_factors *free_split(uint32_t size, int n_slots, bool remainders) {
    uint32_t min[SX_MAX_SLOTS], max[SX_MAX_SLOTS];
    for (int i = 0; i < n_slots; i++) {
        min[i] = 1;
        max[i] = SX_MAX_DIM_SIZE;
    }
    sx_factors *factors;
    sx_expect_ok(sx_factors_new(size, n_slots, min, max, remainders, &factors));
    return factors;
}

/* How many splits have a certain factor at a slot. */
static double count_with(uint32_t size, int n_slots, bool remainders, int slot, uint32_t factor) {
    uint32_t min[SX_MAX_SLOTS], max[SX_MAX_SLOTS];
    for (int i = 0; i < n_slots; i++) {
        min[i] = i == slot ? factor : 1;
        max[i] = i == slot ? factor : SX_MAX_DIM_SIZE;
    }
    sx_factors *factors;
    sx_expect_ok(sx_factors_new(size, n_slots, min, max, remainders, &factors));
    double count = (double)sx_factors_count(factors);
    sx_factors_free(factors);
    return count;
}

static void draws_from_many_splits_have_the_right_shares(void **state) {
    (void)state;
    static const struct {
        uint32_t size;
        int n_slots;
        bool remainders;
    } cases[] = {{1000, 7, true}, {5040, 9, false}, {100000, 5, true}, {99991, 4, true}};
    enum { DRAWS = 100000, SLOT = 2, FACTORS = 12 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_factors *factors = free_split(cases[i].size, cases[i].n_slots, cases[i].remainders);
        sx_rng rng = sx_rng_stream(6, "shares", i);
        unsigned seen[FACTORS + 1] = {0};
        for (int k = 0; k < DRAWS; k++) {
            uint32_t factor[SX_MAX_SLOTS];
            sx_factors_draw(factors, &rng, factor);
            seen[factor[SLOT] <= FACTORS ? factor[SLOT] : 0]++;
        }
        for (uint32_t v = 1; v <= FACTORS; v++) {
            double with = count_with(cases[i].size, cases[i].n_slots, cases[i].remainders, SLOT, v);
            double expected = DRAWS * with / (double)sx_factors_count(factors);
            assert_true(fabs(seen[v] - expected) <= 5 * sqrt(expected));
        }
        sx_factors_free(factors);
    }
}

static void patterns_part_the_splits(void **state) {
    (void)state;
    static listed l;
    for (uint64_t i = 0; i < 300; i++) {
        sx_rng rng = sx_rng_stream(3, "patterns", i);
        draw_listed(&rng, &l);
        for (uint32_t mask = 0; mask < 1u << l.n_slots; mask++) {
            size_t n = 0;
            for (size_t j = 0; j < l.n; j++) {
                uint32_t beyond = 0;
                for (int s = 0; s < l.n_slots; s++) beyond |= (uint32_t)(l.split[j][s] > 1) << s;
                n += beyond == mask;
            }
            sx_u128 count;
            assert_true(sx_factors_pattern(l.factors, mask, &count));
            assert_true(count == n);
        }
        sx_factors_free(l.factors);
    }
}

/* The sum of squared differences of a split from targets. */
static double distance_of(const uint32_t *factor, const double *target, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double off = log2((double)factor[i]) - target[i];
        sum += off * off;
    }
    return sum;
}

static void nearest_are_nearest(void **state) {
    (void)state;
    static listed l;
    enum { N = 5 };
    for (uint64_t i = 0; i < 1000; i++) {
        sx_rng rng = sx_rng_stream(4, "nearest", i);
        draw_listed(&rng, &l);
        double target[SX_MAX_SLOTS], distance[N];
        bool rough = sx_rng_below(&rng, 2);
        for (int s = 0; s < l.n_slots; s++)
            target[s] = rough ? (double)sx_rng_below(&rng, 4) : sx_rng_double(&rng) * 8 - 1;
        uint32_t found[N][SX_MAX_SLOTS];
        size_t n = sx_factors_nearest(l.factors, target, N, found, distance);
        assert_int_equal(n, l.n < N ? l.n : N);
        static bool taken[MAX_LIST];
        memset(taken, 0, sizeof taken);
        for (size_t k = 0; k < n; k++) {
            size_t best = l.n;
            double least = INFINITY;
            for (size_t j = 0; j < l.n; j++) {
                double d = distance_of(l.split[j], target, l.n_slots);
                if (taken[j] || d >= least) continue;
                best = j;
                least = d;
            }
            taken[best] = true;
            assert_true(distance[k] == least);
            assert_memory_equal(found[k], l.split[best], (size_t)l.n_slots * sizeof found[0][0]);
        }
        sx_factors_free(l.factors);
    }
}

static void large_sizes_have_known_counts(void **state) {
    (void)state;
    static const struct {
        uint32_t size;
        int slots;
        uint64_t count;
    } cases[] = {
        {1u << 30, 7, 1947792},             /* 36 over 6 */
        {1u << 30, 32, 232714176627630544}, /* 61 over 31 */
        {SX_MAX_DIM_SIZE, 32, 32},          /* a prime */
        {2095133040, 3, 164025},            /* 2^4 3^4 and six primes: 15 * 15 * 3^6 */
        {1, 32, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_factors *factors = free_split(cases[i].size, cases[i].slots, false);
        assert_true(sx_factors_count(factors) == cases[i].count);
        sx_factors_free(factors);
    }
}

static void large_splits_are_numbered_drawn_and_approached(void **state) {
    (void)state;
    static const struct {
        uint32_t size;
        int slots;
        bool remainders;
    } cases[] = {{2095133040, 12, false}, {1000003, 6, true}, {10000000, 8, true}, {224, 14, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_factors *factors = free_split(cases[i].size, cases[i].slots, cases[i].remainders);
        sx_rng rng = sx_rng_stream(5, "large", i);
        for (int k = 0; k < 100; k++) {
            uint32_t drawn[SX_MAX_SLOTS], again[SX_MAX_SLOTS], near[3][SX_MAX_SLOTS];
            double target[SX_MAX_SLOTS], distance[3];
            sx_u128 rank;
            sx_factors_draw(factors, &rng, drawn);
            assert_true(sx_factors_rank(factors, drawn, &rank));
            assert_true(rank < sx_factors_count(factors));
            sx_factors_at(factors, rank, again);
            assert_memory_equal(drawn, again, (size_t)cases[i].slots * sizeof *drawn);
            for (int s = 0; s < cases[i].slots; s++) target[s] = log2((double)drawn[s]);
            assert_int_equal(sx_factors_nearest(factors, target, 3, near, distance), 3);
            assert_memory_equal(drawn, near[0], (size_t)cases[i].slots * sizeof *drawn);
            assert_true(distance[0] == 0);
        }
        sx_factors_free(factors);
    }
}

static void contradictions_leave_nothing(void **state) {
    (void)state;
    uint32_t min[] = {5, 1}, max[] = {5, 100};
    sx_factors *factors;
    sx_expect_ok(sx_factors_new(12, 2, min, max, false, &factors));
    assert_true(sx_factors_count(factors) == 0);
    uint32_t near[1][SX_MAX_SLOTS];
    assert_int_equal(sx_factors_nearest(factors, (double[]){0, 0}, 1, near, (double[1]){0}), 0);
    sx_factors_free(factors);
    sx_expect_ok(sx_factors_new(12, 2, min, max, true, &factors));
    assert_true(sx_factors_count(factors) == 1);
    sx_factors_free(factors);
}

static void beyond_limits_is_an_error(void **state) {
    (void)state;
    uint32_t min[SX_MAX_SLOTS], max[SX_MAX_SLOTS];
    for (int i = 0; i < SX_MAX_SLOTS; i++) {
        min[i] = 1;
        max[i] = SX_MAX_DIM_SIZE;
    }
    sx_factors *factors;
    sx_expect_error(sx_factors_new(SX_MAX_DIM_SIZE, 4, min, max, true, &factors), "too large to split");
    sx_expect_error(sx_factors_new(10, SX_MAX_SLOTS + 1, min, max, true, &factors), "49 slots");
    sx_expect_error(sx_factors_new(0, 2, min, max, true, &factors), "cannot be split");
    sx_factors_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_run_through_all_splits),
        cmocka_unit_test(other_factors_have_no_number),
        cmocka_unit_test(draws_are_uniform),
        cmocka_unit_test(draws_from_many_splits_have_the_right_shares),
        cmocka_unit_test(patterns_part_the_splits),
        cmocka_unit_test(nearest_are_nearest),
        cmocka_unit_test(large_sizes_have_known_counts),
        cmocka_unit_test(large_splits_are_numbered_drawn_and_approached),
        cmocka_unit_test(contradictions_leave_nothing),
        cmocka_unit_test(beyond_limits_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
