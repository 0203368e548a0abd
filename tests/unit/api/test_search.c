/* Searches by the public functions alone. */
#include "support/expect.h"

#include "sextant/sextant.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct ground {
    sx_problem *problem;
    sx_arch *arch;
    sx_network *network;
    sx_options *options;
    sx_model *model;
    sx_space *space;
} ground;

static ground new_ground(const char *mapper) {
    ground g;
    sx_expect_ok(sx_problem_new(&g.problem));
    sx_expect_ok(sx_arch_new(&g.arch));
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:16,n:12,k:8}", g.problem));
    sx_expect_ok(sx_catalog_arch("eyeriss", g.arch));
    sx_expect_ok(sx_problem_bind_to(g.problem, g.arch));
    sx_expect_ok(sx_network_new("two", &g.network));
    sx_expect_ok(sx_network_add(g.network, "first", g.problem, 2));
    sx_expect_ok(sx_network_add(g.network, NULL, g.problem, 1));
    sx_expect_ok(sx_options_new(&g.options));
    sx_expect_ok(sx_options_set(g.options, "mapper", mapper));
    sx_expect_ok(sx_options_set(g.options, "evals", "400"));
    sx_expect_ok(sx_cost_model_new(g.problem, g.arch, NULL, &g.model));
    sx_expect_ok(sx_mapping_space_new(g.model, NULL, NULL, &g.space));
    return g;
}

static void free_ground(ground *g) {
    sx_space_free(g->space);
    sx_model_free(g->model);
    sx_options_free(g->options);
    sx_network_free(g->network);
    sx_arch_free(g->arch);
    sx_problem_free(g->problem);
}

static void a_network_is_mapped(void **state) {
    (void)state;
    ground g = new_ground("random");
    sx_result *result, *again;
    char *text, *text_again;
    sx_expect_ok(sx_map_network(g.network, g.arch, g.options, &result));
    assert_int_equal(sx_network_n_layers(sx_result_network(result)), 2);
    assert_string_equal(sx_network_layer_name(sx_result_network(result), 0), "first");
    assert_string_equal(sx_network_layer_name(sx_result_network(result), 1), "layer2");
    const sx_answer *best = sx_result_best(result, 0, 0);
    assert_true(sx_answer_value(best) ==
                sx_answer_total(best, SX_TOTAL_ENERGY_PJ) * sx_answer_total(best, SX_TOTAL_CYCLES));
    assert_null(sx_result_best(result, 0, 1));
    assert_null(sx_result_best(result, 2, 0));
    assert_true(sx_result_figure_of(result, 0, SX_RESULT_EVALUATIONS) == 400);
    assert_string_equal(sx_result_stop(result, 0), "evaluations");
    uint64_t evaluations = 0;
    double seconds = -1, value = 0;
    assert_true(sx_result_trace(result, 0, 0, &evaluations, &seconds, &value));
    assert_true(evaluations >= 1 && evaluations <= 400 && seconds >= 0 && value >= sx_answer_value(best));
    assert_true(sx_result_trace(result, 0, 0, NULL, NULL, NULL));
    assert_false(sx_result_trace(result, 0, 400, NULL, NULL, NULL));
    assert_false(sx_result_trace(result, 2, 0, NULL, NULL, NULL));
    sx_expect_ok(sx_result_write(result, &text));
    sx_expect_ok(sx_result_read("text", text, strlen(text), &again));
    sx_expect_ok(sx_result_write(again, &text_again));
    assert_string_equal(text, text_again);
    sx_free(text);
    sx_free(text_again);
    sx_result_free(result);
    sx_result_free(again);
    free_ground(&g);
}

/* Counts calls, and prefers few cycles. */
static double objective(void *user, const double *totals, size_t n_totals) {
    ++*(size_t *)user;
    return n_totals > SX_TOTAL_CYCLES ? totals[SX_TOTAL_CYCLES] : NAN;
}

