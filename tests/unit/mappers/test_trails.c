/* Mappers that promise no optimum look at the same points as ever. */
#include "support/trail.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void trails_stay(void **state) {
    static const sx_trail trails[] = {
        {"pruned", 1500, 1500, 0x77e3ae19b587a6c7},
        {"timeloop_hybrid", 1500, 1500, 0x23202ffe5d07da50},
        {"timeloop_linear", 1500, 1500, 0x07f9a795ccb61101},
        {"gamma", 3000, 2943, 0xf3a461ffa18c7af8},
        {"dmaze", 1000, 177, 0x6db4a4d8f0fd8a18},
        {"interstellar", 1000, 406, 0x9d6e11353125a67c},
        {"zigzag", 1000, 223, 0xedafefae98600063},
        {"zigzag:order=salsa", 500, 96, 0xf4639ef4c4436cd7},
        {"factorflow", 3000, 329, 0xf6ad41795f08251c},
        {"factorflow:fanouts=moved", 3000, 985, 0x68e6e743fd25d1d9},
        {"sunstone", 3000, 5, 0xf99f136fc00927f7},
        {"gradient:by=model", 200, 194, 0x45ca86e3337f61c4},
    };
    (void)state;
    sx_expect_trails(trails, sizeof trails / sizeof *trails);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trails_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
