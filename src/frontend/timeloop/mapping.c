/* Timeloop's mappings: a list of directives, each for the temporal loops, the spatial loops or the tensors of
 * one level. What is not said has Timeloop's defaults: factors of 1, missing dimensions outermost in an
 * order, everything on X, and a tensor kept where the level is built for it. */
#include "frontend/known_keys.h"
#include "frontend/timeloop/mapping_factors.h"
#include "frontend/timeloop/mapping_names.h"
#include "frontend/timeloop/timeloop.h"
#include "ir/axes.h"

#include <string.h>

enum { SPATIAL, TEMPORAL };

typedef struct reader {
    sx_input *input;
    const sx_problem *problem;
    const sx_arch *arch;
    sx_mapping mapping;
    sx_factor_row row[SX_MAX_LEVELS * 2]; /* of level s: 2s spatial, 2s + 1 temporal */
    sx_place seen[SX_MAX_LEVELS * 2];
    uint8_t keep[SX_MAX_LEVELS], bypass[SX_MAX_LEVELS]; /* as named */
} reader;

/* A set of tensors being read. */
typedef struct tensor_set {
    const sx_problem *problem;
    uint8_t mask;
} tensor_set;

static const sx_key_rule temporal_directive_rules[] = {
    SX_KEY("target", "any!", "the level"),
    SX_KEY("type", "text!", "temporal"),
    SX_KEY("factors", "any", "iterations of each loop: \"C=4 M=1\", a list or a map"),
    SX_KEY("permutation", "any", "the order of the loops, innermost first"),
    SX_KEY("no_temporal_reuse", "any", "tensors whose tiles are fetched anew"),
    SX_KEY("no_reuse", "any", "the same"),
    SX_KEY("rmw_first_update", "any", "outputs that are read before their first update"),
    SX_KEY("rmw_on_first_writeback", "any", "the same"),
};
const sx_keys sx_keys_temporal_directive = SX_KEYS("temporal_directive", true, temporal_directive_rules);

static const sx_key_rule spatial_directive_rules[] = {
    SX_KEY("target", "any!", "the level"),
    SX_KEY("type", "text!", "spatial"),
    SX_KEY("factors", "any", "iterations of each loop: \"C=4 M=1\", a list or a map"),
    SX_KEY("permutation", "any", "the order of the loops, innermost first"),
    SX_KEY("split", "whole", "dimensions of the permutation, from its beginning, that lie on X"),
    SX_KEY("x_part", "any", "the part of a dimension that lies on X"),
    SX_KEY("no_reuse", "any", "tensors that each child gets by itself"),
    SX_KEY("no_multicast", "any", "the same"),
    SX_KEY("no_multicast_no_reduction", "any", "the same"),
    SX_KEY("no_link_transfer", "any", "tensors that children do not hand to their neighbours"),
};
const sx_keys sx_keys_spatial_directive = SX_KEYS("spatial_directive", true, spatial_directive_rules);

static const sx_key_rule tensor_directive_rules[] = {
    SX_KEY("target", "any!", "the level"),
    SX_KEY("type", "text!", "dataspace, datatype, bypass or bypassing"),
    SX_KEY("keep", "names|null", "tensors that the level keeps"),
    SX_KEY("bypass", "names|null", "tensors that pass it by"),
    SX_KEY("keep_only", "names|null", "the only tensors that it keeps"),
    SX_KEY("no_coalesce", "names|null", "tensors whose accesses are not joined"),
    SX_KEY("innermost", "bool", "the level is the innermost one"),
    {"passthrough", SX_KEY_UNSUPPORTED, NULL, "any", NULL},
};
const sx_keys sx_keys_tensor_directive = SX_KEYS("tensor_directive", true, tensor_directive_rules);

static SX_MUST_USE sx_status add_tensor(void *user, const char *name, sx_place place) {
    tensor_set *set = user;
    int v = sx_problem_tensor(set->problem, name);
    if (v < 0) return sx_tensor_unknown(place, name, set->problem);
    if (set->mask & 1u << v) return sx_error_at(place, "tensor '%s' is named twice", name);
    set->mask = (uint8_t)(set->mask | 1u << v);
    return SX_OK;
}

