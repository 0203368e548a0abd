#include "report/table.h"

#include <ctype.h>
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

sx_shown sx_show_scaled(double value, const char *unit) {
    static const char *const prefixes[] = {"f", "p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    sx_shown shown;
    size_t at = 5;
    for (; fabs(value) >= 999.95 && at + 1 < sizeof prefixes / sizeof prefixes[0]; at++) value /= 1000;
    for (; value != 0 && fabs(value) < 0.99995 && at > 0; at--) value *= 1000;
    snprintf(shown.text, sizeof shown.text, "%.4g %s%.8s", value, prefixes[at], unit);
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

sx_shown sx_show_computes(double computes) {
    static const char *const units[] = {"M", "G", "T", "P", "E"};
    sx_shown shown;
    size_t unit = 0;
    double value = computes / 1e6;
    for (; value >= 999.95 && unit + 1 < sizeof units / sizeof units[0]; unit++) value /= 1000;
    snprintf(shown.text, sizeof shown.text, "%.4g %s", value, units[unit]);
    return shown;
}

/* How many columns a text takes: the bytes that begin a character of UTF-8. */
static int text_columns(const char *text) {
    int n = 0;
    for (; *text; text++) n += (*text & 0xC0) != 0x80;
    return n;
}

int sx_add_shown(sx_text *out, const char *text) {
    char shown[SX_SHOWN_ROOM];
    int n = 0;
    for (size_t size; (size = sx_text_shown(text, shown)); text += size) {
        sx_text_add_bytes(out, shown, strlen(shown));
        n += text_columns(shown);
    }
    return n;
}

/* How many columns a text takes as it may be shown on a terminal. */
static int shown_columns(const char *text) {
    char shown[SX_SHOWN_ROOM];
    int n = 0;
    for (size_t size; (size = sx_text_shown(text, shown)); text += size) n += text_columns(shown);
    return n;
}

sx_shown sx_show_name(const char *name, int width) {
    sx_shown shown;
    char piece[SX_SHOWN_ROOM];
    size_t used = 0;
    int left = shown_columns(name) > width ? width - 1 : width;
    for (size_t size; (size = sx_text_shown(name, piece)); name += size) {
        left -= text_columns(piece);
        if (left < 0 || used + strlen(piece) + 2 > sizeof shown.text) break;
        memcpy(shown.text + used, piece, strlen(piece));
        used += strlen(piece);
    }
    if (*name) shown.text[used++] = '~';
    shown.text[used] = 0;
    return shown;
}

size_t sx_columns_take(const char *text, size_t size, int width) {
    size_t used = 0, space = 0;
    int at = 0;
    bool word = false;
    for (; used < size; used++) {
        bool begins = (text[used] & 0xC0) != 0x80;
        if (begins && at++ == width) break;
        word |= text[used] != ' ';
        if (text[used] == ' ' && word) space = used;
    }
    if (used == size || text[used] == ' ' || !space) return used;
    return space;
}

void sx_table_begin(sx_table *table, const char *align) {
    *table = (sx_table){.n_columns = (int)strlen(align)};
    for (int i = 0; i < table->n_columns; i++) {
        table->align[i] = (char)tolower((unsigned char)align[i]);
        table->spare[i] = align[i] != table->align[i];
    }
}

void sx_table_cell(sx_table *table, const char *format, ...) {
    sx_text cell = {0};
    va_list args;
    va_start(args, format);
    sx_text_add_list(&cell, format, args);
    va_end(args);
    table->cells.failed |= cell.failed;
    int width = sx_add_shown(&table->cells, cell.data ? cell.data : "");
    if (width > table->width[table->at]) table->width[table->at] = width;
    table->at = (table->at + 1) % table->n_columns;
    sx_text_add_bytes(&table->cells, "", 1);
    sx_text_free(&cell);
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
    sx_add_shown(&table->cells, line);
    sx_text_add_bytes(&table->cells, "", 1);
}

static void add_spaces(sx_text *out, int n) {
    if (n > 0) sx_text_add(out, "%*s", n, "");
}

/* Removes the spaces at the end of the text. */
static void trim_spaces(sx_text *out) {
    while (out->size && out->data[out->size - 1] == ' ') out->data[--out->size] = 0;
}

/* The columns that a table takes. */
static int total_width(const sx_table *table, int indent) {
    int total = indent - 2;
    for (int i = 0; i < table->n_columns; i++)
        if (!table->hidden[i]) total += table->width[i] + 2;
    return total;
}

/* Makes a left column narrower by what the table has too much, down to a least width. */
static void narrow_column(sx_table *table, int column, int least, int excess) {
    int width = table->width[column] - excess;
    if (excess > 0 && table->align[column] == 'l' && table->width[column] > least)
        table->width[column] = width > least ? width : least;
}

/* Makes a table fit: leaves columns out and makes others narrower. */
static void fit_table(sx_table *table, int indent, int limit, bool terminal) {
    enum { LEAST_TEXT = 24, LEAST_NAME = 8 };
    int last = table->n_columns - 1;
    if (total_width(table, indent) > limit && table->align[last] == 'o') table->hidden[last] = true;
    if (!terminal) return;
    for (int i = last; i > 0 && total_width(table, indent) > limit; i--)
        if (table->spare[i]) table->hidden[i] = true;
    while (last > 0 && table->hidden[last]) last--;
    narrow_column(table, last, LEAST_TEXT, total_width(table, indent) - limit);
    for (int i = 0; i < last; i++) narrow_column(table, i, LEAST_NAME, total_width(table, indent) - limit);
    narrow_column(table, last, LEAST_NAME, total_width(table, indent) - limit);
    for (; last > 0 && total_width(table, indent) > limit; last--) table->hidden[last] = true;
    narrow_column(table, 0, 1, total_width(table, indent) - limit);
}

/* Adds a row; the text of the last column goes on in further lines where it is too long, other cells are cut.
 */
static void print_row(const sx_table *table, const char *const *row, int indent, sx_text *out) {
    int last = table->n_columns - 1, start = indent - 2;
    while (last > 0 && table->hidden[last]) last--;
    for (int i = 0; i < last; i++) {
        if (table->hidden[i]) continue;
        sx_shown cut = sx_show_name(row[i], table->width[i]);
        const char *cell = text_columns(row[i]) > table->width[i] ? cut.text : row[i];
        int space = table->width[i] - text_columns(cell);
        add_spaces(out, start == indent - 2 ? indent : 2);
        add_spaces(out, table->align[i] == 'r' ? space : 0);
        sx_text_add(out, "%s", cell);
        add_spaces(out, table->align[i] == 'r' ? 0 : space);
        start += table->width[i] + 2;
    }
    const char *rest = row[last];
    int width = table->width[last];
    add_spaces(out, start == indent - 2 ? indent : 2);
    add_spaces(out, table->align[last] == 'r' ? width - text_columns(rest) : 0);
    for (size_t taken; *rest; rest += taken, rest += strspn(rest, " ")) {
        if (rest != row[last]) sx_text_add(out, "\n%*s", start + 2, "");
        taken = text_columns(rest) > width ? sx_columns_take(rest, strlen(rest), width) : strlen(rest);
        sx_text_add_bytes(out, rest, taken);
    }
    trim_spaces(out);
    sx_text_add(out, "\n");
}

/* Names the columns that a terminal is too narrow for, by their heads; bars are not missed. */
static void name_hidden(const sx_table *table, const char *head, int indent, sx_text *out) {
    sx_text names = {0};
    for (int i = 0; i < table->n_columns; i++, head += strlen(head) + 1)
        if (table->hidden[i] && table->align[i] != 'o' && *head)
            sx_text_add(&names, "%s%s", names.size ? ", " : "not shown for lack of columns: ", head);
    if (names.size) {
        add_spaces(out, indent);
        sx_wrap_free(&names, indent, indent, out);
    }
}

void sx_table_end(sx_table *table, int indent, sx_text *out) {
    const char *row[SX_MAX_COLUMNS];
    int column = 0;
    fit_table(table, indent, out->width ? out->width : SX_LINE_WIDTH, out->width != 0);
    size_t size = table->cells.failed ? 0 : table->cells.size;
    out->failed |= table->cells.failed;
    for (const char *cell = table->cells.data, *end = cell + size; cell < end; cell += strlen(cell) + 1) {
        if (*cell == heading_mark) {
            sx_text_add(out, "%*s%s\n", indent, "", cell + 1);
            continue;
        }
        row[column] = cell;
        column = (column + 1) % table->n_columns;
        if (column == 0) print_row(table, row, indent, out);
    }
    if (out->width && size && *table->cells.data != heading_mark)
        name_hidden(table, table->cells.data, indent, out);
    sx_text_free(&table->cells);
}

void sx_wrap(const char *paragraph, int at, int indent, int width, sx_text *out) {
    bool first = true;
    if (out->width && out->width < width) width = out->width;
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
    if (paragraph->size && !paragraph->failed) sx_wrap(paragraph->data, at, indent, SX_LINE_WIDTH, out);
    sx_text_free(paragraph);
}
