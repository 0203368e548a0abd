/* Figures as self-contained SVG: byte-stable, readable when printed in grey. */
#ifndef SX_REPORT_FIGURE_H
#define SX_REPORT_FIGURE_H

#include "base/text.h"
#include "sextant/figure.h"

#include <stdint.h>

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

/* What sx_draw_front and sx_draw_bars return. */
void sx_figure_front(const sx_axes *axes, const sx_front *front, sx_text *out);
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
