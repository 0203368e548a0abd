/* Flows of tensors without windows where factors leave remainders. The iterations of a dimension are dealt out by the digits
 * of its loops: a child that stands at offset o has work where what temporal loops add to it is below N - o, and that is a
 * prefix of the digits in their order. Visits of a child are the product of these prefixes over the dimensions, so that
 * everything is a sum of products of counts of one dimension each. docs/proof.md, "The evaluator", has the proof. */
#include "check/remainder_flow.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 1 << 16, MOST_CHILDREN = 1 << 14, MOST_KINDS = 16, LINE_LOOPS = 2 * SX_MAX_LEVELS };

/* A dimension outside the tile of a child. */
typedef struct line {
    int64_t size, extent; /* of the dimension, and of the tile */
    bool indexes;         /* the tensor has this dimension, and so tiles have words of it */
    int64_t full, rest;   /* the words of a whole tile, and of one that is cut by the end */
    int64_t last;         /* the extent of that one */
    int n_loops, n_slot, n_above;
    const sx_check_loop *loop[LINE_LOOPS]; /* temporal ones, from the outermost inward */
    const sx_check_loop *slot[LINE_LOOPS]; /* spatial ones of the level, which tell siblings apart */
    const sx_check_loop *above[LINE_LOOPS];
} line;

/* What is counted of the places of a line. */
typedef enum measure {
    ALL_VISITS,  /* words of valid digits of the outermost loops; the others stand at their first iteration */
    LONE_VISITS, /* the same, where the others have no second iteration */
} measure;

/* The flow of a tensor from a level. */
typedef struct flow {
    const sx_check_case *c;
    const sx_check_nest *nest;
    int tensor, level, n_dims;
    unsigned dims; /* that index the tensor */
    bool apart;    /* every child is a group of its own */
    bool good;     /* nothing was too large so far */
    line line[SX_MAX_DIMS];
} flow;

static sx_wide product_of(flow *f, sx_wide a, sx_wide b) {
    sx_wide out = 0;
    f->good = f->good && sx_wide_mul(a, b, &out);
    return out;
}

/* The words of a tile along all ranks that a dimension is in. */
static int64_t words_along(const sx_tensor *t, int d, int64_t extent) {
    int64_t words = 1;
    for (int r = 0; r < t->n_ranks; r++)
        if (t->coef[r][d]) words *= 1 + llabs((long long)t->coef[r][d]) * (extent - 1);
    return words;
}

/* The dimensions of more than one index that a tensor has; false where two of them are in one rank. */
static bool find_dims(const sx_check_case *c, int tensor, unsigned *dims) {
    const sx_tensor *t = &c->problem.tensor[tensor];
    *dims = 0;
    for (int r = 0; r < t->n_ranks; r++) {
        int n = 0;
        for (int d = 0; d < c->problem.n_dims; d++) {
            if (!t->coef[r][d] || c->problem.size[d] == 1) continue;
            *dims |= 1u << d;
            n++;
        }
        if (n > 1) return false;
    }
    return true;
}

/* Lays out the loops of a dimension outside the children of the flow's level. */
static void set_line(const flow *f, int d, line *out) {
    const sx_check_nest *nest = f->nest;
    const sx_tensor *t = &f->c->problem.tensor[f->tensor];
    int n_levels = f->c->machine.n_levels, slot_end = nest->first_spatial[f->level + 1];
    int64_t inner = 1;
    *out = (line){.size = f->c->problem.size[d], .indexes = f->dims >> d & 1};
    for (int l = 0; l < nest->first_temporal[f->level]; l++)
        if (nest->temporal[l].dim == d) inner *= nest->temporal[l].n;
    for (int l = 0; l < nest->first_spatial[f->level]; l++)
        if (nest->spatial[l].dim == d) inner *= nest->spatial[l].n;
    out->extent = inner < out->size ? inner : out->size;
    out->last = out->size - (out->size - 1) / out->extent * out->extent;
    out->full = out->indexes ? words_along(t, d, out->extent) : 1;
    out->rest = out->indexes ? words_along(t, d, out->last) : 1;
    for (int l = nest->first_temporal[n_levels] - 1; l >= nest->first_temporal[f->level]; l--)
        if (nest->temporal[l].dim == d) out->loop[out->n_loops++] = &nest->temporal[l];
    for (int l = nest->first_spatial[f->level]; l < nest->first_spatial[n_levels]; l++) {
        if (nest->spatial[l].dim != d) continue;
        if (l < slot_end)
            out->slot[out->n_slot++] = &nest->spatial[l];
        else
            out->above[out->n_above++] = &nest->spatial[l];
    }
}