/* Adds the tensors named under a key of a directive to a mask. */
static SX_MUST_USE sx_status read_tensors(const reader *r, const sx_node *directive, const char *key,
                                          uint8_t *mask) {
    tensor_set set = {.problem = r->problem};
    const sx_node *node = sx_node_get(directive, key);
    if (!node) return SX_OK;
    SX_TRY(sx_node_names(node, key, add_tensor, &set));
    *mask |= set.mask;
    return SX_OK;
}

/* Reads a permutation; dimensions that it leaves out follow in their own order. */
static SX_MUST_USE sx_status read_order(const reader *r, const sx_node *directive, uint8_t *out) {
    sx_order o = {0};
    const sx_node *node = sx_node_get(directive, "permutation");
    if (node) SX_TRY(sx_order_read(node, r->problem, false, &o));
    for (int d = 0; d < r->problem->n_dims; d++) {
        bool there = false;
        for (int i = 0; i < o.n; i++) there |= o.dim[i] == d;
        if (!there) o.dim[o.n++] = (uint8_t)d;
    }
    memcpy(out, o.dim, r->problem->n_dims);
    return SX_OK;
}

/* The level that a directive is for. */
static SX_MUST_USE sx_status find_target(const reader *r, const sx_node *directive, int *level) {
    const sx_node *node;
    const char *name;
    SX_TRY(sx_node_require(directive, "target", "a directive", &node));
    SX_TRY(sx_node_text(node, "target", &name));
    *level = sx_target_level(r->arch, name, false);
    return *level < 0 ? sx_level_unknown(node->place, name, r->arch) : SX_OK;
}

/* Whether a directive for no known level has loops of one iteration and nothing else: containers without a
 * fan-out, and the compute units, may have such. A misspelt level has not. */
static SX_MUST_USE sx_status is_idle(const reader *r, const sx_node *directive, bool *idle) {
    static const char *const keys[] = {"target", "type", "factors", "permutation", "split"};
    const sx_node *only = sx_node_get(directive, "keep_only");
    const sx_node *factors = sx_node_get(directive, "factors"), *type = sx_node_get(directive, "type");
    const char *known[SX_MAX_LEVELS];
    sx_factor_row row = {0};
    size_t n = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) n += sx_node_get(directive, keys[i]) != NULL;
    for (int s = 0; s < r->arch->n_levels; s++) known[s] = r->arch->level[s].name;
    *idle = factors && n == directive->n && (sx_node_is(type, "temporal") || sx_node_is(type, "spatial")) &&
            !sx_name_nearest(sx_node_get(directive, "target")->text, known, r->arch->n_levels);
    if (only && sx_node_empty(only)) *idle = directive->n == 3;
    if (!*idle || only) return SX_OK;
    SX_TRY(sx_factors_read(r->input, factors, r->problem, &row));
    for (int d = 0; d < r->problem->n_dims; d++) *idle &= !row.dim[d].written || row.dim[d].value == 1;
    return SX_OK;
}

/* Passes over a directive for no known level if it changes nothing, else gives the error back. */
static SX_MUST_USE sx_status pass_over(const reader *r, const sx_node *directive, SX_TAKE sx_status unknown) {
    const sx_node *target = sx_node_get(directive, "target");
    bool idle = false;
    if (!target || target->kind != SX_NODE_SCALAR) return unknown;
    sx_status status = is_idle(r, directive, &idle);
    if (!status && !idle) return unknown;
    sx_status_free(unknown);
    SX_TRY(status);
    return sx_input_add_note(r->input, target->place,
                             "there is no level '%.64s'; ignored, as its loops have one iteration",
                             target->text);
}

/* Reads what temporal and spatial directives share into a level's row, factors and order. */
static SX_MUST_USE sx_status read_loops(reader *r, const sx_node *directive, int level, int kind,
                                        uint32_t *factor, uint8_t *order_out) {
    size_t index = (size_t)(2 * level + kind);
    const sx_node *factors = sx_node_get(directive, "factors");
    if (r->seen[index].file)
        return sx_error_hint(
            sx_error_at(directive->place, "a second %s directive for '%s'",
                        kind == SPATIAL ? "spatial" : "temporal", r->arch->level[level].name),
            "the first is at %s:%d:%d", r->seen[index].file, r->seen[index].line, r->seen[index].column);
    r->seen[index] = directive->place;
    if (factors) SX_TRY(sx_factors_read(r->input, factors, r->problem, &r->row[index]));
    for (int d = 0; d < r->problem->n_dims; d++)
        if (r->row[index].dim[d].written) factor[d] = r->row[index].dim[d].value;
    return read_order(r, directive, order_out);
}

