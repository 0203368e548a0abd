/* Mappings as callers see them, one and many. */
#include "api/mappings.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

sx_status sx_mapping_new(const sx_problem *problem, const sx_arch *arch, sx_mapping **out) {
    sx_mapping *mapping = malloc(sizeof *mapping);
    if (!mapping) return sx_error_memory();
    sx_mapping_init(mapping, problem, arch);
    *out = mapping;
    return SX_OK;
}

sx_status sx_mapping_copy(const sx_mapping *mapping, sx_mapping **out) {
    sx_mapping *copy = malloc(sizeof *copy);
    if (!copy) return sx_error_memory();
    *copy = *mapping;
    *out = copy;
    return SX_OK;
}

void sx_mapping_free(sx_mapping *mapping) {
    free(mapping);
}

static bool has_level(const sx_mapping *mapping, int level) {
    return level >= 0 && level < mapping->n_levels;
}

/* Whether a mapping has a level and a dimension, or place of an order. */
static bool has_loop(const sx_mapping *mapping, int level, int dim) {
    return has_level(mapping, level) && dim >= 0 && dim < mapping->n_dims;
}

uint32_t sx_mapping_factor(const sx_mapping *mapping, int level, sx_loop_kind loops, int dim) {
    if (!has_loop(mapping, level, dim)) return 0;
    const sx_mapping_level *l = &mapping->level[level];
    return loops == SX_LOOPS_SPATIAL ? l->spatial[dim] : l->temporal[dim];
}

int sx_mapping_dim_at(const sx_mapping *mapping, int level, sx_loop_kind loops, int place) {
    if (!has_loop(mapping, level, place)) return 0;
    const sx_mapping_level *l = &mapping->level[level];
    return loops == SX_LOOPS_SPATIAL ? l->spatial_order[place] : l->temporal_order[place];
}

int sx_mapping_on_x(const sx_mapping *mapping, int level) {
    return has_level(mapping, level) ? mapping->level[level].split : 0;
}

uint32_t sx_mapping_x_part(const sx_mapping *mapping, int level) {
    return has_level(mapping, level) ? mapping->level[level].x_part : 0;
}

bool sx_mapping_keeps(const sx_mapping *mapping, int level, int tensor) {
    return has_level(mapping, level) && tensor >= 0 && tensor < mapping->n_tensors &&
           mapping->level[level].keep >> tensor & 1;
}

/* The error for a level, dimension or tensor that a mapping does not have. */
static sx_status no_such(const char *what, int number, int n) {
    return sx_error_new(SX_ERR_USAGE, "the mapping has %d %ss, and none of number %d", n, what, number);
}

static sx_status check_level(const sx_mapping *mapping, int level) {
    return has_level(mapping, level) ? SX_OK : no_such("level", level, mapping->n_levels);
}

sx_status sx_mapping_set_factor(sx_mapping *mapping, int level, sx_loop_kind loops, int dim,
                                uint32_t factor) {
    SX_TRY(check_level(mapping, level));
    if (dim < 0 || dim >= mapping->n_dims) return no_such("dimension", dim, mapping->n_dims);
    if (factor < 1 || factor > SX_MAX_DIM_SIZE)
        return sx_error_new(SX_ERR_USAGE, "a factor is %u; it must be between 1 and %u", (unsigned)factor,
                            SX_MAX_DIM_SIZE);
    sx_mapping_level *l = &mapping->level[level];
    (loops == SX_LOOPS_SPATIAL ? l->spatial : l->temporal)[dim] = factor;
    return SX_OK;
}

sx_status sx_mapping_set_order(sx_mapping *mapping, int level, sx_loop_kind loops, const int *dims) {
    uint8_t order[SX_MAX_DIMS] = {0};
    SX_TRY(check_level(mapping, level));
    for (int i = 0; i < mapping->n_dims; i++) {
        if (dims[i] < 0 || dims[i] >= mapping->n_dims) return no_such("dimension", dims[i], mapping->n_dims);
        order[i] = (uint8_t)dims[i];
    }
    if (!sx_order_is_permutation(order, mapping->n_dims))
        return sx_error_new(SX_ERR_USAGE, "an order must have every dimension once");
    sx_mapping_level *l = &mapping->level[level];
    memcpy(loops == SX_LOOPS_SPATIAL ? l->spatial_order : l->temporal_order, order, sizeof order);
    return SX_OK;
}

