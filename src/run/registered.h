/* Navigators that a run can be told by name, and their settings. Which there are stands above: registry/. */
#ifndef SX_RUN_REGISTERED_H
#define SX_RUN_REGISTERED_H

#include "run/navigator.h"

typedef struct sx_registered {
    const char *name, *about;
    const char *needs;             /* of a build */
    const sx_navigator *navigator; /* NULL: not built */
} sx_registered;

/* All that a run may name. */
typedef struct sx_registry {
    const sx_registered *entry;
    size_t n;
} sx_registry;

/* The entry of "name" or "name:...", hyphens and underscores being alike; NULL where there is none. */
const sx_registered *sx_registry_find(const sx_registry *registry, const char *text);

/* The registry of a run. */
const sx_registry *sx_run_registry(const sx_run *run);

/* sx_run_search and sx_run_search_by among the navigators of a registry; what is found may call others of it. */
SX_MUST_USE sx_status sx_run_search_among(sx_run *run, const sx_registry *registry, const char *navigator);
SX_MUST_USE sx_status sx_run_search_own(sx_run *run, const sx_registry *registry, const char *name,
                                        const sx_navigator *navigator, const char *settings);

/* The name of a navigator among those of its space: of `place_exact`, `exact`, as people write it. */
const char *sx_navigator_short(const char *name);

/* Whether a navigator searches spaces of that type. */
bool sx_navigator_suits(const sx_navigator *navigator, const char *space);

/* A navigator chosen with its settings, out of "name:key=value,...". *settings has one value for each of the
 * navigator's. The name is a short one among those that search spaces of type `space`, or a whole one; an unknown name is
 * answered with those; NULL: with all. */
SX_MUST_USE sx_status sx_settings_read(const sx_registry *registry, const char *text, const char *space,
                                       const sx_registered **entry, SX_OWN double **settings);

/* The settings of a navigator, one value for each, out of "key=value,..."; NULL: as preset. One block, freed
 * with free(): a text lies behind the values, and its value is its place in the block. */
SX_MUST_USE sx_status sx_settings_of(const sx_registered *entry, const char *text, SX_OWN double **out);

/* The setting number `index`, which is a text. */
const char *sx_settings_text_at(const double *settings, size_t index);

/* The text that sx_settings_read reads back to the same values. */
SX_MUST_USE sx_status sx_settings_text(const sx_registered *entry, const double *settings, SX_OWN char **out);

#endif
