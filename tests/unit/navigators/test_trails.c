/* Searches of any space look at the same points as ever. */
#include "support/trail.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void trails_stay(void **state) {
    static const sx_trail trails[] = {
        {"random", 100, 100, 0x2fff7cc582685e18},   {"anneal", 6000, 5802, 0xdb301afdfce22061},
        {"anneal", 30, 28, 0xb8caba7f97d5ec4d},     {"anneal:walk=1", 400, 391, 0x32c8c7e5352d7382},
        {"genetic", 6000, 810, 0x32c3160b797a6ba7}, {"bayes", 120, 120, 0x2402b43c58910949},
        {"ddpg", 900, 893, 0xde2bad563662fc77},     {"ensemble", 6000, 4174, 0x6b00e08878e1c905},
    };
    (void)state;
    sx_expect_trails(trails, sizeof trails / sizeof *trails);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trails_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
