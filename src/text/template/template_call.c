/* The functions that templates may call. */
#include "text/document/yaml.h"
#include "text/template/expression_filter.h"
#include "text/template/template_render.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char sx_template_functions[] =
    "include, include_all, include_text, add_to_path, cwd, path_exists, find_path, range and len";

enum { MAX_RANGE = 10000 };

/* Reads an included file and gives its only document, NULL where there is none. */
static SX_MUST_USE sx_status read_document(sx_template *t, sx_place place, const sx_included *file,
                                           const sx_node **out) {
    sx_source_builder b = {0};
    sx_source source;
    const sx_node **roots;
    size_t n = 0;
    SX_TRY(sx_source_finish(&b, sx_template_include(t, place, file, &b), &source));
    if (t->x->options->like_timeloop) sx_source_like_timeloop(&source);
    sx_status status = sx_yaml_read(t->x->arena, &source, &roots, &n);
    sx_source_fini(&source);
    if (!status && n > 1)
        status = sx_error_hint(sx_error_at(place, "'%s' has %zu documents", file->name, n),
                               "include a file with one, or its text by include_text");
    if (!status) *out = n ? roots[0] : NULL;
    return status;
}

/* The value under keys with dots between them. */
static SX_MUST_USE sx_status follow_keys(sx_template *t, sx_place place, const sx_included *file,
                                         const char *keys, const sx_node **node) {
    while (*(keys += strspn(keys, "."))) {
        size_t length = strcspn(keys, ".");
        const char *key = sx_arena_copy(t->x->arena, keys, length);
        if (!key) return sx_arena_error(t->x->arena);
        *node = sx_node_get(*node, key);
        if (!*node) return sx_error_at(place, "the included file '%s' has no '%s'", file->name, key);
        keys += length;
    }
    return SX_OK;
}

/* A list of values; where all of them are lists, of their items. */
static SX_MUST_USE sx_status make_list(sx_arena *arena, sx_place place, const sx_node **part, size_t n,
                                       const sx_node **out) {
    size_t items = 0;
    bool flat = true;
    for (size_t i = 0; i < n; i++) {
        flat &= part[i]->kind == SX_NODE_LIST;
        items += part[i]->n;
    }
    if (!flat) items = n;
    sx_node *list = sx_arena_alloc(arena, 1, sizeof *list);
    const sx_node **item = sx_arena_alloc(arena, items, sizeof *item);
    if (!list || !item) return sx_arena_error(arena);
    *list = (sx_node){.kind = SX_NODE_LIST, .place = place, .item = item};
    for (size_t i = 0; i < n; i++) {
        if (!flat) item[list->n++] = part[i];
        for (size_t k = 0; k < part[i]->n && flat; k++) item[list->n++] = part[i]->item[k];
    }
    *out = list;
    return sx_node_measure(list);
}

/* include and include_all: reads files as documents; their value is a scalar with a tag of its own. */
static SX_MUST_USE sx_status include_template(sx_template *t, sx_place place, const sx_value *argument,
                                              size_t n, bool all, sx_value *out) {
    static const sx_node nothing = {.kind = SX_NODE_NULL, .text = "", .weight = 1, .height = 1};
    sx_arena *arena = t->x->arena;
    const sx_included *file;
    size_t n_files, index;
    SX_TRY(sx_include_find(t->x, &t->search, place, argument[0].text, &file, &n_files));
    if (!all && n_files > 1)
        return sx_error_hint(sx_error_at(place, "'%s' is found as '%s' and as '%s'", argument[0].text,
                                         file[0].name, file[1].name),
                             "include_all reads several files");
    const sx_node **part = sx_arena_alloc(arena, n_files, sizeof *part), *node;
    if (!part) return sx_arena_error(arena);
    for (size_t i = 0; i < n_files; i++) {
        SX_TRY(read_document(t, place, &file[i], &part[i]));
        if (!part[i]) part[i] = &nothing;
        if (n > 1) SX_TRY(follow_keys(t, place, &file[i], argument[1].text, &part[i]));
    }
    node = part[0];
    if (n_files > 1) SX_TRY(make_list(arena, place, part, n_files, &node));
    SX_TRY(sx_source_add_node(t->out, node, &index));
    char text[64];
    int length = snprintf(text, sizeof text, SX_INCLUDED_TAG " %zu", index);
    const char *copy = sx_arena_copy(arena, text, (size_t)length);
    if (!copy) return sx_arena_error(arena);
    *out = sx_value_text(copy);
    return SX_OK;
}

/* include_text: the files, whose text is put where the value is written. */
static SX_MUST_USE sx_status include_text(sx_template *t, sx_place place, const char *path, sx_value *out) {
    const sx_included *file;
    size_t n;
    SX_TRY(sx_include_find(t->x, &t->search, place, path, &file, &n));
    sx_value *item = sx_arena_alloc(t->x->arena, 2 * n, sizeof *item);
    if (!item) return sx_arena_error(t->x->arena);
    for (size_t i = 0; i < n; i++) {
        item[2 * i] = sx_value_text(file[i].name);
        item[2 * i + 1] = sx_value_text(file[i].real);
    }
    *out = (sx_value){.kind = SX_VALUE_FILES, .item = item, .n = 2 * n};
    return SX_OK;
}

