/* Counting by compressed execution: every iteration of the nest happens, but blocks of iterations that start
 * in the same state are carried out once and counted as often as they occur. Exact for remainders.
 *
 * For a parent level, its instances and their children fall into classes. A dimension whose factors leave a
 * remainder is "at the edge" while all outer loops on it are at their last iteration; of a spatial loop
 * reached at the edge, the children before the last (early) leave the edge, the last one stays on it (on),
 * and those beyond it are idle. All children of a class behave alike. The state is, per class and relative to
 * where the loops stand: the tile held, the last step (the specification's section 3) and what the last visit
 * fetched (section 4, for links). A block (j, edges, state) stands for all visits of the j innermost loops;
 * iterations of a loop are carried out until their states repeat. A class that stays idle throughout a block
 * is left out of its state. */
#include "model/crowd.h"
#include "model/partition.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { EARLY, ON, BEYOND };
enum { HELD = 1, STEPPED = 2, FETCHED = 4 };
enum { MAX_CLASSES = UINT16_MAX, MAX_ITEMS = 2 * MAX_LOOPS, MAX_BLOCKS = 1 << 24, MEMORY = 32 };

/* A loop outside the children: temporal, or spatial above the parent with the parent's place in it. */
typedef struct item {
    const sx_loop *loop;
    bool spatial;
    uint8_t place; /* EARLY, ON or BEYOND */
    int64_t move[SX_MAX_RANKS];
} item;

typedef struct block {
    int32_t j;
    uint32_t edges, in, out; /* states */
    uint32_t first_child, n_children;
    bool visits; /* there is at least one */
    uint64_t times;
} block;

typedef struct child {
    uint32_t block;
    uint64_t times;
} child;

/* A hash table of indices. */
typedef struct index {
    uint32_t *slot;
    size_t size, used;
} index;

struct sx_walker {
    const sx_model *model;
    const sx_nest *nest;
    const sx_shape *shape;
    int level;
    bool links, always;
    uint32_t ragged; /* dimensions with remainders */
    item items[MAX_ITEMS];
    int n_items;
    uint32_t leaving[MAX_ITEMS + 1]; /* dimensions that can leave the edge inside the j innermost items */
    /* children */
    sx_slot slot;
    int n_classes;
    uint8_t (*place)[SX_MAX_DIMS]; /* per class and dimension */
    size_t place_room;
    uint16_t *class_of; /* per sibling */
    size_t class_room;
    sx_piece *now, *before; /* per class */
    size_t now_room, before_room;
    uint32_t full[SX_MAX_DIMS], rest[SX_MAX_DIMS]; /* extents of a tile, inside and at the edge */
    /* states: `width` numbers each */
    size_t width, record;
    int64_t *state;
    size_t n_states, state_room;
    index states, blocks_at;
    block *block;
    size_t n_blocks, block_room;
    child *child;
    size_t n_children, child_room;
    int64_t *scratch;
    size_t scratch_room;
    sx_party *party;
    size_t party_room;
    bool failed;
};

void sx_walker_free(sx_walker *w) {
    if (!w) return;
    free(w->place);
    free(w->class_of);
    free(w->now);
    free(w->before);
    free(w->state);
    free(w->states.slot);
    free(w->blocks_at.slot);
    free(w->block);
    free(w->child);
    free(w->scratch);
    free(w->party);
    free(w);
}

/* Makes room for n items of a growing array; false when memory is out. */
static bool reserve(sx_walker *w, void *array, size_t *room, size_t n, size_t size) {
    void **data = array;
    if (n <= *room) return true;
    size_t more = *room ? *room : 64;
    while (more < n) more *= 2;
    void *grown = realloc(*data, more * size);
    if (!grown) {
        w->failed = true;
        return false;
    }
    *data = grown;
    *room = more;
    return true;
}

static uint64_t block_hash(int32_t j, uint32_t edges, uint32_t state) {
    uint64_t key[2] = {(uint64_t)(uint32_t)j << 32 | edges, state};
    return sx_hash_bytes(key, sizeof key, 0);
}

