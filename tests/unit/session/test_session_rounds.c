/* The time that proven layers leave goes to the one that is open. */
#include "session/session.h"
#include "support/expect.h"
#include "support/small_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const double SECONDS = 0.8;

static void parse(const char *einsum, const char *name, sx_layer *out) {
    *out = (sx_layer){.count = 1};
    snprintf(out->name, sizeof out->name, "%s", name);
    sx_expect_ok(sx_einsum_parse(einsum, &out->problem));
}

static void spends_what_is_left(void **state) {
    (void)state;
    static sx_layer layers[2];
    static sx_arch arch;
    sx_session_options options;
    sx_session_result result;
    parse("O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:16,k:720,c:720,p:120,q:120,r:7,s:7}", "open",
          &layers[0]);
    parse("O[m,n] += A[m,k]*B[k,n] {m:4,n:4,k:4}", "proven", &layers[1]);
    sx_network network = {.name = "two", .layer = layers, .n_layers = 2};
    sx_expect_ok(sx_catalog_arch("simba", &arch));
    sx_session_options_init(&options);
    options.run.seconds = SECONDS;
    sx_expect_ok(sx_session_run(&network, &arch, &options, &result));
    assert_true(result.complete && result.found);
    assert_true(result.layer[1].summary.optimal);
    assert_false(result.layer[0].summary.optimal);
    assert_true(result.layer[0].summary.seconds > 0.7 * SECONDS);
    for (size_t i = 1; i < result.layer[0].n_trace; i++) {
        const sx_trace_point *at = &result.layer[0].trace[i];
        assert_true(at->value < at[-1].value && at->evaluations >= at[-1].evaluations);
    }
    assert_true(result.layer[0].trace[result.layer[0].n_trace - 1].value == result.layer[0].best.value);
    sx_session_result_fini(&result);
}

/* Half of the time is for all layers alike, half by their compulsory minimum and how often they run. */
static void weighs_layers_by_cost(void **state) {
    (void)state;
    static sx_layer layers[3];
    static sx_layer_result results[3];
    static sx_arch arch;
    size_t first[] = {0, 1, 0};
    sx_session_options options;
    sx_session_result out = {.layer = results, .n_layers = 3};
    parse("O[m,n] += A[m,k]*B[k,n] {m:8,n:8,k:8}", "small", &layers[0]);
    parse("O[m,n] += A[m,k]*B[k,n] {m:512,n:512,k:512}", "large", &layers[1]);
    layers[2] = layers[0];
    sx_network network = {.name = "three", .layer = layers, .n_layers = 3};
    sx_expect_ok(sx_catalog_arch("eyeriss", &arch));
    sx_session_options_init(&options);
    sx_session session = {
        .network = &network, .arch = &arch, .options = &options, .out = &out, .first = first};
    sx_expect_ok(sx_session_weigh(&session));
    assert_null(session.weight);
    options.run.seconds = SECONDS;
    sx_expect_ok(sx_session_weigh(&session));
    assert_true(session.weight[0] > 0.5 && session.weight[0] < 0.51);
    assert_true(session.weight[1] > 1.49 && session.weight[1] < 1.5);
    double before = session.weight[0];
    free(session.weight);
    layers[2].count = 99;
    sx_expect_ok(sx_session_weigh(&session));
    assert_true(session.weight[0] - 0.5 > 40 * (before - 0.5));
    free(session.weight);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spends_what_is_left),
                                       cmocka_unit_test(weighs_layers_by_cost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
