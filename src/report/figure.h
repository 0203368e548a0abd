/* Figures as self-contained SVG: byte-stable, readable when printed in grey. */
#ifndef SX_REPORT_FIGURE_H
#define SX_REPORT_FIGURE_H

#include "base/text.h"

#include <stdint.h>

/* A curve with a band: y between low and high (either NULL: no band) around `mid`. */
typedef struct sx_curve {
    const char *name;
    size_t n;
    const double *x, *mid, *low, *high;
} sx_curve;

typedef struct sx_axes {
    const char *title, *x_label, *y_label;
    bool log_x, log_y;
} sx_axes;

/* What an axis says of an objective: its text, with the unit where it has one. */
const char *sx_figure_axis(const char *objective);

/* Step curves (a best-so-far holds until the next improvement) with legend; each curve differs from the
 * others in dash and marker as well as in colour. */
void sx_figure_curves(const sx_axes *axes, const sx_curve *curve, size_t n, sx_text *out);

/* Points in the plane, coloured by `value` (log scale, dark is good), marked by group. */
typedef struct sx_cloud {
    const char *name;
    size_t n;
    const double *x, *y, *value;
} sx_cloud;
void sx_figure_clouds(const sx_axes *axes, const char *value_label, const sx_cloud *cloud, size_t n,
                      sx_text *out);

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
void sx_figure_front(const sx_axes *axes, const sx_front *front, sx_text *out);

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
void sx_figure_bars(const sx_axes *axes, const sx_bars *bars, sx_text *out);

/* Points below a roof: y is at most `peak`, and at most x times `slope` (INFINITY: no limit). Both scales are
 * logarithmic. */
typedef struct sx_roofline {
    double peak, slope;
    const char *peak_name, *slope_name; /* for the legend */
    size_t n;
    const char *const *name;
    const double *x, *y;
} sx_roofline;
void sx_figure_roofline(const sx_axes *axes, const sx_roofline *roofline, sx_text *out);

/* The first two principal components of n vectors of `size` numbers (row after row; columns are centred and
 * scaled to unit variance first, constant ones left out): coordinates x, y for each, and the shares of
 * variance. The signs are fixed so that the result is the same on every machine. False when memory is out. */
bool sx_pca(const double *vectors, size_t n, size_t size, double *x, double *y, double share[2]);

#endif
