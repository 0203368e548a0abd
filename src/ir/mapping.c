#include "sextant/mapping.h"

#include "base/hash.h"

#include <stddef.h>
#include <string.h>

void sx_mapping_init(sx_mapping *mapping, const sx_problem *problem, const sx_arch *arch) {
    memset(mapping, 0, sizeof *mapping);
    mapping->n_levels = arch->n_levels;
    mapping->n_dims = problem->n_dims;
    mapping->n_tensors = problem->n_tensors;
    for (int s = 0; s < arch->n_levels; s++) {
        sx_mapping_level *level = &mapping->level[s];
        for (int d = 0; d < problem->n_dims; d++) {
            level->temporal[d] = level->spatial[d] = 1;
            level->temporal_order[d] = level->spatial_order[d] = (uint8_t)d;
        }
        level->keep = sx_arch_keep_mask(arch, s, problem);
    }
    memcpy(mapping->level[arch->n_levels - 1].temporal, problem->size,
           problem->n_dims * sizeof problem->size[0]);
}

/* Moves unit factors to the end of an order, in the order of the dimensions; returns how many loops stay
 * among the first `split`. */
static uint8_t order_canonical(uint8_t *order, const uint32_t *factor, int n, int split) {
    uint8_t sorted[SX_MAX_DIMS];
    int loops = 0;
    uint8_t before_split = 0;
    for (int i = 0; i < n; i++) {
        if (factor[order[i]] == 1) continue;
        sorted[loops++] = order[i];
        before_split = (uint8_t)(before_split + (i < split));
    }
    for (int d = 0; d < n; d++)
        if (factor[d] == 1) sorted[loops++] = (uint8_t)d;
    memcpy(order, sorted, (size_t)n);
    return before_split;
}

bool sx_order_is_permutation(const uint8_t *order, int n) {
    unsigned seen = 0;
    for (int i = 0; i < n; i++)
        if (order[i] < n) seen |= 1u << order[i];
    return seen == (1u << n) - 1;
}

size_t sx_mapping_bytes(const sx_arch *arch) {
    return offsetof(sx_mapping, level) + arch->n_levels * sizeof(sx_mapping_level);
}

void sx_mapping_canonical(sx_mapping *mapping) {
    int n = mapping->n_dims;
    for (int s = 0; s < mapping->n_levels; s++) {
        sx_mapping_level *level = &mapping->level[s];
        if (sx_order_is_permutation(level->temporal_order, n))
            order_canonical(level->temporal_order, level->temporal, n, 0);
        if (sx_order_is_permutation(level->spatial_order, n))
            level->split = order_canonical(level->spatial_order, level->spatial, n, level->split);
    }
    memset(mapping->padding, 0, sizeof mapping->padding);
}

uint64_t sx_mapping_hash(const sx_mapping *mapping) {
    sx_mapping copy = *mapping;
    sx_mapping_canonical(&copy);
    /* Factors are hashed as little-endian numbers, so that every machine agrees. */
    uint64_t hash = sx_hash_bytes(&copy, 3, 0);
    for (int s = 0; s < copy.n_levels; s++) {
        const sx_mapping_level *level = &copy.level[s];
        unsigned char bytes[8 * SX_MAX_DIMS];
        int n = 0;
        for (int d = 0; d < copy.n_dims; d++)
            for (int shift = 0; shift < 32; shift += 8) {
                bytes[n++] = (unsigned char)(level->temporal[d] >> shift);
                bytes[n++] = (unsigned char)(level->spatial[d] >> shift);
            }
        hash = sx_hash_bytes(bytes, (size_t)n, hash);
        hash = sx_hash_bytes(level->temporal_order, 2 * SX_MAX_DIMS + 6, hash);
        const unsigned char part[] = {(unsigned char)level->x_part, (unsigned char)(level->x_part >> 8)};
        if (level->x_part) hash = sx_hash_bytes(part, sizeof part, hash);
        if (level->no_coalesce) hash = sx_hash_bytes(&level->no_coalesce, 1, hash);
    }
    return hash;
}

bool sx_mapping_perfect(const sx_mapping *mapping, const sx_problem *problem) {
    for (int d = 0; d < mapping->n_dims; d++)
        if (sx_mapping_extent(mapping, mapping->n_levels - 1, d) != problem->size[d]) return false;
    return true;
}

uint64_t sx_mapping_extent(const sx_mapping *mapping, int level, int dim) {
    uint64_t extent = 1;
    for (int s = 0; s <= level; s++) {
        uint64_t factor = (uint64_t)mapping->level[s].spatial[dim] * mapping->level[s].temporal[dim];
        if (__builtin_mul_overflow(extent, factor, &extent)) return UINT64_MAX;
    }
    return extent;
}
