/* From values to positions in a figure, and the ticks. */
#ifndef SX_REPORT_AXIS_SCALE_H
#define SX_REPORT_AXIS_SCALE_H

#include "report/svg.h"

#include <stdbool.h>
#include <stddef.h>

/* Values from `low` to `high`, on paper from `from` to `to`. All zero but `log` is a scale nothing was put on
 * yet. */
typedef struct sx_axis_scale {
    bool log, used;
    double low, high, from, to;
} sx_axis_scale;

/* Whether a value has a place: finite, and positive where the scale is logarithmic. */
bool sx_axis_scale_has(const sx_axis_scale *scale, double value);

/* Widens a scale so that it holds a value; one without a place changes nothing. */
void sx_axis_scale_include(sx_axis_scale *scale, double value);

/* Once all values are in: gives a scale of nothing or a single value some width, leaves a margin of a share
 * of the width at both ends, and sets the paper's ends. */
void sx_axis_scale_finish(sx_axis_scale *scale, double margin, double from, double to);

/* Where a value lies on paper; what is beyond the ends (infinities too, and on a logarithmic scale what is
 * not positive) lies at the end. */
double sx_axis_scale_at(const sx_axis_scale *scale, double value);

/* A tick; the label is digits, times ten to the power of `exponent` where that is not 0. Without digits it is
 * the power alone; without either the tick is a small one. */
typedef struct sx_tick {
    double value;
    bool labelled;
    int exponent;
    char digits[SX_SVG_DIGITS];
} sx_tick;

/* The ticks of a finished scale in order; returns how many, at most `room`. */
size_t sx_axis_scale_ticks(const sx_axis_scale *scale, sx_tick *tick, size_t room);

#endif
