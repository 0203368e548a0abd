/* Remainders under sliding windows, counted by dynamic programming, against the walk: level by level, on random nests with
 * strides, dilations, dimensions in two ranks, links and directives: test_model_windows [count [seed]]. */
#include "model/remainders/window.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_window.h"
#include "support/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

typedef struct tally {
    uint64_t levels, covered, linked, shared;
} tally;

/* What the walk counted at a level. */
static sx_window_sums walked(const sx_model_workspace *e, int level) {
    const sx_access_stats *flow = &e->flow[level];
    sx_window_sums sums = {.links = flow->links};
    for (uint32_t i = 0; i < flow->n_records; i++) {
        const sx_access_entry *record = &e->records.data[flow->first + i];
        sums.accesses += record->accesses;
        sums.deliveries += record->accesses * (double)record->m;
    }
    return sums;
}

static void compare_level(sx_model_workspace *e, const sx_window *w, uint64_t index, int tensor, int level,
                          tally *t) {
    sx_window_sums found, sums = walked(e, level);
    t->levels++;
    t->linked += sums.links > 0;
    t->shared += sums.deliveries > sums.accesses;
    if (!sx_window_count(e, &w->mapping, tensor, level, &found)) return;
    t->covered++;
    bool same =
        found.accesses == sums.accesses && found.deliveries == sums.deliveries && found.links == sums.links;
    if (!same)
        print_error("case %llu, tensor %d, level %d: walk %.0f %.0f %.0f, found %.0f %.0f %.0f\n",
                    (unsigned long long)index, tensor, level, sums.accesses, sums.deliveries, sums.links,
                    found.accesses, found.deliveries, found.links);
    assert_true(same);
}

/* Forbids reuse, multicast or links of some tensors at some levels. */
static void draw_directives(sx_rng *rng, sx_mapping *m) {
    for (int s = 0; s < m->n_levels; s++) {
        if (sx_rng_below(rng, 8) == 0) m->level[s].no_temporal_reuse = (uint8_t)sx_rng_below(rng, 8);
        if (sx_rng_below(rng, 8) == 0) m->level[s].no_multicast = (uint8_t)sx_rng_below(rng, 8);
        if (sx_rng_below(rng, 8) == 0) m->level[s].no_link_transfer = (uint8_t)sx_rng_below(rng, 8);
    }
}

static void run_case(const settings *set, uint64_t index, tally *t) {
    static sx_window w;
    sx_model_workspace *e;
    sx_rng rng = sx_rng_stream(set->seed, "windows", index);
    sx_random_window(&rng, true, &w);
    if (index % 2) draw_directives(&rng, &w.mapping);
    sx_expect_ok(sx_model_workspace_new(w.model, &e));
    e->nest = w.nest;
    for (int v = 0; v < w.problem.n_tensors; v++) {
        e->failed = false;
        sx_walk_count(e, &w.mapping, v, false);
        for (int s = 0; s < w.mapping.n_levels && !e->failed; s++)
            if (s > 0 || e->nest.spatial_of[1] > 0) compare_level(e, &w, index, v, s, t);
    }
    sx_model_workspace_free(e);
    sx_window_fini(&w);
}

static void every_level_is_counted_as_the_walk_counts_it(void **state) {
    const settings *set = *state;
    tally t = {0};
    for (uint64_t i = 0; i < set->count; i++) run_case(set, i, &t);
    sx_expect_compared("levels", t.levels, 3 * set->count);
    sx_expect_compared("levels with links", t.linked, set->count / 20);
    sx_expect_compared("levels with groups", t.shared, set->count / 4);
    assert_int_equal(t.covered, t.levels);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1       ? strtoull(argv[1], NULL, 10)
                             : SX_SANITIZED ? 1000
                                            : 5000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(every_level_is_counted_as_the_walk_counts_it, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
