#include "report/svg.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void sx_svg_digits(double value, int decimals, char text[SX_SVG_DIGITS]) {
    int64_t unit = 1;
    for (int i = 0; i < decimals; i++) unit *= 10;
    double scaled = value * (double)unit;
    int64_t n = isfinite(scaled) && fabs(scaled) < 1e15 ? llround(scaled) : 0;
    uint64_t digits = n < 0 ? (uint64_t)-n : (uint64_t)n;
    uint64_t whole = digits / (uint64_t)unit, rest = digits % (uint64_t)unit;
    int length = snprintf(text, SX_SVG_DIGITS, "%s%llu", n < 0 ? "-" : "", (unsigned long long)whole);
    if (rest == 0) return;
    for (; rest % 10 == 0; rest /= 10) decimals--;
    snprintf(text + length, SX_SVG_DIGITS - (size_t)length, ".%0*llu", decimals, (unsigned long long)rest);
}

void sx_svg_number(sx_text *out, double value, int decimals) {
    char digits[SX_SVG_DIGITS];
    sx_svg_digits(value, decimals, digits);
    sx_text_add(out, "%s", digits);
}

void sx_svg_command(sx_text *out, const char *command, double to) {
    sx_text_add(out, "%s", command);
    sx_svg_number(out, to, 2);
}

void sx_svg_escape(sx_text *out, const char *text) {
    for (const char *at = text; *at;) {
        uint32_t code;
        size_t length = sx_text_character(at, &code);
        if (length == 0 || !sx_text_visible(code))
            sx_text_add(out, "\xef\xbf\xbd");
        else if (*at == '&')
            sx_text_add(out, "&amp;");
        else if (*at == '<')
            sx_text_add(out, "&lt;");
        else if (*at == '>')
            sx_text_add(out, "&gt;");
        else if (*at == '"')
            sx_text_add(out, "&quot;");
        else if (*at == '\'')
            sx_text_add(out, "&#39;");
        else
            sx_text_add_bytes(out, at, length);
        at += length ? length : 1;
    }
}

void sx_svg_attribute(sx_text *out, const char *name, double value) {
    sx_text_add(out, " %s=\"", name);
    sx_svg_number(out, value, 2);
    sx_text_add(out, "\"");
}

void sx_svg_open(sx_text *out, double width, double height, const char *title) {
    sx_text_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 ");
    sx_svg_number(out, width, 2);
    sx_text_add(out, " ");
    sx_svg_number(out, height, 2);
    sx_text_add(out, "\"");
    sx_svg_attribute(out, "width", width);
    sx_svg_attribute(out, "height", height);
    sx_text_add(out, " font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n");
    sx_text_add(out, "<title>");
    sx_svg_escape(out, title);
    sx_text_add(out, "</title>\n");
    sx_svg_rect(out, 0, 0, width, height, "fill=\"#fff\"");
}

void sx_svg_close(sx_text *out) {
    sx_text_add(out, "</svg>\n");
}

/* Ends an element that has no content. */
static void finish_element(sx_text *out, const char *style) {
    sx_text_add(out, "%s%s/>\n", *style ? " " : "", style);
}

void sx_svg_line(sx_text *out, double x1, double y1, double x2, double y2, const char *style) {
    sx_text_add(out, "<line");
    sx_svg_attribute(out, "x1", x1);
    sx_svg_attribute(out, "y1", y1);
    sx_svg_attribute(out, "x2", x2);
    sx_svg_attribute(out, "y2", y2);
    finish_element(out, style);
}

void sx_svg_rect(sx_text *out, double x, double y, double width, double height, const char *style) {
    sx_text_add(out, "<rect");
    sx_svg_attribute(out, "x", x);
    sx_svg_attribute(out, "y", y);
    sx_svg_attribute(out, "width", width);
    sx_svg_attribute(out, "height", height);
    finish_element(out, style);
}

/* Writes the content of a text element and ends it. */
static void finish_text(sx_text *out, const char *style, const char *text) {
    sx_text_add(out, "%s%s>", *style ? " " : "", style);
    sx_svg_escape(out, text);
    sx_text_add(out, "</text>\n");
}

void sx_svg_text(sx_text *out, double x, double y, sx_anchor anchor, const char *style, const char *text) {
    static const char *const words[] = {"start", "middle", "end"};
    sx_text_add(out, "<text");
    sx_svg_attribute(out, "x", x);
    sx_svg_attribute(out, "y", y);
    if (anchor != SX_ANCHOR_START) sx_text_add(out, " text-anchor=\"%s\"", words[anchor]);
    finish_text(out, style, text);
}

void sx_svg_text_upward(sx_text *out, double x, double y, const char *style, const char *text) {
    sx_text_add(out, "<text text-anchor=\"middle\" transform=\"translate(");
    sx_svg_number(out, x, 2);
    sx_text_add(out, " ");
    sx_svg_number(out, y, 2);
    sx_text_add(out, ") rotate(-90)\"");
    finish_text(out, style, text);
}

/* A shape as corners on a circle of radius 1 (no corners: the circle itself), in 1/100. */
typedef struct shape {
    int n;
    signed char corner[16][2];
} shape;

static const shape shapes[] = {
    {0, {{0}}},
    {4, {{-84, -84}, {84, -84}, {84, 84}, {-84, 84}}},
    {3, {{0, -118}, {105, 76}, {-105, 76}}},
    {4, {{0, -122}, {105, 0}, {0, 122}, {-105, 0}}},
    {3, {{0, 118}, {105, -76}, {-105, -76}}},
    {12,
     {{-40, -110},
      {40, -110},
      {40, -40},
      {110, -40},
      {110, 40},
      {40, 40},
      {40, 110},
      {-40, 110},
      {-40, 40},
      {-110, 40},
      {-110, -40},
      {-40, -40}}},
    {10,
     {{0, -125},
      {32, -44},
      {119, -39},
      {51, 17},
      {73, 101},
      {0, 54},
      {-73, 101},
      {-51, 17},
      {-119, -39},
      {-32, -44}}},
    {12,
     {{-106, -50},
      {-50, -106},
      {0, -56},
      {50, -106},
      {106, -50},
      {56, 0},
      {106, 50},
      {50, 106},
      {0, 56},
      {-50, 106},
      {-106, 50},
      {-56, 0}}},
    {6, {{-54, -94}, {54, -94}, {108, 0}, {54, 94}, {-54, 94}, {-108, 0}}},
};

void sx_svg_marker(sx_text *out, size_t number, double x, double y, double radius, const char *fill,
                   const char *stroke) {
    const shape *s = &shapes[number % (sizeof shapes / sizeof shapes[0])];
    if (s->n == 0) {
        sx_text_add(out, "<circle");
        sx_svg_attribute(out, "cx", x);
        sx_svg_attribute(out, "cy", y);
        sx_svg_attribute(out, "r", radius);
    } else {
        sx_text_add(out, "<path d=\"");
        for (int i = 0; i < s->n; i++) {
            sx_text_add(out, i ? "L" : "M");
            sx_svg_number(out, x + radius * s->corner[i][0] / 100, 2);
            sx_text_add(out, " ");
            sx_svg_number(out, y + radius * s->corner[i][1] / 100, 2);
        }
        sx_text_add(out, "Z\"");
    }
    sx_text_add(out, " fill=\"%s\" stroke=\"%s\"/>\n", fill, stroke);
}