static const int64_t *state_of(const sx_walker *w, uint32_t id) {
    return w->state + id * w->width;
}

/* Doubles a table that is half full, entering all items again by `hash`. */
static bool grow_index(sx_walker *w, index *at, uint64_t (*hash)(const sx_walker *, uint32_t)) {
    if (2 * (at->used + 1) <= at->size) return true;
    size_t size = at->size ? at->size * 2 : 256;
    uint32_t *slot = malloc(size * sizeof *slot);
    if (!slot) {
        w->failed = true;
        return false;
    }
    memset(slot, 0xff, size * sizeof *slot);
    for (size_t i = 0; i < at->size; i++) {
        if (at->slot[i] == UINT32_MAX) continue;
        size_t h = hash(w, at->slot[i]) & (size - 1);
        while (slot[h] != UINT32_MAX) h = (h + 1) & (size - 1);
        slot[h] = at->slot[i];
    }
    free(at->slot);
    at->slot = slot;
    at->size = size;
    return true;
}

static uint64_t hash_state(const sx_walker *w, uint32_t id) {
    return sx_hash_bytes(state_of(w, id), w->width * sizeof(int64_t), 0);
}

static uint64_t hash_block(const sx_walker *w, uint32_t id) {
    return block_hash(w->block[id].j, w->block[id].edges, w->block[id].in);
}

/* The number of the state in w->scratch. */
static uint32_t intern(sx_walker *w) {
    size_t bytes = w->width * sizeof(int64_t);
    if (!grow_index(w, &w->states, hash_state)) return 0;
    size_t h = sx_hash_bytes(w->scratch, bytes, 0) & (w->states.size - 1);
    for (; w->states.slot[h] != UINT32_MAX; h = (h + 1) & (w->states.size - 1))
        if (memcmp(state_of(w, w->states.slot[h]), w->scratch, bytes) == 0) return w->states.slot[h];
    if (!reserve(w, &w->state, &w->state_room, (w->n_states + 1) * w->width, sizeof(int64_t))) return 0;
    memcpy(w->state + w->n_states * w->width, w->scratch, bytes);
    w->states.slot[h] = (uint32_t)w->n_states;
    w->states.used++;
    return (uint32_t)w->n_states++;
}

/* Copies a state to w->scratch. */
static void load(sx_walker *w, uint32_t id) {
    memcpy(w->scratch, state_of(w, id), w->width * sizeof(int64_t));
}

/* The fields of one class's record. */
static int64_t *held_of(int64_t *record) {
    return record + 1;
}

static int64_t *step_of(const sx_walker *w, int64_t *record) {
    return record + 1 + 2 * w->shape->n_ranks;
}

static int64_t *fetch_of(const sx_walker *w, int64_t *record) {
    return record + 1 + 3 * w->shape->n_ranks;
}

/* The state seen after the loops moved on by `times` iterations of an item. */
static uint32_t shift(sx_walker *w, uint32_t id, const item *it, int64_t times) {
    if (!(w->shape->dims >> it->loop->dim & 1)) return id;
    int ranks = w->shape->n_ranks;
    load(w, id);
    for (int c = 0; c < w->n_classes; c++) {
        int64_t *record = w->scratch + (size_t)c * w->record, *held = held_of(record),
                *fetch = fetch_of(w, record);
        for (int r = 0; r < ranks; r++) {
            int64_t move = times * it->move[r];
            if (record[0] & HELD) {
                held[r] -= move;
                held[ranks + r] -= move;
            }
            if (record[0] & FETCHED)
                for (int k = 0; k < 4; k++) fetch[k * ranks + r] -= move;
        }
    }
    return intern(w);
}

/* Whether a class has no tile at a visit with these edges. */
static bool is_idle(const sx_walker *w, int c, uint32_t edges) {
    for (uint32_t left = edges; left; left &= left - 1)
        if (w->place[c][__builtin_ctz(left)] == BEYOND) return true;
    return false;
}

