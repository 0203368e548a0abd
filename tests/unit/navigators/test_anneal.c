/* Simulated annealing, watched move by move. */
#include "support/expect.h"
#include "support/logged_space.h"
#include "support/sanitized.h"
#include "support/small_map.h"
#include "support/toy_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sx_logged_space log_;

static int set_up(void **state) {
    (void)state;
    sx_logged_space_init(&log_, sx_toy_space_new(NULL));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    sx_space *space = log_.space;
    sx_logged_space_fini(&log_);
    sx_space_free(space);
    return 0;
}

/* In how many numbers two points of the log differ; *most is the largest difference. */
static int distance(size_t a, size_t b, uint32_t *most) {
    const sx_toy_point *p = sx_logged_point(&log_, a), *q = sx_logged_point(&log_, b);
    int n = 0;
    *most = 0;
    for (int d = 0; d < SX_TOY_DIMS; d++) {
        uint32_t by = p->x[d] > q->x[d] ? p->x[d] - q->x[d] : q->x[d] - p->x[d];
        n += by > 0;
        if (by > *most) *most = by;
    }
    return n;
}

/* Asserts that the log is a walk of one chain that takes every move (hot), or only those that do not rise;
 * returns how often it began anew. */
static int follow(bool hot, bool nudged) {
    size_t current = 0;
    int jumps = 0;
    for (size_t i = 1; i < log_.n; i++) {
        uint32_t most;
        int changed = distance(current, i, &most);
        assert_true(log_.values[i] < INFINITY);
        if (changed != 1) {
            jumps++;
            current = i;
            continue;
        }
        if (nudged) assert_int_equal(most, 1);
        if (hot || log_.values[i] <= log_.values[current]) current = i;
    }
    return jumps;
}

static void hot_walks_take_every_move(void **state) {
    (void)state;
    const char *hot = "anneal:schedule=fixed,tmax=1e300,tmin=1e300,nudge=";
    char text[100];
    for (int nudge = 0; nudge < 2; nudge++) {
        snprintf(text, sizeof text, "%s%d", hot, nudge);
        sx_run_summary summary = sx_logged_search(&log_, text, 1, 1000, NULL, 0);
        assert_int_equal(summary.evaluations, 1000);
        assert_int_equal(log_.n, 1000);
        assert_int_equal(follow(true, nudge == 1), 0);
    }
}

static void cold_walks_never_rise(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        sx_logged_search(&log_, "anneal:schedule=fixed,tmax=1e-300,tmin=1e-300", seed, 1000, NULL, 0);
        assert_int_equal(follow(false, false), 0);
        sx_logged_search(&log_, "anneal:schedule=fixed,tmax=1e-300,tmin=1e-300,scale=log", seed, 1000, NULL,
                         0);
        assert_int_equal(follow(false, false), 0);
    }
}

/* The points that may be current at a step of the log: the next step is one move away from the one that is.
 */
typedef struct trail {
    size_t at[17];
    int n;
} trail;

/* Narrows the trail, after step i with its successor: of those and (where it may have been taken) i, the ones
 * that the next step is one move from. Begins again at the next step where there is none. */
static void narrow(trail *t, size_t i, bool may_refuse) {
    uint32_t most;
    trail next = {.n = 0};
    for (int k = 0; k < t->n && may_refuse; k++)
        if (distance(t->at[k], i + 1, &most) == 1 && next.n < 16) next.at[next.n++] = t->at[k];
    if (distance(i, i + 1, &most) == 1) next.at[next.n++] = i;
    if (next.n == 0) next.at[next.n++] = i + 1;
    *t = next;
}

/* How moves that raise the energy fared among the first `first` steps that follow a new
 * beginning: how many there were, how many were taken, and how many should be at temperature t (where t > 0).
 */
typedef struct fared {
    double rises, taken, expected, moves;
} fared;

static fared watch(double t, size_t first) {
    trail now = {{0}, 1};
    fared f = {0};
    size_t since = 0;
    for (size_t i = 1; i + 1 < log_.n; i++) {
        bool known = now.n == 1;
        size_t from = now.at[0];
        double rise = log_.values[i] - log_.values[from];
        if (known && from == i) { /* a new beginning */
            since = 0;
            continue;
        }
        bool falls = true;
        for (int k = 0; k < now.n; k++) falls = falls && log_.values[i] <= log_.values[now.at[k]];
        narrow(&now, i, !falls);
        if (!known || now.n != 1 || now.at[0] == i + 1 || ++since > first) continue;
        f.moves++;
        if (rise <= 0) continue;
        f.rises++;
        f.taken += now.at[0] == i;
        f.expected += t > 0 ? exp(-rise / t) : 0;
    }
    return f;
}

