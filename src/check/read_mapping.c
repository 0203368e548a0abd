/* The limits and the mapping of a certificate. */
#include "check/reader.h"

#include <stdlib.h>
#include <string.h>

/* Reads a map from dimensions to numbers; those that it does not name stay. */
static sx_status read_bounds(const sx_node *map, const char *key, const sx_problem *problem, uint32_t *out) {
    const sx_node *bounds = sx_node_get(map, key);
    if (!bounds) return SX_OK;
    SX_TRY(sx_node_expect(bounds, SX_NODE_MAP, key));
    for (size_t i = 0; i < bounds->n; i++) {
        int d = sx_problem_dim(problem, bounds->pair[i].key);
        uint64_t value;
        if (d < 0)
            return sx_error_at(bounds->pair[i].place, "there is no dimension '%.64s'", bounds->pair[i].key);
        SX_TRY(sx_node_range(bounds->pair[i].value, key, 1, SX_MAX_DIM_SIZE, &value));
        out[d] = (uint32_t)value;
    }
    return SX_OK;
}

/* Reads the limits of a slot. */
static sx_status read_slot(const sx_node *level, const char *key, const sx_problem *problem,
                           sx_loop_limits *out, sx_check_doubt *doubt) {
    static const char *const keys[] = {"min", "max", "rest", "inner", "outer"};
    const sx_node *map = sx_node_get(level, key);
    uint8_t rest[SX_MAX_DIMS];
    int n, n_inner, n_outer;
    if (!map) return SX_OK;
    SX_TRY(sx_check_keys(map, "the limits of loops", keys, sizeof keys / sizeof *keys, doubt));
    SX_TRY(read_bounds(map, "min", problem, out->min));
    SX_TRY(read_bounds(map, "max", problem, out->max));
    SX_TRY(sx_check_dims(map, "rest", problem, rest, &n));
    for (int i = 0; i < n; i++) out->rest[rest[i]] = true;
    SX_TRY(sx_check_dims(map, "inner", problem, out->inner, &n_inner));
    SX_TRY(sx_check_dims(map, "outer", problem, out->outer, &n_outer));
    out->n_inner = (uint8_t)n_inner;
    out->n_outer = (uint8_t)n_outer;
    for (int i = 0; i < n_inner; i++)
        for (int j = 0; j < n_outer; j++)
            if (out->inner[i] == out->outer[j])
                return sx_error_at(map->place, "a dimension is both innermost and outermost");
    return SX_OK;
}

/* Reads a list of tensors into a field of 8 bits. */
static sx_status read_mask(const sx_node *map, const char *key, const sx_problem *problem, uint8_t *out) {
    unsigned mask;
    SX_TRY(sx_check_tensors(map, key, problem, &mask));
    *out = (uint8_t)mask;
    return SX_OK;
}

/* Reads a share that may be missing. */
static sx_status read_share(const sx_node *map, const char *key, sx_ratio *out, sx_check_doubt *doubt) {
    *out = (sx_ratio){0, 1};
    return sx_node_get(map, key) ? sx_check_ratio(map, key, out, doubt) : SX_OK;
}

static sx_status read_level_limits(const sx_node *map, const sx_problem *problem, sx_level_limits *out,
                                   sx_check_shares *shares, sx_check_doubt *doubt) {
    int64_t split;
    SX_TRY(read_slot(map, "temporal", problem, &out->temporal, doubt));
    SX_TRY(read_slot(map, "spatial", problem, &out->spatial, doubt));
    if (sx_node_get(map, "split")) {
        SX_TRY(sx_check_integer(map, "split", 0, problem->n_dims, &split));
        out->split = (int8_t)split;
    }
    SX_TRY(read_mask(map, "keep", problem, &out->must_keep));
    SX_TRY(read_mask(map, "bypass", problem, &out->must_bypass));
    SX_TRY(read_mask(map, "no_temporal_reuse", problem, &out->no_temporal_reuse));
    SX_TRY(read_mask(map, "no_multicast", problem, &out->no_multicast));
    SX_TRY(read_mask(map, "no_link_transfer", problem, &out->no_link_transfer));
    SX_TRY(read_mask(map, "rmw_first_update", problem, &out->rmw_first_update));
    SX_TRY(read_share(map, "min_utilization", &shares->min_utilization, doubt));
    return read_share(map, "min_parallelism", &shares->min_parallelism, doubt);
}

