/* Grouping siblings by the exact set of words each fetches. Everything is enumerated: this is the path for
 * remainders, where siblings at the edge differ from the others. */
#include "model/remainders/multicast.h"

#include "base/hash.h"
#include "base/hash_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The siblings of a visit laid out for comparison: what each fetches is a shape at a place. */
typedef struct layout {
    uint64_t n;
    size_t ranks;
    int64_t *at;                   /* per sibling and rank: where its slot stands */
    int64_t *key;                  /* per sibling: shape, then place per rank, of what it fetches now */
    uint32_t *group_of;            /* per sibling; UINT32_MAX when it fetches nothing from the level */
    sx_hash_table table;           /* of the siblings' keys */
    int *shape_now, *shape_before; /* per class; -1: nothing */
    const sx_box_delta **shape;    /* one piece of each shape */
} layout;

/* Numbers the classes' pieces by shape. */
static void number_shapes(layout *l, const sx_multicast_visit *multicast) {
    const sx_box_delta **all = l->shape;
    int64_t shift[SX_MAX_RANKS];
    int shapes = 0, n = multicast->n_classes;
    for (int i = 0; i < 2 * n; i++) {
        const sx_box_delta *delta = i < n              ? &multicast->now[i]
                                    : multicast->links ? &multicast->before[i - n]
                                                       : NULL;
        int *shape = i < n ? &l->shape_now[i] : &l->shape_before[i - n];
        *shape = -1;
        if (!delta || delta->words == 0) continue;
        int k = 0;
        while (k < shapes && !sx_box_delta_congruent((int)l->ranks, delta, all[k], shift)) k++;
        if (k == shapes) all[shapes++] = delta;
        *shape = k;
    }
}

static bool layout_new(layout *l, const sx_multicast_visit *multicast) {
    const sx_fanout *slot = multicast->slot;
    *l = (layout){.n = slot->siblings, .ranks = slot->shape->n_ranks};
    l->at = malloc(l->n * l->ranks * sizeof *l->at);
    l->key = malloc(l->n * (l->ranks + 1) * sizeof *l->key);
    l->group_of = malloc(l->n * sizeof *l->group_of);
    size_t classes = (size_t)multicast->n_classes;
    l->shape_now = malloc(classes * sizeof *l->shape_now);
    l->shape_before = malloc(classes * sizeof *l->shape_before);
    l->shape = malloc(2 * classes * sizeof *l->shape);
    if (!l->at || !l->key || !l->group_of || !l->shape_now || !l->shape_before || !l->shape) return false;
    sx_fanout_place(slot, l->at);
    number_shapes(l, multicast);
    for (uint64_t p = 0; p < l->n; p++) {
        int64_t *key = &l->key[p * (l->ranks + 1)];
        const sx_box_delta *delta = &multicast->now[multicast->class_of[p]];
        key[0] = l->shape_now[multicast->class_of[p]];
        for (size_t r = 0; r < l->ranks; r++) key[r + 1] = l->at[p * l->ranks + r] + delta->low[r];
    }
    return true;
}

static void layout_free(layout *l) {
    free(l->at);
    free(l->key);
    free(l->group_of);
    sx_hash_table_clear(&l->table);
    free(l->shape_now);
    free(l->shape_before);
    free(l->shape);
}

/* Whether neighbour q fetched at the visit before exactly what p fetches now. */
static bool neighbour_had(const layout *l, const sx_multicast_visit *multicast, uint64_t p, uint64_t q) {
    const int64_t *key = &l->key[p * (l->ranks + 1)];
    int c = multicast->class_of[q];
    if (l->shape_before[c] != key[0]) return false;
    for (size_t r = 0; r < l->ranks; r++)
        if (l->at[q * l->ranks + r] + multicast->before[c].low[r] != key[r + 1]) return false;
    return true;
}

static bool is_served(const layout *l, const sx_multicast_visit *multicast, uint64_t p) {
    uint64_t columns = multicast->slot->columns, h = p % columns, v = p / columns;
    return (v >= 1 && neighbour_had(l, multicast, p, p - columns)) ||
           (v + 1 < multicast->slot->rows && p + columns < l->n &&
            neighbour_had(l, multicast, p, p + columns)) ||
           (h >= 1 && neighbour_had(l, multicast, p, p - 1)) ||
           (h + 1 < columns && p + 1 < l->n && neighbour_had(l, multicast, p, p + 1));
}

/* One group while it is put together. */
typedef struct group {
    uint64_t m, words, furthest;
    double hops;
} group;

/* Puts siblings that fetch the same into groups, leaving out those a neighbour serves if `links`. Returns the
 * number of groups, SIZE_MAX when memory is out; adds the served words to *served. */
