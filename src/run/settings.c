/* Reading and writing "name:key=value,key=value". */
#include "base/text.h"
#include "run/registered.h"
#include "text/document/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_SIZE = 64, MAX_WORDS = 64 };

/* Copies the text before one of the marks, or the end, and moves past it; an error where that is long. */
static sx_status take_word(const char **at, const char *marks, char word[WORD_SIZE]) {
    size_t length = strcspn(*at, marks);
    if (length >= WORD_SIZE)
        return sx_error_new(SX_ERR_USAGE, "'%.20s...' is too long for a navigator, a setting or a value",
                            *at);
    memcpy(word, *at, length);
    word[length] = 0;
    *at += length;
    return SX_OK;
}

/* Gives an error the nearest of some words as a hint, or all of them. */
static SX_ERROR sx_status hint_words(sx_status error, const char *word, const char *const *words, size_t n) {
    const char *nearest = sx_text_nearest(word, words, n);
    sx_text list = {0};
    for (size_t i = 0; i < n; i++) sx_text_add(&list, "%s%s", i ? ", " : "", words[i]);
    const char *all = list.failed || n == 0 ? "nothing" : list.data;
    error = nearest ? sx_error_hint(error, "did you mean '%s'? Known: %s", nearest, all)
                    : sx_error_hint(error, "known: %s", all);
    sx_text_free(&list);
    return error;
}

/* Whether a text is "name" or "name:...", hyphens and underscores being alike. */
static bool begins_with_name(const char *text, const char *name) {
    for (; *name; name++, text++)
        if (*name != *text && !(*name == '_' && *text == '-')) return false;
    return *text == 0 || *text == ':';
}

const sx_registered *sx_registry_find(const sx_registry *registry, const char *text) {
    for (size_t i = 0; i < registry->n; i++)
        if (begins_with_name(text, registry->entry[i].name)) return &registry->entry[i];
    return NULL;
}

const char *sx_navigator_short(const char *name) {
    static const char prefix[] = "place_";
    return strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
}

bool sx_navigator_suits(const sx_navigator *navigator, const char *space) {
    return !navigator->space || strcmp(navigator->space, space) == 0;
}

/* The navigator of that name, rather one for a space; where there is none in this build, an error that lists those. */
static sx_status find_navigator(const sx_registry *registry, const char *name, const char *space,
                                const sx_registered **out) {
    const char *names[MAX_WORDS];
    size_t n = 0;
    const sx_registered *found = NULL;
    for (const sx_registered *entry = registry->entry; entry < registry->entry + registry->n; entry++) {
        bool suits = entry->navigator && (!space || sx_navigator_suits(entry->navigator, space));
        if (suits && n < MAX_WORDS) names[n++] = space ? sx_navigator_short(entry->name) : entry->name;
        if (suits && space && sx_key_equal(sx_navigator_short(entry->name), name)) found = entry;
        if (!found && sx_key_equal(entry->name, name)) found = entry;
    }
    if (found && !found->navigator)
        return sx_error_new(SX_ERR_USAGE, "the search method '%s' is not part of this build: it needs %s",
                            name, found->needs);
    if (found) {
        *out = found;
        return SX_OK;
    }
    return hint_words(sx_error_new(SX_ERR_USAGE, "unknown search method '%s'", name), name, names, n);
}

/* The number of the setting of that name. */
static sx_status find_setting(const sx_registered *entry, const char *key, size_t *out) {
    const sx_navigator *navigator = entry->navigator;
    const char *names[MAX_WORDS];
    size_t n = 0;
    for (size_t i = 0; i < navigator->n_settings; i++) {
        if (n < MAX_WORDS) names[n++] = navigator->settings[i].name;
        if (strcmp(navigator->settings[i].name, key) != 0) continue;
        *out = i;
        return SX_OK;
    }
    sx_status error =
        sx_error_new(SX_ERR_USAGE, "the search method '%s' has no setting '%s'", entry->name, key);
    return n == 0 ? sx_error_hint(error, "it has no settings") : hint_words(error, key, names, n);
}

/* The number of a word among those that a setting may be. */
static sx_status read_choice(const sx_setting *setting, const char *word, double *out) {
    size_t n = (size_t)setting->high + 1;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(setting->words[i], word) != 0) continue;
        *out = (double)i;
        return SX_OK;
    }
    sx_status error = sx_error_new(SX_ERR_USAGE, "'%s' cannot be '%s'", setting->name, word);
    return hint_words(error, word, setting->words, n);
}

/* A number in as few digits as read back to it. */
static void number_text(double value, char *text, size_t size) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

/* Gives an error the limits of a setting as a hint. */
static SX_ERROR sx_status hint_limits(sx_status error, const sx_setting *setting) {
    char low[40], high[40];
    number_text(setting->low, low, sizeof low);
    number_text(setting->high, high, sizeof high);
    const char *kind = setting->kind == SX_SETTING_WHOLE ? "a whole number" : "a number";
    if (isinf(setting->high)) return sx_error_hint(error, "it is %s of at least %s", kind, low);
    return sx_error_hint(error, "it is %s from %s to %s", kind, low, high);
}

