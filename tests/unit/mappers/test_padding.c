/* Remainders out of padded sizes: what they must find, and what they may take. */
#include "sextant/input.h"
#include "sextant/session.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Searches a problem on a machine of the catalog, with or without remainders; the best value. */
static double search_layer(const char *machine, const char *einsum, bool remainders, uint64_t evaluations,
                           sx_run_summary *summary) {
    static sx_layer layer;
    static sx_arch arch;
    sx_network network = {.name = "layer", .n_layers = 1, .layer = &layer};
    sx_session_result result;
    sx_session_options options;
    sx_session_options_init(&options);
    layer = (sx_layer){.count = 1};
    sx_expect_ok(sx_einsum_parse(einsum, &layer.problem));
    sx_expect_ok(sx_catalog_arch(machine, &arch));
    options.mapper = "auto:gamma=0,effort=1";
    options.run.evaluations = evaluations;
    options.space.remainders = remainders;
    sx_expect_ok(sx_session_run(&network, &arch, &options, &result));
    assert_true(result.layer[0].found);
    double value = result.layer[0].best.value;
    *summary = result.layer[0].summary;
    sx_session_result_fini(&result);
    return value;
}

/* Without Gamma's help padding finds what is known to be there. */
static void padding_finds_known_gains(void **state) {
    (void)state;
    static const struct {
        const char *machine, *einsum;
        double gain;
    } known[] = {{"eyeriss", "Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:127,n:127,k:127}", 496},
                 {"edge-unified", "Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:17,n:23,k:27}", 21.3},
                 {"eyeriss", "Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:13,n:1000,k:512}", 1.1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        sx_run_summary summary;
        double without = search_layer(known[i].machine, known[i].einsum, false, 0, &summary);
        double with = search_layer(known[i].machine, known[i].einsum, true, 0, &summary);
        assert_true(without / with >= known[i].gain);
        assert_true(summary.lower_bound <= with * (1 + 1e-12));
    }
}

/* Where remainders were not asked for a padded problem gives the gain of a layer whose units are mostly busy. */
static void brief_padding_finds_a_known_gain(void **state) {
    (void)state;
    static sx_layer layer = {.count = 1};
    static sx_arch arch;
    sx_network network = {.name = "layer", .n_layers = 1, .layer = &layer};
    sx_session_result result;
    sx_session_options options;
    sx_session_options_init(&options);
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:197,n:197,k:64}", &layer.problem));
    sx_expect_ok(sx_catalog_arch("accel-a", &arch));
    options.mapper = "auto:effort=0.001,gamma=2000";
    options.widen = true;
    sx_expect_ok(sx_session_run(&network, &arch, &options, &result));
    assert_true(result.layer[0].remainders);
    assert_true(result.layer[0].dividing.value / result.layer[0].best.value > 1.45);
    sx_session_result_fini(&result);
}

/* Searches of padded sizes count: no budget is exceeded. */
static void padded_searches_count(void **state) {
    (void)state;
    for (uint64_t n = 1000; n <= 100000; n *= 10) {
        sx_run_summary summary;
        search_layer("eyeriss", "Outputs[m,n] += Inputs[m,k]*Weights[k,n] {m:13,n:100,k:51}", true, n,
                     &summary);
        assert_true(summary.evaluations <= n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padding_finds_known_gains),
        cmocka_unit_test(brief_padding_finds_a_known_gain),
        cmocka_unit_test(padded_searches_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
