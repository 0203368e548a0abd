#include "frontend/timeloop/attributes.h"
#include "frontend/known_keys.h"

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

static sx_status evaluate_value(evaluation e, const char *what, sx_value *out);

/* The value of an attribute as a number. */
static sx_status evaluate_attribute(evaluation e, const char *what, double *out) {
    const char *text;
    sx_value value;
    SX_TRY(sx_node_text(e.value, what, &text));
    SX_TRY(evaluate_value(e, what, &value));
    if (!sx_value_numeric(&value))
        return sx_error_at(e.value->place, "the expression '%.200s' is not a number", text);
    *out = value.number;
    return SX_OK;
}

static sx_value number_value(double value) {
    return sx_value_number(value, value == floor(value) && fabs(value) <= 0x1p53);
}

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

static sx_status name_value(void *user, const char *name, sx_value *out);

/* The value of a product of values of the architecture's nodes. */
static sx_status multiply_values(evaluation e, const char *name, const sx_spec_product *product,
                                 sx_value *out) {
    const sx_attribute_scope *variables = outermost_scope(e.scope);
    *out = sx_value_number(1, true);
    if (product->times) {
        *out = (sx_value){.kind = SX_VALUE_UNDEFINED};
        SX_TRY(name_value(&e, product->times, out));
    }
    if (!sx_value_numeric(out))
        return sx_error_at(e.value->place, "'%s' needs the variable '%s', a number", name, product->times);
    for (size_t i = 0; i < product->n; i++) {
        const sx_attribute_scope scope = {.map = product->factor[i].attributes, .outer = variables};
        double factor;
        SX_TRY(evaluate_attribute((evaluation){&scope, product->factor[i].value, e.depth + 1, e.lookups},
                                  name, &factor));
        *out = number_value(out->number * factor);
    }
    return SX_OK;
}

/* Looks a name up for an expression; what has no value is left undefined. */
static sx_status name_value(void *user, const char *name, sx_value *out) {
    evaluation e = *(const evaluation *)user;
    if (e.depth >= MAX_DEPTH || --*e.lookups < 0)
        return sx_error_at(e.value->place, "the value of '%s' is circular or too deeply nested", name);
    sx_spec_product product;
    const sx_pair *histogram;
    for (const sx_attribute_scope *scope = e.scope; scope; scope = scope->outer) {
        const sx_pair *pair = given_pair(scope->map, name);
        bool set = pair && pair->place.file && strcmp(pair->place.file, SX_SETTING_FILE) == 0;
        if (scope->input && !set && sx_spec_histogram(scope->input, name, &histogram)) pair = histogram;
        if (!pair || pair->value == e.value) continue;
        SX_TRY(keep_use(e.scope, pair));
        if (scope->input && !set && sx_spec_array(scope->input, name, &product))
            return multiply_values(e, name, &product, out);
        return evaluate_value((evaluation){scope, pair->value, e.depth + 1, e.lookups}, name, out);
    }
    const sx_input *input = outermost_scope(e.scope)->input;
    bool found = input && (sx_spec_array(input, name, &product) || sx_spec_find(input, name, &product));
    return found ? multiply_values(e, name, &product, out) : SX_OK;
}

/* The values of the items of a list. */
static sx_status evaluate_items(evaluation e, sx_arena *arena, const char *what, sx_value *out) {
    size_t n = e.value->n;
    sx_value *item = sx_arena_alloc(arena, n, sizeof *item);
    if (!item) return sx_arena_error(arena);
    if (e.depth >= MAX_DEPTH) return sx_error_at(e.value->place, "'%s' is too deeply nested", what);
    *out = (sx_value){.kind = SX_VALUE_LIST, .item = item, .n = n};
    for (size_t i = 0; i < n; i++) {
        evaluation part = {e.scope, e.value->item[i], e.depth + 1, e.lookups};
        SX_TRY(evaluate_value(part, what, &item[i]));
        out->size += sx_value_size(&item[i]);
    }
    return SX_OK;
}

/* The functions of arithmetic, and the one that CiMLoop's designs call for what decides sizes: whether a histogram, of
 * values from the least to the greatest with 0 in the middle, has negative ones. */
static sx_status call_function(void *user, sx_place place, const char *name, const sx_value *argument,
                               size_t n, sx_value *out, bool *known) {
    (void)user;
    (void)place;
    if (strcmp(name, "is_hist_signed") != 0) return sx_math_call(name, argument, n, out, known);
    double below = 0;
    *known = true;
    if (n != 1 || argument->kind != SX_VALUE_LIST)
        return sx_error_new(SX_ERR_INPUT, "'%s' needs a list of numbers", name);
    for (size_t i = 0; i < argument->n; i++) {
        if (!sx_value_numeric(&argument->item[i]))
            return sx_error_new(SX_ERR_INPUT, "'%s' needs a list of numbers", name);
        if (i < argument->n / 2) below += argument->item[i].number;
    }
    *out = sx_value_bool(below != 0);
    return SX_OK;
}

