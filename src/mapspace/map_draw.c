/* Drawing constructions of a map space: every dimension's factors uniformly over all splits, every order
 * uniformly over those its level allows, spatial dimensions on X or Y, kept tensors and shares of banks
 * likewise: the uniform distribution over raw points. One random number per dimension and slot and per other
 * gene; O(dimensions * slots + levels * dimensions). */
#include "mapspace/map_parts.h"

#include <string.h>

/* Puts the first n items in a random order. */
static void shuffle_items(sx_rng *rng, uint8_t *item, int n) {
    if (n < 2) return;
    uint64_t ways = 1;
    for (int i = 2; i <= n; i++) ways *= (uint64_t)i;
    uint64_t index = sx_rng_below(rng, ways);
    for (int i = n; i > 1; i--) {
        uint64_t next = index / (uint64_t)i, j = index - next * (uint64_t)i;
        uint8_t swap = item[i - 1];
        item[i - 1] = item[j];
        item[j] = swap;
        index = next;
    }
}

static void draw_order(const sx_map_space *space, sx_rng *rng, int level, void *point) {
    uint8_t loop[SX_MAX_DIMS + 1];
    sx_mapping_level *at = sx_map_level(point, level);
    int n = sx_map_loops(space, level, at, loop);
    shuffle_items(rng, loop, n);
    sx_map_set_loops(space, level, loop, n, at);
}

static void draw_parallel(const sx_map_space *space, sx_rng *rng, int level, void *point) {
    unsigned x = space->free_x[level] ? (unsigned)(sx_rng_next(rng) >> 48) : 0;
    sx_map_set_xy(space, level, x, sx_map_level(point, level));
}

static void draw_keep(const sx_map_space *space, sx_rng *rng, int level, void *point) {
    unsigned free = space->free_keep[level], bits = (unsigned)(sx_rng_next(rng) >> 56);
    sx_map_level(point, level)->keep = (uint8_t)(space->fixed_keep[level] | (bits & free));
}

/* Distributes a level's banks, at least one to each tensor, every way equally likely: cuts between banks, none
 * twice (Floyd's sampling). */
static void draw_banks(const sx_map_space *space, sx_rng *rng, int level, void *point) {
    uint32_t n = space->arch->level[level].banks;
    int parts = __builtin_popcount(space->banked[level]), n_cuts = 0;
    uint32_t cut[SX_MAX_TENSORS];
    for (uint32_t j = n - (uint32_t)parts + 1; j < n; j++) {
        uint32_t at = 1 + (uint32_t)sx_rng_below(rng, j);
        for (int i = 0; i < n_cuts; i++)
            if (cut[i] == at) {
                at = j;
                break;
            }
        int i = n_cuts++;
        for (; i > 0 && cut[i - 1] > at; i--) cut[i] = cut[i - 1];
        cut[i] = at;
    }
    uint8_t *banks = sx_map_banks(space, point, level);
    uint32_t from = 0;
    int i = 0;
    for (unsigned left = space->banked[level]; left; left &= left - 1, i++) {
        uint32_t to = i < n_cuts ? cut[i] : n;
        banks[__builtin_ctz(left)] = (uint8_t)(to - from);
        from = to;
    }
}

/* Draws a dimension's factors; loops that were none before come to random places. */
static void draw_tile(const sx_map_space *space, sx_rng *rng, int dim, void *point) {
    uint32_t old[SX_MAX_SLOTS], factor[SX_MAX_SLOTS];
    sx_map_get_factors(space, point, dim, old);
    sx_factors_draw(space->factors[dim], rng, factor);
    sx_map_set_factors(space, dim, factor, point);
    for (int i = 0; i < space->n_slots; i++)
        if (old[i] == 1 && factor[i] > 1) {
            uint64_t places = (uint64_t)sx_map_places(space, i, dim, point);
            sx_map_place(space, i, dim, (int)sx_rng_below(rng, places), point);
        }
    sx_map_normalize_levels(space, sx_map_levels_between(space, old, factor), point);
}

/* Draws a gene of a normalized point, which stays one. */
static void draw_gene(const sx_map_space *space, sx_rng *rng, sx_gene gene, void *point) {
    switch ((enum sx_map_axis)gene.axis) {
    case SX_AXIS_TILE:
        draw_tile(space, rng, gene.which, point);
        break;
    case SX_AXIS_ORDER:
        draw_order(space, rng, gene.which, point);
        break;
    case SX_AXIS_PARALLEL:
        draw_parallel(space, rng, gene.which, point);
        break;
    case SX_AXIS_KEEP:
        draw_keep(space, rng, gene.which, point);
        break;
    case SX_AXIS_BANKS:
        draw_banks(space, rng, gene.which, point);
        sx_map_normalize_banks(space, point);
        break;
    }
}

void sx_map_draw_rest(const sx_map_space *space, sx_rng *rng, void *point) {
    for (int s = 0; s < space->arch->n_levels; s++) {
        draw_order(space, rng, s, point);
        if (space->spatial_slot[s] >= 0) draw_parallel(space, rng, s, point);
        if (space->banked[s]) draw_banks(space, rng, s, point);
    }
    sx_map_normalize_banks(space, point);
}

void sx_map_draw_keeps(const sx_map_space *space, sx_rng *rng, void *point) {
    for (int s = 0; s < space->arch->n_levels; s++)
        if (space->free_keep[s]) draw_keep(space, rng, s, point);
}

void sx_map_draw(const sx_space *base, sx_rng *rng, void *point) {
    const sx_map_space *space = sx_map_cast(base);
    memcpy(point, space->blank, base->point_size);
    sx_map_draw_keeps(space, rng, point);
    for (size_t i = 0; i < base->n_genes && base->gene[i].axis == SX_AXIS_TILE; i++) {
        uint32_t factor[SX_MAX_SLOTS];
        sx_factors_draw(space->factors[base->gene[i].which], rng, factor);
        sx_map_set_factors(space, base->gene[i].which, factor, point);
    }
    sx_map_draw_rest(space, rng, point);
}

void sx_map_redraw(const sx_space *base, sx_rng *rng, size_t gene, void *point) {
    draw_gene(sx_map_cast(base), rng, base->gene[gene], point);
}
