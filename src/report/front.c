#include "report/figure.h"

#include "report/plot.h"
#include "report/svg.h"

/* Shapes of markers with their fill and outline: distinct in grey, too. */
enum { DOT = 0, CORNER = 1, BEST = 2 };
static const char PALE[] = "#cfd4dc", LINE[] = "#1f2a7a", MARK[] = "#e0631c", BLACK[] = "#222222";

/* Marks a point at a place of the paper: one of all, one of the front, or the best. */
static void draw_mark(int kind, double x, double y, sx_text *out) {
    if (kind == DOT) sx_svg_marker(out, 0, x, y, 3, PALE, "#8a93a3");
    if (kind == CORNER) sx_svg_marker(out, 1, x, y, 4.2, LINE, LINE);
    if (kind == BEST) sx_svg_marker(out, 2, x, y, 7, MARK, BLACK);
}

/* Whether a point has a place. */
static bool is_drawn(const sx_plot *plot, const sx_front *f, size_t i) {
    return sx_axis_scale_has(&plot->x, f->x[i]) && sx_axis_scale_has(&plot->y, f->y[i]);
}

static void mark_point(const sx_plot *plot, const sx_front *f, size_t i, int kind, sx_text *out) {
    if (is_drawn(plot, f, i))
        draw_mark(kind, sx_axis_scale_at(&plot->x, f->x[i]), sx_axis_scale_at(&plot->y, f->y[i]), out);
}

/* Draws the steps of the front, to the right edge. */
static void draw_steps(const sx_plot *plot, const sx_front *f, sx_text *out) {
    bool begun = false;
    for (size_t i = 0; i < f->n_front; i++) {
        size_t at = f->front[i];
        if (!is_drawn(plot, f, at)) continue;
        double x = sx_axis_scale_at(&plot->x, f->x[at]), y = sx_axis_scale_at(&plot->y, f->y[at]);
        if (!begun) sx_text_add(out, "<path d=\"");
        sx_svg_command(out, begun ? "H" : "M", x);
        sx_svg_command(out, begun ? "V" : " ", y);
        begun = true;
    }
    if (!begun) return;
    sx_svg_command(out, "H", plot->right);
    sx_text_add(out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", LINE);
}

/* Adds a line of the legend. */
static void add_legend_line(const sx_plot *plot, int kind, const char *name, double *y, sx_text *out) {
    double x = plot->column;
    if (!name) return;
    if (kind == CORNER) sx_svg_line(out, x, *y, x + 40, *y, "stroke=\"#1f2a7a\" stroke-width=\"2\"");
    draw_mark(kind, x + 20, *y, out);
    *y += sx_plot_name(plot, *y, name, out);
}

void sx_figure_front(const sx_axes *axes, const sx_front *f, sx_text *out) {
    sx_plot plot = {.x = {.log = axes->log_x}, .y = {.log = axes->log_y}};
    sx_column column = {0};
    const char *const names[] = {f->all_name, f->front_name, f->n > f->best ? f->best_name : NULL};
    for (size_t i = 0; i < f->n; i++) {
        if (!is_drawn(&plot, f, i)) continue;
        sx_axis_scale_include(&plot.x, f->x[i]);
        sx_axis_scale_include(&plot.y, f->y[i]);
    }
    for (int i = 0; i < 3; i++)
        if (names[i]) sx_plot_make_room(&column, names[i]);
    sx_plot_layout(&plot, axes, &column);
    sx_plot_open(&plot, axes, out);
    for (size_t i = 0; i < f->n; i++) mark_point(&plot, f, i, DOT, out);
    draw_steps(&plot, f, out);
    for (size_t i = 0; i < f->n_front; i++) mark_point(&plot, f, f->front[i], CORNER, out);
    if (f->best < f->n) mark_point(&plot, f, f->best, BEST, out);
    double y = plot.top + SX_PLOT_LINE / 2.0;
    for (int i = 0; i < 3; i++) add_legend_line(&plot, i, names[i], &y, out);
    sx_svg_close(out);
}
