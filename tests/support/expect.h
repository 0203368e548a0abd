/* Asserting success and failure. */
#ifndef SX_TESTS_EXPECT_H
#define SX_TESTS_EXPECT_H

#include "sextant/input.h"

/* Fails the test, saying why, unless the status is success. */
void sx_expect_ok(SX_TAKE sx_status status);

/* Fails the test unless the status is an error whose text ("file:line:column: message\n  hint") holds `part`.
 */
void sx_expect_error(SX_TAKE sx_status status, const char *part);

/* A new input that holds a text as the file t.yaml; fails the test on an error. */
SX_OWN sx_input *sx_expect_input(const char *text);

/* How many of an input's notes hold `part`. */
size_t sx_count_notes(const sx_input *input, const char *part);

/* How many of an input's warnings, as "file:line:column: message", hold `part`. */
size_t sx_count_warnings(const sx_input *input, const char *part);

/* Whether hashes are what a record of that name says; where not, prints the row that it ought to be. */
bool sx_is_recorded(const char *name, const uint64_t *found, const uint64_t *recorded, size_t n);

#endif
