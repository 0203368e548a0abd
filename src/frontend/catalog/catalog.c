#include "frontend/catalog/catalog.h"

#include "base/text.h"
#include "frontend/timing_section.h"

#include <string.h>

#define MAX_ENTRIES 64

/* Entry `index` of a table. */
static const char *entry_name(const sx_catalog_entry *entries, size_t n, size_t index, const char **about) {
    if (index >= n) return NULL;
    if (about) *about = entries[index].about;
    return entries[index].name;
}

/* Finds an entry by name; an error with the nearest name where there is none. */
static sx_status find_entry(const sx_catalog_entry *entries, size_t n, const char *what, const char *name,
                            const sx_catalog_entry **out) {
    const char *known[MAX_ENTRIES];
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(entries[i].name, name) == 0) {
            *out = &entries[i];
            return SX_OK;
        }
        if (n_known < MAX_ENTRIES) known[n_known++] = entries[i].name;
    }
    sx_status error = sx_error_new(SX_ERR_USAGE, "there is no built-in %s called '%.64s'", what, name);
    const char *nearest = sx_text_nearest(name, known, n_known);
    return nearest ? sx_error_hint(error, "did you mean '%s'?", nearest) : error;
}

const char *sx_catalog_arch_name(size_t index, const char **about) {
    size_t n;
    const sx_catalog_entry *entries = sx_catalog_archs(&n);
    return entry_name(entries, n, index, about);
}

const char *sx_catalog_problem_name(size_t index, const char **about) {
    size_t n;
    const sx_catalog_entry *entries = sx_catalog_problems(&n);
    return entry_name(entries, n, index, about);
}

sx_status sx_catalog_add_arch(const char *name, sx_input *input) {
    size_t n;
    const sx_catalog_entry *entries = sx_catalog_archs(&n), *entry;
    SX_TRY(find_entry(entries, n, "architecture", name, &entry));
    return sx_input_add_text(input, entry->name, entry->text, strlen(entry->text));
}

sx_status sx_catalog_arch_input(const char *name, sx_input **out) {
    sx_input *input;
    SX_TRY(sx_input_new(&input));
    sx_status status = sx_catalog_add_arch(name, input);
    if (status)
        sx_input_free(input);
    else
        *out = input;
    return status;
}

sx_status sx_catalog_timing(const char *name, const sx_arch *arch, sx_timing *out) {
    sx_input *input;
    SX_TRY(sx_catalog_arch_input(name, &input));
    sx_status status = sx_timing_read(input, arch, out);
    sx_input_free(input);
    return status;
}

sx_status sx_catalog_arch(const char *name, sx_arch *out) {
    sx_input *input;
    SX_TRY(sx_catalog_arch_input(name, &input));
    sx_status status = sx_input_arch(input, out);
    sx_input_free(input);
    return status;
}

sx_status sx_catalog_problem(const char *name, sx_problem *out) {
    size_t n;
    const sx_catalog_entry *entries = sx_catalog_problems(&n), *entry;
    sx_problem problem;
    SX_TRY(find_entry(entries, n, "problem", name, &entry));
    SX_TRY(sx_einsum_parse(entry->text, &problem));
    SX_TRY(sx_text_name(problem.name, sizeof problem.name, entry->name, "a problem"));
    *out = problem;
    return SX_OK;
}
