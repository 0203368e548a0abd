#include "frontend/timeloop/ert.h"
#include "frontend/known_keys.h"

#include "base/hint.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The name proper of a component: the last dotted part, before any '['. */
static const char *own_name(const char *full, size_t *size) {
    size_t end = strcspn(full, "[");
    const char *begin = full;
    for (const char *dot = full; dot < full + end; dot++)
        if (*dot == '.') begin = dot + 1;
    if (full[end] == '[') {
        const char *after = strchr(full + end, ']');
        if (after && after[1] == '.') return own_name(after + 2, size);
    }
    *size = (size_t)(full + end - begin);
    return begin;
}

/* The full name of table i. */
static const char *table_name(const sx_ert *ert, size_t i) {
    return ert->named ? ert->tables->pair[i].key : sx_node_get(ert->tables->item[i], "name")->text;
}

static bool names_component(const char *full, const char *component) {
    size_t size;
    const char *own = own_name(full, &size);
    return size == strlen(component) && strncmp(own, component, size) == 0;
}

static const sx_key_rule ert_action_rules[] = {
    SX_KEY("name", "text!", "read, write, fill, update, leak, compute or another action"),
    SX_KEY("energy", "number!", "pJ"),
    SX_KEY("arguments", "any", "of the action"),
};
const sx_keys sx_keys_ert_action = SX_KEYS("ert_action", true, ert_action_rules);

static sx_status check_action(sx_input *input, const sx_node *action, bool named) {
    SX_TRY(sx_node_check_keys(input, action, "an action of the ERT", &sx_keys_ert_action));
    const sx_node *value;
    if (!named) {
        SX_TRY(sx_node_require(action, "name", "an action of the ERT", &value));
        SX_TRY(sx_node_expect(value, SX_NODE_SCALAR, "the name of an action"));
    }
    double energy;
    SX_TRY(sx_node_require(action, "energy", "an action of the ERT", &value));
    SX_TRY(sx_node_double(value, "energy", &energy));
    if (energy >= 0 && isfinite(energy)) return SX_OK;
    return sx_error_at(value->place, "'energy' is %g; it must be a finite number that is not negative",
                       energy);
}

/* Checks a table of version 0.2: actions by name, each a map or a list of maps. */
static sx_status check_named(sx_input *input, const sx_node *table) {
    SX_TRY(sx_node_expect(table, SX_NODE_MAP, "a table of the ERT"));
    for (size_t i = 0; i < table->n; i++) {
        const sx_node *action = table->pair[i].value;
        if (action->kind != SX_NODE_LIST) SX_TRY(check_action(input, action, true));
        for (size_t j = 0; j < action->n && action->kind == SX_NODE_LIST; j++)
            SX_TRY(check_action(input, action->item[j], true));
    }
    return SX_OK;
}

static const sx_key_rule ert_table_rules[] = {
    SX_KEY("name", "text!", "the component"),
    SX_KEY("actions", "[@ert_action]!", "energies by action"),
};
const sx_keys sx_keys_ert_table = SX_KEYS("ert_table", true, ert_table_rules);

/* Checks a table of the later versions: a name and a list of actions. */
static sx_status check_listed(sx_input *input, const sx_node *table) {
    const sx_node *name, *actions;
    SX_TRY(sx_node_check_keys(input, table, "a table of the ERT", &sx_keys_ert_table));
    SX_TRY(sx_node_require(table, "name", "a table of the ERT", &name));
    SX_TRY(sx_node_expect(name, SX_NODE_SCALAR, "the name of a table"));
    SX_TRY(sx_node_require(table, "actions", "a table of the ERT", &actions));
    SX_TRY(sx_node_expect(actions, SX_NODE_LIST, "'actions'"));
    for (size_t i = 0; i < actions->n; i++) SX_TRY(check_action(input, actions->item[i], false));
    return SX_OK;
}

static const sx_key_rule ert_rules[] = {
    SX_KEY("version", "any", "of the format"),
    SX_KEY("tables", "[@ert_table]!", "energies by component"),
};
const sx_keys sx_keys_ert = SX_KEYS("ert", true, ert_rules);

