/* What a cost says of the tiles that decide whether accesses to a tensor are skipped. */
#include "support/expect.h"
#include "support/plain_arch.h"

#include "sextant/all.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int find_tensor(const sx_problem *problem, const char *name) {
    int v = 0;
    while (strcmp(problem->tensor[v].name, name) != 0) v++;
    return v;
}

/* The words of A on which reads of B at the outer level depend, for a distribution of A's non-zeros; and the probability that all
 * of them are zero. */
static uint64_t condition_of(const char *density, double *empty) {
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_model *model;
    sx_model_workspace *evaluator;
    char text[200];
    sx_cost *cost = calloc(1, sizeof *cost);
    assert_non_null(cost);
    sx_plain_arch(&arch, 2);
    arch.sparse.action[0] = (sx_sparse_action){.level = 1, .skips = true, .n_options = 1};
    arch.sparse.action[0].option[0].on = 1u << 1;
    arch.sparse.n_actions = 1;
    arch.sparse.n_names = 2;
    strcpy(arch.sparse.name[0], "B");
    strcpy(arch.sparse.name[1], "A");
    snprintf(text, sizeof text, "Z[m,n] += A[m,k]*B[k,n] {m:8,k:8,n:8} {A:%s}", density);
    sx_plain_problem(text, &arch, &problem, &mapping);
    for (int d = 0; d < 3; d++) {
        mapping.level[0].temporal[d] = 2;
        mapping.level[1].temporal[d] = 4;
    }
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    assert_int_equal(sx_evaluate(evaluator, &mapping, cost).reason, SX_LEGAL);
    const sx_cost_tensor *b = &cost->level[1].tensor[find_tensor(&problem, "B")];
    const int a = find_tensor(&problem, "A");
    const uint64_t words = b->condition_words[a];
    *empty = b->condition_empty[a];
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
    free(cost);
    return words;
}

/* The words are those of a tile, wherever the non-zeros may lie. */
static void conditions_have_words(void **state) {
    (void)state;
    double anywhere, band;
    const uint64_t words = condition_of("hypergeometric:0.25", &anywhere);
    assert_int_equal(words, 8 * 2); /* all rows, as B does not change with them */
    assert_int_equal(condition_of("banded:1", &band), words);
    assert_true(anywhere > 0 && anywhere < 1);
    assert_true(band == 0); /* each column has its part of the diagonal */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
