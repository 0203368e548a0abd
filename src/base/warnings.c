#include "base/warnings.h"

#include "base/text.h"
#include "base/vector.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_KEYS = 8 }; /* how many different keys a joined warning names */

/* A warning; its texts are its own. */
typedef struct warning {
    char *place, *key, *message; /* place and key may be NULL */
} warning;

struct sx_warnings {
    warning *item;
    size_t n, room;
    bool failed; /* memory ran out for one */
    bool faulty; /* one is about a fault of the program */
};

sx_status sx_warnings_new(sx_warnings **out) {
    sx_warnings *list = calloc(1, sizeof *list);
    if (!list) return sx_error_memory();
    *out = list;
    return SX_OK;
}

static void warning_fini(warning *w) {
    free(w->place);
    free(w->key);
    free(w->message);
}

void sx_warnings_free(sx_warnings *list) {
    if (!list) return;
    for (size_t i = 0; i < list->n; i++) warning_fini(&list->item[i]);
    free(list->item);
    free(list);
}

const char *sx_warnings_at(const sx_warnings *list, size_t index, const char **place) {
    if (!list || index >= list->n) return NULL;
    *place = list->item[index].place;
    return list->item[index].message;
}

/* Whether two texts, either of which may be NULL, are the same. */
static bool same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Whether a list has a warning. */
static bool has_warning(const sx_warnings *list, const char *place, const char *message) {
    for (size_t i = 0; i < list->n; i++)
        if (same_text(list->item[i].place, place) && same_text(list->item[i].message, message)) return true;
    return false;
}

void sx_warnings_add(sx_warnings *list, const char *place, const char *key, const char *message) {
    if (has_warning(list, place, message)) return;
    warning w = {place ? strdup(place) : NULL, key ? strdup(key) : NULL, strdup(message)};
    bool whole = w.message && !w.place == !place && !w.key == !key;
    if (whole && sx_reserve(&list->item, &list->room, list->n + 1, sizeof w)) {
        list->item[list->n++] = w;
        return;
    }
    warning_fini(&w);
    list->failed = true;
}

/* Adds a formatted message. */
static void add_message(sx_warnings *list, const char *format, va_list args) {
    sx_text text = {0};
    sx_text_add_list(&text, format, args);
    if (text.failed)
        list->failed = true;
    else
        sx_warnings_add(list, NULL, NULL, text.data);
    sx_text_free(&text);
}

void sx_warnings_tell(sx_warnings *list, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_message(list, format, args);
    va_end(args);
}

void sx_warnings_fault(sx_warnings *list, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_message(list, format, args);
    va_end(args);
    list->faulty = true;
}

bool sx_warnings_faulty(const sx_warnings *list) {
    return list && list->faulty;
}

void sx_warnings_append(sx_warnings *list, const sx_warnings *other) {
    for (size_t i = 0; other && i < other->n; i++)
        sx_warnings_add(list, other->item[i].place, other->item[i].key, other->item[i].message);
    list->failed |= other && other->failed;
    list->faulty |= other && other->faulty;
}

sx_status sx_warnings_status(const sx_warnings *list) {
    return list && list->failed ? sx_error_memory() : SX_OK;
}

/* Whether a key is named by a warning before number `index`. */
static bool named_before(const sx_warnings *list, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (list->item[i].key && strcmp(list->item[i].key, list->item[index].key) == 0) return true;
    return false;
}

/* Writes the warning that joins n warnings about keys. */
static void write_joined(const sx_warnings *list, size_t n, sx_text *out) {
    size_t different = 0;
    sx_text_add(out, "%zu key%s not understood and ignored:", n, n == 1 ? " is" : "s are");
    for (size_t i = 0; i < list->n; i++) {
        if (!list->item[i].key || named_before(list, i)) continue;
        if (different++ < NAMED_KEYS)
            sx_text_add(out, "%s '%.64s'", different > 1 ? "," : "", list->item[i].key);
    }
    if (different > NAMED_KEYS) sx_text_add(out, " and %zu others", different - NAMED_KEYS);
    sx_text_add(out, " (--verbose shows where)");
}

void sx_warnings_join_keys(sx_warnings *list) {
    sx_text text = {0};
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < list->n; i++) n += list->item[i].key != NULL;
    if (!n) return;
    write_joined(list, n, &text);
    for (size_t i = 0; i < list->n; i++) {
        if (list->item[i].key)
            warning_fini(&list->item[i]);
        else
            list->item[kept++] = list->item[i];
    }
    list->n = kept;
    list->failed |= text.failed;
    if (!text.failed) sx_warnings_add(list, NULL, NULL, text.data);
    sx_text_free(&text);
}
