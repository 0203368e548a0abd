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
#include "model/remainders/window.h"

#include "base/hash.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

enum { STATES = 1 << 12, REMEMBERED = 32, ROUNDS = 1 << 12 };

void sx_window_free(sx_window_dp *w) {
    if (!w) return;
    sx_window_list_fini(&w->list);
    free(w->pair);
    free(w->shared);
    free(w->state);
    free(w->state_hash);
    sx_window_memo_fini(&w->memo);
    free(w);
}

static inline void add_sums(sx_window_sums *to, const sx_window_sums *sums) {
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
    uint64_t hash = sx_hash_words(step, w->shape->n_ranks);
    int i = 1;
    while (i <= w->n_steps && (w->step_hash[i] != hash || memcmp(w->step[i], step, size) != 0)) i++;
    if (i > SX_WINDOW_STEPS) {
        w->failed = true;
        return 0;
    }
    if (i > w->n_steps) {
        memcpy(w->step[++w->n_steps], step, size);
        w->step_hash[i] = hash;
    }
    return (unsigned)i;
}

unsigned sx_window_number_piece(sx_window_dp *w, const sx_box_delta *piece) {
    int64_t shift[SX_MAX_RANKS];
    int i = 1, ranks = w->shape->n_ranks;
    unsigned shape = 0;
    if (piece->words == 0) return 0;
    for (; i <= w->n_pieces; i++) {
        if (piece->words != w->piece_words[i] || !sx_box_delta_congruent(ranks, piece, &w->piece[i], shift))
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
    w->piece_words[i] = piece->words;
    w->shape_of[i] = (uint8_t)(shape ? shape : (unsigned)i);
    w->n_pieces++;
    return (unsigned)i;
}

/* A step of item j from the end of a block with edges `from` to the start of one with edges `to`. */
typedef struct stride {
    int j, dim; /* dim: of the item; -1: none, the first visit of all */
    int64_t step;
    uint32_t from, to;
} stride;

/* The tiles of a child. */
typedef struct tiles {
    const sx_window_reach *rank[SX_MAX_RANKS];
} tiles;

/* Works out the tiles in one rank, for children in places of its dimensions. */
static void set_tile(const sx_window_dp *w, int r, const uint8_t *place, const stride *by,
                     sx_window_reach *t) {
    const sx_shape *shape = w->shape;
    int64_t low = 0, high = 1, held_low = 0, held_high = 1, moved = 0;
    for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++) {
        int dim = shape->term[i].dim, k = w->inside[by->j][dim];
        int64_t coef = shape->term[i].coef;
        const sx_window_dim *d = &w->dim[dim];
        const sx_window_edge *a = &d->edge[by->from & d->bit ? place[dim] : SX_WINDOW_OFF][k];
        const sx_window_edge *b = &d->edge[by->to & d->bit ? place[dim] : SX_WINDOW_OFF][k];
        int64_t held = coef * a->last, now = coef * b->first;
        moved += coef * ((dim == by->dim ? by->step : 0) - a->end);
        *(coef < 0 ? &held_low : &held_high) += held;
        *(coef < 0 ? &low : &high) += now;
    }
    held_low -= moved;
    held_high -= moved;
    int64_t twice = (low + high) - (held_low + held_high);
    int64_t common = (high < held_high ? high : held_high) - (low > held_low ? low : held_low);
    t->low = low;
    t->high = high;
    t->held_low = held_low;
    t->held_high = held_high;
    t->moved = moved;
    t->step = twice >= 0 ? (twice + 1) / 2 : -((1 - twice) / 2);
    t->words = (uint64_t)(high - low);
    t->kept = common > 0 ? (uint64_t)common : 0;
}

/* The tiles in one rank, worked out once per step as the rank's dimensions see it; `group`: of children in the same
 * places. */
static inline const sx_window_reach *find_tile(sx_window_dp *w, int r, const uint8_t *place, unsigned group,
                                               const stride *by) {
    uint32_t dims = w->rank_dims[r];
    bool moves = by->dim >= 0 && dims >> by->dim & 1;
    uint64_t key = (uint64_t)w->round << 52 | (uint64_t)w->config[by->j] << 36 | (uint64_t)group << 28 |
                   (uint64_t)w->turned[r][by->j] << 20 | (uint64_t)(by->dim < 0) << 18 |
                   (uint64_t)moves << 17 | (uint64_t)(((by->from ^ by->to) & dims) != 0) << 16 |
                   (by->to & dims);
    sx_window_reach *tile = &w->tile[r][key * 0x9e3779b97f4a7c15u >> 58];
    if (tile->key != key) {
        set_tile(w, r, place, by, tile);
        tile->key = key;
    }
    return tile;
}