/* Metropolis' rule: a rise is taken with probability exp(-rise / t). */
static void rises_are_taken_as_the_temperature_says(void **state) {
    (void)state;
    const double temperature[] = {300, 2000, 20000};
    for (size_t i = 0; i < 3; i++) {
        char text[100];
        snprintf(text, sizeof text, "anneal:schedule=fixed,tmax=%g,tmin=%g", temperature[i], temperature[i]);
        sx_logged_search(&log_, text, 1, 20000, NULL, 0);
        fared f = watch(temperature[i], 20000);
        print_message("t %g: %.0f rises, %.0f taken, %.0f expected\n", temperature[i], f.rises, f.taken,
                      f.expected);
        assert_true(f.rises > 5000);
        assert_true(fabs(f.taken - f.expected) < 0.1 * f.expected);
    }
}

/* Each cycle of an automatic schedule begins at the temperature at which 98 % of the moves are taken. */
static void automatic_schedules_begin_where_most_moves_are_taken(void **state) {
    (void)state;
    double moves = 0, refused = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        sx_logged_search(&log_, "anneal:steps=400", seed, 20000, NULL, 0);
        fared f = watch(0, 10);
        moves += f.moves;
        refused += f.rises - f.taken;
    }
    print_message("%.0f moves, %.0f refused\n", moves, refused);
    assert_true(moves > 2000);
    assert_true(refused > 0.015 * moves && refused < 0.06 * moves);
}

static void cycles_and_short_schedules_begin_anew(void **state) {
    (void)state;
    sx_logged_search(&log_, "anneal:schedule=fixed,tmax=1e-300,tmin=1e-300,cycles=3", 1, 900, NULL, 0);
    assert_int_equal(follow(false, false), 2);
    sx_logged_search(&log_, "anneal:schedule=fixed,tmax=1e-300,tmin=1e-300,steps=100", 1, 900, NULL, 0);
    assert_int_equal(follow(false, false), 8);
}

static void chains_walk_side_by_side(void **state) {
    (void)state;
    enum { CHAINS = 4 };
    sx_logged_search(&log_, "anneal:schedule=fixed,tmax=1e300,tmin=1e300,chains=4", 1, 1000, NULL, 0);
    assert_int_equal(log_.n, 1000);
    for (size_t i = CHAINS; i < log_.n; i++) {
        uint32_t most;
        assert_int_equal(distance(i - CHAINS, i, &most), 1);
    }
}

static void walks_begin_at_the_best_start(void **state) {
    (void)state;
    sx_toy_point starts[3];
    for (uint64_t i = 0; i < 3; i++) assert_true(sx_space_sample(log_.space, 9, i, &starts[i]));
    sx_logged_search(&log_, "anneal:schedule=fixed,tmax=1e300,tmin=1e300", 1, 100, starts, 3);
    size_t best = 0;
    for (size_t i = 0; i < 3; i++) {
        assert_memory_equal(sx_logged_point(&log_, i), &starts[i], sizeof starts[i]);
        if (log_.values[i] < log_.values[best]) best = i;
    }
    uint32_t most;
    assert_int_equal(distance(best, 3, &most), 1);
}

static void temperatures_that_rise_are_refused(void **state) {
    (void)state;
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    options.evaluations = 10;
    sx_expect_ok(sx_run_new(log_.space, NULL, &options, &run));
    sx_expect_error(sx_run_search(run, "anneal:schedule=fixed,tmax=1,tmin=2"), "tmin (2) is above tmax (1)");
    sx_run_free(run);
}

static void automatic_schedules_end_cold(void **state) {
    (void)state;
    for (int log_scale = 0; log_scale < 2; log_scale++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            sx_logged_search(&log_, log_scale ? "anneal:scale=log" : "anneal", seed, 20000, NULL, 0);
            double hottest = 0, last = 0;
            for (size_t i = 0; i < log_.n; i++) {
                last = i % 1000 ? last + log_.values[i] : log_.values[i];
                if (i % 1000 == 999) hottest = fmax(hottest, last);
            }
            assert_int_equal(log_.n, 20000);
            assert_true(last < 0.5 * hottest);
        }
}

