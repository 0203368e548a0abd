/* What levels hand out with exact factors, against the sampled visits of every sibling. */
#include "model/model.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/sampled.h"
#include "support/sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = SX_SANITIZED ? 4000 : 20000, MOST_WORDS = 500, MOST = 160, MOST_RECORDS = 256 };

/* One level's hand-outs while they are added up, visit by visit. */
typedef struct tally {
    uint64_t siblings, columns, rows;
    bool apart, may_link;
    int64_t at[MOST]; /* packed place of each sibling's tile */
    sx_access_entry record[MOST_RECORDS];
    size_t n_records;
    double links;
} tally;

static void add(tally *t, uint64_t m, uint64_t scatter, double accesses, double hops) {
    size_t i = 0;
    while (i < t->n_records && (t->record[i].m != m || t->record[i].scatter != scatter)) i++;
    assert_true(i < MOST_RECORDS);
    if (i == t->n_records) t->record[t->n_records++] = (sx_access_entry){.m = m, .scatter = scatter};
    t->record[i].accesses += accesses;
    t->record[i].hops += hops;
}

static double hops_of(const tally *t, const bool *member) {
    double middle = ((double)t->rows - 1) / 2, hops = 0, furthest = 0;
    for (uint64_t column = 0; column < t->columns; column++) {
        double low = INFINITY, high = -INFINITY;
        for (uint64_t p = column; p < t->siblings; p += t->columns) {
            if (!member[p]) continue;
            low = fmin(low, (double)(p / t->columns));
            high = fmax(high, (double)(p / t->columns));
            furthest = (double)column;
        }
        hops += (low < middle ? middle - low : 0) + (high > middle ? high - middle : 0);
    }
    return hops + furthest;
}

/* Groups the siblings that are not served: per size, how many groups and their hops. Returns the number of
 * groups. */
static uint64_t group(const tally *t, const bool *served, uint64_t *count, double *hops) {
    bool done[MOST] = {false};
    uint64_t groups = 0;
    memset(count, 0, (MOST + 1) * sizeof *count);
    memset(hops, 0, (MOST + 1) * sizeof *hops);
    for (uint64_t p = 0; p < t->siblings; p++) {
        bool member[MOST] = {false};
        uint64_t m = 0;
        if (done[p] || served[p]) continue;
        for (uint64_t q = p; q < t->siblings; q++) {
            member[q] = q == p || (!t->apart && !done[q] && !served[q] && t->at[q] == t->at[p]);
            done[q] |= member[q];
            m += member[q];
        }
        count[m]++;
        hops[m] += hops_of(t, member);
        groups++;
    }
    return groups;
}

/* Marks siblings that get their words from a neighbour; their number. */
static uint64_t serve(const tally *t, const sx_visit *visit, bool *served) {
    int64_t shift;
    uint64_t n = 0;
    memset(served, 0, MOST * sizeof *served);
    if (!t->may_link || !sx_words_moved(visit->now, visit->before, &shift)) return 0;
    for (uint64_t p = 0; p < t->siblings; p++) {
        for (uint64_t q = 0; q < t->siblings; q++) {
            int64_t x = (int64_t)(p % t->columns) - (int64_t)(q % t->columns);
            int64_t y = (int64_t)(p / t->columns) - (int64_t)(q / t->columns);
            if (llabs(x) + llabs(y) == 1 && t->at[q] - t->at[p] == shift) served[p] = true;
        }
        n += served[p];
    }
    return n;
}

static void add_visit(void *to, const sx_visit *visit) {
    tally *t = to;
    static const bool none[MOST];
    bool served[MOST];
    uint64_t count[MOST + 1];
    double hops[MOST + 1], words = (double)visit->now->n, weight = (double)visit->weight;
    if (visit->now->n == 0) return;
    uint64_t links = serve(t, visit, served), plain = group(t, none, count, hops);
    if (group(t, served, count, hops) < plain)
        t->links += (double)links * words * weight;
    else
        group(t, none, count, hops);
    for (uint64_t m = 1; m <= t->siblings; m++)
        if (count[m]) add(t, m, count[m], (double)count[m] * words * weight, hops[m] * words * weight);
}

