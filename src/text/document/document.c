#include "text/document/document.h"

#include "base/hint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char fold_letter(char c) {
    return c == '-' ? '_' : c;
}

int sx_key_compare(const char *a, const char *b) {
    while (*a && fold_letter(*a) == fold_letter(*b)) a++, b++;
    return (unsigned char)fold_letter(*a) - (unsigned char)fold_letter(*b);
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
    return sx_error_hint_list(error, "known:", &text);
}
