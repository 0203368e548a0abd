#include "frontend/document/document.h"

#include "base/text.h"
#include "frontend/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char fold(char c) {
    return c == '-' ? '_' : c;
}

int sx_key_compare(const char *a, const char *b) {
    while (*a && fold(*a) == fold(*b)) a++, b++;
    return (unsigned char)fold(*a) - (unsigned char)fold(*b);
}

bool sx_key_equal(const char *a, const char *b) {
    return sx_key_compare(a, b) == 0;
}

bool sx_pair_has(const sx_pair *pair, const char *key) {
    return pair->literal ? strcmp(pair->key, key) == 0 : sx_key_equal(pair->key, key);
}

const sx_pair *sx_node_pair(const sx_node *map, const char *key) {
    if (!map || map->kind != SX_NODE_MAP) return NULL;
    for (size_t i = 0; i < map->n; i++)
        if (sx_pair_has(&map->pair[i], key)) return &map->pair[i];
    return NULL;
}

const sx_node *sx_node_get(const sx_node *map, const char *key) {
    const sx_pair *pair = sx_node_pair(map, key);
    return pair ? pair->value : NULL;
}

sx_place sx_node_key_place(const sx_node *map, const char *key) {
    const sx_pair *pair = sx_node_pair(map, key);
    return pair ? pair->place : map->place;
}

bool sx_node_is(const sx_node *node, const char *text) {
    return node && node->kind == SX_NODE_SCALAR && strcmp(node->text, text) == 0;
}

bool sx_node_empty(const sx_node *node) {
    return node->kind == SX_NODE_NULL || (node->kind != SX_NODE_SCALAR && node->n == 0);
}

sx_status sx_node_get_like(const sx_node *map, bool *timeloop) {
    const sx_node *like = sx_node_get(map, "like");
    if (like && !sx_node_is(like, "timeloop"))
        return sx_error_hint(sx_error_at(like->place, "'like' is not known"), "the only value is timeloop");
    *timeloop = like;
    return SX_OK;
}

static const char *kind_name(sx_node_kind kind) {
    switch (kind) {
    case SX_NODE_NULL:
        return "empty";
    case SX_NODE_SCALAR:
        return "a single value";
    case SX_NODE_LIST:
        return "a list";
    case SX_NODE_MAP:
        break;
    }
    return "a map";
}

sx_status sx_node_expect(const sx_node *node, sx_node_kind kind, const char *what) {
    if (node->kind == kind) return SX_OK;
    return sx_error_at(node->place, "%s must be %s, but is %s", what, kind_name(kind), kind_name(node->kind));
}

sx_status sx_node_require(const sx_node *map, const char *key, const char *what, const sx_node **out) {
    const sx_node *node = sx_node_get(map, key);
    if (!node) return sx_error_at(map->place, "%s has no '%s'", what, key);
    *out = node;
    return SX_OK;
}

sx_status sx_node_get_u64(const sx_node *map, const char *key, uint64_t *out) {
    const sx_node *node = sx_node_get(map, key);
    return node ? sx_node_u64(node, key, out) : SX_OK;
}

sx_status sx_node_get_u32(const sx_node *map, const char *key, uint32_t *out) {
    const sx_node *node = sx_node_get(map, key);
    return node ? sx_node_u32(node, key, out) : SX_OK;
}

sx_status sx_node_get_i64(const sx_node *map, const char *key, int64_t *out) {
    const sx_node *node = sx_node_get(map, key);
    return node ? sx_node_i64(node, key, out) : SX_OK;
}

sx_status sx_node_get_double(const sx_node *map, const char *key, double *out) {
    const sx_node *node = sx_node_get(map, key);
    return node ? sx_node_double(node, key, out) : SX_OK;
}

sx_status sx_node_get_bool(const sx_node *map, const char *key, bool *out) {
    const sx_node *node = sx_node_get(map, key);
    return node ? sx_node_bool(node, key, out) : SX_OK;
}

sx_status sx_node_get_text(const sx_node *map, const char *key, const char **out) {
    const sx_node *node = sx_node_get(map, key);
    return node ? sx_node_text(node, key, out) : SX_OK;
}

sx_status sx_node_get_name(const sx_node *map, const char *key, char *field) {
    const sx_node *node = sx_node_get(map, key);
    return node ? sx_node_name(node, key, field) : SX_OK;
}

const char *sx_name_nearest(const char *name, const char *const *known, size_t n) {
    const char *nearest = sx_text_nearest(name, known, n);
    if (!nearest || strcasecmp(nearest, name) == 0) return nearest;
    return strlen(name) < 3 || strlen(nearest) < 3 ? NULL : nearest;
}

/* Whether a key looks like a known one misspelt: by at most one edit for every three characters. Stricter
 * than a suggestion, as other programs' keys must pass. */
