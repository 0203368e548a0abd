#include "frontend/constraints.h"

#include "base/text.h"

#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

static const char in_mapping[] = "say it in the mapping";

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

/* The kinds of constraints by the names the versions give them. */
static const struct kind {
    const char *name;
    const sx_key_rule *rules;
    size_t n;
} kinds[] = {
    {"temporal", loop_rules, N(loop_rules)},
    {"spatial", loop_rules, N(loop_rules)},
    {"dataspace", tensor_rules, N(tensor_rules)},
    {"datatype", tensor_rules, N(tensor_rules)},
    {"bypass", tensor_rules, N(tensor_rules)},
    {"bypassing", tensor_rules, N(tensor_rules)},
    {"utilization", limit_rules, N(limit_rules)},
    {"parallelism", limit_rules, N(limit_rules)},
    {"max_overbooked_proportion", limit_rules, N(limit_rules)},
};

static sx_status find_kind(const char *name, sx_place place, const struct kind **out) {
    const char *known[N(kinds)];
    for (size_t i = 0; i < N(kinds); i++) {
        known[i] = kinds[i].name;
        if (sx_key_equal(name, kinds[i].name)) {
            *out = &kinds[i];
            return SX_OK;
        }
    }
    return sx_error_unknown(place, "kind of constraint", name, known, N(kinds));
}

static bool in_set(const sx_name_set *set, const char *name) {
    for (int i = 0; i < set->n; i++)
        if (strcmp(set->name[i], name) == 0) return true;
    return false;
}

/* Adds a name to a set; a visitor for sx_node_names. */
static sx_status add_name(void *user, const char *name, sx_place place) {
    sx_name_set *set = user;
    if (strcmp(name, "*") == 0) {
        set->all = true;
        return SX_OK;
    }
    if (in_set(set, name)) return SX_OK;
    if (set->n == SX_MAX_TENSORS)
        return sx_error_at(place, "at most %d tensors can be named here", SX_MAX_TENSORS);
    sx_status error = sx_text_name(set->name[set->n], SX_NAME_SIZE, name, "a tensor");
    if (error) return sx_error_place(error, place);
    set->n++;
    return SX_OK;
}

/* Adds the names under a key of a map, where it is there. */
static sx_status add_names(const sx_node *map, const char *key, sx_name_set *set) {
    const sx_node *node = sx_node_get(map, key);
    return node ? sx_node_names(node, key, add_name, set) : SX_OK;
}

/* Adds a set to a level's list of tensors. */
static sx_status extend(char (*list)[SX_NAME_SIZE], uint8_t *n, const sx_name_set *more, sx_place place) {
    sx_name_set set = {.n = *n};
    memcpy(set.name, list, sizeof set.name);
    for (int i = 0; i < more->n; i++) SX_TRY(add_name(&set, more->name[i], place));
    memcpy(list, set.name, sizeof set.name);
    *n = set.n;
    return SX_OK;
}

sx_status sx_tensor_names(const sx_node *map, const char *key, char (*list)[SX_NAME_SIZE], uint8_t *n) {
    sx_name_set names = {0};
    SX_TRY(add_names(map, key, &names));
    return extend(list, n, &names, sx_node_key_place(map, key));
}

/* Gives a level its tensors. `keep` alone forces a search, but a level keeps by default anyway: only
 * keep_only and bypass take something away. */
static sx_status read_tensors(const sx_node *map, sx_storage *level) {
    sx_name_set keep = {0}, bypass = {0}, only = {0};
    SX_TRY(add_names(map, "keep", &keep));
    SX_TRY(add_names(map, "keep_only", &only));
    SX_TRY(add_names(map, "bypass", &bypass));
    SX_TRY(add_names(map, "bypass_only", &bypass));
    for (int i = 0; i < bypass.n; i++)
        if (in_set(&keep, bypass.name[i]) || in_set(&only, bypass.name[i]))
            return sx_error_at(sx_node_key_place(map, "bypass"), "'%s' is both kept and bypassed",
                               bypass.name[i]);
    if (bypass.all) level->transparent = true;
    if (sx_node_get(map, "keep_only") && !only.all && only.n == 0) level->transparent = true;
    if (!only.all) SX_TRY(extend(level->keeps, &level->n_keeps, &only, map->place));
    return extend(level->bypasses, &level->n_bypasses, &bypass, map->place);
}

