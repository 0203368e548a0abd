/* Remainders under sliding windows: a dynamic program over blocks of visits (docs/model.md, section 7).
 *
 * Visits of the j innermost loops outside a level's children form a block. What happens in one depends on j, on
 * the dimensions at the edge (all outer loops on them at their last iteration) and on the state in which it is
 * entered: per class of children the last step and, where neighbours or groups matter, the piece fetched last. The
 * tile held is no part of the state. Of each dimension the iterations at the edge come last, and so do those at
 * which a child is idle. Hence a child that has a tile in a block has one at the block's first visit, and its last
 * one stands where, dimension by dimension, its last iterations are. So a step of loop j leads from the end of one
 * block of the loops inside it to the start of the next, and both are known from j and the edges. Each block and
 * each step is worked out once per state. walk.c carries all this out with the tiles as state. */
#include "model/fast_window.h"

#include "base/hash.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

enum { STATES = 1 << 12, REMEMBERED = 32, MEMO_ROOM = 1 << 10, MEMO_MOST = 1 << 18 };

void sx_window_free(sx_window_dp *w) {
    if (!w) return;
    sx_window_list_fini(&w->list);
    free(w->pair);
    free(w->shared);
    free(w->state);
    free(w->state_hash);
    free(w->memo);
    free(w);
}

/* The place of a result in the memo: an empty one, or where it is. */
static sx_window_memo *find(sx_window_memo *memo, size_t room, uint64_t key, uint32_t round) {
    size_t at = sx_hash_mix(0, key) & (room - 1);
    while (memo[at].round == round && memo[at].key != key) at = (at + 1) & (room - 1);
    return &memo[at];
}

/* Doubles the memo; false when memory is out, or it is too large. */
static bool grow_memo(sx_window_dp *w) {
    size_t room = w->memo_room ? 2 * w->memo_room : MEMO_ROOM;
    sx_window_memo *memo = room <= MEMO_MOST ? calloc(room, sizeof *memo) : NULL;
    if (!memo) return false;
    for (size_t i = 0; i < w->memo_room; i++)
        if (w->memo[i].round == w->round) *find(memo, room, w->memo[i].key, w->round) = w->memo[i];
    free(w->memo);
    w->memo = memo;
    w->memo_room = room;
    return true;
}

/* Keeps a result. */
static void keep(sx_window_dp *w, uint64_t key, uint32_t after, sx_window_sums sums) {
    if (2 * w->n_memo >= w->memo_room && !grow_memo(w)) {
        w->failed = true;
        return;
    }
    *find(w->memo, w->memo_room, key, w->round) = (sx_window_memo){key, w->round, after, sums};
    w->n_memo++;
}

static inline void add(sx_window_sums *to, const sx_window_sums *sums) {
    to->accesses += sums->accesses;
    to->deliveries += sums->deliveries;
    to->links += sums->links;
}

/* The state in w->new, as a number: itself where there is one class. */
static uint32_t number_state(sx_window_dp *w) {
    size_t n = (size_t)(w->end - w->first), size = n * sizeof *w->state;
    if (n == 1) return w->new[0];
    uint64_t hash = 0;
    for (size_t c = 0; c < n; c++) hash = sx_hash_mix(hash, w->new[c]);
    for (size_t i = 0; i < w->n_states; i++)
        if (w->state_hash[i] == hash && memcmp(w->state + i * n, w->new, size) == 0) return (uint32_t)i;
    if (w->n_states == STATES ||
        !sx_reserve(&w->state, &w->state_room, (w->n_states + 1) * n, sizeof *w->state) ||
        !sx_reserve(&w->state_hash, &w->hash_room, w->n_states + 1, sizeof *w->state_hash)) {
        w->failed = true;
        return 0;
    }
    memcpy(w->state + w->n_states * n, w->new, size);
    w->state_hash[w->n_states] = hash;
    return (uint32_t)w->n_states++;
}

/* Copies a state to w->old. */
static void load_state(sx_window_dp *w, uint32_t number) {
    size_t n = (size_t)(w->end - w->first);
    if (n == 1)
        w->old[0] = (uint16_t)number;
    else
        memcpy(w->old, w->state + number * n, n * sizeof *w->state);
}

