/* What is proven of a layer is withdrawn where a bound is above an answer in the space that it bounds. */
#include "base/warnings.h"
#include "session/session.h"
#include "sextant/read.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What is known of a layer whose answer has the value 10, and what stays proven. Its tiles divide (`perfect`) or not. */
static const struct {
    const char *what;
    double bound, any_bound, dividing,
        dividing_bound; /* dividing: the best value of tiles that divide; 0: none is known */
    bool perfect;
    bool bound_holds, any_holds, dividing_holds;
} cases[] = {
    {"nothing", 0, 0, 0, 0, true, true, true, true},
    {"all hold", 9, 8, 0, 0, true, true, true, true},
    {"a bound above the answer", 11, 8, 0, 0, true, false, true, true},
    {"a bound of any tiles above the answer", 10, 11, 0, 0, true, true, false, true},
    {"tiles that divide have a bound above an answer that leaves remainders", 9, 0, 12, 11, false, true, true,
     true},
    {"tiles that divide have a bound above their answer", 9, 0, 12, 13, false, true, true, false},
    {"tiles that divide have a bound above an answer that divides", 9, 0, 12, 11, true, true, true, false},
};

static void false_bounds_are_withdrawn(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static sx_layer layer;
        static sx_layer_result result;
        sx_session_options options;
        sx_session_result out = {.n_layers = 1, .layer = &result};
        sx_network network = {.n_layers = 1, .layer = &layer};
        sx_arch arch = {.n_levels = 1};
        sx_session session = {.network = &network, .arch = &arch, .options = &options, .out = &out};
        layer = (sx_layer){.count = 1};
        sx_expect_ok(sx_einsum_parse("O[m] += A[m] {m:4}", &layer.problem));
        sx_session_options_init(&options);
        sx_expect_ok(sx_warnings_new(&options.run.warnings));
        sx_mapping_init(&result.best.mapping, &layer.problem, &arch);
        result = (sx_layer_result){.found = true, .best = result.best, .remainders = cases[i].dividing != 0};
        result.best.mapping.level[0].temporal[0] = cases[i].perfect ? 4 : 3;
        result.best.value = 10;
        result.summary.lower_bound = cases[i].bound;
        result.summary.optimal = result.any_optimal = result.dividing.optimal = true;
        result.any_bound = cases[i].any_bound;
        result.dividing.value = cases[i].dividing;
        result.dividing.lower_bound = cases[i].dividing_bound;
        result.proof = calloc(1, sizeof *result.proof);
        sx_session_uphold(&session, 0);
        const bool proof = result.proof != NULL, holds = cases[i].bound_holds && cases[i].any_holds;
        sx_proof_free(result.proof);
        if (result.summary.optimal != cases[i].bound_holds || result.any_optimal != cases[i].any_holds ||
            result.dividing.optimal != cases[i].dividing_holds || proof != holds ||
            (result.summary.lower_bound == cases[i].bound) != cases[i].bound_holds ||
            (result.any_bound == cases[i].any_bound) != cases[i].any_holds ||
            (result.dividing.lower_bound == cases[i].dividing_bound) != cases[i].dividing_holds ||
            sx_warnings_faulty(options.run.warnings) == (holds && cases[i].dividing_holds))
            fail_msg("%s", cases[i].what);
        sx_warnings_free(options.run.warnings);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(false_bounds_are_withdrawn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
