/* Witnesses: the mapping that stands for one that is passed over.
 *
 * The rules themselves are where the search applies them. Here each is applied to one complete mapping. A property test
 * (tests/property/test_witnesses.c) goes through all mappings of random spaces, and sees that each witness is legal, costs
 * the same bits, and that the last one of a chain of witnesses is what the search evaluates.
 *
 * Complexity: of orders one canonical form per class that is listed; else a step per level and dimension. */
#include "mappers/optimal/witness.h"

#include "mappers/optimal/leaf.h"
#include "mapspace/map_parts.h"

#include <string.h>

/* Gives every level the one distribution of its banks that keeps what it keeps; false where there is none. */
static bool set_banks(const sx_map_space *space, void *point) {
    sx_leaf leaf = {.space = space, .point = point};
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = 1;
    for (int s = 0; s < space->arch->n_levels; s++) {
        sx_mapping_level *at = sx_map_level(point, s);
        sx_map_extents(space, at, extent);
        if (!sx_leaf_keep(&leaf, s, at->keep, extent)) return false;
    }
    return true;
}

/* Gives a level that order of its list which is of the class of the one it has; false where none is. */
static bool set_order(const sx_map_space *space, sx_map_choices *choices, void *point, int level,
                      sx_status *failure) {
    sx_mapping_level *at = sx_map_level(point, level);
    uint32_t loops = sx_leaf_loops(space, at->temporal);
    uint8_t class[SX_MAX_DIMS], other[SX_MAX_DIMS];
    size_t n, i = 0;
    const uint8_t(*order)[SX_MAX_DIMS] = sx_leaf_orders_of(space, choices, point, level, &n);
    if (!order) *failure = sx_orders_failure(n);
    if (!order) return false;
    memcpy(class, at->temporal_order, sizeof class);
    sx_orders_canonical(space->orders, loops, class);
    for (; n > 1 && i < n; i++) {
        memcpy(other, order[i], sizeof other);
        sx_orders_canonical(space->orders, loops, other);
        if (memcmp(class, other, (size_t)__builtin_popcount(loops)) == 0) break;
    }
    if (i == n) return false;
    memcpy(at->temporal_order, order[i], SX_MAX_DIMS);
    return true;
}

/* The same for all levels where orders matter, or for those where they do not. */
static bool set_orders(const sx_witness_maker *maker, bool matters, void *point, sx_status *failure) {
    const sx_map_space *space = maker->space;
    bool spread = sx_leaf_loops(space, sx_map_level(point, 0)->spatial) != 0, good = true;
    for (int s = 0; s < space->arch->n_levels && good; s++)
        if (sx_map_order_matters(space, s, spread) == matters)
            good = set_order(space, maker->choices, point, s, failure);
    return good;
}

/* Lays the spatial loops of every level whose layout no cost can tell in the first way that has room; false where none
 * has. */
static bool set_layouts(const sx_witness_maker *maker, void *point) {
    const sx_map_space *space = maker->space;
    uint32_t windows = sx_leaf_windows(space->model);
    for (int s = 0; s < space->arch->n_levels; s++) {
        const uint32_t *factor = sx_map_level(point, s)->spatial;
        uint32_t loops = sx_leaf_loops(space, factor);
        size_t n, i = 0;
        if (space->spatial_slot[s] < 0 || sx_leaf_layout_matters(space, s, loops, windows)) continue;
        const uint16_t *x = sx_map_layouts_of(maker->choices, s, loops, &n);
        while (x && i < n && !sx_map_layout_fits(space, s, factor, x[i])) i++;
        if (!x || i == n) return false;
        sx_map_set_layout(space, s, x[i], point);
    }
    return true;
}

/* Moves the first loop outward that may move. Only mappings whose factors divide have such loops. */
static void move_loop(const sx_witness_maker *maker, void *point) {
    const sx_map_space *space = maker->space;
    if (!maker->bound || !sx_mapping_perfect(sx_map_point(point), space->problem)) return;
    for (int s = 0; s + 1 < space->arch->n_levels; s++)
        if (sx_bound_move_loop(maker->bound, s, sx_map_level(point, 0))) return;
}

sx_witness sx_witness_make(const sx_witness_maker *maker, sx_skip_rule rule, void *point,
                           sx_status *failure) {
    struct {
        sx_mapping mapping;
        uint8_t banks[SX_MAX_LEVELS * SX_MAX_TENSORS];
    } before;
    size_t size = maker->space->space.point_size;
    bool good = true;
    memcpy(&before, point, size);
    switch (rule) {
    case SX_SKIP_BANKS:
        good = set_banks(maker->space, point);
        break;
    case SX_SKIP_ORDER:
    case SX_SKIP_INNERMOST:
        good = set_orders(maker, rule == SX_SKIP_ORDER, point, failure);
        break;
    case SX_SKIP_LAYOUT:
        good = set_layouts(maker, point);
        break;
    default:
        move_loop(maker, point);
    }
    if (!good) return SX_WITNESS_NONE;
    sx_map_normalize(maker->space, point);
    return memcmp(&before, point, size) == 0 ? SX_WITNESS_ITSELF : SX_WITNESS_OTHER;
}

bool sx_point_canonical(const sx_map_space *space, sx_map_choices *choices, void *point, sx_status *failure) {
    const sx_witness_maker maker = {.space = space, .choices = choices};
    for (int rule = SX_SKIP_BANKS; rule <= SX_SKIP_INNERMOST; rule++)
        if (sx_witness_make(&maker, (sx_skip_rule)rule, point, failure) == SX_WITNESS_NONE) return false;
    return space->space.type->check(&space->space, point) == 0;
}
