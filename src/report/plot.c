/* Sizes are in units of which 720 make the width of a page: letters come out at 9 points. */
#include "report/plot.h"

#include "report/svg.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    FRAME_WIDTH = 500,
    FRAME_HEIGHT = 330,
    LEFT = 82,
    TOP = 46,
    TOP_UNTITLED = 18,
    BELOW = 58,
    GAP = 20,
    EDGE = 14,
    NAME_CHARACTERS = 32,
    NAME_LINES = 4,
    NAME_LINE = 15, /* from line to line of a name */
};

/* Colours are as far apart in lightness as eight can be (L* 21 to 75), so that they differ in grey; the
 * numbers of colours, dashes and markers have no common divisor, so that it takes many curves to repeat all
 * three. */
static const char *const colours[] = {
    "#1f2a7a", "#e0631c", "#0b6e5f", "#e9b000", "#7d1d6f", "#57aee6", "#9c5a3c", "#8f8f8f",
};
static const char *const dashes[] = {"", "7 3", "2 2.5", "10 3 2 3", "14 4", "5 2 1.5 2 1.5 2", "4 5"};

const char *sx_plot_colour(size_t index) {
    return colours[index % (sizeof colours / sizeof colours[0])];
}

const char *sx_plot_dash(size_t index) {
    return dashes[index % (sizeof dashes / sizeof dashes[0])];
}

