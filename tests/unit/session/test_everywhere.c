/* Scoring every mapping of a space by the cost model: what is told on the way. */
#include "session/everywhere.h"
#include "sextant/all.h"
#include "support/driven_clock.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* What was told. */
typedef struct account {
    unsigned calls;
    uint64_t done, all;
} account;

static void take_down(void *user, uint64_t done, uint64_t all, bool mappings, double best) {
    account *a = user;
    assert_true(mappings && done >= a->done && done <= all && best > 1);
    a->calls++;
    a->done = done;
    a->all = all;
}

/* Where reuse is forbidden the cost model looks, and says how many of all mappings it has seen. */
static void the_model_tells_how_far_it_is(void **state) {
    (void)state;
    static sx_problem problem;
    static sx_arch arch;
    static sx_constraints limits;
    static sx_gpu_look_answer answer;
    account a = {0};
    sx_objective objective;
    sx_model *model;
    sx_space *space;
    sx_expect_ok(sx_einsum_parse("O[m] += A[m,k]*B[k] {m:4,k:4}", &problem));
    sx_expect_ok(sx_catalog_arch("edge-unified", &arch));
    sx_constraints_init(&limits, &problem, &arch);
    limits.level[0].no_temporal_reuse = 1;
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, &limits, NULL, &space));
    sx_expect_ok(sx_objective_parse("edp", &objective));
    const sx_everywhere_options options = {
        .limit = 1e9, .model_limit = 1e6, .threads = 1, .progress = take_down, .user = &a};
    sx_clock_drive(1);
    sx_expect_ok(sx_look_everywhere(space, &objective, &options, &answer));
    sx_clock_drive(0);
    assert_true(answer.complete && answer.found && a.calls > 0);
    assert_true((double)a.all == answer.mappings && a.done > 0);
    sx_space_free(space);
    sx_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_model_tells_how_far_it_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