/* The tile of a class, relative to its place. */
static void tile_of(const sx_walker *w, int c, uint32_t edges, int64_t *low, int64_t *high) {
    const sx_shape *shape = w->shape;
    for (int r = 0; r < shape->n_ranks; r++) {
        low[r] = 0;
        high[r] = 1;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++) {
            int d = shape->term[i].dim;
            bool edge = edges >> d & 1 && w->place[c][d] == ON;
            int64_t reach = shape->term[i].coef * (int64_t)((edge ? w->rest[d] : w->full[d]) - 1);
            *(reach < 0 ? &low[r] : &high[r]) += reach;
        }
    }
}

/* How far the middle of a box moved, rounded with halves away from zero. */
static int64_t middle_moved(int64_t low, int64_t high, int64_t old_low, int64_t old_high) {
    int64_t twice = (low + high) - (old_low + old_high);
    return twice >= 0 ? (twice + 1) / 2 : -((1 - twice) / 2);
}

/* Applies the rule of section 3 to a class's record; returns what it fetches. */
static sx_piece fetch(const sx_walker *w, int64_t *record, const int64_t *low, const int64_t *high) {
    int ranks = w->shape->n_ranks;
    int64_t *held = held_of(record), *last = step_of(w, record);
    int64_t step[SX_MAX_RANKS];
    sx_piece whole = sx_piece_whole(ranks, low, high), piece = whole;
    if (w->always) return whole;
    bool moved = false, same = true;
    if (record[0] & HELD) {
        for (int r = 0; r < ranks; r++) {
            step[r] = middle_moved(low[r], high[r], held[r], held[ranks + r]);
            moved |= step[r] != 0;
            same &= step[r] == last[r];
        }
        piece = sx_piece_new(ranks, low, high, held, held + ranks);
    }
    if (moved && record[0] & STEPPED && !same) {
        record[0] &= ~STEPPED;
        memset(last, 0, (size_t)ranks * sizeof *last);
        piece = whole;
    } else if (moved && !(record[0] & STEPPED)) {
        record[0] |= STEPPED;
        memcpy(last, step, (size_t)ranks * sizeof *last);
    }
    record[0] |= HELD;
    memcpy(held, low, (size_t)ranks * sizeof *held);
    memcpy(held + ranks, high, (size_t)ranks * sizeof *held);
    return piece;
}

/* Writes what a visit fetched into a record, for links. */
static void remember(const sx_walker *w, int64_t *record, const sx_piece *piece) {
    size_t ranks = w->shape->n_ranks, bytes = ranks * sizeof(int64_t);
    int64_t *to = fetch_of(w, record);
    record[0] &= ~FETCHED;
    memset(to, 0, 4 * bytes);
    if (!piece || piece->words == 0) return;
    record[0] |= FETCHED;
    memcpy(to, piece->low, bytes);
    memcpy(to + ranks, piece->high, bytes);
    memcpy(to + 2 * ranks, piece->hole_low, bytes);
    memcpy(to + 3 * ranks, piece->hole_high, bytes);
}

/* Reads it back; its words are not known and not needed. */
static sx_piece recall(const sx_walker *w, int64_t *record) {
    size_t ranks = w->shape->n_ranks, bytes = ranks * sizeof(int64_t);
    const int64_t *from = fetch_of(w, record);
    sx_piece piece;
    memset(&piece, 0, sizeof piece);
    if (!(record[0] & FETCHED)) return piece;
    memcpy(piece.low, from, bytes);
    memcpy(piece.high, from + ranks, bytes);
    memcpy(piece.hole_low, from + 2 * ranks, bytes);
    memcpy(piece.hole_high, from + 3 * ranks, bytes);
    uint64_t box = 1, hole = 1;
    for (size_t r = 0; r < ranks; r++) {
        box *= (uint64_t)(piece.high[r] - piece.low[r]);
        hole *= (uint64_t)(piece.hole_high[r] - piece.hole_low[r]);
    }
    piece.words = box - hole;
    return piece;
}

/* One visit: leaves the new state in w->scratch, and what each class fetches in now[] where that is asked
 * for. */
