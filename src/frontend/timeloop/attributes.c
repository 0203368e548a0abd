#include "frontend/timeloop/attributes.h"
#include "frontend/known_keys.h"

#include "base/text.h"
#include "frontend/timeloop/spec_nodes.h"
#include "text/quantity.h"
#include "text/template/expression.h"

#include <math.h>
#include <string.h>

#define MAX_DEPTH 32
#define MAX_LOOKUPS 4096

/* Attributes that a container's value never reaches: v0.4 gives every component a default, or (areas) it is
 * the container's own. */
static const char *const not_inherited[] = {
    "n_banks",         "cluster_size",      "reduction_supported", "multiple_buffering",
    "min_utilization", "allow_overbooking", "has_power_gating",    "area",
    "cluster_area",    "latency",
};

static bool is_inherited(const char *key) {
    for (size_t i = 0; i < sizeof not_inherited / sizeof *not_inherited; i++)
        if (sx_key_equal(not_inherited[i], key)) return false;
    return true;
}

/* The pair of a key whose value is not null. */
static const sx_pair *given_pair(const sx_node *map, const char *key) {
    const sx_pair *pair = sx_node_pair(map, key);
    return pair && pair->value->kind != SX_NODE_NULL ? pair : NULL;
}

/* The scope that holds an attribute, with its pair. */
static const sx_attribute_scope *find_attribute(const sx_attribute_scope *scope, const char *key,
                                                const sx_pair **pair) {
    bool outer = false;
    for (; scope && !scope->names_only; scope = scope->outer, outer = true) {
        *pair = given_pair(scope->map, key);
        if (*pair && (!outer || is_inherited(key))) return scope;
    }
    return NULL;
}

const sx_pair *sx_attribute_pair(const sx_attribute_scope *scope, const char *key) {
    const sx_pair *pair = NULL;
    return find_attribute(scope, key, &pair) ? pair : NULL;
}

const char *sx_attribute_first(const sx_attribute_scope *scope, const char *const *keys, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (sx_attribute_pair(scope, keys[i])) return keys[i];
    return NULL;
}

/* One evaluation: the scope that names are looked up from, the value being computed (which may use an outer
 * value of its own name), how deep the names go and how many may still be looked up. */
typedef struct evaluation {
    const sx_attribute_scope *scope;
    const sx_node *value;
    int depth;
    int *lookups;
} evaluation;

static sx_status evaluate_attribute(evaluation e, const char *what, double *out);

static const sx_attribute_scope *outermost_scope(const sx_attribute_scope *scope) {
    while (scope->outer) scope = scope->outer;
    return scope;
}

/* Keeps, where the outermost scope has an input, that an expression uses a pair. */
static sx_status keep_use(const sx_attribute_scope *scope, const sx_pair *pair) {
    sx_input *input = outermost_scope(scope)->input;
    return input ? sx_input_use(input, pair) : SX_OK;
}

sx_status sx_attribute_named(const sx_attribute_scope *scope, const sx_node *value, const sx_node **out) {
    for (int depth = 0; depth < MAX_DEPTH && value->kind == SX_NODE_SCALAR; depth++) {
        const sx_pair *pair = NULL;
        for (const sx_attribute_scope *at = scope; at && !pair; at = at->outer) {
            pair = given_pair(at->map, value->text);
            if (pair && pair->value == value) pair = NULL;
        }
        if (!pair) break;
        SX_TRY(keep_use(scope, pair));
        value = pair->value;
    }
    *out = value;
    return SX_OK;
}

static sx_status name_value(void *user, const char *name, double *value, bool *found);

/* The value of a product of values of the architecture's nodes. */
static sx_status multiply_values(evaluation e, const char *name, const sx_spec_product *product,
                                 double *value) {
    const sx_attribute_scope *variables = outermost_scope(e.scope);
    bool found = true;
    *value = 1;
    if (product->times) SX_TRY(name_value(&e, product->times, value, &found));
    if (!found) return sx_error_at(e.value->place, "'%s' needs the variable '%s'", name, product->times);
    for (size_t i = 0; i < product->n; i++) {
        const sx_attribute_scope scope = {.map = product->factor[i].attributes, .outer = variables};
        double factor;
        SX_TRY(evaluate_attribute((evaluation){&scope, product->factor[i].value, e.depth + 1, e.lookups},
                                  name, &factor));
        *value *= factor;
    }
    return SX_OK;
}

