/* Searches of any space look at the same points as ever. */
#include "support/trail.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void trails_stay(void **state) {
    static const sx_trail trails[] = {
        {"random", 100, 100, 0x710051da89c69d75},        {"anneal", 6000, 5802, 0x6b1ebba584254912},
        {"anneal:walk=1", 400, 391, 0xdad23227b34986cd}, {"genetic", 6000, 810, 0x65b86d1fd618cc7a},
        {"bayes", 120, 120, 0x639161aa7333de78},         {"ddpg", 900, 893, 0x1f650fb7bbb7231d},
        {"ensemble", 6000, 4174, 0x21ac66b6f9771229},
    };
    (void)state;
    sx_expect_trails(trails, sizeof trails / sizeof *trails);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trails_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
