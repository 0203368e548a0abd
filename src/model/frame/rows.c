/* Reading a mapping into a frame: which levels have changed, the loops that are there, extents, children. */
#include "model/frame/state.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Whether `width` factors differ; width is a constant. Two at a time, each pair on its own: vectors would have to be
 * folded. */
static inline __attribute__((always_inline)) bool factors_differ(const uint32_t *a, const uint32_t *b,
                                                                 int width) {
    uint64_t x[SX_MAX_DIMS / 2], y[SX_MAX_DIMS / 2], differ = 0;
    memcpy(x, a, (size_t)width * sizeof *a);
    memcpy(y, b, (size_t)width * sizeof *b);
    for (int i = 0; i < width / 2; i++) differ |= x[i] ^ y[i];
    return differ != 0;
}

static inline bool orders_differ(const uint8_t *a, const uint8_t *b) {
    uint64_t x[2], y[2];
    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) != 0;
}

/* Lists the dimensions order[from..to) that have a loop; adds them to *seen. */
static inline int list_loops(const uint32_t *factor, const uint8_t *order, int from, int to, uint8_t *dim,
                             int n, uint32_t *seen) {
    for (int i = from; i < to; i++) {
        unsigned d = order[i] & (SX_MAX_DIMS - 1);
        *seen |= 1u << (order[i] & 31);
        dim[n] = (uint8_t)d;
        n += factor[d] != 1;
    }
    return n;
}

/* Reads the temporal loops of a level; false where their order is no permutation. */
static bool read_loops(sx_cost_frame *f, int s, const sx_mapping_level *at) {
    uint32_t seen = 0;
    f->loops[s].n =
        (uint8_t)list_loops(at->temporal, at->temporal_order, 0, f->n_dims, f->loops[s].dim, 0, &seen);
    if (s >= f->flat_below) f->flat_below = s + 1;
    return seen == (1u << f->n_dims) - 1;
}

/* The product of a level's spatial factors from one loop to another. */
static double product(const sx_frame_loops *slot, const uint32_t *factor, int from, int to) {
    double n = 1;
    for (int i = from; i < to; i++) n *= factor[slot->dim[i]];
    return n;
}

/* Reads the spatial loops of a level; false where their order is no permutation, or they are beyond all meshes. */
static bool read_slot(sx_cost_frame *f, int s, const sx_mapping_level *at) {
    sx_frame_loops *slot = &f->slots[s];
    uint32_t seen = 0;
    if (at->split > f->n_dims) return false;
    int n_x = list_loops(at->spatial, at->spatial_order, 0, at->split, slot->dim, 0, &seen);
    int n = list_loops(at->spatial, at->spatial_order, at->split, f->n_dims, slot->dim, n_x, &seen);
    slot->n_x = (uint8_t)n_x;
    slot->n = (uint8_t)n;
    f->slot_x[s] = product(slot, at->spatial, 0, n_x);
    f->slot_y[s] = product(slot, at->spatial, n_x, n);
    f->children[s] = f->slot_x[s] * f->slot_y[s];
    return seen == (1u << f->n_dims) - 1 && f->children[s] <= INT32_MAX;
}

/* The factors of a level as doubles, and its extents; width is a constant. */
static inline __attribute__((always_inline)) void set_row(sx_cost_frame *f, int s, int width) {
    double inner[SX_MAX_DIMS], temporal[SX_MAX_DIMS], spatial[SX_MAX_DIMS];
    memcpy(inner, sx_frame_inner(f, s), (size_t)width * sizeof *inner);
    for (int d = 0; d < width; d++) temporal[d] = f->seen[s].temporal[d];
    for (int d = 0; d < width; d++) spatial[d] = f->seen[s].spatial[d];
    for (int d = 0; d < width; d++) inner[d] *= spatial[d];
    memcpy(f->temporal[s], temporal, (size_t)width * sizeof *temporal);
    memcpy(f->spatial[s], spatial, (size_t)width * sizeof *spatial);
    memcpy(f->spread[s], inner, (size_t)width * sizeof *inner);
    for (int d = 0; d < width; d++) inner[d] *= temporal[d];
    memcpy(f->extent[s], inner, (size_t)width * sizeof *inner);
}

/* Whether the extents of a level differ from these. */
static bool extents_differ(const sx_cost_frame *f, int s, const double *extent) {
    bool differ = false;
    for (int d = 0; d < f->n_dims; d++) differ |= f->extent[s][d] != extent[d];
    return differ;
}

/* Rows of levels whose factors have changed, and of those in between; false where factors leave remainders. The factors
 * of other levels, all of an exact mapping, go with the same extents as before. */
static bool set_rows(sx_cost_frame *f, int first, int last) {
    double before[SX_MAX_DIMS];
    memcpy(before, f->extent[last], sizeof before);
    for (int s = first; s <= last; s++) {
        if (f->n_dims <= SX_MAX_DIMS / 2)
            set_row(f, s, SX_MAX_DIMS / 2);
        else
            set_row(f, s, SX_MAX_DIMS);
    }
    return !extents_differ(f, last, last == f->n_levels - 1 ? f->size : before);
}

