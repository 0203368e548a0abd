/* The figures of the public API are those of the reports. */
#include "report/figure.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double x[] = {1, 10, 100}, y[] = {9, 5, 4};

/* Fails unless a figure has the bytes of another, a title and an end. */
static void assert_same(char *svg, sx_text *expected) {
    assert_string_equal(svg, expected->data);
    assert_non_null(strstr(svg, "a &lt;title&gt;"));
    assert_non_null(strstr(svg, "</svg>"));
    free(svg);
    sx_text_free(expected);
}

static void figures_are_those_of_the_reports(void **state) {
    (void)state;
    sx_axes axes = {"a <title>", "evaluations", "EDP", true, false};
    sx_curve curve = {.name = "gamma", .n = 3, .x = x, .mid = y};
    const size_t order[] = {0, 1, 2};
    sx_front front = {"all", "front", "best", 3, x, y, 3, order, 2};
    const char *const names[] = {"a", "b", "c"};
    sx_bars bars = {.bar_name = "energy", .n = 3, .name = names, .value = y};
    sx_text expected = {0};
    char *svg;
    sx_figure_curves(&axes, &curve, 1, &expected);
    sx_expect_ok(sx_draw_curves(&axes, &curve, 1, &svg));
    assert_same(svg, &expected);
    sx_figure_front(&axes, &front, &expected);
    sx_expect_ok(sx_draw_front(&axes, &front, &svg));
    assert_same(svg, &expected);
    sx_figure_bars(&axes, &bars, &expected);
    sx_expect_ok(sx_draw_bars(&axes, &bars, &svg));
    assert_same(svg, &expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
