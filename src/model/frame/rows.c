/* Reading a mapping into a frame: which levels have changed, the loops that are there, extents, children. */
#include "model/frame/state.h"

#include <string.h>

/* Whether n numbers of 4 bytes differ, compared in pairs. */
static inline bool factors_differ(const uint32_t *a, const uint32_t *b, int n) {
    uint64_t x, y, differ = 0;
    for (int i = 0; i < n; i += 2) {
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        differ |= x ^ y;
    }
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

/* Factors as doubles, and extents, from a level outward; false where factors leave remainders. */
static bool set_rows(sx_cost_frame *f, int from) {
    for (int s = from; s < f->n_levels; s++) {
        const double *inner = sx_frame_inner(f, s);
        for (int d = 0; d < f->n_dims; d++) {
            f->temporal[s][d] = f->seen[s].temporal[d];
            f->spatial[s][d] = f->seen[s].spatial[d];
            f->spread[s][d] = inner[d] * f->spatial[s][d];
            f->extent[s][d] = f->spread[s][d] * f->temporal[s][d];
        }
    }
    bool perfect = true;
    for (int d = 0; d < f->n_dims; d++) perfect &= f->extent[f->n_levels - 1][d] == f->size[d];
    return perfect;
}

/* The instances in use of every level, and the steps of time; false where they are beyond all meshes. */
static bool set_array(sx_cost_frame *f) {
    double x = 1, y = 1;
    for (int s = f->n_levels - 1; s >= 0; s--) {
        f->expand_x[s] = x;
        f->expand_y[s] = y;
        f->above[s] = x * y;
        x *= f->slot_x[s];
        y *= f->slot_y[s];
    }
    f->cycles = f->computes / (x * y);
    return x <= INT32_MAX && y <= INT32_MAX;
}

/* Marks the flows of all tensors as out of date. */
static void mark(sx_cost_frame *f, bool all, int below, uint32_t spread) {
    for (int v = 0; v < f->n_tensors; v++) {
        f->stale[v].all |= all;
        f->stale[v].spread |= spread;
        if (below > f->stale[v].below) f->stale[v].below = below;
    }
}

/* Whether the mapping is of the model's size, without directives that frames do not cover. */
static bool is_covered(const sx_cost_frame *f, const sx_mapping *m) {
    uint32_t directives = 0;
    for (int s = 0; s < f->n_levels; s++)
        directives |= m->level[s].no_temporal_reuse | m->level[s].no_multicast | m->level[s].rmw_first_update;
    return m->n_levels == f->n_levels && m->n_dims == f->n_dims && m->n_tensors == f->n_tensors &&
           (directives & f->all) == 0;
}

/* What has changed since the mapping before. */
typedef struct changes {
    int factors;     /* the first level whose factors have; n_levels: none */
    int below;       /* temporal loops have below this level */
    uint32_t spread; /* levels whose spatial loops have */
    bool keep;
} changes;

/* Reads a level where it differs; false where it is malformed. */
static inline bool read_level(sx_cost_frame *f, int s, const sx_mapping_level *at, changes *c) {
    sx_mapping_level *seen = &f->seen[s];
    bool fresh = !f->known, good = true;
    bool temporal = fresh || factors_differ(at->temporal, seen->temporal, f->n_dims);
    bool spatial = fresh || factors_differ(at->spatial, seen->spatial, f->n_dims);
    bool order = fresh || orders_differ(at->temporal_order, seen->temporal_order);
    bool layout = fresh || orders_differ(at->spatial_order, seen->spatial_order) || at->split != seen->split;
    if ((temporal || spatial) && s < c->factors) c->factors = s;
    if (temporal || order) {
        good = read_loops(f, s, at);
        c->below = s + 1;
    }
    if (spatial || layout) good &= read_slot(f, s, at);
    if (spatial || layout || at->no_link_transfer != seen->no_link_transfer) c->spread |= 1u << s;
    c->keep |= at->keep != seen->keep;
    if (temporal || order || spatial || layout)
        *seen = *at;
    else
        memcpy(&seen->split, &at->split, sizeof *seen - offsetof(sx_mapping_level, split));
    return good;
}

bool sx_frame_read(sx_cost_frame *f, const sx_mapping *mapping) {
    changes c = {.factors = f->n_levels};
    bool good = true;
    if (!is_covered(f, mapping)) return false;
    for (int s = 0; s < f->n_levels; s++) good &= read_level(f, s, &mapping->level[s], &c);
    if (!f->known || c.factors < f->n_levels) good = set_rows(f, f->known ? c.factors : 0) && good;
    if (!f->known || c.spread || c.factors < f->n_levels) good &= set_array(f);
    bool rows = !f->known || c.factors < f->n_levels;
    if (rows) f->rows_stale = true;
    if (rows || c.spread || c.keep) f->checked = false;
    mark(f, rows, c.below, c.spread);
    f->known = good;
    return good;
}
