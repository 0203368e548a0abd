/* Run with SEXTANT_WRITE_FIGURES set to make the golden figures anew (and then look at them). */
#include "report/figure.h"

#include "base/file.h"
#include "report/axis_scale.h"
#include "report/svg.h"
#include "sextant/rng.h"
#include "support/expect.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Skips an element's name and attributes; *empty tells of a "/>". Fails the test where an attribute is not
 * well formed. */
static const char *skip_tag(const char *at, bool *empty) {
    while (*at && *at != '>' && *at != '/' && *at != ' ') at++;
    while (*at == ' ') {
        at += strcspn(at, "=>");
        assert_true(at[0] == '=' && at[1] == '"');
        at += 2 + strcspn(at + 2, "\"<");
        assert_int_equal(*at++, '"');
    }
    *empty = *at == '/';
    at += *empty;
    assert_int_equal(*at, '>');
    return at + 1;
}

/* Fails the test unless a figure is well-formed XML without anything that is no number; returns how many
 * elements it has. */
static int assert_well_formed(const sx_text *figure) {
    const char *open[16], *at = figure->data;
    int depth = 0, elements = 0;
    assert_false(figure->failed);
    assert_null(strstr(figure->data, "nan"));
    assert_null(strstr(figure->data, "inf"));
    for (; (at = strchr(at, '<'));) {
        const char *name = ++at;
        bool empty;
        if (*name == '/') {
            size_t length = strcspn(++name, ">");
            assert_true(depth > 0 && strncmp(open[--depth], name, length) == 0);
            at = name;
            continue;
        }
        at = skip_tag(at, &empty);
        elements++;
        if (!empty) open[depth++] = name;
        assert_true(depth < 16);
    }
    assert_int_equal(depth, 0);
    return elements;
}

/* How often a text holds a part. */
static int count(const sx_text *text, const char *part) {
    int n = 0;
    for (const char *at = text->data; (at = strstr(at, part)); at += strlen(part)) n++;
    return n;
}

static void assert_number(double value, int decimals, const char *expected) {
    sx_text text = {0};
    sx_svg_number(&text, value, decimals);
    assert_string_equal(text.data, expected);
    sx_text_free(&text);
}

static void numbers_are_short_and_know_no_locale(void **state) {
    (void)state;
    setlocale(LC_ALL, "de_DE.UTF-8");
    assert_number(0, 2, "0");
    assert_number(-0.001, 2, "0");
    assert_number(1.5, 2, "1.5");
    assert_number(-1.25, 2, "-1.25");
    assert_number(100, 2, "100");
    assert_number(10.05, 2, "10.05");
    assert_number(0.999, 2, "1");
    assert_number(0.000000001, 9, "0.000000001");
    assert_number(NAN, 2, "0");
    assert_number(INFINITY, 2, "0");
    assert_number(1e300, 2, "0");
    setlocale(LC_ALL, "C");
}

static void assert_escaped(const char *text, const char *expected) {
    sx_text out = {0};
    sx_svg_escape(&out, text);
    assert_string_equal(out.size ? out.data : "", expected);
    sx_text_free(&out);
}

