/* The dialect of v0.2 and v0.3: a tree of subtrees, outermost first, each with local components. Ranges in
 * names multiply down the tree. This is also what Timeloop's front end writes for v0.4. */
#include "frontend/known_keys.h"
#include "frontend/timeloop/arch_builder.h"

#include <stdio.h>
#include <string.h>

/* A fan-out that the front end made: a component of its own class and name. */
static bool is_fanout(const sx_arch_component *e) {
    const char prefix[] = "inter_", suffix[] = "_spatial";
    size_t p = sizeof prefix - 1, s = sizeof suffix - 1;
    return strcmp(e->class, "dummy_storage") == 0 && e->name_size > p + s &&
           strncmp(e->name, prefix, p) == 0 && strncmp(e->name + e->name_size - s, suffix, s) == 0;
}

/* Adds a component, by the role its class has. */
static sx_status add_component(sx_arch_builder *b, const sx_node *node, sx_arch_component *e,
                               const char *what) {
    sx_keys keys;
    sx_storage *level;
    const sx_node *attributes;
    switch (sx_class_role(e->class)) {
    case SX_ROLE_STORAGE:
        keys = sx_storage_keys(false);
        SX_TRY(sx_attributes_check(b->input, e->attributes->map, what, &keys));
        return is_fanout(e) ? sx_builder_fanout(b, e) : sx_builder_storage(b, e, &level);
    case SX_ROLE_COMPUTE:
        keys = sx_compute_keys(false);
        SX_TRY(sx_attributes_check(b->input, e->attributes->map, what, &keys));
        return sx_builder_compute(b, e);
    case SX_ROLE_VECTOR:
        SX_TRY(sx_node_require(node, "attributes", what, &attributes));
        return sx_arch_read_vector(b, attributes, e->attributes->outer, e->instances);
    case SX_ROLE_NETWORK:
        SX_TRY(sx_builder_extra(b, e));
        return sx_builder_network(b, e);
    case SX_ROLE_NOTHING:
    case SX_ROLE_NONE:
        break;
    }
    const char *meant = sx_class_meant(b->input, e->class);
    if (meant && sx_class_role(meant) < SX_ROLE_NETWORK)
        return sx_class_unknown(b->input, sx_node_get(node, "class"));
    SX_TRY(sx_builder_extra(b, e));
    return sx_input_add_note(b->input, node->place, "%s of class '%.64s' is neither storage nor compute",
                             what, e->class);
}

static const sx_key_rule v3_component_rules[] = {
    SX_KEY("name", "text!", "its name; a range such as PE[0..13] gives instances"),
    SX_KEY("class", "text!",
           "DRAM, SRAM, regfile, smartbuffer or storage for storage, mac or compute for the compute units, "
           "vector "
           "for the vector unit"),
    SX_KEY("attributes", "@storage|@compute|@vector_unit|null", "its attributes"),
    SX_KEY_FOR_ESTIMATE("subclass", "text", "what an estimate takes for its class"),
    SX_KEY_IDLE("enabled"),
    SX_KEY_IDLE("required_actions"),
    SX_KEY_IDLE("area_share"),
};
const sx_keys sx_keys_v3_component = SX_KEYS("v3_component", true, v3_component_rules);

static sx_status read_component(sx_arch_builder *b, const sx_node *node, uint64_t outer,
                                const sx_attribute_scope *names) {
    const sx_node *name, *class;
    char what[SX_NAME_SIZE + 32];
    SX_TRY(sx_node_expect(node, SX_NODE_MAP, "a component"));
    SX_TRY(sx_node_require(node, "name", "the component", &name));
    SX_TRY(sx_node_require(node, "class", "the component", &class));
    const sx_attribute_scope scope = {.map = sx_node_get(node, "attributes"), .outer = names};
    sx_arch_component element = {.place = name->place, .attributes = &scope};
    SX_TRY(sx_node_text(name, "name", &element.name));
    SX_TRY(sx_node_text(class, "class", &element.class));
    if (sx_node_get(node, "subclass"))
        SX_TRY(sx_node_text(sx_node_get(node, "subclass"), "subclass", &element.subclass));
    SX_TRY(sx_name_range(name, element.name, &element.name_size, &element.instances));
    snprintf(what, sizeof what, "the component '%.*s'", SX_NAME_SIZE - 1, element.name);
    SX_TRY(sx_node_check_keys(b->input, node, what, &sx_keys_v3_component));
    if (element.instances > UINT32_MAX / outer)
        return sx_error_at(name->place, "'%s' has too many instances", element.name);
    element.instances *= outer;
    return add_component(b, node, &element, what);
}

