/* jansson with memory that may run out. */
#ifndef SX_BASE_JSON_H
#define SX_BASE_JSON_H

#include "sextant/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Makes memory that runs out within jansson known to sx_json_failed(), too. The program calls it once, before all else. */
void sx_json_begin(void);
/* Makes it known that memory ran out for a text that JSON should hold. */
void sx_json_fail(void);
/* Whether a part of the JSON that this thread has built since it last printed some could not be made, so that nothing in
 * between has to check. */
bool sx_json_failed(void);

/* New values, the caller's; NULL where memory is out. */
/* A number: an integer where it is one, null if infinite or not a number. */
SX_OWN json_t *sx_json_number(double value);
/* A real number, null where it is not finite. */
SX_OWN json_t *sx_json_real(double value);
/* A count; one beyond 2^63 as the nearest real number. */
SX_OWN json_t *sx_json_count(uint64_t value);
/* A count; one beyond 2^63 as a text, which is read back as it was. */
SX_OWN json_t *sx_json_exact(uint64_t value);
/* A string, or null for NULL; where it is not UTF-8 (a path may be anything), with question marks. */
SX_OWN json_t *sx_json_string(const char *text);
/* A string as it is: where it is not UTF-8, the tree cannot be printed. */
SX_OWN json_t *sx_json_text(const char *text);

/* Sets an item in an object, or appends it to a list. Returns the item, which the object or list owns; NULL where memory
 * is out, which sx_json_failed() says afterwards. */
json_t *sx_json_set(json_t *object, const char *key, SX_TAKE json_t *item);
json_t *sx_json_append(json_t *list, SX_TAKE json_t *item);

/* Reads a text; NULL where it is not JSON or memory is out. */
json_t *sx_json_read(const char *text);
/* The same for a text of a size, with where and why it cannot be read. */
json_t *sx_json_load(const char *text, size_t size, json_error_t *error);

/* Prints a tree as jansson's flags say; NULL where memory is out, where jansson 2.14 may leave parts of the text out, and
 * where a text is not UTF-8. The caller frees it. */
char *sx_json_print(const json_t *tree, size_t flags);

/* Prints a tree as jansson's flags say, with numbers as sx_decimal_text() has them; NULL where memory is out.
 * The caller frees it. */
char *sx_json_dump(const json_t *tree, size_t flags);

#endif
