/* The constraints of an input, for a search. Their meaning is that of Timeloop (src/mapping/constraints.cpp
 * of its public source, and the macros of its v0.4 front end); what cannot be held to exactly is refused. */
#include "frontend/timeloop/arch_builder.h"
#include "frontend/timeloop/constraints.h"
#include "frontend/timeloop/constraints_gather.h"
#include "frontend/timeloop/mapping_names.h"

#include <stdlib.h>
#include <string.h>

/* The tensors of a list that a level is to keep or to bypass. */
typedef struct tensor_list {
    sx_gathering *g;
    const sx_constraint *c;
    int level; /* -1: the target keeps nothing */
    bool keep;
    uint8_t named;
} tensor_list;

/* The list of nodes of a map, NULL where there is none. */
static const sx_node *nodes_of(const sx_node *map) {
    const sx_node *nodes = sx_node_get(map, "nodes");
    return nodes && nodes->kind == SX_NODE_LIST ? nodes : NULL;
}

/* Whether a node of v0.4, or one within it, has that name. */
static bool has_name(const sx_node *node, const char *name) {
    const sx_node *nodes = nodes_of(node);
    bool found = sx_node_is(sx_node_get(node, "name"), name);
    for (size_t i = 0; nodes && i < nodes->n && !found; i++) found = has_name(nodes->item[i], name);
    return found;
}

/* The architecture's section, NULL where there is none. */
static const sx_node *arch_section(const sx_input *input) {
    const sx_pair *section = sx_input_first(input, "architecture");
    if (!section) section = sx_input_first(input, "arch");
    return section ? section->value : NULL;
}

/* The level of a constraint; -1 for a container without a fan-out and for the compute units. */
static sx_status find_level(const sx_gathering *g, const sx_constraint *c, int *level) {
    *level = sx_target_level(g->arch, c->target, c->type == SX_SPATIAL_CONSTRAINT);
    if (*level >= 0 || !c->section || strcmp(c->target, g->arch->compute.name) == 0) return SX_OK;
    const sx_node *arch = arch_section(g->input);
    return has_name(arch, c->target) ? SX_OK : sx_level_unknown(c->place, c->target, g->arch);
}

/* Has a level keep or bypass a tensor. */
static sx_status add_tensor(const tensor_list *list, int v, bool keep, sx_place place) {
    sx_gathering *g = list->g;
    int s = list->level;
    if (s < 0) {
        if (!keep) return SX_OK;
        return sx_error_hint(
            sx_error_at(place, "'%.64s' is not a storage level: it keeps nothing", list->c->target),
            "give the tensors to a storage level");
    }
    const sx_place *other = keep ? &g->bypass[s][v] : &g->keep[s][v];
    if (other->file)
        return sx_error_hint(sx_error_at(place, "'%s' must %s '%s', but must %s it at %s:%d:%d",
                                         g->arch->level[s].name, keep ? "keep" : "bypass",
                                         g->problem->tensor[v].name, keep ? "bypass" : "keep", other->file,
                                         other->line, other->column),
                             "the two contradict each other: change one of them");
    uint8_t *mask = keep ? &g->limits.level[s].must_keep : &g->limits.level[s].must_bypass;
    *mask = (uint8_t)(*mask | 1u << v);
    *(keep ? &g->keep[s][v] : &g->bypass[s][v]) = place;
    return SX_OK;
}

/* Adds a tensor by its name, or all of them ("*"); a visitor for sx_node_names. */
static sx_status add_named(void *user, const char *name, sx_place place) {
    tensor_list *list = user;
    const sx_problem *problem = list->g->problem;
    bool all = strcmp(name, "*") == 0;
    int which = sx_problem_tensor(problem, name);
    if (which < 0 && !all) return sx_tensor_unknown(place, name, problem);
    for (int v = 0; v < problem->n_tensors; v++) {
        if (v != which && !all) continue;
        SX_TRY(add_tensor(list, v, list->keep, place));
        list->named = (uint8_t)(list->named | 1u << v);
    }
    return SX_OK;
}

/* Reads the four lists of tensors; those that end in _only say the opposite of all tensors they leave out. */
static sx_status add_tensors(sx_gathering *g, const sx_constraint *c, int level) {
    static const struct {
        const char *key;
        bool keep, only;
    } lists[] = {{"keep", true, false},
                 {"bypass", false, false},
                 {"keep_only", true, true},
                 {"bypass_only", false, true}};
    for (int i = 0; i < 4; i++) {
        const sx_pair *pair = sx_node_pair(c->map, lists[i].key);
        tensor_list list = {g, c, level, lists[i].keep, 0};
        if (!pair || (lists[i].only && pair->value->kind == SX_NODE_NULL)) continue;
        SX_TRY(sx_node_names(pair->value, lists[i].key, add_named, &list));
        for (int v = 0; v < g->problem->n_tensors && lists[i].only; v++)
            if (!(list.named >> v & 1)) SX_TRY(add_tensor(&list, v, !list.keep, pair->place));
    }
    return SX_OK;
}

