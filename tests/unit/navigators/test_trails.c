/* Searches of any space look at the same points as ever. */
#include "support/trail.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void trails_stay(void **state) {
    static const sx_trail trails[] = {
        {"random", 100, 100, 0xff262b689430339b},   {"anneal", 6000, 5571, 0xf65856acb23dda01},
        {"anneal", 30, 30, 0xc0b6954d933c2de1},     {"anneal:walk=1", 400, 379, 0xb4d0a96fb72dca28},
        {"genetic", 6000, 957, 0x8034d4af08ebc65a}, {"bayes", 120, 120, 0xf4748a6ed851b517},
        {"ddpg", 900, 893, 0x3347191f6c7a92ab},     {"ensemble", 6000, 3626, 0xd57b899a26f2a37f},
    };
    (void)state;
    sx_expect_trails(trails, sizeof trails / sizeof *trails);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trails_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
