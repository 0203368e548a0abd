/* Classes of children, and what they share at one visit: groups that want the same words, and neighbours that had them
 * (docs/model.md, section 3). Children are not listed one by one unless two loops move the same rank, pieces of
 * different classes may coincide, or a neighbour serves some of several classes. */
#include "model/remainders/window.h"

#include "base/hash.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

enum { SHARED = 512 }; /* visits remembered */

/* Adds a place that `count` iterations of a loop are in. */
static void add_place(sx_window_spread *s, unsigned place, uint32_t count) {
    if (count == 0) return;
    s->place[s->n] = (uint8_t)place;
    s->start[s->n] = s->n ? s->start[s->n - 1] + s->count[s->n - 1] : 0;
    s->count[s->n++] = count;
}

/* The places of children in a spatial loop: before the last iteration at the edge, at it, beyond it. The first two are
 * alike where the last tile is as large as the others. */
static void set_spread(sx_window_dp *w, int l) {
    const sx_loop *loop = &w->slot.loop[l];
    sx_window_dim *d = &w->dim[loop->dim];
    sx_window_spread *s = &w->spread[l];
    bool cut = w->shape->dims >> loop->dim & 1 && d->rest != d->full;
    s->n = 0;
    d->spread = d->bit && (cut || loop->last != loop->n);
    if (!d->spread) {
        add_place(s, SX_ON, loop->n);
        return;
    }
    if (cut) add_place(s, SX_EARLY, loop->last - 1);
    add_place(s, SX_ON, cut ? 1 : loop->last);
    add_place(s, SX_IDLE, loop->n - loop->last);
}

/* Sets the weights of the loops' places in the numbers of classes: those that do not index the tensor first. */
static bool set_weights(sx_window_dp *w) {
    size_t classes = 1;
    for (int relevant = 0; relevant < 2; relevant++) {
        for (int l = 0; l < w->slot.n_loops; l++) {
            if ((w->shape->dims >> w->slot.loop[l].dim & 1) != relevant) continue;
            w->spread[l].weight = (unsigned)classes;
            classes *= w->spread[l].n;
            if (classes > SX_WINDOW_CLASSES) return false;
        }
        if (!relevant) w->n_alike = (int)classes;
    }
    w->n_classes = (int)classes;
    return true;
}

static void set_class(sx_window_dp *w, int c) {
    sx_window_class *class = &w->class[c];
    memset(class->place, SX_ON, sizeof class->place);
    class->on = UINT32_MAX;
    class->idle = 0;
    class->children = class->sites = 1;
    for (int l = 0; l < w->slot.n_loops; l++) {
        const sx_window_spread *s = &w->spread[l];
        unsigned i = (unsigned)c / s->weight % s->n;
        unsigned d = w->slot.loop[l].dim;
        class->place[d] = s->place[i];
        if (s->place[i] != SX_ON) class->on &= ~(1u << d);
        if (s->place[i] == SX_IDLE) class->idle |= 1u << d;
        class->children *= s->count[i];
        if (w->slot.apart || w->shape->dims >> w->slot.loop[l].dim & 1) class->sites *= s->count[i];
    }
}

/* Adds the pairs of a class and its neighbours where loop i of an axis advances (or goes back), and those inside it
 * start (or end) again. */
static bool add_pairs(sx_window_dp *w, int c, int first, int i, bool back) {
    const sx_window_spread *at = &w->spread[i];
    unsigned mine = (unsigned)c / at->weight % at->n, other = (unsigned)c;
    sx_window_pair pair = {.class = (uint16_t)c};
    for (int k = first; k <= i; k++)
        for (int r = 0; r < w->shape->n_ranks; r++)
            pair.apart[r] +=
                (k < i ? -(int64_t)(w->slot.loop[k].n - 1) : 1) * w->slot.move[k][r] * (back ? -1 : 1);
    for (int k = first; k < i; k++) {
        const sx_window_spread *s = &w->spread[k];
        uint32_t end = w->slot.loop[k].n - 1;
        unsigned digit = (unsigned)c / s->weight % s->n;
        if (digit != sx_window_place(s, back ? 0 : end)) return true;
        other += (sx_window_place(s, back ? end : 0) - digit) * s->weight;
    }
    for (unsigned p = 0; p < at->n; p++) {
        if (p == mine ? at->count[p] < 2 : p + 1 != (back ? mine : mine + 2)) continue;
        if (!sx_reserve(&w->pair, &w->pair_room, w->n_pairs + 1, sizeof pair)) return false;
        pair.neighbour = (uint16_t)(other + (p - mine) * at->weight);
        w->pair[w->n_pairs++] = pair;
    }
    return true;
}

