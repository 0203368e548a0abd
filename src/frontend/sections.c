#include "frontend/sections.h"
#include "frontend/known_keys.h"

#include "frontend/timeloop/constraint_text.h"
#include "frontend/timeloop/constraints.h"
#include "frontend/timeloop/mapper_section.h"
#include "text/document/scan.h"

#include <stdlib.h>
#include <string.h>

static const sx_key_rule section_rules[] = {
    SX_KEY("architecture", "@v3_arch|@v4_arch", "an architecture of v0.2 to v0.4"),
    SX_KEY("arch", "@flat_arch", "an architecture in the flat dialect"),
    SX_KEY("problem", "@problem", "one layer"),
    SX_KEY("graph", "@graph", "a network as nodes and tensors"),
    SX_KEY("network", "@network", "a network as a list of layers"),
    SX_KEY("mapping", "[@temporal_directive|@spatial_directive|@tensor_directive]|null",
           "a mapping, by level"),
    SX_KEY("fused", "@fused", "a fused mapping"),
    SX_KEY("timing", "@timing", "times of operators after the mapping"),
    SX_KEY("ERT", "@ert", "energies"),
    SX_KEY("variables", "{any}|[{any}]|null", "names for expressions"),
    SX_KEY("compound_components", "any", "classes made of others"),
    SX_KEY("components", "any", "the same"),
    SX_KEY("constraints", "@constraints", "constraints of mappings"),
    SX_KEY("architecture_constraints", "@constraints", "constraints of mappings"),
    SX_KEY("arch_constraints", "@constraints", "constraints of mappings"),
    SX_KEY("mapspace_constraints", "@constraints", "constraints of mappings"),
    SX_KEY("sparse_optimizations", "@sparse|[@sparse_target]|null", "formats, gating and skipping"),
    SX_KEY("globals", "any", "settings of other tools"),
    SX_KEY("mapper", "{any}|null", "the objective"),
    SX_KEY("mapspace", "@constraints", "constraints of mappings"),
    SX_KEY_IDLE("model"),
    SX_KEY("ART", "@art", "areas"),
    SX_KEY_IDLE("ART_summary"),
    SX_KEY_IDLE("ERT_summary"),
    SX_KEY_IDLE("energy_estimation"),
    SX_KEY_IDLE("dumped_by_timeloop_front_end"),
    SX_KEY_IDLE("certificate"),
    SX_KEY_IDLE("fused_certificate"),
    SX_KEY_IDLE("version"),
};
const sx_keys sx_keys_section = SX_KEYS("section", true, section_rules);

/* Timeloop's switches that change results, and the value with which they do not. */
static const struct {
    const char *name;
    bool neutral;
} switches[] = {
    {"TIMELOOP_ENABLE_FIRST_READ_ELISION", true},
    {"TIMELOOP_DISABLE_LINK_TRANSFERS", false},
    {"TIMELOOP_ENABLE_TOROIDAL_LINKS", false},
    {"TIMELOOP_ENABLE_UPDATED_RMW", false},
};

/* Refuses environment variables that would make Timeloop count differently. */
static SX_MUST_USE sx_status check_switches(const sx_node *globals) {
    const sx_node *variables = sx_node_get(globals, "environment_variables");
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        bool value = switches[i].neutral;
        SX_TRY(sx_node_get_bool(variables, switches[i].name, &value));
        if (value != switches[i].neutral)
            return sx_error_at(sx_node_key_place(variables, switches[i].name),
                               "'%s' cannot be read from a file and would change the result",
                               switches[i].name);
    }
    return SX_OK;
}

static bool known_section(const char *key) {
    for (size_t i = 0; i < sx_keys_section.n; i++)
        if (sx_key_equal(sx_keys_section.rule[i].key, key)) return true;
    return false;
}

/* Whether a section holds what others refer to, or says itself that it is not to be read. */
static bool is_set_aside(const sx_pair *section) {
    const sx_node *value = section->value;
    bool anchors = strstr(section->key, "ignore") || strncmp(section->key, "x-", 2) == 0;
    for (size_t i = 0; i < value->n && !anchors; i++)
        anchors = (value->kind == SX_NODE_MAP ? value->pair[i].value : value->item[i])->anchored;
    return anchors;
}

bool sx_section_is_constraints_by_part(const char *key) {
    return sx_constraints_section(key) && !known_section(key) &&
           strncmp(key, SX_CONSTRAINTS_OF, strlen(SX_CONSTRAINTS_OF)) != 0;
}

/* Checks a section of constraints: one of a name that is not known is read, but not silently. */
static SX_MUST_USE sx_status check_constraints(sx_input *input, const sx_node *root, const sx_pair *section) {
    if (sx_section_is_constraints_by_part(section->key)) {
        const char *meant = sx_key_missing(root, section->key, &sx_keys_section);
        SX_TRY(sx_input_warn(
            input, section->place, "the section '%.64s' is read as constraints, by a part of its name%s%s%s",
            section->key, meant ? "; is '" : "", meant ? meant : "", meant ? "' meant?" : ""));
    }
    return sx_constraints_check(input, section->value, section->key);
}

sx_status sx_sections_check(sx_input *input, const sx_node *root) {
    SX_TRY(sx_node_expect(root, SX_NODE_MAP, "the document"));
    for (size_t i = 0; i < root->n; i++) {
        const sx_pair *section = &root->pair[i];
        if (sx_constraints_section(section->key)) {
            SX_TRY(check_constraints(input, root, section));
            continue;
        }
        if (sx_key_equal(section->key, "mapspace"))
            SX_TRY(sx_constraints_check(input, section->value, section->key));
        bool known = known_section(section->key);
        if (section->value->anchored && !known) continue;
        if (!known && is_set_aside(section)) continue;
        if (!known && !sx_key_missing(root, section->key, &sx_keys_section)) {
            SX_TRY(sx_input_warn(input, section->place, "the section '%.64s' is not known and not read",
                                 section->key));
            continue;
        }
        SX_TRY(sx_node_check_key(input, root, section, "key", "the document", &sx_keys_section));
        if (sx_key_equal(section->key, "globals")) SX_TRY(check_switches(section->value));
        if (sx_key_equal(section->key, "mapper")) SX_TRY(sx_mapper_section_check(input, section));
    }
    return SX_OK;
}

/* Whether a text has a name in it that is not part of a longer one. */
static bool text_mentions(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at++)
        if (!(at > text && sx_name_continues(at[-1])) && !sx_name_continues(at[length])) return true;
    return false;
}

/* Whether a node has a name in its texts: all of them, or those below keys called constraints. */
static bool node_mentions(const sx_node *node, const char *name, bool all) {
    if (node->kind == SX_NODE_SCALAR) return all && text_mentions(node->text, name);
    for (size_t i = 0; i < node->n; i++) {
        const sx_pair *pair = node->kind == SX_NODE_MAP ? &node->pair[i] : NULL;
        const sx_node *value = pair ? pair->value : node->item[i];
        if (node_mentions(value, name, all || (pair && sx_pair_has(pair, "constraints")))) return true;
    }
    return false;
}

bool sx_section_constrains_by(const sx_pair *section, const char *name) {
    bool all = sx_constraints_section(section->key) || sx_pair_has(section, "mapspace");
    return node_mentions(section->value, name, all);
}