static void own_objectives_are_minimised(void **state) {
    (void)state;
    ground g = new_ground("random");
    size_t calls = 0;
    sx_result *own, *delay;
    sx_expect_ok(sx_options_set(g.options, "threads", "1"));
    sx_expect_ok(sx_options_set_objective(g.options, "cycles", objective, &calls));
    sx_expect_ok(sx_space_search(g.space, g.options, &own));
    sx_expect_error(sx_map_network(g.network, g.arch, g.options, &delay), "sx_space_search");
    sx_expect_ok(sx_options_set_objective(g.options, NULL, NULL, NULL));
    sx_expect_ok(sx_options_set(g.options, "objective", "delay"));
    sx_expect_ok(sx_space_search(g.space, g.options, &delay));
    assert_true(calls > 100);
    assert_true(sx_answer_value(sx_result_best(own, 0, 0)) == sx_answer_value(sx_result_best(delay, 0, 0)));
    sx_result_free(own);
    sx_result_free(delay);
    free_ground(&g);
}

/* Energy alone; mappings of more than 300 cycles cannot run. */
static sx_status cost(void *user, const sx_mappings *mappings, const double *totals, size_t n_totals,
                      double *out) {
    (void)user;
    for (size_t i = 0; i < sx_mappings_count(mappings); i++, totals += n_totals)
        out[i] = totals[SX_TOTAL_CYCLES] > 300 ? INFINITY : totals[SX_TOTAL_ENERGY_PJ];
    return SX_OK;
}

static sx_status refuse(void *user, const sx_mappings *mappings, const double *totals, size_t n_totals,
                        double *out) {
    (void)user, (void)mappings, (void)totals, (void)n_totals, (void)out;
    return sx_error_new(SX_ERR_PROGRAM, "not today");
}

static void own_costs_are_minimised(void **state) {
    (void)state;
    ground g = new_ground("genetic");
    sx_result *result;
    sx_options_set_cost(g.options, cost, NULL);
    sx_expect_ok(sx_space_search(g.space, g.options, &result));
    const sx_answer *best = sx_result_best(result, 0, 0);
    assert_true(sx_answer_value(best) == sx_answer_total(best, SX_TOTAL_ENERGY_PJ));
    assert_true(sx_answer_total(best, SX_TOTAL_CYCLES) <= 300);
    sx_result_free(result);
    sx_options_set_cost(g.options, refuse, NULL);
    sx_expect_error(sx_space_search(g.space, g.options, &result), "not today");
    free_ground(&g);
}

static void steps_stay_in_the_space(void **state) {
    (void)state;
    ground g = new_ground("random");
    sx_mappings *drawn;
    sx_mapping *mapping, *same;
    char *why = NULL;
    unsigned changes = 0;
    bool changed, holds;
    sx_expect_ok(sx_mappings_new(g.problem, g.arch, 1, &drawn));
    sx_expect_ok(sx_space_draw(g.space, 5, 0, drawn));
    sx_expect_ok(sx_mapping_new(g.problem, g.arch, &mapping));
    sx_expect_ok(sx_mappings_get(drawn, 0, mapping));
    for (unsigned i = 0; i < 50; i++) {
        sx_expect_ok(sx_mapping_copy(mapping, &same));
        sx_expect_ok(sx_space_step(g.space, 1, i, mapping, &changed));
        assert_int_equal(changed, sx_mapping_hash(mapping) != sx_mapping_hash(same));
        sx_expect_ok(sx_space_holds(g.space, mapping, &holds, NULL));
        assert_true(holds);
        changes += changed;
        sx_mapping_free(same);
    }
    assert_true(changes > 10);
    sx_expect_ok(sx_mapping_set_factor(mapping, 0, SX_LOOPS_TEMPORAL, 0, 1000));
    sx_expect_ok(sx_space_holds(g.space, mapping, &holds, &why));
    assert_true(!holds && why);
    sx_free(why);
    sx_expect_error(sx_space_step(g.space, 1, 0, mapping, &changed), "not in the space");
    sx_mapping_free(mapping);
    sx_mappings_free(drawn);
    free_ground(&g);
}