static void visit(sx_walker *w, uint32_t edges, uint32_t in, sx_piece *now) {
    int64_t low[SX_MAX_RANKS], high[SX_MAX_RANKS];
    load(w, in);
    for (int c = 0; c < w->n_classes; c++) {
        int64_t *record = w->scratch + (size_t)c * w->record;
        sx_piece piece;
        bool idle = is_idle(w, c, edges);
        if (!idle) {
            tile_of(w, c, edges, low, high);
            piece = fetch(w, record, low, high);
        }
        if (w->links) remember(w, record, idle ? NULL : &piece);
        if (!now) continue;
        if (idle)
            memset(&now[c], 0, sizeof now[c]);
        else
            now[c] = piece;
    }
}

static uint32_t run_block(sx_walker *w, int32_t j, uint32_t edges, uint32_t in);

/* Whether a class that holds something is idle at all visits where these dimensions are at the edge. */
static bool is_frozen(const sx_walker *w, int c, uint32_t stuck, uint32_t state) {
    return state_of(w, state)[(size_t)c * w->record] & HELD && is_idle(w, c, stuck);
}

/* The block of the j innermost items, without what classes hold that stay idle in it; *out is the state
 * afterwards with that back in. */
static uint32_t run(sx_walker *w, int32_t j, uint32_t edges, uint32_t in, uint32_t *out) {
    uint32_t stuck = edges & ~w->leaving[j];
    size_t hold = 3 * (size_t)w->shape->n_ranks * sizeof(int64_t);
    bool any = false;
    for (int c = 0; c < w->n_classes && stuck && !any; c++) any = is_frozen(w, c, stuck, in);
    if (!any) {
        uint32_t b = run_block(w, j, edges, in);
        *out = w->failed ? in : w->block[b].out;
        return b;
    }
    load(w, in);
    for (int c = 0; c < w->n_classes; c++) {
        int64_t *record = w->scratch + (size_t)c * w->record;
        if (!is_frozen(w, c, stuck, in)) continue;
        record[0] &= FETCHED;
        memset(held_of(record), 0, hold);
    }
    uint32_t b = run_block(w, j, edges, intern(w));
    if (w->failed) return b;
    load(w, w->block[b].out);
    for (int c = 0; c < w->n_classes; c++) {
        int64_t *record = w->scratch + (size_t)c * w->record;
        const int64_t *before = state_of(w, in) + (size_t)c * w->record;
        if (!is_frozen(w, c, stuck, in)) continue;
        record[0] |= before[0] & (HELD | STEPPED);
        memcpy(held_of(record), before + 1, hold);
    }
    *out = intern(w);
    return b;
}

/* One child of a block under construction. */
typedef struct sequence {
    child list[MEMORY + 2];
    int n;
    bool visits;
} sequence;

static void add_child(sx_walker *w, sequence *s, uint32_t b, uint64_t times) {
    if (w->failed || times == 0) return;
    s->visits |= w->block[b].visits;
    for (int i = 0; i < s->n; i++)
        if (s->list[i].block == b) {
            s->list[i].times += times;
            return;
        }
    s->list[s->n++] = (child){b, times};
}

/* Moves the children collected so far to the pool, where only `w->n_children` of the block in hand may grow.
 */
static bool flush(sx_walker *w, sequence *s, child **kept, size_t *n_kept, size_t *room) {
    if (s->n == 0) return true;
    if (!reserve(w, kept, room, *n_kept + (size_t)s->n, sizeof **kept)) return false;
    memcpy(*kept + *n_kept, s->list, (size_t)s->n * sizeof *s->list);
    *n_kept += (size_t)s->n;
    s->n = 0;
    return true;
}

/* Carries out `n` iterations of an item with the same edges inside, until states repeat; returns the state
 * after. */
