/* The automaton over steps against the visits themselves. */
#include "model/fanout.h"
#include "model/tile_delta.h"
#include "support/compared.h"
#include "support/plain_arch.h"
#include "support/sampled.h"
#include "support/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = SX_SANITIZED ? 4000 : 20000, MOST_WORDS = 2000, ROOM = 64 };

/* What the visits fetch, the slow way. */
typedef struct tally {
    int ranks;
    const int64_t *span;
    uint64_t volume, rest;
    sx_tile_delta_key key[ROOM];
    size_t n_keys;
} tally;

static bool within(const tally *t, const int64_t *need) {
    for (int r = 0; r < t->ranks; r++)
        if (llabs(need[r]) > t->span[r]) return false;
    return true;
}

/* Adds a visit to the key of its displacement, where it is the visit before moved. */
static void count_visit(void *to, const sx_visit *visit) {
    tally *t = to;
    uint64_t words = visit->now->n * visit->weight;
    int64_t shift, need[SX_MAX_RANKS] = {0};
    t->volume += words;
    bool moved = sx_words_moved(visit->now, visit->before, &shift);
    if (moved) sx_words_unpack(t->ranks, shift, need);
    if (!moved || !within(t, need)) {
        t->rest += words;
        return;
    }
    size_t k = 0;
    while (k < t->n_keys && memcmp(t->key[k].need, need, sizeof need) != 0) k++;
    assert_true(k < ROOM);
    if (k == t->n_keys) {
        memcpy(t->key[k].need, need, sizeof need);
        t->key[t->n_keys++].words = 0;
    }
    t->key[k].words += words;
}

static bool same_keys(const tally *t, const sx_tile_delta_key *key, size_t n) {
    if (n != t->n_keys) return false;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < n && memcmp(t->key[k].need, key[i].need, (size_t)t->ranks * sizeof(int64_t)) != 0) k++;
        if (k == n || t->key[k].words != key[i].words) return false;
    }
    return true;
}

/* Whether the volume and the keys of one tensor at one level are those of the visits. */
static bool agrees(const sx_window *w, int tensor, int level, bool always) {
    sx_fanout slot;
    sx_tile_delta delta;
    sx_tile_delta_key key[MAX_LOOPS];
    uint64_t rest;
    sx_fanout_init(&slot, w->model, &w->nest, level, tensor, false);
    tally t = {.ranks = w->problem.tensor[tensor].n_ranks, .span = slot.span};
    sx_sampled_visits(w, tensor, level, always, count_visit, &t);
    sx_tile_delta_init(&delta, w->model, &w->nest, level, tensor, always);
    size_t n = (size_t)sx_tile_delta_keys(&delta, slot.span, key, &rest);
    return sx_tile_delta_volume(&delta) == t.volume && rest == t.rest && same_keys(&t, key, n);
}

static void volumes_and_keys_are_those_of_all_visits(void **state) {
    (void)state;
    sx_window *w = malloc(sizeof *w);
    assert_non_null(w);
    uint64_t compared = 0, keyed = 0;
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(1, "motion", i);
        sx_random_window(&rng, false, w);
        for (int v = 0; v < 3; v++)
            for (int s = 0; s < 3; s++) {
                if (w->model->shape[v].plain || (s > 0 && w->nest.tile[v][s - 1] > MOST_WORDS)) continue;
                bool good = agrees(w, v, s, false) && agrees(w, v, s, true);
                if (!good) print_error("case %d, tensor %d, level %d\n", (int)i, v, s);
                assert_true(good);
                compared++;
                keyed += w->nest.spatial_of[s + 1] > w->nest.spatial_of[s];
            }
        sx_window_fini(w);
    }
    sx_expect_compared("deltas", compared, CASES);
    sx_expect_compared("deltas with keys", keyed, CASES / 4);
    free(w);
}

/* O[p] += I[p + r] with 3 filter taps in the child: each step of P adds a word, a second loop over the same
 * window fetches it whole. */
static void a_window_slides_until_it_jumps(void **state) {
    (void)state;
    sx_window *w = calloc(1, sizeof *w);
    assert_non_null(w);
    enum { P, R, K };
    sx_plain_arch(&w->arch, 3);
    sx_plain_problem("O[p] += I[p+r]*W[r,k] {p:5,r:3,k:4}", &w->arch, &w->problem, &w->mapping);
    w->mapping.level[0].temporal[R] = 3;
    w->mapping.level[1].temporal[P] = 5;
    w->mapping.level[2].temporal[K] = 4;
    assert_null(sx_model_new(&w->problem, &w->arch, NULL, &w->model));
    assert_int_equal(sx_nest_build(w->model, &w->mapping, &w->nest).reason, SX_LEGAL);
    sx_tile_delta delta;
    sx_tile_delta_init(&delta, w->model, &w->nest, 1, 1, false);
    assert_int_equal(sx_tile_delta_volume(&delta), 3 + 4 + 3 * (3 + 4));
    sx_tile_delta_init(&delta, w->model, &w->nest, 2, 1, false);
    assert_int_equal(sx_tile_delta_volume(&delta), 7);
    sx_tile_delta_init(&delta, w->model, &w->nest, 1, 1, true);
    assert_int_equal(sx_tile_delta_volume(&delta), 3 * 5 * 4);
    sx_window_fini(w);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_and_keys_are_those_of_all_visits),
        cmocka_unit_test(a_window_slides_until_it_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
