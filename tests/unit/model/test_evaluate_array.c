/* Many mappings at once, on threads, packed or not: the answers of sx_evaluate_score. */
#include "sextant/input.h"
#include "sextant/model.h"
#include "sextant/space.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAPPINGS = 2000 };

typedef struct fixture {
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    sx_space *space;
    sx_score score[MAPPINGS];
    sx_verdict verdict[MAPPINGS];
} fixture;

static int begin(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    sx_expect_ok(sx_catalog_problem("resnet-conv4", &f->problem));
    sx_expect_ok(sx_catalog_arch("accel-a", &f->arch));
    sx_expect_ok(sx_model_new(&f->problem, &f->arch, NULL, &f->model));
    sx_expect_ok(sx_map_space_new(f->model, NULL, NULL, &f->space));
    *state = f;
    return 0;
}

static int end(void **state) {
    fixture *f = *state;
    sx_space_free(f->space);
    sx_model_free(f->model);
    free(f);
    return 0;
}

/* Draws mappings `stride` bytes apart; every seventh is spoilt. */
static char *draw(const fixture *f, size_t stride) {
    char *mappings = malloc(MAPPINGS * stride);
    assert_non_null(mappings);
    sx_expect_ok(sx_map_space_draw(f->space, 3, 0, MAPPINGS, stride, mappings));
    for (size_t i = 0; i < MAPPINGS; i += 7)
        ((sx_mapping *)(void *)(mappings + i * stride))->level[0].temporal[0] += 1000;
    return mappings;
}

static void answers_are_those_of_one_at_a_time(void **state) {
    fixture *f = *state;
    size_t legal = 0, packed = sx_mapping_bytes(&f->arch);
    char *whole = draw(f, sizeof(sx_mapping)), *short_ones = draw(f, packed);
    sx_model_workspace *evaluator;
    sx_expect_ok(sx_model_workspace_new(f->model, &evaluator));
    assert_true(packed < sizeof(sx_mapping));
    for (unsigned threads = 0; threads <= 3; threads++) {
        bool pack = threads % 2;
        sx_expect_ok(sx_evaluate_array(f->model, pack ? short_ones : whole,
                                       pack ? packed : sizeof(sx_mapping), MAPPINGS, threads, f->score,
                                       f->verdict));
        for (size_t i = 0; i < MAPPINGS; i++) {
            sx_score score = {INFINITY, INFINITY, 0, INFINITY, INFINITY};
            sx_verdict verdict = sx_evaluate_score(evaluator, (sx_mapping *)(void *)whole + i, &score);
            assert_int_equal(verdict.reason, f->verdict[i].reason);
            assert_int_equal(verdict.reason != SX_LEGAL, i % 7 == 0);
            if (verdict.reason == SX_LEGAL) legal++;
            if (verdict.reason == SX_LEGAL) assert_memory_equal(&score, &f->score[i], sizeof score);
            if (verdict.reason != SX_LEGAL) assert_true(isinf(f->score[i].energy_pj));
        }
    }
    assert_true(legal > MAPPINGS);
    sx_model_workspace_free(evaluator);
    free(whole);
    free(short_ones);
}

static void draws_follow_the_sequence(void **state) {
    fixture *f = *state;
    size_t stride = sx_mapping_bytes(&f->arch) + 8;
    char all[8][sizeof(sx_mapping)], later[4][sizeof(sx_mapping)];
    sx_expect_ok(sx_map_space_draw(f->space, 5, 0, 8, stride, all));
    sx_expect_ok(sx_map_space_draw(f->space, 5, 4, 4, stride, later));
    assert_memory_equal((char *)all + 4 * stride, later, 4 * stride);
    assert_memory_not_equal(all, later, stride);
}

static void bad_calls_are_errors(void **state) {
    fixture *f = *state;
    size_t least = sx_mapping_bytes(&f->arch);
    char bytes[sizeof(sx_mapping)];
    sx_expect_error(sx_evaluate_array(f->model, bytes, least - 8, 1, 1, f->score, f->verdict), "bytes apart");
    sx_expect_error(sx_evaluate_array(f->model, bytes, least + 1, 1, 1, f->score, f->verdict),
                    "a multiple of");
    sx_expect_error(sx_evaluate_array(f->model, bytes, least, 1, 5000, f->score, f->verdict), "threads");
    sx_expect_error(sx_map_space_draw(f->space, 0, 0, 1, least - 1, bytes), "a mapping needs");
    sx_expect_ok(sx_evaluate_array(f->model, bytes, least, 0, 2, f->score, f->verdict));
}

/* An architecture whose only memory is too small for a tile of one. */
static void no_legal_mapping_says_why(void **state) {
    fixture *f = *state;
    sx_arch tiny = f->arch;
    for (int i = 0; i < tiny.n_levels; i++) tiny.level[i].entries = 1;
    sx_model *model;
    sx_space *space;
    sx_mapping mapping;
    sx_expect_ok(sx_model_new(&f->problem, &tiny, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
    sx_expect_error(sx_map_space_draw(space, 0, 0, 1, sizeof mapping, &mapping), "no legal mapping");
    sx_space_free(space);
    sx_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_one_at_a_time),
        cmocka_unit_test(draws_follow_the_sequence),
        cmocka_unit_test(bad_calls_are_errors),
        cmocka_unit_test(no_legal_mapping_says_why),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
