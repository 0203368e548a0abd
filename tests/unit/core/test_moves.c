/* Draws and steps of compact points, by hand: m = 12, n = 4 and k = 5 on two levels, the outer one over 8 x 4 children. */
#include "core/repair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { M, N, K, DIMS };
enum {
    INNER,
    ACROSS,
    OUTER,
    SLOTS
}; /* slots: the inner level's, the outer one's spatial and temporal ones */
enum { M2, M3, N2, K5, WORDS, NATURAL = 0x210 }; /* words: a dimension and a prime of its size */

/* A point: two levels, and the words behind them. */
typedef union point {
    sx_compact_level level[SX_CORE_LEVELS + WORDS];
    struct {
        sx_compact_level own[2];
        uint64_t word[WORDS];
    };
} point;

/* What the space says of points. */
static sx_core_space make_space(void) {
    static const uint8_t first[] = {M2, N2, K5, WORDS}, times[] = {2, 1, 2, 1}, prime[] = {2, 3, 2, 5};
    sx_core_space c;
    memset(&c, 0, sizeof c);
    c.model.n_levels = 2;
    c.model.n_tensors = 2;
    c.model.n_dims = DIMS;
    c.model.level[0].may = 2;
    c.model.level[0].must = 1;
    c.model.level[1].must = 3;
    c.model.tensor[1].output = true;
    c.model.tensor[1].dims = 1 << M | 1 << N;
    c.n_slots = SLOTS;
    c.n_words = WORDS;
    c.sized = 7;
    c.spread = c.planar = 2;
    c.choosing = 1;
    c.temporal = 1 << INNER | 1 << OUTER;
    c.level_of[ACROSS] = c.level_of[OUTER] = 1;
    c.temporal_slot[1] = OUTER;
    c.spatial_slot[0] = -1;
    c.spatial_slot[1] = ACROSS;
    memcpy(c.first_word, first, sizeof first);
    memcpy(c.multiplicity, times, sizeof times);
    c.free_x[1] = 1 << M | 1 << K;
    c.natural = NATURAL;
    for (int d = 0; d < DIMS; d++) c.most[d][ACROSS] = 8;
    for (int k = 0; k < WORDS; k++) {
        c.power[k][0] = 1;
        for (int i = 1; i < SX_CORE_POWERS; i++) c.power[k][i] = c.power[k][i - 1] * prime[k];
    }
    return c;
}

/* A word with these exponents at the slots. */
static uint64_t word_of(unsigned inner, unsigned across, unsigned outer) {
    return inner * sx_compact_one(INNER) + across * sx_compact_one(ACROSS) + outer * sx_compact_one(OUTER);
}

/* All factors at the outer level, in natural orders. */
static point make_point(void) {
    point p;
    memset(&p, 0, sizeof p);
    p.own[0] = p.own[1] = (sx_compact_level){.order = NATURAL, .keep = 3};
    p.word[M2] = p.word[N2] = word_of(0, 0, 2);
    p.word[M3] = p.word[K5] = word_of(0, 0, 1);
    return p;
}

static void the_largest_divisor_is_spatial(void **state) {
    (void)state;
    static const uint8_t twelve[] = {2, 1};
    static const struct {
        double most;
        uint8_t two, three;
    } cases[] = {{12, 2, 1}, {11, 1, 1}, {6, 1, 1}, {5, 2, 0}, {4, 2, 0}, {3, 0, 1}, {2, 1, 0}, {1, 0, 0}};
    const sx_core_space c = make_space();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t out[SX_CORE_PRIMES] = {9, 9};
        sx_compact_divide(&c, M, twelve, cases[i].most, out);
        assert_int_equal(out[0], cases[i].two);
        assert_int_equal(out[1], cases[i].three);
    }
}

/* Of 12 along 8 children 6 are spatial and 2 are left; what is no longer parallel is temporal again. */
static void parallel_dimensions_are_spread(void **state) {
    (void)state;
    const sx_core_space c = make_space();
    point p = make_point();
    p.word[M2] = word_of(0, 1, 1);
    p.word[K5] = word_of(0, 1, 0);
    p.level[1].parallel = 1 << M | 1 << N;
    const point before = p;
    sx_compact_respread(&c, p.level, 0);
    assert_memory_equal(&p, &before, sizeof p);
    sx_compact_respread(&c, p.level, 1 << M | 1 << K);
    assert_true(p.word[M2] == word_of(0, 1, 1) && p.word[M3] == word_of(0, 1, 0));
    assert_true(p.word[N2] == word_of(0, 0, 2) && p.word[K5] == word_of(0, 0, 1));
    sx_compact_respread(&c, p.level, c.sized);
    assert_true(p.word[N2] == word_of(0, 2, 0));
    p.word[M2] = word_of(1, 0, 1); /* what is inside stays there */
    sx_compact_respread(&c, p.level, 1 << M);
    assert_true(p.word[M2] == word_of(1, 1, 0) && p.word[M3] == word_of(0, 1, 0));
}

