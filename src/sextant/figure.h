/* Figures as SVG of their own: the same bytes on every machine, readable when printed in grey. */
#ifndef SX_FIGURE_H
#define SX_FIGURE_H

#include "sextant/status.h"

#include <stdbool.h>

/* Titles and scales. */
typedef struct sx_axes {
    const char *title, *x_label, *y_label;
    bool log_x, log_y;
} sx_axes;

/* A curve with a band: y between low and high (either NULL: no band) around `mid`. */
typedef struct sx_curve {
    const char *name;
    size_t n;
    const double *x, *mid, *low, *high;
} sx_curve;

/* Points of which the smaller are the better in x and in y: all of them, those of the front joined by steps,
 * and the chosen one. */
typedef struct sx_front {
    const char *all_name, *front_name, *best_name; /* for the legend */
    size_t n;
    const double *x, *y;
    size_t n_front;
    const size_t *front; /* numbers of points, by x */
    size_t best;         /* of a point; n: none */
} sx_front;

/* Bars that stand side by side, each with a name, a value and a tick above or in it; and a line across them
 * all. Where there are parts, a bar is a stack of them, value after value. What is not finite or negative is
 * left out. */
typedef struct sx_bars {
    const char *bar_name, *tick_name, *line_name; /* for the legend; NULL: there are none of them */
    size_t n;
    const char *const *name;
    const double *value, *tick;
    double line;
    size_t n_parts; /* 0: bars are whole, and `value` has one number for each; otherwise n_parts */
    const char *const *part_name;
} sx_bars;

/* Draws step curves (a best-so-far holds until the next improvement) with a legend, points with their front, or
 * bars. The text is freed with sx_free(). */
SX_MUST_USE sx_status sx_draw_curves(const sx_axes *axes, const sx_curve *curve, size_t n, SX_OWN char **svg);
SX_MUST_USE sx_status sx_draw_front(const sx_axes *axes, const sx_front *front, SX_OWN char **svg);
SX_MUST_USE sx_status sx_draw_bars(const sx_axes *axes, const sx_bars *bars, SX_OWN char **svg);

#endif