static size_t make_groups(layout *l, const sx_multicast_visit *multicast, bool links, group *groups,
                          uint64_t *served) {
    size_t n = 0, width = l->ranks + 1;
    const sx_hash_keys keys = {l->key, width * sizeof *l->key, width * sizeof *l->key};
    if (!sx_hash_table_begin(&l->table, l->n)) return SIZE_MAX;
    for (uint64_t p = 0; p < l->n; p++) {
        const int64_t *key = &l->key[p * width];
        uint64_t words = multicast->now[multicast->class_of[p]].words, h = p % multicast->slot->columns;
        l->group_of[p] = UINT32_MAX;
        if (words == 0) continue;
        if (links && is_served(l, multicast, p)) {
            *served += words;
            continue;
        }
        uint32_t first = (uint32_t)p;
        if (!multicast->slot->apart)
            first = sx_hash_table_put(&l->table, keys, key, sx_hash_words(key, width), first);
        if (first == SX_HASH_NONE) return SIZE_MAX;
        if (first == p) groups[n] = (group){.words = words};
        l->group_of[p] = first == p ? (uint32_t)n++ : l->group_of[first];
        group *g = &groups[l->group_of[p]];
        g->m++;
        if (h > g->furthest) g->furthest = h;
    }
    return n;
}

/* The rows of one column that groups take: first and last by group, -1 where none, and the groups that take one. */
typedef struct column_rows {
    int64_t *low, *high;
    uint32_t *groups;
    size_t n;
} column_rows;

static void find_column_rows(const layout *l, uint64_t columns, uint64_t h, column_rows *rows) {
    rows->n = 0;
    for (uint64_t p = h; p < l->n; p += columns) {
        uint32_t g = l->group_of[p];
        if (g == UINT32_MAX) continue;
        int64_t v = (int64_t)(p / columns);
        if (rows->low[g] < 0) {
            rows->low[g] = v;
            rows->groups[rows->n++] = g;
        }
        rows->high[g] = v;
    }
}

/* Adds each group's hops: to its furthest column, and up and down every column from the middle row. Takes time in
 * proportion to the siblings, however many groups there are. */
static bool add_hops(const layout *l, const sx_multicast_visit *multicast, group *groups, size_t n) {
    uint64_t columns = multicast->slot->columns;
    double middle = ((double)multicast->slot->rows - 1) / 2;
    column_rows rows = {.low = malloc((n ? n : 1) * 2 * sizeof *rows.low),
                        .groups = malloc((n ? n : 1) * sizeof *rows.groups)};
    bool done = rows.low && rows.groups;
    if (done) rows.high = rows.low + n;
    for (size_t g = 0; done && g < n; g++) {
        groups[g].hops = (double)groups[g].furthest;
        rows.low[g] = -1;
    }
    for (uint64_t h = 0; done && h < columns && h < l->n; h++) {
        find_column_rows(l, columns, h, &rows);
        for (size_t i = 0; i < rows.n; i++) {
            uint32_t g = rows.groups[i];
            groups[g].hops += fmax(middle - (double)rows.low[g], 0) + fmax((double)rows.high[g] - middle, 0);
            rows.low[g] = -1;
        }
    }
    free(rows.low);
    free(rows.groups);
    return done;
}

/* Sums groups up by size. */
static size_t gather_groups(const group *groups, size_t n, sx_multicast_traffic *traffic) {
    size_t parties = 0;
    for (size_t g = 0; g < n; g++) {
        size_t i = 0;
        while (i < parties && traffic[i].m != groups[g].m) i++;
        if (i == parties) traffic[parties++] = (sx_multicast_traffic){.m = groups[g].m};
        traffic[i].count++;
        traffic[i].words += groups[g].words;
        traffic[i].hops += groups[g].hops;
    }
    return parties;
}

static uint64_t total_words(const group *groups, size_t n) {
    uint64_t words = 0;
    for (size_t g = 0; g < n; g++) words += groups[g].words;
    return words;
}

/* Groups the siblings with links where these save accesses, else without; the words handed over links. */
static size_t choose_groups(layout *l, const sx_multicast_visit *multicast, group *groups, uint64_t *links) {
    uint64_t served = 0, none = 0;
    *links = 0;
    if (multicast->links) {
        group *plain = groups + multicast->slot->siblings;
        size_t all = make_groups(l, multicast, false, plain, &none);
        size_t fewer = all == SIZE_MAX ? SIZE_MAX : make_groups(l, multicast, true, groups, &served);
        if (fewer == SIZE_MAX) return SIZE_MAX;
        if (total_words(groups, fewer) < total_words(plain, all)) {
            *links = served;
            return fewer;
        }
    }
    return make_groups(l, multicast, false, groups, &none);
}

size_t sx_multicast_visit_groups(const sx_multicast_visit *multicast, bool hops,
                                 sx_multicast_traffic *traffic, uint64_t *links) {
    layout l;
    size_t n = SIZE_MAX;
    group *groups = malloc(2 * multicast->slot->siblings * sizeof *groups);
    if (layout_new(&l, multicast) && groups) n = choose_groups(&l, multicast, groups, links);
    if (n != SIZE_MAX && hops && !add_hops(&l, multicast, groups, n)) n = SIZE_MAX;
    if (n != SIZE_MAX) n = gather_groups(groups, n, traffic);
    free(groups);
    layout_free(&l);
    return n;
}
