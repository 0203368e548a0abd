/* Searches of any space look at the same points as ever. */
#include "support/trail.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void trails_stay(void **state) {
    static const sx_trail trails[] = {
        {"random", 100, 100, 0x446c8a424b9db0e7},   {"anneal", 6000, 5571, 0x2f06af29e78c8d51},
        {"anneal", 30, 30, 0xb307fbb6c3ec166d},     {"anneal:walk=1", 400, 379, 0x76844317ee477110},
        {"genetic", 6000, 957, 0x9f6b1bd12d4abf0e}, {"bayes", 120, 120, 0x2402b43c58910949},
        {"ddpg", 900, 893, 0xde2bad563662fc77},     {"ensemble", 6000, 3626, 0xe84592842f0a26c3},
    };
    (void)state;
    sx_expect_trails(trails, sizeof trails / sizeof *trails);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trails_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
