#include "base/guard.h"

#include "model/model.h"
#include "sextant/all.h"
#include "sextant/space_type.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* A model whose checks count many tiles: a wide band on a machine that skips zeros. */
static void make_model(sx_model **out) {
    sx_problem problem;
    sx_arch arch;
    sx_expect_ok(
        sx_einsum_parse("Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:1000000,n:1,k:1000000}", &problem));
    sx_expect_ok(sx_problem_set_band(&problem, 1, 400000));
    sx_expect_ok(sx_catalog_arch("accel-b-sparse", &arch));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, out));
}

/* A check that is ended in the middle is no verdict: the guard knows, and what is drawn is not believed. */
static void unfinished_checks_are_remembered(void **state) {
    (void)state;
    sx_model *model;
    sx_space *space;
    sx_cancel cancel = {0};
    make_model(&model);
    sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
    void *point = malloc(space->point_size);
    assert_non_null(point);
    sx_cancel_set(&cancel);
    sx_guard_watch(model->guard, &cancel, 0);
    for (uint64_t i = 0; i < 200 && !atomic_load(&model->guard->unfinished); i++)
        (void)sx_space_sample(space, 0, i, point);
    assert_true(atomic_load(&model->guard->steps.stopped));
    assert_true(atomic_load(&model->guard->unfinished));
    sx_guard_watch(model->guard, NULL, 0);
    assert_true(sx_space_sample(space, 0, 0, point));
    assert_false(atomic_load(&model->guard->unfinished));
    free(point);
    sx_space_free(space);
    sx_model_free(model);
}

/* A run that is ended within a count ends as by the limit, claims nothing, and leaves the model usable. */
static void runs_end_within_a_count(void **state) {
    (void)state;
    sx_model *model;
    sx_space *space;
    sx_run *run;
    sx_run_options options = {.seconds = 0.01, .threads = 1, .proof = true};
    make_model(&model);
    sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
    sx_expect_ok(sx_objective_parse("edp", &options.objective));
    sx_expect_ok(sx_run_new(space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, "optimal"));
    sx_run_summary summary = sx_run_result(run);
    assert_int_equal(summary.stop, SX_STOP_TIME);
    assert_false(summary.optimal);
    assert_true(summary.seconds < 20);
    assert_false(atomic_load(&model->guard->steps.stopped));
    sx_run_free(run);
    sx_space_free(space);
    sx_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unfinished_checks_are_remembered),
        cmocka_unit_test(runs_end_within_a_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
