#include "report/figure.h"

#include "report/plot.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>

enum { MARKERS = 7 };

/* Whether point `i` of a curve can be drawn. */
static bool is_drawn(const sx_plot *plot, const sx_curve *curve, size_t i) {
    return sx_axis_scale_has(&plot->x, curve->x[i]) && sx_axis_scale_has(&plot->y, curve->mid[i]);
}

/* Whether point `i` also has a band. */
static bool has_band(const sx_plot *plot, const sx_curve *curve, size_t i) {
    return is_drawn(plot, curve, i) && !isnan(curve->low[i]) && !isnan(curve->high[i]);
}

/* Puts all values of a curve on the scales. */
static void include_curve(sx_plot *plot, const sx_curve *curve) {
    for (size_t i = 0; i < curve->n; i++) {
        if (!is_drawn(plot, curve, i)) continue;
        sx_axis_scale_include(&plot->x, curve->x[i]);
        sx_axis_scale_include(&plot->y, curve->mid[i]);
        if (!curve->low || !curve->high) continue;
        sx_axis_scale_include(&plot->y, curve->low[i]);
        sx_axis_scale_include(&plot->y, curve->high[i]);
    }
}

/* Whether two places look the same on paper. */
static bool same_place(double a, double b) {
    return llround(a * 100) == llround(b * 100);
}

/* Adds the steps through points first to end-1 of a line, forward or backward; a line that stays level is one
 * step. Forward, a value holds from its point on; backward the same steps are taken the other way. */
static void add_steps(const sx_plot *plot, const double *x, const double *y, size_t first, size_t end,
                      bool forward, sx_text *out) {
    double level = sx_axis_scale_at(&plot->y, y[forward ? first : end - 1]);
    for (size_t i = 1; i < end - first; i++) {
        size_t edge = forward ? first + i : end - i, to = forward ? edge : edge - 1;
        double next = sx_axis_scale_at(&plot->y, y[to]);
        if (same_place(next, level)) continue;
        sx_svg_command(out, "H", sx_axis_scale_at(&plot->x, x[edge]));
        sx_svg_command(out, "V", next);
        level = next;
    }
    sx_svg_command(out, "H", sx_axis_scale_at(&plot->x, x[forward ? end - 1 : first]));
}

/* The end of the stretch of points from `first` on that are all drawn (or banded); first where it is not. */
static size_t stretch_end(const sx_plot *plot, const sx_curve *curve, size_t first,
                          bool (*good)(const sx_plot *, const sx_curve *, size_t)) {
    while (first < curve->n && good(plot, curve, first)) first++;
    return first;
}

static void draw_band(const sx_plot *plot, const sx_curve *curve, size_t index, sx_text *out) {
    if (!curve->low || !curve->high) return;
    for (size_t first = 0, end; first < curve->n; first = end + 1) {
        end = stretch_end(plot, curve, first, has_band);
        if (end <= first + 1) continue;
        sx_text_add(out, "<path d=\"");
        sx_svg_command(out, "M", sx_axis_scale_at(&plot->x, curve->x[first]));
        sx_svg_command(out, " ", sx_axis_scale_at(&plot->y, curve->high[first]));
        add_steps(plot, curve->x, curve->high, first, end, true, out);
        sx_svg_command(out, "V", sx_axis_scale_at(&plot->y, curve->low[end - 1]));
        add_steps(plot, curve->x, curve->low, first, end, false, out);
        sx_text_add(out, "Z\" fill=\"%s\" fill-opacity=\"0.15\"/>\n", sx_plot_colour(index));
    }
}

/* Ends a path element as the line of a curve. */
static void finish_line(size_t index, sx_text *out) {
    sx_text_add(out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\"",
                sx_plot_colour(index));
    if (*sx_plot_dash(index)) sx_text_add(out, " stroke-dasharray=\"%s\"", sx_plot_dash(index));
    sx_text_add(out, "/>\n");
}

/* A curve's marker: every second curve's is hollow. */
static void mark_curve(size_t index, double x, double y, sx_text *out) {
    const char *colour = sx_plot_colour(index);
    sx_svg_marker(out, index, x, y, 4.2, index % 2 ? "#fff" : colour, colour);
}

/* Marks a stretch at even distances, which differ from curve to curve so that markers do not hide each
 * other. */
static void draw_markers(const sx_plot *plot, const sx_curve *curve, size_t first, size_t end, size_t index,
                         size_t n, sx_text *out) {
    double pace = (plot->right - plot->left) / MARKERS;
    double at = plot->left + pace * ((double)index + 0.5) / (double)n;
    double begin = sx_axis_scale_at(&plot->x, curve->x[first]),
           stop = sx_axis_scale_at(&plot->x, curve->x[end - 1]);
    size_t i = first;
    if (stop - begin < pace) at = stop;
    while (at < begin) at += pace;
    for (; at <= stop; at += pace) {
        while (i + 1 < end && sx_axis_scale_at(&plot->x, curve->x[i + 1]) <= at) i++;
        mark_curve(index, at, sx_axis_scale_at(&plot->y, curve->mid[i]), out);
    }
}

static void draw_curve(const sx_plot *plot, const sx_curve *curve, size_t index, size_t n, sx_text *out) {
    for (size_t first = 0, end; first < curve->n; first = end + 1) {
        end = stretch_end(plot, curve, first, is_drawn);
        if (end == first) continue;
        sx_text_add(out, "<path d=\"");
        sx_svg_command(out, "M", sx_axis_scale_at(&plot->x, curve->x[first]));
        sx_svg_command(out, " ", sx_axis_scale_at(&plot->y, curve->mid[first]));
        add_steps(plot, curve->x, curve->mid, first, end, true, out);
        finish_line(index, out);
        draw_markers(plot, curve, first, end, index, n, out);
    }
}

/* Draws the entry of the legend that explains a curve at `y`; returns the y of the next one. */
static double draw_key(const sx_plot *plot, const sx_curve *curve, size_t index, double y, sx_text *out) {
    const double width = SX_PLOT_INDENT - 10;
    char style[40];
    if (curve->low && curve->high) {
        snprintf(style, sizeof style, "fill=\"%s\" fill-opacity=\"0.15\"", sx_plot_colour(index));
        sx_svg_rect(out, plot->column, y - 7, width, 14, style);
    }
    sx_text_add(out, "<path d=\"");
    sx_svg_command(out, "M", plot->column);
    sx_svg_command(out, " ", y);
    sx_svg_command(out, "H", plot->column + width);
    finish_line(index, out);
    mark_curve(index, plot->column + width / 2, y, out);
    return y + sx_plot_name(plot, y, curve->name, out);
}

void sx_figure_curves(const sx_axes *axes, const sx_curve *curve, size_t n, sx_text *out) {
    sx_plot plot = {.x.log = axes->log_x, .y.log = axes->log_y};
    sx_column column = {0};
    for (size_t c = 0; c < n; c++) {
        include_curve(&plot, &curve[c]);
        sx_plot_make_room(&column, curve[c].name);
    }
    sx_plot_layout(&plot, axes, &column);
    sx_plot_open(&plot, axes, out);
    for (size_t c = 0; c < n; c++) draw_band(&plot, &curve[c], c, out);
    for (size_t c = 0; c < n; c++) draw_curve(&plot, &curve[c], c, n, out);
    double y = plot.top + 10;
    for (size_t c = 0; c < n; c++) y = draw_key(&plot, &curve[c], c, y, out);
    sx_svg_close(out);
}