sx_status sx_ert_find(sx_input *input, sx_ert *out) {
    const sx_pair *section;
    sx_ert ert = {0};
    SX_TRY(sx_input_single(input, "ERT", &section));
    if (!section || section->value->kind == SX_NODE_NULL) {
        *out = ert;
        return SX_OK;
    }
    SX_TRY(sx_node_check_keys(input, section->value, "the ERT", &sx_keys_ert));
    SX_TRY(sx_node_require(section->value, "tables", "the ERT", &ert.tables));
    ert.place = section->place;
    ert.named = ert.tables->kind == SX_NODE_MAP;
    if (!ert.named) SX_TRY(sx_node_expect(ert.tables, SX_NODE_LIST, "the 'tables' of the ERT"));
    for (size_t i = 0; i < ert.tables->n; i++)
        SX_TRY(ert.named ? check_named(input, ert.tables->pair[i].value)
                         : check_listed(input, ert.tables->item[i]));
    *out = ert;
    return SX_OK;
}

const sx_node *sx_ert_table(const sx_ert *ert, const char *component) {
    for (size_t i = 0; ert->tables && i < ert->tables->n; i++)
        if (names_component(table_name(ert, i), component))
            return ert->named ? ert->tables->pair[i].value : ert->tables->item[i];
    return NULL;
}

/* What a table says, without its name. */
static const sx_node *table_contents(const sx_ert *ert, size_t i) {
    if (ert->named) return ert->tables->pair[i].value;
    const sx_node *table = ert->tables->item[i], *actions = sx_node_get(table, "actions");
    return actions ? actions : sx_node_get(table, "area");
}

sx_status sx_ert_check_single(sx_input *input, const sx_ert *ert, const char *component, const char *what) {
    const sx_node *first = NULL;
    for (size_t i = 0; ert->tables && i < ert->tables->n; i++) {
        if (!names_component(table_name(ert, i), component)) continue;
        const sx_node *contents = table_contents(ert, i);
        if (!first) first = contents;
        if (sx_node_same_value(first, contents)) continue;
        return sx_input_differ(input, contents->place,
                               "the %s has two tables for '%.64s', which differ: the first is taken", what,
                               component);
    }
    return SX_OK;
}

sx_status sx_ert_missing(const sx_ert *ert, const char *component) {
    sx_status error = sx_error_at(ert->place, "the ERT has no table for '%s'", component);
    sx_text known = {0};
    for (size_t i = 0; i < ert->tables->n; i++) {
        size_t size;
        const char *own = own_name(table_name(ert, i), &size);
        sx_text_add(&known, "%s%.*s", i ? ", " : "", (int)(size < 64 ? size : 64), own);
        if (known.size > 400) break;
    }
    return sx_error_hint_list(error, "it has tables for", &known);
}

/* Takes an action's energy where it is larger than those before it. */
static sx_status take_energy(const sx_node *action, double *energy) {
    double value;
    SX_TRY(sx_node_double(sx_node_get(action, "energy"), "energy", &value));
    if (value > *energy) *energy = value;
    return SX_OK;
}

/* The largest energy of the actions of one name. */
static sx_status largest_energy(const sx_ert *ert, const sx_node *table, const char *name, bool *found,
                                double *energy) {
    *found = false;
    *energy = 0;
    if (ert->named) {
        const sx_node *action = sx_node_get(table, name);
        *found = action;
        if (!action || action->kind != SX_NODE_LIST) return action ? take_energy(action, energy) : SX_OK;
        for (size_t i = 0; i < action->n; i++) SX_TRY(take_energy(action->item[i], energy));
        return SX_OK;
    }
    const sx_node *actions = sx_node_get(table, "actions");
    for (size_t i = 0; i < actions->n; i++) {
        if (!sx_node_is(sx_node_get(actions->item[i], "name"), name)) continue;
        *found = true;
        SX_TRY(take_energy(actions->item[i], energy));
    }
    return SX_OK;
}

