/* Points of a map space in their one form: what follows from the genes, and bytes that are equal where points
 * are. */
#include "ir/axes.h"
#include "mapspace/map_parts.h"
#include "model/capacity.h"

#include <assert.h>
#include <string.h>

uint8_t *sx_map_banks(const sx_map_space *space, void *point, int level) {
    return (uint8_t *)point + space->banks_at + (size_t)level * SX_MAX_TENSORS;
}

void sx_map_get_factors(const sx_map_space *space, const void *point, int dim, uint32_t *factor) {
    for (int i = 0; i < space->n_slots; i++) {
        const sx_mapping_level *level = &sx_map_point(point)->level[space->slot[i].level];
        factor[i] = space->slot[i].spatial ? level->spatial[dim] : level->temporal[dim];
    }
}

void sx_map_set_factors(const sx_map_space *space, int dim, const uint32_t *factor, void *point) {
    for (int i = 0; i < space->n_slots; i++) sx_map_slot_factors(space, point, i)[dim] = factor[i];
}

uint32_t sx_map_levels_between(const sx_map_space *space, const uint32_t *a, const uint32_t *b) {
    uint32_t levels = 0;
    for (int i = 0; i < space->n_slots; i++) levels |= (uint32_t)(a[i] != b[i]) << space->slot[i].level;
    return levels;
}

int sx_map_loops(const sx_map_space *space, int level, const sx_mapping_level *at, uint8_t *loop) {
    int n = 0, n_dims = space->problem->n_dims;
    unsigned fixed = space->fixed_order[level];
    for (int i = 0; i < n_dims; i++) {
        uint8_t d = at->temporal_order[i];
        loop[n] = d;
        n += at->temporal[d] > 1 && !(fixed >> d & 1);
    }
    return n;
}

/* Lists of dimensions end here before they are copied: one more than there are may be written. */
typedef uint8_t dims[2 * SX_MAX_DIMS + 1];

/* Appends those dimensions of a list that have loops; without branches, which would be mispredicted. */
static inline int append_loops(uint8_t *to, int n, const uint8_t *list, int n_list, const uint32_t *factor) {
    for (int i = 0; i < n_list; i++) {
        to[n] = list[i];
        n += factor[list[i]] > 1;
    }
    return n;
}

/* Appends the dimensions that have no loop. */
static inline void append_rest(uint8_t *to, int n, int n_dims, const uint32_t *factor) {
    for (int d = 0; d < n_dims; d++) {
        to[n] = (uint8_t)d;
        n += factor[d] == 1;
    }
}

void sx_map_set_loops(const sx_map_space *space, int level, const uint8_t *loop, int n,
                      sx_mapping_level *at) {
    const sx_loop_limits *limits = &space->constraints.level[level].temporal;
    dims to;
    int k = append_loops(to, 0, limits->inner, limits->n_inner, at->temporal);
    for (int i = 0; i < n; i++) to[k++] = loop[i];
    k = append_loops(to, k, limits->outer, limits->n_outer, at->temporal);
    append_rest(to, k, space->problem->n_dims, at->temporal);
    memcpy(at->temporal_order, to, space->problem->n_dims);
}

/* Puts the temporal loops of a level in the order of a list of all dimensions. */
static void set_order(const sx_map_space *space, int level, const uint8_t *order, sx_mapping_level *at) {
    int n_dims = space->problem->n_dims, n = 0, n_rest = 0;
    if (space->fixed_order[level]) {
        uint8_t loop[SX_MAX_DIMS + 1];
        if (order != at->temporal_order) memcpy(at->temporal_order, order, (size_t)n_dims);
        n = sx_map_loops(space, level, at, loop);
        sx_map_set_loops(space, level, loop, n, at);
        return;
    }
    dims to, rest = {0};
    for (int i = 0; i < n_dims; i++) {
        to[n] = order[i];
        n += at->temporal[order[i]] > 1;
        rest[n_rest] = (uint8_t)i;
        n_rest += at->temporal[i] == 1;
    }
    memcpy(to + n, rest, SX_MAX_DIMS);
    memcpy(at->temporal_order, to, (size_t)n_dims);
}

unsigned sx_map_on_x(const sx_mapping_level *at) {
    unsigned x = 0;
    for (int i = 0; i < at->split; i++)
        if (at->spatial[at->spatial_order[i]] > 1) x |= 1u << at->spatial_order[i];
    return x;
}

