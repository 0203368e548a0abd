/* The dialect of v0.4: a list of tagged nodes, outermost first. A spatial fan-out becomes a level of its own
 * that keeps nothing, named inter_NAME_spatial, as Timeloop's front end does it (its v4_to_v3 transpiler):
 * containers hand their attributes to all that follows, and a branch of !Parallel keeps only the tensors it
 * names. */
#include "frontend/known_keys.h"
#include "frontend/timeloop/arch_builder.h"
#include "frontend/timeloop/constraints.h"

#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

typedef struct reader {
    sx_arch_builder *builder;
    const sx_attribute_scope *scope; /* the containers so far, the last one first, then the variables */
    uint64_t mesh_x, mesh_y;
} reader;

static sx_status read_nodes(reader *r, const sx_node *nodes, bool parallel, const sx_name_set *branch);

static bool has_tag(const sx_node *node, const char *tag) {
    return node->tag && strcmp(node->tag, tag) == 0;
}

static bool is_component(const sx_node *node) {
    return has_tag(node, "!Component") || has_tag(node, "!Element");
}

/* Multiplies a mesh that stays countable. */
static sx_status widen_mesh(uint64_t *mesh, uint64_t by, sx_place place) {
    const uint64_t limit = (uint64_t)1 << 31;
    if (by < 1) return sx_error_at(place, "a fan-out is at least 1");
    if (by > limit || *mesh > limit / by) return sx_error_at(place, "there are more than 2^31 instances");
    *mesh *= by;
    return SX_OK;
}

static const sx_key_rule spatial_rules[] = {
    SX_KEY("meshX", "expression", "instances along X"),
    SX_KEY("meshY", "expression", "instances along Y"),
};
const sx_keys sx_keys_spatial = SX_KEYS("spatial", true, spatial_rules);

/* Reads `spatial`, in which `names` may stand: where it fans out, adds a level for the fan-out and widens the
 * mesh for what follows. */
static sx_status read_spatial(reader *r, const sx_node *spatial, const sx_attribute_scope *names,
                              const char *name, sx_place place, bool parallel) {
    uint64_t x = 1, y = 1;
    char level[2 * SX_NAME_SIZE];
    if (!spatial || spatial->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_check_keys(r->builder->input, spatial, "'spatial'", &sx_keys_spatial));
    const sx_attribute_scope scope = {.map = spatial, .outer = names};
    SX_TRY(sx_attribute_u64(&scope, "meshX", &x));
    SX_TRY(sx_attribute_u64(&scope, "meshY", &y));
    if (x == 1 && y == 1) return SX_OK;
    if (parallel) return sx_error_at(spatial->place, "a branch of !Parallel cannot fan out");
    snprintf(level, sizeof level, "inter_%.*s_spatial", SX_NAME_SIZE, name);
    const sx_arch_component element = {.name = level,
                                       .name_size = strlen(level),
                                       .place = place,
                                       .attributes = r->scope,
                                       .instances = r->mesh_x * r->mesh_y,
                                       .mesh_x = r->mesh_x,
                                       .mesh_y = r->mesh_y};
    SX_TRY(sx_builder_fanout(r->builder, &element));
    SX_TRY(widen_mesh(&r->mesh_x, x, spatial->place));
    SX_TRY(widen_mesh(&r->mesh_y, y, spatial->place));
    return SX_OK;
}

/* The sparse optimizations written beside a node, NULL where there are none. */
static const sx_node *sparse_of(const sx_node *node) {
    const sx_node *sparse = sx_node_get(node, "sparse_optimizations");
    return !sparse || sx_node_empty(sparse) ? NULL : sparse;
}

/* Refuses attributes that this dialect writes elsewhere. */
static sx_status refuse_mesh(const sx_node *attributes) {
    static const char *const keys[] = {"meshX", "meshY", "instances"};
    for (size_t i = 0; i < N(keys); i++) {
        const sx_pair *pair = sx_node_pair(attributes, keys[i]);
        if (pair)
            return sx_error_hint(
                sx_error_at(pair->place, "'%s' is not an attribute in this dialect", pair->key),
                "write it as 'spatial: {meshX: ..., meshY: ...}'");
    }
    return SX_OK;
}