static void a_proof_becomes_a_certificate(void **state) {
    (void)state;
    ground g = new_ground("optimal");
    sx_result *result;
    char *text, *why = NULL;
    bool holds;
    sx_expect_ok(sx_options_set(g.options, "evals", "0"));
    sx_expect_ok(sx_options_set(g.options, "proof", "on"));
    sx_expect_ok(sx_map_network(g.network, g.arch, g.options, &result));
    assert_true(sx_result_figure_of(result, 0, SX_RESULT_OPTIMAL) == 1);
    sx_expect_error(sx_result_certify(result, 2, NULL, &text), "no layer 2");
    sx_expect_ok(sx_result_certify(result, 0, NULL, &text));
    sx_expect_ok(sx_certificate_check("text", text, strlen(text), 1, &holds, &why));
    assert_true(holds && !why);
    sx_free(text);
    sx_result_free(result);
    free_ground(&g);
}

/* Mappers are listed by their numbers: those of any space and those of mappings, no others. */
static void mappers_are_listed(void **state) {
    (void)state;
    size_t n = 0, random = 0, optimal = 0;
    for (const char *name, *about; (name = sx_list_name(SX_LIST_MAPPERS, n, &about)); n++) {
        random += strcmp(name, "random") == 0;
        optimal += strcmp(name, "optimal") == 0;
        assert_true(strncmp(name, "place", 5) != 0 && *about);
    }
    assert_true(n > 5 && random == 1 && optimal == 1);
    assert_null(sx_list_name(SX_LIST_MAPPERS, n + 100, NULL));
}

/* Every list has its own entries: a name that only it has, and a line about each. */
static void lists_differ(void **state) {
    (void)state;
    static const char *const known[] = {"eyeriss", "conv", "resnet18", "gamma", "edp", "evals"};
    for (size_t list = SX_LIST_ARCHS; list <= SX_LIST_OPTIONS; list++)
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            bool found = false;
            const char *name, *about;
            for (size_t i = 0; (name = sx_list_name((sx_list)list, i, &about)); i++)
                found |= strcmp(name, known[k]) == 0 && *about;
            assert_int_equal(found, k == list);
        }
}

/* Fan-outs multiply to the array; levels that do not exist have none. */
static void fanouts_are_those_of_levels(void **state) {
    (void)state;
    ground g = new_ground("random");
    const int n = sx_arch_n_levels(g.arch);
    uint64_t x, y, units = 1;
    for (int s = 0; s < n; s++) {
        sx_arch_fanout(g.arch, s, &x, &y);
        units *= x * y;
    }
    assert_int_equal(units, 168);
    sx_arch_fanout(g.arch, n, &x, &y);
    assert_true(x == 0 && y == 0);
    sx_arch_fanout(g.arch, -1, &x, &y);
    assert_true(x == 0 && y == 0);
    free_ground(&g);
}

/* An error says its place; documents are asked for by their kind. */
static void inputs_have_documents_and_places(void **state) {
    (void)state;
    static const char text[] = "problem:\n  shape: [\n",
                      mapping[] = "mapping:\n  - {target: DRAM, type: temporal, factors: M=1}\n";
    sx_input *input;
    int line = 0, column = 0;
    sx_expect_ok(sx_input_new(&input));
    sx_status status = sx_input_add_text(input, "bad.yaml", text, sizeof text - 1);
    assert_non_null(status);
    assert_string_equal(sx_status_place(status, &line, &column), "bad.yaml");
    assert_true(line >= 2 && column >= 1);
    sx_status_free(status);
    sx_expect_ok(sx_input_add_text(input, "good.yaml", mapping, sizeof mapping - 1));
    for (size_t d = SX_DOCUMENT_ARCH; d <= SX_DOCUMENT_GRAPH; d++)
        assert_int_equal(sx_input_has(input, (sx_document)d), d == SX_DOCUMENT_MAPPING);
    sx_input_free(input);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_is_mapped),
        cmocka_unit_test(own_objectives_are_minimised),
        cmocka_unit_test(own_costs_are_minimised),
        cmocka_unit_test(steps_stay_in_the_space),
        cmocka_unit_test(a_proof_becomes_a_certificate),
        cmocka_unit_test(mappers_are_listed),
        cmocka_unit_test(lists_differ),
        cmocka_unit_test(fanouts_are_those_of_levels),
        cmocka_unit_test(inputs_have_documents_and_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
