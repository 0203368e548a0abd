#include "support/compared.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

void sx_expect_compared(const char *what, uint64_t n, uint64_t least) {
    print_message("%s: %llu compared\n", what, (unsigned long long)n);
    if (n < least)
        print_error("%s: %llu are fewer than the %llu that there should be\n", what, (unsigned long long)n,
                    (unsigned long long)least);
    assert_true(n >= least);
}

void sx_expect_recorded(const char *what, double sum, double recorded) {
    print_message("%s: the first cases sum up to %.16g\n", what, sum);
    if (fabs(sum - recorded) > 1e-10 * fabs(recorded))
        fail_msg("%s: the first cases summed up to %.16g", what, recorded);
}
