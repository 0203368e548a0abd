#include "support/expect.h"
#include "support/learn_state.h"
#include "support/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void every_backend_of_ours_and_every_number_of_threads_ends_in_the_same_bits(void **state) {
    (void)state;
    for (unsigned threads = 0; threads <= 4; threads += SX_SANITIZED ? 3 : 1) {
        uint64_t own, plain;
        sx_expect_ok(sx_learn_state(SX_MATRIX_OWN, threads, &own));
        sx_expect_ok(sx_learn_state(SX_MATRIX_PLAIN, threads, &plain));
        if (own != SX_LEARN_STATE) fail_msg("%u threads end in 0x%016llx", threads, (unsigned long long)own);
        assert_true(plain == SX_LEARN_STATE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_backend_of_ours_and_every_number_of_threads_ends_in_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
