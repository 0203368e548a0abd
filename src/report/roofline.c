#include "report/figure.h"

#include "report/plot.h"
#include "report/svg.h"

#include <math.h>

static const char PEAK[] = "stroke=\"#222222\" stroke-width=\"2\"",
                  SLOPE[] = "stroke=\"#222222\" stroke-width=\"2\" stroke-dasharray=\"7 3\"";
enum { MAX_NAMED = 14 }; /* points that the legend names one by one */

/* Whether a point has a place. */
static bool is_drawn(const sx_roofline *r, size_t i) {
    return isfinite(r->x[i]) && isfinite(r->y[i]) && r->x[i] > 0 && r->y[i] > 0;
}

/* Widens the scales to hold the points and the ridge of the roof. */
static void include_all(const sx_roofline *r, sx_plot *plot) {
    double ridge = r->peak / r->slope;
    if (isfinite(r->slope)) sx_axis_scale_include(&plot->x, ridge / 4);
    if (isfinite(r->slope)) sx_axis_scale_include(&plot->x, ridge * 4);
    sx_axis_scale_include(&plot->y, r->peak);
    sx_axis_scale_include(&plot->y, r->peak / 10);
    for (size_t i = 0; i < r->n; i++) {
        if (!is_drawn(r, i)) continue;
        sx_axis_scale_include(&plot->x, r->x[i]);
        sx_axis_scale_include(&plot->y, r->y[i]);
    }
}

/* Draws the roof: the slope up to the ridge, the peak from there. */
static void draw_roof(const sx_plot *plot, const sx_roofline *r, sx_text *out) {
    double ridge = isfinite(r->slope) ? r->peak / r->slope : 0, low = plot->y.low / r->slope;
    double top = sx_axis_scale_at(&plot->y, r->peak), from = sx_axis_scale_at(&plot->x, ridge);
    sx_svg_line(out, from, top, plot->right, top, PEAK);
    if (!isfinite(r->slope)) return;
    double start = fmax(low, plot->x.low);
    sx_svg_line(out, sx_axis_scale_at(&plot->x, start), sx_axis_scale_at(&plot->y, start * r->slope), from,
                top, SLOPE);
}

/* The colour and shape of a point. */
static void mark_point(size_t i, double x, double y, sx_text *out) {
    sx_svg_marker(out, i, x, y, 5, sx_plot_colour(i), "#222222");
}

/* Adds the roof and the points to the legend. */
static void add_legend(const sx_plot *plot, const sx_roofline *r, sx_text *out) {
    double x = plot->column, y = plot->top + SX_PLOT_LINE / 2.0;
    sx_svg_line(out, x, y, x + 40, y, PEAK);
    y += sx_plot_name(plot, y, r->peak_name, out);
    if (isfinite(r->slope)) {
        sx_svg_line(out, x, y, x + 40, y, SLOPE);
        y += sx_plot_name(plot, y, r->slope_name, out);
    }
    for (size_t i = 0; i < r->n && r->n <= MAX_NAMED; i++) {
        mark_point(i, x + 20, y, out);
        y += sx_plot_name(plot, y, r->name[i], out);
    }
}

void sx_figure_roofline(const sx_axes *axes, const sx_roofline *r, sx_text *out) {
    sx_plot plot = {.x = {.log = true}, .y = {.log = true}};
    sx_column column = {0};
    include_all(r, &plot);
    sx_plot_make_room(&column, r->peak_name);
    if (isfinite(r->slope)) sx_plot_make_room(&column, r->slope_name);
    for (size_t i = 0; i < r->n && r->n <= MAX_NAMED; i++) sx_plot_make_room(&column, r->name[i]);
    sx_plot_layout(&plot, axes, &column);
    sx_plot_open(&plot, axes, out);
    draw_roof(&plot, r, out);
    for (size_t i = 0; i < r->n; i++)
        if (is_drawn(r, i))
            mark_point(i, sx_axis_scale_at(&plot.x, r->x[i]), sx_axis_scale_at(&plot.y, r->y[i]), out);
    add_legend(&plot, r, out);
    sx_svg_close(out);
}