static const sx_key_rule v4_container_rules[] = {
    SX_KEY("name", "text!", "its name"),
    SX_KEY("attributes", "{any}|null", "attributes that the components inside inherit"),
    SX_KEY("spatial", "@spatial|null", "how many there are of all that follows"),
    SX_KEY("constraints", "@constraints", "constraints of mappings here"),
    SX_KEY("sparse_optimizations", "any", "not of a container"),
    SX_KEY_IDLE("networks"),
    SX_KEY_IDLE("max_utilization"),
};
const sx_keys sx_keys_v4_container = SX_KEYS("v4_container", true, v4_container_rules);

/* Reads a container: its attributes join the scope of what follows. */
static sx_status read_container(reader *r, const sx_node *node, const char *name, sx_place place,
                                bool parallel) {
    char what[SX_NAME_SIZE + 32];
    sx_input *input = r->builder->input;
    const sx_keys keys = sx_container_keys();
    if (parallel) return sx_error_at(node->place, "a branch of !Parallel cannot be a container");
    snprintf(what, sizeof what, "the container '%.*s'", SX_NAME_SIZE - 1, name);
    SX_TRY(sx_node_check_keys(input, node, what, &sx_keys_v4_container));
    if (sparse_of(node))
        return sx_error_hint(
            sx_error_at(sparse_of(node)->place, "a container has no storage for sparse optimizations"),
            "write them beside a component");
    SX_TRY(refuse_mesh(sx_node_get(node, "attributes")));
    SX_TRY(sx_attributes_check(input, sx_node_get(node, "attributes"), what, &keys));
    SX_TRY(sx_constraints_inline(input, sx_node_get(node, "constraints"), name, NULL));
    sx_attribute_scope *scope = sx_arena_alloc(sx_input_arena(input), 1, sizeof *scope);
    if (!scope) return sx_arena_error(sx_input_arena(input));
    *scope = (sx_attribute_scope){.map = sx_node_get(node, "attributes"), .outer = r->scope};
    r->scope = scope;
    if (!r->builder->arch.name[0] && strlen(name) < SX_NAME_SIZE)
        memcpy(r->builder->arch.name, name, strlen(name));
    return read_spatial(r, sx_node_get(node, "spatial"), scope, name, place, false);
}

/* Gives a level of a parallel branch the tensors of the branch. */
static void keep_branch(sx_storage *level, const sx_name_set *branch) {
    if (branch->all) return;
    level->n_keeps = branch->n;
    memcpy(level->keeps, branch->name, sizeof level->keeps);
    if (branch->n == 0) level->transparent = true;
}

/* Adds a component of a known role. */
static sx_status add_component(reader *r, const sx_node *node, const sx_arch_component *e,
                               const sx_name_set *branch) {
    sx_input *input = r->builder->input;
    const sx_node *constraints = sx_node_get(node, "constraints");
    char what[SX_NAME_SIZE + 32];
    sx_role role = sx_class_role(e->class);
    const sx_keys keys = role == SX_ROLE_COMPUTE ? sx_compute_keys(false) : sx_storage_keys(false);
    snprintf(what, sizeof what, "the component '%.*s'", SX_NAME_SIZE - 1, e->name);
    SX_TRY(refuse_mesh(e->attributes->map));
    SX_TRY(sx_attributes_check(input, e->attributes->map, what, &keys));
    if (role == SX_ROLE_COMPUTE) {
        SX_TRY(sx_constraints_inline(input, constraints, e->name, NULL));
        r->builder->compute_sparse = sparse_of(node);
        return sx_builder_compute(r->builder, e);
    }
    sx_storage *level;
    SX_TRY(sx_builder_storage(r->builder, e, &level));
    r->builder->draft[r->builder->arch.n_levels - 1].sparse = sparse_of(node);
    if (branch) keep_branch(level, branch);
    return sx_constraints_inline(input, constraints, e->name, level);
}