/* Lays out the siblings under a level. */
static void begin(const sx_window *w, int tensor, int level, tally *t) {
    const sx_nest *nest = &w->nest;
    int ranks = w->problem.tensor[tensor].n_ranks;
    int first = nest->spatial_of[level], n = nest->spatial_of[level + 1] - first;
    uint32_t index[SX_MAX_DIMS] = {0};
    uint64_t width = 1, height = 1;
    memset(t, 0, sizeof *t);
    t->apart = w->mapping.level[level].no_multicast >> tensor & 1;
    t->may_link = !(w->mapping.level[level].no_link_transfer >> tensor & 1);
    for (int l = 0; l < n; l++) *(l < nest->n_x[level] ? &width : &height) *= nest->spatial[first + l].n;
    t->siblings = width * height;
    assert_true(t->siblings <= MOST);
    t->columns = sx_arch_fanout_x(&w->arch, level);
    t->rows = sx_arch_fanout_y(&w->arch, level);
    if (width > t->columns) t->columns = width;
    if (height > t->rows) t->rows = height;
    for (uint64_t p = 0; p < t->siblings; p++) {
        int64_t at[SX_MAX_RANKS] = {0}, move[SX_MAX_RANKS];
        for (int l = 0; l < n; l++) {
            sx_window_move(w, tensor, &nest->spatial[first + l], move);
            for (int r = 0; r < ranks; r++) at[r] += index[l] * move[r];
        }
        t->at[p] = sx_words_pack(ranks, at);
        for (int l = 0; l < n && ++index[l] == nest->spatial[first + l].n; l++) index[l] = 0;
    }
}

/* Whether a flow is what the visits add up to. */
static bool same_flow(const sx_model_workspace *e, int level, const tally *t, bool hops) {
    const sx_access_stats *flow = &e->flow[level];
    const sx_access_entry *record = e->records.data + flow->first;
    if (flow->n_records != t->n_records || flow->fanout != t->siblings || flow->links != t->links)
        return false;
    for (size_t i = 0; i < t->n_records; i++) {
        size_t k = 0;
        while (k < t->n_records &&
               (record[k].m != t->record[i].m || record[k].scatter != t->record[i].scatter))
            k++;
        if (k == t->n_records || record[k].accesses != t->record[i].accesses) return false;
        if (hops && record[k].hops != t->record[i].hops) return false;
        if (i > 0 && record[i - 1].m > record[i].m) return false;
    }
    return true;
}

/* Compares all levels of one tensor whose tiles are small enough; returns how many. */
static uint64_t compare(sx_model_workspace *e, const sx_window *w, int tensor, tally *t) {
    uint64_t compared = 0;
    bool wide = w->nest.n_temporal > 12;
    for (int hops = 0; hops < 2 && !wide; hops++) {
        sx_access_stats_count(e, &w->mapping, tensor, hops);
        for (int s = 0; s < 3; s++) {
            if (s > 0 && w->nest.tile[tensor][s - 1] > MOST_WORDS) continue;
            bool always = s == 0 || (w->mapping.level[s - 1].no_temporal_reuse >> tensor & 1);
            begin(w, tensor, s, t);
            if (s == 0 && t->siblings == 1)
                add(t, 1, 1, (double)w->nest.suffix[0], 0);
            else
                sx_sampled_visits(w, tensor, s, always, add_visit, t);
            bool good = same_flow(e, s, t, hops && t->siblings > 1);
            if (!good) print_error("tensor %d, level %d, hops %d\n", tensor, s, hops);
            assert_true(good);
            compared++;
        }
    }
    return compared;
}

static uint8_t some_tensors(sx_rng *rng) {
    return sx_rng_below(rng, 5) ? 0 : (uint8_t)sx_rng_below(rng, 8);
}

static void levels_hand_out_what_the_visits_ask_for(void **state) {
    (void)state;
    sx_window *w = malloc(sizeof *w);
    tally *t = malloc(sizeof *t);
    assert_non_null(w);
    assert_non_null(t);
    uint64_t compared = 0;
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(1, "flow", i);
        sx_model_workspace *e;
        sx_random_window(&rng, false, w);
        for (int s = 0; s < 3; s++) {
            w->mapping.level[s].no_temporal_reuse = some_tensors(&rng);
            w->mapping.level[s].no_multicast = some_tensors(&rng);
            w->mapping.level[s].no_link_transfer = some_tensors(&rng);
        }
        sx_expect_ok(sx_model_workspace_new(w->model, &e));
        e->nest = w->nest;
        for (int v = 0; v < 3; v++) compared += compare(e, w, v, t);
        sx_model_workspace_free(e);
        sx_window_fini(w);
    }
    sx_expect_compared("access counts", compared, 10 * CASES);
    free(t);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_hand_out_what_the_visits_ask_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
