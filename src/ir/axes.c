#include "ir/axes.h"

/* a * b, no more than 2^32 - 1. */
static uint64_t capped_product(uint64_t a, uint64_t b) {
    uint64_t product = a * b;
    return product > UINT32_MAX ? UINT32_MAX : product;
}

/* The largest divisor of a factor between 2 and `most`; 1 where there is none. */
static uint32_t part_within(uint32_t factor, uint64_t most) {
    uint32_t part = factor / 2 < most ? factor / 2 : (uint32_t)most;
    if (part > UINT16_MAX) part = UINT16_MAX;
    while (part > 1 && factor % part) part--;
    return part;
}

bool sx_axes_lay(const uint32_t *factor, int n_dims, unsigned x, const uint64_t room[2], bool split,
                 sx_axis_split *out) {
    uint64_t used[2] = {1, 1};
    *out = (sx_axis_split){-1, 0};
    for (int d = 0; d < n_dims; d++) {
        uint64_t *axis = &used[!(x >> d & 1)];
        *axis = capped_product(*axis, factor[d]);
    }
    if (used[1] > room[1]) return false;
    if (used[0] <= room[0]) return true;
    for (int d = n_dims - 1; split && used[0] < UINT32_MAX && d >= 0; d--) {
        if (!(x >> d & 1)) continue;
        uint64_t others = used[0] / factor[d];
        uint32_t part = others <= room[0] ? part_within(factor[d], room[0] / others) : 1;
        if (part < 2 || capped_product(used[1], factor[d] / part) > room[1]) continue;
        *out = (sx_axis_split){(int8_t)d, (uint16_t)part};
        return true;
    }
    return false;
}

void sx_axes_used(const sx_mapping_level *at, int n_dims, uint64_t used[2]) {
    int both = sx_axes_both(at);
    used[0] = used[1] = 1;
    for (int i = 0; i < n_dims; i++) {
        int d = at->spatial_order[i];
        uint64_t part = d == both ? at->x_part : 1;
        used[i >= at->split] = capped_product(used[i >= at->split], d == both ? part : at->spatial[d]);
        if (d == both) used[1] = capped_product(used[1], at->spatial[d] / part);
    }
}
