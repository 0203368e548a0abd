#include "report/estimates.h"

#include "report/json_parts.h"
#include "report/table.h"
#include "text/write/write.h"

#include <math.h>

static bool is_memory(const sx_component *c) {
    return c->kind == SX_COMPONENT_SRAM || c->kind == SX_COMPONENT_REGFILE || c->kind == SX_COMPONENT_DRAM;
}

/* The action of a component that is no memory, by Accelergy's name. */
static const char *action_name(const sx_component *c) {
    if (c->kind == SX_COMPONENT_WIRE || c->kind == SX_COMPONENT_ROUTER) return "transfer_random";
    return "compute";
}

/* The area of all instances, um^2. */
static double total_area(const sx_estimates *r) {
    double area = 0;
    for (size_t i = 0; i < r->n; i++) area += (double)r->component[i].count * r->component[i].estimate.area;
    return area;
}

static void print_component(const sx_estimated_component *c, sx_table *table) {
    const sx_estimate *e = &c->estimate;
    sx_table_cell(table, "%s", c->name);
    sx_table_cell(table, "%s", c->class);
    sx_table_cell(table, "%s", sx_show_count((double)c->count).text);
    if (c->component.depth > 0)
        sx_table_cell(table, "%g x %g", c->component.depth, c->component.width);
    else
        sx_table_cell(table, "%g", c->component.width);
    if (c->component.node > 0)
        sx_table_cell(table, "%g", c->component.node);
    else
        sx_table_blank(table, 1);
    sx_table_cell(table, "%.5g", e->read);
    if (is_memory(&c->component))
        sx_table_cell(table, "%.5g", e->write);
    else
        sx_table_blank(table, 1);
    if (e->leak >= 0)
        sx_table_cell(table, "%.3g", e->leak);
    else
        sx_table_blank(table, 1);
    if (e->area > 0)
        sx_table_cell(table, "%s", sx_show_count(round(e->area)).text);
    else
        sx_table_blank(table, 1);
    sx_table_cell(table, "%.2g to %.2g", e->low, e->high);
}

void sx_estimates_print(const sx_estimates *r, sx_text *out) {
    static const char *const head[] = {"component", "class",          "count",    "words x bits",
                                       "nm",        "read pJ",        "write pJ", "leak pJ/cycle",
                                       "area um2",  "true / estimate"};
    sx_table table;
    sx_text_add(out, "%s by %s\n\n", r->arch, r->estimator);
    sx_table_begin(&table, "llrrrrrrrr");
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < r->n; i++) print_component(&r->component[i], &table);
    sx_table_end(&table, 2, out);
    sx_text_add(out, "\n");
    for (size_t i = 0; i < r->n; i++) {
        const sx_estimate *e = &r->component[i].estimate;
        sx_text line = {0};
        sx_text_add(&line, "%s: %s%s%s.", r->component[i].name, e->source, e->rule[0] ? "; " : "", e->rule);
        if (e->leak > 0)
            sx_text_add(&line, " Leakage: true / estimate %.2g to %.2g.", e->leak_low, e->leak_high);
        sx_text_add(out, "  ");
        sx_wrap_free(&line, 2, 4, out);
    }
    if (total_area(r) > 0) sx_text_add(out, "\n  Area of all instances: %.4g mm2.\n", total_area(r) * 1e-6);
}

/* The energies of a component, by action. */
static json_t *actions_json(const sx_estimated_component *c) {
    const sx_estimate *e = &c->estimate;
    json_t *actions = json_object();
    if (is_memory(&c->component)) {
        json_object_set_new(actions, "read", sx_json_real(e->read));
        json_object_set_new(actions, "write", sx_json_real(e->write));
        json_object_set_new(actions, "update", sx_json_real(e->update));
    } else {
        json_object_set_new(actions, action_name(&c->component), sx_json_real(e->read));
    }
    json_object_set_new(actions, "leak", e->leak >= 0 ? sx_json_real(e->leak) : json_null());
    return actions;
}

