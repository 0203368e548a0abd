#include "frontend/timeloop/constraint_text.h"
#include "frontend/known_keys.h"

#include "frontend/timeloop/constraints.h"

#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* What every constraint may have beside what its type allows. */
#define COMMON_KEYS                                                                                          \
    SX_KEY("type", "text", "temporal, spatial, dataspace, utilization or another kind"),                     \
        SX_KEY("target", "any", "the level"), SX_KEY("name", "any", "the level"),                            \
        SX_KEY("attributes", "any", "keys of the constraint")

static const sx_key_rule loop_constraint_rules[] = {
    COMMON_KEYS,
    SX_KEY("factors", "any", "C=4 exactly, C<=4 at most, C>=4 at least"),
    SX_KEY("permutation", "any", "the order of the loops, innermost first"),
    SX_KEY("split", "any", "dimensions of the permutation that lie on X"),
    SX_KEY("default_max_factor", "any", "bound of factors that have none"),
    SX_KEY("default_min_factor", "any", "bound of factors that have none"),
    SX_KEY("remainders", "any", "whether factors need not divide"),
    SX_KEY("factors_only", "any", "factors, and no other loops"),
    SX_KEY("maximize_dims", "any", "groups of dimensions that get the largest factors"),
    SX_KEY("maximize_dims_capacity", "any", "of a temporal constraint"),
    SX_KEY("no_iteration_over_dataspaces", "any", "no loops over the dimensions of these tensors"),
    SX_KEY("must_iterate_over_dataspaces", "any", "no loops over other dimensions"),
    SX_KEY("no_reuse", "any", "tensors that are fetched anew"),
    SX_KEY("no_temporal_reuse", "any", "tensors that are fetched anew"),
    SX_KEY("no_multicast", "any", "tensors that each child gets by itself"),
    SX_KEY("no_multicast_no_reduction", "any", "tensors that each child gets by itself"),
    SX_KEY("no_link_transfer", "any", "tensors that children do not hand on"),
    SX_KEY("rmw_first_update", "any", "outputs read before their first update"),
    SX_KEY("rmw_on_first_writeback", "any", "outputs read before their first update"),
    SX_KEY("max_utilization", "any", "ignored with a warning"),
    SX_KEY("min_utilization", "any", "ignored with a warning"),
};
const sx_keys sx_keys_loop_constraint = SX_KEYS("loop_constraint", true, loop_constraint_rules);

static const sx_key_rule tensor_constraint_rules[] = {
    COMMON_KEYS,
    SX_KEY("keep", "any", "tensors that the level keeps"),
    SX_KEY("bypass", "any", "tensors that pass it by"),
    SX_KEY("keep_only", "any", "the only tensors that it keeps"),
    SX_KEY("bypass_only", "any", "the only tensors that pass it by"),
    SX_KEY("no_coalesce", "any", "tensors whose accesses are not joined"),
    {"passthrough", SX_KEY_UNSUPPORTED, NULL, "any", NULL},
};
const sx_keys sx_keys_tensor_constraint = SX_KEYS("tensor_constraint", true, tensor_constraint_rules);

static const sx_key_rule limit_constraint_rules[] = {
    COMMON_KEYS,
    SX_KEY("min", "any", "least share of compute units in use"),
    SX_KEY("max", "any", "ignored with a warning"),
    SX_KEY("proportion", "any", "0"),
};
const sx_keys sx_keys_limit_constraint = SX_KEYS("limit_constraint", true, limit_constraint_rules);

/* A section of constraints. */
static const sx_key_rule constraints_rules[] = {
    SX_KEY("targets", "any", "the constraints, a list"),
    SX_KEY_SAME("constraints", "targets"),
    SX_KEY_IDLE("version"),
    SX_KEY_IDLE("template"),
};
static const sx_keys constraints_keys = SX_KEYS("constraints", true, constraints_rules);