/* The instances in use of every level, and the steps of time; false where they are beyond all meshes. */
static bool set_array(sx_cost_frame *f) {
    double x = 1, y = 1;
    for (int s = f->n_levels - 1; s >= 0; s--) {
        f->expand_x[s] = x;
        f->expand_y[s] = y;
        f->above[s] = x * y;
        f->clusters[s] = fmin((double)f->model->level[s].clusters, x * y);
        x *= f->slot_x[s];
        y *= f->slot_y[s];
    }
    for (int s = 0; s < f->n_levels; s++) {
        const sx_level *level = &f->model->level[s];
        f->leaking[s] = level->leak_share > 0 ? level->leak_share * f->above[level->gate] : f->above[s];
    }
    f->cycles = f->computes / (x * y);
    return x <= INT32_MAX && y <= INT32_MAX;
}

/* Marks the flows of all tensors as out of date. */
static void mark(sx_cost_frame *f, int below, uint32_t spread) {
    for (int v = 0; v < f->n_tensors; v++) {
        f->stale[v].spread |= spread;
        if (below > f->stale[v].below) f->stale[v].below = below;
    }
}

/* Marks the tiles of levels as out of date. */
static void mark_tiles(sx_cost_frame *f, int from, int to) {
    if (from < f->tiles_from) f->tiles_from = from;
    if (to > f->tiles_to) f->tiles_to = to;
    f->unchecked |= (1u << to) - (1u << from);
}

/* What a level has beside factors and orders, from `split` on. */
static inline uint64_t tail(const sx_mapping_level *at) {
    uint64_t bits;
    _Static_assert(offsetof(sx_mapping_level, split) + sizeof bits == sizeof(sx_mapping_level), "the tail");
    memcpy(&bits, &at->split, sizeof bits);
    return bits;
}

uint64_t sx_frame_directives(uint32_t tensors) {
    uint8_t all = (uint8_t)tensors;
    const sx_mapping_level level = {
        .no_temporal_reuse = all, .no_multicast = all, .rmw_first_update = all, .x_part = UINT16_MAX};
    return tail(&level);
}

/* Whether the mapping is of the model's size, without directives and axes that frames do not cover. */
static bool is_covered(const sx_cost_frame *f, const sx_mapping *m) {
    uint64_t tails = 0;
    for (int s = 0; s < f->n_levels; s++) tails |= tail(&m->level[s]);
    return m->n_levels == f->n_levels && m->n_dims == f->n_dims && m->n_tensors == f->n_tensors &&
           (tails & f->directives) == 0;
}

/* What has changed since the mapping before. */
typedef struct changes {
    int first, last;       /* the levels whose factors have, from and to; last is -1: none */
    int below;             /* temporal loops have below this level */
    uint32_t spread, keep; /* levels whose spatial loops have, and what they keep */
} changes;

/* Reads a level where it differs; false where it is malformed. width is a constant. */
static inline __attribute__((always_inline)) bool
read_level(sx_cost_frame *f, int s, const sx_mapping_level *at, int width, changes *c) {
    sx_mapping_level *seen = &f->seen[s];
    bool fresh = !f->known, good = true;
    bool temporal = fresh || factors_differ(at->temporal, seen->temporal, width);
    bool spatial = fresh || factors_differ(at->spatial, seen->spatial, width);
    bool order = fresh || orders_differ(at->temporal_order, seen->temporal_order);
    bool placed = fresh || orders_differ(at->spatial_order, seen->spatial_order),
         rest = tail(at) != tail(seen);
    if (!(temporal | spatial | order | placed | rest)) return true;
    bool none = !spatial && f->slots[s].n == 0; /* the layout of no loops */
    if (temporal || spatial) {
        if (c->last < 0) c->first = s;
        c->last = s;
    }
    if (temporal || order) {
        good = read_loops(f, s, at);
        c->below = s + 1;
    }
    if (spatial || placed || at->split != seen->split) {
        good &= read_slot(f, s, at);
        c->spread |= none ? 0 : 1u << s;
    }
    if (at->no_link_transfer != seen->no_link_transfer) c->spread |= 1u << s;
    if (fresh || at->keep != seen->keep) c->keep |= 1u << s;
    *seen = *at;
    return good;
}

/* Notes the levels that keep each tensor. */
static void read_keep(sx_cost_frame *f) {
    for (int v = 0; v < f->n_tensors; v++) {
        uint32_t kept = 0;
        for (int s = 0; s < f->n_levels; s++) kept |= (uint32_t)(f->seen[s].keep >> v & 1) << s;
        f->kept[v] = kept;
    }
}

bool sx_frame_read(sx_cost_frame *f, const sx_mapping *mapping) {
    changes c = {.last = -1};
    bool good = true;
    if (!is_covered(f, mapping)) return false;
    for (int s = 0; s < f->n_levels; s++) {
        if (f->n_dims <= SX_MAX_DIMS / 2)
            good &= read_level(f, s, &mapping->level[s], SX_MAX_DIMS / 2, &c);
        else
            good &= read_level(f, s, &mapping->level[s], SX_MAX_DIMS, &c);
    }
    if (c.last >= 0) {
        good = set_rows(f, c.first, c.last) && good;
        mark_tiles(f, c.first, f->known ? c.last : f->n_levels);
        if (c.below <= c.last) c.below = c.last + 1;
    }
    if (c.spread) {
        good &= set_array(f);
        f->spread_checked = false;
    }
    if (c.keep) read_keep(f);
    f->unchecked |= c.keep;
    f->checked &= c.last < 0 && !c.spread && !c.keep;
    if (c.spread || c.below) mark(f, c.below, c.spread);
    f->known = good;
    return good;
}
