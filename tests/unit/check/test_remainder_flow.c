/* The words of an output of which each instance has a part, where loops leave remainders. */
#include "check/remainder_flow.h"
#include "support/check_case.h"
#include "support/expect.h"
#include "support/plain_arch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The words at the inner level of two, whose loops are in blocks of 2. */
static sx_wide partition_of(const char *einsum) {
    sx_problem problem;
    sx_mapping mapping;
    sx_arch arch;
    sx_model_options options;
    sx_checked_case checked;
    static sx_check_nest nest;
    sx_check_doubt doubt = {""};
    sx_plain_arch(&arch, 2);
    sx_plain_problem(einsum, &arch, &problem, &mapping);
    for (int d = 0; d < problem.n_dims; d++) {
        mapping.level[0].temporal[d] = 2;
        mapping.level[1].temporal[d] = (problem.size[d] + 1) / 2;
    }
    sx_model_options_init(&options);
    sx_checked_case_init(&problem, &arch, &options, &checked);
    assert_int_equal(sx_check_nest_build(checked.c, &mapping, &nest, &doubt), SX_COST_LEGAL);
    int output = 0;
    while (!problem.tensor[output].output) output++;
    sx_wide words = sx_check_remainder_partition(checked.c, &nest, output, 0);
    sx_checked_case_fini(&checked);
    return words;
}

static void parts_make_up_a_tensor(void **state) {
    (void)state;
    assert_true(partition_of("O[m,n] += A[m,k]*B[k,n] {m:7,n:5,k:3}") == 35);
    assert_true(partition_of("O[m] += A[m,k] {m:7,k:3}") == 7);
}

/* A stride leaves words out, and a dimension in two ranks most of them. */
static void parts_of_others_are_not_known(void **state) {
    (void)state;
    assert_true(partition_of("O[2*m] += A[m,k] {m:7,k:3}") == -1);
    assert_true(partition_of("O[m,m] += A[m,k] {m:7,k:3}") == -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_make_up_a_tensor),
        cmocka_unit_test(parts_of_others_are_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
