#include "report/figure.h"

#include "report/plot.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    NAME_CHARACTERS = 18, /* of a bar's name, at most */
    FLAT_CHARACTERS = 46, /* of all names together, if side by side */
    BELOW_AXIS = 10,      /* names begin here */
    LABEL_ROOM = 28,      /* of the label of the axis, below the names */
    LEAST_PITCH = 10,     /* from name to name */
};
static const double CHARACTER = 6.6; /* its width */
static const char BAR[] = "fill=\"#9cc9ea\" stroke=\"#1f2a7a\"",
                  TICK[] = "stroke=\"#222222\" stroke-width=\"2.5\"",
                  LINE[] = "stroke=\"#e0631c\" stroke-width=\"2\" stroke-dasharray=\"7 3\"";

/* The text below the axis. */
typedef struct names {
    bool upward;
    double height;
    size_t every; /* write every nth */
} names;

static bool is_drawn(double value) {
    return isfinite(value) && value >= 0;
}

/* How many characters of a name are written. */
static size_t length_of(const char *name) {
    size_t n = 0;
    for (; *name; name++) n += ((unsigned char)*name & 0xc0) != 0x80;
    return n < NAME_CHARACTERS ? n : NAME_CHARACTERS;
}

/* Copies a name, cut where it is too long. */
static void cut_name(const char *name, sx_text *out) {
    size_t n = 0, size = 0;
    for (; name[size]; size++) {
        n += ((unsigned char)name[size] & 0xc0) != 0x80;
        if (n >= NAME_CHARACTERS && name[size + 1]) break;
    }
    sx_text_add_bytes(out, name, size);
    if (name[size]) sx_text_add(out, "\xe2\x80\xa6");
}

/* The middle of bar number i. */
static double middle_of(const sx_plot *plot, const sx_bars *b, size_t i) {
    return plot->left + (plot->right - plot->left) * ((double)i + 0.5) / (double)b->n;
}

/* How the names are written: side by side where there is room, otherwise upward. */
static names lay_names(const sx_plot *plot, const sx_bars *b) {
    size_t longest = 0, all = 0;
    names laid = {.every = 1};
    for (size_t i = 0; i < b->n; i++) {
        size_t length = length_of(b->name[i]);
        all += length + 2;
        if (length > longest) longest = length;
    }
    laid.upward = all > FLAT_CHARACTERS;
    laid.height = laid.upward ? CHARACTER * (double)longest + 4 : 16;
    double pitch = (plot->right - plot->left) / (double)(b->n ? b->n : 1);
    if (laid.upward && pitch < LEAST_PITCH) laid.every = (size_t)ceil(LEAST_PITCH / pitch);
    return laid;
}

/* Writes the names and the label of the axis. */
static void write_names(const sx_plot *plot, const sx_axes *axes, const sx_bars *b, const names *laid,
                        sx_text *out) {
    for (size_t i = 0; i < b->n; i += laid->every) {
        double x = middle_of(plot, b, i), y = plot->bottom + BELOW_AXIS;
        sx_text name = {0};
        cut_name(b->name[i], &name);
        out->failed |= name.failed;
        if (name.data && laid->upward)
            sx_svg_text_upward(out, x + 4, y + CHARACTER * (double)length_of(b->name[i]) / 2,
                               "font-size=\"12\"", name.data);
        else if (name.data)
            sx_svg_text(out, x, y + 10, SX_ANCHOR_MIDDLE, "font-size=\"12\"", name.data);
        sx_text_free(&name);
    }
    if (axes->x_label)
        sx_svg_text(out, (plot->left + plot->right) / 2,
                    plot->bottom + BELOW_AXIS + laid->height + LABEL_ROOM / 2.0 + 4, SX_ANCHOR_MIDDLE,
                    "font-size=\"14\"", axes->x_label);
}

/* The value of part k of bar i; what is not drawn counts as nothing. */
static double part_of(const sx_bars *b, size_t i, size_t k) {
    double value = b->value[i * b->n_parts + k];
    return is_drawn(value) ? value : 0;
}

/* Draws the parts of a bar, the first at the bottom. */
static void draw_stack(const sx_plot *plot, const sx_bars *b, size_t i, double x, double width,
                       sx_text *out) {
    double sum = 0;
    for (size_t k = 0; k < b->n_parts; k++) {
        char style[64];
        double from = sx_axis_scale_at(&plot->y, sum),
               to = sx_axis_scale_at(&plot->y, sum += part_of(b, i, k));
        snprintf(style, sizeof style, "fill=\"%s\" stroke=\"#ffffff\" stroke-width=\"0.5\"",
                 sx_plot_colour(k));
        if (from > to) sx_svg_rect(out, x - width / 2, to, width, from - to, style);
    }
}