static void what_is_at_slots(void **state) {
    (void)state;
    const sx_core_space c = make_space();
    point p = make_point();
    p.word[M2] = word_of(1, 1, 0);
    assert_true(sx_compact_crowd(&c, p.word) == word_of(1, 1, 3));
    assert_true(sx_compact_used(&c, p.word, M) == word_of(1, 1, 1));
    assert_int_equal(sx_compact_loops_at(&c, p.level, INNER), 1 << M);
    assert_int_equal(sx_compact_loops_at(&c, p.level, OUTER), 7);
    assert_true(sx_compact_factor(&c, p.word, M, OUTER) == 3 && sx_compact_factor(&c, p.word, N, OUTER) == 4);
    assert_true(sx_compact_takes(&c, p.word, M, M3, ACROSS)); /* 2 * 3 of 8 */
    p.word[M2] = word_of(0, 2, 0);
    assert_false(sx_compact_takes(&c, p.word, M, M3, ACROSS)); /* 4 * 3 */
    assert_true(sx_compact_takes(&c, p.word, M, M2, ACROSS));  /* 4 * 2 */
    assert_true(sx_compact_takes(&c, p.word, M, M3, INNER));
    const uint64_t crowd = word_of(2, 1, 3);
    assert_int_equal(sx_compact_places(&c, M, INNER, crowd), 3);
    assert_int_equal(sx_compact_places(&c, M, ACROSS, crowd), 2); /* X or Y */
    assert_int_equal(sx_compact_places(&c, N, ACROSS, crowd), 1); /* fixed */
}

/* A dimension comes before a loop of a mask, by its number, or behind all; what has no loop stays where it is. */
static void loops_are_put_before_others(void **state) {
    (void)state;
    const sx_core_space c = make_space();
    assert_true(sx_compact_put_loop(&c, 0x210, K, 1 << M | 1 << N, 0) == 0x102);
    assert_true(sx_compact_put_loop(&c, 0x210, K, 1 << M | 1 << N, 1) == 0x120);
    assert_true(sx_compact_put_loop(&c, 0x210, K, 1 << N, 0) == 0x120);
    assert_true(sx_compact_put_loop(&c, 0x210, M, 1 << N | 1 << K, 2) == 0x021);
    assert_true(sx_compact_put_loop(&c, 0x012, M, 1 << M | 1 << K, 0) == 0x210);
    assert_true(sx_compact_put_loop(&c, 0x210, M, 1 << K, 1) == 0x012);
    assert_true(sx_compact_put_loop(&c, 0x210, M, 1 << N, 1) == 0x201);
    assert_true(sx_compact_put_loop(&c, 0x210, M, 0, 0) == 0x210);
    assert_true(sx_compact_swap_places(0x210, 0, 2) == 0x012);
    assert_true(sx_compact_swap_places(0x210, 1, 1) == 0x210);
}

/* A step moves one prime; a new loop gets its place, or its axis. */
static void steps_move_a_prime(void **state) {
    (void)state;
    const sx_core_space c = make_space();
    point p = make_point();
    p.word[N2] = word_of(1, 0, 1);
    sx_compact_take_step(&c, p.level, M, &(sx_compact_step){M3, OUTER, INNER, 0, 2});
    assert_true(p.word[M3] == word_of(1, 0, 0) && p.level[0].order == 0x210);
    sx_compact_take_step(&c, p.level, K, &(sx_compact_step){K5, OUTER, INNER, 1, 3});
    assert_true(p.word[K5] == word_of(1, 0, 0) && p.level[0].order == 0x120);
    p.level[0].order = 0x012;
    sx_compact_take_step(&c, p.level, M,
                         &(sx_compact_step){M2, OUTER, INNER, 0, 1}); /* no new loop: its place stays */
    assert_true(p.word[M2] == word_of(1, 0, 1) && p.level[0].order == 0x012);
    assert_true(p.level[1].order == 0x210 && p.level[1].parallel == 0);
    sx_compact_take_step(&c, p.level, M, &(sx_compact_step){M2, OUTER, ACROSS, 0, 2});
    assert_true(p.level[1].parallel == 1 << M && p.level[1].on_x == 1 << M);
    sx_compact_take_step(&c, p.level, K, &(sx_compact_step){K5, INNER, ACROSS, 1, 2});
    assert_true(p.level[1].parallel == (1 << M | 1 << K) && p.level[1].on_x == 1 << M);
    p.level[1].on_x = 7;
    sx_compact_take_step(&c, p.level, K, &(sx_compact_step){K5, ACROSS, ACROSS, 1, 2});
    assert_true(p.level[1].on_x == (1 << M | 1 << N));
    sx_compact_take_step(&c, p.level, N, &(sx_compact_step){N2, OUTER, ACROSS, 0, 1}); /* a fixed axis */
    assert_true(p.level[1].on_x == (1 << M | 1 << N) && p.word[N2] == word_of(1, 1, 0));
}