static const sx_key_rule v4_component_rules[] = {
    SX_KEY("name", "text!", "its name"),
    SX_KEY("class", "text!",
           "DRAM, SRAM, regfile, smartbuffer or storage for storage, mac or compute for the compute units, "
           "vector "
           "for the vector unit"),
    SX_KEY("attributes", "@storage|@compute|@vector_unit|null", "its attributes"),
    SX_KEY("spatial", "@spatial|null", "how many there are of it and of all that follows"),
    SX_KEY("constraints", "@constraints", "constraints of mappings here"),
    SX_KEY("sparse_optimizations", "@sparse_target|null", "formats, gating and skipping here"),
    SX_KEY("enabled", "bool", "false leaves the component out"),
    SX_KEY_FOR_ESTIMATE("subclass", "text", "what an estimate takes for its class"),
    SX_KEY_IDLE("required_actions"),
    SX_KEY_IDLE("area_share"),
    SX_KEY_IDLE("networks"),
    SX_KEY_IDLE("area_scale"),
    SX_KEY_IDLE("max_utilization"),
    SX_KEY("energy_scale", "any", "ignored with a warning where no ERT has the energies"),
};
const sx_keys sx_keys_v4_component = SX_KEYS("v4_component", true, v4_component_rules);

static sx_status check_component(reader *r, const sx_node *node, const char *name) {
    char what[SX_NAME_SIZE + 32];
    snprintf(what, sizeof what, "the component '%.*s'", SX_NAME_SIZE - 1, name);
    return sx_node_check_keys(r->builder->input, node, what, &sx_keys_v4_component);
}

/* Keeps a network, an adder or the like for its estimate; no mapping uses it. */
static sx_status add_extra(reader *r, const sx_node *node, const char *class, const char *name,
                           sx_place place, const sx_attribute_scope *scope) {
    const sx_arch_component element = {.name = name,
                                       .name_size = strlen(name),
                                       .class = class,
                                       .place = place,
                                       .attributes = scope,
                                       .instances = r->mesh_x * r->mesh_y};
    SX_TRY(sx_builder_extra(r->builder, &element));
    if (sx_class_role(class) == SX_ROLE_NETWORK) return sx_builder_network(r->builder, &element);
    return sx_input_add_note(r->builder->input, node->place, "the component '%.64s' is not used", name);
}

/* Reads the vector unit; it may be anywhere among the nodes, and there are as many as of the container around it. */
static sx_status add_vector(reader *r, const sx_node *node, const char *name) {
    static const char *const keys[] = {"spatial", "constraints", "sparse_optimizations"};
    char what[SX_NAME_SIZE + 32];
    const sx_node *attributes;
    for (size_t i = 0; i < N(keys); i++)
        if (sx_node_get(node, keys[i]))
            return sx_error_hint(
                sx_error_at(sx_node_get(node, keys[i])->place, "a vector unit has no '%s'", keys[i]),
                "mappings do not use it; a container around it gives more than one");
    snprintf(what, sizeof what, "the vector unit '%.*s'", SX_NAME_SIZE - 1, name);
    SX_TRY(sx_node_require(node, "attributes", what, &attributes));
    return sx_arch_read_vector(r->builder, attributes, r->scope, r->mesh_x * r->mesh_y);
}

