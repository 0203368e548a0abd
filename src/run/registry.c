#include "run/registry.h"

#include "base/text.h"

#include <string.h>

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
#include "run/navigators.def"
#undef NAVIGATOR

#define NAVIGATOR(name, need, about)                                                                         \
    {#name, ABOUT(SEXTANT_WITH_##need, #need, about), #need, BUILT(SEXTANT_WITH_##need, name)},
static const sx_registered registered[] = {
#include "run/navigators.def"
};
enum { N_REGISTERED = sizeof registered / sizeof registered[0] };

const sx_registered *sx_registered_at(size_t index) {
    return index < N_REGISTERED ? &registered[index] : NULL;
}

const char *sx_navigator_name(size_t index, const char **about) {
    const sx_registered *entry = sx_registered_at(index);
    if (entry && about) *about = entry->about;
    return entry ? entry->name : NULL;
}

/* Whether a text is "name" or "name:...", hyphens and underscores being alike. */
static bool names(const char *text, const char *name) {
    for (; *name; name++, text++)
        if (*name != *text && !(*name == '_' && *text == '-')) return false;
    return *text == 0 || *text == ':';
}

/* The entry of "name" or "name:...", NULL where there is none. */
static const sx_registered *find(const char *text) {
    for (size_t i = 0; i < N_REGISTERED; i++)
        if (names(text, registered[i].name)) return &registered[i];
    return NULL;
}

const char *sx_navigator_short(const char *name) {
    static const char prefix[] = "place_";
    return strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
}

bool sx_navigator_suits(const sx_navigator *navigator, const char *space) {
    return !navigator->space || strcmp(navigator->space, space) == 0;
}

const char *sx_navigator_space(const char *navigator) {
    const sx_registered *entry = find(navigator);
    return entry && entry->navigator ? entry->navigator->space : NULL;
}

bool sx_navigator_complete(const char *navigator) {
    const sx_registered *entry = find(navigator);
    return entry && entry->navigator && entry->navigator->complete;
}

bool sx_navigator_proves(const char *text) {
    const sx_registered *entry = find(text);
    return entry && entry->navigator && entry->navigator->proves;
}

bool sx_navigator_setting(const char *navigator, size_t index, sx_setting_about *out) {
    const sx_registered *entry = find(navigator);
    if (!entry || !entry->navigator || index >= entry->navigator->n_settings) return false;
    *out = entry->navigator->settings[index];
    return true;
}