/* The keys of each type. */
static const sx_keys *const keys[] = {
    [SX_TEMPORAL_CONSTRAINT] = &sx_keys_loop_constraint,
    [SX_SPATIAL_CONSTRAINT] = &sx_keys_loop_constraint,
    [SX_TENSOR_CONSTRAINT] = &sx_keys_tensor_constraint,
    [SX_PARALLELISM_CONSTRAINT] = &sx_keys_limit_constraint,
    [SX_OVERBOOKING_CONSTRAINT] = &sx_keys_limit_constraint,
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

/* Warns of limits that neither Timeloop nor a search here knows, unless they say nothing. */
static sx_status warn_dropped(sx_input *input, const sx_node *map) {
    static const char *const dropped[][2] = {
        {"max", "1"}, {"max_utilization", "1"}, {"min_utilization", "0"}};
    for (size_t i = 0; i < N(dropped); i++) {
        const sx_pair *pair = sx_node_pair(map, dropped[i][0]);
        if (!pair || sx_node_empty(pair->value) || sx_node_is(pair->value, dropped[i][1])) continue;
        SX_TRY(sx_input_warn(input, pair->place, "'%s' of a constraint is ignored, as by Timeloop",
                             dropped[i][0]));
    }
    return SX_OK;
}

sx_status sx_constraint_check(sx_input *input, const sx_constraint *c) {
    SX_TRY(sx_node_check_keys(input, c->map, "a constraint", keys[c->type]));
    return warn_dropped(input, c->map);
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

/* One walk over the constraints of all sections. */
typedef struct walk {
    const char *section;
    sx_constraint_visitor *each;
    void *user;
} walk;

/* Shows a constraint: what is under `attributes`, and what is written beside that. */
static sx_status show_constraint(const walk *w, sx_constraint *c, const sx_node *map) {
    const sx_node *attributes = sx_node_get(map, "attributes");
    size_t others = 0;
    if (attributes && attributes->kind != SX_NODE_NULL) {
        c->map = attributes;
        SX_TRY(w->each(w->user, c));
        static const char *const plain[] = {"attributes", "type", "target", "name"};
        for (size_t i = 0; i < map->n; i++) {
            size_t k = 0;
            while (k < N(plain) && !sx_key_equal(map->pair[i].key, plain[k])) k++;
            others += k == N(plain);
        }
        if (!others) return SX_OK;
    }
    c->map = map;
    return w->each(w->user, c);
}

/* Reads the type of a constraint and shows it. */
static sx_status show_typed(const walk *w, sx_constraint *c, const sx_node *map) {
    const sx_node *type;
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "a constraint"));
    SX_TRY(sx_node_require(map, "type", "the constraint", &type));
    SX_TRY(sx_node_expect(type, SX_NODE_SCALAR, "'type'"));
    SX_TRY(set_type(c, type->text, type->place));
    return show_constraint(w, c, map);
}

/* Shows what an entry of a list says: of one constraint, or of all that it lists for its target. */
static sx_status show_target(const walk *w, const sx_node *target) {
    sx_constraint c = {.section = w->section};
    SX_TRY(sx_node_expect(target, SX_NODE_MAP, "a constraint"));
    const sx_node *at = sx_node_get(target, "target"), *list = sx_node_get(target, "constraints");
    if (!at) at = sx_node_get(target, "name");
    if (!at) SX_TRY(sx_node_require(target, "target", "the constraint", &at));
    SX_TRY(sx_node_text(at, "target", &c.target));
    c.place = at->place;
    if (!list) return show_typed(w, &c, target);
    if (list->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "'constraints'"));
    for (size_t i = 0; i < list->n; i++) SX_TRY(show_typed(w, &c, list->item[i]));
    return SX_OK;
}

/* The key that `constraints: NAME` refers to, in a text of that many bytes. */
static void key_of(const sx_node *name, char *text, size_t size) {
    snprintf(text, size, SX_CONSTRAINTS_OF "%s", name->text);
}

/* Whether a list is one that `constraints: NAME` may refer to. */
static bool is_by_name(const sx_pair *pair) {
    return strncmp(pair->key, SX_CONSTRAINTS_OF, strlen(SX_CONSTRAINTS_OF)) == 0;
}