/* The number of a step that moves the tile. */
static unsigned number_step(sx_window_dp *w, const int64_t *step) {
    size_t size = w->shape->n_ranks * sizeof *step;
    int i = 1;
    while (i <= w->n_steps && memcmp(w->step[i], step, size) != 0) i++;
    if (i > SX_WINDOW_STEPS) {
        w->failed = true;
        return 0;
    }
    if (i > w->n_steps) memcpy(w->step[++w->n_steps], step, size);
    return (unsigned)i;
}

/* The number of a piece; 0: nothing. */
static unsigned number_piece(sx_window_dp *w, const sx_box_delta *piece) {
    int64_t shift[SX_MAX_RANKS];
    int i = 1, ranks = w->shape->n_ranks;
    unsigned shape = 0;
    if (piece->words == 0) return 0;
    for (; i <= w->n_pieces; i++) {
        if (piece->words != w->piece[i].words || !sx_box_delta_congruent(ranks, piece, &w->piece[i], shift))
            continue;
        shape = w->shape_of[i];
        bool same = true;
        for (int r = 0; r < ranks; r++) same &= shift[r] == 0;
        if (same) return (unsigned)i;
    }
    if (i > SX_WINDOW_PIECES) {
        w->failed = true;
        return 0;
    }
    w->piece[i] = *piece;
    w->shape_of[i] = (uint8_t)(shape ? shape : (unsigned)i);
    w->n_pieces++;
    return (unsigned)i;
}

/* What a child in a place of a dimension has in a block of visits. */
static inline const sx_window_edge *at_edge(const sx_window_dim *d, unsigned place, int k, uint32_t edges) {
    return &d->edge[edges & d->bit ? place : SX_WINDOW_OFF][k];
}

/* A tile, and the one before it, seen from where the tile stands. */
typedef struct tiles {
    int64_t low[SX_MAX_RANKS], high[SX_MAX_RANKS], held_low[SX_MAX_RANKS], held_high[SX_MAX_RANKS];
    int64_t moved[SX_MAX_RANKS];
} tiles;

/* How a tile moves along each dimension, and how far it and the one before it reach. */
typedef struct motion {
    int64_t moved[SX_MAX_DIMS], old[SX_MAX_DIMS], new[SX_MAX_DIMS];
} motion;

/* The motion along a dimension, for children in a place of it, by a step of item j from the end of a block with edges
 * `from` to the start of one with edges `to`. */
static inline void set_motion(const sx_window_dp *w, int dim, unsigned place, int j, uint32_t from,
                              uint32_t to, motion *m) {
    const sx_window_dim *d = &w->dim[dim];
    int k = w->inside[j][dim];
    const sx_window_edge *a = at_edge(d, place, k, from), *b = at_edge(d, place, k, to);
    m->moved[dim] = -a->end;
    m->old[dim] = a->last;
    m->new[dim] = b->first;
}

/* The tiles in one rank. */
static inline void set_rank(const sx_window_dp *w, int r, const motion *m, tiles *t) {
    const sx_shape *shape = w->shape;
    int64_t low = 0, high = 1, held_low = 0, held_high = 1, moved = 0;
    for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++) {
        int dim = shape->term[i].dim;
        int64_t coef = shape->term[i].coef;
        moved += coef * m->moved[dim];
        *(coef < 0 ? &low : &high) += coef * m->new[dim];
        *(coef < 0 ? &held_low : &held_high) += coef * m->old[dim];
    }
    t->low[r] = low;
    t->high[r] = high;
    t->held_low[r] = held_low - moved;
    t->held_high[r] = held_high - moved;
    t->moved[r] = moved;
}

/* The tiles of children at the last place in use of every loop, which move as the parent's visits do. */
static void set_tiles(const sx_window_dp *w, int j, uint32_t from, uint32_t to, motion *m, tiles *t) {
    for (int i = 0; i < w->n_relevant; i++) set_motion(w, w->relevant[i], SX_ON, j, from, to, m);
    if (j < w->n_items) m->moved[w->item[j].loop->dim] += w->item[j].loop->step;
    for (int r = 0; r < w->shape->n_ranks; r++) set_rank(w, r, m, t);
}

