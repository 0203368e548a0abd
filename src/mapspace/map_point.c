/* From the points of a map space to mappings, and back. */
#include "mapspace/map_parts.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { DIAGNOSED_DRAWS = 2000 };

void sx_map_space_mapping(const sx_space *base, const void *point, sx_mapping *out) {
    memset(out, 0, sizeof *out);
    memcpy(out, point, sx_mapping_bytes(sx_map_space_of(base)->arch));
}

sx_status sx_map_space_draw(const sx_space *base, uint64_t seed, uint64_t first, size_t n, size_t stride,
                            void *mappings) {
    size_t size = sx_mapping_bytes(sx_map_space_of(base)->arch);
    char *out = mappings, *why = NULL;
    if (stride < size) return sx_error_new(SX_ERR_USAGE, "a mapping needs %zu bytes, not %zu", size, stride);
    void *point = malloc(base->point_size);
    if (!point) return sx_error_memory();
    size_t i = 0;
    for (; i < n && sx_space_sample(base, seed, first + i, point); i++) {
        memset(out + i * stride, 0, stride);
        memcpy(out + i * stride, point, size);
    }
    free(point);
    if (i == n) return SX_OK;
    SX_TRY(sx_space_diagnose(base, seed, DIAGNOSED_DRAWS, &why));
    sx_status error = sx_error_hint(sx_error_new(SX_ERR_INPUT, "no legal mapping was found"), "%s", why);
    free(why);
    return error;
}

/* Gives a point the split nearest to a mapping's factors of a dimension. */
static void set_factors(const sx_map_space *space, const sx_mapping *mapping, int dim, void *point) {
    uint32_t factor[SX_MAX_SLOTS], nearest[1][SX_MAX_SLOTS];
    double target[SX_MAX_SLOTS], distance[1];
    sx_u128 index;
    sx_map_get_factors(space, mapping, dim, factor);
    if (!sx_factors_rank(space->factors[dim], factor, &index)) {
        for (int i = 0; i < space->n_slots; i++) target[i] = log2(factor[i] > 0 ? factor[i] : 1);
        if (sx_factors_nearest(space->factors[dim], target, 1, nearest, distance) == 1)
            memcpy(factor, nearest[0], sizeof factor);
        else
            sx_factors_at(space->factors[dim], 0, factor);
    }
    sx_map_set_factors(space, dim, factor, point);
}

/* How many banks a tensor's tile takes at a level. */
static uint32_t banks_for(const sx_map_space *space, int level, int tensor, const uint32_t *extent) {
    uint64_t words = sx_shape_words(&space->model->shape[tensor], extent);
    uint32_t n = 1;
    while (n < space->arch->level[level].banks && !sx_map_fits(space, level, tensor, words, n)) n++;
    return n;
}

/* Gives some tensors more of the banks that are left, up to what their tiles take (or one less). */
static uint32_t deal_banks(const sx_map_space *space, int level, unsigned tensors, uint32_t less,
                           uint32_t left, const uint32_t *extent, uint8_t *banks) {
    for (; tensors; tensors &= tensors - 1) {
        int v = __builtin_ctz(tensors);
        uint32_t need = banks_for(space, level, v, extent) - less;
        for (; left > 0 && banks[v] < need; left--) banks[v]++;
    }
    return left;
}

/* Distributes a level's banks so that the tensors of a mask are kept and the others are not, as far as that can
 * be. */
static void set_banks(const sx_map_space *space, int level, unsigned keep, const uint32_t *extent,
                      void *point) {
    uint8_t *banks = sx_map_banks(space, point, level);
    unsigned tensors = space->banked[level], must = space->fixed_keep[level];
    uint32_t left = space->arch->level[level].banks - (uint32_t)__builtin_popcount(tensors);
    keep = (keep | must) & tensors;
    for (unsigned more = tensors; more; more &= more - 1) banks[__builtin_ctz(more)] = 1;
    left = deal_banks(space, level, keep & ~must, 0, left, extent, banks);
    left = deal_banks(space, level, keep & must, 0, left, extent, banks);
    if (!keep) left = deal_banks(space, level, tensors, 1, left, extent, banks);
    int last = 31 - __builtin_clz(keep ? keep : tensors);
    banks[last] = (uint8_t)(banks[last] + left);
}