static uint32_t iterate(sx_walker *w, int32_t j, uint32_t edges, uint64_t n, uint32_t state, child **kept,
                        size_t *n_kept, size_t *room, bool *visits) {
    const item *it = &w->items[j];
    uint32_t entered[MEMORY], ran[MEMORY];
    sequence s = {.n = 0};
    for (uint64_t i = 0; i < n && !w->failed; i++) {
        for (uint64_t k = i > MEMORY ? i - MEMORY : 0; k < i; k++) {
            if (entered[k % MEMORY] != state) continue;
            uint64_t period = i - k, left = n - i;
            for (uint64_t p = 0; p < period; p++)
                add_child(w, &s, ran[(k + p) % MEMORY], left / period + (p < left % period));
            state = left % period ? entered[(k + left % period) % MEMORY] : state;
            i = n;
            break;
        }
        if (i >= n) break;
        uint32_t after;
        uint32_t b = run(w, j, edges, state, &after);
        if (w->failed) break;
        entered[i % MEMORY] = state;
        ran[i % MEMORY] = b;
        add_child(w, &s, b, 1);
        if (s.n > MEMORY && !flush(w, &s, kept, n_kept, room)) break;
        state = shift(w, after, it, 1);
    }
    *visits |= s.visits;
    flush(w, &s, kept, n_kept, room);
    return state;
}

/* Fills in a block of at least one item: its children and its state afterwards. */
static void run_item(sx_walker *w, block *b) {
    int32_t j = b->j - 1;
    const item *it = &w->items[j];
    uint32_t edge = b->edges & 1u << it->loop->dim, inside = b->edges & ~edge, state = b->in;
    child *kept = NULL;
    size_t n_kept = 0, room = 0;
    if (it->spatial) {
        if (edge && it->place == BEYOND) return;
        uint32_t edges = it->place == ON ? b->edges : inside, after;
        uint32_t only = run(w, j, edges, state, &after);
        if (w->failed) return;
        b->visits = w->block[only].visits;
        b->out = after;
        if (reserve(w, &kept, &room, 1, sizeof *kept)) kept[n_kept++] = (child){only, 1};
    } else {
        uint64_t n = edge ? it->loop->last : it->loop->n;
        state = iterate(w, j, inside, edge ? n - 1 : n, state, &kept, &n_kept, &room, &b->visits);
        if (edge) state = iterate(w, j, b->edges, 1, state, &kept, &n_kept, &room, &b->visits);
        if (!w->failed) b->out = shift(w, state, it, -(int64_t)n);
    }
    if (!w->failed && reserve(w, &w->child, &w->child_room, w->n_children + n_kept, sizeof *w->child)) {
        b->first_child = (uint32_t)w->n_children;
        b->n_children = (uint32_t)n_kept;
        if (n_kept) memcpy(w->child + w->n_children, kept, n_kept * sizeof *kept);
        w->n_children += n_kept;
    }
    free(kept);
}

/* The block of the j innermost items from a state, carried out once. */
static uint32_t run_block(sx_walker *w, int32_t j, uint32_t edges, uint32_t in) {
    if (!grow_index(w, &w->blocks_at, hash_block)) return 0;
    size_t mask = w->blocks_at.size - 1;
    for (size_t h = block_hash(j, edges, in) & mask; w->blocks_at.slot[h] != UINT32_MAX; h = (h + 1) & mask) {
        const block *b = &w->block[w->blocks_at.slot[h]];
        if (b->j == j && b->edges == edges && b->in == in) return w->blocks_at.slot[h];
    }
    block b = {.j = j, .edges = edges, .in = in, .out = in};
    if (j == 0) {
        visit(w, edges, in, NULL);
        b.out = intern(w);
        b.visits = true;
    } else {
        run_item(w, &b);
    }
    if (w->n_blocks >= MAX_BLOCKS) w->failed = true;
    if (w->failed || !reserve(w, &w->block, &w->block_room, w->n_blocks + 1, sizeof *w->block)) return 0;
    if (!grow_index(w, &w->blocks_at, hash_block)) return 0;
    mask = w->blocks_at.size - 1;
    size_t h = block_hash(j, edges, in) & mask;
    while (w->blocks_at.slot[h] != UINT32_MAX) h = (h + 1) & mask;
    w->blocks_at.slot[h] = (uint32_t)w->n_blocks;
    w->blocks_at.used++;
    w->block[w->n_blocks] = b;
    return (uint32_t)w->n_blocks++;
}

