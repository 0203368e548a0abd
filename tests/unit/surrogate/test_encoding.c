/* What a surrogate sees of a mapping, and what it predicts. */
#include "support/expect.h"
#include "support/small_map.h"
#include "surrogate/encoding.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CONV "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:4,c:32,k:64,r:3,s:3,p:14,q:14}"
#define NAMED "Outputs[n,k,p,q] += Inputs[n,c,p+r,q+s]*Weights[k,c,r,s] {n:4,c:32,k:64,r:3,s:3,p:14,q:14}"
#define MTTKRP "A[i,j] += B[i,k,l]*C[j,k]*D[j,l] {i:64,j:32,k:32,l:16}"

/* How many inputs and outputs an einsum has on a machine. */
static void expect_counts(const char *einsum, const char *arch, bool keep_all, size_t inputs,
                          size_t outputs) {
    const sx_map_space_options options = {.keep_all = keep_all};
    sx_small_map map;
    sx_encoding *e = calloc(1, sizeof *e);
    assert_non_null(e);
    sx_small_map_open(&map, einsum, arch, NULL, &options);
    sx_encoding_of(map.map, e);
    assert_int_equal(e->n_inputs, inputs);
    assert_int_equal(e->n_outputs, outputs);
    sx_small_map_close(&map);
    free(e);
}

static void counts_are_the_papers(void **state) {
    (void)state;
    expect_counts(CONV, "mind-mappings", true, 62, 12);
    expect_counts(MTTKRP, "mind-mappings", true, 40, 15);
}

/* Where tensors may bypass banks, there is a bit for each. */
static void what_fits_its_banks_is_an_input(void **state) {
    (void)state;
    expect_counts(CONV, "mind-mappings", false, 62 + 2 * 3, 12);
    expect_counts(MTTKRP, "mind-mappings", false, 40 + 2 * 4, 15);
}

/* Without banks: slots, orders, the axes of a planar fan-out, and a bit for each tensor that a level may keep. */
static void other_machines_follow_the_rule(void **state) {
    (void)state;
    expect_counts(CONV, "accel-b", false, 7 + 7 * 5 + 7 * 3 + 6, 12);
    expect_counts(NAMED, "eyeriss", false, 7 + 7 * 6 + 7 * 5 + 7 + 6, 9 + 3);
}

/* Every number of the vector is what its description says. */
static void inputs_are_what_they_are_said_to_be(void **state) {
    (void)state;
    sx_small_map map;
    sx_encoding *e = calloc(1, sizeof *e);
    sx_small_map_open(&map, CONV, "mind-mappings", NULL, NULL);
    void *point = malloc(map.space->point_size);
    assert_non_null(e);
    assert_non_null(point);
    sx_encoding_of(map.map, e);
    for (uint64_t i = 0; i < 200; i++) {
        double value[SX_MAX_INPUTS];
        assert_true(sx_space_sample(map.space, 1, i, point));
        sx_encode_point(map.map, point, value);
        const sx_mapping_level *level = sx_map_point(point)->level;
        for (size_t v = 0; v < e->n_inputs; v++) {
            const sx_map_value *is = &e->input[v];
            const sx_mapping_level *at = &level[is->level];
            if (is->kind == SX_VALUE_SIZE)
                assert_true(value[v] == log2(map.map->problem->size[is->which]));
            else if (is->kind == SX_VALUE_FACTOR)
                assert_true(value[v] == log2((is->spatial ? at->spatial : at->temporal)[is->which]));
            else if (is->kind == SX_VALUE_ORDER)
                assert_int_equal(at->temporal_order[lround(value[v] * 6)], is->which);
            else if (is->kind == SX_VALUE_BANKS)
                assert_true(value[v] * 16 == sx_map_banks(map.map, point, is->level)[is->which]);
            else
                assert_true(is->kind == SX_VALUE_FITS && value[v] == (at->keep >> is->which & 1));
        }
    }
    free(point);
    free(e);
    sx_small_map_close(&map);
}

/* Energies add up to the total, and nothing is below the least ratio. */
static void outputs_are_over_the_minimum(void **state) {
    (void)state;
    sx_small_map map;
    sx_model_workspace *evaluator;
    sx_encoding *e = calloc(1, sizeof *e);
    sx_cost *cost = calloc(1, sizeof *cost);
    sx_small_map_open(&map, CONV, "mind-mappings", NULL, NULL);
    sx_expect_ok(sx_model_workspace_new(map.model, &evaluator));
    void *point = malloc(map.space->point_size);
    sx_score minimum = sx_model_algorithmic_minimum(map.model);
    size_t bypassed = 0;
    sx_encoding_of(map.map, e);
    for (uint64_t i = 0; i < 200; i++) {
        double out[SX_MAX_OUTPUTS], sum = 0;
        assert_true(sx_space_sample(map.space, 2, i, point));
        assert_int_equal(sx_evaluate(evaluator, sx_map_point(point), cost).reason, SX_LEGAL);
        sx_encode_cost(e, cost, &minimum, out);
        for (size_t v = 0; v < 9; v++) {
            sum += out[v] > log2(1e-3) ? exp2(out[v]) : 0;
            bypassed += out[v] == log2(1e-3);
        }
        assert_true(fabs(sum + cost->compute_energy_pj / minimum.energy_pj - exp2(out[10])) <
                    0.02 * exp2(out[10]));
        assert_true(fabs(exp2(out[9]) - cost->utilization) < 1e-9);
        assert_true(fabs(exp2(out[11]) * minimum.cycles - (double)cost->cycles) <
                    1e-6 * (double)cost->cycles);
    }
    assert_true(bypassed > 5);
    sx_model_workspace_free(evaluator);
    free(point);
    free(cost);
    free(e);
    sx_small_map_close(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_the_papers),
        cmocka_unit_test(what_fits_its_banks_is_an_input),
        cmocka_unit_test(other_machines_follow_the_rule),
        cmocka_unit_test(inputs_are_what_they_are_said_to_be),
        cmocka_unit_test(outputs_are_over_the_minimum),
    };
    return cmocka_run_group_tests_name("encoding", tests, NULL, NULL);
}
