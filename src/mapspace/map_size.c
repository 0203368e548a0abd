/* How many points a map space has, and its points by number. The account follows Mind Mappings (section 2):
 * what is chosen in how many ways, their product, and then what reductions that lose nothing leave of it. */
#include "mapspace/map_size.h"

#include "mapspace/map_parts.h"
#include "space/cardinal.h"

#include <math.h>
#include <string.h>

/* n over k; exact below 2^64. */
static uint64_t binomial_of(uint64_t n, uint64_t k) {
    uint64_t ways = 1;
    for (uint64_t i = 1; i <= k; i++) ways = ways * (n - k + i) / i;
    return ways;
}

/* A level that cannot have two loops, such as one that keeps nothing, has no order to choose. */
sx_u128 sx_map_raw_orders(const sx_map_space *space, int level) {
    sx_u128 ways = 1;
    int n = 0, loops = 0;
    for (int d = 0; d < space->problem->n_dims; d++) {
        if (space->fixed_order[level] >> d & 1) continue;
        n++;
        loops += space->max[d][space->temporal_slot[level]] > 1;
    }
    for (; n > 1 && loops > 1; n--) ways *= (unsigned)n;
    return ways;
}

sx_u128 sx_map_raw_layouts(const sx_map_space *space, int level) {
    return (sx_u128)1 << __builtin_popcount(space->free_x[level]);
}

sx_u128 sx_map_raw_keeps(const sx_map_space *space, int level) {
    return (sx_u128)1 << __builtin_popcount(space->free_keep[level]);
}

sx_u128 sx_map_raw_banks(const sx_map_space *space, int level) {
    int parts = __builtin_popcount(space->banked[level]);
    return parts ? binomial_of(space->arch->level[level].banks - 1u, (uint64_t)parts - 1) : 1;
}

/* The splits of a dimension where spatial factors are not held to their level's fan-out. */
static sx_status raw_factors(const sx_map_space *space, int d, sx_cardinal *out) {
    uint32_t max[SX_MAX_SLOTS];
    bool closed = false;
    for (int l = 0; l < space->arch->n_levels; l++) {
        const sx_level_limits *level = &space->constraints.level[l];
        if (space->spatial_slot[l] >= 0) max[space->spatial_slot[l]] = closed ? 1 : level->spatial.max[d];
        closed |= level->spatial.rest[d];
        max[space->temporal_slot[l]] = closed ? 1 : level->temporal.max[d];
        closed |= level->temporal.rest[d];
    }
    sx_factors *factors;
    SX_TRY(sx_factors_new(space->problem->size[d], space->n_slots, space->min[d], max,
                          space->options.remainders, &factors));
    *out = sx_cardinal_times(*out, sx_cardinal_of(sx_factors_count(factors)));
    sx_factors_free(factors);
    return SX_OK;
}

/* Adds a line to the account. */
static void add_line(sx_map_space *space, const char *name, const char *about, bool component,
                     sx_cardinal count, double error) {
    space->count[space->n_counts++] = (sx_size){name, about, component, count, error};
}

/* The product over all levels of a part of the raw size. */
static sx_cardinal over_levels(const sx_map_space *space, sx_u128 (*part)(const sx_map_space *, int)) {
    sx_cardinal product = sx_cardinal_of(1);
    for (int s = 0; s < space->arch->n_levels; s++)
        product = sx_cardinal_times(product, sx_cardinal_of(part(space, s)));
    return product;
}

/* At most a given number of sets of tensors can be kept by dealing out banks. */
static sx_u128 bank_masks(const sx_map_space *space, int level) {
    sx_u128 sets = (sx_u128)1 << __builtin_popcount(space->banked[level] & ~space->fixed_keep[level]);
    sx_u128 deals = sx_map_raw_banks(space, level);
    return sets < deals ? sets : deals;
}

/* Fills the account. */
static SX_MUST_USE sx_status fill_account(sx_map_space *space) {
    static const struct {
        const char *name, *about;
        sx_u128 (*part)(const sx_map_space *, int);
    } parts[] = {
        {"orders", "orders of the temporal loops of every level", sx_map_raw_orders},
        {"x-y", "spatial dimensions on X or on Y", sx_map_raw_layouts},
        {"keep", "tensors that levels keep or bypass", sx_map_raw_keeps},
        {"banks", "shares of the banks of levels among tensors", sx_map_raw_banks},
    };
    enum { PARTS = sizeof parts / sizeof *parts };
    sx_cardinal factors = sx_cardinal_of(1), held = factors, each[PARTS], raw, array, stored;
    for (int d = 0; d < space->problem->n_dims; d++) {
        SX_TRY(raw_factors(space, d, &factors));
        held = sx_cardinal_times(held, sx_cardinal_of(sx_factors_count(space->factors[d])));
    }
    raw = factors;
    for (int i = 0; i < PARTS; i++) {
        each[i] = over_levels(space, parts[i].part);
        raw = sx_cardinal_times(raw, each[i]);
    }
    array = sx_cardinal_times(held, sx_cardinal_times(each[0], each[1]));
    stored = sx_cardinal_times(each[2], each[3]);
    sx_map_reduced reduced;
    SX_TRY(sx_map_reduce(space, &array, &reduced));
    space->n_counts = 0;
    add_line(space, "factors", "splits of all dimensions over levels and arrays", true, factors, 0);
    for (int i = 0; i < PARTS; i++)
        if (i == 0 || each[i].log10 > 0) add_line(space, parts[i].name, parts[i].about, true, each[i], 0);
    add_line(space, "raw", "product of these", false, raw, 0);
    add_line(space, "array", "each spatial factor fits its array", false, sx_cardinal_times(array, stored),
             0);
    add_line(space, "unit-loops", "loops of one iteration have no place in an order, nor on X or Y", false,
             sx_cardinal_times(reduced.units, stored), reduced.units_error);
    sx_cardinal classes = sx_cardinal_times(reduced.classes, stored);
    add_line(space, "order-classes", "orders with equal cost count once", false, classes,
             reduced.classes_error);
    if (each[3].log10 == 0) return SX_OK;
    stored = sx_cardinal_times(each[2], over_levels(space, bank_masks));
    add_line(space, "bank-masks", "shares of banks that keep the same tensors count once (at most)", false,
             sx_cardinal_times(reduced.classes, stored), reduced.classes_error);
    return SX_OK;
}