/* Gives a point a mapping's orders, axes and kept tensors, as far as it can hold them. */
static void set_levels(const sx_map_space *space, const sx_mapping *mapping, void *point) {
    int n_dims = space->problem->n_dims;
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < n_dims; d++) extent[d] = 1;
    for (int s = 0; s < space->arch->n_levels; s++) {
        const sx_mapping_level *from = &mapping->level[s];
        sx_mapping_level *at = sx_map_level(point, s);
        if (sx_order_is_permutation(from->temporal_order, n_dims))
            memcpy(at->temporal_order, from->temporal_order, (size_t)n_dims);
        if (space->spatial_slot[s] >= 0 && sx_order_is_permutation(from->spatial_order, n_dims)) {
            memcpy(at->spatial_order, from->spatial_order, (size_t)n_dims);
            at->split = from->split <= n_dims ? from->split : (uint8_t)n_dims;
        }
        at->keep = (uint8_t)(space->fixed_keep[s] | (from->keep & space->free_keep[s]));
        sx_map_extents(space, at, extent);
        if (space->banked[s]) set_banks(space, s, from->keep, extent, point);
    }
}

/* Whether a mapping is made for the space's problem and architecture. */
static bool is_shaped(const sx_map_space *space, const sx_mapping *mapping) {
    return mapping->n_levels == space->arch->n_levels && mapping->n_dims == space->problem->n_dims &&
           mapping->n_tensors == space->problem->n_tensors;
}

/* Copies the orders and axes of a level where they are permutations. */
static void copy_level(const sx_map_space *space, const sx_mapping_level *from, sx_mapping_level *to) {
    int n_dims = space->problem->n_dims;
    sx_mapping_level level = *from;
    if (!sx_order_is_permutation(from->temporal_order, n_dims))
        memcpy(level.temporal_order, to->temporal_order, sizeof level.temporal_order);
    if (!sx_order_is_permutation(from->spatial_order, n_dims) || from->split > n_dims) {
        memcpy(level.spatial_order, to->spatial_order, sizeof level.spatial_order);
        level.split = to->split;
    }
    *to = level;
}

sx_status sx_map_vector(const sx_space *base, const sx_mapping *mapping, double *values) {
    const sx_map_space *space = sx_map_space_of(base);
    void *point = malloc(space->space.point_size);
    if (!point) return sx_error_memory();
    if (!sx_map_space_point(base, mapping, point) && is_shaped(space, mapping)) {
        sx_mapping canonical = *mapping;
        sx_mapping_canonical(&canonical);
        for (int s = 0; s < space->arch->n_levels; s++)
            copy_level(space, &canonical.level[s], sx_map_level(point, s));
    }
    sx_map_encode(&space->space, point, values);
    free(point);
    return SX_OK;
}

bool sx_map_space_point(const sx_space *base, const sx_mapping *mapping, void *point) {
    const sx_map_space *space = sx_map_space_of(base);
    bool shaped = is_shaped(space, mapping);
    sx_mapping from;
    if (shaped)
        from = *mapping;
    else
        sx_mapping_init(&from, space->problem, space->arch);
    memcpy(point, space->blank, base->point_size);
    for (int d = 0; d < space->problem->n_dims; d++) set_factors(space, &from, d, point);
    set_levels(space, &from, point);
    sx_map_normalize(space, point);
    sx_mapping_canonical(&from);
    return shaped && memcmp(&from, point, sx_mapping_bytes(space->arch)) == 0;
}
