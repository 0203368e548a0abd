/* Elements of SVG figures. Numbers are written with two decimals at most, the same in every locale;
 * nothing has an id, so that several figures can share a page. */
#ifndef SX_REPORT_SVG_H
#define SX_REPORT_SVG_H

#include "base/text.h"

typedef enum sx_anchor { SX_ANCHOR_START, SX_ANCHOR_MIDDLE, SX_ANCHOR_END } sx_anchor;

/* Begins a figure of a size on white paper, with a title for screen readers; ends it. */
void sx_svg_open(sx_text *out, double width, double height, const char *title);
void sx_svg_close(sx_text *out);

/* Adds text with what XML and HTML reserve escaped and what is not UTF-8, or a control character, replaced. All texts of
 * figures and pages that are written go through here. */
void sx_svg_escape(sx_text *out, const char *text);

/* A number rounded to `decimals` (0 to 9), without needless zeros; what is not finite becomes 0. */
enum { SX_SVG_DIGITS = 24 };
void sx_svg_digits(double value, int decimals, char digits[SX_SVG_DIGITS]);
/* Adds one. */
void sx_svg_number(sx_text *out, double value, int decimals);

/* Adds a path command with one coordinate, "H12.5". */
void sx_svg_command(sx_text *out, const char *command, double to);

/* Adds " name=value" with a coordinate as the value. */
void sx_svg_attribute(sx_text *out, const char *name, double value);

/* A line, a rectangle and a text; `style` is further attributes, may be "". */
void sx_svg_line(sx_text *out, double x1, double y1, double x2, double y2, const char *style);
void sx_svg_rect(sx_text *out, double x, double y, double width, double height, const char *style);
void sx_svg_text(sx_text *out, double x, double y, sx_anchor anchor, const char *style, const char *text);

/* Text that reads upward, centred at a point. */
void sx_svg_text_upward(sx_text *out, double x, double y, const char *style, const char *text);

/* A marker of about `radius` around a point: shape number modulo all there are, filled and outlined in
 * colours. */
void sx_svg_marker(sx_text *out, size_t shape, double x, double y, double radius, const char *fill,
                   const char *stroke);

#endif
