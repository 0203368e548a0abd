/* Reading nouns from text in tests, and asserting what is wrong with a text. */
#ifndef SX_TESTS_READ_TEXT_H
#define SX_TESTS_READ_TEXT_H

#include "sextant/input.h"

/* A text that is refused: where ("line:column"), with what message, and with what hint (NULL: any). */
typedef struct sx_refused {
    const char *text, *place, *message, *hint;
} sx_refused;

/* Reads an architecture from text as if it were the file t.yaml; fails the test on an error. */
void sx_read_arch(const char *text, sx_arch *out);

/* Asserts that reading an architecture from each of n texts fails as said. */
void sx_assert_archs_refused(const sx_refused *cases, size_t n);

/* How many notes reading an architecture makes that contain a text. */
size_t sx_count_arch_notes(const char *text, const char *part);

/* How many warnings. */
size_t sx_count_arch_warnings(const char *text, const char *part);

#endif