static void text_is_escaped_and_mended(void **state) {
    (void)state;
    assert_escaped("", "");
    assert_escaped("a<b & \"c\">'d'", "a&lt;b &amp; &quot;c&quot;&gt;&#39;d&#39;");
    assert_escaped("caf\xc3\xa9 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xf0\x9f\x98\x80");
    assert_escaped("\x01\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_escaped("\xc0\xaf\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

/* The labels of a scale's ticks in a row, small ticks as dots. */
static const char *ticks_of(bool log, double low, double high) {
    static char row[2000];
    sx_axis_scale scale = {.log = log};
    sx_tick tick[128];
    sx_axis_scale_include(&scale, low);
    sx_axis_scale_include(&scale, high);
    sx_axis_scale_finish(&scale, 0, 0, 100);
    size_t n = sx_axis_scale_ticks(&scale, tick, 128), used = 0;
    row[0] = 0;
    for (size_t i = 0; i < n; i++) {
        const char *times = tick[i].digits[0] ? "x10^" : "10^";
        if (!tick[i].labelled)
            used += (size_t)snprintf(row + used, sizeof row - used, ".");
        else if (tick[i].exponent == 0)
            used += (size_t)snprintf(row + used, sizeof row - used, " %s", tick[i].digits);
        else
            used += (size_t)snprintf(row + used, sizeof row - used, " %s%s%d", tick[i].digits, times,
                                     tick[i].exponent);
        assert_true(i == 0 || tick[i].value > tick[i - 1].value);
    }
    return row;
}

static void ticks_are_round(void **state) {
    (void)state;
    assert_string_equal(ticks_of(false, 0, 1), " 0 0.2 0.4 0.6 0.8 1");
    assert_string_equal(ticks_of(false, -10, 12), " -10 -5 0 5 10");
    assert_string_equal(ticks_of(false, 0, 10000), " 0 2000 4000 6000 8000 10000");
    assert_string_equal(ticks_of(false, 0, 3e6), " 0 0.5x10^6 1x10^6 1.5x10^6 2x10^6 2.5x10^6 3x10^6");
    assert_string_equal(ticks_of(false, 1e-7, 5e-7), " 1x10^-7 2x10^-7 3x10^-7 4x10^-7 5x10^-7");
    assert_string_equal(ticks_of(true, 1, 1000), " 1........ 10........ 100........ 1000");
    assert_string_equal(ticks_of(true, 1e15, 1e17), " 10^15........ 10^16........ 10^17");
    assert_string_equal(ticks_of(true, 3e15, 3e16), ".. 5x10^15.... 10^16 2x10^16.");
    assert_string_equal(ticks_of(true, 1, 1e30), " 1 10^4 10^8 10^12 10^16 10^20 10^24 10^28");
    assert_string_equal(ticks_of(true, 1e15, 1.2e15), " 1x10^15 1.05x10^15 1.1x10^15 1.15x10^15 1.2x10^15");
}

static void scales_of_anything_have_ticks(void **state) {
    (void)state;
    static const double odd[] = {0,   -0.0, 1,     -1,    1e-320, 1e308,    -1e308,
                                 NAN, 1e15, 1e-15, 12345, 0.1,    INFINITY, -INFINITY};
    size_t n = sizeof odd / sizeof odd[0];
    for (size_t i = 0; i < n * n * 2; i++) {
        sx_axis_scale scale = {.log = i % 2};
        sx_tick tick[128];
        sx_axis_scale_include(&scale, odd[i / 2 % n]);
        sx_axis_scale_include(&scale, odd[i / 2 / n]);
        sx_axis_scale_finish(&scale, 0.05, 10, 20);
        size_t ticks = sx_axis_scale_ticks(&scale, tick, 128);
        assert_true(ticks >= 2 && ticks <= 128);
        assert_true(isfinite(scale.low) && isfinite(scale.high) && scale.low < scale.high);
        for (size_t k = 0; k < n; k++) {
            double at = sx_axis_scale_at(&scale, odd[k]);
            assert_true(at >= 10 && at <= 20);
        }
    }
}

/* Values that a best-so-far curve may meet. */
static const double x5[] = {1, 10, 100, 1000, 10000};

static void odd_data_draw_what_they_can(void **state) {
    (void)state;
    const double none[] = {NAN, INFINITY, -INFINITY, 0, -3}, some[] = {INFINITY, NAN, 4, 3, 0};
    const double low[] = {0, NAN, -1, 2, 2}, high[] = {INFINITY, 9, INFINITY, NAN, 3};
    const sx_axes plain = {NULL, NULL, NULL, false, false}, logs = {"t", "x", "y", true, true};
    const sx_curve curves[] = {
        {NULL, 0, NULL, NULL, NULL, NULL}, {"none", 5, x5, none, none, none},
        {"one", 1, x5, x5, x5, x5},        {"some", 5, x5, some, low, high},
        {"back", 5, some, x5, low, NULL},  {"flat", 5, x5 + 4, x5, x5, high},
    };
    for (size_t first = 0; first < 6; first++)
        for (size_t n = 0; first + n <= 6; n++)
            for (int axes = 0; axes < 2; axes++) {
                sx_text figure = {0};
                sx_curve five[6];
                memcpy(five, curves, sizeof five);
                five[5].n = 1;
                sx_figure_curves(axes ? &logs : &plain, five + first, n, &figure);
                assert_well_formed(&figure);
                sx_text_free(&figure);
            }
}

static void nothing_says_so(void **state) {
    (void)state;
    const sx_axes axes = {"a & b", "x", "y", true, true};
    sx_text figure = {0};
    sx_figure_curves(&axes, NULL, 0, &figure);
    assert_well_formed(&figure);
    assert_int_equal(count(&figure, "no data"), 1);
    assert_int_equal(count(&figure, "a &amp; b"), 2);
    sx_text_free(&figure);
    sx_figure_clouds(&axes, NULL, NULL, 0, &figure);
    assert_well_formed(&figure);
    assert_int_equal(count(&figure, "no data"), 1);
    sx_text_free(&figure);
}

static void curves_differ_in_more_than_colour(void **state) {
    (void)state;
    const sx_axes axes = {"many", "x", "y", true, true};
    sx_curve curve[40];
    char name[40][200];
    for (int i = 0; i < 40; i++) {
        snprintf(name[i], sizeof name[i], "mapper-%d:a-long-setting=%d,another=%d,and-a-third-one=%d", i, i,
                 i, i);
        curve[i] = (sx_curve){name[i], 5, x5, x5, NULL, NULL};
    }
    memset(name[7], 'x', 199);
    memset(name[8], 0xc3, 199);
    name[7][199] = name[8][199] = 0;
    sx_text figure = {0};
    sx_figure_curves(&axes, curve, 40, &figure);
    assert_well_formed(&figure);
    assert_int_equal(count(&figure, "\xe2\x80\xa6"), 2);
    for (int i = 0; i < 40; i++)
        if (i != 7 && i != 8) {
            char part[24];
            snprintf(part, sizeof part, ">mapper-%d:", i);
            assert_int_equal(count(&figure, part), 1);
        }
    assert_int_equal(count(&figure, "stroke-dasharray=\"7 3\""), 2 * 6);
    sx_text_free(&figure);
}

static void long_level_curves_take_few_bytes(void **state) {
    (void)state;
    enum { N = 100000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    for (int i = 0; i < N; i++) x[i] = i + 1, y[i] = 1000 - i / 10000;
    const sx_axes axes = {"long", "x", "y", false, false};
    const sx_curve curve = {"long", N, x, y, y, y};
    sx_text figure = {0};
    sx_figure_curves(&axes, &curve, 1, &figure);
    assert_well_formed(&figure);
    assert_true(figure.size < 6000);
    sx_text_free(&figure);
    free(x);
    free(y);
}

/* The figures that are kept as golden files. */
static void draw_golden_curves(sx_text *out) {
    const double a[] = {9e16, 7e16, 2e16, 1.2e16, 1.1e16}, b[] = {INFINITY, 8e16, 1e16, 7e15, 6.5e15};
    const double low[] = {8e16, 5e16, 1.5e16, 1e16, 1e16}, high[] = {9.5e16, 9e16, 3e16, 2e16, 1.3e16};
    const double low_b[] = {7e16, 6e16, 8e15, 6e15, 6e15}, high_b[] = {INFINITY, 9e16, 2e16, 9e15, 7e15};
    const sx_axes axes = {"Best so far: median and range of 5 seeds", "evaluations",
                          "EDP (pJ\xc2\xb7"
                          "cycles)",
                          true, true};
    const sx_curve curves[] = {{"random", 5, x5, a, low, high}, {"genetic", 5, x5, b, low_b, high_b}};
    sx_figure_curves(&axes, curves, 2, out);
}

static void draw_golden_clouds(sx_text *out) {
    double x[2][20], y[2][20], value[2][20];
    for (uint64_t i = 0; i < 40; i++) {
        sx_rng rng = sx_rng_stream(1, "clouds", i);
        x[i % 2][i / 2] = sx_rng_double(&rng) * 4 + (double)(i % 2);
        y[i % 2][i / 2] = sx_rng_double(&rng) * 2 - 1;
        value[i % 2][i / 2] = (double)(sx_rng_below(&rng, 1000) + 3) * 1e13;
    }
    value[0][3] = INFINITY;
    const sx_axes axes = {"Where two mappers looked", "component 1 (51%)", "component 2 (20%)", false, false};
    const sx_cloud clouds[] = {{"random", 20, x[0], y[0], value[0]}, {"genetic", 20, x[1], y[1], value[1]}};
    sx_figure_clouds(&axes, "EDP", clouds, 2, out);
}

/* The slope begins at the left edge here, and at the lower edge below, where a point lies above the roof. */
static void draw_golden_roofline(sx_text *out) {
    static const char *const name[] = {"conv1", "conv2", "fc"};
    const double x[] = {6, 90, 400}, y[] = {11, 60, 64};
    const sx_axes axes = {"Roofline", "MACs per byte", "MACs per cycle", true, true};
    sx_roofline roof = {.peak = 64,
                        .slope = 2,
                        .peak_name = "256 units",
                        .slope_name = "DRAM",
                        .n = 3,
                        .name = name,
                        .x = x,
                        .y = y};
    sx_figure_roofline(&axes, &roof, out);
}

static void draw_golden_low_roofline(sx_text *out) {
    static const char *const name[] = {"gemv"};
    const double x[] = {0.5}, y[] = {30};
    const sx_axes axes = {"Roofline", "MACs per byte", "MACs per cycle", true, true};
    sx_roofline roof = {.peak = 64,
                        .slope = 2,
                        .peak_name = "256 units",
                        .slope_name = "DRAM",
                        .n = 1,
                        .name = name,
                        .x = x,
                        .y = y};
    sx_figure_roofline(&axes, &roof, out);
}

static void draw_golden_bars(sx_text *out) {
    static const char *const name[] = {"A", "B", "a name that is long", "D"};
    const double value[] = {120, NAN, 310, 45}, tick[] = {400, 300, INFINITY, 60};
    const sx_axes axes = {"Designs", "design", "GFLOP/s", false, false};
    sx_bars bars = {.bar_name = "value",
                    .tick_name = "roof",
                    .line_name = "peak",
                    .n = 4,
                    .name = name,
                    .value = value,
                    .tick = tick,
                    .line = 500};
    sx_figure_bars(&axes, &bars, out);
}

static void draw_golden_stacks(sx_text *out) {
    static const char *const bar[] = {"one", "two"}, *const part[] = {"DRAM", "GLB", "RF"};
    const double value[] = {1, 2, 3, NAN, 0, 6.5};
    const sx_axes axes = {"Energy", "mapping", "pJ", false, false};
    sx_bars bars = {.n = 2, .name = bar, .value = value, .line = NAN, .n_parts = 3, .part_name = part};
    sx_figure_bars(&axes, &bars, out);
}

static void draw_golden_front(sx_text *out) {
    const double x[] = {1, 2, 4, 8, 3}, y[] = {900, 300, 200, 50, 800};
    const size_t corners[] = {0, 1, 2, 3};
    const sx_axes axes = {"Sizes and costs", "area", "EDP", false, true};
    const sx_front front = {"all", "front", "best", 5, x, y, 4, corners, 2};
    sx_figure_front(&axes, &front, out);
}

static const struct golden {
    const char *path;
    void (*draw)(sx_text *out);
} goldens[] = {
    {SX_TEST_DATA "/golden/figures/curves.svg", draw_golden_curves},
    {SX_TEST_DATA "/golden/figures/clouds.svg", draw_golden_clouds},
    {SX_TEST_DATA "/golden/figures/roofline.svg", draw_golden_roofline},
    {SX_TEST_DATA "/golden/figures/roofline-low.svg", draw_golden_low_roofline},
    {SX_TEST_DATA "/golden/figures/bars.svg", draw_golden_bars},
    {SX_TEST_DATA "/golden/figures/stacks.svg", draw_golden_stacks},
    {SX_TEST_DATA "/golden/figures/front.svg", draw_golden_front},
};
enum { GOLDENS = sizeof goldens / sizeof *goldens };

static void figures_are_the_golden_ones_to_the_byte(void **state) {
    (void)state;
    for (size_t i = 0; i < GOLDENS; i++) {
        sx_text figure = {0};
        char *golden;
        size_t size;
        goldens[i].draw(&figure);
        assert_well_formed(&figure);
        sx_expect_ok(sx_file_read(goldens[i].path, 1 << 20, &golden, &size));
        assert_string_equal(figure.data, golden);
        free(golden);
        sx_text_free(&figure);
    }
}

static void the_best_points_lie_on_top(void **state) {
    (void)state;
    const double at[] = {1, 2, 3}, value[] = {1, 100, 10};
    const sx_cloud cloud = {"c", 3, at, at, value};
    const sx_axes axes = {"t", "x", "y", false, false};
    sx_text figure = {0};
    sx_figure_clouds(&axes, "v", &cloud, 1, &figure);
    const char *worst = strstr(figure.data, "fill=\"#e3d85a\""),
               *best = strstr(figure.data, "fill=\"#1a1246\"");
    assert_non_null(worst);
    assert_true(worst < best);
    sx_text_free(&figure);
}

static void components_find_the_plane_of_the_points(void **state) {
    (void)state;
    enum { N = 200, SIZE = 12 };
    double vectors[N * SIZE], x[N], y[N], share[2], again[2], x2[N], y2[N];
    for (int i = 0; i < N; i++) {
        sx_rng rng = sx_rng_stream(1, "pca", (uint64_t)i);
        double a = sx_rng_double(&rng), b = sx_rng_double(&rng);
        for (int j = 0; j < SIZE; j++)
            vectors[i * SIZE + j] = j == 5 ? 7 : j < 8 ? a * (j + 1) : 1000 * b - j;
    }
    assert_true(sx_pca(vectors, N, SIZE, x, y, share));
    assert_true(fabs(share[0] + share[1] - 1) < 1e-12);
    assert_true(share[0] > 7.0 / 11 - 0.05 && share[0] < 7.0 / 11 + 0.1);
    double sums[3] = {0};
    for (int i = 0; i < N; i++) sums[0] += x[i], sums[1] += y[i], sums[2] += x[i] * y[i];
    for (int i = 0; i < 3; i++) assert_true(fabs(sums[i]) < 1e-9);
    assert_true(sx_pca(vectors, N, SIZE, x2, y2, again));
    assert_memory_equal(x, x2, sizeof x);
    assert_memory_equal(y, y2, sizeof y);
}

static void components_of_little_are_zero(void **state) {
    (void)state;
    double vectors[] = {1, 2, NAN, 1, 2, INFINITY, 1, 4, 5}, x[3] = {9}, y[3] = {9}, share[2];
    assert_true(sx_pca(vectors, 0, 3, x, y, share));
    assert_true(share[0] == 0 && share[1] == 0);
    assert_true(sx_pca(vectors, 1, 3, x, y, share));
    assert_true(x[0] == 0 && y[0] == 0);
    assert_true(sx_pca(vectors, 3, 3, x, y, share));
    assert_true(share[0] == 1 && share[1] == 0);
    assert_true(fabs(x[2] - 2 / sqrt(2)) < 1e-12 && fabs(x[0] + 1 / sqrt(2)) < 1e-12);
    assert_true(sx_pca(vectors, 3, 0, x, y, share));
}

/* Points without a place are left out, of the front too; the best lies on top. */
static void fronts_are_steps_over_all_points(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, INFINITY, 2.5}, y[] = {9, 5, 4, 1, NAN};
    const size_t corners[] = {0, 1, 2, 3};
    sx_axes axes = {"front", "area", "EDP", false, true};
    sx_front front = {"all", "front", "<best>", 5, x, y, 4, corners, 2};
    sx_text out = {0};
    sx_figure_front(&axes, &front, &out);
    assert_well_formed(&out);
    assert_non_null(strstr(out.data, "&lt;best&gt;"));
    const char *steps = strstr(out.data, "<path d=\"M");
    assert_non_null(steps);
    sx_text_free(&out);
    front = (sx_front){"all", "front", NULL, 0, x, y, 0, corners, 0};
    sx_figure_front(&axes, &front, &out);
    assert_well_formed(&out);
    assert_non_null(strstr(out.data, "no data"));
    sx_text_free(&out);
}

/* Draws n bars called b0, b1, ...; returns how many elements the figure has. */
static int draw_bars(size_t n, const double *value, const double *tick, double line, sx_text *out) {
    enum { MOST = 200 };
    static char text[MOST][40];
    const char *name[MOST];
    assert_true(n <= MOST);
    for (size_t i = 0; i < n; i++) {
        snprintf(text[i], sizeof text[i], i % 7 == 3 ? "b%zu with a name that is long" : "b%zu", i);
        name[i] = text[i];
    }
    sx_axes axes = {"bars & all", "design", "GFLOP/s", false, false};
    sx_bars bars = {.bar_name = "value",
                    .tick_name = tick ? "roof" : NULL,
                    .line_name = "peak",
                    .n = n,
                    .name = name,
                    .value = value,
                    .tick = tick,
                    .line = line};
    sx_figure_bars(&axes, &bars, out);
    return assert_well_formed(out);
}

/* What has no place is left out, and so is its line of the legend; names turn upward where they are many. */
static void bars_stand_side_by_side(void **state) {
    (void)state;
    double value[200], tick[200];
    for (int i = 0; i < 200; i++) {
        value[i] = 100 + i;
        tick[i] = 400 - i;
    }
    value[1] = NAN;
    tick[2] = INFINITY;
    sx_text out = {0};
    draw_bars(4, value, tick, 500, &out);
    assert_int_equal(count(&out, "fill=\"#9cc9ea\""), 3 + 1);
    assert_int_equal(count(&out, "stroke-width=\"2.5\""), 3 + 1);
    assert_int_equal(count(&out, "stroke-dasharray"), 2);
    assert_int_equal(count(&out, "rotate"), 1);
    assert_non_null(strstr(out.data, "bars &amp; all"));
    sx_text_free(&out);
    draw_bars(30, value, NULL, NAN, &out);
    assert_int_equal(count(&out, "stroke-width=\"2.5\"") + count(&out, "stroke-dasharray"), 0);
    assert_int_equal(count(&out, "rotate"), 30 + 1);
    assert_null(strstr(out.data, "peak"));
    sx_text_free(&out);
    draw_bars(200, value, tick, 0, &out);
    assert_true(count(&out, "rotate") < 100);
    sx_text_free(&out);
}

static void bars_of_nothing_say_so(void **state) {
    (void)state;
    const double none[] = {NAN, -1};
    sx_text out = {0};
    draw_bars(0, none, none, NAN, &out);
    assert_non_null(strstr(out.data, "no data"));
    sx_text_free(&out);
    draw_bars(2, none, none, NAN, &out);
    assert_non_null(strstr(out.data, "no data"));
    sx_text_free(&out);
}

/* Parts that have no place count as nothing; the others are stacked, and the legend names all. */
static void bars_may_be_stacks(void **state) {
    (void)state;
    static const char *const bar[] = {"a", "<b>"}, *const part[] = {"x", "y", "z"};
    const double value[] = {1, 2, 3, NAN, 0, 6};
    sx_axes axes = {"stacks", "bar", "energy", false, false};
    sx_bars bars = {.n = 2, .name = bar, .value = value, .line = NAN, .n_parts = 3, .part_name = part};
    sx_text out = {0};
    sx_figure_bars(&axes, &bars, &out);
    assert_true(assert_well_formed(&out) > 0);
    assert_int_equal(count(&out, "stroke-width=\"0.5\""), 4);
    for (int i = 0; i < 3; i++) assert_non_null(strstr(out.data, part[i]));
    assert_null(strstr(out.data, "no data"));
    sx_text_free(&out);
}

/* The roof has two sides where the bandwidth has a limit; a point without a place is left out. */
static void rooflines_have_a_ridge(void **state) {
    (void)state;
    static const char *const name[] = {"p", "q", "r"};
    const double x[] = {1, 8, NAN}, y[] = {2, 16, 3};
    sx_axes axes = {"roof", "x", "y", true, true};
    sx_roofline roof = {.peak = 16,
                        .slope = 4,
                        .peak_name = "peak",
                        .slope_name = "DRAM",
                        .n = 3,
                        .name = name,
                        .x = x,
                        .y = y};
    sx_text out = {0};
    sx_figure_roofline(&axes, &roof, &out);
    assert_true(assert_well_formed(&out) > 0);
    assert_int_equal(count(&out, "stroke-dasharray"), 2);
    assert_int_equal(count(&out, "stroke=\"#222222\"") - 4, 2 + 3);
    sx_text_free(&out);
    roof.slope = INFINITY;
    sx_figure_roofline(&axes, &roof, &out);
    assert_int_equal(count(&out, "stroke-dasharray"), 0);
    assert_null(strstr(out.data, "DRAM"));
    sx_text_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_may_be_stacks),
        cmocka_unit_test(rooflines_have_a_ridge),
        cmocka_unit_test(numbers_are_short_and_know_no_locale),
        cmocka_unit_test(text_is_escaped_and_mended),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(scales_of_anything_have_ticks),
        cmocka_unit_test(odd_data_draw_what_they_can),
        cmocka_unit_test(nothing_says_so),
        cmocka_unit_test(curves_differ_in_more_than_colour),
        cmocka_unit_test(long_level_curves_take_few_bytes),
        cmocka_unit_test(figures_are_the_golden_ones_to_the_byte),
        cmocka_unit_test(the_best_points_lie_on_top),
        cmocka_unit_test(components_find_the_plane_of_the_points),
        cmocka_unit_test(components_of_little_are_zero),
        cmocka_unit_test(fronts_are_steps_over_all_points),
        cmocka_unit_test(bars_stand_side_by_side),
        cmocka_unit_test(bars_of_nothing_say_so),
    };
    for (size_t i = 0; getenv("SEXTANT_WRITE_FIGURES") && i < GOLDENS; i++) {
        sx_text figure = {0};
        goldens[i].draw(&figure);
        sx_status_free(sx_file_write(goldens[i].path, figure.data, figure.size));
        sx_text_free(&figure);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