/* Adds what a visit moves where all children are alike: groups by the slot's closed forms. */
static void add_alike(sx_evaluator *e, sx_walker *w, sx_flow *flow, const sx_piece *now,
                      const sx_piece *before, double times, bool hops) {
    const sx_group *group;
    int64_t need[SX_MAX_RANKS];
    uint64_t groups = 0, fewer = 0, served = 0;
    size_t n = sx_slot_groups(&w->slot, e->slot, hops, &group);
    w->failed |= n == 0;
    for (size_t i = 0; i < n; i++) groups += group[i].count;
    if (w->links && before->words > 0 && sx_piece_alike(w->shape->n_ranks, now, before, need)) {
        size_t left = sx_slot_served(&w->slot, e->slot, need, hops, &served, &group);
        w->failed |= left == SIZE_MAX;
        for (size_t i = 0; i < left && !w->failed; i++) fewer += group[i].count;
        n = left;
        if (!w->failed && fewer >= groups) {
            n = sx_slot_groups(&w->slot, e->slot, hops, &group);
            served = 0;
        }
    }
    double words = times * (double)now->words;
    for (size_t i = 0; i < n && !w->failed; i++)
        sx_flow_add(
            e, flow,
            (sx_record){group[i].m, group[i].count, words * (double)group[i].count, words * group[i].hops});
    flow->links += words * (double)served;
}

/* Adds what a visit moves where children at the edge differ. */
static void add_crowd(sx_evaluator *e, sx_walker *w, sx_flow *flow, double times, bool hops) {
    sx_crowd crowd = {&w->slot, w->class_of, w->now, w->before, w->n_classes, w->links};
    uint64_t links;
    if (!reserve(w, &w->party, &w->party_room, w->slot.siblings, sizeof *w->party)) return;
    size_t n = sx_crowd_visit(&crowd, hops, w->party, &links);
    w->failed |= n == SIZE_MAX;
    for (size_t i = 0; i < n && !w->failed; i++) {
        const sx_party *p = &w->party[i];
        sx_flow_add(e, flow,
                    (sx_record){p->m, p->count, times * (double)p->words,
                                times * (p->hops * (double)p->words / (double)p->count)});
    }
    flow->links += times * (double)links;
}

/* Adds what one visit moves, `times` over, to the flow. */
static void add_visit(sx_evaluator *e, sx_walker *w, sx_flow *flow, const block *b, double times, bool hops) {
    bool any = false;
    visit(w, b->edges, b->in, w->now);
    for (int c = 0; c < w->n_classes; c++) any |= w->now[c].words > 0;
    if (!any) return;
    if (w->slot.n_loops == 0) {
        sx_flow_add(e, flow, (sx_record){1, 1, times * (double)w->now[0].words, 0});
        return;
    }
    load(w, b->in);
    for (int c = 0; c < w->n_classes && w->links; c++)
        w->before[c] = recall(w, w->scratch + (size_t)c * w->record);
    if (w->n_classes == 1)
        add_alike(e, w, flow, w->now, w->before, times, hops);
    else
        add_crowd(e, w, flow, times, hops);
}

/* Walks one class of parent instances, of which there are `parents`. */
static void walk_parents(sx_evaluator *e, sx_walker *w, sx_flow *flow, double parents, bool hops) {
    w->leaving[0] = 0;
    for (int j = 0; j < w->n_items; j++) {
        const item *it = &w->items[j];
        bool leaves = it->spatial ? it->place == EARLY : it->loop->last > 1;
        w->leaving[j + 1] = w->leaving[j] | (leaves ? 1u << it->loop->dim : 0);
    }
    w->n_states = w->n_blocks = w->n_children = w->states.used = w->blocks_at.used = 0;
    if (w->states.size) memset(w->states.slot, 0xff, w->states.size * sizeof *w->states.slot);
    if (w->blocks_at.size) memset(w->blocks_at.slot, 0xff, w->blocks_at.size * sizeof *w->blocks_at.slot);
    memset(w->scratch, 0, w->width * sizeof(int64_t));
    uint32_t after;
    uint32_t root = run(w, w->n_items, w->ragged, intern(w), &after);
    if (w->failed) return;
    for (size_t i = 0; i < w->n_blocks; i++) w->block[i].times = 0;
    w->block[root].times = 1;
    for (size_t i = w->n_blocks; i-- > 0;) {
        const block *b = &w->block[i];
        if (b->times == 0) continue;
        for (uint32_t k = 0; k < b->n_children; k++)
            w->block[w->child[b->first_child + k].block].times +=
                b->times * w->child[b->first_child + k].times;
        if (b->j == 0) add_visit(e, w, flow, b, parents * (double)b->times, hops);
        if (w->failed) return;
    }
}