/* All steps of a dimension and places of new loops are equally likely. */
static void steps_are_equally_likely(void **state) {
    (void)state;
    enum { DRAWS = 12000 };
    const sx_core_space c = make_space();
    sx_core_rng rng = {5};
    point p = make_point();
    int seen[WORDS][SLOTS][SLOTS][4] = {{{{0}}}}, n = 0;
    p.word[M2] = word_of(1, 0, 1); /* a loop of m inside, and of n */
    p.word[N2] = word_of(1, 0, 1);
    /* M2: inside to out, out to inside, either to X or Y; M3: out to inside, out to X or Y */
    for (int i = 0; i < DRAWS; i++) {
        sx_compact_step step = {0};
        assert_true(sx_compact_draw_step(&c, &rng, p.level, M, &step));
        assert_true(step.place < step.places && step.places <= 2);
        seen[step.word][step.from][step.to][step.place]++;
    }
    for (int k = 0; k < WORDS; k++)
        for (int from = 0; from < SLOTS; from++)
            for (int to = 0; to < SLOTS; to++)
                for (int place = 0; place < 4; place++) {
                    int times = seen[k][from][to][place];
                    if (times == 0) continue;
                    n++;
                    assert_in_range(times, DRAWS / 9 * 0.85, DRAWS / 9 * 1.15);
                }
    assert_int_equal(n, 9);
    p.word[K5] = 0; /* nothing to move */
    assert_false(sx_compact_draw_step(&c, &rng, p.level, K, &(sx_compact_step){0}));
}

/* All six orders are equally likely, of both levels and apart; a swap changes at most two places of one level's. */
static void orders_are_shuffled(void **state) {
    (void)state;
    enum { DRAWS = 6000 };
    const sx_core_space c = make_space();
    sx_core_rng rng = {7};
    int seen[0x300] = {0}, n = 0, changed[2] = {0}, same = 0, kept = 0;
    for (int i = 0; i < DRAWS; i++) {
        point p = make_point();
        sx_compact_shuffle(&c, &rng, p.level);
        same += p.level[0].order == p.level[1].order;
        assert_in_range(p.level[1].order, 0x012, 0x210);
        seen[p.level[1].order]++;
        p = make_point();
        sx_compact_swap_order(&c, &rng, p.level);
        for (int s = 0; s < 2; s++) changed[s] += p.level[s].order != NATURAL;
        assert_true(p.level[0].order == NATURAL || p.level[1].order == NATURAL);
        kept += p.level[0].order == p.level[1].order;
    }
    for (int order = 0; order < 0x300; order++) {
        if (!seen[order]) continue;
        n++;
        assert_in_range(seen[order], 850, 1150);
    }
    assert_int_equal(n, 6);
    assert_in_range(same, 850, 1150);
    assert_in_range(kept, 1850, 2150); /* a third swaps a place with itself */
    assert_in_range(changed[0], 1850, 2150);
    assert_in_range(changed[1], 1850, 2150);
}

/* Levels are swapped with all their factors, of which those that are parallel are spread again. */
static void levels_are_swapped(void **state) {
    (void)state;
    const sx_core_space c = make_space();
    int swapped = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        sx_core_rng rng = {seed};
        point p = make_point();
        p.word[M2] = word_of(1, 1, 0);
        p.level[1].parallel = 1 << M;
        point before = p;
        sx_compact_respread(&c, before.level, c.sized);
        sx_compact_swap_levels(&c, &rng, p.level);
        if (memcmp(&p, &before, sizeof p) == 0) continue;
        swapped++;
        assert_true(p.word[M2] == word_of(1, 1, 0) && p.word[M3] == word_of(1, 0, 0));
        assert_true(p.word[N2] == word_of(2, 0, 0) && p.word[K5] == word_of(1, 0, 0));
    }
    assert_in_range(swapped, 150, 250);
}

