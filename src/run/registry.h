/* The navigators of this build, and their settings. */
#ifndef SX_RUN_REGISTRY_H
#define SX_RUN_REGISTRY_H

#include "run/navigator.h"

typedef struct sx_registered {
    const char *name, *about;
    const char *needs;             /* of a build */
    const sx_navigator *navigator; /* NULL: not built */
} sx_registered;

/* Entry `index`, NULL past the last. */
const sx_registered *sx_registered_at(size_t index);

/* The name of a navigator among those of its space: of `place_exact`, `exact`, as people write it. */
const char *sx_navigator_short(const char *name);

/* Whether a navigator searches spaces of that type. */
bool sx_navigator_suits(const sx_navigator *navigator, const char *space);

/* Whether "name:key=value,..." names a navigator that can say how it closed the space. */
bool sx_navigator_proves(const char *text);

/* A navigator chosen with its settings, out of "name:key=value,...". *settings has one value for each of the
 * navigator's. The name is a short one among those that search spaces of type `space`, or a whole one; an unknown name is
 * answered with those; NULL: with all. */
SX_MUST_USE sx_status sx_settings_read(const char *text, const char *space, const sx_registered **entry,
                                       SX_OWN double **settings);

/* The settings of a navigator, one value for each, out of "key=value,..."; NULL: as preset. One block, freed
 * with free(): a text lies behind the values, and its value is its place in the block. */
SX_MUST_USE sx_status sx_settings_of(const sx_registered *entry, const char *text, SX_OWN double **out);

/* The setting number `index`, which is a text. */
const char *sx_settings_text_at(const double *settings, size_t index);

/* The text that sx_settings_read reads back to the same values. */
SX_MUST_USE sx_status sx_settings_text(const sx_registered *entry, const double *settings, SX_OWN char **out);

#endif
