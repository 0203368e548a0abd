/* Searches of any space look at the same points as ever. */
#include "support/trail.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void trails_stay(void **state) {
    static const sx_trail trails[] = {
        {"random", 100, 100, 0x446c8a424b9db0e7},   {"anneal", 6000, 5471, 0x82909daa7856cb85},
        {"anneal", 30, 29, 0xb2e6167aaa62a35c},     {"anneal:walk=1", 400, 377, 0xe47354e6c53e9268},
        {"genetic", 6000, 957, 0x9f6b1bd12d4abf0e}, {"bayes", 120, 120, 0x2402b43c58910949},
        {"ddpg", 900, 893, 0xde2bad563662fc77},     {"ensemble", 6000, 2843, 0x7a2665c2346795fc},
    };
    (void)state;
    sx_expect_trails(trails, sizeof trails / sizeof *trails);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trails_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
