#include "text/settings.h"

#include "base/text.h"
#include "sextant/problem.h"

#include <stdio.h>
#include <string.h>

enum { MAX_SHOWN = 8 };

typedef struct known_name {
    char text[SX_NAME_SIZE];
    bool used, shown;
} known_name;

void sx_settings_fini(sx_settings *settings) {
    sx_vector_clear(&settings->names);
}

/* What is kept of a name, NULL: nothing. */
static known_name *find_name(const sx_settings *settings, const char *name) {
    for (size_t i = 0; i < settings->names.n; i++) {
        known_name *known = sx_vector_at(&settings->names, i);
        if (strncmp(known->text, name, sizeof known->text - 1) == 0) return known;
    }
    return NULL;
}

sx_status sx_settings_know(sx_settings *settings, const char *name, bool used) {
    if (!settings) return SX_OK;
    known_name *known = find_name(settings, name);
    if (!known) {
        settings->names.size = sizeof *known;
        known = sx_vector_add(&settings->names);
        if (!known) return sx_error_memory();
        *known = (known_name){0};
        snprintf(known->text, sizeof known->text, "%s", name);
    }
    known->used |= used;
    return SX_OK;
}

/* The name nearest to `name` among those that are not shown yet, NULL past the last. */
static known_name *nearest_name(const sx_settings *settings, const char *name) {
    known_name *nearest = NULL;
    for (size_t i = 0; i < settings->names.n; i++) {
        known_name *known = sx_vector_at(&settings->names, i);
        if (known->shown || strcmp(known->text, name) == 0) continue;
        if (!nearest || sx_text_distance(name, known->text) < sx_text_distance(name, nearest->text))
            nearest = known;
    }
    return nearest;
}

sx_status sx_settings_check(const sx_settings *settings, const char *name, const char *value) {
    const known_name *own = find_name(settings, name);
    if (own && own->used) return SX_OK;
    sx_status error =
        sx_error_new(SX_ERR_USAGE, "'%.64s' is set to '%.64s', but nothing uses it", name, value);
    sx_text list = {0};
    known_name *known;
    size_t n = 0;
    for (size_t i = 0; i < settings->names.n; i++) {
        known = sx_vector_at(&settings->names, i);
        known->shown = false;
    }
    for (; n < MAX_SHOWN && (known = nearest_name(settings, name)); n++) {
        known->shown = true;
        sx_text_add(&list, "%s%s", n ? ", " : "", known->text);
    }
    if (n && nearest_name(settings, name)) sx_text_add(&list, ", ...");
    if (list.failed)
        error = sx_error_hint(error, "leave it out");
    else if (n)
        error = sx_error_hint(error, "names that can be set here: %s", list.data);
    else
        error = sx_error_hint(error, "%s: leave it out",
                              own ? "it is a variable of the files that no expression uses"
                                  : "the input has no variable and no open size");
    sx_text_free(&list);
    return error;
}
