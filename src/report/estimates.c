#include "report/estimates.h"

#include "report/json_parts.h"
#include "report/table.h"
#include "text/write/write.h"

#include <math.h>

/* Whether a component is read and written: a memory, or another kind that is a storage level. */
static bool is_memory(const sx_component *c) {
    return c->depth > 0 || c->kind == SX_COMPONENT_SRAM || c->kind == SX_COMPONENT_REGFILE ||
           c->kind == SX_COMPONENT_DRAM;
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
    if (e->unpriced)
        sx_table_cell(table, "unpriced");
    else
        sx_table_cell(table, "%.5g", e->read);
    if (is_memory(&c->component) && !e->unpriced)
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
    if (e->unpriced)
        sx_table_blank(table, 1);
    else
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
    if (e->unpriced) return actions;
    if (is_memory(&c->component)) {
        sx_json_set(actions, "read", sx_json_real(e->read));
        sx_json_set(actions, "write", sx_json_real(e->write));
        sx_json_set(actions, "update", sx_json_real(e->update));
    } else {
        sx_json_set(actions, action_name(&c->component), sx_json_real(e->read));
    }
    sx_json_set(actions, "leak", e->leak >= 0 ? sx_json_real(e->leak) : json_null());
    return actions;
}

static json_t *component_json(const sx_estimated_component *c) {
    const sx_estimate *e = &c->estimate;
    json_t *object = json_object();
    sx_json_set(object, "name", sx_json_string(c->name));
    sx_json_set(object, "class", sx_json_string(c->class));
    sx_json_set(object, "kind", sx_json_string(sx_component_kind_name(c->component.kind)));
    sx_json_set(object, "count", sx_json_count(c->count));
    sx_json_set(object, "node_nm", c->component.node > 0 ? sx_json_number(c->component.node) : json_null());
    sx_json_set(object, "width", sx_json_number(c->component.width));
    if (c->component.depth > 0) sx_json_set(object, "depth", sx_json_number(c->component.depth));
    sx_json_set(object, "actions", actions_json(c));
    sx_json_set(object, "area_um2", sx_json_real(e->area));
    sx_json_set(object, "access_ns", e->access > 0 ? sx_json_real(e->access) : json_null());
    if (e->unpriced) sx_json_set(object, "unpriced", json_true());
    sx_json_set(object, "source", sx_json_string(e->source));
    sx_json_set(object, "rule", sx_json_string(e->rule));
    sx_json_set(object, "error", json_pack("[f, f]", e->low, e->high));
    if (e->leak >= 0) sx_json_set(object, "leak_error", json_pack("[f, f]", e->leak_low, e->leak_high));
    return object;
}

sx_status sx_estimates_json(const sx_estimates *r, sx_text *out) {
    json_t *object = json_object(), *list = json_array();
    for (size_t i = 0; i < r->n; i++) sx_json_append(list, component_json(&r->component[i]));
    sx_json_set(object, "arch", sx_json_string(r->arch));
    sx_json_set(object, "estimator", sx_json_string(r->estimator));
    sx_json_set(object, "components", list);
    sx_json_set(object, "area_um2", sx_json_real(total_area(r)));
    return sx_json_finish(object, out);
}

/* Appends an action to a table of the ERT. */
static void append_action(json_t *actions, const char *name, double energy) {
    json_t *action = json_object();
    sx_json_set(action, "name", sx_json_text(name));
    sx_json_set(action, "energy", sx_json_real(energy));
    sx_json_append(actions, action);
}

/* The table of a component: its actions, or its area. */
static SX_OWN json_t *component_table(const sx_estimated_component *c, unsigned table) {
    const sx_estimate *e = &c->estimate;
    json_t *map = json_object(), *actions = json_array();
    sx_json_set(map, "name", sx_json_text(c->name));
    if (is_memory(&c->component)) {
        append_action(actions, "read", e->read);
        append_action(actions, "write", e->write);
        append_action(actions, "update", e->update);
    } else {
        append_action(actions, action_name(&c->component), e->read);
    }
    append_action(actions, "leak", fmax(e->leak, 0));
    if (table == SX_TABLE_ERT) {
        sx_json_set(map, "actions", actions);
    } else {
        json_decref(actions);
        sx_json_set(map, "area", sx_json_real(e->area));
    }
    return map;
}

sx_status sx_estimates_write(const sx_estimates *r, unsigned tables, char **out) {
    static const char *const name[] = {"ERT", "ART"};
    json_t *root = json_object();
    for (unsigned t = 0; t < 2; t++) {
        if (!(tables & 1u << t)) continue;
        json_t *section = json_object(), *list = json_array();
        for (size_t i = 0; i < r->n; i++)
            if (!r->component[i].estimate.unpriced)
                sx_json_append(list, component_table(&r->component[i], 1u << t));
        sx_json_set(section, "version", sx_json_text("0.4"));
        sx_json_set(section, "tables", list);
        sx_json_set(root, name[t], section);
    }
    return sx_json_write(root, SX_YAML, out);
}