/* add_to_path: looks for files in the folder, too. */
static SX_MUST_USE sx_status add_to_path(sx_template *t, sx_place place, const char *path, sx_value *out) {
    const sx_included *folder;
    size_t n;
    SX_TRY(sx_include_find(t->x, &t->search, place, path, &folder, &n));
    for (size_t i = 0; i < n; i++) {
        if (t->search.n == SX_MAX_FOLDERS)
            return sx_error_at(place, "more than %d folders are added", SX_MAX_FOLDERS);
        size_t length = strlen(folder[i].name);
        char *name = sx_arena_alloc(t->x->arena, length + 2, 1);
        if (!name) return sx_arena_error(t->x->arena);
        memcpy(name, folder[i].name, length);
        if (length && name[length - 1] != '/') name[length] = '/';
        t->search.more[t->search.n++] = name;
    }
    *out = sx_value_text("");
    return SX_OK;
}

/* cwd: the folder of the file, links followed. */
static SX_MUST_USE sx_status own_folder(const sx_template *t, sx_place place, sx_value *out) {
    const char *real;
    SX_TRY(sx_real_path(t->x->arena, t->search.own, &real));
    if (!t->x->root || !real)
        return sx_error_at(place, "this text was not read from a file, so it has no folder");
    *out = sx_value_text(real);
    return SX_OK;
}

/* find_path: the first file or folder that a path leads to, links followed. */
static SX_MUST_USE sx_status find_path(const sx_template *t, sx_place place, const char *path,
                                       sx_value *out) {
    const sx_included *file;
    size_t n;
    SX_TRY(sx_include_find(t->x, &t->search, place, path, &file, &n));
    *out = sx_value_text(file[0].real);
    return SX_OK;
}

/* range: whole numbers from 0 or a first one up to a last one, which is left out, by 1 or a step. */
static SX_MUST_USE sx_status call_range(sx_arena *arena, sx_place place, const sx_value *argument, size_t n,
                                        sx_value *out) {
    double first = 0, last = 0, step = 1;
    for (size_t i = 0; i < n; i++)
        if (!sx_value_numeric(&argument[i]) || argument[i].number != floor(argument[i].number))
            return sx_error_at(place, "the arguments of 'range' must be whole numbers");
    if (n > 1) first = argument[0].number;
    last = argument[n > 1].number;
    if (n > 2) step = argument[2].number;
    double count = step == 0 ? -1 : ceil((last - first) / step);
    if (step == 0 || count > MAX_RANGE)
        return sx_error_at(place, "'range' has a step of 0 or more than %d numbers", MAX_RANGE);
    size_t items = count > 0 ? (size_t)count : 0;
    sx_value *item = sx_arena_alloc(arena, items ? items : 1, sizeof *item);
    if (!item) return sx_arena_error(arena);
    *out = (sx_value){.kind = SX_VALUE_LIST, .item = item, .n = items};
    for (size_t i = 0; i < items; i++) {
        item[i] = sx_value_number(first + (double)i * step, true);
        out->size += sx_value_size(&item[i]);
    }
    return SX_OK;
}

sx_status sx_template_call(void *user, sx_place place, const char *name, const sx_value *argument, size_t n,
                           sx_value *out, bool *known) {
    static const char *const names[] = {"include",     "include_all", "include_text", "add_to_path",
                                        "path_exists", "find_path",   "cwd"};
    enum { INCLUDE, INCLUDE_ALL, INCLUDE_TEXT, ADD_TO_PATH, PATH_EXISTS, FIND_PATH, CWD, N_NAMES };
    sx_template *t = user;
    size_t which = 0, most;
    *known = true;
    if (strcmp(name, "range") == 0 && n >= 1 && n <= 3)
        return call_range(t->x->arena, place, argument, n, out);
    if (strcmp(name, "len") == 0 && n == 1)
        return sx_filter_apply(t->x->arena, "length", argument, NULL, 0, out, known);
    while (which < N_NAMES && strcmp(name, names[which]) != 0) which++;
    *known = which < N_NAMES;
    if (!*known) return SX_OK;
    most = which == CWD ? 0 : which <= INCLUDE_ALL ? 2 : 1;
    if (n > most || n < (which != CWD))
        return sx_error_at(place, "'%s' has the wrong number of arguments", name);
    for (size_t i = 0; i < n; i++)
        if (argument[i].kind != SX_VALUE_TEXT)
            return sx_error_at(place, "the arguments of '%s' must be texts", name);
    if (which <= INCLUDE_ALL) return include_template(t, place, argument, n, which == INCLUDE_ALL, out);
    if (which == INCLUDE_TEXT) return include_text(t, place, argument[0].text, out);
    if (which == ADD_TO_PATH) return add_to_path(t, place, argument[0].text, out);
    if (which == FIND_PATH) return find_path(t, place, argument[0].text, out);
    if (which == CWD) return own_folder(t, place, out);
    bool exists = false;
    SX_TRY(sx_include_exists(t->x, &t->search, argument[0].text, &exists));
    *out = sx_value_bool(exists);
    return SX_OK;
}
