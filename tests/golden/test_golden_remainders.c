/* Mappings with remainders that were once counted wrongly: evaluated and executed, they cost the same. */
#include "sextant/model.h"
#include "support/cost_compare.h"
#include "support/random_case.h"
#include "support/vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* One case and what both ways say of it. */
typedef struct trial {
    sx_case c;
    sx_cost evaluated, simulated;
    char why[256];
} trial;

static void check_case(trial *t, size_t line) {
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_verdict verdict;
    assert_null(sx_model_new(&t->c.problem, &t->c.arch, &t->c.options, &model));
    assert_null(sx_model_workspace_new(model, &evaluator));
    assert_int_equal(sx_evaluate(evaluator, &t->c.mapping, &t->evaluated).reason, SX_LEGAL);
    assert_null(sx_simulate(&t->c.problem, &t->c.arch, &t->c.mapping, &t->c.options, 1 << 24, &verdict,
                            &t->simulated));
    assert_int_equal(verdict.reason, SX_LEGAL);
    bool differ = sx_costs_differ(&t->evaluated, &t->simulated, 1e-12, t->why, sizeof t->why);
    if (differ) print_error("cases.jsonl:%zu: %s\n", line, t->why);
    assert_false(differ);
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
}

static void evaluated_as_executed(void **state) {
    (void)state;
    json_t *cases = sx_vectors_load(SX_TEST_DATA "/golden/remainders/cases.jsonl"), *one;
    trial *t = malloc(sizeof *t);
    size_t i;
    assert_non_null(t);
    json_array_foreach(cases, i, one) {
        assert_true(sx_case_read(one, &t->c));
        check_case(t, i + 1);
    }
    free(t);
    json_decref(cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(evaluated_as_executed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