static SX_MUST_USE sx_status read_temporal(reader *r, const sx_node *directive, int level) {
    sx_mapping_level *out = &r->mapping.level[level];
    SX_TRY(sx_node_check_keys(r->input, directive, "a temporal directive", &sx_keys_temporal_directive));
    SX_TRY(read_loops(r, directive, level, TEMPORAL, out->temporal, out->temporal_order));
    SX_TRY(read_tensors(r, directive, "no_temporal_reuse", &out->no_temporal_reuse));
    SX_TRY(read_tensors(r, directive, "no_reuse", &out->no_temporal_reuse));
    SX_TRY(read_tensors(r, directive, "rmw_on_first_writeback", &out->rmw_first_update));
    return read_tensors(r, directive, "rmw_first_update", &out->rmw_first_update);
}

/* Reads how much of the last dimension on X lies there, where the rest of it lies on Y. */
static SX_MUST_USE sx_status read_x_part(const sx_node *directive, sx_mapping_level *out) {
    const sx_node *node = sx_node_get(directive, "x_part");
    uint64_t part = 0;
    if (!node) return SX_OK;
    SX_TRY(sx_node_get_u64(directive, "x_part", &part));
    out->x_part = (uint16_t)part;
    if (part > 1 && part <= UINT16_MAX && sx_axes_good(out)) return SX_OK;
    return sx_error_hint(sx_error_at(node->place, "x_part must be a divisor of the last factor on X"),
                         "the other iterations of that dimension, at least as many again, lie on Y");
}

static SX_MUST_USE sx_status read_spatial(reader *r, const sx_node *directive, int level) {
    sx_mapping_level *out = &r->mapping.level[level];
    uint64_t split = r->problem->n_dims;
    SX_TRY(sx_node_check_keys(r->input, directive, "a spatial directive", &sx_keys_spatial_directive));
    SX_TRY(read_loops(r, directive, level, SPATIAL, out->spatial, out->spatial_order));
    bool fanout = sx_arch_fanout_x(r->arch, level) * sx_arch_fanout_y(r->arch, level) > 1;
    for (int d = 0; d < r->problem->n_dims && !fanout; d++)
        if (out->spatial[d] > 1)
            return sx_error_hint(sx_error_at(r->row[2 * level + SPATIAL].dim[d].place,
                                             "spatial loops at '%s', which has no fan-out",
                                             r->arch->level[level].name),
                                 "there are as many instances inside it as of itself");
    SX_TRY(sx_node_get_u64(directive, "split", &split));
    SX_TRY(sx_split_check(r->input, sx_node_pair(directive, "split"), split, r->problem, true));
    out->split = split < r->problem->n_dims ? (uint8_t)split : r->problem->n_dims;
    SX_TRY(read_x_part(directive, out));
    SX_TRY(read_tensors(r, directive, "no_multicast", &out->no_multicast));
    SX_TRY(read_tensors(r, directive, "no_multicast_no_reduction", &out->no_multicast));
    SX_TRY(read_tensors(r, directive, "no_reuse", &out->no_multicast));
    return read_tensors(r, directive, "no_link_transfer", &out->no_link_transfer);
}

/* Checks that a level said to be the innermost one is. */
static SX_MUST_USE sx_status check_innermost(const reader *r, const sx_node *directive, int level) {
    bool innermost = false;
    SX_TRY(sx_node_get_bool(directive, "innermost", &innermost));
    if (!innermost || level == 0) return SX_OK;
    return sx_error_hint(sx_error_at(directive->place, "the mapping ends at '%s', but '%s' lies inside it",
                                     r->arch->level[level].name, r->arch->level[level - 1].name),
                         "is the file cut off, or of another architecture?");
}

