/* Mappers that promise no optimum look at the same points as ever. */
#include "support/trail.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void trails_stay(void **state) {
    static const sx_trail trails[] = {
        {"pruned", 1500, 1500, 0xe0309d9a3ce2a7ba},
        {"timeloop_hybrid", 1500, 1500, 0xb57e6c7729e7b75d},
        {"timeloop_linear", 1500, 1500, 0xc4e4b8589ed09b78},
        {"gamma", 3000, 2937, 0x19def7b2ab1ff4fa},
        {"dmaze", 1000, 177, 0xf41036bb81659f84},
        {"interstellar", 1000, 406, 0xe6db79d7f39736cb},
        {"zigzag", 1000, 223, 0x8f271d085bf23c16},
        {"zigzag:order=salsa", 500, 96, 0x06082c8fc0db6039},
        {"factorflow", 3000, 329, 0x5596ccb994c6f4f0},
        {"factorflow:fanouts=moved", 3000, 985, 0xba12b12cc59ea43d},
        {"sunstone", 3000, 5, 0x3e749903575697b3},
        {"gradient:by=model", 200, 194, 0x9150505e826ec85e},
    };
    (void)state;
    sx_expect_trails(trails, sizeof trails / sizeof *trails);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trails_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