static sx_status read_number(const sx_setting *setting, const char *word, double *out) {
    char *end;
    double value = strtod(word, &end);
    bool digits = *word && !*end && word[strspn(word, "0123456789.eE+-")] == 0;
    if (!digits || !isfinite(value) || (setting->kind == SX_SETTING_WHOLE && value != floor(value)))
        return hint_limits(sx_error_new(SX_ERR_USAGE, "'%s' cannot be '%s'", setting->name, word), setting);
    if (value < setting->low || value > setting->high)
        return hint_limits(sx_error_new(SX_ERR_USAGE, "'%s' is out of range: %s", setting->name, word),
                           setting);
    *out = value;
    return SX_OK;
}

/* Settings as they are read. */
typedef struct reading {
    const sx_registered *entry;
    bool *given;
    double *value;
    size_t end; /* of the texts, from the block's beginning */
} reading;

/* Takes a text up to the next comma, or between quotation marks, and puts it behind the values. */
static sx_status read_text(const char **at, const sx_setting *setting, reading *r, double *out) {
    bool quoted = **at == '"';
    if (quoted) ++*at;
    size_t length = strcspn(*at, quoted ? "\"" : ",");
    char *text = (char *)r->value + r->end;
    memcpy(text, *at, length);
    text[length] = 0;
    *out = (double)r->end;
    r->end += length + 1;
    *at += length;
    if (!quoted) return SX_OK;
    if (**at != '"' || ((*at)[1] && (*at)[1] != ','))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "the text of '%s' has no end", setting->name),
                             "it ends with a quotation mark, before a comma or the end");
    ++*at;
    return SX_OK;
}

/* Reads one "key=value" and moves past it and its comma. */
static sx_status read_setting(const char **at, reading *r) {
    char key[WORD_SIZE], value[WORD_SIZE];
    size_t index;
    SX_TRY(take_word(at, "=,", key));
    if (**at != '=' || !*key)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "'%s' is not a setting with a value", key),
                             "settings are written %s:key=value,key=value", r->entry->name);
    ++*at;
    SX_TRY(find_setting(r->entry, key, &index));
    const sx_setting *setting = &r->entry->navigator->settings[index];
    if (r->given[index])
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "the setting '%s' is given twice", key),
                             "it has one value: leave one of them out");
    r->given[index] = true;
    if (setting->kind == SX_SETTING_TEXT) return read_text(at, setting, r, &r->value[index]);
    SX_TRY(take_word(at, ",", value));
    return setting->words ? read_choice(setting, value, &r->value[index])
                          : read_number(setting, value, &r->value[index]);
}

/* Reads all settings that follow the colon. */
static sx_status read_settings(const char *at, reading *r) {
    for (;; at++) {
        SX_TRY(read_setting(&at, r));
        if (!*at) return SX_OK;
    }
}

sx_status sx_settings_of(const sx_registered *entry, const char *text, double **out) {
    const sx_navigator *navigator = entry->navigator;
    size_t n = navigator->n_settings, texts = (n + 1) * sizeof **out;
    reading r = {.entry = entry, .end = texts + 1};
    r.value = calloc(1, texts + 1 + (text ? strlen(text) : 0) + n);
    r.given = calloc(n + 1, sizeof *r.given);
    sx_status status = r.value && r.given ? SX_OK : sx_error_memory();
    for (size_t i = 0; !status && i < n; i++)
        r.value[i] =
            navigator->settings[i].kind == SX_SETTING_TEXT ? (double)texts : navigator->settings[i].preset;
    if (!status && text) status = read_settings(text, &r);
    free(r.given);
    if (status)
        free(r.value);
    else
        *out = r.value;
    return status;
}

const char *sx_settings_text_at(const double *settings, size_t index) {
    return (const char *)settings + (size_t)settings[index];
}

sx_status sx_settings_read(const sx_registry *registry, const char *text, const char *space,
                           const sx_registered **entry, double **settings) {
    char name[WORD_SIZE];
    SX_TRY(take_word(&text, ":", name));
    SX_TRY(find_navigator(registry, name, space, entry));
    return sx_settings_of(*entry, *text == ':' ? text + 1 : NULL, settings);
}

/* Adds a text so that it can be read back. */
static void add_text(sx_text *out, const char *text) {
    bool quoted = strchr(text, ',') || *text == '"';
    sx_text_add(out, quoted ? "\"%s\"" : "%s", text);
}

sx_status sx_settings_text(const sx_registered *entry, const double *settings, char **out) {
    sx_text text = {0};
    sx_text_add(&text, "%s", entry->name);
    for (size_t i = 0; i < entry->navigator->n_settings; i++) {
        const sx_setting *setting = &entry->navigator->settings[i];
        char number[40] = "";
        sx_text_add(&text, "%c%s=", i ? ',' : ':', setting->name);
        if (setting->kind == SX_SETTING_TEXT) {
            add_text(&text, sx_settings_text_at(settings, i));
            continue;
        }
        if (!setting->words) number_text(settings[i], number, sizeof number);
        sx_text_add(&text, "%s", setting->words ? setting->words[(size_t)settings[i]] : number);
    }
    return sx_text_take(&text, out);
}