sx_status sx_mapping_set_on_x(sx_mapping *mapping, int level, int n_dims) {
    SX_TRY(check_level(mapping, level));
    if (n_dims < 0 || n_dims > mapping->n_dims)
        return sx_error_new(SX_ERR_USAGE, "%d dimensions cannot lie on X: the mapping has %d", n_dims,
                            mapping->n_dims);
    mapping->level[level].split = (uint8_t)n_dims;
    return SX_OK;
}

sx_status sx_mapping_set_keep(sx_mapping *mapping, int level, int tensor, bool keep) {
    SX_TRY(check_level(mapping, level));
    if (tensor < 0 || tensor >= mapping->n_tensors) return no_such("tensor", tensor, mapping->n_tensors);
    const unsigned bit = 1u << tensor, mask = mapping->level[level].keep;
    mapping->level[level].keep = (uint8_t)(keep ? mask | bit : mask & ~bit);
    return SX_OK;
}

sx_status sx_mappings_new(const sx_problem *problem, const sx_arch *arch, size_t n, sx_mappings **out) {
    sx_mappings *mappings = calloc(1, sizeof *mappings);
    if (!mappings) return sx_error_memory();
    sx_mapping_init(&mappings->shape, problem, arch);
    mappings->n = n;
    mappings->stride = sx_mapping_bytes(arch);
    mappings->data = calloc(n + 1, mappings->stride);
    if (!mappings->data) {
        free(mappings);
        return sx_error_memory();
    }
    for (size_t i = 0; i < n; i++)
        memcpy(mappings->data + i * mappings->stride, &mappings->shape, mappings->stride);
    *out = mappings;
    return SX_OK;
}

void sx_mappings_free(sx_mappings *mappings) {
    if (!mappings) return;
    free(mappings->data);
    free(mappings);
}

size_t sx_mappings_count(const sx_mappings *mappings) {
    return mappings->n;
}

static sx_status check_index(const sx_mappings *mappings, size_t index) {
    if (index < mappings->n) return SX_OK;
    return sx_error_new(SX_ERR_USAGE, "there are %zu mappings, and none of number %zu", mappings->n, index);
}

sx_status sx_mappings_get(const sx_mappings *mappings, size_t index, sx_mapping *out) {
    SX_TRY(check_index(mappings, index));
    memset(out, 0, sizeof *out);
    memcpy(out, mappings->data + index * mappings->stride, mappings->stride);
    return SX_OK;
}

bool sx_mapping_same_shape(const sx_mapping *a, const sx_mapping *b) {
    return a->n_levels == b->n_levels && a->n_dims == b->n_dims && a->n_tensors == b->n_tensors;
}

sx_status sx_mappings_set(sx_mappings *mappings, size_t index, const sx_mapping *mapping) {
    SX_TRY(check_index(mappings, index));
    if (!sx_mapping_same_shape(mapping, &mappings->shape))
        return sx_error_new(SX_ERR_USAGE,
                            "the mapping is of another number of levels, dimensions or tensors");
    memcpy(mappings->data + index * mappings->stride, mapping, mappings->stride);
    return SX_OK;
}

void *sx_mappings_data(sx_mappings *mappings, size_t *stride, size_t *level, size_t *level_stride) {
    *stride = mappings->stride;
    *level = offsetof(sx_mapping, level);
    *level_stride = sizeof(sx_mapping_level);
    return mappings->data;
}

const char *sx_mappings_field(size_t index, size_t *offset, size_t *elements, size_t *bytes) {
#define FIELD(name, n)                                                                                       \
    { #name, offsetof(sx_mapping_level, name), n, sizeof(((sx_mapping_level *)0)->name) / (n) }
    static const struct {
        const char *name;
        size_t offset, elements, bytes;
    } fields[] = {
        FIELD(temporal, SX_MAX_DIMS),
        FIELD(spatial, SX_MAX_DIMS),
        FIELD(temporal_order, SX_MAX_DIMS),
        FIELD(spatial_order, SX_MAX_DIMS),
        FIELD(split, 1),
        FIELD(keep, 1),
        FIELD(no_temporal_reuse, 1),
        FIELD(no_multicast, 1),
        FIELD(no_link_transfer, 1),
        FIELD(rmw_first_update, 1),
        FIELD(x_part, 1),
        FIELD(no_coalesce, 1),
    };
#undef FIELD
    if (index >= sizeof fields / sizeof *fields) return NULL;
    *offset = fields[index].offset;
    *elements = fields[index].elements;
    *bytes = fields[index].bytes;
    return fields[index].name;
}