static SX_MUST_USE sx_status read_kept(reader *r, const sx_node *directive, int level) {
    SX_TRY(sx_node_check_keys(r->input, directive, "a bypass directive", &sx_keys_tensor_directive));
    SX_TRY(check_innermost(r, directive, level));
    SX_TRY(read_tensors(r, directive, "keep", &r->keep[level]));
    SX_TRY(read_tensors(r, directive, "bypass", &r->bypass[level]));
    uint8_t *passed = &r->mapping.level[level].no_coalesce;
    SX_TRY(read_tensors(r, directive, "no_coalesce", passed));
    SX_TRY(sx_check_no_coalesce(r->input, sx_node_pair(directive, "no_coalesce"), r->arch, level, passed));
    if (sx_node_get(directive, "keep_only")) {
        uint8_t only = 0;
        SX_TRY(read_tensors(r, directive, "keep_only", &only));
        r->keep[level] |= only;
        r->bypass[level] |= (uint8_t)(((1u << r->problem->n_tensors) - 1) & ~only);
    }
    unsigned both = r->keep[level] & r->bypass[level];
    for (int v = 0; v < r->problem->n_tensors; v++)
        if (both & 1u << v)
            return sx_error_at(directive->place, "'%s' both keeps and bypasses '%s'",
                               r->arch->level[level].name, r->problem->tensor[v].name);
    return SX_OK;
}

static SX_MUST_USE sx_status read_directive(reader *r, const sx_node *directive) {
    static const char *const types[] = {"temporal", "spatial", "bypass", "datatype", "dataspace"};
    const sx_node *type;
    int level = 0;
    SX_TRY(sx_node_expect(directive, SX_NODE_MAP, "a directive of the mapping"));
    SX_TRY(sx_node_require(directive, "type", "a directive", &type));
    sx_status unknown = find_target(r, directive, &level);
    if (unknown) return pass_over(r, directive, unknown);
    if (sx_node_is(type, "temporal")) return read_temporal(r, directive, level);
    if (sx_node_is(type, "spatial")) return read_spatial(r, directive, level);
    for (int i = 2; i < 5; i++)
        if (sx_node_is(type, types[i])) return read_kept(r, directive, level);
    if (sx_node_is(type, "skew") || sx_node_is(type, "utilization") ||
        sx_node_is(type, "max_overbooked_proportion"))
        return sx_error_at(
            type->place, "directives of type '%s' are not supported and would change the result", type->text);
    const char *text;
    SX_TRY(sx_node_text(type, "type", &text));
    return sx_error_unknown(type->place, "type of directive", text, types, 5);
}

/* The mapping before any directive: no loops, tensors where levels are built for them. */
static void start_mapping(reader *r) {
    sx_mapping_init(&r->mapping, r->problem, r->arch);
    sx_mapping_level *outermost = &r->mapping.level[r->arch->n_levels - 1];
    for (int d = 0; d < r->problem->n_dims; d++) outermost->temporal[d] = 1;
    for (int s = 0; s < r->arch->n_levels; s++) r->mapping.level[s].split = 0;
}

/* Reads all directives and checks them together. */
static SX_MUST_USE sx_status read_mapping(reader *r, const sx_node *list) {
    start_mapping(r);
    for (size_t i = 0; i < list->n; i++) SX_TRY(read_directive(r, list->item[i]));
    for (int s = 0; s < r->arch->n_levels; s++) {
        sx_mapping_level *level = &r->mapping.level[s];
        level->keep = (uint8_t)((level->keep | r->keep[s]) & ~r->bypass[s]);
    }
    return sx_factors_check(r->row, 2u * r->arch->n_levels, r->problem, r->arch, list->place);
}

sx_status sx_input_mapping(sx_input *input, const sx_problem *problem, const sx_arch *arch, sx_mapping *out) {
    const sx_pair *section;
    SX_TRY(sx_input_single(input, "mapping", &section));
    if (!section)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "no mapping given"),
                             "a file with 'mapping:' is needed");
    return sx_timeloop_directives(input, section->value, problem, arch, out);
}

sx_status sx_timeloop_directives(sx_input *input, const sx_node *list, const sx_problem *problem,
                                 const sx_arch *arch, sx_mapping *out) {
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "'mapping'"));
    reader *r = sx_arena_alloc(sx_input_arena(input), 1, sizeof *r);
    if (!r) return sx_arena_error(sx_input_arena(input));
    r->input = input;
    r->problem = problem;
    r->arch = arch;
    SX_TRY(read_mapping(r, list));
    if (sx_input_is_like_timeloop(input) && !sx_mapping_perfect(&r->mapping, problem))
        SX_TRY(sx_input_warn(input, list->place, SX_REMAINDERS_UNLIKE));
    memcpy(out, &r->mapping, sizeof *out);
    return SX_OK;
}