static json_t *component_json(const sx_estimated_component *c) {
    const sx_estimate *e = &c->estimate;
    json_t *object = json_object();
    json_object_set_new(object, "name", sx_json_string(c->name));
    json_object_set_new(object, "class", sx_json_string(c->class));
    json_object_set_new(object, "kind", sx_json_string(sx_component_kind_name(c->component.kind)));
    json_object_set_new(object, "count", sx_json_count(c->count));
    json_object_set_new(object, "node_nm",
                        c->component.node > 0 ? sx_json_number(c->component.node) : json_null());
    json_object_set_new(object, "width", sx_json_number(c->component.width));
    if (c->component.depth > 0) json_object_set_new(object, "depth", sx_json_number(c->component.depth));
    json_object_set_new(object, "actions", actions_json(c));
    json_object_set_new(object, "area_um2", sx_json_real(e->area));
    json_object_set_new(object, "access_ns", e->access > 0 ? sx_json_real(e->access) : json_null());
    json_object_set_new(object, "source", sx_json_string(e->source));
    json_object_set_new(object, "rule", sx_json_string(e->rule));
    json_object_set_new(object, "error", json_pack("[f, f]", e->low, e->high));
    if (e->leak >= 0)
        json_object_set_new(object, "leak_error", json_pack("[f, f]", e->leak_low, e->leak_high));
    return object;
}

sx_status sx_estimates_json(const sx_estimates *r, sx_text *out) {
    json_t *object = json_object(), *list = json_array();
    for (size_t i = 0; i < r->n; i++) json_array_append_new(list, component_json(&r->component[i]));
    json_object_set_new(object, "arch", sx_json_string(r->arch));
    json_object_set_new(object, "estimator", sx_json_string(r->estimator));
    json_object_set_new(object, "components", list);
    json_object_set_new(object, "area_um2", sx_json_real(total_area(r)));
    return sx_json_finish(object, out);
}

/* Appends an action to a table of the ERT. */
static void append_action(sx_tree *tree, json_t *actions, const char *name, double energy) {
    json_t *action = json_object();
    sx_tree_put(tree, action, "name", sx_tree_text(tree, name));
    sx_tree_put(tree, action, "energy", sx_tree_double(tree, energy));
    sx_tree_append(tree, actions, action);
}

/* The table of a component: its actions, or its area. */
static SX_OWN json_t *component_table(sx_tree *tree, const sx_estimated_component *c, unsigned table) {
    const sx_estimate *e = &c->estimate;
    json_t *map = json_object(), *actions = json_array();
    sx_tree_put(tree, map, "name", sx_tree_text(tree, c->name));
    if (is_memory(&c->component)) {
        append_action(tree, actions, "read", e->read);
        append_action(tree, actions, "write", e->write);
        append_action(tree, actions, "update", e->update);
    } else {
        append_action(tree, actions, action_name(&c->component), e->read);
    }
    append_action(tree, actions, "leak", fmax(e->leak, 0));
    if (table == SX_TABLE_ERT) {
        sx_tree_put(tree, map, "actions", actions);
    } else {
        json_decref(actions);
        sx_tree_put(tree, map, "area", sx_tree_double(tree, e->area));
    }
    return map;
}

sx_status sx_estimates_write(const sx_estimates *r, unsigned tables, char **out) {
    static const char *const name[] = {"ERT", "ART"};
    sx_tree tree = {0};
    json_t *root = json_object();
    for (unsigned t = 0; t < 2; t++) {
        if (!(tables & 1u << t)) continue;
        json_t *section = json_object(), *list = json_array();
        for (size_t i = 0; i < r->n; i++)
            sx_tree_append(&tree, list, component_table(&tree, &r->component[i], 1u << t));
        sx_tree_put(&tree, section, "version", sx_tree_text(&tree, "0.4"));
        sx_tree_put(&tree, section, "tables", list);
        sx_tree_put(&tree, root, name[t], section);
    }
    return sx_tree_print(&tree, root, SX_YAML, out);
}