static sx_status read_component(reader *r, const sx_node *node, const char *name, sx_place place,
                                bool parallel, const sx_name_set *branch) {
    const sx_node *class;
    bool enabled = true;
    SX_TRY(check_component(r, node, name));
    SX_TRY(sx_node_get_bool(node, "enabled", &enabled));
    SX_TRY(sx_node_require(node, "class", "the component", &class));
    SX_TRY(sx_node_expect(class, SX_NODE_SCALAR, "'class'"));
    sx_role role = sx_class_role(class->text);
    const sx_attribute_scope scope = {.map = sx_node_get(node, "attributes"), .outer = r->scope};
    if (role == SX_ROLE_NONE && sx_component_classify(class->text, SX_ESTIMATOR_PRESET, &(sx_component){0}))
        role = SX_ROLE_NETWORK;
    if (role == SX_ROLE_NONE) return sx_class_unknown(r->builder->input, class);
    if (!enabled || role == SX_ROLE_NOTHING) return SX_OK;
    if (role == SX_ROLE_NETWORK) return add_extra(r, node, class->text, name, place, &scope);
    if (role == SX_ROLE_VECTOR) return add_vector(r, node, name);
    if (r->builder->has_compute)
        return sx_error_at(place, "'%.64s' comes after the compute unit, which must be the last node", name);
    const sx_node *subclass = sx_node_get(node, "subclass");
    SX_TRY(read_spatial(r, sx_node_get(node, "spatial"), &scope, name, place, parallel));
    const sx_arch_component element = {
        .name = name,
        .name_size = strlen(name),
        .class = class->text,
        .subclass = subclass && subclass->kind == SX_NODE_SCALAR ? subclass->text : NULL,
        .scale = sx_node_get(node, "energy_scale"),
        .place = place,
        .attributes = &scope,
        .instances = r->mesh_x * r->mesh_y,
        .mesh_x = r->mesh_x,
        .mesh_y = r->mesh_y};
    return add_component(r, node, &element, branch);
}

/* Adds the tensors that the components of a branch ask to keep. */
static sx_status branch_keeps(sx_input *input, const sx_node *node, sx_name_set *keeps) {
    const sx_node *name = sx_node_get(node, "name"), *nodes = sx_node_get(node, "nodes");
    SX_TRY(sx_constraints_keeps(input, sx_node_get(node, "constraints"),
                                name && name->kind == SX_NODE_SCALAR ? name->text : NULL, keeps));
    for (size_t i = 0; nodes && nodes->kind == SX_NODE_LIST && i < nodes->n; i++)
        SX_TRY(branch_keeps(input, nodes->item[i], keeps));
    return SX_OK;
}

/* Errors where two branches of !Parallel keep the same tensor. */
static sx_status check_branches(sx_input *input, const sx_node *nodes) {
    sx_name_set before = {0};
    for (size_t i = 0; i < nodes->n; i++) {
        sx_name_set branch = {0}, both;
        SX_TRY(branch_keeps(input, nodes->item[i], &branch));
        if ((branch.all && i > 0 && before.n) || (before.all && branch.n))
            return sx_error_at(nodes->item[i]->place, "two branches of !Parallel keep the same tensor");
        both = before;
        for (int v = 0; v < branch.n; v++) {
            for (int u = 0; u < before.n; u++)
                if (strcmp(before.name[u], branch.name[v]) == 0)
                    return sx_error_at(nodes->item[i]->place, "two branches of !Parallel keep '%s'",
                                       branch.name[v]);
            if (both.n < SX_MAX_TENSORS) memcpy(both.name[both.n++], branch.name[v], SX_NAME_SIZE);
        }
        both.all = before.all || branch.all;
        before = both;
    }
    return SX_OK;
}

static const sx_key_rule v4_branch_rules[] = {
    SX_KEY("nodes", "[@v4_node]|null!", "the nodes within"),
    SX_KEY_IDLE("name"),
};
const sx_keys sx_keys_v4_branch = SX_KEYS("v4_branch", true, v4_branch_rules);

/* Reads the nodes within !Hierarchical, !Pipelined and !Parallel. */
static sx_status read_branch(reader *r, const sx_node *node, const sx_name_set *branch) {
    const sx_node *nodes;
    SX_TRY(sx_node_check_keys(r->builder->input, node, node->tag, &sx_keys_v4_branch));
    SX_TRY(sx_node_require(node, "nodes", node->tag, &nodes));
    if (nodes->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_expect(nodes, SX_NODE_LIST, "'nodes'"));
    bool parallel = has_tag(node, "!Parallel");
    if (parallel) SX_TRY(check_branches(r->builder->input, nodes));
    return read_nodes(r, nodes, parallel, branch);
}

/* Refuses a node from which CiMLoop's processor would make another problem: that which fills the array. Without the
 * variable it drops the key. */