/* The tiles of a class, from those of another one. */
static void set_class_tiles(const sx_window_dp *w, int c, int j, uint32_t from, uint32_t to, motion *m,
                            tiles *t) {
    for (int i = 0; i < w->n_spread; i++) {
        int d = w->spread_dim[i];
        if (!(w->shape->dims >> d & 1)) continue;
        set_motion(w, d, w->class[c].place[d], j, from, to, m);
        if (j < w->n_items && w->item[j].loop->dim == d) m->moved[d] += w->item[j].loop->step;
    }
    for (uint32_t left = w->spread_ranks; left; left &= left - 1) set_rank(w, __builtin_ctz(left), m, t);
}

/* Whether the children of a class are idle throughout the blocks with these edges, which its parent is not. */
static inline bool is_idle(const sx_window_dp *w, int c, int j, uint32_t edges) {
    for (int i = 0; i < w->n_spread; i++) {
        int d = w->spread_dim[i];
        if (edges & w->dim[d].bit && w->dim[d].edge[w->class[c].place[d]][w->inside[j][d]].empty) return true;
    }
    return false;
}

/* How far the middle of a tile moved, rounded with halves away from zero; whether at all. */
static bool middle_moved(const sx_window_dp *w, const tiles *t, int64_t *step) {
    bool moved = false;
    for (int r = 0; r < w->shape->n_ranks; r++) {
        int64_t twice = (t->low[r] + t->high[r]) - (t->held_low[r] + t->held_high[r]);
        step[r] = twice >= 0 ? (twice + 1) / 2 : -((1 - twice) / 2);
        moved |= step[r] != 0;
    }
    return moved;
}

/* The rule of docs/model.md, section 2: whether the whole tile is fetched; the number of the last step becomes
 * that of this one. */
static bool fetches_whole(sx_window_dp *w, const tiles *t, unsigned *last) {
    int64_t step[SX_MAX_RANKS];
    if (w->always) return true;
    if (!middle_moved(w, t, step)) return false;
    if (*last == 0) {
        *last = number_step(w, step);
        return false;
    }
    if (memcmp(step, w->step[*last], w->shape->n_ranks * sizeof *step) == 0) return false;
    *last = 0;
    return true;
}

/* The words of a tile, or those that were not held. */
static uint64_t count_words(const sx_window_dp *w, const tiles *t, bool whole) {
    uint64_t all = 1, kept = 1;
    for (int r = 0; r < w->shape->n_ranks; r++) {
        int64_t low = t->low[r] > t->held_low[r] ? t->low[r] : t->held_low[r];
        int64_t high = t->high[r] < t->held_high[r] ? t->high[r] : t->held_high[r];
        all *= (uint64_t)(t->high[r] - t->low[r]);
        kept *= high > low ? (uint64_t)(high - low) : 0;
    }
    return whole ? all : all - kept;
}

/* What a class fetches at the first visit of a block; `begins`: it has no tile yet. */
static void fetch(sx_window_dp *w, int i, const tiles *t, bool begins) {
    unsigned last = w->old[i] & 0xff, piece = 0;
    bool whole = begins || fetches_whole(w, t, &last);
    w->words[i] = count_words(w, t, whole);
    if (w->wary && whole && !begins && count_words(w, t, false) == 0) w->failed = w->doubtful = true;
    if (w->pieces) {
        int ranks = w->shape->n_ranks;
        sx_box_delta delta = whole ? sx_box_delta_whole(ranks, t->low, t->high)
                                   : sx_box_delta_new(ranks, t->low, t->high, t->held_low, t->held_high);
        piece = number_piece(w, &delta);
    }
    w->now[i] = (uint8_t)piece;
    w->new[i] = (uint16_t)(last | (w->links ? piece << 8 : 0));
}