sx_status sx_map_count(const sx_space *base) {
    sx_map_space *space = (sx_map_space *)(uintptr_t)(const void *)base;
    pthread_mutex_lock(&space->lock);
    sx_status status = space->n_counts ? SX_OK : fill_account(space);
    pthread_mutex_unlock(&space->lock);
    return status;
}

bool sx_map_size(const sx_space *base, size_t index, sx_size *out) {
    const sx_map_space *space = sx_map_cast(base);
    sx_status status = sx_map_count(base);
    bool there = !status && index < space->n_counts;
    if (there) *out = space->count[index];
    sx_status_free(status);
    return there;
}

/* Takes a digit off a number. */
static sx_u128 take_digit(sx_u128 *index, sx_u128 ways) {
    sx_u128 value = *index % ways;
    *index /= ways;
    return value;
}

/* Sets a level's order to number `index` of those of all its dimensions that are free. */
static void set_order(const sx_map_space *space, int level, sx_u128 index, sx_mapping_level *at) {
    uint8_t left[SX_MAX_DIMS];
    int n = 0, n_dims = space->problem->n_dims, to = 0;
    for (int d = 0; d < n_dims; d++)
        if (!(space->fixed_order[level] >> d & 1)) left[n++] = (uint8_t)d;
    for (; n > 0; n--) {
        int i = (int)take_digit(&index, (unsigned)n);
        at->temporal_order[to++] = left[i];
        memmove(left + i, left + i + 1, (size_t)(n - i - 1));
    }
    for (int d = 0; d < n_dims; d++)
        if (space->fixed_order[level] >> d & 1) at->temporal_order[to++] = (uint8_t)d;
}

/* The bits of a mask that a number chooses. */
static unsigned deposit_bits(sx_u128 number, unsigned mask) {
    unsigned chosen = 0;
    for (; mask; mask &= mask - 1, number >>= 1)
        if (number & 1) chosen |= mask & -mask;
    return chosen;
}

/* Distributes a level's banks in way number `index`. */
static void set_banks(const sx_map_space *space, int level, sx_u128 index, uint8_t *banks) {
    uint32_t left = space->arch->level[level].banks;
    for (unsigned more = space->banked[level]; more; more &= more - 1) {
        uint64_t others = (uint64_t)__builtin_popcount(more) - 1;
        uint32_t share = 1;
        for (; others; share++) {
            uint64_t ways = binomial_of(left - share - 1, others - 1);
            if (index < ways) break;
            index -= ways;
        }
        share = others ? share : left;
        banks[__builtin_ctz(more)] = (uint8_t)share;
        left -= share;
    }
}

bool sx_map_at(const sx_space *base, sx_u128 index, void *point) {
    const sx_map_space *space = sx_map_cast(base);
    int n_dims = space->problem->n_dims, n_levels = space->arch->n_levels;
    sx_cardinal all = sx_cardinal_of(1);
    memcpy(point, space->blank, base->point_size);
    for (int d = 0; d < n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        sx_u128 ways = sx_factors_count(space->factors[d]);
        all = sx_cardinal_times(all, sx_cardinal_of(ways));
        sx_factors_at(space->factors[d], take_digit(&index, ways), factor);
        sx_map_set_factors(space, d, factor, point);
    }
    for (int s = 0; s < n_levels; s++) {
        sx_mapping_level *at = sx_map_level(point, s);
        const sx_u128 ways[] = {sx_map_raw_orders(space, s), sx_map_raw_layouts(space, s),
                                sx_map_raw_keeps(space, s), sx_map_raw_banks(space, s)};
        for (int i = 0; i < 4; i++) all = sx_cardinal_times(all, sx_cardinal_of(ways[i]));
        set_order(space, s, take_digit(&index, ways[0]), at);
        unsigned x = deposit_bits(take_digit(&index, ways[1]), space->free_x[s]);
        if (space->spatial_slot[s] >= 0) sx_map_set_xy(space, s, x, at);
        at->keep =
            (uint8_t)(space->fixed_keep[s] | deposit_bits(take_digit(&index, ways[2]), space->free_keep[s]));
        sx_u128 deal = take_digit(&index, ways[3]);
        if (space->banked[s]) set_banks(space, s, deal, sx_map_banks(space, point, s));
    }
    sx_map_normalize(space, point);
    return index == 0 && all.exact;
}