/* Draws a bar and its tick. */
static void draw_bar(const sx_plot *plot, const sx_bars *b, size_t i, sx_text *out) {
    double x = middle_of(plot, b, i), pitch = (plot->right - plot->left) / (double)b->n;
    double width = fmin(0.7 * pitch, 60), reach = fmin(0.4 * pitch, 38);
    if (b->n_parts) {
        draw_stack(plot, b, i, x, width, out);
    } else if (b->bar_name && is_drawn(b->value[i])) {
        double top = sx_axis_scale_at(&plot->y, b->value[i]);
        sx_svg_rect(out, x - width / 2, top, width, plot->bottom - top, BAR);
    }
    if (!b->tick_name || !is_drawn(b->tick[i])) return;
    double at = sx_axis_scale_at(&plot->y, b->tick[i]);
    sx_svg_line(out, x - reach, at, x + reach, at, TICK);
}

/* Adds a line of the legend, number 0 to 2: bar, tick, line. */
static void add_legend_line(const sx_plot *plot, int kind, const char *name, double *y, sx_text *out) {
    double x = plot->column;
    if (!name) return;
    if (kind == 0) sx_svg_rect(out, x + 12, *y - 7, 16, 14, BAR);
    if (kind == 1) sx_svg_line(out, x + 8, *y, x + 32, *y, TICK);
    if (kind == 2) sx_svg_line(out, x, *y, x + 40, *y, LINE);
    *y += sx_plot_name(plot, *y, name, out);
}

/* Adds a line of the legend for each part, the topmost first. */
static void explain_parts(const sx_plot *plot, const sx_bars *b, double *y, sx_text *out) {
    for (size_t k = b->n_parts; k-- > 0;) {
        char style[32];
        snprintf(style, sizeof style, "fill=\"%s\"", sx_plot_colour(k));
        sx_svg_rect(out, plot->column + 12, *y - 7, 16, 14, style);
        *y += sx_plot_name(plot, *y, b->part_name[k], out);
    }
}

/* Includes a bar with its tick in the scale. */
static void include_bar(const sx_bars *b, size_t i, sx_plot *plot) {
    double value = b->n_parts || !b->bar_name ? NAN : b->value[i];
    if (b->n_parts) value = 0;
    for (size_t k = 0; k < b->n_parts; k++) value += part_of(b, i, k);
    const double values[] = {value, b->tick_name ? b->tick[i] : NAN};
    for (int v = 0; v < 2; v++) {
        if (!is_drawn(values[v])) continue;
        plot->x.used = true;
        sx_axis_scale_include(&plot->y, values[v]);
    }
}

void sx_figure_bars(const sx_axes *axes, const sx_bars *b, sx_text *out) {
    sx_plot plot = {.named = true};
    sx_column column = {0};
    bool line = b->line_name && is_drawn(b->line);
    const char *const legend[] = {b->bar_name, b->tick_name, line ? b->line_name : NULL};
    sx_axis_scale_include(&plot.y, 0);
    if (line) sx_axis_scale_include(&plot.y, b->line);
    for (size_t i = 0; i < b->n; i++) include_bar(b, i, &plot);
    for (int i = 0; i < 3; i++)
        if (legend[i]) sx_plot_make_room(&column, legend[i]);
    for (size_t k = 0; k < b->n_parts; k++) sx_plot_make_room(&column, b->part_name[k]);
    sx_plot_layout(&plot, axes, &column);
    plot.y.low = 0;
    names laid = lay_names(&plot, b);
    plot.height = fmax(plot.height, plot.bottom + BELOW_AXIS + laid.height + LABEL_ROOM);
    sx_plot_open(&plot, axes, out);
    for (size_t i = 0; i < b->n; i++) draw_bar(&plot, b, i, out);
    if (line) {
        double at = sx_axis_scale_at(&plot.y, b->line);
        sx_svg_line(out, plot.left, at, plot.right, at, LINE);
    }
    write_names(&plot, axes, b, &laid, out);
    double y = plot.top + SX_PLOT_LINE / 2.0;
    explain_parts(&plot, b, &y, out);
    for (int i = 0; i < 3; i++) add_legend_line(&plot, i, legend[i], &y, out);
    sx_svg_close(out);
}