/* The loops of a line that stand at or outside a place of the nest. */
static int loops_from(const flow *f, const line *l, int place) {
    int n = 0;
    while (n < l->n_loops && l->loop[n] - f->nest->temporal >= place) n++;
    return n;
}

/* What is measured of the first n loops of a line, by a child for which `left` indices remain; *end is what remains of them at the
 * last digits of these loops. */
static sx_wide measure_child(const line *l, int n, int64_t left, measure what, int64_t *end) {
    sx_wide count = 0;
    for (int i = 0; i < n; i++) {
        int64_t step = l->loop[i]->step, most = (left - 1) / step;
        if (most > l->loop[i]->n - 1) most = l->loop[i]->n - 1;
        sx_wide inside = 1;
        for (int k = i + 1; k < n; k++) inside *= l->loop[k]->n;
        count += most * inside;
        left -= most * step;
    }
    *end = left;
    if (n == l->n_loops) what = ALL_VISITS;
    if (what == ALL_VISITS) return count * l->full + (left < l->extent ? l->rest : l->full);
    return left > l->loop[l->n_loops - 1]->step ? 0 : left < l->extent ? l->rest : l->full;
}

/* The number of places that a list of spatial loops has. */
static int64_t count_places(const sx_check_loop *const *loop, int n) {
    int64_t places = 1;
    for (int i = 0; i < n; i++) places *= loop[i]->n;
    return places;
}

/* The offset of a place. */
static int64_t place_offset(const sx_check_loop *const *loop, int n, int64_t place) {
    int64_t offset = 0;
    for (int i = 0; i < n; i++) {
        offset += place % loop[i]->n * loop[i]->step;
        place /= loop[i]->n;
    }
    return offset;
}

/* What is measured of the first n loops of a line, over all places of children; of siblings that differ in nothing that the
 * tensor has only the first, where `shared`. */
static sx_wide measure_line(flow *f, const line *l, int n, measure what, bool shared) {
    bool one = shared && !l->indexes;
    int64_t above = count_places(l->above, l->n_above), slots = one ? 1 : count_places(l->slot, l->n_slot),
            end;
    sx_wide sum = 0;
    if (above > MOST_PLACES / slots) {
        f->good = false;
        return 0;
    }
    for (int64_t i = 0; i < above; i++)
        for (int64_t k = 0; k < slots; k++) {
            int64_t left =
                l->size - place_offset(l->above, l->n_above, i) - place_offset(l->slot, l->n_slot, k);
            if (left > 0) sum += measure_child(l, n, left, what, &end);
        }
    return sum;
}

/* The words of all visits at which a loop goes on to its next iteration, and no loop outside it does. */
static sx_wide sum_visits(flow *f, int loop, measure what, bool shared) {
    int dim = f->nest->temporal[loop].dim;
    sx_wide words = 1;
    for (int d = 0; d < f->n_dims; d++) {
        const line *l = &f->line[d];
        measure own = l->indexes ? what : ALL_VISITS;
        sx_wide part = measure_line(f, l, loops_from(f, l, loop + 1), own, shared);
        if (d == dim) part = measure_line(f, l, loops_from(f, l, loop), ALL_VISITS, shared) - part;
        words = product_of(f, words, part);
    }
    return words;
}

/* All that children fetch that keep their tiles: what they need first, and at every visit at which the tile moves. */
static sx_wide sum_fetches(flow *f, bool shared) {
    const sx_check_nest *nest = f->nest;
    sx_wide sum = 1;
    for (int d = 0; d < f->n_dims; d++)
        sum = product_of(f, sum, measure_line(f, &f->line[d], 0, ALL_VISITS, shared));
    for (int l = nest->first_temporal[f->level]; l < nest->first_temporal[f->c->machine.n_levels]; l++) {
        sum += sum_visits(f, l, ALL_VISITS, shared);
        if (!(f->dims >> nest->temporal[l].dim & 1)) sum -= sum_visits(f, l, LONE_VISITS, shared);
    }
    return sum;
}

/* All that children fetch that keep nothing. */
static sx_wide sum_needs(flow *f, bool shared) {
    sx_wide sum = 1;
    for (int d = 0; d < f->n_dims; d++)
        sum = product_of(f, sum, measure_line(f, &f->line[d], f->line[d].n_loops, ALL_VISITS, shared));
    return sum;
}

/* Visits of parents by how many indices of a dimension remain there for siblings, now and a visit before. */
typedef struct kind {
    int64_t now, before;
    sx_wide visits;
} kind;

typedef struct kinds {
    int n;
    kind kind[MOST_KINDS];
} kinds;

