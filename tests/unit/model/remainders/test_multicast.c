/* Groups, hops and links of unlike siblings against sets of words. */
#include "model/remainders/multicast.h"
#include "support/compared.h"
#include "support/random_window.h"
#include "support/sanitized.h"
#include "support/words.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = SX_SANITIZED ? 2000 : 10000, MOST = 160, CLASSES = 4 };

/* One visit, sibling by sibling. */
typedef struct visit {
    uint64_t n, columns, rows;
    sx_words now[MOST], before[MOST];
    bool apart;
} visit;

/* The words of a piece, moved. */
static void words_of(sx_words *set, int ranks, const sx_box_delta *delta, const int64_t *at) {
    sx_words hole = {0};
    set->n = 0;
    if (delta->words == 0) return;
    sx_words_box(set, ranks, delta->low, delta->high);
    sx_words_box(&hole, ranks, delta->hole_low, delta->hole_high);
    sx_words_remove(set, &hole);
    for (size_t i = 0; i < set->n; i++) set->word[i] += sx_words_pack(ranks, at);
    sx_words_fini(&hole);
}

static bool same(const sx_words *a, const sx_words *b) {
    int64_t shift;
    return sx_words_moved(a, b, &shift) && shift == 0;
}

/* Whether a neighbour of p fetched at the visit before what p fetches now. */
static bool is_served(const visit *v, uint64_t p) {
    for (uint64_t q = 0; q < v->n; q++) {
        int64_t x = (int64_t)(p % v->columns) - (int64_t)(q % v->columns);
        int64_t y = (int64_t)(p / v->columns) - (int64_t)(q / v->columns);
        if (llabs(x) + llabs(y) == 1 && same(&v->now[p], &v->before[q])) return true;
    }
    return false;
}

static double hops_of(const visit *v, const bool *member) {
    double middle = ((double)v->rows - 1) / 2, hops = 0, furthest = 0;
    for (uint64_t column = 0; column < v->columns; column++) {
        double low = INFINITY, high = -INFINITY;
        for (uint64_t p = column; p < v->n; p += v->columns) {
            if (!member[p]) continue;
            low = fmin(low, (double)(p / v->columns));
            high = fmax(high, (double)(p / v->columns));
            furthest = (double)column;
        }
        hops += (low < middle ? middle - low : 0) + (high > middle ? high - middle : 0);
    }
    return hops + furthest;
}

/* Groups the siblings that get their words from the level; *total is what it hands out. */
static size_t group(const visit *v, const bool *served, sx_multicast_traffic *traffic, uint64_t *total) {
    bool done[MOST] = {false};
    size_t n = 0;
    *total = 0;
    for (uint64_t p = 0; p < v->n; p++) {
        bool member[MOST] = {false};
        uint64_t m = 0;
        if (done[p] || served[p] || v->now[p].n == 0) continue;
        for (uint64_t q = p; q < v->n; q++) {
            member[q] = q == p || (!v->apart && !done[q] && !served[q] && same(&v->now[q], &v->now[p]));
            done[q] |= member[q];
            m += member[q];
        }
        size_t i = 0;
        while (i < n && traffic[i].m != m) i++;
        if (i == n) traffic[n++] = (sx_multicast_traffic){.m = m};
        traffic[i].count++;
        traffic[i].words += v->now[p].n;
        traffic[i].hops += hops_of(v, member);
        *total += v->now[p].n;
    }
    return n;
}

/* The parties of a visit, with links where they make the level hand out less. */
static size_t expect(const visit *v, bool may_link, sx_multicast_traffic *traffic, uint64_t *links) {
    bool none[MOST] = {false}, served[MOST] = {false};
    uint64_t plain, linked, handed = 0;
    *links = 0;
    for (uint64_t p = 0; p < v->n && may_link; p++) {
        served[p] = v->now[p].n > 0 && is_served(v, p);
        if (served[p]) handed += v->now[p].n;
    }
    size_t n = group(v, served, traffic, &linked);
    sx_multicast_traffic without[MOST];
    size_t n_without = group(v, none, without, &plain);
    if (linked < plain) {
        *links = handed;
        return n;
    }
    memcpy(traffic, without, n_without * sizeof *traffic);
    return n_without;
}

/* What a class fetches: nothing, a box, or a box less another. */
static sx_box_delta draw_piece(sx_rng *rng, int ranks) {
    int64_t low[SX_MAX_RANKS], high[SX_MAX_RANKS], held_low[SX_MAX_RANKS], held_high[SX_MAX_RANKS];
    sx_box_delta delta;
    memset(&delta, 0, sizeof delta);
    if (sx_rng_below(rng, 6) == 0) return delta;
    for (int r = 0; r < ranks; r++) {
        low[r] = sx_rng_range(rng, -1, 1);
        high[r] = low[r] + sx_rng_range(rng, 1, 3);
        held_low[r] = low[r] + sx_rng_range(rng, -1, 1);
        held_high[r] = high[r] + sx_rng_range(rng, -1, 1);
    }
    if (sx_rng_below(rng, 3) == 0) return sx_box_delta_whole(ranks, low, high);
    return sx_box_delta_new(ranks, low, high, held_low, held_high);
}

