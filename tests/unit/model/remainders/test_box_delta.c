/* Boxes with holes against sets of words. */
#include "model/remainders/box_delta.h"
#include "sextant/rng.h"
#include "support/compared.h"
#include "support/sanitized.h"
#include "support/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = SX_SANITIZED ? 4000 : 20000 };

typedef struct box {
    int64_t low[SX_MAX_RANKS], high[SX_MAX_RANKS];
} box;

/* A small box that is not empty. */
static box draw_box(sx_rng *rng, int ranks) {
    box b = {0};
    for (int r = 0; r < ranks; r++) {
        b.low[r] = sx_rng_range(rng, -3, 3);
        b.high[r] = b.low[r] + sx_rng_range(rng, 1, 4);
    }
    return b;
}

/* The words of a box that are not in another. */
static void difference(sx_words *set, int ranks, const box *a, const box *held) {
    sx_words other = {0};
    sx_words_box(set, ranks, a->low, a->high);
    sx_words_box(&other, ranks, held->low, held->high);
    sx_words_remove(set, &other);
    sx_words_fini(&other);
}

/* The words a piece stands for. */
static void words_of(sx_words *set, int ranks, const sx_box_delta *delta) {
    box whole = {0}, hole = {0};
    set->n = 0;
    if (delta->words == 0) return;
    memcpy(&whole.low, delta->low, sizeof whole.low);
    memcpy(&whole.high, delta->high, sizeof whole.high);
    memcpy(&hole.low, delta->hole_low, sizeof hole.low);
    memcpy(&hole.high, delta->hole_high, sizeof hole.high);
    difference(set, ranks, &whole, &hole);
}

static bool same_set(const sx_words *a, const sx_words *b) {
    return a->n == b->n && (a->n == 0 || memcmp(a->word, b->word, a->n * sizeof *a->word) == 0);
}

static void a_piece_is_the_difference_of_its_boxes(void **state) {
    (void)state;
    sx_words truth = {0}, found = {0};
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(1, "piece", i);
        int ranks = (int)sx_rng_range(&rng, 1, 3);
        box a = draw_box(&rng, ranks), held = draw_box(&rng, ranks);
        sx_box_delta delta = sx_box_delta_new(ranks, a.low, a.high, held.low, held.high);
        difference(&truth, ranks, &a, &held);
        words_of(&found, ranks, &delta);
        bool good = delta.words == truth.n && same_set(&truth, &found);
        if (!good) print_error("case %d\n", (int)i);
        assert_true(good);
        sx_box_delta whole = sx_box_delta_whole(ranks, a.low, a.high);
        sx_words_box(&truth, ranks, a.low, a.high);
        words_of(&found, ranks, &whole);
        assert_true(whole.words == truth.n && same_set(&truth, &found));
    }
    sx_words_fini(&truth);
    sx_words_fini(&found);
}

/* Half of the time b is cut from the same boxes as a, moved; or another pair of boxes with the same
 * difference. */
static void pieces_are_alike_where_their_words_are(void **state) {
    (void)state;
    sx_words of_a = {0}, of_b = {0};
    uint64_t compared = 0, alike = 0;
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(1, "alike", i);
        int ranks = (int)sx_rng_range(&rng, 1, 3);
        box a = draw_box(&rng, ranks), a_held = draw_box(&rng, ranks);
        box b = a, b_held = a_held;
        for (int r = 0; r < ranks; r++) {
            int64_t by = sx_rng_range(&rng, -2, 2);
            b.low[r] += by;
            b.high[r] += by;
            b_held.low[r] += by - (sx_rng_below(&rng, 4) == 0);
            b_held.high[r] += by + (sx_rng_below(&rng, 4) == 0);
        }
        if (sx_rng_below(&rng, 4) == 0) b = draw_box(&rng, ranks);
        sx_box_delta p = sx_box_delta_new(ranks, a.low, a.high, a_held.low, a_held.high);
        sx_box_delta q = sx_box_delta_new(ranks, b.low, b.high, b_held.low, b_held.high);
        words_of(&of_a, ranks, &p);
        words_of(&of_b, ranks, &q);
        int64_t shift[SX_MAX_RANKS] = {0}, truth;
        bool same = sx_words_moved(&of_a, &of_b, &truth);
        if (of_a.n == 0 || of_b.n == 0) continue;
        bool said = sx_box_delta_congruent(ranks, &p, &q, shift);
        if (said != same) print_error("case %d\n", (int)i);
        assert_int_equal(said, same);
        if (same) assert_int_equal(sx_words_pack(ranks, shift), truth);
        compared++;
        alike += same;
    }
    sx_expect_compared("pairs of pieces", compared, CASES / 2);
    sx_expect_compared("congruent pairs", alike, CASES / 20);
    sx_words_fini(&of_a);
    sx_words_fini(&of_b);
}

static void nothing_is_left_of_what_is_held(void **state) {
    (void)state;
    const int64_t low[] = {0, 1}, high[] = {2, 4}, wider_low[] = {-1, 1}, wider_high[] = {2, 9};
    sx_box_delta delta = sx_box_delta_new(2, low, high, wider_low, wider_high), nothing;
    memset(&nothing, 0, sizeof nothing);
    assert_memory_equal(&delta, &nothing, sizeof nothing);
    delta = sx_box_delta_new(2, wider_low, wider_high, low, high);
    assert_int_equal(delta.words, 3 * 8 - 2 * 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piece_is_the_difference_of_its_boxes),
        cmocka_unit_test(pieces_are_alike_where_their_words_are),
        cmocka_unit_test(nothing_is_left_of_what_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
