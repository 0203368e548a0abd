/* What neighbours leave to be fetched, by hand. */
#include "bound/link.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Four children of a window stand one word apart. Steps of 4 along them help nobody, steps of 2 of the other dimension two of
 * them. The 6 iterations of steps of 4 may be of loops of 2, of which one in two visits has that step. */
static void the_first_loop_has_its_least_share(void **state) {
    (void)state;
    const sx_window_side side[2] = {
        {.way = 1, .n = 4, .step = 4, .times = 6, .sum = 20, .most = 5, .prime = 2},
        {.way = 1, .n = 1, .step = 2, .times = 2, .sum = 2, .most = 1, .prime = 2},
    };
    const sx_link_window w = sx_link_window_make(side, 3, 4, true), *windows[] = {&w};
    const sx_link_sum all = sx_link_sum_make(windows, 1);
    assert_true(w.first[0].own == 1 && w.first[1].own == 0.5 && all.any.own == 0.5 && all.any.groups == 0.5);
    const sx_first_loop first = sx_link_first(windows, 1, &all, 0, 0, 1);
    assert_true(first.groups == 0.75 && first.own == 0.75);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_loop_has_its_least_share)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
