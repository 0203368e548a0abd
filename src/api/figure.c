/* Figures as callers see them. */
#include "sextant/figure.h"
#include "base/status.h"
#include "base/vector.h"
#include "sextant/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A curve, points of a front, or a bar. */
typedef struct series {
    char *name;
    size_t n;
    double *x, *y;
} series;

struct sx_figure {
    sx_figure_kind kind;
    char *title, *x_label, *y_label;
    bool log_x, log_y;
    sx_vector series;
};

sx_status sx_figure_new(sx_figure_kind kind, const char *title, const char *x_label, const char *y_label,
                        sx_figure **out) {
    sx_figure *figure = calloc(1, sizeof *figure);
    if (!figure) return sx_error_memory();
    *figure = (sx_figure){.kind = kind,
                          .title = strdup(title),
                          .x_label = strdup(x_label),
                          .y_label = strdup(y_label),
                          .series = {.size = sizeof(series)}};
    if (!figure->title || !figure->x_label || !figure->y_label) {
        sx_figure_free(figure);
        return sx_error_memory();
    }
    *out = figure;
    return SX_OK;
}

static void free_series(series *s) {
    free(s->name);
    free(s->x);
    free(s->y);
}

void sx_figure_free(sx_figure *figure) {
    if (!figure) return;
    for (size_t i = 0; i < figure->series.n; i++) free_series(sx_vector_at(&figure->series, i));
    sx_vector_clear(&figure->series);
    free(figure->title);
    free(figure->x_label);
    free(figure->y_label);
    free(figure);
}

void sx_figure_set_log(sx_figure *figure, bool x, bool y) {
    figure->log_x = x;
    figure->log_y = y;
}

/* A copy of n numbers; NULL when memory is out. */
static double *copy_numbers(const double *from, size_t n) {
    double *copy = calloc(n + 1, sizeof *copy);
    if (copy && n) memcpy(copy, from, n * sizeof *copy);
    return copy;
}

sx_status sx_figure_add(sx_figure *figure, const char *name, size_t n, const double *x, const double *y) {
    if (figure->kind == SX_FRONT && figure->series.n)
        return sx_error_new(SX_ERR_USAGE, "a figure has one front");
    series s = {.name = strdup(name), .n = n, .x = copy_numbers(x ? x : y, n), .y = copy_numbers(y, n)};
    series *place = s.name && s.x && s.y ? sx_vector_add(&figure->series) : NULL;
    if (!place) {
        free_series(&s);
        return sx_error_memory();
    }
    *place = s;
    return SX_OK;
}

static sx_status draw_curves(const sx_figure *figure, const sx_axes *axes, char **svg) {
    sx_curve *curves = calloc(figure->series.n + 1, sizeof *curves);
    if (!curves) return sx_error_memory();
    for (size_t i = 0; i < figure->series.n; i++) {
        const series *s = sx_vector_at(&figure->series, i);
        curves[i] = (sx_curve){.name = s->name, .n = s->n, .x = s->x, .mid = s->y};
    }
    sx_status status = sx_draw_curves(axes, curves, figure->series.n, svg);
    free(curves);
    return status;
}

/* Whether point a of a front is left of point b. */
static bool is_left(const series *s, size_t a, size_t b) {
    return s->x[a] < s->x[b] || (s->x[a] == s->x[b] && s->y[a] < s->y[b]);
}

static sx_status draw_front(const sx_figure *figure, const sx_axes *axes, char **svg) {
    const series none = {0}, *s = figure->series.n ? sx_vector_at(&figure->series, 0) : &none;
    size_t *order = calloc(s->n + 1, sizeof *order);
    if (!order) return sx_error_memory();
    for (size_t i = 0; i < s->n; i++) {
        size_t at = i;
        for (; at > 0 && is_left(s, i, order[at - 1]); at--) order[at] = order[at - 1];
        order[at] = i;
    }
    sx_front front = {.all_name = "mappings",
                      .front_name = s->name ? s->name : "front",
                      .best_name = "best",
                      .n = s->n,
                      .x = s->x,
                      .y = s->y,
                      .n_front = s->n,
                      .front = order,
                      .best = s->n};
    sx_status status = sx_draw_front(axes, &front, svg);
    free(order);
    return status;
}

static sx_status draw_bars(const sx_figure *figure, const sx_axes *axes, char **svg) {
    const size_t n = figure->series.n;
    const char **names = calloc(n + 1, sizeof *names);
    double *heights = calloc(n + 1, sizeof *heights);
    sx_status status = names && heights ? SX_OK : sx_error_memory();
    for (size_t i = 0; !status && i < n; i++) {
        const series *s = sx_vector_at(&figure->series, i);
        names[i] = s->name;
        heights[i] = s->n ? s->y[0] : NAN;
    }
    sx_bars bars = {.bar_name = figure->y_label, .n = n, .name = names, .value = heights, .line = NAN};
    if (!status) status = sx_draw_bars(axes, &bars, svg);
    free(names);
    free(heights);
    return status;
}

sx_status sx_figure_draw(const sx_figure *figure, char **svg) {
    sx_axes axes = {figure->title, figure->x_label, figure->y_label, figure->log_x, figure->log_y};
    switch (figure->kind) {
    case SX_CURVES:
        return draw_curves(figure, &axes, svg);
    case SX_FRONT:
        return draw_front(figure, &axes, svg);
    case SX_BARS:
        return draw_bars(figure, &axes, svg);
    }
    return sx_error_new(SX_ERR_USAGE, "there is no figure of kind %d", (int)figure->kind);
}