/* How many characters the first `size` bytes of a text are. */
static size_t characters_in(const char *text, size_t size) {
    size_t n = 0;
    for (size_t i = 0; i < size && text[i]; i++) n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

/* The bytes of the first line of a name: all of it if it fits, else what comes before the last good place to
 * break it. */
static size_t first_line(const char *name) {
    size_t size = 0;
    while (name[size] && characters_in(name, size + 1) <= NAME_CHARACTERS) size++;
    if (!name[size]) return size;
    for (size_t at = size; at > 1; at--)
        if (strchr(" ,:;+", name[at - 1])) return at;
    return size;
}

void sx_plot_make_room(sx_column *column, const char *name) {
    const char *at = name ? name : "";
    column->height += SX_PLOT_LINE - NAME_LINE;
    for (int line = 0; line < NAME_LINES && (line == 0 || *at); line++) {
        size_t size = first_line(at), characters = characters_in(at, size);
        if (characters > column->characters) column->characters = characters;
        column->height += NAME_LINE;
        at += size;
    }
}

double sx_plot_name(const sx_plot *plot, double y, const char *name, sx_text *out) {
    const char *at = name ? name : "";
    double x = plot->column + SX_PLOT_INDENT, below = SX_PLOT_LINE;
    for (int line = 0; line < NAME_LINES && *at; line++) {
        sx_text part = {0};
        size_t size = first_line(at);
        sx_text_add_bytes(&part, at, size);
        at += size;
        if (line == NAME_LINES - 1 && *at) sx_text_add(&part, " \xe2\x80\xa6");
        out->failed |= part.failed;
        if (part.data) sx_svg_text(out, x, y + 4.5 + line * NAME_LINE, SX_ANCHOR_START, "", part.data);
        sx_text_free(&part);
        below = SX_PLOT_LINE + line * NAME_LINE;
    }
    return below;
}

void sx_plot_layout(sx_plot *plot, const sx_axes *axes, const sx_column *column) {
    size_t title = axes->title ? characters_in(axes->title, SIZE_MAX) : 0;
    double name_width = SX_PLOT_INDENT + 7.9 * (double)column->characters, title_width = 10.2 * (double)title;
    plot->left = LEFT;
    plot->top = title ? TOP : TOP_UNTITLED;
    plot->right = plot->left + FRAME_WIDTH;
    plot->bottom = plot->top + FRAME_HEIGHT;
    plot->column = plot->right + GAP;
    plot->empty = !plot->x.used;
    plot->width = fmax(plot->column + name_width, plot->left + title_width) + EDGE;
    plot->height = fmax(plot->bottom + BELOW, plot->top + column->height + EDGE);
    sx_axis_scale_finish(&plot->x, plot->x.log ? 0.02 : 0.03, plot->left, plot->right);
    sx_axis_scale_finish(&plot->y, 0.05, plot->bottom, plot->top);
}

void sx_plot_label(double x, double y, sx_label_place place, const sx_tick *tick, sx_text *out) {
    static const char *const anchors[] = {"end", "start", "middle"};
    sx_text_add(out, "<text text-anchor=\"%s\"", anchors[place]);
    sx_svg_attribute(out, "x", x);
    sx_svg_attribute(out, "y", y);
    sx_text_add(out, ">");
    if (tick->digits[0] == '-')
        sx_text_add(out, "\xe2\x88\x92%s", tick->digits + 1);
    else
        sx_text_add(out, "%s", tick->digits);
    if (tick->exponent != 0)
        sx_text_add(out, "%s10<tspan dy=\"-5\" font-size=\"10\">%s%d</tspan>",
                    tick->digits[0] ? "\xc3\x97" : "", tick->exponent < 0 ? "\xe2\x88\x92" : "",
                    tick->exponent < 0 ? -tick->exponent : tick->exponent);
    sx_text_add(out, "</text>\n");
}

/* Grid lines, ticks and labels along the bottom. */
static void draw_x_ticks(const sx_plot *plot, sx_text *out) {
    sx_tick tick[SX_MAX_TICKS];
    size_t n = sx_axis_scale_ticks(&plot->x, tick, SX_MAX_TICKS);
    for (size_t i = 0; i < n; i++) {
        double at = sx_axis_scale_at(&plot->x, tick[i].value);
        if (tick[i].labelled) sx_svg_line(out, at, plot->top, at, plot->bottom, "stroke=\"#e4e4e4\"");
        sx_svg_line(out, at, plot->bottom, at, plot->bottom + (tick[i].labelled ? 6 : 3), "stroke=\"#444\"");
        if (tick[i].labelled) sx_plot_label(at, plot->bottom + 21, SX_LABEL_CENTRED, &tick[i], out);
    }
}

/* The same along the left side. */
static void draw_y_ticks(const sx_plot *plot, sx_text *out) {
    sx_tick tick[SX_MAX_TICKS];
    size_t n = sx_axis_scale_ticks(&plot->y, tick, SX_MAX_TICKS);
    for (size_t i = 0; i < n; i++) {
        double at = sx_axis_scale_at(&plot->y, tick[i].value);
        if (tick[i].labelled) sx_svg_line(out, plot->left, at, plot->right, at, "stroke=\"#e4e4e4\"");
        sx_svg_line(out, plot->left - (tick[i].labelled ? 6 : 3), at, plot->left, at, "stroke=\"#444\"");
        if (tick[i].labelled) sx_plot_label(plot->left - 9, at + 4.5, SX_LABEL_ENDS, &tick[i], out);
    }
}

void sx_plot_open(const sx_plot *plot, const sx_axes *axes, sx_text *out) {
    const char *title = axes->title ? axes->title : "";
    double middle = (plot->left + plot->right) / 2;
    sx_svg_open(out, plot->width, plot->height, title);
    if (!plot->named) draw_x_ticks(plot, out);
    draw_y_ticks(plot, out);
    sx_svg_line(out, plot->left, plot->top, plot->left, plot->bottom, "stroke=\"#444\"");
    sx_svg_line(out, plot->left, plot->bottom, plot->right, plot->bottom, "stroke=\"#444\"");
    if (*title)
        sx_svg_text(out, plot->left, plot->top - 18, SX_ANCHOR_START, "font-size=\"16\" font-weight=\"bold\"",
                    title);
    if (axes->x_label && !plot->named)
        sx_svg_text(out, middle, plot->bottom + 45, SX_ANCHOR_MIDDLE, "font-size=\"14\"", axes->x_label);
    if (axes->y_label)
        sx_svg_text_upward(out, 20, (plot->top + plot->bottom) / 2, "font-size=\"14\"", axes->y_label);
    if (plot->empty)
        sx_svg_text(out, middle, (plot->top + plot->bottom) / 2, SX_ANCHOR_MIDDLE, "fill=\"#777\"",
                    "no data");
}