/* Tries every place of the parent in the spatial loops above it, from item `i` inward. `off` is the set of
 * dimensions on which it is off the edge's path already. */
static void place_parents(sx_evaluator *e, sx_walker *w, sx_flow *flow, int i, uint32_t off, double parents,
                          bool hops) {
    while (i >= 0 && !w->items[i].spatial) i--;
    if (i < 0) {
        walk_parents(e, w, flow, parents, hops);
        return;
    }
    item *it = &w->items[i];
    uint32_t dim = 1u << it->loop->dim;
    if (off & dim) {
        it->place = EARLY;
        place_parents(e, w, flow, i - 1, off, parents * it->loop->n, hops);
        return;
    }
    const uint32_t many[] = {[EARLY] = it->loop->last - 1, [ON] = 1, [BEYOND] = it->loop->n - it->loop->last};
    for (uint8_t place = EARLY; place <= BEYOND && !w->failed; place++) {
        if (many[place] == 0) continue;
        it->place = place;
        place_parents(e, w, flow, i - 1, place == ON ? off : off | dim, parents * many[place], hops);
    }
}

/* Lists the loops outside the children of a level. Returns the parents that the spatial loops left out make.
 */
static double list_items(sx_walker *w) {
    const sx_nest *nest = w->nest;
    double parents = 1;
    w->n_items = 0;
    for (int s = w->level; s < w->model->n_levels; s++) {
        for (int l = nest->spatial_of[s]; s > w->level && l < nest->spatial_of[s + 1]; l++) {
            if (w->ragged >> nest->spatial[l].dim & 1)
                w->items[w->n_items++] = (item){.loop = &nest->spatial[l], .spatial = true};
            else
                parents *= nest->spatial[l].n;
        }
        for (int l = nest->temporal_of[s]; l < nest->temporal_of[s + 1]; l++)
            w->items[w->n_items++] = (item){.loop = &nest->temporal[l]};
    }
    for (int j = 0; j < w->n_items; j++)
        for (int i = 0; i < w->shape->n_terms; i++)
            if (w->shape->term[i].dim == w->items[j].loop->dim)
                w->items[j].move[w->shape->term[i].rank] =
                    w->shape->term[i].coef * (int64_t)w->items[j].loop->step;
    return parents;
}

/* Sorts the children of the level into classes. */
static void list_classes(sx_walker *w) {
    const sx_slot *slot = &w->slot;
    w->n_classes = 0;
    if (!reserve(w, &w->class_of, &w->class_room, slot->siblings, sizeof *w->class_of)) return;
    uint32_t at[SX_MAX_DIMS] = {0};
    for (uint64_t p = 0; p < slot->siblings; p++) {
        uint8_t place[SX_MAX_DIMS];
        memset(place, ON, sizeof place);
        for (int l = 0; l < slot->n_loops; l++) {
            const sx_loop *loop = &slot->loop[l];
            if (!(w->ragged >> loop->dim & 1)) continue;
            place[loop->dim] = at[l] + 1 < loop->last ? EARLY : at[l] + 1 == loop->last ? ON : BEYOND;
        }
        int c = 0;
        while (c < w->n_classes && memcmp(w->place[c], place, sizeof place) != 0) c++;
        if (c == w->n_classes) {
            w->failed |= c == MAX_CLASSES;
            if (w->failed || !reserve(w, &w->place, &w->place_room, (size_t)c + 1, sizeof *w->place)) return;
            memcpy(w->place[w->n_classes++], place, sizeof place);
        }
        w->class_of[p] = (uint16_t)c;
        for (int l = 0; l < slot->n_loops && ++at[l] == slot->loop[l].n; l++) at[l] = 0;
    }
}

