/* Gamma as a whole: its operators can be switched off one by one, and it searches. */
#include "mappers/gamma/rounds.h"
#include "sextant/navigator.h"
#include "support/expect.h"
#include "support/sanitized.h"
#include "support/small_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char conv[] = "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:2,k:16,c:12,p:14,q:14,r:3,s:3}";

/* The chances of operators, all of which are off; to be switched on one by one. */
typedef struct chances {
    double crossover, order, parallel, level, tile, keep, injected, growth, aging;
} chances;

/* Different points that a search of the space looked at, all of them legal. */
static size_t looked_at(sx_small_map *m, const char *navigator, uint64_t evaluations) {
    sx_run_summary summary = sx_small_map_search(m, navigator, 1, evaluations, NULL);
    assert_int_equal(summary.evaluations, evaluations);
    assert_int_equal(summary.valid, evaluations);
    size_t n = 0;
    while (sx_small_map_point(m, n)) n++;
    return n;
}

/* The same for some operators. */
static size_t looked_at_with(sx_small_map *m, chances c) {
    char text[300];
    snprintf(text, sizeof text,
             "gamma:population=20,first_crossover=%g,crossover=%g,order=%g,parallel=%g,level=%g,tile=%g,"
             "keep=%g,injected=%g,growth=%g,aging=%g",
             c.crossover, c.crossover, c.order, c.parallel, c.level, c.tile, c.keep, c.injected, c.growth,
             c.aging);
    return looked_at(m, text, 400);
}

/* Among the points looked at, how many differ in factors, and how many in orders. */
static void count_kinds(const sx_small_map *m, size_t *factors, size_t *orders) {
    const sx_mapping *a, *b;
    *factors = *orders = 0;
    for (size_t i = 0; (a = sx_small_map_point(m, i)); i++) {
        bool known_factors = false, known_orders = false;
        for (size_t j = 0; j < i; j++) {
            b = sx_small_map_point(m, j);
            bool same_factors = true, same_orders = true;
            for (int s = 0; s < a->n_levels; s++) {
                const sx_mapping_level *x = &a->level[s], *y = &b->level[s];
                same_factors = same_factors && !memcmp(x->temporal, y->temporal, sizeof x->temporal) &&
                               !memcmp(x->spatial, y->spatial, sizeof x->spatial);
                same_orders = same_orders && !memcmp(x->temporal_order, y->temporal_order, SX_MAX_DIMS);
            }
            known_factors = known_factors || same_factors;
            known_orders = known_orders || same_orders;
        }
        *factors += !known_factors;
        *orders += !known_orders;
    }
}

static void operators_can_be_switched_off(void **state) {
    (void)state;
    sx_small_map m;
    size_t first_factors, first_orders, factors, orders;
    sx_small_map_open(&m, conv, "accel-b", NULL, NULL);
    assert_in_range(looked_at_with(&m, (chances){0}), 10, 20);
    count_kinds(&m, &first_factors, &first_orders);
    assert_true(looked_at_with(&m, (chances){.order = 1}) > 20);
    count_kinds(&m, &factors, &orders);
    assert_true(factors <= first_factors && orders > first_orders);
    assert_true(looked_at_with(&m, (chances){.tile = 1}) > 200);
    count_kinds(&m, &factors, &orders);
    assert_true(factors > 200);
    assert_true(looked_at_with(&m, (chances){.crossover = 1}) > 20);
    assert_true(looked_at_with(&m, (chances){.parallel = 1}) > 20);
    assert_true(looked_at_with(&m, (chances){.level = 1}) > 20);
    assert_true(looked_at_with(&m, (chances){.keep = 1}) > 20);
    assert_true(looked_at_with(&m, (chances){.injected = 0.5}) > 150);
    assert_true(looked_at_with(&m, (chances){.growth = 1, .aging = 1}) > 20);
    sx_small_map_close(&m);
}

static void first_populations_are_half_natural(void **state) {
    (void)state;
    sx_small_map m;
    sx_small_map_open(&m, conv, "accel-b", NULL, NULL);
    for (int natural = 0; natural <= 100; natural += 50) {
        char text[100];
        const sx_mapping *p;
        snprintf(text, sizeof text, "gamma:natural=%g", natural / 100.0);
        size_t outermost = 0, n = looked_at(&m, text, 100);
        for (size_t i = 0; i < n; i++) {
            p = sx_small_map_point(&m, i);
            int moved = 0;
            for (int d = 0; d < p->n_dims; d++)
                moved += p->level[p->n_levels - 1].temporal[d] < m.map->problem->size[d];
            outermost += moved <= 1;
        }
        assert_true(n - outermost + 2 >= (size_t)(100 - natural) && outermost + 2 <= (size_t)natural + 4);
        assert_true(natural == 0 || outermost > (size_t)natural / 4);
    }
    sx_small_map_close(&m);
}

/* The mean logarithm of what searches find. */
static double mean_log(sx_small_map *m, const char *navigator) {
    double sum = 0, best;
    for (uint64_t seed = 0; seed < 5; seed++) {
        sx_small_map_search(m, navigator, seed, 2000, &best);
        sum += log(best);
    }
    return sum / 5;
}

