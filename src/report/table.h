/* Text for a person: aligned tables, numbers, wrapped paragraphs. */
#ifndef SX_REPORT_TABLE_H
#define SX_REPORT_TABLE_H

#include "base/text.h"

enum { SX_LINE_WIDTH = 110, SX_MAX_COLUMNS = 16 };

/* A number made readable, to be used at once: sx_show_count(n).text. */
typedef struct sx_shown {
    char text[32];
} sx_shown;

/* 1234567 is 1,234,567; beyond 10^10 it is 1.2346e+10; below 1000 what is not whole keeps a few digits. */
sx_shown sx_show_count(double value);
/* Picojoules in the unit that suits them, such as 137.9 mJ. */
sx_shown sx_show_energy(double picojoules);
/* A number with the prefix that suits its size, such as 1.234 ms or 61.9 GB. */
sx_shown sx_show_scaled(double value, const char *unit);
/* A number of multiply-accumulates in millions and up, such as 15.47 G. */
sx_shown sx_show_computes(double computes);
/* 0.291 is 29.1%. */
sx_shown sx_show_percent(double fraction);
/* A name cut to `width` characters. */
sx_shown sx_show_name(const char *name, int width);

/* Adds a text as it may be shown on a terminal; returns how many columns it takes. */
int sx_add_shown(sx_text *out, const char *text);

/* A table under construction: cells flow into rows from left to right. */
typedef struct sx_table {
    int n_columns, at; /* at: the next cell's column */
    char align[SX_MAX_COLUMNS];
    bool spare[SX_MAX_COLUMNS], hidden[SX_MAX_COLUMNS]; /* spare: left out first on a narrow terminal */
    int width[SX_MAX_COLUMNS];
    sx_text cells; /* each with its final zero */
} sx_table;

/* Begins a table; `align` has a letter for each column: 'l' left, 'r' right, 'o' left but only where it fits
 * into SX_LINE_WIDTH (for the last one). On a terminal that is narrower, capital letters are the columns that
 * are left out first, from the right; then text in the last column is wrapped and names are cut. */
void sx_table_begin(sx_table *table, const char *align);
void sx_table_cell(sx_table *table, const char *format, ...) SX_PRINTF(2, 3);
/* The same with a text, which is freed. */
void sx_table_cell_text(sx_table *table, sx_text *text);
/* n empty cells. */
void sx_table_blank(sx_table *table, int n);
/* A line of its own between rows. */
void sx_table_heading(sx_table *table, const char *format, ...) SX_PRINTF(2, 3);
/* Prints the table and frees it. */
void sx_table_end(sx_table *table, int indent, sx_text *out);

/* How many bytes of a text make its next line of at most `width` columns: up to a space where there is one.
 */
size_t sx_columns_take(const char *text, size_t size, int width);

/* Adds a paragraph, broken at spaces: the first line starts at column `at`, later ones at column `indent`. */
void sx_wrap(const char *paragraph, int at, int indent, int width, sx_text *out);
/* The same to SX_LINE_WIDTH, freeing the paragraph. */
void sx_wrap_free(sx_text *paragraph, int at, int indent, sx_text *out);

#endif
