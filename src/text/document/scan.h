/* Reading short texts, word by word, with the place of each. */
#ifndef SX_TEXT_DOCUMENT_SCAN_H
#define SX_TEXT_DOCUMENT_SCAN_H

#include "base/status.h"
#include "sextant/problem.h"

#include <stdint.h>

/* A position in a text; `place` is where the text begins. */
typedef struct sx_scan {
    const char *text, *at;
    sx_place place;
} sx_scan;

/* The place of the next character that is not blank. */
sx_place sx_scan_place(sx_scan *scan);

/* The next character that is not blank, 0 at the end. */
char sx_scan_peek(sx_scan *scan);

/* Goes past a word of punctuation; false (and nothing passed) where it is not there. */
bool sx_scan_take(sx_scan *scan, const char *word);

/* Goes past a name of letters, digits and underscores that does not begin with a digit; false where there is
 * none or it is too long. */
bool sx_scan_name(sx_scan *scan, char name[SX_NAME_SIZE]);

/* Goes past decimal digits; false where there are none or the number is beyond 2^63-1. */
bool sx_scan_number(sx_scan *scan, int64_t *out);

/* The error that something else is expected here, such as "']'". */
SX_MUST_USE sx_status sx_scan_expected(sx_scan *scan, const char *what);

/* Whether a name goes on with a character. */
bool sx_name_continues(char c);

/* Whether the whole text is such a name. */
bool sx_name_simple(const char *text);

#endif
