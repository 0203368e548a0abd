#include "mappers/submap.h"

#include "base/status.h"
#include "mapspace/map_parts.h"
#include "model/capacity.h"
#include "model/core_score.h"

#include <assert.h>
#include <string.h>

enum { MAX_LISTED = 8 /* loops of one level whose classes of orders are listed */ };

/* Finds what a level may keep: where it is not banked, whatever the factors are. */
static void find_keeps(sx_submap *m, int level) {
    uint32_t extent[SX_MAX_DIMS] = {0};
    for (int d = 0; m->space->banked[level] && d < m->space->problem->n_dims; d++) {
        uint64_t reach = sx_mapping_extent(m->point, level, d), size = m->space->problem->size[d];
        extent[d] = (uint32_t)(reach < size ? reach : size);
    }
    m->level[level].n_keeps = sx_map_keeps_of(m->space, level, extent, m->level[level].keep);
}

void sx_submap_begin(sx_submap *m, sx_rng *rng) {
    m->space->space.type->draw(&m->space->space, rng, m->point);
    for (int s = 0; s < m->space->arch->n_levels; s++) find_keeps(m, s);
}

/* a * b, or UINT64_MAX. */
static uint64_t saturated_product(uint64_t a, uint64_t b) {
    uint64_t out;
    return __builtin_mul_overflow(a, b, &out) ? UINT64_MAX : out;
}

/* Finds how the spatial loops of a level can lie on the array; false where they do not fit. */
static bool find_layouts(sx_submap *m, int level, sx_worker *worker) {
    const sx_mapping_level *at = sx_map_level(m->point, level);
    double room_x = (double)m->space->room[level][0], room_y = (double)m->space->room[level][1], all = 1;
    sx_submap_level *l = &m->level[level];
    uint32_t loops = 0;
    for (int d = 0; d < m->space->problem->n_dims; d++) {
        loops |= (uint32_t)(at->spatial[d] > 1) << d;
        all *= at->spatial[d];
    }
    l->n_layouts = 0;
    if (all > room_x * room_y) return false;
    size_t n;
    const uint16_t *x = sx_map_layouts_of(m->choices, level, loops, &n);
    if (!x) sx_worker_fail(worker, sx_error_memory());
    for (size_t i = 0; x && i < n && l->n_layouts < SX_MAX_SPREADS; i++) {
        if (sx_map_layout_fits(m->space, level, at->spatial, x[i])) l->on_x[l->n_layouts++] = x[i];
    }
    return l->n_layouts > 0;
}

bool sx_submap_lay(sx_submap *m, sx_worker *worker) {
    m->n_layouts = 1;
    for (int s = 0; s < m->space->arch->n_levels; s++) {
        if (m->space->spatial_slot[s] < 0) continue;
        if (!find_layouts(m, s, worker)) return false;
        m->n_layouts = saturated_product(m->n_layouts, (uint64_t)m->level[s].n_layouts);
    }
    return true;
}

/* Finds the orders of all levels' loops; false when memory is out. */
static bool find_orders(sx_submap *m, sx_worker *worker) {
    bool spread = false;
    m->n_orders = 1;
    for (int d = 0; d < m->space->problem->n_dims; d++)
        spread = spread || sx_map_level(m->point, 0)->spatial[d] > 1;
    for (int s = 0; s < m->space->arch->n_levels; s++) {
        sx_submap_level *l = &m->level[s];
        bool matters = sx_map_order_matters(m->space, s, spread);
        const uint32_t *factor = sx_map_level(m->point, s)->temporal;
        size_t n = 1;
        l->order = NULL;
        l->loops = 0;
        for (int d = 0; d < m->space->problem->n_dims; d++) l->loops |= (uint32_t)(factor[d] > 1) << d;
        bool listed = m->classes && __builtin_popcount(l->loops) <= MAX_LISTED;
        if (listed || !matters) {
            l->order = sx_map_orders_of(m->choices, s, l->loops, matters, &n);
            if (!l->order) sx_worker_fail(worker, sx_orders_failure(n));
            if (!l->order) return false;
        } else {
            for (int i = __builtin_popcount(l->loops); i > 1; i--) n *= (size_t)i;
        }
        l->n_orders = n;
        m->n_orders = saturated_product(m->n_orders, n);
    }
    return true;
}

/* Counts the choices of what to keep that the factorisation has. */
static void find_masks(sx_submap *m) {
    uint64_t n = 1;
    for (int s = 0; s < m->space->arch->n_levels; s++) {
        if (m->space->banked[s]) find_keeps(m, s);
        if (n < SX_MAX_MASKS) n *= (uint64_t)m->level[s].n_keeps;
    }
    m->n_masks = n < SX_MAX_MASKS ? n : SX_MAX_MASKS;
    memset(m->fits, SX_FIT_UNKNOWN, m->n_masks);
    m->spreads = SX_FIT_UNKNOWN;
}

/* Sets how far the tiles of all levels reach. */
static void find_extents(sx_submap *m) {
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = 1;
    for (int s = 0; s < m->space->arch->n_levels; s++) {
        sx_map_extents(m->space, sx_map_level(m->point, s), extent);
        memcpy(m->level[s].extent, extent, sizeof extent);
        memset(m->level[s].fits, SX_FIT_UNKNOWN, (size_t)m->level[s].n_keeps);
    }
}

