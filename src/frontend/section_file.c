#include "frontend/section_file.h"
#include "frontend/keys.h"

#include "text/document/yaml.h"
#include "text/template/template.h"

#include <stdio.h>

enum { MAX_MEMORY = 16 << 20 };

/* Finds the only section of a source and reads it. */
static sx_status read_source(const sx_section_file *kind, sx_arena *arena, const sx_source *source,
                             const char *name, void *out) {
    const sx_key_rule rule = SX_KEY(kind->key, NULL, NULL);
    const sx_keys keys = {kind->key, false, &rule, 1};
    const sx_node **roots;
    const sx_pair *found = NULL;
    char file[64];
    size_t n;
    snprintf(file, sizeof file, "a file of a %s", kind->key);
    SX_TRY(sx_yaml_read(arena, source, &roots, &n));
    for (size_t i = 0; i < n; i++) {
        SX_TRY(sx_node_check_keys(NULL, roots[i], file, &keys));
        const sx_pair *pair = sx_node_pair(roots[i], kind->key);
        if (pair && found)
            return sx_error_hint(sx_error_at(pair->place, "second %s; the first is at %d:%d", kind->key,
                                             found->place.line, found->place.column),
                                 "put each %s into its own file", kind->key);
        if (pair) found = pair;
    }
    if (found) return kind->read(found->value, out);
    return sx_error_hint(sx_error_at((sx_place){name, 0, 0}, "no %s given", kind->key),
                         "`%s:` must be a top-level section", kind->key);
}

/* Reads a source unless there is an error already, frees it, and adds a hint where an error has none. */
static sx_status finish_reading(const sx_section_file *kind, sx_arena *arena, sx_source *source,
                                const char *name, sx_status status, void *out) {
    if (!status) status = read_source(kind, arena, source, name, out);
    sx_source_fini(source);
    sx_arena_free(arena);
    if (!status || status->hint || status->code != SX_ERR_INPUT) return status;
    return sx_error_hint(status, "%s", kind->example);
}

sx_status sx_section_file_read(const sx_section_file *kind, const char *path, void *out) {
    sx_arena arena = {.limit = MAX_MEMORY};
    sx_source source = {0};
    return finish_reading(kind, &arena, &source, path, sx_source_file(&arena, NULL, path, &source), out);
}

sx_status sx_section_file_parse(const sx_section_file *kind, const char *name, const char *text, size_t size,
                                void *out) {
    sx_arena arena = {.limit = MAX_MEMORY};
    sx_source source = {0};
    return finish_reading(kind, &arena, &source, name,
                          sx_source_text(&arena, NULL, name, text, size, &source), out);
}
