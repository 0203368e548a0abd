#include "cli/list_mapper.h"

#include "frontend/document/document.h"
#include "report/json_parts.h"
#include "report/table.h"
#include "sextant/run.h"

#include <math.h>
#include <string.h>

/* A mapper's line of help, NULL where it is not registered. */
static const char *about_mapper(const char *name) {
    const char *entry, *about;
    for (size_t i = 0; (entry = sx_navigator_name(i, &about)); i++)
        if (sx_key_equal(entry, name)) return about;
    return NULL;
}

bool sx_is_mapper(const char *name) {
    return about_mapper(name) != NULL;
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

void sx_list_mapper(const char *name, sx_text *out) {
    sx_table table;
    sx_setting_about setting;
    sx_text_add(out, "%s: %s\n", name, about_mapper(name));
    if (!sx_navigator_setting(name, 0, &setting)) return;
    const char *space = sx_navigator_space(name),
               *option = space && strcmp(space, "map") ? "method" : "mapper";
    sx_text_add(out, "\nSettings, as in --%s %s:%s=...\n\n", option, name, setting.name);
    sx_table_begin(&table, "lrll");
    sx_table_cell(&table, "setting");
    sx_table_cell(&table, "default");
    sx_table_cell(&table, "range");
    sx_table_cell(&table, "description (source)");
    for (size_t i = 0; sx_navigator_setting(name, i, &setting); i++) add_row(&setting, &table);
    sx_table_end(&table, 2, out);
}

sx_status sx_list_mapper_json(const char *name, sx_text *out) {
    sx_setting_about s;
    json_t *list = json_array();
    for (size_t i = 0; sx_navigator_setting(name, i, &s); i++) {
        json_t *item = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "name", s.name, "about", s.text, "source",
                                 sx_json_string(s.source), "default", sx_json_number(s.preset), "low",
                                 sx_json_number(s.low), "high", sx_json_number(s.high));
        item = sx_json_append(list, item);
        if (!s.words) continue;
        json_t *words = json_array();
        for (size_t w = 0; s.words[w]; w++) json_array_append_new(words, json_string(s.words[w]));
        json_object_set_new(item, "default", json_string(s.words[(size_t)s.preset]));
        json_object_set_new(item, "words", words);
    }
    return sx_json_finish(
        json_pack("{s:s, s:s, s:o}", "name", name, "about", about_mapper(name), "settings", list), out);
}
