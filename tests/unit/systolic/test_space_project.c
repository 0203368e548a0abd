/* Points nearest to vectors. */
#include "support/expect.h"

#include "sextant/all.h"
#include "sextant/space_type.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Any vector has a legal projection, also one of numbers that are not finite. */
static void wild_vectors_have_projections(void **state) {
    (void)state;
    static const double wild[] = {NAN, INFINITY, -INFINITY, 1e300, -1, 3.5};
    enum { N_WILD = sizeof wild / sizeof *wild };
    sx_systolic_kernel kernel;
    sx_device device;
    sx_space *space;
    sx_expect_ok(sx_systolic_matrix(64, 48, 32, &kernel));
    sx_expect_ok(sx_catalog_device("u250", &device));
    sx_expect_ok(sx_systolic_space_new(&kernel, 1, &device, NULL, &space));
    double *values = calloc(sx_space_n_values(space), sizeof *values);
    void *point = malloc(sx_space_point_size(space));
    assert_true(values && point);
    for (size_t first = 0; first < 2 * N_WILD; first++) {
        for (size_t i = 0; i < sx_space_n_values(space); i++)
            values[i] = wild[first < N_WILD ? first : (first + i) % N_WILD];
        assert_true(sx_space_project(space, values, point));
        assert_true(sx_space_legal(space, point, NULL, 0));
    }
    free(point);
    free(values);
    sx_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(wild_vectors_have_projections)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