/* The rule of docs/model.md, section 2: whether the whole tile is fetched; the number of the last step becomes
 * that of this one. */
static bool fetches_whole(sx_window_dp *w, const tiles *t, unsigned *last) {
    int64_t step[SX_MAX_RANKS];
    bool moved = false, same = true;
    for (int r = 0; r < w->shape->n_ranks; r++) {
        step[r] = t->rank[r]->step;
        moved |= step[r] != 0;
        same &= step[r] == w->step[*last][r];
    }
    if (!moved) return false;
    if (*last == 0) {
        *last = number_step(w, step);
        return false;
    }
    if (same) return false;
    *last = 0;
    return true;
}

/* The words of a tile, or those that were not held. */
static uint64_t count_words(const sx_window_dp *w, const tiles *t, bool whole) {
    uint64_t all = 1, kept = 1;
    for (int r = 0; r < w->shape->n_ranks; r++) {
        all *= t->rank[r]->words;
        kept *= t->rank[r]->kept;
    }
    return whole ? all : all - kept;
}

/* The number of the words of a tile, or of those that were not held. */
static unsigned number_words(sx_window_dp *w, const tiles *t, bool whole) {
    int64_t low[SX_MAX_RANKS], high[SX_MAX_RANKS], held_low[SX_MAX_RANKS], held_high[SX_MAX_RANKS];
    int ranks = w->shape->n_ranks;
    for (int r = 0; r < ranks; r++) {
        low[r] = t->rank[r]->low;
        high[r] = t->rank[r]->high;
        held_low[r] = t->rank[r]->held_low;
        held_high[r] = t->rank[r]->held_high;
    }
    sx_box_delta delta = whole ? sx_box_delta_whole(ranks, low, high)
                               : sx_box_delta_new(ranks, low, high, held_low, held_high);
    return sx_window_number_piece(w, &delta);
}

/* What a class fetches at the first visit of a block; `begins`: it has no tile yet. */
static void fetch_class(sx_window_dp *w, int i, const tiles *t, bool begins) {
    unsigned last = w->old[i] & 0xff;
    bool whole = begins || fetches_whole(w, t, &last);
    w->words[i] = count_words(w, t, whole);
    if (w->wary && whole && !begins && count_words(w, t, false) == 0) w->failed = w->doubtful = true;
    unsigned piece = w->pieces && w->words[i] ? number_words(w, t, whole) : 0;
    w->now[i] = (uint8_t)piece;
    w->new[i] = (uint16_t)(last | (w->links ? piece << 8 : 0));
}

/* What the classes first..end fetch at the first visit of a block, which differ only in loops that do not index the
 * tensor: the same if their last steps are the same. */
static void fetch_alike(sx_window_dp *w, int first, int end, uint32_t idle, const tiles *t, bool begins) {
    int like = -1;
    for (int c = first; c < end; c++) {
        int i = c - w->first;
        w->before[i] = (uint8_t)(w->old[i] >> 8);
        w->words[i] = w->now[i] = 0;
        w->new[i] = w->old[i] & 0xff;
        if (idle & w->class[c].idle) continue;
        if (like >= 0 && ((w->old[i] ^ w->old[like]) & 0xff) == 0) {
            w->words[i] = w->words[like];
            w->now[i] = w->now[like];
            w->new[i] = w->new[like];
            continue;
        }
        fetch_class(w, i, t, begins);
        like = i;
    }
}

