/* Reading compact points: cells out of exponents, and the loops that are there. */
#ifndef SX_CORE_POINT_H
#define SX_CORE_POINT_H

#include "core/score.h"
#include "core/space.h"

/* Splits of a dimension that are remembered, and charges of a tensor under sets of levels that keep it. */
#ifdef SX_CORE_GPU
enum { SX_CORE_ROWS = 1, SX_CORE_SWEPT = 1 };
#else
enum { SX_CORE_ROWS = 32, SX_CORE_SWEPT = 64 };
#endif

/* A split of a dimension. */
typedef struct sx_core_row {
    uint64_t word[SX_CORE_PRIMES]; /* all 0: none */
    uint64_t temporal, spatial;    /* byte s: the dimension's bit where level s has a loop */
    sx_core_cell cell[SX_CORE_LEVELS_AT_MOST];
} sx_core_row;

/* Charges of a nest under sets of levels that keep a tensor: those whose stamp is `now`. */
typedef struct sx_core_swept {
    uint32_t counted; /* mask of the tensors whose flows are counted */
    uint32_t at[SX_CORE_TENSORS_AT_MOST],
        last[SX_CORE_TENSORS_AT_MOST]; /* what was charged last: where, and for which levels */
    uint64_t now, stamp[SX_CORE_TENSORS_AT_MOST][SX_CORE_SWEPT];
    uint32_t kept[SX_CORE_TENSORS_AT_MOST][SX_CORE_SWEPT];
    double charge[SX_CORE_TENSORS_AT_MOST][SX_CORE_SWEPT][SX_CORE_CHARGE];
} sx_core_swept;

#ifndef SX_CORE_GPU
/* What of the state is still that of the point that was checked before. */
typedef struct sx_core_checked {
    bool known, whole;                      /* anything is; its array has the instances */
    uint8_t tiles[SX_CORE_TENSORS_AT_MOST]; /* levels from the innermost on with words */
    uint64_t word[SX_CORE_WORDS];
} sx_core_checked;
#endif

/* One thread's memory, all bytes 0 at first. */
typedef struct sx_core_work {
    sx_core_state st;
    sx_core_scratch own;
    uint64_t temporal,
        spatial; /* of the point that was read: byte s is a mask of the dimensions with loops at level s */
    double charge[SX_CORE_TENSORS_AT_MOST * SX_CORE_CHARGE];
    sx_core_row row[SX_CORE_DIMS][SX_CORE_ROWS];
#ifndef SX_CORE_GPU
    sx_core_cell ones[SX_CORE_LEVELS_AT_MOST]; /* of a dimension without loops */
    sx_core_checked checked;
#endif
    sx_core_listing listing;
    sx_core_swept swept;
} sx_core_work;

/* Makes a row out of exponents. */
SX_HD_CALL void sx_core_make_row(const sx_core_space *c, int d, const uint64_t *word, sx_core_row *row) {
    int first = c->first_word[d], n = c->first_word[d + 1] - first;
    double extent = 1;
    row->temporal = row->spatial = 0;
    for (int k = 0; k < SX_CORE_PRIMES; k++) row->word[k] = k < n ? word[k] : 0;
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) {
        double temporal = 1, spatial = 1;
        int across = c->spatial_slot[s], along = c->temporal_slot[s];
        for (int k = 0; k < n; k++) {
            temporal *= c->power[first + k][sx_compact_exponent(word[k], along)];
            if (across >= 0) spatial *= c->power[first + k][sx_compact_exponent(word[k], across)];
        }
        if (temporal > 1) row->temporal |= (uint64_t)1 << (8 * s + d);
        if (spatial > 1) row->spatial |= (uint64_t)1 << (8 * s + d);
        row->cell[s].spread = extent * spatial;
        row->cell[s].extent = extent = extent * spatial * temporal;
        row->cell[s].temporal = temporal;
        row->cell[s].spatial = spatial;
    }
}

/* The row of a dimension's words. */
SX_HD const sx_core_row *sx_core_find_row(const sx_core_space *c, sx_core_work *w, int d,
                                          const uint64_t *word) {
    int n = c->first_word[d + 1] - c->first_word[d];
    uint64_t mixed = word[0] * 0x9e3779b97f4a7c15u;
    for (int k = 1; k < n; k++) mixed = (mixed ^ word[k]) * 0x9e3779b97f4a7c15u;
    sx_core_row *row = &w->row[d][SX_CORE_ROWS > 1 ? mixed >> 59 : 0];
    uint64_t differ = row->word[0] ^ word[0];
    for (int k = 1; k < n; k++) differ |= row->word[k] ^ word[k];
    if (differ) sx_core_make_row(c, d, word, row);
    return row;
}

/* The dimensions with loops at a level, out of such masks for all levels. */
SX_HD unsigned sx_core_lane_of(uint64_t masks, int s) {
    return (unsigned)(masks >> 8 * s) & 0xff;
}