/* The number of the whole tile that is cut in some dimensions. */
static unsigned number_whole(sx_window_dp *w, uint32_t cut) {
    const sx_shape *shape = w->shape;
    int64_t low[SX_MAX_RANKS], high[SX_MAX_RANKS];
    for (int i = 0; i < w->n_wholes; i++)
        if (w->whole[i].cut == cut) return w->whole[i].piece;
    for (int r = 0; r < shape->n_ranks; r++) {
        low[r] = 0;
        high[r] = 1;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++) {
            const sx_window_dim *d = &w->dim[shape->term[i].dim];
            int64_t reach = shape->term[i].coef * ((cut & d->bit ? d->rest : d->full) - 1);
            *(reach < 0 ? &low[r] : &high[r]) += reach;
        }
    }
    sx_box_delta delta = sx_box_delta_whole(shape->n_ranks, low, high);
    unsigned piece = number_piece(w, &delta);
    if (w->n_wholes < SX_WINDOW_WHOLES) {
        w->whole[w->n_wholes].cut = cut;
        w->whole[w->n_wholes++].piece = (uint8_t)piece;
    }
    return piece;
}

/* What a class fetches at the first visit of a block where it fetches its whole tile at all visits. */
static unsigned whole_now(sx_window_dp *w, int c, int j, uint32_t edges) {
    uint32_t cut = 0;
    if (is_idle(w, c, j, edges)) return 0;
    for (uint32_t left = edges & w->cut; left; left &= left - 1) {
        int d = __builtin_ctz(left);
        if (w->dim[d].edge[w->class[c].place[d]][w->inside[j][d]].start_rest) cut |= 1u << d;
    }
    return number_whole(w, cut);
}

/* What it fetched at the last visit of a block. */
static unsigned whole_before(sx_window_dp *w, int c, int j, uint32_t edges) {
    uint32_t cut = 0;
    for (uint32_t left = edges & (w->cut | w->matters[0]); left; left &= left - 1) {
        int d = __builtin_ctz(left);
        if (!w->dim[d].edge[SX_ON][w->inside[j][d]].end_rest) continue;
        if (w->class[c].place[d] == SX_IDLE) return 0;
        if (w->class[c].place[d] == SX_ON) cut |= 1u << d;
    }
    return number_whole(w, cut & w->cut);
}

/* The first visit of a block where tiles are fetched anew at all visits. */
static void visit_always(sx_window_dp *w, int j, uint32_t from, uint32_t to, bool begins) {
    for (int c = w->first; c < w->end; c++) {
        int i = c - w->first;
        w->new[i] = 0;
        w->before[i] = (uint8_t)(w->links && !begins ? whole_before(w, c, j, from) : 0);
        w->now[i] = (uint8_t)whole_now(w, c, j, to);
        w->words[i] = w->now[i] ? w->piece[w->now[i]].words : 0;
    }
}

/* Works out the first visit of a block, from the state in w->old; returns the state after it. */
static uint32_t visit(sx_window_dp *w, int j, uint32_t from, uint32_t to, bool begins, sx_window_sums *sums) {
    motion m;
    tiles t;
    if (!w->always || w->links) set_tiles(w, j, from, to, &m, &t);
    if (w->links) memcpy(w->moved, t.moved, w->shape->n_ranks * sizeof *t.moved);
    if (w->always) visit_always(w, j, from, to, begins);
    for (int c = w->first; c < w->end && !w->always; c++) {
        int i = c - w->first;
        w->before[i] = (uint8_t)(w->old[i] >> 8);
        w->words[i] = w->now[i] = 0;
        w->new[i] = w->old[i] & 0xff;
        if (is_idle(w, c, j, to)) continue;
        if (w->n_spread) set_class_tiles(w, c, j, from, to, &m, &t);
        fetch(w, i, &t, begins);
    }
    if (w->failed) return 0;
    *sums = sx_window_share(w);
    return number_state(w);
}

/* A step of item j between blocks, worked out once per state. */
static uint32_t step(sx_window_dp *w, int j, uint32_t from, uint32_t to, uint32_t state,
                     sx_window_sums *sums) {
    from &= w->matters[j] & w->seen;
    to &= w->matters[j] & w->seen;
    uint64_t key =
        (uint64_t)state << 32 | (uint64_t)from << 16 | (uint64_t)(unsigned)j << 2 | (from == to ? 1 : 2);
    const sx_window_memo *known = find(w->memo, w->memo_room, key, w->round);
    if (known->round == w->round) {
        add(sums, &known->sums);
        return known->after;
    }
    sx_window_sums words = {0};
    load_state(w, state);
    uint32_t after = visit(w, j, from, to, false, &words);
    if (w->failed) return 0;
    keep(w, key, after, words);
    add(sums, &words);
    return after;
}