/* Works out the first visit of a block, from the state in w->old; returns the state after it. */
static uint32_t visit_block(sx_window_dp *w, int j, uint32_t from, uint32_t to, bool begins,
                            sx_window_sums *sums) {
    if (w->always) {
        *sums = sx_window_visit_whole(w, j, from, to, begins);
        return 0;
    }
    static const uint8_t on[SX_MAX_DIMS] = {SX_ON, SX_ON, SX_ON, SX_ON, SX_ON, SX_ON, SX_ON, SX_ON,
                                            SX_ON, SX_ON, SX_ON, SX_ON, SX_ON, SX_ON, SX_ON, SX_ON};
    const sx_loop *loop = j < w->n_items ? w->item[j].loop : NULL;
    stride by = {j, loop ? loop->dim : -1, loop ? loop->step : 0, from, to};
    tiles t;
    for (int r = 0; r < w->shape->n_ranks; r++) {
        if (!w->links && w->spread_ranks >> r & 1) continue;
        t.rank[r] = find_tile(w, r, on, 0, &by);
        w->moved[r] = t.rank[r]->moved;
    }
    for (int c = w->first; c < w->end; c += w->n_alike) {
        for (uint32_t left = w->spread_ranks; left; left &= left - 1) {
            int r = __builtin_ctz(left);
            t.rank[r] = find_tile(w, r, w->class[c].place, (unsigned)(c / w->n_alike) + 1, &by);
        }
        fetch_alike(w, c, c + w->n_alike, to & w->starts[j], &t, begins);
    }
    if (w->failed) return 0;
    *sums = sx_window_share(w);
    return number_state(w);
}

/* The key of a block (kind 0) or a step (1, 2) in the memo. */
static inline uint64_t key_of(const sx_window_dp *w, uint32_t state, uint32_t edges, int j, unsigned kind) {
    return (uint64_t)state << 48 | (uint64_t)w->config[j] << 32 | (uint64_t)edges << 16 |
           (uint64_t)(unsigned)j << 2 | kind;
}

/* Keeps a result and adds it to sums; returns the state after it. */
static uint32_t keep_result(sx_window_dp *w, const sx_window_result *result, sx_window_sums *sums) {
    if (!w->failed) w->failed = !sx_window_memo_keep(&w->memo, result);
    if (w->failed) return 0;
    add_sums(sums, &result->sums);
    return result->after;
}

/* A step of item j between blocks, worked out once per state. */
static uint32_t step_window(sx_window_dp *w, int j, uint32_t from, uint32_t to, uint32_t state,
                            sx_window_sums *sums) {
    from &= w->matters[j] & w->seen;
    to &= w->matters[j] & w->seen;
    uint64_t key = key_of(w, state, from, j, from == to ? 1 : 2);
    const sx_window_result *known = sx_window_memo_find(&w->memo, key);
    if (known) {
        add_sums(sums, &known->sums);
        return known->after;
    }
    sx_window_result result = {.key = key};
    if (!w->always) load_state(w, state);
    result.after = visit_block(w, j, from, to, false, &result.sums);
    return keep_result(w, &result, sums);
}

static uint32_t walk_block(sx_window_dp *w, int j, uint32_t edges, uint32_t state, sx_window_sums *sums);

/* `n` iterations of item j with the same edges inside, until states repeat. */
static uint32_t repeat_item(sx_window_dp *w, int j, uint32_t edges, uint64_t n, uint32_t state,
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
        state = walk_block(w, j, edges, state, sums);
        if (!w->failed) state = step_window(w, j, edges, edges, state, sums);
    }
    return w->failed ? 0 : walk_block(w, j, edges, state, sums);
}

/* The visits of the item outside the j - 1 innermost and of those. */
static uint32_t run_item(sx_window_dp *w, int j, uint32_t edges, uint32_t state, sx_window_sums *sums) {
    const sx_window_item *item = &w->item[j - 1];
    uint32_t bit = w->dim[item->loop->dim].bit, inside = edges & ~bit;
    if (item->spatial) return walk_block(w, j - 1, item->place == SX_EARLY ? inside : edges, state, sums);
    bool edge = edges & bit;
    uint64_t n = edge ? item->loop->last - 1 : item->loop->n;
    bool any = n > 0 && !(inside & w->dead[j - 1]);
    if (any) state = repeat_item(w, j - 1, inside, n, state, sums);
    if (w->failed || !edge || edges & w->dead[j - 1]) return state;
    if (any) state = step_window(w, j - 1, inside, edges, state, sums);
    return w->failed ? 0 : walk_block(w, j - 1, edges, state, sums);
}