static bool misspelt(const char *key, const char *known) {
    size_t a = strlen(key), b = strlen(known);
    if (strcasecmp(key, known) == 0) return true;
    bool similar = b == 4 ? a == 3 || a == 5 : b > 4 && a <= b + 2 && b <= a + 2;
    return similar && sx_text_distance(key, known) <= a / 3;
}

const char *sx_key_misspelt(const char *key, const sx_key_rule *rules, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (rules[i].use == SX_KEY_USED && misspelt(key, rules[i].key)) return rules[i].key;
    return NULL;
}

/* Adds the names, with commas between them, to a text. */
static void list_names(sx_text *text, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) sx_text_add(text, "%s%s", i ? ", " : "", names[i]);
}

sx_status sx_error_unknown(sx_place place, const char *what, const char *name, const char *const *known,
                           size_t n) {
    sx_status error = sx_error_at(place, "unknown %s '%.64s'", what, name);
    const char *nearest = sx_name_nearest(name, known, n);
    if (nearest) return sx_error_hint(error, "did you mean '%s'?", nearest);
    if (n == 0) return error;
    sx_text text = {0};
    list_names(&text, known, n);
    if (!text.failed) error = sx_error_hint(error, "known: %s", text.data);
    sx_text_free(&text);
    return error;
}

/* The error for a key in none of the rules; known ones that are far from it are its hint. */
static SX_MUST_USE sx_status unknown_key(const sx_pair *pair, const char *what, const sx_key_rule *rules,
                                         size_t n) {
    const char *colon = strchr(pair->key, ':');
    if (colon && pair->value->kind == SX_NODE_NULL)
        return sx_error_hint(sx_error_at(pair->place, "unknown key of %s: '%.64s'", what, pair->key),
                             "YAML needs a space after the colon: '%.*s: %.32s'", (int)(colon - pair->key),
                             pair->key, colon + 1);
    const char **known = calloc(n + 1, sizeof *known);
    if (!known) return sx_error_memory();
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++)
        if (rules[i].use == SX_KEY_USED) known[n_known++] = rules[i].key;
    char of[160];
    snprintf(of, sizeof of, "key of %s:", what);
    sx_status error = sx_error_unknown(pair->place, of, pair->key, known, n_known);
    free(known);
    return error;
}

/* A key in none of the rules: of Timeloop's files only what looks misspelt is an error. */
static SX_MUST_USE sx_status other_key(sx_input *input, const sx_pair *pair, const char *what,
                                       const sx_key_rule *rules, size_t n) {
    bool glued = strchr(pair->key, ':') && pair->value->kind == SX_NODE_NULL;
    if (!input || glued || sx_key_misspelt(pair->key, rules, n)) return unknown_key(pair, what, rules, n);
    return sx_input_unknown(input, pair->place, "'%.64s' of %s is not known, and ignored as by Timeloop",
                            pair->key, what);
}

/* Applies the rule of a key. */
static SX_MUST_USE sx_status apply_rule(sx_input *input, const sx_pair *pair, const char *what,
                                        const sx_key_rule *rule) {
    if (rule->use == SX_KEY_USED) return SX_OK;
    if (rule->use == SX_KEY_NO_BEARING)
        return sx_input_add_note(input, pair->place, "'%.64s' of %s has no effect on the result", pair->key,
                                 what);
    if (sx_node_empty(pair->value)) return SX_OK;
    if (rule->use == SX_KEY_DIFFERS)
        return sx_input_differ(input, pair->place, "'%.64s' of %s is ignored: %s", pair->key, what,
                               rule->why);
    sx_status error = sx_error_at(pair->place, "'%.64s' of %s is not supported and would change the result",
                                  pair->key, what);
    return rule->why ? sx_error_hint(error, "%s", rule->why) : error;
}

sx_status sx_literal_key(sx_input *input, const sx_pair *pair, const char *what, const char *known) {
    return sx_input_warn(input, pair->place, "'%s' of %s is written with hyphens and ignored, as by Timeloop",
                         known, what);
}

sx_status sx_node_check_keys(sx_input *input, const sx_node *map, const char *what, const sx_key_rule *rules,
                             size_t n) {
    if (map->dropped && input)
        SX_TRY(sx_input_unknown(input, map->dropped->place, "duplicate key '%.64s', with an equal value",
                                map->dropped->key));
    for (size_t i = 0; i < map->n && map->kind == SX_NODE_MAP; i++) {
        const sx_pair *pair = &map->pair[i];
        size_t r = 0;
        while (r < n && !sx_key_equal(rules[r].key, pair->key)) r++;
        if (r < n && pair->literal)
            SX_TRY(sx_literal_key(input, pair, what, rules[r].key));
        else
            SX_TRY(r < n ? apply_rule(input, pair, what, &rules[r]) : other_key(input, pair, what, rules, n));
    }
    return SX_OK;
}
