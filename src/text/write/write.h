/* Writing: each noun becomes one tree, which is then printed as JSON or YAML. */
#ifndef SX_TEXT_WRITE_WRITE_H
#define SX_TEXT_WRITE_WRITE_H

#include "base/json.h"
#include "base/text.h"
#include "sextant/input.h"

/* Prints a tree, which is freed; an error where memory ran out while it was built, or where a text is not UTF-8. */
SX_MUST_USE sx_status sx_json_write(SX_TAKE json_t *root, sx_format format, SX_OWN char **out);

/* Whether a text begins with what opens a tag of a template: such a brace is written as an escape, since
 * files that are read may have templates. */
bool sx_begins_tag(const char *text);

/* Adds a tree as YAML. */
void sx_yaml_print(sx_text *text, const json_t *root);

#endif
