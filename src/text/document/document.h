/* A tree of values with places, read from YAML or JSON, and typed access to it with errors that have the
 * place of the value and a hint. */
#ifndef SX_TEXT_DOCUMENT_DOCUMENT_H
#define SX_TEXT_DOCUMENT_DOCUMENT_H

#include "base/status.h"
#include "sextant/input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sx_node_kind { SX_NODE_NULL, SX_NODE_SCALAR, SX_NODE_LIST, SX_NODE_MAP } sx_node_kind;

typedef struct sx_node sx_node;

/* An entry of a map. Keys keep their spelling; searches take hyphens and underscores for the same, unless the key is
 * taken literally. */
typedef struct sx_pair {
    const char *key;
    sx_place place; /* of the key */
    const sx_node *value;
    bool literal; /* of a file read as by Timeloop, with a hyphen that stays one */
} sx_pair;

/* A value. It belongs to the sx_input it was read for and never changes. Aliases share nodes. */
struct sx_node {
    sx_node_kind kind;
    bool quoted;            /* a scalar written in quotes or as a block */
    sx_place place;         /* where it begins */
    const char *tag;        /* such as "!Component", NULL without one (and for YAML's own tags) */
    const char *text;       /* of a scalar; "" for null and NULL for lists and maps */
    size_t n;               /* items or pairs */
    const sx_node **item;   /* of a list */
    const sx_pair *pair;    /* of a map, in the order of the text; no key twice */
    const sx_pair *dropped; /* of a map: a pair that repeats one of them; NULL: none */
    size_t weight;          /* nodes of its tree, those behind aliases counted each time */
    unsigned height;        /* levels of its tree, 1 for a scalar */
    bool blank;             /* null because nothing is written */
    bool anchored;          /* has an anchor: an alias may refer to it */
};

/* Whether two keys are the same, hyphens and underscores being alike. */
bool sx_key_equal(const char *a, const char *b);

/* Whether a pair is that of a key. */
bool sx_pair_has(const sx_pair *pair, const char *key);

/* The order of two keys, by bytes, hyphens and underscores being alike. */
int sx_key_compare(const char *a, const char *b);

/* The value under a key, NULL where there is none or `map` is not a map (NULL is fine). */
const sx_node *sx_node_get(const sx_node *map, const char *key);

/* The pair of a key, NULL where there is none. */
const sx_pair *sx_node_pair(const sx_node *map, const char *key);

/* The place of a key in a map, or the map's own where the key is missing. */
sx_place sx_node_key_place(const sx_node *map, const char *key);

/* Whether a node is an unquoted or quoted scalar of exactly that text. */
bool sx_node_is(const sx_node *node, const char *text);

/* Whether two values are equal, with all that is in them. */
bool sx_node_same_value(const sx_node *a, const sx_node *b);

/* Whether a node is null, or a list or map without entries. */
bool sx_node_empty(const sx_node *node);

/* Errors unless the node is of that kind; `what` names it, such as "'factors'". */
SX_MUST_USE sx_status sx_node_expect(const sx_node *node, sx_node_kind kind, const char *what);

/* The value under a key, an error naming `what` (the owner, such as "the storage level 'DRAM'") where it is
 * missing. */
SX_MUST_USE sx_status sx_node_require(const sx_node *map, const char *key, const char *what,
                                      const sx_node **out);

/* Typed values. `what` names the value in errors, such as "entries". Whole numbers may be written as 64,
 * 0x40, 1e3, 64.0, in quotes or not; "1.5", negative numbers (for the unsigned), and numbers out of range are
 * errors, as are those with leading zeros that an octal reading would change (sx_node_decimal). Doubles may be
 * "inf" or ".inf", never NaN, and never overflow silently. */
SX_MUST_USE sx_status sx_node_decimal(const sx_node *node, const char *what);
SX_MUST_USE sx_status sx_node_u64(const sx_node *node, const char *what, uint64_t *out);
SX_MUST_USE sx_status sx_node_range(const sx_node *node, const char *what, uint64_t low, uint64_t high,
                                    uint64_t *out);
SX_MUST_USE sx_status sx_node_u32(const sx_node *node, const char *what, uint32_t *out);
SX_MUST_USE sx_status sx_node_i64(const sx_node *node, const char *what, int64_t *out);
SX_MUST_USE sx_status sx_node_double(const sx_node *node, const char *what, double *out);
/* True, yes, on, 1 and False, no, off, 0 in any case. */
SX_MUST_USE sx_status sx_node_bool(const sx_node *node, const char *what, bool *out);
/* Any scalar's text. */
SX_MUST_USE sx_status sx_node_text(const sx_node *node, const char *what, const char **out);
/* A name for a field of SX_NAME_SIZE bytes, zero-padded. */
SX_MUST_USE sx_status sx_node_name(const sx_node *node, const char *what, char *field);

/* The same for the value under a key; where the key is missing *out stays as it is. */
SX_MUST_USE sx_status sx_node_get_u64(const sx_node *map, const char *key, uint64_t *out);
SX_MUST_USE sx_status sx_node_get_u32(const sx_node *map, const char *key, uint32_t *out);
SX_MUST_USE sx_status sx_node_get_i64(const sx_node *map, const char *key, int64_t *out);
SX_MUST_USE sx_status sx_node_get_double(const sx_node *map, const char *key, double *out);
SX_MUST_USE sx_status sx_node_get_bool(const sx_node *map, const char *key, bool *out);
SX_MUST_USE sx_status sx_node_get_text(const sx_node *map, const char *key, const char **out);
SX_MUST_USE sx_status sx_node_get_name(const sx_node *map, const char *key, char *field);

/* The value of the key `like`: whether files were read as Timeloop reads them, false without the key. */
SX_MUST_USE sx_status sx_node_get_like(const sx_node *map, bool *timeloop);

/* Names given as a list of scalars or as one scalar with spaces or commas between them. Calls `each` with
 * every name, its place and the caller's pointer, and stops at the first error. Null is an empty list. */
typedef sx_status sx_name_visitor(void *user, const char *name, sx_place place);
SX_MUST_USE sx_status sx_node_names(const sx_node *node, const char *what, sx_name_visitor *each, void *user);

/* Numbers in text, by the rules above; false where the text is not one, or is out of range. */
bool sx_text_u64(const char *text, uint64_t *out);
bool sx_text_i64(const char *text, int64_t *out);
bool sx_text_double(const char *text, double *out);

/* The known name that was probably meant, NULL where there is none. Words of one or two letters are all near
 * each other, so they must be the same but for case. */
const char *sx_name_nearest(const char *name, const char *const *known, size_t n);

/* The error for a name that is not among n known ones, with the nearest as the hint, or all of them where none
 * is near, as among names of one or two letters. `what` is such as "dimension". */
SX_ERROR sx_status sx_error_unknown(sx_place place, const char *what, const char *name,
                                    const char *const *known, size_t n);

#endif
