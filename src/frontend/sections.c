#include "frontend/sections.h"
#include "frontend/keys.h"

#include "frontend/timeloop/constraints.h"
#include "frontend/timeloop/mapper_section.h"
#include "text/document/scan.h"

#include <stdlib.h>
#include <string.h>

static const sx_key_rule section_rules[] = {
    {"architecture", SX_KEY_USED, NULL},
    {"arch", SX_KEY_USED, NULL},
    {"problem", SX_KEY_USED, NULL},
    {"graph", SX_KEY_USED, NULL},
    {"network", SX_KEY_USED, NULL},
    {"mapping", SX_KEY_USED, NULL},
    {"fused", SX_KEY_USED, NULL},
    {"timing", SX_KEY_USED, NULL},
    {"ERT", SX_KEY_USED, NULL},
    {"variables", SX_KEY_USED, NULL},
    {"compound_components", SX_KEY_USED, NULL},
    {"components", SX_KEY_USED, NULL},
    {"constraints", SX_KEY_USED, NULL},
    {"architecture_constraints", SX_KEY_USED, NULL},
    {"arch_constraints", SX_KEY_USED, NULL},
    {"mapspace_constraints", SX_KEY_USED, NULL},
    {"sparse_optimizations", SX_KEY_USED, NULL},
    {"globals", SX_KEY_USED, NULL},
    {"mapper", SX_KEY_USED, NULL},
    {"mapspace", SX_KEY_USED, NULL},
    {"model", SX_KEY_NO_BEARING, NULL},
    {"ART", SX_KEY_USED, NULL},
    {"ART_summary", SX_KEY_NO_BEARING, NULL},
    {"ERT_summary", SX_KEY_NO_BEARING, NULL},
    {"energy_estimation", SX_KEY_NO_BEARING, NULL},
    {"dumped_by_timeloop_front_end", SX_KEY_NO_BEARING, NULL},
    {"certificate", SX_KEY_NO_BEARING, NULL},
    {"fused_certificate", SX_KEY_NO_BEARING, NULL},
    {"version", SX_KEY_NO_BEARING, NULL},
};
enum { N_SECTION_RULES = sizeof section_rules / sizeof section_rules[0] };

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
    for (size_t i = 0; i < N_SECTION_RULES; i++)
        if (sx_key_equal(section_rules[i].key, key)) return true;
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

sx_status sx_sections_check(sx_input *input, const sx_node *root) {
    SX_TRY(sx_node_expect(root, SX_NODE_MAP, "the document"));
    for (size_t i = 0; i < root->n; i++) {
        const sx_pair *section = &root->pair[i];
        if (sx_constraints_section(section->key)) continue;
        bool known = known_section(section->key);
        if (section->value->anchored && !known) continue;
        if (!known && is_set_aside(section)) continue;
        if (!known && !sx_key_missing(root, section->key, section_rules, N_SECTION_RULES)) {
            SX_TRY(sx_input_warn(input, section->place, "the section '%.64s' is not known and not read",
                                 section->key));
            continue;
        }
        SX_TRY(
            sx_node_check_key(input, root, section, "key", "the document", section_rules, N_SECTION_RULES));
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
