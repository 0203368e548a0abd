/* Bounds that are ended early. */
#include "bound/bound.h"
#include "support/expect.h"
#include "support/small_map.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_end_early),
        cmocka_unit_test(a_survey_ends_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