sx_status sx_ert_energy(const sx_ert *ert, const sx_node *table, const char *const *actions, size_t n,
                        double *out) {
    for (size_t i = 0; i < n; i++) {
        bool found;
        double energy;
        SX_TRY(largest_energy(ert, table, actions[i], &found, &energy));
        if (!found) continue;
        *out = energy;
        return SX_OK;
    }
    return SX_OK;
}

/* Actions that tables have for storage levels, and for compute units. Those of other tools have no bearing on a cost. */
static const char *const storage_actions[] = {
    "read",
    "write",
    "fill",
    "update",
    "leak",
    "random_read",
    "random_write",
    "random_fill",
    "random_update",
    "gated_read",
    "gated_write",
    "gated_fill",
    "gated_update",
    "skipped_read",
    "skipped_write",
    "skipped_fill",
    "skipped_update",
    "metadata_read",
    "metadata_write",
    "metadata_fill",
    "metadata_update",
    "random_metadata_read",
    "random_metadata_write",
    "random_metadata_fill",
    "random_metadata_update",
    "gated_metadata_read",
    "gated_metadata_write",
    "gated_metadata_fill",
    "gated_metadata_update",
    "skipped_metadata_read",
    "skipped_metadata_write",
    "skipped_metadata_fill",
    "skipped_metadata_update",
    "decompression_count",
    "compression_count",
    "access",
    "idle",
};
static const char *const compute_actions[] = {
    "compute",        "compute_gated", "compute_skipped", "mac",   "mac_random", "mac_gated", "mac_skipped",
    "compute_random", "mult",          "mult_random",     "leak",  "mult_gated", "access",    "mult_skipped",
    "idle",           "read",          "write",           "update"};

/* The known action nearest to a name that a table lacks; NULL where none is near. *exact becomes whether the name is known. */
static const char *near_action(const char *name, bool compute, bool *exact) {
    const char *const *known = compute ? compute_actions : storage_actions;
    size_t n = compute ? sizeof compute_actions / sizeof *compute_actions
                       : sizeof storage_actions / sizeof *storage_actions;
    const char *found = NULL;
    unsigned nearest = UINT_MAX;
    *exact = false;
    for (size_t i = 0; i < n; i++) {
        unsigned distance = sx_key_distance(name, known[i]);
        *exact |= strcmp(name, known[i]) == 0;
        if (distance >= nearest) continue;
        nearest = distance;
        found = known[i];
    }
    return found;
}

/* Checks one action by its name. */
static sx_status check_name(sx_input *input, const sx_ert *ert, const sx_node *table, const sx_pair *action,
                            const char *component, bool compute) {
    bool exact, has = true;
    double energy;
    char what[SX_NAME_SIZE + 32];
    const char *meant = near_action(action->key, compute, &exact);
    if (exact) return SX_OK;
    snprintf(what, sizeof what, "the ERT's table of '%.*s'", SX_NAME_SIZE - 1, component);
    if (meant) SX_TRY(largest_energy(ert, table, meant, &has, &energy));
    if (!has) return sx_input_misspelt(input, action, "action", what, meant);
    return sx_input_unknown(input, action, "the action '%.64s' of %s is not understood", action->key, what);
}

sx_status sx_ert_check_actions(sx_input *input, const sx_ert *ert, const char *component, bool compute) {
    const sx_node *table = sx_ert_table(ert, component);
    if (!table) return SX_OK;
    SX_TRY(sx_ert_check_single(input, ert, component, "ERT"));
    const sx_node *actions = ert->named ? table : sx_node_get(table, "actions");
    for (size_t i = 0; i < actions->n; i++) {
        const sx_node *name = ert->named ? NULL : sx_node_get(actions->item[i], "name");
        sx_pair listed = {.key = name ? name->text : NULL, .place = name ? name->place : ert->place};
        SX_TRY(check_name(input, ert, table, name ? &listed : &actions->pair[i], component, compute));
    }
    return SX_OK;
}
