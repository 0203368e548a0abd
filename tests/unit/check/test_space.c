/* Which tiles have room in a memory. */
#include "check/space.h"
#include "support/check_case.h"
#include "support/expect.h"
#include "support/plain_arch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Whether whole tensors A and B of a product have room in the innermost memory, and fit there beside what else needs banks. */
static void expect_room(const char *einsum, unsigned words, unsigned banks, bool room, bool fits) {
    sx_problem problem;
    sx_arch arch;
    sx_model_options options;
    sx_checked_case checked;
    sx_check_space space;
    int64_t extent[SX_MAX_DIMS];
    unsigned keep = 0;
    sx_expect_ok(sx_einsum_parse(einsum, &problem));
    sx_plain_arch(&arch, 2);
    arch.level[0].entries = words;
    arch.level[0].banks = banks;
    sx_model_options_init(&options);
    sx_checked_case_init(&problem, &arch, &options, &checked);
    sx_expect_ok(sx_check_space_init(&space, checked.c));
    for (int d = 0; d < problem.n_dims; d++) extent[d] = problem.size[d];
    for (int v = 0; v < problem.n_tensors; v++) keep |= problem.tensor[v].output ? 0 : 1u << v;
    assert_int_equal(sx_check_has_room(&space, 0, keep, extent), room);
    assert_int_equal(sx_check_fits(&space, 0, keep, extent), fits);
    sx_check_space_fini(&space);
    sx_checked_case_fini(&checked);
}

static void tiles_need_their_words(void **state) {
    (void)state;
    expect_room("O[m,n] += A[m,k]*B[k,n] {m:4,n:4,k:4}", 31, 0, false, false);
    expect_room("O[m,n] += A[m,k]*B[k,n] {m:4,n:4,k:4}", 32, 0, true, true);
}

/* Banks of 4 words: A takes 3 of them and B one, so that O, which needs 2 and has one at least, is only bypassed where
 * there are 5. */
static void bypassed_tensors_have_a_bank(void **state) {
    (void)state;
    expect_room("O[m,n] += A[m,k]*B[k,n] {m:5,n:1,k:2}", 16, 4, true, false);
    expect_room("O[m,n] += A[m,k]*B[k,n] {m:5,n:1,k:2}", 20, 5, true, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_need_their_words),
        cmocka_unit_test(bypassed_tensors_have_a_bank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
