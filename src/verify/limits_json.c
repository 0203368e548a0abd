/* Constraints as JSON, one to one: all that sx_constraints can say, and nothing that is not said. */
#include "verify/certificate.h"

static const char *dim_name(const sx_problem *problem, int d) {
    return problem->dim_name[d];
}

static const char *tensor_name(const sx_problem *problem, int v) {
    return problem->tensor[v].name;
}

/* Puts the names of a mask as a list, if there are any. */
static void put_mask(json_t *map, const char *key, const sx_problem *problem, unsigned mask,
                     const char *(*of)(const sx_problem *, int)) {
    if (!mask) return;
    json_t *list = json_array();
    for (; mask; mask &= mask - 1) sx_json_append(list, sx_json_text(of(problem, __builtin_ctz(mask))));
    sx_json_set(map, key, list);
}

/* Puts an order of dimensions, if there is one. */
static void put_order(json_t *map, const char *key, const sx_problem *problem, const uint8_t *order, int n) {
    if (n == 0) return;
    json_t *list = json_array();
    for (int i = 0; i < n; i++) sx_json_append(list, sx_json_text(problem->dim_name[order[i]]));
    sx_json_set(map, key, list);
}

/* Puts the limits of a slot, if it has any. */
static void put_loops(json_t *level, const char *key, const sx_problem *problem,
                      const sx_loop_limits *limits) {
    json_t *map = json_object(), *min = json_object(), *max = json_object();
    unsigned rest = 0;
    for (int d = 0; d < problem->n_dims; d++) {
        if (limits->min[d] > 1) sx_json_set(min, problem->dim_name[d], json_integer(limits->min[d]));
        if (limits->max[d] < SX_MAX_DIM_SIZE)
            sx_json_set(max, problem->dim_name[d], json_integer(limits->max[d]));
        rest |= (unsigned)limits->rest[d] << d;
    }
    if (json_object_size(min)) sx_json_set(map, "min", json_incref(min));
    if (json_object_size(max)) sx_json_set(map, "max", json_incref(max));
    json_decref(min);
    json_decref(max);
    put_mask(map, "rest", problem, rest, dim_name);
    put_order(map, "inner", problem, limits->inner, limits->n_inner);
    put_order(map, "outer", problem, limits->outer, limits->n_outer);
    if (json_object_size(map)) sx_json_set(level, key, json_incref(map));
    json_decref(map);
}

json_t *sx_limits_tree(const sx_constraints *constraints, const sx_problem *problem, const sx_arch *arch) {
    json_t *list = json_array();
    for (int s = 0; s < arch->n_levels; s++) {
        const sx_level_limits *limits = &constraints->level[s];
        json_t *level = json_object();
        sx_json_set(level, "level", sx_json_text(arch->level[s].name));
        put_loops(level, "temporal", problem, &limits->temporal);
        put_loops(level, "spatial", problem, &limits->spatial);
        if (limits->split >= 0) sx_json_set(level, "split", json_integer(limits->split));
        put_mask(level, "keep", problem, limits->must_keep, tensor_name);
        put_mask(level, "bypass", problem, limits->must_bypass, tensor_name);
        put_mask(level, "no_temporal_reuse", problem, limits->no_temporal_reuse, tensor_name);
        put_mask(level, "no_multicast", problem, limits->no_multicast, tensor_name);
        put_mask(level, "no_link_transfer", problem, limits->no_link_transfer, tensor_name);
        put_mask(level, "rmw_first_update", problem, limits->rmw_first_update, tensor_name);
        put_mask(level, "no_coalesce", problem, limits->no_coalesce, tensor_name);
        if (limits->min_utilization > 0)
            sx_json_set(level, "min_utilization", sx_json_real(limits->min_utilization));
        if (limits->min_parallelism > 0)
            sx_json_set(level, "min_parallelism", sx_json_real(limits->min_parallelism));
        if (json_object_size(level) > 1) sx_json_append(list, json_incref(level));
        json_decref(level);
    }
    return list;
}

sx_status sx_only_keys(const sx_node *map, const char *what, const char *const *keys, size_t n) {
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, what));
    for (size_t i = 0; i < map->n; i++) {
        bool known = false;
        for (size_t k = 0; k < n; k++) known |= sx_key_equal(map->pair[i].key, keys[k]);
        if (!known) return sx_error_unknown(map->pair[i].place, "key", map->pair[i].key, keys, n);
    }
    return SX_OK;
}

/* The dimension or the tensor that a scalar names. */
static sx_status find_name(const sx_node *node, const sx_problem *problem, bool tensor, int *out) {
    const char *name;
    SX_TRY(sx_node_text(node, tensor ? "tensor" : "dimension", &name));
    *out = tensor ? sx_problem_tensor(problem, name) : sx_problem_dim(problem, name);
    return *out >= 0
               ? SX_OK
               : sx_error_at(node->place, "there is no %s '%.64s'", tensor ? "tensor" : "dimension", name);
}

/* Reads a list of names as an order and a mask; none may be in `seen` already. */
static sx_status read_names(const sx_node *map, const char *key, const sx_problem *problem, bool tensor,
                            uint8_t *order, unsigned *mask) {
    const sx_node *list = sx_node_get(map, key);
    if (!list) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, key));
    for (size_t i = 0; i < list->n; i++) {
        int index;
        SX_TRY(find_name(list->item[i], problem, tensor, &index));
        if (*mask >> index & 1) return sx_error_at(list->item[i]->place, "duplicate name");
        *mask |= 1u << index;
        if (order) order[i] = (uint8_t)index;
    }
    return SX_OK;
}