/* Lists which classes have which neighbours on the mesh. */
static bool list_pairs(sx_window_dp *w) {
    bool good = true;
    w->n_pairs = 0;
    sx_fanout_moves(&w->slot);
    for (int c = 0; c < w->n_classes; c++)
        for (int i = 0; i < w->slot.n_loops && good; i++)
            good = add_pairs(w, c, i < w->slot.n_x ? 0 : w->slot.n_x, i, false) &&
                   add_pairs(w, c, i < w->slot.n_x ? 0 : w->slot.n_x, i, true);
    return good;
}

/* The groups of children where all are of one class. */
static bool set_groups(sx_window_dp *w) {
    const sx_multicast_group *group;
    size_t n = sx_fanout_groups(&w->slot, w->workspace->slot, false, &group);
    w->class[0].sites = 0;
    for (size_t i = 0; i < n; i++) w->class[0].sites += (double)group[i].count;
    return n > 0;
}

bool sx_window_classify(sx_window_dp *w, bool together) {
    bool mixed = false, others = false;
    for (int l = 0; l < w->slot.n_loops; l++) {
        unsigned dim = w->slot.loop[l].dim;
        set_spread(w, l);
        mixed |= (w->shape->dims & ~w->shape->solo) >> dim & 1;
        others |= !(w->shape->dims >> dim & 1);
    }
    if (!set_weights(w)) return false;
    for (int c = 0; c < w->n_classes; c++) set_class(w, c);
    w->links &= w->slot.n_loops > 0;
    bool separate = !together && !(w->links && w->always) && !mixed && w->n_alike == 1;
    w->wary = separate && w->links && others;
    if (separate) w->links = false;
    w->pieces = !separate && (w->n_classes > 1 || w->links);
    w->aligned = sx_fanout_is_aligned(&w->slot);
    if (w->links && w->aligned && w->n_classes > 1 && !list_pairs(w)) return false;
    return separate || w->n_classes > 1 || set_groups(w);
}

bool sx_window_within(const sx_window_dp *w, const int64_t *need) {
    for (int r = 0; r < w->shape->n_ranks; r++)
        if (llabs(need[r]) > (w->shape->plain ? 0 : w->slot.span[r])) return false;
    return true;
}

/* All children alike: closed forms of groups and neighbours. */
static sx_window_sums share_alike(sx_window_dp *w) {
    double words = (double)w->words[0];
    sx_window_sums sums = {words * w->class[0].sites, words * w->class[0].children, 0};
    unsigned now = w->now[0], before = w->before[0];
    if (!now || !before || w->shape_of[now] != w->shape_of[before]) return sums;
    int64_t need[SX_MAX_RANKS];
    for (int r = 0; r < w->shape->n_ranks; r++)
        need[r] = w->piece[now].low[r] - w->piece[before].low[r] + w->moved[r];
    if (!sx_window_within(w, need)) return sums;
    const sx_multicast_group *group;
    uint64_t served;
    double fewer = 0, left = 0;
    size_t n = sx_fanout_served(&w->slot, w->workspace->slot, need, false, &served, &group);
    w->failed |= n == SIZE_MAX;
    for (size_t i = 0; i < n && !w->failed; i++) {
        fewer += (double)group[i].count;
        left += (double)(group[i].count * group[i].m);
    }
    if (w->failed || fewer >= w->class[0].sites) return sums;
    return (sx_window_sums){words * fewer, words * left, words * (double)served};
}

