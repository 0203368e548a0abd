#include "text/csv.h"

#include "base/file.h"
#include "text/document/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 1 << 28 };

/* Whether a character is a blank within a line. */
static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Ends a plain field at its comma, without the blanks at its end; returns where the next one begins, NULL: it is the
 * last. */
static char *end_plain(char *field) {
    char *comma = strchr(field, ','), *end = comma ? comma : field + strlen(field);
    while (end > field && is_blank(end[-1])) end--;
    *end = 0;
    return comma ? comma + 1 : NULL;
}

/* Ends a quoted field and takes its quotes off. *next is as above; false where its quote is not closed before the next
 * comma or the end of the line. */
static bool end_quoted(char **field, char **next) {
    char *to = ++*field, *from = to;
    for (; *from; from++) {
        if (*from == '"' && from[1] != '"') break;
        if (*from == '"') from++;
        *to++ = *from;
    }
    if (!*from) return false;
    do from++;
    while (is_blank(*from));
    if (*from && *from != ',') return false;
    *next = *from ? from + 1 : NULL;
    *to = 0;
    return true;
}

/* Cuts a line into fields. */
static sx_status cut_fields(sx_csv *csv, char *line) {
    csv->n_fields = 0;
    for (char *field = line; field;) {
        while (is_blank(*field)) field++;
        const sx_place place = {csv->name, csv->line, (int)(field - line) + 1};
        char *next = NULL;
        if (csv->n_fields == SX_CSV_COLUMNS)
            return sx_error_at(place, "more than %d columns", SX_CSV_COLUMNS);
        if (*field != '"')
            next = end_plain(field);
        else if (!end_quoted(&field, &next))
            return sx_error_hint(sx_error_at(place, "a quote is not closed at the end of its field"),
                                 "a quote within a quoted field is written twice");
        csv->place[csv->n_fields] = place.column;
        csv->field[csv->n_fields++] = field;
        field = next;
    }
    return SX_OK;
}

/* Cuts the next line that is not empty; *more is false at the end. */
static sx_status cut_line(sx_csv *csv, bool *more) {
    char *line;
    do {
        *more = *csv->at != 0;
        if (!*more) return SX_OK;
        line = csv->at;
        size_t size = strcspn(line, "\n");
        csv->at = line + size + (line[size] == '\n');
        line[size] = 0;
        if (size > 0 && line[size - 1] == '\r') line[size - 1] = 0;
        csv->line++;
    } while (line[strspn(line, " \t")] == 0);
    return cut_fields(csv, line);
}

sx_place sx_csv_place(const sx_csv *csv, int column) {
    return (sx_place){csv->name, csv->line,
                      column >= 0 && (size_t)column < csv->n_fields ? csv->place[column] : 1};
}

sx_status sx_csv_parse(const char *name, SX_TAKE char *text, size_t size, sx_csv *out) {
    bool more = false;
    *out = (sx_csv){.name = name, .text = text, .at = text};
    sx_status status =
        strlen(text) == size ? SX_OK : sx_error_at((sx_place){name, 0, 0}, "the file is not text");
    if (!status) status = cut_line(out, &more);
    if (!status && !more)
        status = sx_error_hint(sx_error_at((sx_place){name, 0, 0}, "the file is empty"),
                               "the first line names the columns");
    out->n_columns = out->n_fields;
    memcpy(out->column, out->field, sizeof out->column);
    if (status) sx_csv_fini(out);
    return status;
}

sx_status sx_csv_open(const char *path, sx_csv *out) {
    char *text;
    size_t size;
    SX_TRY(sx_file_read(path, FILE_LIMIT, &text, &size));
    return sx_csv_parse(path, text, size, out);
}

void sx_csv_fini(sx_csv *csv) {
    free(csv->text);
    csv->text = NULL;
}

sx_status sx_csv_next(sx_csv *csv, bool *more) {
    SX_TRY(cut_line(csv, more));
    if (!*more || csv->n_fields == csv->n_columns) return SX_OK;
    return sx_error_at(sx_csv_place(csv, (int)csv->n_columns), "%zu fields, but %zu columns", csv->n_fields,
                       csv->n_columns);
}

int sx_csv_column(const sx_csv *csv, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < csv->n_columns; c++)
            if (strcmp(csv->column[c], names[i]) == 0) return (int)c;
    return -1;
}

sx_status sx_csv_number(const sx_csv *csv, int column, double *out) {
    if (sx_text_double(csv->field[column], out) && isfinite(*out)) return SX_OK;
    return sx_error_at(sx_csv_place(csv, column), "'%s' must be a number, not '%.40s'", csv->column[column],
                       csv->field[column]);
}

void sx_csv_add(sx_text *out, const char *text, const char *after) {
    const char *quote =
        strpbrk(text, ",\"\r\n") || is_blank(*text) || (*text && is_blank(text[strlen(text) - 1])) ? "\""
                                                                                                   : "";
    sx_text_add(out, "%s", quote);
    for (; *text; text++) sx_text_add(out, *text == '"' ? "\"\"" : "%c", *text);
    sx_text_add(out, "%s%s", quote, after);
}
