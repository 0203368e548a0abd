/* The sizes of a space. */
#include "report/space_report.h"

#include "report/json_parts.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

enum { ROOM = 48 };

/* A line's count as text: digits in groups of three, or a power of ten; an estimate with its sign. */
static void count_text(const sx_size *size, char text[ROOM]) {
    char plain[ROOM / 2];
    sx_cardinal_text(&size->count, plain, sizeof plain);
    size_t digits = strspn(plain, "0123456789"), n = strlen(plain);
    if (size->error > 0) *text++ = '~';
    for (size_t i = 0; i < n; i++) {
        if (digits == n && i && (n - i) % 3 == 0) *text++ = ',';
        *text++ = plain[i];
    }
    *text = 0;
}

/* Adds the cells of a line; `raw` is the logarithm of the raw size. */
static void size_row(sx_table *table, const sx_size *size, double raw) {
    char count[ROOM];
    double left = size->count.log10 - raw;
    count_text(size, count);
    sx_table_cell(table, "%s", size->name);
    sx_table_cell(table, "%s", count);
    if (size->error > 0)
        sx_table_cell(table, "+-%s", sx_show_percent(size->error).text);
    else
        sx_table_blank(table, 1);
    if (size->component || !(left < 0))
        sx_table_blank(table, 1);
    else if (left > -3)
        sx_table_cell(table, "%s", sx_show_percent(pow(10, left)).text);
    else
        sx_table_cell(table, "%.1e", pow(10, left));
}

/* Adds line after line of a table, each with what the line of the account is about beside it. */
static void add_abouts(const sx_space *space, const char *rows, sx_text *out) {
    size_t width = 0;
    sx_size size, before = {.component = true};
    for (const char *row = rows; *row; row += strcspn(row, "\n") + 1)
        if (strcspn(row, "\n") > width) width = strcspn(row, "\n");
    for (size_t i = 0; sx_space_size(space, i, &size); i++, before = size) {
        size_t length = strcspn(rows, "\n");
        if (i == 0) sx_text_add(out, "  decisions and their number of choices\n");
        if (before.component && !size.component)
            sx_text_add(out,
                        "\n  number of mappings, and the share of the raw size left by each reduction\n");
        sx_text_add(out, "%.*s%*s", (int)length, rows, (int)(width - length) + 2, "");
        sx_wrap(size.about, (int)width + 2, (int)width + 2, SX_LINE_WIDTH, out);
        rows += length + 1;
    }
}

void sx_space_print_sizes(const sx_search_space *s, sx_text *out) {
    sx_table table;
    sx_size size;
    sx_text rows = {0};
    double raw = NAN;
    sx_text_add(out, "Map space of %s on %s\n", *s->problem.name ? s->problem.name : "the problem",
                *s->arch.name ? s->arch.name : "the architecture");
    sx_table_begin(&table, "lrlr");
    for (size_t i = 0; sx_space_size(s->space, i, &size); i++) {
        if (!size.component && isnan(raw)) raw = size.count.log10;
        size_row(&table, &size, raw);
    }
    sx_table_end(&table, 4, &rows);
    out->failed |= rows.failed;
    if (rows.size) add_abouts(s->space, rows.data, out);
    sx_text_free(&rows);
}

static json_t *size_json(const sx_size *size) {
    char count[64];
    sx_cardinal_text(&size->count, count, sizeof count);
    json_t *object = json_pack("{s:s, s:s, s:o, s:b, s:s}", "name", size->name, "count", count, "log10",
                               sx_json_number(size->count.log10), "exact",
                               size->count.exact && size->error == 0, "about", size->about);
    if (size->error > 0) sx_json_set(object, "error", json_real(size->error));
    return object;
}

void sx_space_json_sizes(const sx_space *space, json_t *object) {
    json_t *components = json_array(), *sizes = json_array();
    sx_size size;
    for (size_t i = 0; sx_space_size(space, i, &size); i++)
        sx_json_append(size.component ? components : sizes, size_json(&size));
    sx_json_set(object, "components", components);
    sx_json_set(object, "sizes", sizes);
}
