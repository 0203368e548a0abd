/* What all figures share: page, frame, axes with ticks, and the legend on the right. */
#ifndef SX_REPORT_PLOT_H
#define SX_REPORT_PLOT_H

#include "report/axis_scale.h"
#include "report/figure.h"

/* The frame data are drawn in, and the column to the right of it. */
typedef struct sx_plot {
    double left, top, right, bottom;
    double width, height; /* of the paper */
    double column;        /* where the column begins */
    bool empty;           /* nothing has a place in it */
    bool named;           /* the bottom axis has names, which the caller writes */
    sx_axis_scale x, y;   /* the caller includes its values before the layout */
} sx_plot;

enum {
    SX_PLOT_LINE = 21,   /* from line to line of the column */
    SX_PLOT_INDENT = 48, /* of names in it, beside their samples */
    SX_MAX_TICKS = 128,
};

/* The room that a column needs. */
typedef struct sx_column {
    double height;
    size_t characters; /* of its longest line */
} sx_column;

/* Makes room for a name in a column; NULL is an empty one. */
void sx_plot_make_room(sx_column *column, const char *name);

/* Lays out the paper for a column, and finishes the scales. */
void sx_plot_layout(sx_plot *plot, const sx_axes *axes, const sx_column *column);

/* Begins the figure: paper, titles, grid, ticks and axes; sx_svg_close ends it. */
void sx_plot_open(const sx_plot *plot, const sx_axes *axes, sx_text *out);

/* Writes a name into the column, its middle at `y`, a long one on several lines; returns the y of the next
 * name. */
double sx_plot_name(const sx_plot *plot, double y, const char *name, sx_text *out);

/* A tick's label that ends at a point, begins there, or has its middle there. */
typedef enum sx_label_place { SX_LABEL_ENDS, SX_LABEL_BEGINS, SX_LABEL_CENTRED } sx_label_place;
void sx_plot_label(double x, double y, sx_label_place place, const sx_tick *tick, sx_text *out);

/* The style of curve number `index`, and of its marker. */
const char *sx_plot_colour(size_t index);
const char *sx_plot_dash(size_t index);

#endif