static sx_status evaluate_value(evaluation e, const char *what, sx_value *out) {
    const sx_input *input = outermost_scope(e.scope)->input;
    sx_arena *arena = input ? sx_input_arena(outermost_scope(e.scope)->input) : NULL;
    if (arena && e.value->kind == SX_NODE_LIST) return evaluate_items(e, arena, what, out);
    const char *text;
    double number;
    SX_TRY(sx_node_text(e.value, what, &text));
    SX_TRY(sx_node_decimal(e.value, what));
    if (sx_text_double(text, &number)) {
        *out = number_value(number);
        return isfinite(number) ? SX_OK : name_value(&e, text, out); /* a variable may be called INF */
    }
    const sx_names names = {.arena = arena,
                            .lookup = name_value,
                            .call = call_function,
                            .functions =
                                SX_MATH_FUNCTIONS ", and is_hist_signed; what another function of Python "
                                                  "gives a variable, --set NAME=VALUE does",
                            .user = &e};
    return sx_expression_value(&names, text, e.value->place, out);
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

/* Whether two values of a map are the same: as they are written, or as numbers. */
static sx_status same_number(const sx_attribute_scope *scope, const sx_pair *a, const sx_pair *b,
                             bool *same) {
    double x = 0, y = 0;
    *same = sx_node_same_value(a->value, b->value);
    if (*same || a->value->kind != SX_NODE_SCALAR || b->value->kind != SX_NODE_SCALAR) return SX_OK;
    SX_TRY(sx_attribute_number(scope, a->value, a->key, &x));
    SX_TRY(sx_attribute_number(scope, b->value, b->key, &y));
    *same = x == y;
    return SX_OK;
}

sx_status sx_attribute_agree(sx_input *input, const sx_attribute_scope *scope, const char *const *keys,
                             size_t n) {
    const sx_pair *first = NULL;
    for (size_t i = 0; i < n; i++) {
        const sx_pair *pair = given_pair(scope->map, keys[i]);
        bool same;
        if (!first) first = pair;
        if (!pair || pair == first) continue;
        SX_TRY(same_number(scope, first, pair, &same));
        if (!same)
            SX_TRY(sx_input_warn(input, pair->place, "'%.64s' is ignored: '%.64s' beside it says otherwise",
                                 pair->key, first->key));
    }
    return SX_OK;
}

sx_status sx_attribute_double(const sx_attribute_scope *scope, const char *key, double *out) {
    const sx_pair *pair = NULL;
    const sx_attribute_scope *at = find_attribute(scope, key, &pair);
    if (!at) return SX_OK;
    SX_TRY(sx_attribute_refuse_truth(pair->value, key));
    return sx_attribute_number(at, pair->value, key, out);
}

/* The error for a value that is no whole number, as it is written, and what it comes to where that is not plain. */
static sx_status refuse_fraction(const sx_node *node, const char *key, double value) {
    double written;
    const char *text = node->kind == SX_NODE_SCALAR ? node->text : "a list";
    if (sx_text_double(text, &written))
        return sx_error_at(node->place, "'%s' must be a whole number from 0 to 2^53, but is %.64s", key,
                           text);
    return sx_error_at(node->place, "'%s' must be a whole number from 0 to 2^53, but is %.64s = %.15g", key,
                       text, value);
}

sx_status sx_attribute_u64(const sx_attribute_scope *scope, const char *key, uint64_t *out) {
    const sx_pair *pair = NULL;
    const sx_attribute_scope *at = find_attribute(scope, key, &pair);
    double value;
    if (!at) return SX_OK;
    SX_TRY(sx_attribute_refuse_truth(pair->value, key));
    sx_quantity quantity;
    SX_TRY(sx_node_decimal(pair->value, key));
    if (pair->value->kind == SX_NODE_SCALAR && sx_text_u64(pair->value->text, out)) return SX_OK;
    if (pair->value->kind == SX_NODE_SCALAR && sx_quantity_parse(pair->value->text, &quantity) &&
        !quantity.bytes)
        value = quantity.value;
    else
        SX_TRY(sx_attribute_number(at, pair->value, key, &value));
    if (value < 0 || value != floor(value) || value > 0x1p53) return refuse_fraction(pair->value, key, value);
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
