/* The attributes of a component: its own, those of the containers around it, and the variables that values
 * may be computed from. */
#ifndef SX_FRONTEND_TIMELOOP_ATTRIBUTES_H
#define SX_FRONTEND_TIMELOOP_ATTRIBUTES_H

#include "frontend/input.h"
#include "frontend/keys.h"

/* A map and what lies around it. In an outer map are attributes too, except where it is names_only. */
typedef struct sx_attribute_scope {
    const sx_node *map; /* NULL is an empty one */
    const struct sx_attribute_scope *outer;
    bool names_only; /* variables: names for expressions */
    sx_input *input; /* of the outermost one: where uses of names are kept; NULL: nowhere */
} sx_attribute_scope;

/* The attribute of that key: the innermost one that is not null, NULL where there is none. */
const sx_pair *sx_attribute_pair(const sx_attribute_scope *scope, const char *key);

/* The first of n keys that has an attribute, NULL where none has. */
const char *sx_attribute_first(const sx_attribute_scope *scope, const char *const *keys, size_t n);

/* Warns of the keys among n of one meaning whose value is another than that of the first that is given in the same map: that
 * one counts. */
SX_MUST_USE sx_status sx_attribute_agree(sx_input *input, const sx_attribute_scope *scope,
                                         const char *const *keys, size_t n);

/* The value that a value stands for which is the name of an attribute or variable, else itself. */
SX_MUST_USE sx_status sx_attribute_named(const sx_attribute_scope *scope, const sx_node *value,
                                         const sx_node **out);

/* Typed attributes; numbers may be expressions. Without the attribute *out stays as it is. */
SX_MUST_USE sx_status sx_attribute_double(const sx_attribute_scope *scope, const char *key, double *out);
SX_MUST_USE sx_status sx_attribute_u64(const sx_attribute_scope *scope, const char *key, uint64_t *out);
SX_MUST_USE sx_status sx_attribute_u32(const sx_attribute_scope *scope, const char *key, uint32_t *out);
SX_MUST_USE sx_status sx_attribute_bool(const sx_attribute_scope *scope, const char *key, bool *out);

/* Refuses `true` and `false` where a number is expected: expressions count them as 1 and 0. */
SX_MUST_USE sx_status sx_attribute_refuse_truth(const sx_node *node, const char *what);

/* The number a node stands for, `what` naming it in errors; its expression may use the names of `scope`. */
SX_MUST_USE sx_status sx_attribute_number(const sx_attribute_scope *scope, const sx_node *node,
                                          const char *what, double *out);

/* Checks a map of attributes that may also hold what other tools read: an unknown key is an error only where
 * it looks like a known one misspelt, otherwise a warning. */
SX_MUST_USE sx_status sx_attributes_check(sx_input *input, const sx_node *map, const char *what,
                                          const sx_keys *keys);

#endif