/* Whether some child might get its words from a neighbour. */
static bool may_serve(const sx_window_dp *w) {
    bool any = false;
    for (int c = 0; c < w->n_classes && !w->aligned; c++) any |= w->before[c] != 0;
    if (!w->aligned) return any;
    for (size_t i = 0; i < w->n_pairs; i++) {
        const sx_window_pair *pair = &w->pair[i];
        unsigned now = w->now[pair->class], before = w->before[pair->neighbour];
        if (!now || !before || w->shape_of[now] != w->shape_of[before]) continue;
        bool same = true;
        for (int r = 0; r < w->shape->n_ranks && same; r++)
            same = pair->apart[r] == w->piece[now].low[r] - w->piece[before].low[r] + w->moved[r];
        if (same) return true;
    }
    return false;
}

/* Whether two pieces might be the same words for children in different iterations of loops that index the tensor. */
static bool may_coincide(const sx_window_dp *w, unsigned a, unsigned b) {
    if (a == b || w->shape_of[a] != w->shape_of[b]) return false;
    for (int r = 0; r < w->shape->n_ranks; r++)
        if (llabs(w->piece[a].low[r] - w->piece[b].low[r]) > (w->shape->plain ? 0 : w->slot.span[r]))
            return false;
    return true;
}

/* Whether the groups are not just the children that agree in the loops that index the tensor and in what they fetch. */
static bool is_tangled(const sx_window_dp *w) {
    uint8_t seen[SX_WINDOW_PIECES + 1];
    int n = 0;
    if (w->slot.apart || !w->slot.uniform) return true;
    for (int c = 0; c < w->n_classes; c++) {
        int k = 0;
        if (w->now[c] == 0) continue;
        while (k < n && seen[k] != w->now[c]) k++;
        if (k < n) continue;
        for (k = 0; k < n; k++)
            if (may_coincide(w, seen[k], w->now[c])) return true;
        seen[n++] = w->now[c];
    }
    return false;
}

/* Several classes: without listing children where their groups are plain. */
static sx_window_sums share_classes(sx_window_dp *w) {
    sx_window_sums sums = {0};
    if ((w->links && may_serve(w)) || is_tangled(w)) return sx_window_list_children(w);
    for (int c = 0; c < w->n_classes; c++) {
        int other = c - c % w->n_alike;
        while (other < c && w->now[other] != w->now[c]) other++;
        double words = (double)w->words[c];
        sums.deliveries += words * w->class[c].children;
        if (other == c) sums.accesses += words * w->class[c].sites;
    }
    return sums;
}

/* The same, known from an earlier visit at which all fetched and had fetched the same. */
static sx_window_sums recall_classes(sx_window_dp *w) {
    size_t n = (size_t)w->n_classes, ranks = w->links ? w->shape->n_ranks : 0;
    uint64_t hash = w->count;
    if (!w->shared) w->shared = calloc(SHARED, sizeof *w->shared);
    if (!w->shared || n > sizeof w->shared->now) return share_classes(w);
    for (size_t c = 0; c < n; c++) hash = sx_hash_mix(hash, w->now[c] | (uint64_t)w->before[c] << 8);
    for (size_t r = 0; r < ranks; r++) hash = sx_hash_mix(hash, (uint64_t)w->moved[r]);
    sx_window_shared *s = &w->shared[hash % SHARED];
    if (s->count == w->count && memcmp(s->now, w->now, n) == 0 && memcmp(s->before, w->before, n) == 0 &&
        memcmp(s->moved, w->moved, ranks * sizeof *s->moved) == 0)
        return s->sums;
    s->count = w->count;
    memcpy(s->now, w->now, n);
    memcpy(s->before, w->before, n);
    memcpy(s->moved, w->moved, ranks * sizeof *s->moved);
    s->sums = share_classes(w);
    return s->sums;
}

sx_window_sums sx_window_share(sx_window_dp *w) {
    const sx_window_class *class = &w->class[w->first];
    double words = (double)w->words[0];
    if (!w->pieces) return (sx_window_sums){words * class->sites, words * class->children, 0};
    if (w->n_classes == 1) return share_alike(w);
    return w->always ? share_classes(w) : recall_classes(w);
}