/* No limits at all. */
static void free_limits(sx_check_case *c) {
    c->limits.n_levels = (uint8_t)c->machine.n_levels;
    c->limits.n_dims = c->problem.n_dims;
    c->limits.n_tensors = c->problem.n_tensors;
    for (int s = 0; s < c->machine.n_levels; s++) {
        sx_level_limits *level = &c->limits.level[s];
        level->split = -1;
        c->shares[s] = (sx_check_shares){{0, 1}, {0, 1}};
        for (int d = 0; d < c->problem.n_dims; d++) {
            level->temporal.min[d] = level->spatial.min[d] = 1;
            level->temporal.max[d] = level->spatial.max[d] = SX_MAX_DIM_SIZE;
        }
    }
}

sx_status sx_check_read_limits(const sx_node *list, sx_check_case *c, sx_check_doubt *doubt) {
    static const char *const keys[] = {
        "level",        "temporal",         "spatial",          "split",
        "keep",         "bypass",           "min_utilization",  "no_temporal_reuse",
        "no_multicast", "no_link_transfer", "rmw_first_update", "min_parallelism"};
    unsigned seen = 0;
    free_limits(c);
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "limits"));
    for (size_t i = 0; i < list->n; i++) {
        const sx_node *name;
        int s;
        SX_TRY(sx_check_keys(list->item[i], "the limits", keys, sizeof keys / sizeof *keys, doubt));
        SX_TRY(sx_node_require(list->item[i], "level", "a limit", &name));
        SX_TRY(sx_check_find_level(name, &c->machine, &s));
        if (seen >> s & 1) return sx_error_at(name->place, "a level has limits twice");
        seen |= 1u << s;
        SX_TRY(read_level_limits(list->item[i], &c->problem, &c->limits.level[s], &c->shares[s], doubt));
    }
    return SX_OK;
}

/* Reads factors such as "m=4 n=1"; "m=4,2" has a remainder, which only a space with remainders has. */
static sx_status read_factors(const sx_node *map, const sx_check_case *c, uint32_t *out,
                              sx_check_doubt *doubt) {
    const sx_node *node;
    const char *text;
    SX_TRY(sx_node_require(map, "factors", "a directive", &node));
    SX_TRY(sx_node_text(node, "factors", &text));
    while (*text) {
        char name[SX_NAME_SIZE], *end;
        size_t n = strcspn(text, "= ");
        if (text[n] != '=' || n >= sizeof name) return sx_error_at(node->place, "'%.64s' is no factor", text);
        memcpy(name, text, n);
        name[n] = 0;
        int d = sx_problem_dim(&c->problem, name);
        unsigned long long value = strtoull(text + n + 1, &end, 10);
        if (d < 0 || end == text + n + 1 || value < 1 || value > SX_MAX_DIM_SIZE)
            return sx_error_at(node->place, "'%.64s' is no factor", text);
        out[d] = (uint32_t)value;
        if (*end == ',') {
            if (!c->remainders)
                sx_check_doubt_add(doubt, "factors of a space without remainders leave one: '%.64s'", text);
            end += strcspn(end, " ");
        }
        if (*end && *end != ' ') return sx_error_at(node->place, "'%.64s' is no factor", text);
        text = end + strspn(end, " ");
    }
    return SX_OK;
}

/* Reads an order of all dimensions; those that it does not name come last. */
static sx_status read_order(const sx_node *map, const sx_problem *problem, uint8_t order[SX_MAX_DIMS]) {
    uint8_t named[SX_MAX_DIMS];
    unsigned seen = 0;
    int n;
    SX_TRY(sx_check_dims(map, "permutation", problem, named, &n));
    for (int i = 0; i < n; i++) {
        order[i] = named[i];
        seen |= 1u << named[i];
    }
    for (int d = 0; d < problem->n_dims; d++)
        if (!(seen >> d & 1)) order[n++] = (uint8_t)d;
    return SX_OK;
}

