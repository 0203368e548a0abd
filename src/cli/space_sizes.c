/* The account of a space's size. */
#include "cli/space_report.h"

#include "cli/json_parts.h"
#include "cli/table.h"

#include <math.h>
#include <stdio.h>

/* A line's count as text; an estimate with its sign and its error. */
static sx_shown show_size(const sx_size *size) {
    char count[30];
    sx_shown shown;
    if (size->count.exact && size->count.high == 0 && size->count.log10 < 10)
        return sx_show_count((double)size->count.low);
    sx_cardinal_text(&size->count, count, sizeof count);
    snprintf(shown.text, sizeof shown.text, "%s%s", size->error > 0 ? "~" : "", count);
    return shown;
}

/* What a reduction leaves of the raw size, as a share. */
static sx_shown show_share(double log10) {
    sx_shown shown;
    if (log10 >= -3)
        snprintf(shown.text, sizeof shown.text, "%.3g%%", 100 * pow(10, log10));
    else
        snprintf(shown.text, sizeof shown.text, "1 / %.2g", pow(10, -log10));
    return shown;
}

static void size_row(sx_table *table, const sx_size *size, double raw) {
    sx_table_cell(table, "%s", size->name);
    sx_table_cell(table, "%s", show_size(size).text);
    if (size->error > 0)
        sx_table_cell(table, "+-%s", sx_show_percent(size->error).text);
    else
        sx_table_blank(table, 1);
    if (!size->component && isfinite(raw) && size->count.log10 < raw)
        sx_table_cell(table, "%s", show_share(size->count.log10 - raw).text);
    else
        sx_table_blank(table, 1);
    sx_table_cell(table, "%.90s", size->about);
}

void sx_space_print_sizes(const sx_search_space *s, sx_text *out) {
    sx_table table;
    sx_size size;
    double raw = NAN;
    bool whole = false;
    sx_text_add(out, "Map space of %s on %s\n", *s->problem.name ? s->problem.name : "the problem",
                *s->arch.name ? s->arch.name : "the architecture");
    sx_table_begin(&table, "lrlro");
    sx_table_heading(&table, "what is chosen, in how many ways");
    for (size_t i = 0; sx_space_size(s->space, i, &size); i++) {
        if (!size.component && !whole) {
            sx_table_heading(&table, "%s", "");
            sx_table_heading(&table, "how many mappings, and which share of them each reduction leaves");
            raw = size.count.log10;
            whole = true;
        }
        size_row(&table, &size, raw);
    }
    sx_table_end(&table, 2, out);
}

static json_t *size_json(const sx_size *size) {
    char count[64];
    sx_cardinal_text(&size->count, count, sizeof count);
    json_t *object = json_pack("{s:s, s:s, s:o, s:b, s:s}", "name", size->name, "count", count, "log10",
                               sx_json_number(size->count.log10), "exact",
                               size->count.exact && size->error == 0, "about", size->about);
    if (size->error > 0) json_object_set_new(object, "error", json_real(size->error));
    return object;
}

void sx_space_json_sizes(const sx_space *space, json_t *object) {
    json_t *components = json_array(), *sizes = json_array();
    sx_size size;
    for (size_t i = 0; sx_space_size(space, i, &size); i++)
        json_array_append_new(size.component ? components : sizes, size_json(&size));
    json_object_set_new(object, "components", components);
    json_object_set_new(object, "sizes", sizes);
}