/* The error for `constraints: NAME` without a `constraints_NAME`. */
static sx_status no_such_list(const sx_node *name) {
    return sx_error_hint(sx_error_at(name->place, "there is no 'constraints_%.64s'", name->text),
                         "'constraints: NAME' refers to the list 'constraints_NAME' at the same level");
}

/* The list of constraints of a section's value, NULL where it has none: the value itself, what is under
 * `constraints`, under the name that it gives, or under `targets`. */
static sx_status list_in(const sx_node *value, const char *what, const sx_node **out) {
    char key[2 * SX_NAME_SIZE];
    const sx_node *list = value;
    *out = NULL;
    if (value->kind == SX_NODE_MAP) {
        const sx_node *own = sx_node_get(value, "constraints");
        list = own ? own : sx_node_get(value, "targets");
        if (list && list->kind == SX_NODE_MAP) return list_in(list, what, out);
        if (own && own->kind == SX_NODE_SCALAR) {
            key_of(list, key, sizeof key);
            if (!sx_node_get(value, key)) return no_such_list(list);
            list = sx_node_get(value, key);
        }
    }
    if (!list || list->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, what));
    *out = list;
    return SX_OK;
}

sx_status sx_constraints_check(sx_input *input, const sx_node *value, const char *what) {
    for (size_t i = 0; i < value->n && value->kind == SX_NODE_MAP; i++) {
        const sx_pair *pair = &value->pair[i];
        if (pair->value->anchored || is_by_name(pair)) continue;
        SX_TRY(sx_node_check_key(input, value, pair, "key", what, &constraints_keys));
        if (pair->value->kind == SX_NODE_MAP) SX_TRY(sx_constraints_check(input, pair->value, what));
    }
    return SX_OK;
}

/* The top-level section that is `constraints: NAME`, NULL where there is none. */
static const sx_pair *constraints_reference(const sx_input *input) {
    const sx_pair *section;
    for (size_t i = 0; (section = sx_input_section(input, "constraints", i)); i++)
        if (section->value->kind == SX_NODE_SCALAR) return section;
    return NULL;
}

/* Whether a section holds constraints that count: of lists by name only the one that is referred to. */
static bool section_counts(const sx_pair *section, const sx_pair *named, bool search) {
    char key[2 * SX_NAME_SIZE];
    if (sx_key_equal(section->key, "mapspace")) return search;
    if (sx_key_equal(section->key, "architecture") || sx_key_equal(section->key, "arch"))
        return sx_node_get(section->value, "constraints");
    if (!sx_constraints_section(section->key)) return false;
    if (!named) return true;
    key_of(named->value, key, sizeof key);
    return section != named && (!is_by_name(section) || sx_key_equal(section->key, key));
}

sx_status sx_constraints_in_sections(const sx_input *input, bool search, sx_constraint_visitor *each,
                                     void *user) {
    const sx_pair *section, *named = constraints_reference(input);
    char key[2 * SX_NAME_SIZE];
    if (named) {
        key_of(named->value, key, sizeof key);
        if (!sx_input_section(input, key, 0)) return no_such_list(named->value);
    }
    for (size_t i = 0; (section = sx_input_section(input, NULL, i)); i++) {
        const sx_node *list = NULL;
        const walk w = {section->key, each, user};
        if (section_counts(section, named, search)) SX_TRY(list_in(section->value, section->key, &list));
        for (size_t t = 0; list && t < list->n; t++) SX_TRY(show_target(&w, list->item[t]));
    }
    return SX_OK;
}

/* Whether a node of v0.4, or one within it, has constraints beside it. */
static bool has_constraints(const sx_node *node) {
    const sx_node *nodes = sx_node_get(node, "nodes");
    bool found = sx_node_get(node, "constraints");
    for (size_t i = 0; nodes && nodes->kind == SX_NODE_LIST && i < nodes->n && !found; i++)
        found = has_constraints(nodes->item[i]);
    return found;
}

size_t sx_input_n_constraints(const sx_input *input) {
    const sx_pair *section;
    size_t n = 0;
    for (size_t i = 0; (section = sx_input_section(input, NULL, i)); i++)
        n += section_counts(section, NULL, true) || has_constraints(section->value);
    return n;
}
