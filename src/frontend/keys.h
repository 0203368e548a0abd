/* The keys of maps against those that a reader knows. */
#ifndef SX_FRONTEND_KEYS_H
#define SX_FRONTEND_KEYS_H

#include "text/document/document.h"

/* How a key of a map is treated. */
typedef enum sx_key_use {
    SX_KEY_USED,        /* read by us */
    SX_KEY_USED_MAP,    /* read by us where it is a map; otherwise as the next */
    SX_KEY_ESTIMATED,   /* read by us for estimates of energies and areas */
    SX_KEY_NO_BEARING,  /* accepted; a note says that it changes nothing */
    SX_KEY_UNCOUNTED,   /* accepted; a warning says that what it describes is not counted. `why` ends it */
    SX_KEY_UNSUPPORTED, /* would change results: an error unless empty. `why` is the hint; NULL: none */
} sx_key_use;

typedef struct sx_key_rule {
    const char *key;
    sx_key_use use;
    const char
        *why; /* of a used key: the first of those that mean the same; NULL: it is the first, or alone */
    /* What the value may be, for schemas: text, bool, number, positive, whole, count (from 1 on), expression, names, list, any,
     * null, =WORD|WORD, @KEYS, [TYPE],
     * {TYPE}, alternatives with |, and ! at the end where the key must be there. NULL: any. */
    const char *value;
    const char *about; /* a line for the reader of a schema; NULL: none */
} sx_key_rule;

/* The keys of one kind of map. Of an open one, other keys are left to other tools, with a warning. */
typedef struct sx_keys {
    const char *name;
    bool open;
    const sx_key_rule *rule;
    size_t n;
} sx_keys;

/* Room for keys that are made from other tables. */
enum { SX_MOST_KEYS = 40 };

#define SX_KEYS(name, open, rules)                                                                           \
    { name, open, rules, sizeof(rules) / sizeof *(rules) }
#define SX_KEY(key, value, about)                                                                            \
    { key, SX_KEY_USED, NULL, value, about }
#define SX_KEY_SAME(key, first)                                                                              \
    { key, SX_KEY_USED, first, NULL, NULL }
#define SX_KEY_FOR_ESTIMATE(key, value, about)                                                               \
    { key, SX_KEY_ESTIMATED, NULL, value, about }
/* What a warning of a cache ends with. */
#define SX_NO_CACHES                                                                                         \
    "it is mapped and priced as a scratchpad, without lines, ways, tags and evictions (multiple_buffering: " \
    "2 leaves "                                                                                              \
    "half of it free)"
#define SX_KEY_OF_CACHE(key)                                                                                 \
    { key, SX_KEY_UNCOUNTED, SX_NO_CACHES, NULL, NULL }
#define SX_KEY_IDLE(key)                                                                                     \
    { key, SX_KEY_NO_BEARING, NULL, NULL, NULL }

/* How many letters a key is off a known one, case, hyphens and underscores aside and with the abbreviations bw, lat and
 * buf spelled out; UINT_MAX where that is more than a slip: more than one, from eight letters on more than two. */
unsigned sx_key_distance(const char *key, const char *known);

/* The used key that a key of a map looks like most, where the map has neither it nor another that means the
 * same; NULL: there is none. */
const char *sx_key_missing(const sx_node *map, const char *key, const sx_keys *keys);

/* Checks a key of a map, which is `noun` of `what` in messages, against those that are known. A key in none of them is an
 * error with the nearest known name. In an input of Timeloop's files (not NULL), which have keys for other
 * tools, it is a warning, unless it looks like a known one that the map lacks: that is an error, where the
 * input is lenient a warning of its own. */
SX_MUST_USE sx_status sx_node_check_key(sx_input *input, const sx_node *map, const sx_pair *pair,
                                        const char *noun, const char *what, const sx_keys *keys);

/* The same for every key of what must be a map, and for keys that are given twice. */
SX_MUST_USE sx_status sx_node_check_keys(sx_input *input, const sx_node *map, const char *what,
                                         const sx_keys *keys);

#endif
