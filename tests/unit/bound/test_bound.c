/* Bounds that are ended early. */
#include "bound/bound.h"
#include "support/expect.h"
#include "support/small_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* How often a halt is asked before it says yes, and how often it was. */
typedef struct patience {
    unsigned most, asked;
} patience;

static bool ask(void *user) {
    patience *p = user;
    return ++p->asked > p->most;
}

/* A space with 172,800 tiles and its bounds. */
typedef struct bench {
    sx_small_map map;
    sx_bound *bound;
    sx_outline_bound *bounds;
    sx_outline outline; /* everything is kept everywhere */
    uint8_t may[SX_MAX_LEVELS];
} bench;

static void begin(bench *b) {
    memset(b, 0, sizeof *b);
    sx_small_map_open(&b->map, "O[m,n]+=A[m,k]*B[k,n] {m:5040,n:2520,k:5040}", "accel-b", NULL, NULL);
    sx_expect_ok(sx_bound_new(b->map.model, NULL, 1 << 20, &b->bound));
    sx_expect_ok(sx_outline_bound_new(b->bound, &b->bounds));
    for (int s = 0; s < SX_MAX_LEVELS; s++) {
        for (int d = 0; d < SX_MAX_DIMS; d++) b->outline.spatial[s][d] = 1;
        b->outline.keep[s] = b->may[s] = 7;
    }
}

static void end(bench *b) {
    sx_outline_bound_free(b->bounds);
    sx_bound_free(b->bound);
    sx_small_map_close(&b->map);
}

/* Tables end at the first yes: there are none, and the bound is that without. */
static void tables_end_early(void **state) {
    (void)state;
    bench b;
    begin(&b);
    sx_outline_bound_begin(b.bounds, &b.outline);
    sx_score flat = sx_outline_bound_compulsory(b.bounds);
    patience never = {.most = UINT32_MAX}, once = {.most = 0}, soon = {.most = 1};
    sx_score whole = sx_outline_bound_tabulate(b.bounds, &(sx_interrupt){ask, &never});
    assert_true(b.bounds->tables);
    assert_true(never.asked > soon.most + 1);
    assert_true(whole.energy_pj > flat.energy_pj);
    patience *const early[] = {&once, &soon};
    for (int i = 0; i < 2; i++) {
        sx_outline_bound_begin(b.bounds, &b.outline);
        sx_score score = sx_outline_bound_tabulate(b.bounds, &(sx_interrupt){ask, early[i]});
        assert_int_equal(early[i]->asked, early[i]->most + 1);
        assert_false(b.bounds->tables);
        assert_true(score.energy_pj == flat.energy_pj && score.cycles == flat.cycles);
    }
    sx_outline_bound_begin(b.bounds, &b.outline);
    sx_score again = sx_outline_bound_tabulate(b.bounds, NULL);
    assert_true(again.energy_pj == whole.energy_pj && again.cycles == whole.cycles);
    end(&b);
}

/* A survey ends at the first yes, with bounds of arrays that are no higher than those of a whole one. */
static void a_survey_ends_early(void **state) {
    (void)state;
    bench b, early;
    const uint8_t none[SX_MAX_LEVELS] = {0};
    patience soon = {.most = 0};
    begin(&b);
    begin(&early);
    sx_expect_ok(sx_bound_survey(b.bound, none, b.may, NULL));
    sx_expect_ok(sx_bound_survey(early.bound, none, early.may, &(sx_interrupt){ask, &soon}));
    sx_score whole = sx_outline_bound_spatial(b.bounds, &b.outline, b.may);
    sx_score part = sx_outline_bound_spatial(early.bounds, &early.outline, early.may);
    assert_true(part.energy_pj < whole.energy_pj);
    int sets = 0;
    for (int s = 0; s + 1 < b.map.map->arch->n_levels; s++) sets += 7;
    assert_int_equal(soon.asked, sets);
    end(&b);
    end(&early);
}

/* The share of a tile that is new, where three dimensions make a rank: that of the shortest step, and half of it, since two
 * steps may cancel. With one step left out of a rank, or with two dimensions, steps do not cancel as often. */
static void shares_of_ranks_of_three_dimensions(void **state) {
    (void)state;
    sx_small_map map = {0};
    sx_bound *bound;
    sx_small_map_open(&map, "O[p]+=I[p+r+q]*W[r,q] {p:8,r:4,q:4}", "accel-a", NULL, NULL);
    sx_expect_ok(sx_bound_new(map.model, NULL, 1 << 20, &bound));
    const int input = sx_problem_tensor(map.model->problem, "I");
    uint32_t extent[SX_MAX_DIMS] = {4, 2, 2};
    assert_int_equal(bound->n_windows[input], 0);
    /* the tile spans 1 + 3 + 1 + 1 words, and a step along r or q moves it by 2 */
    assert_true(fabs(sx_bound_share(bound, input, extent) - 2.0 / 6 / 2) < 1e-15);
    const uint32_t open[] = {4, 4, 4}; /* only p goes on: the tile spans 10, and steps do not cancel */
    memcpy(extent, open, sizeof open);
    assert_true(fabs(sx_bound_share(bound, input, extent) - 4.0 / 10) < 1e-15);
    sx_bound_free(bound);
    sx_small_map_close(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_ranks_of_three_dimensions),
        cmocka_unit_test(tables_end_early),
        cmocka_unit_test(a_survey_ends_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