/* All visits of the j innermost items but the first, worked out once per state. */
static uint32_t walk_block(sx_window_dp *w, int j, uint32_t edges, uint32_t state, sx_window_sums *sums) {
    if (j == 0) return state;
    edges &= w->matters[j];
    uint64_t key = key_of(w, state, edges, j, 0);
    const sx_window_result *known = sx_window_memo_find(&w->memo, key);
    if (known) {
        add_sums(sums, &known->sums);
        return known->after;
    }
    sx_window_result result = {.key = key};
    result.after = run_item(w, j, edges, state, &result.sums);
    return keep_result(w, &result, sums);
}

/* Forgets all tiles. */
static void begin_round(sx_window_dp *w) {
    if (++w->round < ROUNDS) return;
    w->round = 1;
    memset(w->tile, 0, sizeof w->tile);
}

/* Adds what the parents at the present places hand to the classes first..end, together. */
static void run_windows(sx_window_dp *w, double parents, sx_window_sums *sums) {
    sx_window_sums words = {0};
    sx_window_set_places(w);
    if (w->n_placed > SX_WINDOW_PLACES) {
        sx_window_memo_clear(&w->memo);
        begin_round(w);
    }
    if (w->all & w->dead[w->n_items]) return;
    memset(w->old, 0, (size_t)(w->end - w->first) * sizeof *w->old);
    uint32_t state = visit_block(w, w->n_items, 0, w->all, true, &words);
    if (!w->failed) walk_block(w, w->n_items, w->all, state, &words);
    sums->accesses += parents * words.accesses;
    sums->deliveries += parents * words.deliveries;
    sums->links += parents * words.links;
}

/* Tries every place of the parent in the spatial loops above it, from item i inward; `off`: dimensions on which it
 * is off the edge's path already. Parents in the same places inside share what is known of the blocks there. */
static void place_parents(sx_window_dp *w, int i, uint32_t off, double parents, sx_window_sums *sums) {
    while (i >= 0 && !w->item[i].spatial) i--;
    if (w->failed) return;
    if (i < 0) {
        run_windows(w, parents, sums);
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

/* Adds what all parents hand to the classes first..end, together. */
static void run_classes(sx_window_dp *w, int first, int end, double parents, sx_window_sums *sums) {
    w->first = first;
    w->end = end;
    w->n_states = 0;
    w->n_visits = 0;
    begin_round(w);
    w->failed |= !sx_window_memo_clear(&w->memo);
    place_parents(w, w->n_items - 1, 0, parents, sums);
}

/* Counts with classes apart from each other where that is right, or all together. */
static double count_flow(sx_window_dp *w, const sx_mapping *mapping, int tensor, bool together,
                         sx_window_sums *sums) {
    const sx_model *model = w->workspace->model;
    const sx_mapping_level *at = &mapping->level[w->level];
    w->failed = w->list.ready = w->doubtful = false;
    w->count++;
    w->links = !model->options.no_link_transfers && !(at->no_link_transfer >> tensor & 1) &&
               (w->always || !w->shape->plain);
    w->n_steps = w->n_pieces = w->n_wholes = 0;
    *sums = (sx_window_sums){0};
    w->descends = false;
    for (int i = 0; i < w->shape->first_term[w->shape->n_ranks]; i++)
        w->descends |= w->shape->term[i].coef < 0;
    double parents = sx_window_list_items(w);
    sx_fanout_init(&w->slot, model, &w->workspace->nest, w->level, tensor, at->no_multicast >> tensor & 1);
    w->failed = !sx_window_classify(w, together);
    int at_once = w->pieces ? w->n_classes : 1;
    for (int c = 0; c < w->n_classes && !w->failed; c += at_once)
        run_classes(w, c, c + at_once, parents, sums);
    return sums->deliveries + sums->links;
}

bool sx_window_count(sx_model_workspace *e, const sx_mapping *mapping, int tensor, int level,
                     sx_window_sums *sums) {
    if (!e->window) e->window = calloc(1, sizeof *e->window);
    sx_window_dp *w = e->window;
    if (!w) return false;
    w->workspace = e;
    w->shape = &e->model->shape[tensor];
    w->level = level;
    w->always = level == 0 || (mapping->level[level - 1].no_temporal_reuse >> tensor & 1);
    double words = count_flow(w, mapping, tensor, false, sums);
    if (w->doubtful) words = count_flow(w, mapping, tensor, true, sums);
    return !w->failed && words < 0x1p53;
}