bool sx_submap_open(sx_submap *m, sx_worker *worker) {
    if (!find_orders(m, worker)) return false;
    find_masks(m);
    find_extents(m);
    return true;
}

/* Puts a level's loops in permutation number `index`. */
static void permute_loops(uint32_t loops, uint64_t index, uint8_t *order, int n_dims) {
    uint8_t loop[SX_MAX_DIMS];
    unsigned n = 0;
    for (int d = 0; d < n_dims; d++)
        if (loops >> d & 1) loop[n++] = (uint8_t)d;
    for (; n; n--) {
        unsigned i = (unsigned)(index % n);
        index /= n;
        *order++ = loop[i];
        memmove(loop + i, loop + i + 1, n - i - 1);
    }
    for (int d = 0; d < n_dims; d++)
        if (!(loops >> d & 1)) *order++ = (uint8_t)d;
}

void sx_submap_set_orders(sx_submap *m, uint64_t index, sx_rng *rng) {
    int n_dims = m->space->problem->n_dims;
    for (int s = 0; s < m->space->arch->n_levels; s++) {
        const sx_submap_level *l = &m->level[s];
        uint64_t digit = rng ? sx_rng_below(rng, l->n_orders) : index % l->n_orders;
        index /= l->n_orders;
        uint8_t *order = sx_map_level(m->point, s)->temporal_order;
        if (l->order)
            memcpy(order, l->order[digit], (size_t)n_dims);
        else
            permute_loops(l->loops, digit, order, n_dims);
    }
    sx_map_normalize_loops(m->space, m->point);
}

void sx_submap_set_layout(sx_submap *m, uint64_t index) {
    for (int s = 0; s < m->space->arch->n_levels; s++) {
        const sx_submap_level *l = &m->level[s];
        if (m->space->spatial_slot[s] < 0) continue;
        sx_map_set_xy(m->space, s, l->on_x[index % (uint64_t)l->n_layouts], sx_map_level(m->point, s));
        index /= (uint64_t)l->n_layouts;
    }
    sx_map_normalize_banks(m->space, m->point);
}

/* Lets all levels keep choice number `index`. */
static void set_keeps(sx_submap *m, unsigned index) {
    for (int s = 0; s < m->space->arch->n_levels; s++) {
        const sx_submap_level *l = &m->level[s];
        unsigned n = (unsigned)l->n_keeps;
        if (n == 1 && !m->space->banked[s]) continue;
        const sx_map_keep *choice = &l->keep[n - 1 - index % n];
        index /= n;
        sx_map_level(m->point, s)->keep = choice->keep;
        if (m->space->banked[s])
            memcpy(sx_map_banks(m->space, m->point, s), choice->banks, sizeof choice->banks);
    }
}

/* Whether a level may keep its choice number i. */
static bool level_fits(sx_submap *m, int level, int i) {
    sx_submap_level *l = &m->level[level];
    if (l->fits[i] == SX_FIT_UNKNOWN)
        l->fits[i] =
            sx_level_keeps(m->space->model, level, l->keep[i].keep, l->extent) ? SX_FIT_YES : SX_FIT_NO;
    return l->fits[i] == SX_FIT_YES;
}

/* Whether all that a choice keeps fits, and keeps every tensor somewhere. */
static bool tiles_fit(sx_submap *m, unsigned index) {
    unsigned kept = 0;
    for (int s = 0; s < m->space->arch->n_levels; s++) {
        unsigned n = (unsigned)m->level[s].n_keeps, i = n - 1 - index % n;
        if (!level_fits(m, s, (int)i)) return false;
        kept |= m->level[s].keep[i].keep;
        index /= n;
    }
    return kept == (1u << m->space->problem->n_tensors) - 1;
}

/* Legality of dense mappings is that of the tiles, level by level, and that of the array, whatever is kept. */
int sx_submap_fits(sx_submap *m, uint64_t index) {
    const sx_model *model = m->space->model;
    if (m->fits[index] != SX_FIT_UNKNOWN || m->space->shares || m->space->banks_at || model->sparse ||
        model->range || model->formats)
        return m->fits[index];
    if (!tiles_fit(m, (unsigned)index))
        m->fits[index] = SX_FIT_NO;
    else
        m->fits[index] = m->spreads;
    return m->fits[index];
}

bool sx_submap_keep(sx_submap *m, uint64_t index) {
    int fits = sx_submap_fits(m, index);
    if (fits == SX_FIT_NO) return false;
    set_keeps(m, (unsigned)index);
    if (fits == SX_FIT_UNKNOWN)
        m->fits[index] =
            m->space->space.type->check(&m->space->space, m->point) == 0 ? SX_FIT_YES : SX_FIT_NO;
    if (m->spreads == SX_FIT_UNKNOWN) m->spreads = m->fits[index];
    assert((m->fits[index] == SX_FIT_YES) == (m->space->space.type->check(&m->space->space, m->point) == 0));
    return m->fits[index] == SX_FIT_YES;
}

uint64_t sx_submap_kept(const sx_submap *m, uint64_t index) {
    unsigned left = (unsigned)index;
    uint64_t levels = 0;
    for (int s = 0; s < m->space->arch->n_levels; s++) {
        unsigned n = (unsigned)m->level[s].n_keeps;
        levels |= sx_kept_at(s, m->level[s].keep[n - 1 - left % n].keep);
        left /= n;
    }
    return levels;
}