static uint32_t block(sx_window_dp *w, int j, uint32_t edges, uint32_t state, sx_window_sums *sums);

/* `n` iterations of item j with the same edges inside, until states repeat. */
static uint32_t repeat(sx_window_dp *w, int j, uint32_t edges, uint64_t n, uint32_t state,
                       sx_window_sums *sums) {
    uint32_t entered[REMEMBERED];
    sx_window_sums then[REMEMBERED];
    int known = 0;
    for (uint64_t left = n - 1; left > 0 && !w->failed; left--) {
        int k = 0;
        while (k < known && entered[k] != state) k++;
        if (k < known) {
            uint64_t period = (uint64_t)(known - k);
            double times = (double)(left / period);
            sums->accesses += times * (sums->accesses - then[k].accesses);
            sums->deliveries += times * (sums->deliveries - then[k].deliveries);
            sums->links += times * (sums->links - then[k].links);
            left %= period;
            known = 0;
            if (left == 0) break;
        }
        if (known < REMEMBERED) {
            entered[known] = state;
            then[known++] = *sums;
        }
        state = block(w, j, edges, state, sums);
        if (!w->failed) state = step(w, j, edges, edges, state, sums);
    }
    return w->failed ? 0 : block(w, j, edges, state, sums);
}

/* The visits of the item outside the j - 1 innermost and of those. */
static uint32_t run_item(sx_window_dp *w, int j, uint32_t edges, uint32_t state, sx_window_sums *sums) {
    const sx_window_item *item = &w->item[j - 1];
    uint32_t bit = w->dim[item->loop->dim].bit, inside = edges & ~bit;
    if (item->spatial) return block(w, j - 1, item->place == SX_EARLY ? inside : edges, state, sums);
    bool edge = edges & bit;
    uint64_t n = edge ? item->loop->last - 1 : item->loop->n;
    bool any = n > 0 && !(inside & w->dead[j - 1]);
    if (any) state = repeat(w, j - 1, inside, n, state, sums);
    if (w->failed || !edge || edges & w->dead[j - 1]) return state;
    if (any) state = step(w, j - 1, inside, edges, state, sums);
    return w->failed ? 0 : block(w, j - 1, edges, state, sums);
}

/* All visits of the j innermost items but the first, worked out once per state. */
static uint32_t block(sx_window_dp *w, int j, uint32_t edges, uint32_t state, sx_window_sums *sums) {
    if (j == 0) return state;
    edges &= w->matters[j];
    uint64_t key = (uint64_t)state << 32 | (uint64_t)edges << 16 | (uint64_t)(unsigned)j << 2;
    const sx_window_memo *known = find(w->memo, w->memo_room, key, w->round);
    if (known->round == w->round) {
        add(sums, &known->sums);
        return known->after;
    }
    sx_window_sums words = {0};
    uint32_t after = run_item(w, j, edges, state, &words);
    if (w->failed) return 0;
    keep(w, key, after, words);
    add(sums, &words);
    return after;
}

/* Sets where tiles of a dimension end, for the parent's present places. */
static void set_ends(const sx_window_dp *w, sx_window_dim *d) {
    const int64_t full = d->full - 1, rest = d->rest - 1;
    int first = d->spread ? SX_EARLY : SX_ON, end = d->spread ? SX_IDLE : SX_ON;
    sx_window_edge *off = d->edge[SX_WINDOW_OFF];
    off[0] = d->edge[SX_EARLY][0] = (sx_window_edge){0, full, full, false, false, false};
    d->edge[SX_ON][0] = (sx_window_edge){0, rest, rest, true, true, false};
    d->edge[SX_IDLE][0] = (sx_window_edge){.empty = true};
    for (int k = 0; k < d->n; k++) {
        const sx_window_item *item = &w->item[d->item[k]];
        int64_t step = item->loop->step, last = item->loop->last;
        off[k + 1] = off[k];
        if (!item->spatial) off[k + 1].end += (item->loop->n - 1) * step;
        for (int place = first; place <= end; place++) {
            const sx_window_edge in = d->edge[place][k];
            sx_window_edge *out = &d->edge[place][k + 1];
            *out = item->spatial && item->place == SX_EARLY ? off[k] : in;
            if (item->spatial && item->place == SX_IDLE) out->empty = true;
            if (item->spatial) continue;
            if (in.empty) *out = off[k];
            out->end += (in.empty ? last - 2 : last - 1) * step;
            out->empty = in.empty && last == 1;
            if (last == 1) continue;
            out->first = full;
            out->start_rest = false;
        }
    }
}