/* Where loops of a constrained order lie on X, so do those inside them. */
static unsigned close_order(const sx_map_space *space, int level, unsigned loops, unsigned x) {
    const sx_loop_limits *limits = &space->constraints.level[level].spatial;
    unsigned after = loops, closed = 0; /* after: loops not yet passed, going outward */
    for (int i = 0; i < limits->n_inner; i++) {
        after &= ~(1u << limits->inner[i]);
        if (x & after) closed |= 1u << limits->inner[i];
    }
    unsigned last = 0;
    for (int i = 0; i < limits->n_outer; i++) last |= 1u << limits->outer[i];
    if (x & last) closed |= after & ~last;
    for (int i = 0; i < limits->n_outer; i++) {
        last &= ~(1u << limits->outer[i]);
        if (x & last) closed |= 1u << limits->outer[i];
    }
    return (x | closed) & loops;
}

/* Where the numbers of dimensions on X and on Y are limited, the last ones move to the other axis. */
static unsigned hold_split(const sx_map_space *space, int level, unsigned loops, unsigned x) {
    const sx_level_limits *limits = &space->constraints.level[level];
    int n_dims = space->problem->n_dims, n_inner = limits->spatial.n_inner;
    int others = n_dims - n_inner - limits->spatial.n_outer;
    int room_x = limits->split - n_inner;
    if (room_x <= 0 || room_x >= others) return x;
    unsigned listed = 0;
    for (int i = 0; i < n_inner; i++) listed |= 1u << limits->spatial.inner[i];
    for (int i = 0; i < limits->spatial.n_outer; i++) listed |= 1u << limits->spatial.outer[i];
    unsigned some = loops & ~listed;
    while (__builtin_popcount(x & some) > room_x) x &= ~(1u << (31 - __builtin_clz(x & some)));
    while (__builtin_popcount(~x & some) > others - room_x) x |= 1u << (31 - __builtin_clz(~x & some));
    return x;
}

/* Lays a level's spatial loops, `loops`, in the order of the dimensions: those in x on X. */
static void lay_plain(int n_dims, unsigned loops, unsigned x, sx_mapping_level *at) {
    uint8_t to[SX_MAX_DIMS];
    int split = __builtin_popcount(x), end[3] = {split + __builtin_popcount(loops & ~x), split, 0};
    for (int d = 0; d < n_dims; d++) to[end[(loops >> d & 1) + (x >> d & 1)]++] = (uint8_t)d;
    at->split = (uint8_t)split;
    at->x_part = 0;
    memcpy(at->spatial_order, to, (size_t)n_dims);
}

void sx_map_set_xy(const sx_map_space *space, int level, unsigned x, sx_mapping_level *at) {
    int n_dims = space->problem->n_dims;
    unsigned loops = 0;
    for (int d = 0; d < n_dims; d++) loops |= (unsigned)(at->spatial[d] > 1) << d;
    x = ((x & space->free_x[level]) | space->fixed_x[level]) & loops;
    const sx_level_limits *limits = &space->constraints.level[level];
    bool listed = limits->spatial.n_inner + limits->spatial.n_outer > 0;
    if (limits->split < 0 && !listed && !space->splits[level]) {
        lay_plain(n_dims, loops, x, at);
        return;
    }
    if (limits->split >= 0)
        x = hold_split(space, level, loops, x);
    else if (listed)
        x = close_order(space, level, loops, x);
    const uint8_t *order = space->spatial_order[level];
    dims to;
    int n = 0;
    sx_axis_split axes = {-1, 0};
    if (space->splits[level]) sx_axes_lay(at->spatial, n_dims, x, space->room[level], true, &axes);
    for (int i = 0; i < n_dims; i++) {
        to[n] = order[i];
        n += x >> order[i] & 1 && order[i] != axes.both;
    }
    if (axes.both >= 0) to[n++] = (uint8_t)axes.both;
    at->split = (uint8_t)n;
    at->x_part = axes.x_part;
    for (int i = 0; i < n_dims; i++) {
        to[n] = order[i];
        n += (int)((loops & ~x) >> order[i] & 1);
    }
    append_rest(to, n, n_dims, at->spatial);
    memcpy(at->spatial_order, to, (size_t)n_dims);
}

int sx_map_places(const sx_map_space *space, int slot, int dim, const void *point) {
    int level = space->slot[slot].level;
    if (space->slot[slot].spatial) return space->free_x[level] >> dim & 1 ? 2 : 1;
    if (space->fixed_order[level] >> dim & 1) return 1;
    const sx_mapping_level *at = &sx_map_point(point)->level[level];
    unsigned fixed = space->fixed_order[level];
    int n = at->temporal[dim] == 1;
    for (int d = 0; d < space->problem->n_dims; d++) n += at->temporal[d] > 1 && !(fixed >> d & 1);
    return n;
}

