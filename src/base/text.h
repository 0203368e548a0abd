/* Growing text, and names. */
#ifndef SX_BASE_TEXT_H
#define SX_BASE_TEXT_H

#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing string. Once memory runs out, `failed` is set and appending does nothing. */
typedef struct sx_text {
    char *data;
    size_t size, room;
    bool failed;
    int width; /* columns of the terminal that will show it; 0: not for a terminal */
} sx_text;

void sx_text_add(sx_text *text, const char *format, ...) SX_PRINTF(2, 3);
void sx_text_add_list(sx_text *text, const char *format, va_list args);
void sx_text_add_bytes(sx_text *text, const char *bytes, size_t size);
void sx_text_free(sx_text *text);

/* Hands the string over (never NULL on success) and empties `text`. */
SX_MUST_USE sx_status sx_text_take(sx_text *text, SX_OWN char **out);

/* How many bytes the character of UTF-8 at the beginning of a text has, and its code; 0 where there is none.
 */
size_t sx_text_character(const char *text, uint32_t *code);

/* Whether a character is text: neither a control character nor one that changes the direction of writing. */
bool sx_text_visible(uint32_t code);

/* What the text begins with as it may be shown on a terminal: a visible character as it is, another one or a
 * byte that is not UTF-8 as \x1b or \u202e. Returns how many bytes of the text that is, 0 at its end. */
enum { SX_SHOWN_ROOM = 12 };
size_t sx_text_shown(const char *text, char shown[SX_SHOWN_ROOM]);

/* The Damerau-Levenshtein distance of two words; UINT32_MAX where one has 64 characters or more. Hyphens and
 * underscores are the same, and so are upper and lower case. */
unsigned sx_text_distance(const char *a, const char *b);

/* The candidate nearest to `word` by that distance, the first of several; NULL where none is within one edit
 * for every three characters of the longer word, about. */
const char *sx_text_nearest(const char *word, const char *const *candidates, size_t n);

/* Reads a whole number, or any finite one; false for anything else. */
bool sx_text_count(const char *text, uint64_t *out);
bool sx_text_number(const char *text, double *out);

/* Copies a name into a field of `size` bytes, zero-padded; an error when it is empty or does not fit. */
SX_MUST_USE sx_status sx_text_name(char *field, size_t size, const char *name, const char *what);

#endif