/* Prepares the items for the parent's present places. */
static void set_places(sx_window_dp *w) {
    w->matters[0] = w->dead[0] = w->seen = w->cut = w->spread_ranks = 0;
    w->n_spread = 0;
    for (int d = 0; d < w->evaluator->model->n_dims; d++) {
        sx_window_dim *dim = &w->dim[d];
        if (dim->bit || w->shape->dims >> d & 1) set_ends(w, dim);
        if (dim->spread || (w->shape->dims >> d & 1 && dim->rest != dim->full)) w->matters[0] |= dim->bit;
        if (dim->spread || w->shape->dims >> d & 1) w->seen |= dim->bit;
        if (w->shape->dims >> d & 1 && dim->rest != dim->full) w->cut |= dim->bit;
        if (dim->spread) w->spread_dim[w->n_spread++] = (uint8_t)d;
        for (int i = w->shape->first_of_dim[d]; dim->spread && i < w->shape->first_of_dim[d + 1]; i++)
            w->spread_ranks |= 1u << w->shape->of_dim[i].rank;
    }
    for (int j = 0; j < w->n_items; j++) {
        const sx_window_item *item = &w->item[j];
        const sx_window_dim *d = &w->dim[item->loop->dim];
        uint32_t matters = w->matters[j], dead = w->dead[j] & ~d->bit;
        if (d->bit && d->edge[SX_ON][w->inside[j + 1][item->loop->dim]].empty) dead |= d->bit;
        if (item->spatial && item->place == SX_EARLY) matters &= ~d->bit;
        if (item->spatial ? item->place == SX_IDLE : item->loop->last != item->loop->n) matters |= d->bit;
        w->matters[j + 1] = matters;
        w->dead[j + 1] = dead;
    }
}

/* Adds what the parents at the present places hand to the classes first..end, together. */
static void run(sx_window_dp *w, int first, int end, double parents, sx_window_sums *sums) {
    sx_window_sums words = {0};
    w->first = first;
    w->end = end;
    w->n_states = w->n_memo = 0;
    w->round++;
    if (w->all & w->dead[w->n_items]) return;
    memset(w->old, 0, (size_t)(end - first) * sizeof *w->old);
    uint32_t state = visit(w, w->n_items, 0, w->all, true, &words);
    if (!w->failed) block(w, w->n_items, w->all, state, &words);
    sums->accesses += parents * words.accesses;
    sums->deliveries += parents * words.deliveries;
    sums->links += parents * words.links;
}

/* Tries every place of the parent in the spatial loops above it, from item i inward; `off`: dimensions on which it
 * is off the edge's path already. */
static void place_parents(sx_window_dp *w, int i, uint32_t off, double parents, sx_window_sums *sums) {
    while (i >= 0 && !w->item[i].spatial) i--;
    if (w->failed) return;
    if (i < 0) {
        set_places(w);
        if (w->pieces) run(w, 0, w->n_classes, parents, sums);
        for (int c = 0; c < w->n_classes && !w->pieces && !w->failed; c++) run(w, c, c + 1, parents, sums);
        return;
    }
    sx_window_item *item = &w->item[i];
    uint32_t bit = w->dim[item->loop->dim].bit;
    if (off & bit) {
        item->place = SX_EARLY;
        place_parents(w, i - 1, off, parents * item->loop->n, sums);
        return;
    }
    const uint32_t many[] = {
        [SX_EARLY] = item->loop->last - 1, [SX_ON] = 1, [SX_IDLE] = item->loop->n - item->loop->last};
    for (uint8_t place = SX_EARLY; place <= SX_IDLE; place++) {
        if (many[place] == 0) continue;
        item->place = place;
        place_parents(w, i - 1, place == SX_ON ? off : off | bit, parents * many[place], sums);
    }
}

