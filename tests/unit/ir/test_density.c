#include "ir/density.h"

#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void models_have_names_and_other_names(void **state) {
    (void)state;
    for (int i = SX_DENSITY_NONE + 1; i <= SX_DENSITY_ACTUAL; i++)
        assert_int_equal(sx_density_model_named(sx_density_model_name((sx_density_model)i)), i);
    assert_int_equal(sx_density_model_named("fixed_structured"), SX_DENSITY_FIXED_STRUCTURED);
    assert_int_equal(sx_density_model_named("fixed"), SX_DENSITY_FIXED_STRUCTURED);
    assert_int_equal(sx_density_model_named("uniform"), SX_DENSITY_HYPERGEOMETRIC);
    assert_int_equal(sx_density_model_named("real_data"), SX_DENSITY_ACTUAL);
    assert_int_equal(sx_density_model_named("real-data"), SX_DENSITY_ACTUAL);
    assert_int_equal(sx_density_model_named("dense"), SX_DENSITY_NONE);
    assert_int_equal(sx_density_model_named("bande"), SX_DENSITY_NONE);
    assert_int_equal(sx_density_model_named(""), SX_DENSITY_NONE);
}

/* A name as long as the room for one, and one longer. */
static void long_names_are_none(void **state) {
    (void)state;
    char name[SX_NAME_SIZE + 1];
    memset(name, 'a', sizeof name);
    for (size_t n = SX_NAME_SIZE - 1; n <= SX_NAME_SIZE; n++) {
        name[n] = 0;
        assert_int_equal(sx_density_model_named(name), SX_DENSITY_NONE);
        name[n] = 'a';
    }
}

static void densities_are_above_0_and_at_most_1(void **state) {
    (void)state;
    sx_tensor tensor = {.name = "A", .band_width = 7, .data_hash = 3};
    static const double bad[] = {0, -0.5, 1.5, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        sx_expect_error(sx_tensor_set_density(&tensor, SX_DENSITY_HYPERGEOMETRIC, bad[i]),
                        "it must be above 0 and at most 1");
    assert_int_equal(tensor.band_width, 7);
    sx_expect_ok(sx_tensor_set_density(&tensor, SX_DENSITY_HYPERGEOMETRIC, 1));
    assert_int_equal(tensor.density_model, SX_DENSITY_HYPERGEOMETRIC);
    assert_true(tensor.density == 1);
    assert_int_equal(tensor.band_width, 0);
    assert_int_equal(tensor.data_hash, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_have_names_and_other_names),
        cmocka_unit_test(long_names_are_none),
        cmocka_unit_test(densities_are_above_0_and_at_most_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