/* Reads a level's spatial loops. */
static sx_status read_spatial(const sx_node *map, const sx_check_case *c, sx_mapping_level *at,
                              sx_check_doubt *doubt) {
    int64_t split = 0, part = 0;
    SX_TRY(read_factors(map, c, at->spatial, doubt));
    SX_TRY(read_order(map, &c->problem, at->spatial_order));
    SX_TRY(sx_check_integer(map, "split", 0, c->problem.n_dims, &split));
    if (sx_node_get(map, "x_part")) SX_TRY(sx_check_integer(map, "x_part", 0, UINT16_MAX, &part));
    at->split = (uint8_t)split;
    at->x_part = (uint16_t)part;
    SX_TRY(read_mask(map, "no_reuse", &c->problem, &at->no_multicast));
    return read_mask(map, "no_link_transfer", &c->problem, &at->no_link_transfer);
}

/* Reads one directive of a mapping; *seen has a bit for each kind of directive of its level. */
static sx_status read_directive(const sx_node *map, const sx_check_case *c, sx_mapping *mapping,
                                unsigned *seen, sx_check_doubt *doubt) {
    static const char *const keys[] = {
        "target", "type",     "factors",          "permutation",       "split",           "x_part", "keep",
        "bypass", "no_reuse", "no_link_transfer", "no_temporal_reuse", "rmw_first_update"};
    const sx_node *target, *type;
    int s;
    SX_TRY(sx_check_keys(map, "the mapping", keys, sizeof keys / sizeof *keys, doubt));
    SX_TRY(sx_node_require(map, "target", "a directive", &target));
    SX_TRY(sx_check_find_level(target, &c->machine, &s));
    SX_TRY(sx_node_require(map, "type", "a directive", &type));
    sx_mapping_level *at = &mapping->level[s];
    int kind = sx_node_is(type, "bypass")     ? 0
               : sx_node_is(type, "spatial")  ? 1
               : sx_node_is(type, "temporal") ? 2
                                              : 3;
    if (kind == 3)
        return sx_error_at(type->place, "there is no directive '%.64s'", type->text ? type->text : "");
    if (seen[s] >> kind & 1) return sx_error_at(map->place, "a level has a directive twice");
    seen[s] |= 1u << kind;
    if (kind == 0) return read_mask(map, "keep", &c->problem, &at->keep);
    if (kind == 1) return read_spatial(map, c, at, doubt);
    SX_TRY(read_factors(map, c, at->temporal, doubt));
    SX_TRY(read_order(map, &c->problem, at->temporal_order));
    SX_TRY(read_mask(map, "no_temporal_reuse", &c->problem, &at->no_temporal_reuse));
    return read_mask(map, "rmw_first_update", &c->problem, &at->rmw_first_update);
}

sx_status sx_check_read_mapping(const sx_node *list, const sx_check_case *c, sx_mapping *out,
                                sx_check_doubt *doubt) {
    unsigned seen[SX_MAX_LEVELS] = {0};
    out->n_levels = (uint8_t)c->machine.n_levels;
    out->n_dims = c->problem.n_dims;
    out->n_tensors = c->problem.n_tensors;
    for (int s = 0; s < c->machine.n_levels; s++)
        for (int d = 0; d < c->problem.n_dims; d++) {
            out->level[s].temporal[d] = out->level[s].spatial[d] = 1;
            out->level[s].temporal_order[d] = out->level[s].spatial_order[d] = (uint8_t)d;
        }
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "mapping"));
    for (size_t i = 0; i < list->n; i++) SX_TRY(read_directive(list->item[i], c, out, seen, doubt));
    for (int s = 0; s < c->machine.n_levels; s++)
        if (!(seen[s] & 1) || !(seen[s] >> 2 & 1))
            return sx_error_at(list->place, "the mapping says too little of %s", c->machine.level[s].name);
    return SX_OK;
}
