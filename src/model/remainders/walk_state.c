/* States of a walk: per class of children a record of the tile held, the last step and what the last visit
 * fetched, relative to where the loops stand; equal states have one number. */
#include "model/remainders/walk.h"

#include "base/hash.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

bool sx_walk_reserve(sx_walker *w, void *array, size_t *room, size_t n, size_t size) {
    if (sx_reserve(array, room, n, size)) return true;
    w->failed = true;
    return false;
}

void sx_walk_limit(sx_walker *w, sx_reason reason, double have, double limit) {
    w->failed = true;
    sx_model_workspace_limit(w->workspace, reason, w->level, w->tensor, have, limit);
}

const int64_t *sx_walk_state(const sx_walker *w, uint32_t id) {
    return w->state + id * w->width;
}

uint32_t sx_walk_intern(sx_walker *w) {
    const sx_hash_keys states = {w->state, w->width * sizeof *w->state, w->width * sizeof *w->state};
    uint64_t hash = sx_hash_words(w->scratch, w->width);
    uint32_t state = sx_hash_table_put(&w->states, states, w->scratch, hash, (uint32_t)w->n_states);
    w->failed |= state == SX_HASH_NONE;
    if (state < w->n_states || w->failed) return w->failed ? 0 : state;
    if (!sx_walk_reserve(w, &w->state, &w->state_room, (w->n_states + 1) * w->width, sizeof *w->state))
        return 0;
    memcpy(w->state + w->n_states++ * w->width, w->scratch, states.size);
    return state;
}

void sx_walk_load(sx_walker *w, uint32_t id) {
    memcpy(w->scratch, sx_walk_state(w, id), w->width * sizeof(int64_t));
}

int64_t *sx_walk_held(int64_t *record) {
    return record + 1;
}

static int64_t *step_of(const sx_walker *w, int64_t *record) {
    return record + 1 + 2 * w->shape->n_ranks;
}

static int64_t *fetch_of(const sx_walker *w, int64_t *record) {
    return record + 1 + 3 * w->shape->n_ranks;
}

uint32_t sx_walk_shift(sx_walker *w, uint32_t id, const sx_walk_item *it, int64_t times) {
    if (!(w->shape->dims >> it->loop->dim & 1)) return id;
    int ranks = w->shape->n_ranks;
    sx_walk_load(w, id);
    for (int c = 0; c < w->n_classes; c++) {
        int64_t *record = w->scratch + (size_t)c * w->record, *held = sx_walk_held(record),
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
    return sx_walk_intern(w);
}

bool sx_walk_idle(const sx_walker *w, int c, uint32_t edges) {
    for (uint32_t left = edges; left; left &= left - 1)
        if (w->place[c][__builtin_ctz(left)] == SX_IDLE) return true;
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
            bool edge = edges >> d & 1 && w->place[c][d] == SX_ON;
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

/* Applies the rule of docs/model.md, section 2, to a class's record; returns what it fetches. */
static sx_box_delta fetch_box(const sx_walker *w, int64_t *record, const int64_t *low, const int64_t *high) {
    int ranks = w->shape->n_ranks;
    int64_t *held = sx_walk_held(record), *last = step_of(w, record);
    int64_t step[SX_MAX_RANKS];
    sx_box_delta whole = sx_box_delta_whole(ranks, low, high), delta = whole;
    if (w->always) return whole;
    bool moved = false, same = true;
    if (record[0] & HELD) {
        for (int r = 0; r < ranks; r++) {
            step[r] = middle_moved(low[r], high[r], held[r], held[ranks + r]);
            moved |= step[r] != 0;
            same &= step[r] == last[r];
        }
        delta = sx_box_delta_new(ranks, low, high, held, held + ranks);
    }
    if (moved && record[0] & STEPPED && !same) {
        record[0] &= ~STEPPED;
        memset(last, 0, (size_t)ranks * sizeof *last);
        delta = whole;
    } else if (moved && !(record[0] & STEPPED)) {
        record[0] |= STEPPED;
        memcpy(last, step, (size_t)ranks * sizeof *last);
    }
    record[0] |= HELD;
    memcpy(held, low, (size_t)ranks * sizeof *held);
    memcpy(held + ranks, high, (size_t)ranks * sizeof *held);
    return delta;
}

/* Writes what a visit fetched into a record, for links. */
static void remember_visit(const sx_walker *w, int64_t *record, const sx_box_delta *delta) {
    size_t ranks = w->shape->n_ranks, bytes = ranks * sizeof(int64_t);
    int64_t *to = fetch_of(w, record);
    record[0] &= ~FETCHED;
    memset(to, 0, 4 * bytes);
    if (!delta || delta->words == 0) return;
    record[0] |= FETCHED;
    memcpy(to, delta->low, bytes);
    memcpy(to + ranks, delta->high, bytes);
    memcpy(to + 2 * ranks, delta->hole_low, bytes);
    memcpy(to + 3 * ranks, delta->hole_high, bytes);
}

sx_box_delta sx_walk_recall(const sx_walker *w, int64_t *record) {
    size_t ranks = w->shape->n_ranks, bytes = ranks * sizeof(int64_t);
    const int64_t *from = fetch_of(w, record);
    sx_box_delta delta;
    memset(&delta, 0, sizeof delta);
    if (!(record[0] & FETCHED)) return delta;
    memcpy(delta.low, from, bytes);
    memcpy(delta.high, from + ranks, bytes);
    memcpy(delta.hole_low, from + 2 * ranks, bytes);
    memcpy(delta.hole_high, from + 3 * ranks, bytes);
    uint64_t box = 1, hole = 1;
    for (size_t r = 0; r < ranks; r++) {
        box *= (uint64_t)(delta.high[r] - delta.low[r]);
        hole *= (uint64_t)(delta.hole_high[r] - delta.hole_low[r]);
    }
    delta.words = box - hole;
    return delta;
}

void sx_walk_visit(sx_walker *w, uint32_t edges, uint32_t in, sx_box_delta *now) {
    int64_t low[SX_MAX_RANKS], high[SX_MAX_RANKS];
    sx_walk_load(w, in);
    for (int c = 0; c < w->n_classes; c++) {
        int64_t *record = w->scratch + (size_t)c * w->record;
        sx_box_delta delta;
        bool idle = sx_walk_idle(w, c, edges);
        if (!idle) {
            tile_of(w, c, edges, low, high);
            delta = fetch_box(w, record, low, high);
        }
        if (w->links) remember_visit(w, record, idle ? NULL : &delta);
        if (!now) continue;
        if (idle)
            memset(&now[c], 0, sizeof now[c]);
        else
            now[c] = delta;
    }
}