/* The best value of a search of the whole toy space. */
static double best_of(const char *navigator, uint64_t evaluations) {
    sx_logged_search(&log_, navigator, 3, evaluations, NULL, 0);
    double best = INFINITY;
    for (size_t i = 0; i < log_.n; i++) best = fmin(best, log_.values[i]);
    return best;
}

static void finds_what_is_there(void **state) {
    (void)state;
    if (SX_SANITIZED) skip();
    double optimum = sx_toy_optimum(log_.space);
    log_.n = 0;
    assert_true(best_of("anneal", 20000) <= 1.05 * optimum);
    assert_true(best_of("anneal:scale=log,chains=2,cycles=2", 20000) <= 1.05 * optimum);
}

static void tiny_budgets_and_flat_costs_are_fine(void **state) {
    (void)state;
    for (uint64_t budget = 1; budget < 40; budget++)
        assert_int_equal(sx_logged_search(&log_, "anneal", budget, budget, NULL, 0).evaluations, budget);
    sx_run_options options;
    sx_run_options_init(&options);
    options.objective.criterion[0] = (sx_criterion){SX_PRODUCT, 0, 0};
    options.evaluations = 500;
    for (int log_scale = 0; log_scale < 2; log_scale++) {
        sx_run *run;
        sx_expect_ok(sx_run_new(log_.space, NULL, &options, &run));
        sx_expect_ok(sx_run_search(run, log_scale ? "anneal:scale=log" : "anneal"));
        assert_int_equal(sx_run_result(run).evaluations, 500);
        sx_run_free(run);
        sx_expect_ok(sx_objective_parse("utilization", &options.objective));
    }
}

/* The mean decimal logarithm of the second half of what a walk of mappings evaluates. */
static double late_mean(sx_logged_space *log, const char *navigator) {
    double sum = 0;
    sx_run_summary summary = sx_logged_search(log, navigator, 3, 4000, NULL, 0);
    assert_int_equal(summary.evaluations, 4000);
    assert_int_equal(log->n, 4000);
    for (size_t i = 2000; i < log->n; i++) sum += log10(log->values[i]);
    return sum / 2000;
}

/* Walks of compact points, several moves in a task, take what the temperature says, and cool down within a schedule. */
static void mappings_are_walked_as_the_temperature_says(void **state) {
    (void)state;
    static const char product[] = "O[m,n] += A[m,k]*B[k,n] {m:64,n:48,k:32}";
    sx_small_map m;
    sx_logged_space log;
    sx_small_map_open(&m, product, "accel-a", NULL, NULL);
    sx_logged_space_init(&log, m.space);
    double hot = late_mean(&log, "anneal:schedule=fixed,tmax=1e300,tmin=1e300");
    double cold = late_mean(&log, "anneal:schedule=fixed,tmax=1e-300,tmin=1e-300");
    double cooled = late_mean(&log, "anneal:schedule=fixed,tmax=1e300,tmin=1e-300");
    double chains = late_mean(&log, "anneal:schedule=fixed,tmax=1e300,tmin=1e-300,chains=3");
    print_message("hot %.3f, cold %.3f, cooled %.3f, three chains %.3f\n", hot, cold, cooled, chains);
    assert_true(cold < hot - 0.2);
    assert_true(cooled < hot - 0.2 && chains < hot - 0.2);
    sx_logged_space_fini(&log);
    sx_small_map_close(&m);
}

static void a_barren_space_ends_it(void **state) {
    (void)state;
    sx_expect_barren_end("anneal");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hot_walks_take_every_move, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cold_walks_never_rise, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rises_are_taken_as_the_temperature_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(automatic_schedules_begin_where_most_moves_are_taken, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(cycles_and_short_schedules_begin_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(chains_walk_side_by_side, set_up, tear_down),
        cmocka_unit_test_setup_teardown(walks_begin_at_the_best_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(temperatures_that_rise_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(automatic_schedules_end_cold, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_what_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tiny_budgets_and_flat_costs_are_fine, set_up, tear_down),
        cmocka_unit_test(mappings_are_walked_as_the_temperature_says),
        cmocka_unit_test(mappings_are_walked_as_the_temperature_says),
        cmocka_unit_test(a_barren_space_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
