/* jansson with memory that may run out. */
#ifndef SX_BASE_JSON_H
#define SX_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>

/* Makes memory that runs out while JSON is built known to sx_json_failed(), so that nothing in between has to
 * look. Called once, before all else. */
void sx_json_begin(void);
/* Makes it known that memory ran out for a text that JSON should hold. */
void sx_json_fail(void);
/* Whether memory ran out since then. */
bool sx_json_failed(void);

/* Reads a text; NULL where it is not JSON or memory is out. */
json_t *sx_json_read(const char *text);
/* The same for a text of a size, with where and why it cannot be read. */
json_t *sx_json_load(const char *text, size_t size, json_error_t *error);

/* Prints a tree as jansson's flags say; NULL where memory is out, where jansson 2.14 may leave parts of the text out. The
 * caller frees it. */
char *sx_json_print(const json_t *tree, size_t flags);

/* Prints a tree as jansson's flags say, with numbers as sx_decimal_text() has them; NULL where memory is out.
 * The caller frees it. */
char *sx_json_dump(const json_t *tree, size_t flags);

#endif
