#include "cli/list_mapper.h"

#include "registry/registry.h"
#include "report/json_parts.h"
#include "report/table.h"
#include "text/document/document.h"

#include <math.h>
#include <string.h>

/* The next mapper of that name, whole or short, from *index on, and its line of help; NULL where there is none. */
static const char *find_mapper(const char *name, size_t *index, const char **about) {
    const char *entry;
    while ((entry = sx_navigator_name((*index)++, about)))
        if (sx_key_equal(entry, name) || sx_key_equal(sx_navigator_short(entry), name)) return entry;
    return NULL;
}

bool sx_is_mapper(const char *name) {
    const char *about;
    return find_mapper(name, &(size_t){0}, &about) != NULL;
}

/* Adds what a setting may be: its words, or its limits. */
static void add_range(const sx_setting_about *s, sx_text *out) {
    if (!s->words) {
        sx_text_add(out, "%.10g", s->low);
        if (isfinite(s->high) && s->high < 1e15)
            sx_text_add(out, " to %.10g", s->high);
        else
            sx_text_add(out, " and up");
        return;
    }
    for (size_t i = 0; s->words[i]; i++) sx_text_add(out, "%s%s", i ? "|" : "", s->words[i]);
}

static void add_row(const sx_setting_about *s, sx_table *table) {
    sx_text range = {0};
    add_range(s, &range);
    sx_table_cell(table, "%s", s->name);
    if (s->words)
        sx_table_cell(table, "%s", s->words[(size_t)s->preset]);
    else
        sx_table_cell(table, "%.10g", s->preset);
    sx_table_cell_text(table, &range);
    sx_table_cell(table, "%s%s%s%s", s->text, s->source ? " (" : "", s->source ? s->source : "",
                  s->source ? ")" : "");
}

/* Adds a mapper, called by the name that was asked for, and its settings. */
static void list_one(const char *mapper, const char *name, const char *about, sx_text *out) {
    sx_table table;
    sx_setting_about setting;
    sx_text_add(out, "%s: %s\n", name, about);
    if (!sx_navigator_setting(mapper, 0, &setting)) return;
    const char *space = sx_navigator_space(mapper),
               *option = space && strcmp(space, "map") != 0 ? "method" : "mapper";
    sx_text_add(out, "\nSettings, as in --%s %s:%s=...\n\n", option, name, setting.name);
    sx_table_begin(&table, "lrll");
    sx_table_cell(&table, "setting");
    sx_table_cell(&table, "default");
    sx_table_cell(&table, "range");
    sx_table_cell(&table, "description (source)");
    for (size_t i = 0; sx_navigator_setting(mapper, i, &setting); i++) add_row(&setting, &table);
    sx_table_end(&table, 2, out);
}

void sx_list_mapper(const char *name, sx_text *out) {
    const char *mapper, *about;
    for (size_t i = 0, n = 0; (mapper = find_mapper(name, &i, &about)); n++) {
        if (n > 0) sx_text_add(out, "\n");
        list_one(mapper, name, about, out);
    }
}

sx_status sx_list_mapper_json(const char *name, sx_text *out) {
    sx_setting_about s;
    const char *about, *mapper = find_mapper(name, &(size_t){0}, &about);
    json_t *list = json_array();
    for (size_t i = 0; sx_navigator_setting(mapper, i, &s); i++) {
        json_t *item = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "name", s.name, "about", s.text, "source",
                                 sx_json_string(s.source), "default", sx_json_number(s.preset), "low",
                                 sx_json_number(s.low), "high", sx_json_number(s.high));
        item = sx_json_append(list, item);
        if (!s.words) continue;
        json_t *words = json_array();
        for (size_t w = 0; s.words[w]; w++) sx_json_append(words, json_string(s.words[w]));
        sx_json_set(item, "default", json_string(s.words[(size_t)s.preset]));
        sx_json_set(item, "words", words);
    }
    return sx_json_finish(json_pack("{s:s, s:s, s:o}", "name", name, "about", about, "settings", list), out);
}
