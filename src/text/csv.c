#include "text/csv.h"

#include "base/file.h"
#include "text/document/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 1 << 28 };

/* Ends a field that begins at `field`, takes its quotes off, and returns where the next one begins; NULL: it is the
 * last. */
static char *end_field(char **field) {
    char *at = *field;
    if (*at != '"') {
        char *end = strchr(at, ',');
        if (end) *end = 0;
        return end ? end + 1 : NULL;
    }
    char *to = *field = at + 1, *from = to;
    for (; *from; from++) {
        if (*from == '"' && from[1] != '"') break;
        if (*from == '"') from++;
        *to++ = *from;
    }
    char *end = *from ? strchr(from, ',') : NULL;
    *to = 0;
    return end ? end + 1 : NULL;
}

/* Cuts the next line that is not empty; false at the end. */
static bool cut_line(sx_csv *csv) {
    char *line;
    do {
        if (*csv->at == 0) return false;
        line = csv->at;
        size_t size = strcspn(line, "\n");
        csv->at = line + size + (line[size] == '\n');
        line[size] = 0;
        if (size > 0 && line[size - 1] == '\r') line[size - 1] = 0;
        csv->line++;
    } while (line[strspn(line, " \t")] == 0);
    csv->n_fields = 0;
    for (char *begin = line; begin && csv->n_fields < SX_CSV_COLUMNS;) {
        size_t i = csv->n_fields++;
        csv->place[i] = (int)(begin - line) + 1;
        csv->field[i] = begin;
        begin = end_field(&csv->field[i]);
    }
    return true;
}

sx_place sx_csv_place(const sx_csv *csv, int column) {
    return (sx_place){csv->name, csv->line,
                      column >= 0 && (size_t)column < csv->n_fields ? csv->place[column] : 1};
}

sx_status sx_csv_open(const char *path, sx_csv *out) {
    size_t size;
    *out = (sx_csv){.name = path};
    SX_TRY(sx_file_read(path, FILE_LIMIT, &out->text, &size));
    out->at = out->text;
    if (!cut_line(out)) {
        sx_csv_fini(out);
        return sx_error_hint(sx_error_at((sx_place){path, 0, 0}, "the file is empty"),
                             "the first line names the columns");
    }
    out->n_columns = out->n_fields;
    memcpy(out->column, out->field, sizeof out->column);
    return SX_OK;
}

void sx_csv_fini(sx_csv *csv) {
    free(csv->text);
    csv->text = NULL;
}

sx_status sx_csv_next(sx_csv *csv, bool *more) {
    *more = cut_line(csv);
    if (!*more || csv->n_fields == csv->n_columns) return SX_OK;
    return sx_error_at(sx_csv_place(csv, 0), "%zu fields, but %zu columns", csv->n_fields, csv->n_columns);
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