static void finds_good_mappings(void **state) {
    (void)state;
    if (SX_SANITIZED) skip();
    const char *const ways[] = {"gamma", "gamma:shift=0", "gamma:rank=objective",
                                "gamma:growth=0.57,aging=0.27"};
    const char *const archs[] = {"accel-b", "eyeriss", "mind-mappings"};
    for (size_t a = 0; a < 3; a++) {
        sx_small_map m;
        sx_small_map_open(&m, conv, archs[a], NULL, NULL);
        double drawn = mean_log(&m, "random");
        for (size_t i = 0; i < 4; i++) assert_true(mean_log(&m, ways[i]) < drawn);
        sx_small_map_close(&m);
    }
}

static void works_with_remainders_and_without_choices(void **state) {
    (void)state;
    sx_small_map m;
    double best;
    const sx_map_space_options options = {.remainders = true, .keep_all = true};
    sx_small_map_open(&m, "O[m,n] += A[m,k]*B[k,n] {m:13,n:37,k:11}", "accel-a", NULL, &options);
    assert_int_equal(sx_small_map_search(&m, "gamma", 1, 2000, &best).valid, 2000);
    assert_true(best < INFINITY);
    sx_small_map_close(&m);
    sx_small_map_open(&m, "O[m] += A[m,k] {m:1,k:1}", "accel-b", NULL, NULL);
    assert_int_equal(sx_small_map_search(&m, "gamma", 1, 500, &best).evaluations, 500);
    assert_true(best < INFINITY);
    sx_small_map_close(&m);
}

/* Without operators a population stays what it was at first: more points are those of other populations. */
static void populations_follow_one_another(void **state) {
    (void)state;
    static const char off[] =
        "first_crossover=0,crossover=0,order=0,parallel=0,level=0,tile=0,keep=0,injected=0";
    static const struct {
        const char *how;
        size_t least, most;
    } cases[] = {
        {"islands=0", 10, 20}, {"islands=1", 10, 20}, {"islands=3", 30, 60}, {"islands=3,core=0", 30, 60}};
    sx_small_map m;
    char text[300];
    sx_small_map_open(&m, conv, "accel-b", NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "gamma:population=20,%s,%s", off, cases[i].how);
        assert_in_range(looked_at(&m, text, 410), cases[i].least, cases[i].most);
    }
    sx_small_map_close(&m);
}

static void odd_and_tiny_populations_work(void **state) {
    (void)state;
    sx_small_map m;
    sx_small_map_open(&m, conv, "eyeriss", NULL, NULL);
    const char *const ways[] = {"gamma:population=2,elites=0", "gamma:population=3,parents=0.01",
                                "gamma:population=7,elites=0.5,injected=0.9"};
    for (size_t i = 0; i < 3; i++)
        for (uint64_t budget = 1; budget < 60; budget += 9)
            assert_int_equal(sx_small_map_search(&m, ways[i], budget, budget, NULL).evaluations, budget);
    sx_small_map_close(&m);
}

/* A search whose start points are more than the population holds. */
static void starts_are_all_used(void **state) {
    (void)state;
    enum { STARTS = 12 };
    sx_small_map m;
    sx_small_map_open(&m, conv, "accel-b", NULL, NULL);
    size_t size = m.space->point_size;
    unsigned char *starts = malloc(STARTS * size);
    assert_non_null(starts);
    for (uint64_t i = 0; i < STARTS; i++) assert_true(sx_space_sample(m.space, 4, i, starts + i * size));
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    options.evaluations = STARTS;
    options.starts = starts;
    options.n_starts = STARTS;
    sx_expect_ok(sx_recorder_new(m.space, NULL, 100, &m.recorder));
    sx_expect_ok(sx_run_new(m.space, sx_recorder_model(m.recorder), &options, &run));
    sx_expect_ok(sx_run_search(run, "gamma:population=5"));
    sx_run_free(run);
    size_t n = 0;
    for (const void *p; (p = sx_small_map_point(&m, n)); n++) {
        bool known = false;
        for (size_t i = 0; i < STARTS; i++) known = known || memcmp(p, starts + i * size, size) == 0;
        assert_true(known);
    }
    assert_int_equal(n, STARTS);
    free(starts);
    sx_small_map_close(&m);
}

/* Gamma with no time for its first population, then with time for three. */
static sx_status call_twice(sx_run *run) {
    SX_TRY(sx_run_call(run, "random", 10, 0));
    SX_TRY(sx_gamma_go_on(run, 100, 1e-12));
    assert_in_range(sx_run_called_on(run), 0, 99);
    SX_TRY(sx_gamma_go_on(run, 300, 0));
    assert_int_equal(sx_run_called_on(run), 300);
    return SX_OK;
}

static void a_first_population_that_time_cuts_is_made_again(void **state) {
    (void)state;
    static const sx_navigator navigator = {.search = call_twice};
    sx_small_map m;
    sx_small_map_open(&m, conv, "eyeriss", NULL, NULL);
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    options.seconds = 600;
    sx_expect_ok(sx_run_new(m.space, NULL, &options, &run));
    sx_expect_ok(sx_run_search_by(run, "own", &navigator, NULL));
    sx_run_free(run);
    sx_small_map_close(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_can_be_switched_off),
        cmocka_unit_test(first_populations_are_half_natural),
        cmocka_unit_test(finds_good_mappings),
        cmocka_unit_test(works_with_remainders_and_without_choices),
        cmocka_unit_test(populations_follow_one_another),
        cmocka_unit_test(odd_and_tiny_populations_work),
        cmocka_unit_test(starts_are_all_used),
        cmocka_unit_test(a_first_population_that_time_cuts_is_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
