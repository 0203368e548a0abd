/* Tables of comma-separated values whose first line names the columns. Blanks around fields do not count; fields may
 * stand in double quotes. */
#ifndef SX_TEXT_CSV_H
#define SX_TEXT_CSV_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

#define SX_CSV_COLUMNS 64

typedef struct sx_csv {
    const char *name; /* of the file, for places */
    char *text, *at;  /* the file, and where the next line begins */
    int line;
    size_t n_columns, n_fields;   /* of the first line, and of the one at hand */
    char *column[SX_CSV_COLUMNS]; /* names */
    char *field[SX_CSV_COLUMNS];  /* of the line at hand, zero-terminated */
    int place[SX_CSV_COLUMNS];    /* of their first characters */
} sx_csv;

/* Reads the names of the columns of a file, or of a zero-terminated text of `size` characters, which is freed after an
 * error. The name must outlive the table, which is freed with sx_csv_fini. */
SX_MUST_USE sx_status sx_csv_open(const char *path, sx_csv *out);
SX_MUST_USE sx_status sx_csv_parse(const char *name, SX_TAKE char *text, size_t size, sx_csv *out);
void sx_csv_fini(sx_csv *csv);

/* Cuts the next line that is not empty into fields; *more is false at the end. A line with another number of fields
 * than there are columns is an error. */
SX_MUST_USE sx_status sx_csv_next(sx_csv *csv, bool *more);

/* The number of the first column of one of n names; -1 where there is none. */
int sx_csv_column(const sx_csv *csv, const char *const *names, size_t n);

/* The place of a field of the line at hand. */
sx_place sx_csv_place(const sx_csv *csv, int column);

/* The number in a field of the line at hand; an error with the column's name where there is none. */
SX_MUST_USE sx_status sx_csv_number(const sx_csv *csv, int column, double *out);

/* Adds a field, in quotes where a reader would otherwise take it for another one (RFC 4180), and what follows it. All
 * texts of CSV files that are written go through here. */
void sx_csv_add(sx_text *out, const char *text, const char *after);

#endif
