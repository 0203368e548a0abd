#include "cli/list_surrogates.h"

#include "report/json_parts.h"
#include "report/table.h"
#include "surrogate/shipped.h"

#include <string.h>

/* The name of a surrogate's file, without folder and ending. */
static void name_of(const char *path, char *out, size_t size) {
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    snprintf(out, size, "%.*s", (int)(strlen(base) - strlen(SX_SURROGATE_SUFFIX)), base);
}

/* The space that a surrogate is for, in words. */
static const char *space_of(const sx_surrogate *s) {
    return s->space.keep_all     ? "every tensor kept"
           : s->space.remainders ? "whole space, remainders"
           : s->space.no_banks   ? "whole space, no banks"
                                 : "whole space";
}

/* Adds the line of one. */
static void add_row(const char *name, const sx_surrogate *s, sx_table *table) {
    sx_table_cell(table, "%s", name);
    sx_table_cell(table, "%s", s->arch);
    sx_table_cell(table, "%s", s->family);
    sx_table_cell(table, "%s", space_of(s));
    sx_table_cell(table, "%s weights", sx_show_count((double)s->net->n_parameters).text);
    sx_table_cell(table, "rank correlation %.4f", s->record.rank);
}

static void add_object(const char *name, const sx_surrogate *s, json_t *list) {
    sx_json_append(list, json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:I, s:o, s:o}", "name", name, "arch",
                                   s->arch, "family", s->family, "ranges", s->family_text, "keep_all",
                                   s->space.keep_all, "remainders", s->space.remainders, "no_banks",
                                   s->space.no_banks, "weights", (json_int_t)s->net->n_parameters,
                                   "held_out_loss", sx_json_real(s->record.held_loss), "rank_correlation",
                                   sx_json_real(s->record.rank)));
}

/* Reads all of them into a table, or a list. */
static sx_status list_surrogates(sx_table *table, json_t *objects) {
    sx_shipped all;
    sx_status status = sx_shipped_list(&all);
    for (size_t i = 0; !status && i < all.n; i++) {
        sx_surrogate *s;
        char name[256];
        status = sx_surrogate_read(all.path[i], &s);
        if (status) break;
        name_of(all.path[i], name, sizeof name);
        if (table) add_row(name, s, table);
        if (objects) add_object(name, s, objects);
        sx_surrogate_free(s);
    }
    sx_shipped_free(&all);
    return status;
}

sx_status sx_list_surrogates(int indent, sx_text *out) {
    sx_table table;
    sx_table_begin(&table, "llllrr");
    sx_status status = list_surrogates(&table, NULL);
    sx_table_end(&table, indent, out);
    return status;
}

sx_status sx_list_surrogates_json(json_t *objects) {
    return list_surrogates(NULL, objects);
}