/* What may be kept is kept or not; parallel dimensions come, go or turn, one at a time. */
static void tensors_and_dimensions_change(void **state) {
    (void)state;
    sx_core_space c = make_space();
    sx_core_rng rng = {3};
    int turned = 0, came = 0, went = 0;
    for (int i = 0; i < 600; i++) {
        point p = make_point();
        sx_compact_change_keep(&c, &rng, p.level);
        assert_true(p.level[0].keep == 1 && p.level[1].keep == 3);
        p.level[1].parallel = 1 << M;
        sx_compact_change_parallel(&c, &rng, p.level);
        assert_int_equal(
            __builtin_popcount(p.level[1].on_x) + __builtin_popcount(p.level[1].parallel ^ 1 << M), 1);
        turned += p.level[1].on_x == 1 << M;
        went += p.level[1].parallel == 0;
        came += p.level[1].parallel > 1 << M;
        if (p.level[1].parallel == (1 << M | 1 << N)) assert_true(p.word[N2] == word_of(0, 2, 0));
        if (p.level[1].parallel == 0) assert_true(p.word[M2] == word_of(0, 0, 2));
    }
    assert_in_range(turned, 250, 350);
    assert_in_range(went, 110, 190);
    assert_in_range(came, 110, 190);
    point p = make_point(), before = p;
    c.spread = c.choosing = 0;
    sx_compact_change_parallel(&c, &rng, p.level);
    sx_compact_change_keep(&c, &rng, p.level);
    assert_memory_equal(&p, &before, sizeof p);
}

/* A point takes over the factors of one dimension, which are spread as its own are, or all of another kind. */
static void parts_are_taken_over(void **state) {
    (void)state;
    const sx_core_space c = make_space();
    point from = make_point(), to = make_point();
    from.word[M2] = word_of(1, 0, 1);
    from.word[N2] = word_of(2, 0, 0);
    from.level[0].order = 0x012;
    from.level[0].keep = 1;
    from.level[1].parallel = 4;
    from.level[1].on_x = 2;
    to.level[1].parallel = 1 << M;
    sx_compact_take(&c, SX_COMPACT_TILE, M, from.level, to.level);
    assert_true(to.word[M2] == word_of(1, 1, 0) && to.word[M3] == word_of(0, 1, 0));
    assert_true(to.word[N2] == word_of(0, 0, 2) && to.level[0].order == NATURAL && to.level[0].keep == 3);
    sx_compact_take(&c, SX_COMPACT_ORDER, 0, from.level, to.level);
    assert_true(to.level[0].order == 0x012 && to.level[0].keep == 3 && to.level[1].parallel == 1);
    sx_compact_take(&c, SX_COMPACT_KEEP, 0, from.level, to.level);
    assert_true(to.level[0].keep == 1 && to.level[1].parallel == 1);
    sx_compact_take(&c, SX_COMPACT_PARALLEL, 0, from.level, to.level);
    assert_true(to.level[1].parallel == 4 && to.level[1].on_x == 2);
}

/* Draws have all primes, at levels at random; the natural point has them at the outer level, the output's dimensions across. */
static void draws_have_all_primes(void **state) {
    (void)state;
    const sx_core_space c = make_space();
    sx_core_rng rng = {11};
    int inside = 0, sizes[4] = {0};
    for (int i = 0; i < 600; i++) {
        point p;
        memset(&p, 255, sizeof p);
        sx_compact_random(&c, &rng, p.level);
        assert_true(p.level[0].keep == 3 && p.level[1].keep == 3 && p.level[0].parallel == 0);
        sizes[__builtin_popcount(p.level[1].parallel)]++;
        for (int k = 0; k < WORDS; k++) {
            unsigned sum = 0;
            for (int s = 0; s < SLOTS; s++) sum += sx_compact_exponent(p.word[k], s);
            assert_int_equal(sum, c.multiplicity[k]);
            assert_true(p.word[k] >> SX_CORE_BITS * SLOTS == 0 && !p.level[0].banks[0] &&
                        !p.level[1].banks[2]);
        }
        inside += p.word[K5] == word_of(1, 0, 0);
        memset(&p, 255, sizeof p);
        sx_compact_natural(&c, &rng, p.level);
        assert_true(p.level[1].parallel == 3 && p.level[0].parallel == 0 && p.level[0].order == NATURAL);
        assert_true(p.word[M2] == word_of(0, 1, 1) && p.word[M3] == word_of(0, 1, 0));
        assert_true(p.word[N2] == word_of(0, 2, 0) && p.word[K5] == word_of(0, 0, 1));
    }
    assert_in_range(inside, 250, 350);
    for (int n = 1; n < 4; n++) assert_in_range(sizes[n], 160, 240);
}