/* Reads a map from dimensions to numbers. */
static sx_status read_factors(const sx_node *map, const char *key, const sx_problem *problem, uint32_t *out) {
    const sx_node *factors = sx_node_get(map, key);
    if (!factors) return SX_OK;
    SX_TRY(sx_node_expect(factors, SX_NODE_MAP, key));
    for (size_t i = 0; i < factors->n; i++) {
        int d = sx_problem_dim(problem, factors->pair[i].key);
        uint64_t value;
        if (d < 0)
            return sx_error_at(factors->pair[i].place, "there is no dimension '%.64s'", factors->pair[i].key);
        SX_TRY(sx_node_range(factors->pair[i].value, key, 1, SX_MAX_DIM_SIZE, &value));
        out[d] = (uint32_t)value;
    }
    return SX_OK;
}

/* Reads the limits of a slot. */
static sx_status read_loops(const sx_node *level, const char *key, const sx_problem *problem,
                            sx_loop_limits *out) {
    static const char *const keys[] = {"min", "max", "rest", "inner", "outer"};
    const sx_node *map = sx_node_get(level, key);
    unsigned rest = 0, inner = 0, both;
    if (!map) return SX_OK;
    SX_TRY(sx_only_keys(map, key, keys, sizeof keys / sizeof *keys));
    SX_TRY(read_factors(map, "min", problem, out->min));
    SX_TRY(read_factors(map, "max", problem, out->max));
    SX_TRY(read_names(map, "rest", problem, false, NULL, &rest));
    SX_TRY(read_names(map, "inner", problem, false, out->inner, &inner));
    both = inner;
    SX_TRY(read_names(map, "outer", problem, false, out->outer, &both));
    out->n_inner = (uint8_t)__builtin_popcount(inner);
    out->n_outer = (uint8_t)__builtin_popcount(both & ~inner);
    for (int d = 0; d < problem->n_dims; d++) out->rest[d] = rest >> d & 1;
    return SX_OK;
}

/* Reads a share, from 0 to 1. */
static sx_status read_share(const sx_node *level, const char *key, double *out) {
    SX_TRY(sx_node_get_double(level, key, out));
    if (*out >= 0 && *out <= 1) return SX_OK;
    return sx_error_at(sx_node_key_place(level, key), "'%s' must lie between 0 and 1", key);
}

/* Reads a list of tensors as a mask. */
static sx_status read_tensors(const sx_node *map, const char *key, const sx_problem *problem, uint8_t *out) {
    unsigned mask = 0;
    SX_TRY(read_names(map, key, problem, true, NULL, &mask));
    *out = (uint8_t)mask;
    return SX_OK;
}

static sx_status read_level(const sx_node *map, const sx_problem *problem, sx_level_limits *out) {
    uint64_t split;
    SX_TRY(read_loops(map, "temporal", problem, &out->temporal));
    SX_TRY(read_loops(map, "spatial", problem, &out->spatial));
    if (sx_node_get(map, "split")) {
        SX_TRY(sx_node_range(sx_node_get(map, "split"), "split", 0, problem->n_dims, &split));
        out->split = (int8_t)split;
    }
    SX_TRY(read_tensors(map, "keep", problem, &out->must_keep));
    SX_TRY(read_tensors(map, "bypass", problem, &out->must_bypass));
    SX_TRY(read_tensors(map, "no_temporal_reuse", problem, &out->no_temporal_reuse));
    SX_TRY(read_tensors(map, "no_multicast", problem, &out->no_multicast));
    SX_TRY(read_tensors(map, "no_link_transfer", problem, &out->no_link_transfer));
    SX_TRY(read_tensors(map, "rmw_first_update", problem, &out->rmw_first_update));
    SX_TRY(read_tensors(map, "no_coalesce", problem, &out->no_coalesce));
    SX_TRY(read_share(map, "min_utilization", &out->min_utilization));
    return read_share(map, "min_parallelism", &out->min_parallelism);
}

sx_status sx_limits_read(const sx_node *list, const sx_problem *problem, const sx_arch *arch,
                         sx_constraints *out) {
    static const char *const keys[] = {
        "level",        "temporal",         "spatial",          "split",
        "keep",         "bypass",           "min_utilization",  "no_temporal_reuse",
        "no_multicast", "no_link_transfer", "rmw_first_update", "min_parallelism",
        "no_coalesce"};
    unsigned seen = 0;
    sx_constraints_init(out, problem, arch);
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "constraints"));
    for (size_t i = 0; i < list->n; i++) {
        const sx_node *map = list->item[i], *node;
        const char *name;
        SX_TRY(sx_only_keys(map, "constraints", keys, sizeof keys / sizeof *keys));
        SX_TRY(sx_node_require(map, "level", "a constraint", &node));
        SX_TRY(sx_node_text(node, "level", &name));
        int s = sx_arch_level(arch, name);
        if (s < 0) return sx_error_at(node->place, "there is no level '%.64s'", name);
        if (seen >> s & 1) return sx_error_at(node->place, "duplicate level '%.64s'", name);
        seen |= 1u << s;
        SX_TRY(read_level(map, problem, &out->level[s]));
    }
    return SX_OK;
}