/* Adds a loop outside the children. */
static void add_item(sx_window_dp *w, const sx_loop *loop, bool spatial) {
    sx_window_dim *d = &w->dim[loop->dim];
    d->item[d->n++] = (uint8_t)w->n_items;
    w->item[w->n_items++] = (sx_window_item){.loop = loop, .spatial = spatial};
    memcpy(w->inside[w->n_items], w->inside[w->n_items - 1], sizeof w->inside[0]);
    w->inside[w->n_items][loop->dim]++;
}

/* Lists the dimensions and the loops outside the children; returns the parents that the spatial loops left out
 * make. */
static double list_items(sx_window_dp *w) {
    const sx_model *model = w->evaluator->model;
    const sx_nest *nest = &w->evaluator->nest;
    double parents = 1;
    w->n_items = w->n_relevant = 0;
    w->all = 0;
    memset(w->inside[0], 0, sizeof w->inside[0]);
    for (int d = 0; d < model->n_dims; d++) {
        uint32_t full = w->level > 0 ? nest->extent[w->level - 1][d] : 1;
        w->dim[d].full = full;
        w->dim[d].rest = (model->size[d] - 1) % full + 1;
        w->dim[d].bit = w->dim[d].rest != full ? 1u << d : 0;
        w->dim[d].n = 0;
        w->dim[d].spread = false;
        if (w->shape->dims >> d & 1) w->relevant[w->n_relevant++] = (uint8_t)d;
    }
    for (int l = nest->spatial_of[w->level]; l < nest->n_spatial; l++)
        if (nest->spatial[l].last != nest->spatial[l].n)
            w->dim[nest->spatial[l].dim].bit = 1u << nest->spatial[l].dim;
    for (int l = nest->temporal_of[w->level]; l < nest->n_temporal; l++)
        if (nest->temporal[l].last != nest->temporal[l].n)
            w->dim[nest->temporal[l].dim].bit = 1u << nest->temporal[l].dim;
    for (int d = 0; d < model->n_dims; d++) w->all |= w->dim[d].bit;
    for (int s = w->level; s < model->n_levels; s++) {
        for (int l = nest->spatial_of[s]; s > w->level && l < nest->spatial_of[s + 1]; l++) {
            if (w->dim[nest->spatial[l].dim].bit)
                add_item(w, &nest->spatial[l], true);
            else
                parents *= nest->spatial[l].n;
        }
        for (int l = nest->temporal_of[s]; l < nest->temporal_of[s + 1]; l++)
            add_item(w, &nest->temporal[l], false);
    }
    return parents;
}

/* Counts with classes apart from each other where that is right, or all together. */
static double count(sx_window_dp *w, const sx_mapping *mapping, int tensor, bool together,
                    sx_window_sums *sums) {
    const sx_model *model = w->evaluator->model;
    const sx_mapping_level *at = &mapping->level[w->level];
    w->failed = w->list.ready = w->doubtful = false;
    w->count++;
    w->links = !model->options.no_link_transfers && !(at->no_link_transfer >> tensor & 1) &&
               (w->always || !w->shape->plain);
    w->n_steps = w->n_pieces = w->n_wholes = 0;
    *sums = (sx_window_sums){0};
    double parents = list_items(w);
    sx_fanout_init(&w->slot, model, &w->evaluator->nest, w->level, tensor, at->no_multicast >> tensor & 1);
    w->failed = !sx_window_classify(w, together);
    if (!w->failed) place_parents(w, w->n_items - 1, 0, parents, sums);
    return sums->deliveries + sums->links;
}

bool sx_window_count(sx_evaluator *e, const sx_mapping *mapping, int tensor, int level,
                     sx_window_sums *sums) {
    if (!e->window) e->window = calloc(1, sizeof *e->window);
    sx_window_dp *w = e->window;
    if (!w || (!w->memo_room && !grow_memo(w))) return false;
    w->evaluator = e;
    w->shape = &e->model->shape[tensor];
    w->level = level;
    w->always = level == 0 || (mapping->level[level - 1].no_temporal_reuse >> tensor & 1);
    double words = count(w, mapping, tensor, false, sums);
    if (w->doubtful) words = count(w, mapping, tensor, true, sums);
    return !w->failed && words < 0x1p53;
}
