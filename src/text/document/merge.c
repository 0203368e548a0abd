#include "text/document/merge.h"

#include "text/document/yaml.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TWINS = 16 };

/* A pair among those to be merged, and its turn. */
typedef struct candidate {
    const sx_pair *pair;
    size_t turn;
} candidate;

static int by_key(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    int order = sx_key_compare(x->pair->key, y->pair->key);
    return order ? order : (x->turn > y->turn) - (x->turn < y->turn);
}

static int by_turn(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return (x->turn > y->turn) - (x->turn < y->turn);
}

static SX_MUST_USE sx_status merge_maps(sx_arena *arena, const sx_node *const *maps, size_t n, bool deep,
                                        sx_node *out);

/* The items of several lists one after the other. */
static SX_MUST_USE sx_status join_lists(sx_arena *arena, const sx_node *const *lists, size_t n,
                                        sx_node *out) {
    size_t total = 0, used = 0;
    for (size_t i = 0; i < n; i++) total += lists[i]->n;
    const sx_node **item = sx_arena_alloc(arena, total, sizeof *item);
    if (!item) return sx_arena_error(arena);
    for (size_t i = 0; i < n; i++) {
        if (lists[i]->n) memcpy(item + used, lists[i]->item, lists[i]->n * sizeof *item);
        used += lists[i]->n;
    }
    *out = *lists[0];
    out->item = item;
    out->n = total;
    return sx_node_measure(out);
}

/* One value from those that share a key, the first of which wins. */
static SX_MUST_USE sx_status merge_values(sx_arena *arena, const candidate *group, size_t n,
                                          const sx_node **out) {
    const sx_node *first = group[0].pair->value;
    bool list = first->kind == SX_NODE_LIST, nomerge = first->tag && strcmp(first->tag, "!nomerge") == 0;
    *out = first;
    if (n == 1 || nomerge || (!list && first->kind != SX_NODE_MAP)) return SX_OK;
    const sx_node **alike = calloc(n, sizeof *alike);
    if (!alike) return sx_error_memory();
    size_t n_alike = 0;
    for (size_t i = 0; i < n; i++)
        if (group[i].pair->value->kind == first->kind) alike[n_alike++] = group[i].pair->value;
    sx_node *merged = sx_arena_alloc(arena, 1, sizeof *merged);
    sx_status status = !merged ? sx_arena_error(arena)
                       : list  ? join_lists(arena, alike, n_alike, merged)
                               : merge_maps(arena, alike, n_alike, true, merged);
    free(alike);
    if (!status) *out = merged;
    return status;
}

/* Keeps one candidate per key, its value merged where that is asked for; they end up in the order of their
 * turns. */
static SX_MUST_USE sx_status merge_candidates(sx_arena *arena, candidate *all, size_t n, bool deep,
                                              sx_pair *merged, size_t *n_merged) {
    size_t kept = 0;
    qsort(all, n, sizeof *all, by_key);
    for (size_t i = 0, next; i < n; i = next) {
        next = i + 1;
        while (next < n && sx_key_equal(all[next].pair->key, all[i].pair->key)) next++;
        const sx_node *value = all[i].pair->value;
        if (deep) SX_TRY(merge_values(arena, &all[i], next - i, &value));
        merged[kept] = *all[i].pair;
        merged[kept].value = value;
        all[kept] = (candidate){&merged[kept], all[i].turn};
        kept++;
    }
    qsort(all, kept, sizeof *all, by_turn);
    *n_merged = kept;
    return SX_OK;
}

/* A map with the keys of several, the first of which wins; *out starts as a copy of it. */
static sx_status merge_maps(sx_arena *arena, const sx_node *const *maps, size_t n, bool deep, sx_node *out) {
    size_t total = 0, used = 0, kept = 0;
    for (size_t i = 0; i < n; i++) total += maps[i]->n;
    candidate *all = calloc(total + 1, sizeof *all);
    sx_pair *merged = sx_arena_alloc(arena, total, sizeof *merged);
    sx_pair *ordered = sx_arena_alloc(arena, total, sizeof *ordered);
    sx_status status = !all ? sx_error_memory() : !merged || !ordered ? sx_arena_error(arena) : SX_OK;
    for (size_t i = 0; i < n && !status; i++)
        for (size_t j = 0; j < maps[i]->n; j++, used++) all[used] = (candidate){&maps[i]->pair[j], used};
    if (!status) status = merge_candidates(arena, all, total, deep, merged, &kept);
    if (!status) {
        for (size_t i = 0; i < kept; i++) ordered[i] = *all[i].pair;
        *out = *maps[0];
        out->pair = ordered;
        out->n = kept;
        status = sx_node_measure(out);
    }
    free(all);
    return status;
}

