/* FactorFlow's descents end where no move of one prime factor is better. */
#include "support/expect.h"
#include "support/small_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The value of a mapping, INFINITY where it is not legal. */
static double value_of(const sx_small_map *m, const sx_mapping *mapping) {
    sx_model_workspace *evaluator;
    sx_score score;
    sx_expect_ok(sx_model_workspace_new(m->model, &evaluator));
    sx_verdict verdict = sx_evaluate_score(evaluator, mapping, &score);
    sx_model_workspace_free(evaluator);
    return verdict.reason == SX_LEGAL ? score.cycles * score.energy_pj : INFINITY;
}

/* The best mapping of a search. */
static double best_of(const sx_small_map *m, const char *navigator, sx_mapping *out) {
    sx_run_options options;
    sx_run *run;
    sx_found found;
    sx_run_options_init(&options);
    options.evaluations = 100000;
    sx_expect_ok(sx_run_new(m->space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, navigator));
    assert_int_equal(sx_run_result(run).stop, SX_STOP_DONE);
    assert_true(sx_run_best(run, 0, &found));
    sx_map_space_mapping(m->space, found.point, out);
    double value = found.value;
    sx_run_free(run);
    return value;
}

static void no_move_improves_the_answer(void **state) {
    (void)state;
    static const char *const archs[] = {"accel-b", "eyeriss", "edge-unified"};
    size_t moves = 0;
    for (size_t a = 0; a < 3; a++) {
        sx_small_map m;
        sx_mapping best;
        sx_small_map_open(&m, "O[m,n] += A[m,k]*B[k,n] {m:384,n:256,k:1152}", archs[a], NULL, NULL);
        double value = best_of(&m, "factorflow", &best);
        assert_true(value == value_of(&m, &best));
        for (int d = 0; d < 3; d++)
            for (int from = 0; from < best.n_levels; from++)
                for (int to = 0; to < best.n_levels; to++)
                    for (uint32_t prime = 2; prime <= 3; prime++) {
                        sx_mapping moved = best;
                        if (from == to || best.level[from].temporal[d] % prime) continue;
                        moved.level[from].temporal[d] /= prime;
                        moved.level[to].temporal[d] *= prime;
                        if (best.level[to].temporal[d] == 1)
                            continue; /* its place in the order is not known */
                        assert_true(value_of(&m, &moved) >= value);
                        moves++;
                    }
        sx_small_map_close(&m);
    }
    print_message("%zu moves tried\n", moves);
    assert_true(moves > 2);
}

static void arrays_are_filled_and_stay(void **state) {
    (void)state;
    sx_small_map m;
    sx_mapping best;
    sx_small_map_open(&m, "O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}", "accel-b", NULL, NULL);
    (void)best_of(&m, "factorflow", &best);
    double used = 1;
    for (int s = 0; s < best.n_levels; s++)
        for (int d = 0; d < best.n_dims; d++) used *= best.level[s].spatial[d];
    assert_true(used == (double)m.map->arch->compute.instances);
    sx_small_map_close(&m);
}

static void moving_the_array_is_no_worse(void **state) {
    (void)state;
    sx_small_map m;
    sx_mapping best;
    sx_small_map_open(&m, "O[m,n] += A[m,k]*B[k,n] {m:20,n:9,k:14}", "eyeriss", NULL, NULL);
    assert_true(best_of(&m, "factorflow:fanouts=moved", &best) <= best_of(&m, "factorflow", &best));
    sx_small_map_close(&m);
}

/* Every tensor is held in turn by levels above the innermost one, and no other one beside it. */
static void all_dataflows_are_tried(void **state) {
    (void)state;
    sx_small_map m;
    const sx_mapping *mapping;
    size_t held[3] = {0};
    sx_small_map_open(&m, "O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}", "edge-unified", NULL, NULL);
    (void)sx_small_map_search(&m, "factorflow", 1, 0, NULL);
    for (size_t i = 0; (mapping = sx_small_map_point(&m, i)); i++)
        for (int s = 1; s < mapping->n_levels; s++) {
            bool holds[3];
            for (int v = 0; v < 3; v++) holds[v] = sx_small_map_holds(&m, mapping, s, v);
            for (int v = 0; v < 3; v++) held[v] += holds[v] && !holds[(v + 1) % 3] && !holds[(v + 2) % 3];
        }
    for (int v = 0; v < 3; v++) assert_true(held[v] > 0);
    sx_small_map_close(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_move_improves_the_answer),
        cmocka_unit_test(arrays_are_filled_and_stay),
        cmocka_unit_test(all_dataflows_are_tried),
        cmocka_unit_test(moving_the_array_is_no_worse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
