/* Writing: each noun becomes one tree, which is then printed as JSON or YAML. */
#ifndef SX_TEXT_WRITE_WRITE_H
#define SX_TEXT_WRITE_WRITE_H

#include "base/text.h"
#include "sextant/input.h"

#include <jansson.h>

/* Builds trees; once something could not be made, `failed` stays set and the tree is useless. */
typedef struct sx_tree {
    bool failed;
    bool not_utf8; /* what could not be made is a text that is not UTF-8 */
} sx_tree;

/* New values (the caller's), NULL with `failed` set where they cannot be made. A number beyond 2^63-1 becomes
 * text; a number that is not finite becomes null. */
SX_OWN json_t *sx_tree_text(sx_tree *tree, const char *text);
SX_OWN json_t *sx_tree_u64(sx_tree *tree, uint64_t value);
SX_OWN json_t *sx_tree_double(sx_tree *tree, double value);
SX_OWN json_t *sx_tree_bool(bool value);

/* Put a value into a map or list. */
void sx_tree_put(sx_tree *tree, json_t *map, const char *key, SX_TAKE json_t *value);
void sx_tree_append(sx_tree *tree, json_t *list, SX_TAKE json_t *value);

/* Prints a tree, which is freed. */
SX_MUST_USE sx_status sx_tree_print(sx_tree *tree, SX_TAKE json_t *root, sx_format format, SX_OWN char **out);

/* Whether a text begins with what opens a tag of a template: such a brace is written as an escape, since
 * files that are read may have templates. */
bool sx_begins_tag(const char *text);

/* Adds a tree as YAML. */
void sx_yaml_print(sx_text *text, const json_t *root);

#endif
