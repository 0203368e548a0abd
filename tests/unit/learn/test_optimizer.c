#include "learn/optimizer.h"

#include "sextant/rng.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { N = 40000, STEPS = 5 }; /* three jobs' worth */

static float parameter[N], gradient[N];
static double right[N], first[N], second[N];

/* One step by the formulas of the papers, in doubles. */
static void expected_step(const sx_optimizer_options *o, int step, double rate) {
    for (size_t i = 0; i < N; i++) {
        double g = (double)gradient[i];
        if (o->kind == SX_SGD) {
            first[i] = (double)o->momentum * first[i] + g;
            right[i] -= rate * first[i];
            continue;
        }
        double beta1 = (double)o->beta1, beta2 = (double)o->beta2;
        first[i] = beta1 * first[i] + (1 - beta1) * g;
        second[i] = beta2 * second[i] + (1 - beta2) * g * g;
        double m = first[i] / (1 - pow(beta1, step)), v = second[i] / (1 - pow(beta2, step));
        right[i] -= rate * m / (sqrt(v) + (double)o->epsilon);
    }
}

static void steps_follow_the_formulas(sx_optimizer_kind kind, double rate) {
    sx_optimizer_options options = sx_optimizer_defaults(kind);
    sx_optimizer *optimizer;
    sx_matrix_engine *engine;
    sx_rng rng = sx_rng_stream(1, "test.optimizer", kind);
    sx_expect_ok(sx_optimizer_new(&options, N, &optimizer));
    sx_expect_ok(sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &engine));
    for (size_t i = 0; i < N; i++) {
        parameter[i] = (float)sx_rng_double(&rng);
        right[i] = (double)parameter[i];
        first[i] = second[i] = 0;
    }
    for (int step = 1; step <= STEPS; step++) {
        for (size_t i = 0; i < N; i++) gradient[i] = (float)(sx_rng_double(&rng) - 0.5);
        sx_optimizer_step(optimizer, engine, parameter, gradient, (float)rate);
        expected_step(&options, step, (double)(float)rate);
        for (size_t i = 0; i < N; i++) assert_true(fabs((double)parameter[i] - right[i]) < 1e-6);
    }
    assert_int_equal(optimizer->steps, STEPS);
    sx_matrix_engine_free(engine);
    sx_optimizer_free(optimizer);
}

static void sgd(void **state) {
    (void)state;
    steps_follow_the_formulas(SX_SGD, 0.05);
}
static void adam(void **state) {
    (void)state;
    steps_follow_the_formulas(SX_ADAM, 0.01);
}

static void schedules(void **state) {
    (void)state;
    const sx_schedule constant = {SX_SCHEDULE_CONSTANT, 0.5, 0.1, 10}, step = {SX_SCHEDULE_STEP, 1, 0.1, 20};
    const sx_schedule cosine = {SX_SCHEDULE_COSINE, 2, 0.25, 100};
    assert_true(sx_schedule_rate(&constant, 1000) == 0.5);
    assert_true(sx_schedule_rate(&step, 19) == 1 && fabs(sx_schedule_rate(&step, 20) - 0.1) < 1e-15);
    assert_true(fabs(sx_schedule_rate(&step, 45) - 0.01) < 1e-15);
    assert_true(sx_schedule_rate(&cosine, 0) == 2 && sx_schedule_rate(&cosine, 100) == 0.5);
    assert_true(sx_schedule_rate(&cosine, 50) == 1.25 && sx_schedule_rate(&cosine, 1000) == 0.5);
    for (uint64_t i = 0; i < 100; i++)
        assert_true(sx_schedule_rate(&cosine, i) > sx_schedule_rate(&cosine, i + 1));
}

static void names_are_known_or_refused(void **state) {
    (void)state;
    sx_optimizer_kind kind;
    sx_schedule_kind schedule;
    sx_expect_ok(sx_optimizer_find("adam", &kind));
    assert_int_equal(kind, SX_ADAM);
    sx_expect_ok(sx_schedule_find("cosine", &schedule));
    assert_int_equal(schedule, SX_SCHEDULE_COSINE);
    sx_expect_error(sx_optimizer_find("adamw", &kind), "known: sgd, adam");
    sx_expect_error(sx_schedule_find("cosin", &schedule), "known: constant, step, cosine");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd),
        cmocka_unit_test(adam),
        cmocka_unit_test(schedules),
        cmocka_unit_test(names_are_known_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