/* A spatial loop that is new is parallel, on a random axis where it may be on both; others stay as they are. */
static void new_spatial_loops_get_an_axis(void **state) {
    (void)state;
    const sx_core_space c = make_space();
    static sx_core_work work;
    sx_core_rng rng = {5};
    int on_x = 0;
    for (int i = 0; i < 100; i++) {
        point p = make_point();
        sx_core_patient r = {&c, &work, &rng, p.level, -1};
        work.spatial = 0;
        sx_core_place_loop(&r, M, OUTER);
        assert_int_equal(p.level[1].parallel, 0);
        sx_core_place_loop(&r, N, ACROSS);
        assert_true(p.level[1].parallel == 1 << N && p.level[1].on_x == 0);
        sx_core_place_loop(&r, M, ACROSS);
        assert_int_equal(p.level[1].parallel, 1 << M | 1 << N);
        on_x += p.level[1].on_x == 1 << M;
        work.spatial = (uint64_t)(1 << K) << 8;
        sx_core_place_loop(&r, K, ACROSS);
        assert_int_equal(p.level[1].parallel, 1 << M | 1 << N);
    }
    assert_in_range(on_x, 30, 70);
}

/* Primes leave a level that is too small for levels outside; none leaves the outermost level. */
static void primes_leave_small_levels(void **state) {
    (void)state;
    sx_core_space c = make_space();
    static sx_core_work work;
    sx_core_rng rng = {6};
    point p = make_point();
    sx_core_patient r = {&c, &work, &rng, p.level, -1};
    const point natural = p;
    for (int d = 0; d < DIMS; d++) c.most[d][OUTER] = 8;
    assert_false(sx_core_fix_capacity(&r, 1, 1));
    assert_memory_equal(&p, &natural, sizeof p);
    p.word[M3] = word_of(1, 0, 0);
    p.level[0].keep = 1;
    assert_true(sx_core_fix_capacity(&r, 0, 1));
    assert_true(r.dim == M && memcmp(p.word, natural.word, sizeof p.word) == 0);
    assert_false(sx_core_fix_capacity(&r, 0, 1));
    p.level[0].keep = 3; /* what need not be kept is not */
    assert_true(sx_core_fix_capacity(&r, 0, 1));
    assert_true(p.level[0].keep == 1 && memcmp(p.word, natural.word, sizeof p.word) == 0);
    c.temporal = 1 << INNER; /* outer loops are spatial alone */
    p.word[M3] = word_of(1, 0, 0);
    assert_true(sx_core_fix_capacity(&r, 0, 1));
    assert_true(p.word[M3] == word_of(0, 1, 0) || p.word[M3] == word_of(0, 0, 1));
}

static void every_tensor_is_kept_somewhere(void **state) {
    (void)state;
    static const struct {
        uint8_t inner, outer;
        bool all;
    } cases[] = {{3, 3, true},  {1, 2, true},  {0, 3, true}, {3, 0, true},
                 {1, 1, false}, {0, 2, false}, {0, 0, false}};
    sx_core_space c = make_space();
    c.model.all = 3;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        point p = make_point();
        p.level[0].keep = cases[i].inner;
        p.level[1].keep = cases[i].outer;
        assert_int_equal(sx_core_keeps_all(&c, p.level), cases[i].all);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_spatial_loops_get_an_axis),
        cmocka_unit_test(primes_leave_small_levels),
        cmocka_unit_test(the_largest_divisor_is_spatial),
        cmocka_unit_test(parallel_dimensions_are_spread),
        cmocka_unit_test(what_is_at_slots),
        cmocka_unit_test(loops_are_put_before_others),
        cmocka_unit_test(steps_move_a_prime),
        cmocka_unit_test(steps_are_equally_likely),
        cmocka_unit_test(orders_are_shuffled),
        cmocka_unit_test(levels_are_swapped),
        cmocka_unit_test(tensors_and_dimensions_change),
        cmocka_unit_test(parts_are_taken_over),
        cmocka_unit_test(draws_have_all_primes),
        cmocka_unit_test(every_tensor_is_kept_somewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