void sx_map_place(const sx_map_space *space, int slot, int dim, int place, void *point) {
    int level = space->slot[slot].level;
    sx_mapping_level *at = sx_map_level(point, level);
    if (space->slot[slot].spatial) {
        unsigned x = sx_map_on_x(at), bit = 1u << dim;
        sx_map_set_xy(space, level, place == 0 ? x | bit : x & ~bit, at);
        return;
    }
    uint8_t loop[SX_MAX_DIMS + 1];
    int n = sx_map_loops(space, level, at, loop), from = 0;
    if (!(space->fixed_order[level] >> dim & 1)) {
        while (loop[from] != dim) from++;
        memmove(loop + from, loop + from + 1, (size_t)(n - from - 1));
        memmove(loop + place + 1, loop + place, (size_t)(n - place - 1));
        loop[place] = (uint8_t)dim;
    }
    sx_map_set_loops(space, level, loop, n, at);
}

void sx_map_extents(const sx_map_space *space, const sx_mapping_level *at, uint32_t *extent) {
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint64_t reach = (uint64_t)extent[d] * at->spatial[d], size = space->problem->size[d];
        reach = (reach < size ? reach : size) * at->temporal[d];
        extent[d] = (uint32_t)(reach < size ? reach : size);
    }
}

bool sx_map_fits(const sx_map_space *space, int level, int tensor, uint64_t elements, unsigned banks) {
    return sx_level_banks(&space->model->level[level], tensor, (double)elements) <= banks;
}

void sx_map_normalize_banks(const sx_map_space *space, void *point) {
    if (!space->banks_at) return;
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < space->problem->n_dims; d++) extent[d] = 1;
    for (int s = 0; s < space->arch->n_levels; s++) {
        sx_mapping_level *at = sx_map_level(point, s);
        sx_map_extents(space, at, extent);
        if (!space->banked[s]) continue;
        const uint8_t *banks = sx_map_banks(space, point, s);
        unsigned keep = space->fixed_keep[s];
        for (unsigned left = space->banked[s]; left; left &= left - 1) {
            int v = __builtin_ctz(left);
            uint64_t words = sx_shape_words(&space->model->shape[v], extent);
            if (sx_map_fits(space, s, v, words, banks[v])) keep |= 1u << v;
        }
        at->keep = (uint8_t)keep;
    }
}

/* Whether a level has the one form of its loops: normalizing it again changes nothing. */
__attribute__((unused)) static bool is_normalized(const sx_map_space *space, int s,
                                                  const sx_mapping_level *at) {
    sx_mapping_level again = *at;
    uint8_t loop[SX_MAX_DIMS + 1];
    int n = sx_map_loops(space, s, at, loop);
    sx_map_set_loops(space, s, loop, n, &again);
    if (space->spatial_slot[s] >= 0) sx_map_set_xy(space, s, sx_map_on_x(at), &again);
    return memcmp(&again, at, sizeof again) == 0;
}

void sx_map_normalize_loops(const sx_map_space *space, void *point) {
    for (int s = 0; s < space->arch->n_levels; s++) {
        sx_mapping_level *at = sx_map_level(point, s);
        set_order(space, s, at->temporal_order, at);
    }
}

void sx_map_settle_level(const sx_map_space *space, int level, const uint8_t *order, unsigned x,
                         sx_mapping_level *at) {
    set_order(space, level, order, at);
    if (space->spatial_slot[level] >= 0) sx_map_set_xy(space, level, x, at);
    assert(is_normalized(space, level, at));
}

void sx_map_normalize_levels(const sx_map_space *space, uint32_t levels, void *point) {
    for (; levels; levels &= levels - 1) {
        int s = __builtin_ctz(levels);
        sx_mapping_level *at = sx_map_level(point, s);
        sx_map_settle_level(space, s, at->temporal_order, sx_map_on_x(at), at);
    }
    for (int s = 0; s < space->arch->n_levels; s++) assert(is_normalized(space, s, sx_map_level(point, s)));
    sx_map_normalize_banks(space, point);
}

void sx_map_normalize(const sx_map_space *space, void *point) {
    sx_map_normalize_levels(space, (1u << space->arch->n_levels) - 1, point);
}
