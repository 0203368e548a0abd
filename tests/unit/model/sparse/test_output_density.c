/* The density of an output that follows from those of its operands, by hand. */
#include "model/sparse/pass.h"
#include "support/expect.h"
#include "support/plain_arch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The density of the output of a problem with densities of A and B. */
static double output_density(const char *einsum, double a, double b) {
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    double density;
    sx_expect_ok(sx_einsum_parse(einsum, &problem));
    int v = sx_problem_tensor(&problem, "A"), w = sx_problem_tensor(&problem, "B");
    if (a < 1) sx_expect_ok(sx_tensor_set_density(&problem.tensor[v], SX_DENSITY_HYPERGEOMETRIC, a));
    if (b < 1) sx_expect_ok(sx_tensor_set_density(&problem.tensor[w], SX_DENSITY_HYPERGEOMETRIC, b));
    sx_plain_arch(&arch, 2);
    arch.sparse.gates_compute = true;
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_output_density(model, model->sparse, sx_problem_output(&problem), &density));
    sx_model_free(model);
    return density;
}

static void assert_near(double a, double b) {
    if (fabs(a - b) > 1e-12) fail_msg("%.17g, not %.17g", a, b);
}

static void exact_densities(void **state) {
    (void)state;
    /* One of four words of A, and two of B: it meets one of them in one of two cases. */
    assert_near(output_density("Z[m] += A[m,k]*B[k] {m:1,k:4}", 0.25, 0.5), 0.5);
    assert_near(output_density("Z[m] += A[m,k]*B[k] {m:1,k:4}", 0.25, 1), 1);
    /* Two of the eight words of A: a row of four has none in 6 of 28 cases. */
    assert_near(output_density("Z[m] += A[m,k]*B[k] {m:2,k:4}", 0.25, 1), 1 - 6.0 / 28);
    /* One of two words of A and one of two of B, one with each of the reduction dimensions: always one product. */
    assert_near(output_density("Z[m] += A[m,j]*B[m,k] {m:1,j:2,k:2}", 0.5, 0.5), 1);
}

/* Words of a window are used by several products: these count as independent. */
static void windows_are_taken_as_independent(void **state) {
    (void)state;
    assert_near(output_density("Z[m] += A[m,j+k]*B[m,j] {m:1,j:2,k:2}", 1.0 / 3, 1), 1 - pow(2.0 / 3, 4));
    assert_near(output_density("Z[m] += A[m,j+k]*B[m,j] {m:1,j:2,k:2}", 1.0 / 3, 0.5), 1 - pow(5.0 / 6, 4));
    /* Both have j but not all dimensions: what is left of it after the first is not known for the second. */
    assert_near(output_density("Z[m] += A[m,j,k]*B[m,j,l] {m:1,j:2,k:2,l:2}", 0.5, 0.5), 1 - pow(0.75, 8));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_densities),
        cmocka_unit_test(windows_are_taken_as_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