/* Adds visits of a kind; indices beyond those of all siblings make no difference. */
static void add_kind(flow *f, kinds *list, int64_t span, int64_t now, int64_t before, sx_wide visits) {
    int i = 0;
    if (now > span) now = span;
    if (before > span) before = span;
    while (i < list->n && (list->kind[i].now != now || list->kind[i].before != before)) i++;
    if (i == MOST_KINDS) f->good = false;
    if (visits == 0 || i == MOST_KINDS) return;
    if (i == list->n) list->kind[list->n++] = (kind){now, before, 0};
    list->kind[i].visits += visits;
}

/* Lists the visits along a dimension at which a loop goes on and no loop outside it does, and the tensor stays. */
static void list_kinds(flow *f, int d, int loop, kinds *out) {
    line l = f->line[d];
    int64_t span = count_places(l.slot, l.n_slot), now, before;
    int n = loops_from(f, &l, loop + 1);
    bool own = f->nest->temporal[loop].dim == d;
    out->n = 0;
    l.full = l.rest = 1;
    for (int64_t i = 0; i < count_places(l.above, l.n_above) && i < MOST_PLACES; i++) {
        int64_t left = l.size - place_offset(l.above, l.n_above, i);
        if (left <= 0) continue;
        sx_wide fewer = measure_child(&l, n, left, l.indexes ? LONE_VISITS : ALL_VISITS, &now);
        if (own) {
            sx_wide all = measure_child(&l, n + 1, left, ALL_VISITS, &before);
            bool ends = now > l.loop[n]->step; /* the last iterations of all are not the first of this loop */
            add_kind(f, out, span, span, span, all - fewer - ends);
            add_kind(f, out, span, before, span, ends);
        } else {
            bool ends = fewer > 0;
            measure_child(&l, l.n_loops, left, ALL_VISITS, &before);
            add_kind(f, out, span, span, span, fewer - ends);
            add_kind(f, out, span, now, before, ends);
        }
    }
}

/* The siblings of a parent at a visit: where they stand, and which have work. */
typedef struct family {
    const kind *kind[SX_MAX_DIMS];
    int64_t children, columns, rows;
} family;

/* Whether a child has work, now or a visit before; *place tells children of the same words. */
static bool has_work(const flow *f, const family *at, int64_t child, bool now, int64_t *place) {
    const sx_check_nest *nest = f->nest;
    int64_t offset[SX_MAX_DIMS] = {0}, base = 1;
    *place = 0;
    for (int l = nest->first_spatial[f->level]; l < nest->first_spatial[f->level + 1]; l++) {
        const sx_check_loop *loop = &nest->spatial[l];
        int64_t digit = child % loop->n;
        child /= loop->n;
        offset[loop->dim] += digit * loop->step;
        if (f->dims >> loop->dim & 1) *place += digit * base;
        base *= loop->n;
    }
    for (int d = 0; d < f->n_dims; d++)
        if (offset[d] >= (now ? at->kind[d]->now : at->kind[d]->before)) return false;
    return true;
}

/* Whether a neighbour had the words of a child a visit before. */
static bool is_helped(const flow *f, const family *at, int64_t child, int64_t place) {
    int64_t column = child % at->columns, row = child / at->columns, other;
    const bool exists[4] = {column > 0, column + 1 < at->columns, row > 0, row + 1 < at->rows};
    const int64_t beside[4] = {child - 1, child + 1, child - at->columns, child + at->columns};
    for (int i = 0; i < 4; i++)
        if (exists[i] && beside[i] < at->children && has_work(f, at, beside[i], false, &other) &&
            other == place)
            return true;
    return false;
}

/* The accesses that neighbours save at a visit. */
static int64_t count_saved(const flow *f, const family *at) {
    uint64_t asked[MOST_CHILDREN / 64], helped[MOST_CHILDREN / 64];
    int64_t place, saved = 0, n = (at->children + 63) / 64;
    memset(asked, 0, (size_t)n * sizeof *asked);
    memset(helped, 0, (size_t)n * sizeof *helped);
    for (int64_t i = 0; i < at->children; i++) {
        if (!has_work(f, at, i, true, &place)) continue;
        bool help = is_helped(f, at, i, place);
        if (f->apart) place = i;
        if (help)
            helped[place / 64] |= (uint64_t)1 << place % 64;
        else
            asked[place / 64] |= (uint64_t)1 << place % 64;
    }
    for (int64_t i = 0; i < n; i++) saved += __builtin_popcountll(helped[i] & ~asked[i]);
    return saved;
}

/* Adds up what neighbours save at visits of all kinds, from dimension d on. */
static sx_wide sum_saved(flow *f, const kinds *list, family *at, int d, sx_wide visits) {
    sx_wide sum = 0;
    if (d == f->n_dims) return product_of(f, visits, count_saved(f, at));
    for (int i = 0; i < list[d].n; i++) {
        at->kind[d] = &list[d].kind[i];
        sum += sum_saved(f, list, at, d + 1, product_of(f, visits, list[d].kind[i].visits));
    }
    return sum;
}