/* Whether two tags are equal, or there are none. */
static bool same_tag(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The value of pair `i` of a map in another one: at the same place or, in maps that are not large, anywhere.
 */
static const sx_node *matching_value(const sx_node *a, size_t i, const sx_node *b) {
    enum { LARGE = 256 };
    if (sx_key_equal(a->pair[i].key, b->pair[i].key)) return b->pair[i].value;
    return b->n <= LARGE ? sx_node_get(b, a->pair[i].key) : NULL;
}

bool sx_node_same_value(const sx_node *a, const sx_node *b) {
    if (a == b) return true;
    if (a->kind != b->kind || a->n != b->n || a->weight != b->weight || !same_tag(a->tag, b->tag))
        return false;
    if (a->kind == SX_NODE_SCALAR) return strcmp(a->text, b->text) == 0;
    for (size_t i = 0; i < a->n && a->kind == SX_NODE_LIST; i++)
        if (!sx_node_same_value(a->item[i], b->item[i])) return false;
    for (size_t i = 0; i < a->n && a->kind == SX_NODE_MAP; i++) {
        const sx_node *other = matching_value(a, i, b);
        if (!other || !sx_node_same_value(a->pair[i].value, other)) return false;
    }
    return true;
}

/* Takes pair number `index` out of a map. */
static SX_MUST_USE sx_status drop_duplicate(sx_arena *arena, sx_node *map, size_t index) {
    sx_pair *pair = sx_arena_alloc(arena, map->n, sizeof *pair);
    if (!pair) return sx_arena_error(arena);
    memcpy(pair, map->pair, map->n * sizeof *pair);
    map->dropped = &map->pair[index];
    memmove(pair + index, pair + index + 1, (map->n - index - 1) * sizeof *pair);
    map->pair = pair;
    map->n--;
    return SX_OK;
}

/* Finds a key that is written twice: NULL where there is none, an error where its values differ. */
static SX_MUST_USE sx_status find_duplicate(const sx_node *map, const sx_pair **first,
                                            const sx_pair **second) {
    candidate *all = calloc(map->n + 1, sizeof *all);
    if (!all) return sx_error_memory();
    for (size_t i = 0; i < map->n; i++) all[i] = (candidate){&map->pair[i], i};
    qsort(all, map->n, sizeof *all, by_key);
    *second = NULL;
    for (size_t i = 1; i < map->n && !*second; i++) {
        if (!sx_key_equal(all[i - 1].pair->key, all[i].pair->key)) continue;
        *first = all[i - 1].pair;
        *second = all[i].pair;
    }
    free(all);
    if (!*second || sx_node_same_value((*first)->value, (*second)->value)) return SX_OK;
    return sx_error_hint(sx_error_at((*second)->place, "duplicate key '%.64s'", (*second)->key),
                         "the first is at %s:%d:%d", (*first)->place.file, (*first)->place.line,
                         (*first)->place.column);
}

/* Refuses a key that is written twice with different values, and drops the second of equal ones. */
static SX_MUST_USE sx_status check_twice(sx_arena *arena, sx_node *map) {
    for (int n = 0; n < MAX_TWINS; n++) {
        const sx_pair *first = NULL, *second = NULL;
        SX_TRY(find_duplicate(map, &first, &second));
        if (!second) return SX_OK;
        SX_TRY(drop_duplicate(arena, map, (size_t)(second - map->pair)));
    }
    return sx_error_at(map->place, "more than %d duplicate keys in one map", MAX_TWINS);
}

/* Merges the value of a merge key into the map, whose own pairs without that key are `own`. */
static SX_MUST_USE sx_status merge_under(sx_arena *arena, sx_node *map, const sx_pair *key,
                                         const sx_node *own, bool deep) {
    const sx_node *under = key->value;
    size_t n = under->kind == SX_NODE_LIST ? under->n : 1;
    const sx_node *const *source = under->kind == SX_NODE_LIST ? under->item : &under;
    const sx_node **maps = calloc(n + 1, sizeof *maps);
    if (!maps) return sx_error_memory();
    maps[0] = own;
    sx_status status = SX_OK;
    for (size_t i = 0; i < n && !status; i++) {
        maps[i + 1] = source[i];
        if (source[i]->kind != SX_NODE_MAP)
            status = sx_error_at(source[i]->place, "'%s' must be a map or a list of maps", key->key);
    }
    if (!status) status = merge_maps(arena, maps, n + 1, deep, map);
    free(maps);
    return status;
}

sx_status sx_merge(sx_arena *arena, sx_node *map) {
    const sx_pair *key = NULL;
    SX_TRY(check_twice(arena, map));
    for (size_t i = 0; i < map->n; i++) {
        const sx_pair *pair = &map->pair[i];
        if (strcmp(pair->key, "<<") != 0 && strcmp(pair->key, "<<<") != 0) continue;
        if (key)
            return sx_error_hint(sx_error_at(pair->place, "a map has both '<<' and '<<<'"),
                                 "give one of them a list of maps");
        key = pair;
    }
    if (!key) return sx_node_measure(map);
    sx_node own = *map;
    size_t before = (size_t)(key - map->pair);
    sx_pair *pair = sx_arena_alloc(arena, map->n, sizeof *pair);
    if (!pair) return sx_arena_error(arena);
    memcpy(pair, map->pair, before * sizeof *pair);
    memcpy(pair + before, key + 1, (map->n - before - 1) * sizeof *pair);
    own.pair = pair;
    own.n = map->n - 1;
    return merge_under(arena, map, key, &own, strlen(key->key) == 3);
}
