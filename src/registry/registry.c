#include "registry/registry.h"

#include <stdlib.h>

/* What a build lacks has SEXTANT_WITH_<need> 0 and stays listed. */
#define SEXTANT_WITH_ALWAYS 1

#define BUILT(need, name) BUILT_(need, name)
#define BUILT_(with, name) BUILT_##with(name)
#define BUILT_1(name) &sx_navigator_##name
#define BUILT_0(name) NULL

#define ABOUT(with, need, about) ABOUT_(with, need, about)
#define ABOUT_(with, need, about) ABOUT_##with(need, about)
#define ABOUT_1(need, about) about
#define ABOUT_0(need, about) about " (not built: needs " need ")"

#define NAVIGATOR(name, need, about) extern const sx_navigator sx_navigator_##name;
#include "registry/navigators.def"
#undef NAVIGATOR

#define NAVIGATOR(name, need, about)                                                                         \
    {#name, ABOUT(SEXTANT_WITH_##need, #need, about), #need, BUILT(SEXTANT_WITH_##need, name)},
static const sx_registered registered[] = {
#include "registry/navigators.def"
};

const sx_registry sx_navigators = {registered, sizeof registered / sizeof registered[0]};

/* The navigator of "name" or "name:..."; NULL where there is none in this build. */
static const sx_navigator *find_built(const char *text) {
    const sx_registered *entry = sx_registry_find(&sx_navigators, text);
    return entry ? entry->navigator : NULL;
}

const char *sx_navigator_name(size_t index, const char **about) {
    if (index >= sx_navigators.n) return NULL;
    if (about) *about = registered[index].about;
    return registered[index].name;
}

const char *sx_navigator_space(const char *navigator) {
    const sx_navigator *found = find_built(navigator);
    return found ? found->space : NULL;
}

bool sx_navigator_complete(const char *navigator) {
    const sx_navigator *found = find_built(navigator);
    return found && found->complete;
}

bool sx_navigator_proves(const char *text) {
    const sx_navigator *found = find_built(text);
    return found && found->proves;
}

bool sx_navigator_measures(const char *text) {
    const sx_navigator *found = find_built(text);
    return found && found->measures;
}

bool sx_navigator_setting(const char *navigator, size_t index, sx_setting_about *out) {
    const sx_navigator *found = find_built(navigator);
    if (!found || index >= found->n_settings) return false;
    *out = found->settings[index];
    return true;
}

sx_status sx_navigator_text(const char *navigator, const char *space, char **out) {
    const sx_registered *entry;
    double *settings;
    SX_TRY(sx_settings_read(&sx_navigators, navigator, space, &entry, &settings));
    sx_status status = sx_settings_text(entry, settings, out);
    free(settings);
    return status;
}

sx_status sx_run_search(sx_run *run, const char *navigator) {
    return sx_run_search_among(run, &sx_navigators, navigator);
}

sx_status sx_run_search_by(sx_run *run, const char *name, const sx_navigator *navigator,
                           const char *settings) {
    return sx_run_search_own(run, &sx_navigators, name, navigator, settings);
}
