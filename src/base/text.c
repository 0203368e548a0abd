#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` bytes and a final zero. */
static bool reserve_bytes(sx_text *text, size_t more) {
    if (text->failed) return false;
    if (text->size + more + 1 <= text->room) return true;
    size_t room = text->room ? text->room * 2 : 256;
    while (room < text->size + more + 1) room *= 2;
    char *data = realloc(text->data, room);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room = room;
    return true;
}

void sx_text_add_bytes(sx_text *text, const char *bytes, size_t size) {
    if (!reserve_bytes(text, size)) return;
    memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = 0;
}

void sx_text_add_list(sx_text *text, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    text->failed |= size < 0;
    if (size >= 0 && reserve_bytes(text, (size_t)size)) {
        vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
}

void sx_text_add(sx_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    sx_text_add_list(text, format, args);
    va_end(args);
}

void sx_text_free(sx_text *text) {
    free(text->data);
    *text = (sx_text){0};
}

sx_status sx_text_take(sx_text *text, char **out) {
    if (!reserve_bytes(text, 0)) {
        sx_text_free(text);
        return sx_error_memory();
    }
    text->data[text->size] = 0;
    *out = text->data;
    *text = (sx_text){0};
    return SX_OK;
}

size_t sx_text_character(const char *text, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;
    *code = at[0];
    if (at[0] < 0x80) return at[0] != 0;
    if (at[0] < 0xC2 || at[0] > 0xF4) return 0;
    size_t size = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    *code = at[0] & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (at[i] & 0x3Fu);
    }
    bool surrogate = *code >= 0xD800 && *code <= 0xDFFF;
    return *code < least[size] || surrogate || *code > 0x10FFFF ? 0 : size;
}

bool sx_text_visible(uint32_t code) {
    bool control = code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029;
    bool direction = code == 0x61C || code == 0x200E || code == 0x200F ||
                     (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
    return !control && !direction && code != 0xFEFF && (code & 0xFFFE) != 0xFFFE;
}

size_t sx_text_shown(const char *text, char shown[SX_SHOWN_ROOM]) {
    uint32_t code;
    size_t size = sx_text_character(text, &code);
    if (size && sx_text_visible(code))
        snprintf(shown, SX_SHOWN_ROOM, "%.*s", (int)size, text);
    else if (size && code >= 0x7F)
        snprintf(shown, SX_SHOWN_ROOM, code > 0xFFFF ? "\\U%08x" : "\\u%04x", (unsigned)code);
    else
        snprintf(shown, SX_SHOWN_ROOM, "\\x%02x", (unsigned char)*text);
    return *text && !size ? 1 : size;
}

enum { SHORT = 6 }; /* words of fewer characters are short */

static int fold_letter(char c) {
    return c == '-' ? '_' : tolower((unsigned char)c);
}

unsigned sx_text_distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    unsigned row[3][64];
    if (n >= 64 || m >= 64) return UINT32_MAX;
    for (size_t j = 0; j <= m; j++) row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *now = row[i % 3], *up = row[(i - 1) % 3], *up2 = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = up[j - 1] + (fold_letter(a[i - 1]) != fold_letter(b[j - 1]));
            if (up[j] + 1 < best) best = up[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && fold_letter(a[i - 1]) == fold_letter(b[j - 2]) &&
                fold_letter(a[i - 2]) == fold_letter(b[j - 1]) && up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

/* The most edits between two words of which one may be the other misspelt; fewer for short words, where any
 * other is near. */
static unsigned most_edits(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b), longer = n > m ? n : m;
    return (unsigned)((longer < SHORT ? longer : longer + 1) / 3);
}

const char *sx_text_nearest(const char *word, const char *const *candidates, size_t n) {
    const char *nearest = NULL;
    unsigned best = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        unsigned d = sx_text_distance(word, candidates[i]);
        if (d >= best || d > most_edits(word, candidates[i])) continue;
        best = d;
        nearest = candidates[i];
    }
    return nearest;
}

sx_status sx_text_name(char *field, size_t size, const char *name, const char *what) {
    size_t length = strlen(name);
    if (length == 0) return sx_error_new(SX_ERR_INPUT, "%s has an empty name", what);
    if (length >= size)
        return sx_error_new(SX_ERR_LIMIT, "the name of %s is %zu bytes long; at most %zu are allowed", what,
                            length, size - 1);
    memset(field, 0, size);
    memcpy(field, name, length);
    return SX_OK;
}

bool sx_text_count(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno) return false;
    *out = value;
    return true;
}

bool sx_text_number(const char *text, double *out) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value)) return false;
    *out = value;
    return true;
}
