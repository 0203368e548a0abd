#include "report/figure.h"

#include "report/plot.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BAR_WIDTH = 16,
    BAR_HEIGHT = 190,
    BAR_PARTS = 95,
    BAR_CHARACTERS = 10, /* about the width of its labels */
    COLOUR_SIZE = 8,
    RAMP = 7,
};

/* Lightness rises evenly along the ramp (L* 10 to 85), so that it reads the same in grey. */
static const unsigned char ramp[RAMP][3] = {
    {0x1a, 0x12, 0x46}, {0x27, 0x3a, 0x86}, {0x21, 0x61, 0x8f}, {0x22, 0x87, 0x8b},
    {0x46, 0xa9, 0x7a}, {0x93, 0xc6, 0x5c}, {0xe3, 0xd8, 0x5a},
};

/* The colour at a place from 0 to 1 on the ramp. */
static void ramp_colour(double at, char colour[COLOUR_SIZE]) {
    double place = fmin(fmax(at, 0), 1) * (RAMP - 1);
    int low = place >= RAMP - 1 ? RAMP - 2 : (int)place;
    unsigned part[3];
    for (int i = 0; i < 3; i++)
        part[i] = (unsigned)lround(ramp[low][i] + (place - low) * (ramp[low + 1][i] - ramp[low][i]));
    snprintf(colour, COLOUR_SIZE, "#%02x%02x%02x", part[0] & 0xff, part[1] & 0xff, part[2] & 0xff);
}

/* A point of a cloud. */
typedef struct point {
    double value; /* NAN where it has no colour */
    size_t cloud, index;
} point;

/* The figure's parts: `value` is the scale of the colours, from 0 to 1. */
typedef struct figure {
    sx_plot plot;
    sx_axis_scale value;
    const sx_cloud *cloud;
    size_t n_clouds, n_points;
    point *point;
} figure;

/* Puts the points that have a place on the scales and into the list. */
static void include_points(figure *f) {
    for (size_t c = 0; c < f->n_clouds; c++) {
        const sx_cloud *cloud = &f->cloud[c];
        for (size_t i = 0; i < cloud->n; i++) {
            if (!sx_axis_scale_has(&f->plot.x, cloud->x[i]) || !sx_axis_scale_has(&f->plot.y, cloud->y[i]))
                continue;
            sx_axis_scale_include(&f->plot.x, cloud->x[i]);
            sx_axis_scale_include(&f->plot.y, cloud->y[i]);
            sx_axis_scale_include(&f->value, cloud->value[i]);
            bool coloured = sx_axis_scale_has(&f->value, cloud->value[i]);
            f->point[f->n_points++] = (point){coloured ? cloud->value[i] : NAN, c, i};
        }
    }
}

/* Points without a value first, then the worst; among equals in the order they came in. */
static int compare_points(const void *left, const void *right) {
    const point *a = left, *b = right;
    bool a_none = isnan(a->value), b_none = isnan(b->value);
    if (a_none != b_none) return a_none ? -1 : 1;
    if (!a_none && a->value != b->value) return a->value > b->value ? -1 : 1;
    if (a->cloud != b->cloud) return a->cloud < b->cloud ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Draws the points so that the best lie on top. */
static void draw_points(const figure *f, sx_text *out) {
    double radius = f->n_points > 3000 ? 2.2 : f->n_points > 600 ? 3.0 : 4.2;
    sx_text_add(out, "<g stroke-width=\"0.5\">\n");
    for (size_t p = 0; p < f->n_points; p++) {
        const sx_cloud *cloud = &f->cloud[f->point[p].cloud];
        size_t i = f->point[p].index;
        double x = sx_axis_scale_at(&f->plot.x, cloud->x[i]), y = sx_axis_scale_at(&f->plot.y, cloud->y[i]);
        char colour[COLOUR_SIZE] = "none";
        if (!isnan(f->point[p].value)) ramp_colour(sx_axis_scale_at(&f->value, f->point[p].value), colour);
        sx_svg_marker(out, f->point[p].cloud, x, y, radius, colour,
                      isnan(f->point[p].value) ? "#999" : "#333");
    }
    sx_text_add(out, "</g>\n");
}

/* The bar that explains the colours, the best at the bottom. */
static void draw_bar(const figure *f, const char *value_label, double top, sx_text *out) {
    double left = f->plot.column + 26;
    sx_axis_scale scale = f->value;
    sx_tick tick[SX_MAX_TICKS];
    char colour[COLOUR_SIZE], style[24];
    scale.from = top + BAR_HEIGHT;
    scale.to = top;
    for (int i = 0; i < BAR_PARTS; i++) {
        double height = (double)BAR_HEIGHT / BAR_PARTS;
        ramp_colour((i + 0.5) / BAR_PARTS, colour);
        snprintf(style, sizeof style, "fill=\"%s\"", colour);
        sx_svg_rect(out, left, top + BAR_HEIGHT - height * (i + 1), BAR_WIDTH, height + (i ? 0.3 : 0), style);
    }
    sx_svg_rect(out, left, top, BAR_WIDTH, BAR_HEIGHT, "fill=\"none\" stroke=\"#444\"");
    size_t n = sx_axis_scale_ticks(&scale, tick, SX_MAX_TICKS);
    for (size_t i = 0; i < n; i++) {
        double at = sx_axis_scale_at(&scale, tick[i].value);
        double right = left + BAR_WIDTH;
        sx_svg_line(out, right, at, right + (tick[i].labelled ? 5 : 3), at, "stroke=\"#444\"");
        if (tick[i].labelled) sx_plot_label(right + 9, at + 4.5, SX_LABEL_BEGINS, &tick[i], out);
    }
    if (value_label) sx_svg_text_upward(out, left - 10, top + BAR_HEIGHT / 2.0, "", value_label);
}

/* The column: markers with their names, and the bar below them. */
static void draw_column(const figure *f, const char *value_label, sx_text *out) {
    double y = f->plot.top + 10;
    for (size_t c = 0; c < f->n_clouds; c++) {
        sx_svg_marker(out, c, f->plot.column + 34, y, 5, "#8fa9b8", "#333");
        y += sx_plot_name(&f->plot, y, f->cloud[c].name, out);
    }
    draw_bar(f, value_label, y + 6, out);
}

/* Draws the figure once its points are known. */
static void draw_figure(figure *f, const sx_axes *axes, const char *value_label, sx_text *out) {
    sx_column column = {.height = BAR_HEIGHT + 16, .characters = BAR_CHARACTERS};
    for (size_t c = 0; c < f->n_clouds; c++) sx_plot_make_room(&column, f->cloud[c].name);
    qsort(f->point, f->n_points, sizeof *f->point, compare_points);
    sx_plot_layout(&f->plot, axes, &column);
    sx_axis_scale_finish(&f->value, 0, 0, 1);
    sx_plot_open(&f->plot, axes, out);
    draw_points(f, out);
    draw_column(f, value_label, out);
    sx_svg_close(out);
}

void sx_figure_clouds(const sx_axes *axes, const char *value_label, const sx_cloud *cloud, size_t n,
                      sx_text *out) {
    figure f = {.plot = {.x.log = axes->log_x, .y.log = axes->log_y},
                .value.log = true,
                .cloud = cloud,
                .n_clouds = n};
    size_t all = 1;
    for (size_t c = 0; c < n; c++) all += cloud[c].n;
    f.point = malloc(all * sizeof *f.point);
    if (!f.point) {
        out->failed = true;
        return;
    }
    include_points(&f);
    draw_figure(&f, axes, value_label, out);
    free(f.point);
}
