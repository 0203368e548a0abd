/* What is known of tensors and levels before any mapping is. */
#include "model/model.h"
#include "support/expect.h"
#include "support/plain_arch.h"
#include "support/random_legal.h"
#include "support/random_window.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void shapes_know_their_ranks(void **state) {
    (void)state;
    static const struct {
        const char *einsum;
        bool plain, unit, simple, narrow;
        unsigned dims, solo;
        int n_mixed;
    } cases[] = {
        {"O[a] += I[a,b]*J[a,b,c] {a:2,b:2,c:2}", true, true, true, true, 3, 3, 0},
        {"O[a] += I[2*a,b]*J[a,b,c] {a:2,b:2,c:2}", true, false, true, true, 3, 3, 0},
        {"O[a] += I[a+b,c]*J[a,b,c] {a:2,b:2,c:2}", false, false, true, true, 7, 4, 1},
        {"O[a] += I[a+b+c]*J[a,b,c] {a:2,b:2,c:2}", false, false, true, false, 7, 0, 1},
        {"O[a] += I[a+b,a,c]*J[a,b,c] {a:2,b:2,c:2}", false, false, false, true, 7, 4, 2},
        {"O[a] += I[a,a]*J[a,b,c] {a:2,b:2,c:2}", false, false, false, true, 1, 0, 2},
        {"O[a] += I[3*a+2*b,c]*J[a,b,c] {a:2,b:2,c:2}", false, false, true, true, 7, 4, 1},
    };
    sx_arch arch;
    sx_plain_arch(&arch, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_problem problem;
        sx_model *model;
        sx_expect_ok(sx_einsum_parse(cases[i].einsum, &problem));
        sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
        const sx_shape *shape = &model->shape[1];
        assert_int_equal(shape->plain, cases[i].plain);
        assert_int_equal(shape->unit, cases[i].unit);
        assert_int_equal(shape->simple, cases[i].simple);
        assert_int_equal(shape->narrow, cases[i].narrow);
        assert_int_equal(shape->dims, cases[i].dims);
        assert_int_equal(shape->solo, cases[i].solo);
        assert_int_equal(shape->n_mixed, cases[i].n_mixed);
        assert_true(model->shape[0].output && !shape->output);
        sx_model_free(model);
    }
}

/* The words of a box, rank by rank from the problem itself. */
static uint64_t words_of(const sx_tensor *t, int n_dims, const uint32_t *extent) {
    uint64_t words = 1;
    for (int r = 0; r < t->n_ranks; r++) {
        uint64_t rank = 1;
        for (int d = 0; d < n_dims; d++) rank += (uint64_t)llabs(t->coef[r][d]) * (extent[d] - 1u);
        words *= rank;
    }
    return words;
}

static void boxes_span_what_their_ranks_do(void **state) {
    (void)state;
    sx_window *w = malloc(sizeof *w);
    assert_non_null(w);
    for (uint64_t i = 0; i < 5000; i++) {
        sx_rng rng = sx_rng_stream(1, "box", i);
        uint32_t extent[SX_MAX_DIMS];
        sx_random_window(&rng, false, w);
        for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = (uint32_t)sx_rng_range(&rng, 1, 1000);
        for (int v = 0; v < 3; v++)
            assert_int_equal(sx_shape_words(&w->model->shape[v], extent),
                             words_of(&w->problem.tensor[v], w->problem.n_dims, extent));
        sx_window_fini(w);
    }
    free(w);
}

static void a_model_keeps_copies_and_refuses_what_is_wrong(void **state) {
    (void)state;
    sx_arch arch;
    sx_problem problem;
    sx_model *model = NULL;
    sx_plain_arch(&arch, 2);
    sx_expect_ok(sx_einsum_parse("O[m] += A[m,k]*B[k] {m:2,k:3}", &problem));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    const sx_problem kept = problem;
    const sx_arch kept_arch = arch;
    memset(&problem, 0xff, sizeof problem);
    memset(&arch, 0xff, sizeof arch);
    assert_memory_equal(sx_model_problem(model), &kept, sizeof kept);
    assert_memory_equal(sx_model_arch(model), &kept_arch, sizeof kept_arch);
    sx_model_free(model);
    problem = kept;
    arch = kept_arch;
    model = NULL;
    problem.size[0] = 0;
    sx_expect_error(sx_model_new(&problem, &arch, NULL, &model), "dimension m has size 0");
    problem = kept;
    arch.level[0].block_size = 0;
    sx_expect_error(sx_model_new(&problem, &arch, NULL, &model), "block-size");
    assert_null(model);
    sx_model_free(NULL);
    sx_model_workspace_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_know_their_ranks),
        cmocka_unit_test(boxes_span_what_their_ranks_do),
        cmocka_unit_test(a_model_keeps_copies_and_refuses_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