/* Looks a name up for an expression. */
static sx_status name_value(void *user, const char *name, double *value, bool *found) {
    evaluation e = *(const evaluation *)user;
    if (e.depth >= MAX_DEPTH || --*e.lookups < 0)
        return sx_error_at(e.value->place, "the value of '%s' is circular or too deeply nested", name);
    sx_spec_product product;
    for (const sx_attribute_scope *scope = e.scope; scope; scope = scope->outer) {
        const sx_pair *pair = given_pair(scope->map, name);
        if (!pair || pair->value == e.value) continue;
        *found = true;
        SX_TRY(keep_use(e.scope, pair));
        bool set = pair->place.file && strcmp(pair->place.file, SX_SETTING_FILE) == 0;
        if (scope->input && !set && sx_spec_array(scope->input, name, &product))
            return multiply_values(e, name, &product, value);
        return evaluate_attribute((evaluation){scope, pair->value, e.depth + 1, e.lookups}, name, value);
    }
    const sx_input *input = outermost_scope(e.scope)->input;
    *found = input && (sx_spec_array(input, name, &product) || sx_spec_find(input, name, &product));
    return *found ? multiply_values(e, name, &product, value) : SX_OK;
}

static sx_status evaluate_attribute(evaluation e, const char *what, double *out) {
    const char *text;
    SX_TRY(sx_node_text(e.value, what, &text));
    if (sx_text_double(text, out)) {
        bool named = false; /* a variable may be called INF */
        if (!isfinite(*out)) SX_TRY(name_value(&e, text, out, &named));
        return SX_OK;
    }
    return sx_expression(text, e.value->place, name_value, &e, out);
}

sx_status sx_attribute_refuse_truth(const sx_node *node, const char *what) {
    static const char *const words[] = {"true", "True", "TRUE", "false", "False", "FALSE"};
    for (size_t i = 0; i < sizeof words / sizeof *words && node->kind == SX_NODE_SCALAR; i++)
        if (strcmp(node->text, words[i]) == 0)
            return sx_error_at(node->place, "'%s' must be a number, not '%s'", what, node->text);
    return SX_OK;
}

sx_status sx_attribute_number(const sx_attribute_scope *scope, const sx_node *node, const char *what,
                              double *out) {
    int lookups = MAX_LOOKUPS;
    return evaluate_attribute((evaluation){scope, node, 0, &lookups}, what, out);
}

sx_status sx_attribute_double(const sx_attribute_scope *scope, const char *key, double *out) {
    const sx_pair *pair = NULL;
    const sx_attribute_scope *at = find_attribute(scope, key, &pair);
    if (!at) return SX_OK;
    SX_TRY(sx_attribute_refuse_truth(pair->value, key));
    return sx_attribute_number(at, pair->value, key, out);
}

sx_status sx_attribute_u64(const sx_attribute_scope *scope, const char *key, uint64_t *out) {
    const sx_pair *pair = NULL;
    const sx_attribute_scope *at = find_attribute(scope, key, &pair);
    double value;
    if (!at) return SX_OK;
    SX_TRY(sx_attribute_refuse_truth(pair->value, key));
    sx_quantity quantity;
    if (pair->value->kind == SX_NODE_SCALAR && sx_text_u64(pair->value->text, out)) return SX_OK;
    if (pair->value->kind == SX_NODE_SCALAR && sx_quantity_parse(pair->value->text, &quantity) &&
        !quantity.bytes)
        value = quantity.value;
    else
        SX_TRY(sx_attribute_number(at, pair->value, key, &value));
    if (value < 0 || value != floor(value) || value > 0x1p53)
        return sx_error_at(pair->value->place, "'%s' must be a whole number from 0 to 2^53, but is %g", key,
                           value);
    *out = (uint64_t)value;
    return SX_OK;
}

sx_status sx_attribute_u32(const sx_attribute_scope *scope, const char *key, uint32_t *out) {
    const sx_pair *pair = sx_attribute_pair(scope, key);
    uint64_t value;
    if (!pair) return SX_OK;
    SX_TRY(sx_attribute_u64(scope, key, &value));
    if (value > UINT32_MAX)
        return sx_error_at(pair->value->place, "'%s' is %llu; at most %llu is allowed", key,
                           (unsigned long long)value, (unsigned long long)UINT32_MAX);
    *out = (uint32_t)value;
    return SX_OK;
}

sx_status sx_attribute_bool(const sx_attribute_scope *scope, const char *key, bool *out) {
    const sx_pair *pair = sx_attribute_pair(scope, key);
    return pair ? sx_node_bool(pair->value, key, out) : SX_OK;
}

sx_status sx_attributes_check(sx_input *input, const sx_node *map, const char *what, const sx_keys *keys) {
    if (!map || map->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "'attributes'"));
    for (size_t i = 0; i < map->n; i++) {
        if (map->pair[i].value->kind == SX_NODE_NULL) continue;
        SX_TRY(sx_node_check_key(input, map, &map->pair[i], "attribute", what, keys));
    }
    return SX_OK;
}