/* Checks one constraint and, where it is about tensors and there is a level, applies it. */
static sx_status read_constraint(sx_input *input, const struct kind *kind, const sx_node *map,
                                 const char *name, sx_storage *level) {
    if (map->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "a constraint"));
    SX_TRY(sx_node_check_keys(input, map, "a constraint", kind->rules, kind->n));
    if (kind->rules == tensor_rules && level) return level->transparent ? SX_OK : read_tensors(map, level);
    return sx_input_add_note(input, map->place, "the %s constraint of '%.64s' steers searches only",
                             kind->name, name);
}

sx_status sx_constraints_inline(sx_input *input, const sx_node *node, const char *name, sx_storage *level) {
    if (!node || node->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_expect(node, SX_NODE_MAP, "'constraints'"));
    for (size_t i = 0; i < node->n; i++) {
        const struct kind *kind;
        SX_TRY(find_kind(node->pair[i].key, node->pair[i].place, &kind));
        SX_TRY(read_constraint(input, kind, node->pair[i].value, name, level));
    }
    return SX_OK;
}

bool sx_constraints_section(const char *key) {
    return strstr(key, "constraints");
}

/* The list of targets of a section of constraints, NULL where it is empty. */
static sx_status section_targets(const sx_pair *section, const sx_node **out) {
    const sx_node *targets = section->value;
    if (targets->kind == SX_NODE_MAP) targets = sx_node_get(targets, "targets");
    *out = NULL;
    if (!targets || targets->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_expect(targets, SX_NODE_LIST, section->key));
    *out = targets;
    return SX_OK;
}

/* The kind of a target and the name of what it is for. */
static sx_status read_target(const sx_node *target, const struct kind **kind, const char **name) {
    const sx_node *type, *at;
    SX_TRY(sx_node_expect(target, SX_NODE_MAP, "a constraint"));
    SX_TRY(sx_node_require(target, "type", "the constraint", &type));
    SX_TRY(sx_node_require(target, "target", "the constraint", &at));
    SX_TRY(sx_node_expect(type, SX_NODE_SCALAR, "'type'"));
    SX_TRY(sx_node_text(at, "target", name));
    return find_kind(type->text, type->place, kind);
}

/* Adds the tensors of `keep` and `keep_only`. */
static sx_status add_keeps(const sx_node *map, sx_name_set *keeps) {
    SX_TRY(add_names(map, "keep", keeps));
    return add_names(map, "keep_only", keeps);
}

sx_status sx_constraints_keeps(sx_input *input, const sx_node *node, const char *name, sx_name_set *keeps) {
    SX_TRY(add_keeps(sx_node_get(node, "dataspace"), keeps));
    const sx_pair *section;
    for (size_t i = 0; name && (section = sx_input_section(input, NULL, i)); i++) {
        const sx_node *targets = NULL;
        if (sx_constraints_section(section->key)) SX_TRY(section_targets(section, &targets));
        for (size_t t = 0; targets && t < targets->n; t++) {
            const struct kind *kind;
            const char *at;
            SX_TRY(read_target(targets->item[t], &kind, &at));
            if (kind->rules == tensor_rules && strcmp(at, name) == 0)
                SX_TRY(add_keeps(targets->item[t], keeps));
        }
    }
    return SX_OK;
}

/* Reads one target of a section. */
static sx_status apply_target(sx_input *input, const sx_node *target, bool counts, sx_arch *arch) {
    const struct kind *kind;
    const char *name;
    SX_TRY(read_target(target, &kind, &name));
    int level = sx_arch_level(arch, name);
    if (counts && kind->rules == tensor_rules && level < 0 && strcmp(name, arch->compute.name) != 0) {
        const char *known[SX_MAX_LEVELS];
        for (int s = 0; s < arch->n_levels; s++) known[s] = arch->level[s].name;
        return sx_error_unknown(sx_node_get(target, "target")->place, "storage level", name, known,
                                arch->n_levels);
    }
    return read_constraint(input, kind, target, name, counts && level >= 0 ? &arch->level[level] : NULL);
}

sx_status sx_constraints_sections(sx_input *input, bool mapspace, sx_arch *arch) {
    const sx_pair *section;
    for (size_t i = 0; (section = sx_input_section(input, NULL, i)); i++) {
        if (!sx_constraints_section(section->key)) continue;
        const sx_node *targets;
        bool counts = mapspace || strstr(section->key, "arch");
        SX_TRY(section_targets(section, &targets));
        for (size_t t = 0; targets && t < targets->n; t++)
            SX_TRY(apply_target(input, targets->item[t], counts, arch));
    }
    return SX_OK;
}
