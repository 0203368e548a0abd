/* Points of a map space as vectors, after Mind Mappings (ASPLOS 2021), section 4.1.2: factors, loop positions
 * and shares of banks as numbers. Factors stand as logarithms, so that a step of a factor is as long at any
 * size, and everything else between 0 and 1. In this order:
 *   per dimension and slot         log2 of the factor
 *   per level and dimension        its position in the temporal order, 0 the innermost, 1 the outermost;
 *                                  dimensions without a loop are last, in their own order
 *   per planar level and dimension 0: its spatial loop lies on X, 1: on Y, 1/2: it has none
 *   per tensor a level is free to keep  0: bypassed, 1: kept
 *   per tensor of a level in banks      its share of the banks
 * Equal points have equal vectors, and different points different ones. */
#include "mapspace/map_parts.h"

#include <math.h>

size_t sx_map_n_values(const sx_map_space *space) {
    size_t n_dims = space->problem->n_dims, n_levels = space->arch->n_levels;
    size_t n = n_dims * ((size_t)space->n_slots + n_levels);
    for (size_t s = 0; s < n_levels; s++) {
        n += space->planar[s] ? n_dims : 0;
        n += (size_t)__builtin_popcount(space->free_keep[s]) + (size_t)__builtin_popcount(space->banked[s]);
    }
    return n;
}

/* Describes the numbers of some dimensions or tensors (a mask) at a level; returns where they end. */
static sx_map_value *describe_values(sx_map_value *out, enum sx_map_value_kind kind, int level,
                                     unsigned mask) {
    for (; mask; mask &= mask - 1)
        *out++ = (sx_map_value){(uint8_t)kind, (uint8_t)level, (uint8_t)__builtin_ctz(mask), 0};
    return out;
}

void sx_map_describe(const sx_map_space *space, sx_map_value *out) {
    int n_dims = space->problem->n_dims, n_levels = space->arch->n_levels;
    unsigned all = (1u << n_dims) - 1;
    for (int d = 0; d < n_dims; d++)
        for (int i = 0; i < space->n_slots; i++)
            *out++ =
                (sx_map_value){SX_VALUE_FACTOR, space->slot[i].level, (uint8_t)d, space->slot[i].spatial};
    for (int s = 0; s < n_levels; s++) out = describe_values(out, SX_VALUE_ORDER, s, all);
    for (int s = 0; s < n_levels; s++)
        out = describe_values(out, SX_VALUE_PLANE, s, space->planar[s] ? all : 0);
    for (int s = 0; s < n_levels; s++) out = describe_values(out, SX_VALUE_KEEP, s, space->free_keep[s]);
    for (int s = 0; s < n_levels; s++) out = describe_values(out, SX_VALUE_BANKS, s, space->banked[s]);
}

/* Powers of two, which most are, without the library: the same value, sooner. */
double sx_map_log2(uint32_t factor) {
    return factor & (factor - 1) ? log2(factor) : __builtin_ctz(factor);
}

/* What a step in the order is worth. */
static double step_of(const sx_map_space *space) {
    return space->problem->n_dims > 1 ? 1.0 / (space->problem->n_dims - 1) : 0;
}

void sx_map_encode(const sx_space *base, const void *point, double *values) {
    const sx_map_space *space = sx_map_cast(base);
    int n_dims = space->problem->n_dims, n_levels = space->arch->n_levels;
    const sx_mapping_level *level = sx_map_point(point)->level;
    double step = step_of(space);
    for (int d = 0; d < n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        sx_map_get_factors(space, point, d, factor);
        for (int i = 0; i < space->n_slots; i++) *values++ = sx_map_log2(factor[i]);
    }
    for (int s = 0; s < n_levels; s++, values += n_dims)
        for (int i = 0; i < n_dims; i++) values[level[s].temporal_order[i]] = step * i;
    for (int s = 0; s < n_levels; s++) {
        if (!space->planar[s]) continue;
        unsigned x = sx_map_on_x(&level[s]);
        for (int d = 0; d < n_dims; d++) *values++ = level[s].spatial[d] == 1 ? 0.5 : x >> d & 1 ? 0 : 1;
    }
    for (int s = 0; s < n_levels; s++)
        for (unsigned left = space->free_keep[s]; left; left &= left - 1)
            *values++ = level[s].keep >> __builtin_ctz(left) & 1;
    for (int s = 0; s < n_levels; s++)
        for (unsigned left = space->banked[s]; left; left &= left - 1) {
            size_t at = space->banks_at + (size_t)s * SX_MAX_TENSORS + (size_t)__builtin_ctz(left);
            *values++ = (double)((const uint8_t *)point)[at] / space->arch->level[s].banks;
        }
}

/* Gives a level the order whose positions are nearest: by the positions asked for. */
static void decode_order(const sx_map_space *space, int s, const double *position, sx_mapping_level *at) {
    uint8_t loop[SX_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < space->problem->n_dims; d++) {
        if (at->temporal[d] == 1 || space->fixed_order[s] >> d & 1) continue;
        int i = n++;
        for (; i > 0 && position[loop[i - 1]] > position[d]; i--) loop[i] = loop[i - 1];
        loop[i] = (uint8_t)d;
    }
    sx_map_set_loops(space, s, loop, n, at);
}

/* Distributes a level's banks as near to the shares asked for as whole banks can be; returns how many shares.
 */
static int decode_banks(const sx_map_space *space, int s, const double *share, void *point) {
    uint8_t *banks = sx_map_banks(space, point, s);
    uint32_t total = space->arch->level[s].banks;
    int tensor[SX_MAX_TENSORS], n = 0;
    for (unsigned left = space->banked[s]; left; left &= left - 1) tensor[n++] = __builtin_ctz(left);
    for (int i = 0; i < n; i++) banks[tensor[i]] = 1;
    for (uint32_t left = total - (uint32_t)n; left > 0; left--) {
        int best = 0;
        for (int i = 1; i < n; i++)
            if (share[i] * total - banks[tensor[i]] > share[best] * total - banks[tensor[best]]) best = i;
        banks[tensor[best]]++;
    }
    return n;
}

void sx_map_decode_levels(const sx_map_space *space, const double *values, void *point) {
    int n_dims = space->problem->n_dims, n_levels = space->arch->n_levels;
    values += n_dims * space->n_slots;
    for (int s = 0; s < n_levels; s++, values += n_dims)
        decode_order(space, s, values, sx_map_level(point, s));
    for (int s = 0; s < n_levels; s++) {
        unsigned x = 0;
        for (int d = 0; space->planar[s] && d < n_dims; d++) x |= (unsigned)(*values++ <= 0.5) << d;
        if (space->spatial_slot[s] >= 0) sx_map_set_xy(space, s, x, sx_map_level(point, s));
    }
    for (int s = 0; s < n_levels; s++) {
        unsigned keep = space->fixed_keep[s];
        for (unsigned left = space->free_keep[s]; left; left &= left - 1)
            if (*values++ >= 0.5) keep |= left & -left;
        sx_map_level(point, s)->keep = (uint8_t)keep;
    }
    for (int s = 0; s < n_levels; s++)
        if (space->banked[s]) values += decode_banks(space, s, values, point);
    sx_map_normalize_banks(space, point);
}