/* Reads the least share of compute units in use, which Timeloop has at the innermost level. */
static sx_status add_parallelism(sx_gathering *g, const sx_constraint *c, int level) {
    const sx_node *node;
    double least;
    SX_TRY(sx_node_require(c->map, "min", "the constraint", &node));
    SX_TRY(sx_node_double(node, "min", &least));
    if (!(least >= 0 && least <= 1))
        return sx_error_hint(
            sx_error_at(node->place, "the minimum utilization of compute units is %g", least),
            "it must be from 0 to 1");
    if (level != 0)
        return sx_error_hint(
            sx_error_at(c->place, "the %s of '%.64s' cannot be constrained", c->name, c->target),
            "name the innermost level, '%s': the share is that of all compute units", g->arch->level[0].name);
    double *limit = &g->limits.level[g->arch->n_levels - 1].min_parallelism;
    if (g->parallelism.file && *limit != least)
        return sx_error_hint(
            sx_error_at(node->place, "the minimum utilization of compute units is %g, but %g at %s:%d:%d",
                        least, *limit, g->parallelism.file, g->parallelism.line, g->parallelism.column),
            "change one of them");
    *limit = least;
    g->parallelism = node->place;
    return SX_OK;
}

/* Refuses tiles that need not fit. */
static sx_status check_overbooking(const sx_constraint *c) {
    const sx_node *node = sx_node_get(c->map, "proportion");
    double proportion = 0;
    SX_TRY(sx_node_get_double(c->map, "proportion", &proportion));
    if (proportion == 0) return SX_OK;
    return sx_error_hint(sx_error_at(node->place, "overbooked buffers are not supported"),
                         "tiles must fit: leave the constraint out");
}

/* Adds one constraint; a visitor. */
static sx_status add_constraint(void *user, const sx_constraint *c) {
    sx_gathering *g = user;
    int level = -1;
    SX_TRY(sx_constraint_check(g->input, c));
    SX_TRY(find_level(g, c, &level));
    switch (c->type) {
    case SX_TEMPORAL_CONSTRAINT:
    case SX_SPATIAL_CONSTRAINT:
        SX_TRY(sx_gather_loops(g, c, level));
        return sx_gather_reuse(g, c, level);
    case SX_TENSOR_CONSTRAINT:
        SX_TRY(sx_gather_coalescing(g, c, level));
        return add_tensors(g, c, level);
    case SX_PARALLELISM_CONSTRAINT:
        return add_parallelism(g, c, level);
    case SX_OVERBOOKING_CONSTRAINT:
        break;
    }
    return check_overbooking(c);
}

/* Whether a node of v0.4 stands for no part of the hardware. */
static sx_status is_absent(const sx_node *node, bool *absent) {
    const sx_node *class = sx_node_get(node, "class");
    bool enabled = true;
    SX_TRY(sx_node_get_bool(node, "enabled", &enabled));
    *absent = !enabled || (node->tag && strcmp(node->tag, "!Nothing") == 0) ||
              (class && class->kind == SX_NODE_SCALAR && sx_class_role(class->text) == SX_ROLE_NOTHING);
    return SX_OK;
}

/* Adds the constraints beside the nodes of v0.4. */
static sx_status add_beside(sx_gathering *g, const sx_node *map) {
    const sx_node *nodes = nodes_of(map);
    for (size_t i = 0; nodes && i < nodes->n; i++) {
        const sx_node *node = nodes->item[i], *name = sx_node_get(node, "name");
        bool absent;
        SX_TRY(is_absent(node, &absent));
        if (absent) continue;
        SX_TRY(add_beside(g, node));
        if (name && name->kind == SX_NODE_SCALAR)
            SX_TRY(sx_constraints_beside(sx_node_get(node, "constraints"), name->text, add_constraint, g));
    }
    return SX_OK;
}

sx_status sx_input_constraints(sx_input *input, const sx_problem *problem, const sx_arch *arch,
                               sx_constraints *out) {
    const bool v4 = nodes_of(arch_section(input));
    SX_TRY(sx_constraints_check_sections(input, v4));
    sx_gathering *g = calloc(1, sizeof *g);
    if (!g) return sx_error_memory();
    g->input = input;
    g->problem = problem;
    g->arch = arch;
    g->remainders = sx_input_has_remainders(input);
    g->completes = sx_input_is_like_timeloop(input) && v4;
    sx_constraints_init(&g->limits, problem, arch);
    sx_status status = add_beside(g, arch_section(input));
    if (!status) status = sx_constraints_in_sections(input, true, add_constraint, g);
    if (!status) status = sx_gathering_settle(g);
    if (!status) status = sx_gathering_check(g);
    if (!status) *out = g->limits;
    free(g);
    return status;
}