/* Takes the clock of a subtree's attributes, and says of the others that they do not reach its components. */
static sx_status read_attributes(sx_arch_builder *b, const sx_node *attributes,
                                 const sx_attribute_scope *names) {
    for (size_t i = 0; attributes && attributes->kind == SX_NODE_MAP && i < attributes->n; i++) {
        const sx_pair *pair = &attributes->pair[i];
        double seconds;
        if (sx_key_equal(pair->key, SX_CYCLE_KEY)) {
            SX_TRY(sx_attribute_number(names, pair->value, SX_CYCLE_KEY, &seconds));
            SX_TRY(sx_builder_clock(b, pair->value->place, seconds));
            continue;
        }
        if (sx_key_equal(pair->key, "technology")) {
            double node;
            SX_TRY(sx_process_node(pair->value, &node));
            if (node > 0) b->node = node;
            if (node > 0) continue;
        }
        SX_TRY(sx_input_add_note(b->input, pair->place,
                                 "the attribute '%.64s' of a subtree does not reach its components",
                                 pair->key));
    }
    return SX_OK;
}

/* The name of an architecture: that of its outermost subtree, without what the front end adds to it. */
static void set_name(sx_arch_builder *b, const char *name, size_t size) {
    const char suffix[] = "_top_level";
    size_t s = sizeof suffix - 1;
    if (size > s && strncmp(name + size - s, suffix, s) == 0) size -= s;
    if (size < SX_NAME_SIZE) memcpy(b->arch.name, name, size);
}

static const sx_key_rule v3_subtree_rules[] = {
    SX_KEY("name", "text!", "its name; a range gives instances"),
    SX_KEY("attributes", "{any}|null", "the clock and the process node"),
    SX_KEY("local", "[@v3_component]|null", "its components"),
    SX_KEY("subtree", "[@v3_subtree]|null", "the next inner one, exactly one"),
};
const sx_keys sx_keys_v3_subtree = SX_KEYS("v3_subtree", true, v3_subtree_rules);

/* Reads one subtree: its local components, with `outer` becoming the number of its own instances. */
static sx_status read_subtree(sx_arch_builder *b, const sx_node *tree, const sx_attribute_scope *names,
                              bool top, uint64_t *outer) {
    const sx_node *name;
    const char *text;
    size_t size;
    uint64_t instances;
    SX_TRY(sx_node_check_keys(b->input, tree, "a subtree", &sx_keys_v3_subtree));
    SX_TRY(sx_node_require(tree, "name", "the subtree", &name));
    SX_TRY(sx_node_text(name, "name", &text));
    SX_TRY(sx_name_range(name, text, &size, &instances));
    if (instances > UINT32_MAX / *outer) return sx_error_at(name->place, "'%s' has too many instances", text);
    *outer *= instances;
    if (top) set_name(b, text, size);
    SX_TRY(read_attributes(b, sx_node_get(tree, "attributes"), names));
    const sx_node *local = sx_node_get(tree, "local");
    if (!local || local->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_expect(local, SX_NODE_LIST, "'local'"));
    for (size_t i = 0; i < local->n; i++) SX_TRY(read_component(b, local->item[i], *outer, names));
    return SX_OK;
}

static const sx_key_rule v3_arch_rules[] = {
    SX_KEY("version", "any", "0.2 or 0.3"),
    SX_KEY("subtree", "[@v3_subtree]!", "the outermost one"),
    SX_KEY("constraints", "@constraints", "constraints of mappings"),
    SX_KEY("vector", "@vector_unit", "the unit for softmax, norms and the like"),
    SX_KEY_IDLE("name"),
};
const sx_keys sx_keys_v3_arch = SX_KEYS("v3_arch", true, v3_arch_rules);

sx_status sx_arch_read_v3(sx_arch_builder *b, const sx_node *arch, const sx_attribute_scope *variables) {
    SX_TRY(sx_node_check_keys(b->input, arch, "the architecture", &sx_keys_v3_arch));
    const sx_node *version = sx_node_get(arch, "version"), *tree = arch, *subtree;
    if (version && !sx_node_is(version, "0.2") && !sx_node_is(version, "0.3") && !sx_node_is(version, "0.4"))
        return sx_error_hint(sx_error_at(version->place, "unknown version of the architecture format"),
                             "supported: 0.2, 0.3, 0.4");
    uint64_t instances = 1;
    while ((subtree = sx_node_get(tree, "subtree")) && subtree->kind != SX_NODE_NULL) {
        SX_TRY(sx_node_expect(subtree, SX_NODE_LIST, "'subtree'"));
        if (subtree->n != 1)
            return sx_error_at(subtree->place, "a subtree has %zu subtrees; exactly one is allowed",
                               subtree->n);
        SX_TRY(read_subtree(b, subtree->item[0], variables, tree == arch, &instances));
        tree = subtree->item[0];
    }
    return SX_OK;
}
