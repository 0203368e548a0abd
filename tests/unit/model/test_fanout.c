/* Groups, hops and served siblings against plain enumeration. */
#include "model/fanout.h"
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

enum { CASES = SX_SANITIZED ? 4000 : 20000, MOST = 256 };

/* The siblings of a slot, one by one. */
typedef struct siblings {
    uint64_t n, columns, rows;
    int64_t at[MOST]; /* packed place of each sibling's tile */
    bool out[MOST];   /* served by a neighbour */
    bool apart;
} siblings;

/* Places siblings by counting through the loops, innermost first. */
static void place(const sx_window *w, int tensor, int level, siblings *all) {
    const sx_nest *nest = &w->nest;
    int ranks = w->problem.tensor[tensor].n_ranks;
    uint32_t index[SX_MAX_DIMS] = {0};
    uint64_t width = 1, height = 1;
    int first = nest->spatial_of[level], n = nest->spatial_of[level + 1] - first;
    for (int l = 0; l < n; l++) *(l < nest->n_x[level] ? &width : &height) *= nest->spatial[first + l].n;
    all->n = width * height;
    assert_true(all->n <= MOST);
    all->columns = (uint64_t)fmax((double)sx_arch_fanout_x(&w->arch, level), (double)width);
    all->rows = (uint64_t)fmax((double)sx_arch_fanout_y(&w->arch, level), (double)height);
    for (uint64_t p = 0; p < all->n; p++) {
        int64_t at[SX_MAX_RANKS] = {0}, move[SX_MAX_RANKS];
        for (int l = 0; l < n; l++) {
            sx_window_move(w, tensor, &nest->spatial[first + l], move);
            for (int r = 0; r < ranks; r++) at[r] += index[l] * move[r];
        }
        all->at[p] = sx_words_pack(ranks, at);
        all->out[p] = false;
        for (int l = 0; l < n && ++index[l] == nest->spatial[first + l].n; l++) index[l] = 0;
    }
}

/* From the middle of the left edge to the furthest column, and up and down every column in use. */
static double group_hops(const siblings *all, const bool *member) {
    double middle = ((double)all->rows - 1) / 2, hops = 0, furthest = 0;
    for (uint64_t column = 0; column < all->columns; column++) {
        double low = INFINITY, high = -INFINITY;
        for (uint64_t p = column; p < all->n; p += all->columns) {
            if (!member[p]) continue;
            low = fmin(low, (double)(p / all->columns));
            high = fmax(high, (double)(p / all->columns));
            furthest = (double)column;
        }
        if (low < middle) hops += middle - low;
        if (high > middle) hops += high - middle;
    }
    return hops + furthest;
}

/* The groups of the siblings that are not served, by size. */
static size_t group(const siblings *all, sx_multicast_group *found) {
    bool done[MOST] = {false};
    size_t n = 0;
    for (uint64_t p = 0; p < all->n; p++) {
        bool member[MOST] = {false};
        uint64_t m = 0;
        for (uint64_t q = p; q < all->n && !done[p] && !all->out[p]; q++) {
            member[q] = !all->out[q] && !done[q] && (q == p || (!all->apart && all->at[q] == all->at[p]));
            m += member[q];
        }
        for (uint64_t q = p; q < all->n; q++) done[q] |= member[q];
        if (m == 0) continue;
        size_t i = 0;
        while (i < n && found[i].m != m) i++;
        if (i == n) found[n++] = (sx_multicast_group){.m = m};
        found[i].count++;
        found[i].hops += group_hops(all, member);
    }
    return n;
}

/* Marks siblings of which a neighbour, in the row or the column, stands `need` away; their number. */
static uint64_t serve(siblings *all, int64_t need) {
    uint64_t served = 0;
    for (uint64_t p = 0; p < all->n; p++)
        for (uint64_t q = 0; q < all->n; q++) {
            int64_t x = (int64_t)(p % all->columns) - (int64_t)(q % all->columns);
            int64_t y = (int64_t)(p / all->columns) - (int64_t)(q / all->columns);
            if (llabs(x) + llabs(y) == 1 && all->at[q] - all->at[p] == need) all->out[p] = true;
        }
    for (uint64_t p = 0; p < all->n; p++) served += all->out[p];
    return served;
}

static bool same_groups(const sx_multicast_group *a, size_t n, const sx_multicast_group *b, size_t m,
                        bool hops) {
    if (n != m) return false;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < m && b[k].m != a[i].m) k++;
        if (k == m || b[k].count != a[i].count || (hops && b[k].hops != a[i].hops)) return false;
    }
    return true;
}

/* A displacement between two neighbours, between any two siblings, none, or any. */
static int64_t draw_need(sx_rng *rng, const siblings *all, int ranks, int64_t *need) {
    uint64_t p = sx_rng_below(rng, all->n), q = sx_rng_below(rng, all->n);
    uint64_t kind = sx_rng_below(rng, 10);
    if (kind < 6) q = (p + (kind < 4 ? 1 : all->columns)) % all->n;
    sx_words_unpack(ranks,
                    kind == 9  ? 0
                    : kind % 2 ? all->at[p] - all->at[q]
                               : all->at[q] - all->at[p],
                    need);
    if (kind == 8) need[sx_rng_below(rng, (uint64_t)ranks)] += sx_rng_range(rng, -2, 2);
    return sx_words_pack(ranks, need);
}

/* Whether one slot's groups, and those that some displacements leave, are those of the enumeration. */
static bool agrees(sx_rng *rng, const sx_window *w, int tensor, int level, sx_fanout_scratch *scratch) {
    siblings all = {.apart = sx_rng_below(rng, 8) == 0};
    sx_multicast_group found[MOST];
    const sx_multicast_group *given;
    sx_fanout slot;
    int ranks = w->problem.tensor[tensor].n_ranks;
    place(w, tensor, level, &all);
    sx_fanout_init(&slot, w->model, &w->nest, level, tensor, all.apart);
    size_t n = group(&all, found);
    for (int hops = 0; hops < 2; hops++) {
        size_t m = sx_fanout_groups(&slot, scratch, hops, &given);
        if (!same_groups(found, n, given, m, hops)) return false;
    }
    for (int k = 0; k < 4; k++) {
        int64_t need[SX_MAX_RANKS], packed = draw_need(rng, &all, ranks, need);
        memset(all.out, 0, sizeof all.out);
        uint64_t served = serve(&all, packed), said;
        n = group(&all, found);
        for (int again = 0; again < 3; again++) { /* the second time from the memo, the third with hops */
            size_t m = sx_fanout_served(&slot, scratch, need, again == 2, &said, &given);
            if (said != served || !same_groups(found, n, given, m, again == 2)) return false;
        }
    }
    return true;
}

static void groups_are_those_of_the_enumeration(void **state) {
    (void)state;
    sx_window *w = malloc(sizeof *w);
    assert_non_null(w);
    uint64_t compared = 0;
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(1, "slot", i);
        sx_fanout_scratch *scratch = sx_fanout_scratch_new();
        assert_non_null(scratch);
        sx_random_window(&rng, false, w);
        for (int v = 0; v < 3; v++)
            for (int s = 0; s < 3; s++) {
                if (w->nest.spatial_of[s + 1] == w->nest.spatial_of[s]) continue;
                bool good = agrees(&rng, w, v, s, scratch);
                if (!good) print_error("case %d, tensor %d, level %d\n", (int)i, v, s);
                assert_true(good);
                compared++;
            }
        sx_fanout_scratch_free(scratch);
        sx_window_fini(w);
    }
    sx_expect_compared("fan-outs of a tensor", compared, CASES);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_those_of_the_enumeration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