/* Writes what all siblings fetch, from their classes and their places in the loops. */
static void spread(const sx_window *w, int tensor, int level, const sx_multicast_visit *multicast, visit *v) {
    const sx_nest *nest = &w->nest;
    int ranks = w->problem.tensor[tensor].n_ranks;
    uint32_t index[SX_MAX_DIMS] = {0};
    int first = nest->spatial_of[level], n = nest->spatial_of[level + 1] - first;
    v->n = multicast->slot->siblings;
    v->columns = multicast->slot->columns;
    v->rows = multicast->slot->rows;
    v->apart = multicast->slot->apart;
    for (uint64_t p = 0; p < v->n; p++) {
        int64_t at[SX_MAX_RANKS] = {0}, move[SX_MAX_RANKS];
        for (int l = 0; l < n; l++) {
            sx_window_move(w, tensor, &nest->spatial[first + l], move);
            for (int r = 0; r < ranks; r++) at[r] += index[l] * move[r];
        }
        words_of(&v->now[p], ranks, &multicast->now[multicast->class_of[p]], at);
        words_of(&v->before[p], ranks, &multicast->before[multicast->class_of[p]], at);
        for (int l = 0; l < n && ++index[l] == nest->spatial[first + l].n; l++) index[l] = 0;
    }
}

static bool same_parties(const sx_multicast_traffic *a, size_t n, const sx_multicast_traffic *b, size_t m,
                         bool hops) {
    if (n != m) return false;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < m && b[k].m != a[i].m) k++;
        if (k == m || b[k].count != a[i].count || b[k].words != a[i].words) return false;
        if (hops && b[k].hops != a[i].hops) return false;
    }
    return true;
}

/* A piece moved by one iteration of the innermost loop of an axis, forth or back, or not at all. */
static sx_box_delta moved(const sx_box_delta *delta, const sx_fanout *slot, sx_rng *rng) {
    int64_t by = sx_rng_range(rng, -1, 1);
    int loop = slot->n_x < slot->n_loops && sx_rng_below(rng, 2) ? slot->n_x : 0;
    sx_box_delta p = *delta;
    bool hole = p.hole_low[0] != p.hole_high[0];
    for (int r = 0; r < slot->shape->n_ranks && p.words; r++) {
        p.low[r] += by * slot->move[loop][r];
        p.high[r] += by * slot->move[loop][r];
        p.hole_low[r] += hole ? by * slot->move[loop][r] : 0;
        p.hole_high[r] += hole ? by * slot->move[loop][r] : 0;
    }
    return p;
}

static bool agrees(sx_rng *rng, const sx_window *w, int tensor, int level, visit *v, uint64_t *linked) {
    sx_fanout slot;
    sx_box_delta now[CLASSES], before[CLASSES];
    uint16_t class_of[MOST];
    sx_multicast_traffic truth[MOST], found[MOST];
    int ranks = w->problem.tensor[tensor].n_ranks;
    sx_fanout_init(&slot, w->model, &w->nest, level, tensor, sx_rng_below(rng, 8) == 0);
    sx_fanout_moves(&slot);
    assert_true(slot.siblings <= MOST);
    int classes = sx_rng_below(rng, 3) ? 1 : (int)sx_rng_range(rng, 2, CLASSES);
    for (int c = 0; c < classes; c++) {
        now[c] = c > 0 && sx_rng_below(rng, 3) == 0 ? now[c - 1] : draw_piece(rng, ranks);
        before[c] = draw_piece(rng, ranks);
        if (sx_rng_below(rng, 2)) before[c] = moved(&now[sx_rng_below(rng, (uint64_t)c + 1)], &slot, rng);
    }
    for (uint64_t p = 0; p < slot.siblings; p++)
        class_of[p] = (uint16_t)(sx_rng_below(rng, 3) ? 0 : sx_rng_below(rng, (uint64_t)classes));
    sx_multicast_visit multicast = {&slot, class_of, now, before, classes, sx_rng_below(rng, 4) > 0};
    uint64_t links, said;
    spread(w, tensor, level, &multicast, v);
    size_t n = expect(v, multicast.links, truth, &links);
    bool hops = sx_rng_below(rng, 2);
    size_t m = sx_multicast_visit_groups(&multicast, hops, found, &said);
    *linked += links > 0;
    return said == links && same_parties(truth, n, found, m, hops);
}

static void parties_are_those_of_the_sets(void **state) {
    (void)state;
    sx_window *w = malloc(sizeof *w);
    visit *v = calloc(1, sizeof *v);
    assert_non_null(w);
    assert_non_null(v);
    uint64_t compared = 0, linked = 0;
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(1, "crowd", i);
        sx_random_window(&rng, false, w);
        int tensor = (int)sx_rng_below(&rng, 3);
        for (int s = 0; s < 3; s++) {
            if (w->nest.spatial_of[s + 1] == w->nest.spatial_of[s]) continue;
            bool good = agrees(&rng, w, tensor, s, v, &linked);
            if (!good) print_error("case %d, tensor %d, level %d\n", (int)i, tensor, s);
            assert_true(good);
            compared++;
        }
        sx_window_fini(w);
    }
    sx_expect_compared("levels with children", compared, CASES / 2);
    sx_expect_compared("with link transfers", linked, compared / 20);
    for (int p = 0; p < MOST; p++) {
        sx_words_fini(&v->now[p]);
        sx_words_fini(&v->before[p]);
    }
    free(v);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parties_are_those_of_the_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
