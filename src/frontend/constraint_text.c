#include "frontend/constraint_text.h"

#include "frontend/constraints.h"

#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

static const char in_mapping[] = "give it in the mapping";

static const sx_key_rule loop_rules[] = {
    {"type", SX_KEY_USED, NULL},
    {"target", SX_KEY_USED, NULL},
    {"factors", SX_KEY_USED, NULL},
    {"permutation", SX_KEY_USED, NULL},
    {"split", SX_KEY_USED, NULL},
    {"default_max_factor", SX_KEY_USED, NULL},
    {"default_min_factor", SX_KEY_USED, NULL},
    {"remainders", SX_KEY_USED, NULL},
    {"factors_only", SX_KEY_USED, NULL},
    {"maximize_dims", SX_KEY_USED, NULL},
    {"maximize_dims_capacity", SX_KEY_USED, NULL},
    {"no_iteration_over_dataspaces", SX_KEY_USED, NULL},
    {"must_iterate_over_dataspaces", SX_KEY_USED, NULL},
    {"no_reuse", SX_KEY_UNSUPPORTED, in_mapping},
    {"no_temporal_reuse", SX_KEY_UNSUPPORTED, in_mapping},
    {"no_multicast_no_reduction", SX_KEY_UNSUPPORTED, in_mapping},
    {"no_link_transfer", SX_KEY_UNSUPPORTED, in_mapping},
    {"rmw_first_update", SX_KEY_UNSUPPORTED, in_mapping},
};

static const sx_key_rule tensor_rules[] = {
    {"type", SX_KEY_USED, NULL},
    {"target", SX_KEY_USED, NULL},
    {"keep", SX_KEY_USED, NULL},
    {"bypass", SX_KEY_USED, NULL},
    {"keep_only", SX_KEY_USED, NULL},
    {"bypass_only", SX_KEY_USED, NULL},
    {"no_coalesce", SX_KEY_UNSUPPORTED, NULL},
};

static const sx_key_rule limit_rules[] = {
    {"type", SX_KEY_USED, NULL},
    {"target", SX_KEY_USED, NULL},
    {"min", SX_KEY_USED, NULL},
    {"proportion", SX_KEY_USED, NULL},
};

/* The rules for the keys of each type. */
static const struct {
    const sx_key_rule *rules;
    size_t n;
} keys[] = {
    [SX_TEMPORAL_CONSTRAINT] = {loop_rules, N(loop_rules)},
    [SX_SPATIAL_CONSTRAINT] = {loop_rules, N(loop_rules)},
    [SX_TENSOR_CONSTRAINT] = {tensor_rules, N(tensor_rules)},
    [SX_PARALLELISM_CONSTRAINT] = {limit_rules, N(limit_rules)},
    [SX_OVERBOOKING_CONSTRAINT] = {limit_rules, N(limit_rules)},
};

/* The types by the names that the versions give them. */
static const struct {
    const char *name;
    sx_constraint_type type;
} kinds[] = {
    {"temporal", SX_TEMPORAL_CONSTRAINT},
    {"spatial", SX_SPATIAL_CONSTRAINT},
    {"dataspace", SX_TENSOR_CONSTRAINT},
    {"datatype", SX_TENSOR_CONSTRAINT},
    {"bypass", SX_TENSOR_CONSTRAINT},
    {"bypassing", SX_TENSOR_CONSTRAINT},
    {"utilization", SX_PARALLELISM_CONSTRAINT},
    {"parallelism", SX_PARALLELISM_CONSTRAINT},
    {"max_overbooked_proportion", SX_OVERBOOKING_CONSTRAINT},
};

/* Gives a constraint the type of that name. */
static sx_status set_type(sx_constraint *c, const char *name, sx_place place) {
    const char *known[N(kinds)];
    for (size_t i = 0; i < N(kinds); i++) {
        known[i] = kinds[i].name;
        if (!sx_key_equal(name, kinds[i].name)) continue;
        c->name = kinds[i].name;
        c->type = kinds[i].type;
        return SX_OK;
    }
    return sx_error_unknown(place, "kind of constraint", name, known, N(kinds));
}

sx_status sx_constraint_check(sx_input *input, const sx_constraint *c) {
    SX_TRY(sx_node_expect(c->map, SX_NODE_MAP, "a constraint"));
    return sx_node_check_keys(input, c->map, "a constraint", keys[c->type].rules, keys[c->type].n);
}

sx_status sx_constraints_beside(const sx_node *node, const char *name, sx_constraint_visitor *each,
                                void *user) {
    if (!node || node->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_expect(node, SX_NODE_MAP, "'constraints'"));
    for (size_t i = 0; i < node->n; i++) {
        const sx_pair *pair = &node->pair[i];
        sx_constraint c = {.target = name, .place = pair->place, .map = pair->value};
        SX_TRY(set_type(&c, pair->key, pair->place));
        if (c.map->kind != SX_NODE_NULL) SX_TRY(each(user, &c));
    }
    return SX_OK;
}

/* The list of targets of a section of constraints, NULL where it is empty. */
static sx_status section_targets(const sx_pair *section, const sx_node **out) {
    const sx_node *targets = section->value;
    if (targets->kind == SX_NODE_MAP)
        targets = sx_node_get(section->value, sx_node_get(targets, "targets") ? "targets" : "constraints");
    *out = NULL;
    if (!targets || targets->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_expect(targets, SX_NODE_LIST, section->key));
    *out = targets;
    return SX_OK;
}

/* Reads what a target of a section says of itself. */
static sx_status read_target(const sx_node *target, sx_constraint *c) {
    const sx_node *type, *at;
    SX_TRY(sx_node_expect(target, SX_NODE_MAP, "a constraint"));
    SX_TRY(sx_node_require(target, "type", "the constraint", &type));
    SX_TRY(sx_node_require(target, "target", "the constraint", &at));
    SX_TRY(sx_node_expect(type, SX_NODE_SCALAR, "'type'"));
    SX_TRY(sx_node_text(at, "target", &c->target));
    c->place = at->place;
    c->map = target;
    return set_type(c, type->text, type->place);
}

sx_status sx_constraints_in_sections(const sx_input *input, bool search, sx_constraint_visitor *each,
                                     void *user) {
    const sx_pair *section;
    for (size_t i = 0; (section = sx_input_section(input, NULL, i)); i++) {
        const sx_node *targets = NULL;
        if (sx_constraints_section(section->key) || (search && sx_key_equal(section->key, "mapspace")))
            SX_TRY(section_targets(section, &targets));
        for (size_t t = 0; targets && t < targets->n; t++) {
            sx_constraint c = {.section = section->key};
            SX_TRY(read_target(targets->item[t], &c));
            SX_TRY(each(user, &c));
        }
    }
    return SX_OK;
}