/* Reads the factors of a point. */
SX_HD void sx_core_read_rows(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point) {
    const uint64_t *word = sx_compact_words_of(c, point);
    uint64_t temporal = 0, spatial = 0;
    for (uint32_t d = 0; d < c->model.n_dims; d++) {
        const sx_core_row *row = sx_core_find_row(c, w, (int)d, word + c->first_word[d]);
        w->own.row[d] = row->cell;
        temporal |= row->temporal;
        spatial |= row->spatial;
    }
    w->temporal = temporal;
    w->spatial = spatial;
}

/* Reads where the spatial loops of a level lie. */
SX_HD void sx_core_read_slot_loops(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point,
                                   int s) {
    sx_core_loops *slot = &w->st.nest.slots[s];
    unsigned loops = sx_core_lane_of(w->spatial, s);
    unsigned x = ((point[s].on_x & c->free_x[s]) | c->fixed_x[s]) & loops;
    int n_x = c->bits[x];
    slot->dims = n_x < 8 ? c->packed[x] | c->packed[loops & ~x] << 4 * n_x : c->packed[x];
    slot->n = c->bits[loops];
    slot->n_x = (uint8_t)n_x;
}
SX_HD_CALL void sx_core_read_slot(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point,
                                  int s) {
    sx_core_read_slot_loops(c, w, point, s);
    sx_core_set_slot(&c->model, &w->st, s);
}
SX_HD void sx_core_read_slots(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point) {
    SX_UNROLL
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++)
        if (c->spread >> s & 1) sx_core_read_slot(c, w, point, s);
}

/* Goes through the temporal loops in the point's orders, outermost first: how often tiles move, as sx_core_flatten counts it for
 * a nest. `last` has a byte for each tensor: how many loops there are up to the last that indexes it. */
SX_HD_CALL void sx_core_read_loops(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point) {
    sx_core_scratch *own = &w->own;
    double steps = own->suffix[0] = 1;
    uint32_t n = 0, last = 0;
    SX_UNROLL
    for (int s = SX_CORE_SPACE_LEVELS(c) - 1; s >= 0; s--) {
        unsigned loops = sx_core_lane_of(w->temporal, s);
        uint64_t order = point[s].order << 4 * (16 - c->model.n_dims);
        for (; loops; order <<= 4) {
            unsigned d = (unsigned)(order >> 60);
            if (!(loops >> d & 1)) continue;
            loops &= ~(1u << d);
            if (SX_CORE_HAS_WINDOW(&c->model)) own->flat[n] = (uint8_t)((unsigned)s << 4 | d);
            own->suffix[++n] = steps *= own->row[d][s].temporal;
            last ^= (last ^ n * 0x01010101u) & c->indexed[d];
        }
        SX_UNROLL
        for (int v = 0; v < SX_CORE_SPACE_TENSORS(c); v++) {
            uint8_t at = (uint8_t)(last >> 8 * v);
            w->st.visits[v][s] = own->suffix[at];
            if (SX_CORE_IS_WINDOW(&c->model, v)) own->last[v][s] = at;
        }
        if (SX_CORE_HAS_WINDOW(&c->model)) own->end[s] = (uint8_t)n;
    }
}

/* Prepares a thread's memory. */
SX_HD void sx_core_begin(const sx_core_space *c, sx_core_work *w) {
    w->st.own = &w->own;
    w->own.listing = &w->listing;
#ifndef SX_CORE_GPU
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) w->ones[s] = (sx_core_cell){1, 1, 1, 1};
#endif
    for (int d = 0; d < SX_CORE_DIMS; d++)
        for (int i = 0; i < SX_CORE_ROWS; i++)
            for (int k = 0; k < SX_CORE_PRIMES; k++) w->row[d][i].word[k] = UINT64_MAX;
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) {
        w->st.nest.slots[s].dims = w->st.nest.slots[s].n = w->st.nest.slots[s].n_x = 0;
        sx_core_set_slot(&c->model, &w->st, s);
    }
}

/* Sets the words of all tensors' tiles at a level. */
SX_HD void sx_core_read_tiles(const sx_core_space *c, sx_core_work *w, int s) {
    SX_UNROLL
    for (int v = 0; v < SX_CORE_SPACE_TENSORS(c); v++) sx_core_set_words(&c->model, &w->st, v, s);
}

/* Whether every tensor is kept somewhere. */
SX_HD bool sx_core_keeps_all(const sx_core_space *c, const sx_compact_level *point) {
    unsigned kept = 0;
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) kept |= point[s].keep;
    return kept == c->model.all;
}

/* Whether a point is legal; the state is then ready for sx_core_finish_point. */
SX_HD bool sx_core_check_point(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point) {
    sx_core_read_rows(c, w, point);
    sx_core_read_slots(c, w, point);
    if (!sx_core_set_array(&c->model, &w->st)) return false;
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) {
        w->st.nest.keep[s] = point[s].keep;
        sx_core_read_tiles(c, w, s);
        if (!sx_core_fits(&c->model, &w->st, s, point[s].keep)) return false;
    }
    return sx_core_keeps_all(c, point);
}

