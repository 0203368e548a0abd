#include "support/compared.h"

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
