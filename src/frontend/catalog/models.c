#include "frontend/catalog/models.h"

#include "frontend/catalog/catalog.h"
#include "frontend/input.h"

#include <string.h>

static const sx_catalog_entry entries[] = {
#define MODEL(word, name, about) {name, about, sx_model_text_##word},
#include "frontend/catalog/models.def"
};
enum { N_ENTRIES = sizeof entries / sizeof *entries };

const char *sx_catalog_model_name(size_t index, const char **about) {
    if (index >= N_ENTRIES) return NULL;
    if (about) *about = entries[index].about;
    return entries[index].name;
}

/* The entry of that name, NULL where there is none. */
static const sx_catalog_entry *find_model(const char *name) {
    for (size_t i = 0; i < N_ENTRIES; i++)
        if (strcmp(entries[i].name, name) == 0) return &entries[i];
    return NULL;
}

bool sx_catalog_has_phases(const char *name) {
    return find_model(name) != NULL;
}

sx_status sx_catalog_model_graph(const char *name, const sx_network_options *options, sx_graph *out) {
    const sx_catalog_entry *entry = find_model(name);
    sx_input *input;
    if (!entry) return sx_error_new(SX_ERR_INTERNAL, "'%.64s' has no configuration", name);
    SX_TRY(sx_input_new(&input));
    sx_status status = sx_input_add_text(input, entry->name, entry->text, strlen(entry->text));
    if (!status && options) sx_input_set_run(input, options);
    if (!status) status = sx_input_graph(input, out);
    sx_input_free(input);
    return status;
}
