/* Mappers that promise no optimum look at the same points as ever. */
#include "support/trail.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void trails_stay(void **state) {
    static const sx_trail trails[] = {
        {"pruned", 1500, 1500, 0xeeb7307af4be71e3},
        {"timeloop_hybrid", 1500, 1500, 0x92efb935cacf76bc},
        {"timeloop_linear", 1500, 1500, 0x7bb9f00483a9f447},
        {"gamma", 3000, 2943, 0x089c6f2447e5cc78},
        {"dmaze", 1000, 177, 0xcb9779cc00e29710},
        {"interstellar", 1000, 406, 0x4c38c7ed6ae5b58a},
        {"zigzag", 1000, 223, 0x962985bd82e2537d},
        {"zigzag:order=salsa", 500, 96, 0xada1417f10aaac6b},
        {"factorflow", 3000, 329, 0xf1aea43f26416a54},
        {"factorflow:fanouts=moved", 3000, 985, 0x1aad314a01a1a37f},
        {"sunstone", 3000, 5, 0x7048f42ee0bdcdbf},
        {"gradient:by=model", 200, 194, 0xd036753645c32bd4},
    };
    (void)state;
    sx_expect_trails(trails, sizeof trails / sizeof *trails);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trails_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
