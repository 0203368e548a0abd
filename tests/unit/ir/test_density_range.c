#include "support/expect.h"

#include "sextant/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void texts_are_read_and_written(void **state) {
    (void)state;
    sx_density_range range, again;
    char *text;
    sx_expect_ok(sx_density_range_parse("Weights=1,0.8,0.1", &range));
    assert_int_equal(range.n, 3);
    assert_int_equal(range.n_tensors, 1);
    assert_string_equal(range.tensor[0].name, "Weights");
    assert_int_equal(range.tensor[0].model, SX_DENSITY_FIXED_STRUCTURED);
    assert_true(range.weight[0] == 1 && range.weight[1] == 1 / 0.8 && range.weight[2] == 1 / 0.1);
    sx_expect_ok(sx_density_range_text(&range, &text));
    assert_string_equal(text, "Weights=1,0.8,0.1@1,1.25,10");
    sx_expect_ok(sx_density_range_parse(text, &again));
    assert_memory_equal(&again, &range, sizeof range);
    free(text);
    sx_expect_ok(sx_density_range_parse("A=hypergeometric:0.3,0.7,B=1,1@2,3", &range));
    assert_int_equal(range.tensor[0].model, SX_DENSITY_HYPERGEOMETRIC);
    assert_int_equal(range.n_tensors, 2);
    assert_true(range.weight[0] == 2 && range.weight[1] == 3);
    sx_expect_ok(sx_density_range_text(&range, &text));
    assert_string_equal(text, "A=hypergeometric:0.3,0.7,B=1,1@2,3");
    free(text);
}

static void others_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "Weights",
                                      "Weights=",
                                      "=1",
                                      "Weights=1,",
                                      "W=0",
                                      "W=2",
                                      "W=1,0.5@1",
                                      "W=1@1,2",
                                      "W=1,A=1,0.5",
                                      "W=x:0.5",
                                      "W=1@0",
                                      "W=1 0.5",
                                      "A=1,0.5,B=0.5,1",
                                      "W=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sx_density_range range = {.n = 99};
        sx_status status = sx_density_range_parse(bad[i], &range);
        if (!status) print_error("'%s' is read\n", bad[i]);
        assert_non_null(status);
        assert_int_equal(range.n, 99);
        sx_status_free(status);
    }
}

static void objectives_are_products(void **state) {
    (void)state;
    static const char *const bad[] = {"utilization", "last-level", "e^0.5*d", "delay,energy", "network-edp"};
    sx_density_range range;
    sx_objective objective;
    sx_expect_ok(sx_density_range_parse("W=1,0.5", &range));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sx_expect_ok(sx_objective_parse(bad[i], &objective));
        sx_status status = sx_density_range_aim(&range, &objective);
        assert_non_null(status);
        sx_status_free(status);
    }
    sx_expect_ok(sx_objective_parse("ed2p", &objective));
    sx_expect_ok(sx_density_range_aim(&range, &objective));
    assert_true(range.energy_power == 1 && range.delay_power == 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read_and_written),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(objectives_are_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