static sx_status refuse_filling(const reader *r, const sx_node *node, const char *name) {
    const sx_node *key = sx_node_get(node, "max_utilization");
    double fills = 0;
    if (!key) return SX_OK;
    const sx_node wanted = {
        .kind = SX_NODE_SCALAR, .place = key->place, .text = "variables.get('MAX_UTILIZATION', 0)"};
    SX_TRY(sx_attribute_number(r->scope, &wanted, "MAX_UTILIZATION", &fills));
    if (fills == 0) return SX_OK;
    return sx_error_hint(sx_error_at(key->place,
                                     "MAX_UTILIZATION asks for a problem that fills '%.64s', which CiMLoop's "
                                     "Python processor makes of 'max_utilization'",
                                     name),
                         "write the sizes of that problem, and leave MAX_UTILIZATION out");
}

/* Reads one node, by its tag. */
static sx_status read_node(reader *r, const sx_node *node, bool parallel, const sx_name_set *branch) {
    static const char *const tags[] = {"!Component", "!Container", "!ArrayContainer", "!Hierarchical",
                                       "!Parallel",  "!Pipelined", "!Nothing"};
    const sx_node *name;
    const char *text;
    if (has_tag(node, "!Nothing")) return SX_OK;
    if (has_tag(node, "!Hierarchical") || has_tag(node, "!Parallel") || has_tag(node, "!Pipelined"))
        return read_branch(r, node, branch);
    bool array = has_tag(node, "!ArrayContainer");
    if (array)
        SX_TRY(sx_input_warn(r->builder->input, node->place,
                             "'!ArrayContainer' is read as '!Container': constraints that other tools add to "
                             "it are not"));
    if (!is_component(node) && !array && !has_tag(node, "!Container")) {
        if (node->tag) return sx_error_unknown(node->place, "kind of node", node->tag, tags, N(tags));
        return sx_error_hint(sx_error_at(node->place, "this node has no tag"),
                             "write '- !Component' or '- !Container' before its keys");
    }
    SX_TRY(sx_node_expect(node, SX_NODE_MAP, node->tag));
    SX_TRY(sx_node_require(node, "name", node->tag, &name));
    SX_TRY(sx_node_text(name, "name", &text));
    SX_TRY(refuse_filling(r, node, text));
    if (is_component(node)) return read_component(r, node, text, name->place, parallel, branch);
    return read_container(r, node, text, name->place, parallel);
}

static sx_status read_nodes(reader *r, const sx_node *nodes, bool parallel, const sx_name_set *branch) {
    for (size_t i = 0; i < nodes->n; i++) {
        sx_name_set own = {0};
        if (parallel) SX_TRY(branch_keeps(r->builder->input, nodes->item[i], &own));
        SX_TRY(read_node(r, nodes->item[i], parallel, parallel ? &own : branch));
    }
    return SX_OK;
}

static const sx_key_rule v4_arch_rules[] = {
    SX_KEY("version", "any", "0.4"),
    SX_KEY("nodes", "[@v4_node]!", "from the outermost to the compute units"),
    SX_KEY("vector", "@vector_unit", "the unit for softmax, norms and the like"),
    SX_KEY_IDLE("name"),
};
const sx_keys sx_keys_v4_arch = SX_KEYS("v4_arch", true, v4_arch_rules);

sx_status sx_arch_read_v4(sx_arch_builder *b, const sx_node *arch, const sx_attribute_scope *variables) {
    const sx_node *version = sx_node_get(arch, "version"), *nodes = sx_node_get(arch, "nodes");
    SX_TRY(sx_node_check_keys(b->input, arch, "the architecture", &sx_keys_v4_arch));
    if (version && !sx_node_is(version, "0.4"))
        return sx_error_at(version->place, "an architecture with 'nodes' is of version 0.4");
    SX_TRY(sx_node_expect(nodes, SX_NODE_LIST, "'nodes'"));
    b->defaults_v4 = true;
    reader r = {.builder = b, .scope = variables, .mesh_x = 1, .mesh_y = 1};
    return read_nodes(&r, nodes, false, NULL);
}