/* The accesses that compute units spare as neighbours had their words a step before. That is so only at steps at which the
 * tensor stays: otherwise it moves further than siblings span. */
static sx_wide sum_links(flow *f) {
    const sx_check_nest *nest = f->nest;
    const sx_check_level *level = &f->c->machine.level[f->level];
    const int64_t *spread = nest->spread[f->level];
    family at = {.children = spread[0] * spread[1],
                 .columns = spread[0] > level->fanout[0] ? spread[0] : level->fanout[0],
                 .rows = spread[1] > level->fanout[1] ? spread[1] : level->fanout[1]};
    kinds list[SX_MAX_DIMS];
    sx_wide sum = 0;
    if (at.children > MOST_CHILDREN) f->good = false;
    for (int l = nest->first_temporal[f->level]; l < nest->first_temporal[f->c->machine.n_levels] && f->good;
         l++) {
        if (f->dims >> nest->temporal[l].dim & 1) continue;
        for (int d = 0; d < f->n_dims; d++) list_kinds(f, d, l, &list[d]);
        sum += sum_saved(f, list, &at, 0, 1);
    }
    return sum;
}

/* Prepares a flow; false where the tensor has windows. */
static bool set_flow(const sx_check_case *c, const sx_check_nest *nest, int tensor, int s, flow *out) {
    *out =
        (flow){.c = c, .nest = nest, .tensor = tensor, .level = s, .n_dims = c->problem.n_dims, .good = true};
    if (!find_dims(c, tensor, &out->dims)) return false;
    for (int d = 0; d < out->n_dims; d++) set_line(out, d, &out->line[d]);
    return true;
}

bool sx_check_remainder_flow(const sx_check_case *c, const sx_check_nest *nest, const sx_mapping *mapping,
                             int tensor, int s, sx_check_flow *out, sx_check_doubt *doubt) {
    const sx_mapping_level *at = &mapping->level[s];
    bool always = s == 0 || (mapping->level[s - 1].no_temporal_reuse >> tensor & 1);
    bool links = !c->no_link_transfers && !(at->no_link_transfer >> tensor & 1) &&
                 nest->spread[s][0] * nest->spread[s][1] > 1;
    flow f;
    *out = (sx_check_flow){.children = 1, .n_terms = 1, .unlisted = true};
    if (!set_flow(c, nest, tensor, s, &f) || (always && links && s > 0)) {
        sx_check_doubt_add(doubt, "there is no rule for remainders and %s",
                           always && links && s > 0 ? "tiles that are fetched again" : "windows");
        return false;
    }
    f.apart = at->no_multicast >> tensor & 1;
    out->delivered = always ? sum_needs(&f, false) : sum_fetches(&f, false);
    out->accesses = f.apart ? out->delivered : always ? sum_needs(&f, true) : sum_fetches(&f, true);
    if (always && links) out->accesses -= sum_links(&f);
    if (!f.good)
        sx_check_doubt_add(doubt, "what %s hands on of %s is more than can be counted",
                           c->machine.level[s].name, c->problem.tensor[tensor].name);
    return f.good;
}

sx_wide sx_check_remainder_partition(const sx_check_case *c, const sx_check_nest *nest, int tensor, int s) {
    const sx_tensor *t = &c->problem.tensor[tensor];
    sx_wide words = 1;
    flow f;
    if (!set_flow(c, nest, tensor, s, &f)) return -1;
    for (int d = 0; d < f.n_dims; d++) {
        line *l = &f.line[d];
        int64_t places = 0;
        int ranks = 0;
        for (int r = 0; r < t->n_ranks; r++) {
            ranks += t->coef[r][d] != 0;
            if (l->indexes && (ranks > 1 || t->coef[r][d] > 1 || t->coef[r][d] < -1)) return -1;
        }
        for (int64_t i = 0; i < count_places(l->above, l->n_above); i++)
            places += place_offset(l->above, l->n_above, i) < l->size;
        words = product_of(&f, words, l->indexes ? l->size : places);
    }
    return f.good ? words : -1;
}

int64_t sx_check_remainder_steps(const sx_check_case *c, const sx_check_nest *nest) {
    sx_wide steps = 1;
    flow f = {.c = c, .nest = nest, .n_dims = c->problem.n_dims, .good = true};
    for (int d = 0; d < f.n_dims; d++) {
        int64_t end;
        set_line(&f, d, &f.line[d]);
        steps = product_of(&f, steps,
                           measure_child(&f.line[d], f.line[d].n_loops, f.line[d].size, ALL_VISITS, &end));
    }
    return f.good && steps <= INT64_MAX ? (int64_t)steps : -1;
}