#ifndef SX_CORE_GPU
/* Reads the splits that differ from those of the point before; returns a mask of their dimensions. */
SX_HD uint32_t sx_core_reread_rows(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point) {
    const uint64_t *word = sx_compact_words_of(c, point), byte_ones = 0x0101010101010101u;
    uint32_t differ = 0, changed = 0;
    for (uint32_t k = 0; k < c->n_words; k++) differ |= (uint32_t)(word[k] != w->checked.word[k]) << k;
    for (uint32_t d = 0; differ && d < c->model.n_dims; d++) {
        const int first = c->first_word[d], n = c->first_word[d + 1] - first;
        if (!(differ >> first & ((1u << n) - 1))) continue;
        const sx_core_row *row = sx_core_find_row(c, w, (int)d, word + first);
        for (int k = first; k < first + n; k++) w->checked.word[k] = word[k];
        w->own.row[d] = row->cell;
        w->temporal = (w->temporal & ~(byte_ones << d)) | row->temporal;
        w->spatial = (w->spatial & ~(byte_ones << d)) | row->spatial;
        changed |= 1u << d;
    }
    return changed;
}

/* Reads the spatial loops that may differ from those of the point before; returns whether some do. */
SX_HD bool sx_core_reread_slots(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point,
                                uint32_t changed) {
    bool moved = false;
    for (uint32_t left = c->spread; left; left &= left - 1) {
        const int s = sx_core_low(left);
        const sx_core_loops *slot = &w->st.nest.slots[s], before = *slot;
        sx_core_read_slot_loops(c, w, point, s);
        if (slot->dims == before.dims && slot->n == before.n && slot->n_x == before.n_x &&
            !(sx_core_lane_of(w->spatial, s) & changed))
            continue;
        sx_core_set_slot(&c->model, &w->st, s);
        moved = true;
    }
    return moved;
}

/* Reads a point of which nothing is known. */
SX_HD void sx_core_read_first(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point) {
    const uint64_t *word = sx_compact_words_of(c, point);
    for (uint32_t k = 0; k < c->n_words; k++) w->checked.word[k] = word[k];
    for (int v = 0; v < SX_CORE_SPACE_TENSORS(c); v++) w->checked.tiles[v] = 0;
    sx_core_read_rows(c, w, point);
    sx_core_read_slots(c, w, point);
    w->checked.whole = sx_core_set_array(&c->model, &w->st);
    w->checked.known = true;
}

/* Reads a point of which only what differs from the point before is done again. */
SX_HD void sx_core_read_next(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point) {
    const uint32_t changed = sx_core_reread_rows(c, w, point);
    for (int v = 0; changed && v < SX_CORE_SPACE_TENSORS(c); v++)
        if (c->model.tensor[v].dims & changed) w->checked.tiles[v] = 0;
    if (sx_core_reread_slots(c, w, point, changed)) w->checked.whole = sx_core_set_array(&c->model, &w->st);
}

/* sx_core_check_point for a search, whose next point differs little from the one before. */
SX_HD bool sx_core_check_next(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point) {
    if (w->checked.known)
        sx_core_read_next(c, w, point);
    else
        sx_core_read_first(c, w, point);
    if (!w->checked.whole) return false;
    for (int s = 0; s < SX_CORE_SPACE_LEVELS(c); s++) {
        w->st.nest.keep[s] = point[s].keep;
        SX_UNROLL
        for (int v = 0; v < SX_CORE_SPACE_TENSORS(c); v++) {
            if (w->checked.tiles[v] > s) continue;
            sx_core_set_words(&c->model, &w->st, v, s);
            w->checked.tiles[v] = (uint8_t)(s + 1);
        }
        if (!sx_core_fits(&c->model, &w->st, s, point[s].keep)) return false;
    }
    return sx_core_keeps_all(c, point);
}
#endif

/* Scores the point of a state that is legal; false where a flow is not covered. */
SX_HD bool sx_core_finish_point(const sx_core_space *c, sx_core_work *w, const sx_compact_level *point,
                                sx_core_score *out) {
    const sx_core_model *p = &c->model;
    sx_core_read_loops(c, w, point);
    if (!sx_core_count_flows(p, &w->st)) return false;
    uint32_t kept[SX_CORE_TENSORS_AT_MOST];
    SX_UNROLL
    for (int v = 0; v < SX_CORE_N_TENSORS(p); v++) {
        kept[v] = sx_core_kept(p, &w->st.nest, v);
        sx_core_charge(p, &w->st, v, kept[v], w->charge + v * SX_CORE_CHARGE);
    }
    sx_core_finish(p, &w->st, w->charge, kept, out);
    return true;
}

#endif
