/* Estimates of components, and the tile pipeline, by the functions of the public headers. */
#include "sextant/sextant.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* An architecture of the catalog, read by an estimator's rules (NULL: none is set); the input is the caller's. */
static sx_input *read_arch(const char *name, const char *estimator, sx_arch *out) {
    sx_input *input;
    sx_expect_ok(sx_input_new(&input));
    if (estimator) sx_expect_ok(sx_input_estimate_by(input, estimator));
    sx_expect_ok(sx_input_add_arch(input, name));
    sx_expect_ok(sx_input_arch(input, out));
    return input;
}

static void an_estimator_replaces_the_energies_of_the_catalog(void **state) {
    (void)state;
    sx_arch *own, *same, *estimated;
    char *json, *tables;
    sx_expect_ok(sx_arch_new(&own));
    sx_expect_ok(sx_arch_new(&same));
    sx_expect_ok(sx_arch_new(&estimated));
    sx_expect_ok(sx_catalog_arch("scnn", own));
    sx_input *plain = read_arch("scnn", NULL, same);
    assert_true(sx_arch_equal(own, same));
    sx_input *input = read_arch("scnn", "accelergy-0.3", estimated);
    assert_false(sx_arch_equal(own, estimated));
    assert_string_equal(sx_input_energies(input), "estimate (accelergy-0.3)");
    sx_expect_ok(sx_input_estimates(input, estimated, SX_JSON, &json));
    assert_non_null(strstr(json, "\"estimator\": \"accelergy-0.3\""));
    assert_non_null(strstr(json, "\"error\""));
    sx_expect_ok(sx_input_estimates(input, estimated, SX_YAML, &tables));
    assert_non_null(strstr(tables, "ERT"));
    assert_non_null(strstr(tables, "ART"));
    sx_free(json);
    sx_free(tables);
    sx_input_free(plain);
    sx_input_free(input);
    sx_arch_free(own);
    sx_arch_free(same);
    sx_arch_free(estimated);
}

static void what_cannot_be_estimated_is_refused(void **state) {
    (void)state;
    sx_arch *arch;
    sx_input *input;
    char *text = NULL;
    sx_expect_ok(sx_arch_new(&arch));
    sx_expect_ok(sx_input_new(&input));
    sx_expect_error(sx_input_estimate_by(input, "accelergy-0.5"), "accelergy-0.5");
    sx_expect_error(sx_input_add_arch(input, "gemini"), "did you mean 'gemmini'?");
    sx_expect_error(sx_input_estimates(input, arch, SX_JSON, &text), "no architecture that was read");
    assert_null(text);
    sx_input_free(input);
    sx_arch_free(arch);
}

/* The best value by an objective, NULL where the search is refused for a reason with that part. */
static sx_result *map_gemm(const char *arch_name, const char *latency, const char *objective,
                           const char *refusal) {
    sx_arch *arch;
    sx_problem *problem;
    sx_network *network;
    sx_options *options;
    sx_result *result = NULL;
    sx_expect_ok(sx_arch_new(&arch));
    sx_expect_ok(sx_problem_new(&problem));
    sx_input *input = read_arch(arch_name, NULL, arch);
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:16,n:16,k:32}", problem));
    sx_expect_ok(sx_network_new("one", &network));
    sx_expect_ok(sx_network_add(network, NULL, problem, 1));
    sx_expect_ok(sx_options_new(&options));
    sx_expect_ok(sx_options_set(options, "latency", latency));
    sx_expect_ok(sx_options_set(options, "objective", objective));
    sx_expect_ok(sx_options_set(options, "mapper", "optimal"));
    sx_options_set_input(options, input);
    if (refusal)
        sx_expect_error(sx_map_network(network, arch, options, &result), refusal);
    else
        sx_expect_ok(sx_map_network(network, arch, options, &result));
    sx_options_free(options);
    sx_network_free(network);
    sx_problem_free(problem);
    sx_input_free(input);
    sx_arch_free(arch);
    return result;
}

/* The machine's constraints have the whole reduction inside a launch. */
static void a_network_is_mapped_by_latency(void **state) {
    (void)state;
    sx_result *result = map_gemm("gemmini", "tile", "latency,energy", NULL);
    const sx_answer *best = sx_result_best(result, 0, 0);
    const double latency = sx_answer_total(best, SX_TOTAL_LATENCY);
    assert_true(latency > 809 && latency != sx_answer_total(best, SX_TOTAL_CYCLES));
    assert_true(sx_answer_value(best) == latency);
    assert_true(sx_result_figure_of(result, 0, SX_RESULT_OPTIMAL) == 1);
    sx_result_free(result);
    assert_null(map_gemm("gemmini", "timeloop", "latency", "needs --latency tile"));
    assert_null(map_gemm("eyeriss", "tile", "edp", "has a map of `latency` keys"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_estimator_replaces_the_energies_of_the_catalog),
        cmocka_unit_test(what_cannot_be_estimated_is_refused),
        cmocka_unit_test(a_network_is_mapped_by_latency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
