/* Boxes of tiles: counts. What a search of a box finds is compared with brute force by
 * tests/property/test_systolic_exact.c. */
#include "systolic/tile_box.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void counts_stop_where_runs_can_still_add_them(void **state) {
    (void)state;
    assert_true(sx_tile_times(1u << 31, 1u << 16) == (uint64_t)1 << 47);
    assert_true(sx_tile_times((uint64_t)1 << 47, 3) == (uint64_t)1 << 48);
    assert_true(sx_tile_times((uint64_t)1 << 62, 4) == (uint64_t)1 << 48);
    assert_true(sx_tile_times(0, UINT64_MAX) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_stop_where_runs_can_still_add_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
