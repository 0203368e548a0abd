/* Groups and neighbours of one visit with the children listed one by one. What a child fetches is a shape at a place,
 * written as one number: places are whole numbers in a mixed radix wide enough that no two of them collide. */
#include "model/remainders/window.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPES = SX_WINDOW_PIECES + 1 };
#define NOTHING INT64_MIN

void sx_window_list_fini(sx_window_list *list) {
    free(list->class_of);
    free(list->at);
    free(list->group);
    free(list->used);
    *list = (sx_window_list){0};
}

/* Makes room for n children; false when memory is out. */
static bool reserve_children(sx_window_list *list, size_t n) {
    size_t room = 64;
    if (n <= list->room) return true;
    while (room < n) room *= 2;
    sx_window_list_fini(list);
    list->class_of = malloc(room * sizeof *list->class_of);
    list->at = malloc(3 * room * sizeof *list->at);
    list->group = calloc(2 * room, sizeof *list->group);
    list->used = malloc(room * sizeof *list->used);
    if (!list->class_of || !list->at || !list->group || !list->used) {
        sx_window_list_fini(list);
        return false;
    }
    list->room = room;
    list->now = list->at + room;
    list->before = list->now + room;
    list->n_groups = 2 * room;
    return true;
}

/* Sets the radix: wide enough for places of children, of pieces in a tile and of the way since the visit before, each
 * within twice the tensor in both directions. */
static bool set_radix(sx_window_dp *w) {
    const sx_shape *shape = w->shape;
    double all = SHAPES;
    int64_t radix = SHAPES;
    for (int r = 0; r < shape->n_ranks; r++) {
        int64_t extent = 1;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++)
            extent += llabs(shape->term[i].coef) * (w->workspace->model->size[shape->term[i].dim] - 1ll);
        w->list.radix[r] = radix;
        all *= 12 * (double)extent;
        if (all >= 0x1p62) return false;
        radix *= 12 * extent;
    }
    return true;
}

/* Notes the place and the class of every child; false if there are too many, or memory is out. */
static bool list_children(sx_window_dp *w) {
    sx_window_list *list = &w->list;
    uint64_t placed = 1;
    if (list->ready) return true;
    if (w->slot.siblings > SX_MAX_LISTED_CHILDREN || !reserve_children(list, w->slot.siblings) ||
        !set_radix(w))
        return false;
    sx_fanout_moves(&w->slot);
    list->class_of[0] = 0;
    list->at[0] = 0;
    for (int l = 0; l < w->slot.n_loops; l++) {
        const sx_window_spread *s = &w->spread[l];
        int64_t move = 0;
        for (int r = 0; r < w->shape->n_ranks; r++) move += w->slot.move[l][r] * list->radix[r];
        for (uint32_t i = 1; i < w->slot.loop[l].n; i++) {
            unsigned add = sx_window_place(s, i) * s->weight;
            for (uint64_t p = 0; p < placed; p++) {
                list->at[i * placed + p] = list->at[p] + i * move;
                list->class_of[i * placed + p] = (uint16_t)(list->class_of[p] + add);
            }
        }
        placed *= w->slot.loop[l].n;
    }
    list->ready = true;
    return true;
}

/* A piece of a child that stands at 0, moved back by the way since the visit before if `before`. */
static int64_t piece_number(const sx_window_dp *w, unsigned piece, bool before) {
    int64_t at = w->shape_of[piece];
    if (piece == 0) return NOTHING;
    for (int r = 0; r < w->shape->n_ranks; r++)
        at += (w->piece[piece].low[r] - (before ? w->moved[r] : 0)) * w->list.radix[r];
    return at;
}

/* Writes what every child fetches, and fetched at the visit before. */
static void write_pieces(sx_window_dp *w) {
    sx_window_list *list = &w->list;
    int64_t now[SX_WINDOW_CLASSES], before[SX_WINDOW_CLASSES];
    for (int c = 0; c < w->n_classes; c++) {
        now[c] = piece_number(w, w->now[c], false);
        before[c] = piece_number(w, w->links ? w->before[c] : 0, true);
    }
    for (uint64_t p = 0; p < w->slot.siblings; p++) {
        unsigned c = list->class_of[p];
        list->now[p] = now[c] == NOTHING ? NOTHING : now[c] + list->at[p];
        list->before[p] = before[c] == NOTHING ? NOTHING : before[c] + list->at[p];
    }
}

/* Whether a neighbour fetched at the visit before what a child in a column of a row fetches now. */
static bool is_served(const sx_window_dp *w, uint64_t p, uint64_t column, uint64_t row) {
    const int64_t *before = w->list.before, what = w->list.now[p];
    uint64_t columns = w->slot.columns, n = w->slot.siblings;
    return (column >= 1 && before[p - 1] == what) ||
           (column + 1 < columns && p + 1 < n && before[p + 1] == what) ||
           (row >= 1 && before[p - columns] == what) ||
           (row + 1 < w->slot.rows && p + columns < n && before[p + columns] == what);
}

/* The group of a child. */
static struct sx_window_group *group_of(sx_window_dp *w, uint64_t p, size_t *n) {
    sx_window_list *list = &w->list;
    int64_t what = w->slot.apart ? (int64_t)p : list->now[p];
    size_t at = sx_hash_mix(0, (uint64_t)what) & (list->n_groups - 1);
    while (list->group[at].visit == list->visit && list->group[at].what != what)
        at = (at + 1) & (list->n_groups - 1);
    struct sx_window_group *group = &list->group[at];
    if (group->visit != list->visit) {
        *group = (struct sx_window_group){
            .what = what, .visit = list->visit, .words = w->words[list->class_of[p]]};
        list->used[(*n)++] = (uint32_t)at;
    }
    return group;
}

/* Adds the groups up, with links where these save accesses. */
static sx_window_sums add_groups(const sx_window_dp *w, size_t n) {
    sx_window_sums plain = {0}, linked = {0};
    for (size_t i = 0; i < n; i++) {
        const struct sx_window_group *group = &w->list.group[w->list.used[i]];
        double words = (double)group->words;
        plain.accesses += words;
        plain.deliveries += words * group->all;
        linked.accesses += group->left ? words : 0;
        linked.deliveries += words * group->left;
        linked.links += words * (group->all - group->left);
    }
    return linked.accesses < plain.accesses ? linked : plain;
}

sx_window_sums sx_window_list_children(sx_window_dp *w) {
    size_t n = 0;
    w->failed |= !list_children(w);
    if (w->failed) return (sx_window_sums){0};
    if (++w->list.visit == 0) {
        memset(w->list.group, 0, w->list.n_groups * sizeof *w->list.group);
        w->list.visit = 1;
    }
    write_pieces(w);
    uint64_t column = 0, row = 0;
    for (uint64_t p = 0; p < w->slot.siblings; p++) {
        if (w->list.now[p] != NOTHING) {
            struct sx_window_group *group = group_of(w, p, &n);
            group->all++;
            group->left += !(w->links && is_served(w, p, column, row));
        }
        if (++column == w->slot.columns) {
            column = 0;
            row++;
        }
    }
    return add_groups(w, n);
}
