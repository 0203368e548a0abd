#include "cli/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char heading_mark = '\1'; /* first byte of a cell that is a whole line */

sx_shown sx_show_count(double value) {
    sx_shown shown;
    if (!(fabs(value) < 1e10)) {
        snprintf(shown.text, sizeof shown.text, "%.5g", value);
        return shown;
    }
    if (fabs(value) >= 1000 || fabs(value - round(value)) <= 1e-9 * fabs(value)) value = round(value);
    if (value != floor(value)) {
        int digits = fabs(value) < 10 ? 3 : fabs(value) < 100 ? 2 : 1;
        snprintf(shown.text, sizeof shown.text, "%.*f", digits, value);
        return shown;
    }
    char plain[32];
    int n = snprintf(plain, sizeof plain, "%.0f", fabs(value));
    char *at = shown.text;
    if (value < 0) *at++ = '-';
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) *at++ = ',';
        *at++ = plain[i];
    }
    *at = 0;
    return shown;
}

sx_shown sx_show_energy(double picojoules) {
    static const char *const units[] = {"pJ", "nJ", "uJ", "mJ", "J", "kJ", "MJ", "GJ"};
    sx_shown shown = {"0"};
    size_t unit = 0;
    double value = picojoules;
    if (value == 0) return shown;
    for (; fabs(value) >= 999.95 && unit + 1 < sizeof units / sizeof units[0]; unit++) value /= 1000;
    int digits = fabs(value) < 9.9995 ? 3 : fabs(value) < 99.995 ? 2 : 1;
    if (fabs(value) < 0.1 || fabs(value) >= 1e6)
        snprintf(shown.text, sizeof shown.text, "%.3g %s", value, units[unit]);
    else
        snprintf(shown.text, sizeof shown.text, "%.*f %s", digits, value, units[unit]);
    return shown;
}

sx_shown sx_show_percent(double fraction) {
    sx_shown shown;
    if (fraction > 0 && fraction < 0.0005)
        snprintf(shown.text, sizeof shown.text, "<0.1%%");
    else
        snprintf(shown.text, sizeof shown.text, "%.1f%%", 100 * fraction);
    return shown;
}

/* How many columns a text takes: the bytes that begin a character of UTF-8. */
static int columns(const char *text) {
    int n = 0;
    for (; *text; text++) n += (*text & 0xC0) != 0x80;
    return n;
}

/* Adds a text as it may be shown on a terminal; returns how many columns it takes. */
static int add_shown(sx_text *out, const char *text) {
    char shown[SX_SHOWN_ROOM];
    int n = 0;
    for (size_t size; (size = sx_text_shown(text, shown)); text += size) {
        sx_text_add_bytes(out, shown, strlen(shown));
        n += columns(shown);
    }
    return n;
}

/* How many columns a text takes as it may be shown on a terminal. */
static int shown_columns(const char *text) {
    char shown[SX_SHOWN_ROOM];
    int n = 0;
    for (size_t size; (size = sx_text_shown(text, shown)); text += size) n += columns(shown);
    return n;
}

sx_shown sx_show_name(const char *name, int width) {
    sx_shown shown;
    char piece[SX_SHOWN_ROOM];
    size_t used = 0;
    int left = shown_columns(name) > width ? width - 1 : width;
    for (size_t size; (size = sx_text_shown(name, piece)); name += size) {
        left -= columns(piece);
        if (left < 0 || used + strlen(piece) + 2 > sizeof shown.text) break;
        memcpy(shown.text + used, piece, strlen(piece));
        used += strlen(piece);
    }
    if (*name) shown.text[used++] = '~';
    shown.text[used] = 0;
    return shown;
}

void sx_table_begin(sx_table *table, const char *align) {
    *table = (sx_table){.n_columns = (int)strlen(align)};
    memcpy(table->align, align, strlen(align));
}

void sx_table_cell(sx_table *table, const char *format, ...) {
    char cell[128];
    va_list args;
    va_start(args, format);
    vsnprintf(cell, sizeof cell, format, args);
    va_end(args);
    int width = add_shown(&table->cells, cell);
    if (width > table->width[table->at]) table->width[table->at] = width;
    table->at = (table->at + 1) % table->n_columns;
    sx_text_add_bytes(&table->cells, "", 1);
}

void sx_table_cell_text(sx_table *table, sx_text *text) {
    table->cells.failed |= text->failed;
    sx_table_cell(table, "%s", text->data ? text->data : "");
    sx_text_free(text);
}

void sx_table_blank(sx_table *table, int n) {
    while (n-- > 0) sx_table_cell(table, "%s", "");
}

void sx_table_heading(sx_table *table, const char *format, ...) {
    char line[2 * SX_LINE_WIDTH];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    sx_text_add_bytes(&table->cells, &heading_mark, 1);
    add_shown(&table->cells, line);
    sx_text_add_bytes(&table->cells, "", 1);
}

static void pad(sx_text *out, int n) {
    if (n > 0) sx_text_add(out, "%*s", n, "");
}

/* Removes the spaces at the end of the text. */
static void trim(sx_text *out) {
    while (out->size && out->data[out->size - 1] == ' ') out->data[--out->size] = 0;
}

void sx_table_end(sx_table *table, int indent, sx_text *out) {
    int total = indent - 2, column = 0, used = table->n_columns;
    for (int i = 0; i < table->n_columns; i++) total += table->width[i] + 2;
    if (total > SX_LINE_WIDTH && table->align[used - 1] == 'o') used--;
    size_t size = table->cells.failed ? 0 : table->cells.size;
    out->failed |= table->cells.failed;
    for (const char *cell = table->cells.data, *end = cell + size; cell < end; cell += strlen(cell) + 1) {
        if (*cell == heading_mark) {
            sx_text_add(out, "%*s%s\n", indent, "", cell + 1);
            continue;
        }
        int space = table->width[column] - columns(cell);
        if (column < used) {
            pad(out, column ? 2 : indent);
            if (table->align[column] == 'r') pad(out, space);
            sx_text_add(out, "%s", cell);
            if (table->align[column] != 'r') pad(out, space);
        }
        column = (column + 1) % table->n_columns;
        if (column) continue;
        trim(out);
        sx_text_add(out, "\n");
    }
    sx_text_free(&table->cells);
}

void sx_wrap(const char *paragraph, int at, int indent, int width, sx_text *out) {
    bool first = true;
    while (*paragraph) {
        size_t length = strcspn(paragraph, " ");
        if (!first && at + 1 + (int)length > width) {
            sx_text_add(out, "\n%*s", indent, "");
            at = indent;
            first = true;
        }
        if (!first) {
            sx_text_add(out, " ");
            at++;
        }
        sx_text_add_bytes(out, paragraph, length);
        at += (int)length;
        first = false;
        paragraph += length;
        paragraph += strspn(paragraph, " ");
    }
    sx_text_add(out, "\n");
}

void sx_wrap_free(sx_text *paragraph, int at, int indent, sx_text *out) {
    out->failed |= paragraph->failed;
    if (!paragraph->failed) sx_wrap(paragraph->data, at, indent, SX_LINE_WIDTH, out);
    sx_text_free(paragraph);
}