/* Whether children could get words from their neighbours. Steps on a solo dimension are longer than all
 * siblings together; so, unless tiles are fetched anew at every visit, siblings must stand apart in a mixed
 * rank. */
static bool may_link(const sx_walker *w) {
    const sx_nest *nest = w->nest;
    unsigned dims = 0;
    for (int l = nest->spatial_of[w->level]; l < nest->spatial_of[w->level + 1]; l++)
        dims |= 1u << nest->spatial[l].dim;
    return dims != 0 && (w->always || dims & w->shape->dims & ~(unsigned)w->shape->solo);
}

/* Prepares the walk of one level. */
static double prepare(sx_evaluator *e, sx_walker *w, const sx_mapping *mapping, int tensor, int level) {
    const sx_model *model = e->model;
    const sx_mapping_level *at = &mapping->level[level];
    w->model = model;
    w->nest = &e->nest;
    w->shape = &model->shape[tensor];
    w->level = level;
    w->failed = false;
    w->always = level == 0 || (mapping->level[level - 1].no_temporal_reuse >> tensor & 1);
    w->links = !model->options.no_link_transfers && !(at->no_link_transfer >> tensor & 1) && may_link(w);
    w->ragged = 0;
    for (int d = 0; d < model->n_dims; d++) {
        uint64_t full = level > 0 ? sx_mapping_extent(mapping, level - 1, d) : 1;
        bool exact = sx_mapping_extent(mapping, model->n_levels - 1, d) == model->size[d];
        if (!exact) w->ragged |= 1u << d;
        w->full[d] = (uint32_t)full;
        w->rest[d] = (uint32_t)((model->size[d] - 1) % full) + 1;
    }
    sx_slot_init(&w->slot, model, &e->nest, level, tensor, at->no_multicast >> tensor & 1);
    sx_slot_moves(&w->slot);
    list_classes(w);
    w->record = 1 + 3 * (size_t)w->shape->n_ranks + (w->links ? 4 * (size_t)w->shape->n_ranks : 0);
    w->width = w->record * (size_t)w->n_classes;
    reserve(w, &w->scratch, &w->scratch_room, w->width, sizeof(int64_t));
    reserve(w, &w->now, &w->now_room, (size_t)w->n_classes, sizeof *w->now);
    reserve(w, &w->before, &w->before_room, (size_t)w->n_classes, sizeof *w->before);
    return list_items(w);
}

void sx_walk_count(sx_evaluator *e, const sx_mapping *mapping, int tensor, bool hops) {
    const sx_model *model = e->model;
    const sx_nest *nest = &e->nest;
    if (!e->walker) e->walker = calloc(1, sizeof *e->walker);
    sx_walker *w = e->walker;
    e->failed |= !w;
    e->records.n = 0;
    if (!sx_records_reserve(e, SX_MAX_LEVELS)) return;
    for (int s = 0; s < model->n_levels && !e->failed; s++) {
        sx_flow *flow = &e->flow[s];
        sx_flow_begin(e, flow);
        flow->fanout = nest->slot_x[s] * nest->slot_y[s];
        if (s == 0 && flow->fanout == 1) {
            sx_flow_add(e, flow, (sx_record){1, 1, (double)model->computes, 0});
        } else {
            double parents = prepare(e, w, mapping, tensor, s);
            if (!w->failed)
                place_parents(e, w, flow, w->n_items - 1, 0, parents, hops || model->level[s].net_energy);
            e->failed |= w->failed;
        }
        bool wanted = hops || model->shape[tensor].output;
        e->partition[s] = wanted ? sx_partition_words(model, nest, mapping, tensor, s) : 0;
        if (e->partition[s] < 0) e->failed = true;
        for (uint32_t i = 0; i < flow->n_records && !e->failed; i++)
            e->overflow |= e->records.data[flow->first + i].accesses >= 0x1p62;
    }
}
