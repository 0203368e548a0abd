#include "frontend/timeloop/spec_nodes.h"

#include <string.h>
#include <strings.h>

/* A search of the tree of an architecture: called with each map, it says whether to go on. */
typedef bool visit_map(void *user, const sx_node *map);

/* Calls a function with every map of a tree, outermost first, until it returns false. */
static bool visit_maps(const sx_node *node, visit_map *visit, void *user) {
    if (node->kind == SX_NODE_SCALAR || node->kind == SX_NODE_NULL) return true;
    if (node->kind == SX_NODE_MAP && !visit(user, node)) return false;
    for (size_t i = 0; i < node->n; i++) {
        const sx_node *value = node->kind == SX_NODE_MAP ? node->pair[i].value : node->item[i];
        if (!visit_maps(value, visit, user)) return false;
    }
    return true;
}

/* Visits the maps of the architecture. */
static void visit_architecture(const sx_input *input, visit_map *visit, void *user) {
    const sx_pair *section = sx_input_first(input, "architecture");
    if (!section) section = sx_input_first(input, "arch");
    if (section) visit_maps(section->value, visit, user);
}

/* A node by its name. */
typedef struct named {
    const char *name;
    size_t length;
    const sx_node *found;
} named;

static bool is_named(void *user, const sx_node *map) {
    named *n = user;
    const sx_node *name = sx_node_get(map, "name");
    if (name && name->kind == SX_NODE_SCALAR && strlen(name->text) == n->length &&
        memcmp(name->text, n->name, n->length) == 0)
        n->found = map;
    return !n->found;
}

static void add_factor(sx_spec_product *out, const sx_node *value, const sx_node *attributes) {
    if (!value || out->n == SX_SPEC_FACTORS) return;
    out->factor[out->n].value = value;
    out->factor[out->n++].attributes = attributes;
}

bool sx_spec_find(const sx_input *input, const char *name, sx_spec_product *out) {
    static const char instance[] = "spec.problem.instance.";
    *out = (sx_spec_product){0};
    if (strncmp(name, instance, sizeof instance - 1) == 0) {
        const sx_pair *problem = sx_input_first(input, "problem");
        const sx_node *sizes = problem ? sx_node_get(problem->value, "instance") : NULL;
        add_factor(out, sx_node_get(sizes, name + sizeof instance - 1), NULL);
        return out->n > 0;
    }
    named n = {.name = name, .length = strcspn(name, ".")};
    const char *part = name + n.length;
    if (!*part) return false;
    visit_architecture(input, is_named, &n);
    if (!n.found) return false;
    const sx_node *attributes = sx_node_get(n.found, "attributes");
    if (strncmp(part, ".attributes.", 12) == 0) {
        add_factor(out, sx_node_get(attributes, part + 12), attributes);
        return out->n > 0;
    }
    if (strcmp(part, ".spatial.meshX") != 0 && strcmp(part, ".spatial.meshY") != 0) return false;
    add_factor(out, sx_node_get(sx_node_get(n.found, "spatial"), part + 9), attributes);
    return true;
}

/* The arrays whose sizes are multiplied. */
typedef struct arrays {
    sx_spec_product *out;
    const char *axis;   /* meshX or meshY; NULL: both, */
    const char *tensor; /* of arrays that do not reuse this tensor */
    size_t n;
} arrays;

/* Whether a list of tensors has one, in letters of any case. */
static bool lists_tensor(const sx_node *list, const char *tensor) {
    for (size_t i = 0; list && list->kind == SX_NODE_LIST && i < list->n; i++)
        if (list->item[i]->kind == SX_NODE_SCALAR && strcasecmp(list->item[i]->text, tensor) == 0)
            return true;
    return false;
}

static bool add_array(void *user, const sx_node *map) {
    arrays *a = user;
    if (!map->tag || strcmp(map->tag, "!ArrayContainer") != 0) return true;
    const sx_node *spatial = sx_node_get(map, "spatial"), *attributes = sx_node_get(map, "attributes");
    const sx_node *loops = sx_node_get(sx_node_get(map, "constraints"), "spatial");
    a->n++;
    if (a->axis) add_factor(a->out, sx_node_get(spatial, a->axis), attributes);
    if (a->axis || !lists_tensor(sx_node_get(loops, "no_reuse"), a->tensor)) return true;
    add_factor(a->out, sx_node_get(spatial, "meshX"), attributes);
    add_factor(a->out, sx_node_get(spatial, "meshY"), attributes);
    return true;
}

bool sx_spec_array(const sx_input *input, const char *name, sx_spec_product *out) {
    arrays a = {.out = out};
    *out = (sx_spec_product){0};
    if (strcmp(name, "ARRAY_WORDLINES") == 0) {
        a.axis = "meshY";
        out->times = "CIM_UNIT_DEPTH_CELLS";
    } else if (strcmp(name, "ARRAY_BITLINES") == 0) {
        a.axis = "meshX";
        out->times = "CIM_UNIT_WIDTH_CELLS";
    } else if (strncmp(name, "ARRAY_PARALLEL_", 15) == 0) {
        a.tensor = name + 15;
    } else {
        return false;
    }
    visit_architecture(input, add_array, &a);
    return a.n > 0;
}

bool sx_spec_histogram(const sx_input *input, const char *name, const sx_pair **out) {
    size_t length = strlen(name);
    if (length < 6 || strcmp(name + length - 5, "_HIST") != 0) return false;
    const sx_pair *problem = sx_input_first(input, "problem");
    const sx_node *all = problem ? sx_node_get(problem->value, "histograms") : NULL;
    for (size_t i = 0; all && all->kind == SX_NODE_MAP && i < all->n; i++) {
        *out = &all->pair[i];
        if (strlen((*out)->key) == length - 5 && strncasecmp((*out)->key, name, length - 5) == 0) return true;
    }
    return false;
}

/* The innermost node whose constraints have another one in them. */
typedef struct holder {
    const sx_node *constraint, *attributes;
} holder;

static bool has_node(const sx_node *tree, const sx_node *node) {
    if (tree == node) return true;
    for (size_t i = 0; tree->kind != SX_NODE_SCALAR && i < tree->n; i++)
        if (has_node(tree->kind == SX_NODE_MAP ? tree->pair[i].value : tree->item[i], node)) return true;
    return false;
}

static bool holds_node(void *user, const sx_node *map) {
    holder *h = user;
    const sx_node *constraints = sx_node_get(map, "constraints");
    if (constraints && sx_node_get(map, "name") && has_node(constraints, h->constraint))
        h->attributes = sx_node_get(map, "attributes");
    return !h->attributes;
}

const sx_node *sx_spec_attributes(const sx_input *input, const sx_node *constraint) {
    holder h = {.constraint = constraint};
    visit_architecture(input, holds_node, &h);
    return h.attributes;
}
