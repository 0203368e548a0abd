#include "frontend/timeloop/spec_value.h"

#include "frontend/timeloop/attributes.h"
#include "frontend/timeloop/variables.h"
#include "text/template/expression.h"

#include <math.h>
#include <string.h>

/* An evaluation: what may be referred to, and the variables. */
typedef struct evaluation {
    const sx_spec_scope *scope;
    sx_attribute_scope variables;
} evaluation;

/* The value of a name: a list of the problem's dimensions, an attribute of the level, or a variable. */
static sx_status find_value(void *user, const char *name, sx_value *out) {
    const evaluation *e = user;
    const sx_storage *level = e->scope->level;
    bool dims =
        strcmp(name, "spec.problem.instance") == 0 || strcmp(name, "spec.problem.shape.dimensions") == 0;
    if (dims && e->scope->problem) {
        *out = (sx_value){.kind = SX_VALUE_LIST, .n = e->scope->problem->n_dims};
        return SX_OK;
    }
    if (level && strcmp(name, "depth") == 0 && level->entries != SX_UNLIMITED) {
        *out = sx_value_number(floor((double)level->entries / level->block_size), true);
        return SX_OK;
    }
    const sx_attribute_scope own = {.map = e->scope->attributes, .outer = &e->variables};
    const sx_pair *attribute = sx_node_pair(own.map, name);
    const sx_pair *pair = attribute ? attribute : sx_node_pair(e->variables.map, name);
    double value;
    if (!pair) return SX_OK;
    SX_TRY(sx_input_use(e->scope->input, pair));
    SX_TRY(sx_attribute_number(attribute ? &own : &e->variables, pair->value, name, &value));
    *out = sx_value_number(value, value == floor(value) && fabs(value) <= 0x1p53);
    return SX_OK;
}

/* str() and len(), and the functions of arithmetic. */
static sx_status call_function(void *user, sx_place place, const char *name, const sx_value *argument,
                               size_t n, sx_value *out, bool *known) {
    const evaluation *e = user;
    (void)place;
    *known = true;
    if (strcmp(name, "len") == 0 && n == 1 && argument->kind == SX_VALUE_LIST) {
        *out = sx_value_number((double)argument->n, true);
        return SX_OK;
    }
    if (strcmp(name, "str") != 0 || n != 1) return sx_math_call(name, argument, n, out, known);
    sx_arena *arena = sx_input_arena(e->scope->input);
    sx_text text = {0};
    sx_value_write(argument, &text);
    const char *copy = text.failed ? NULL : sx_arena_copy(arena, text.data ? text.data : "", text.size);
    sx_text_free(&text);
    if (!copy) return sx_arena_error(arena);
    *out = sx_value_text(copy);
    return SX_OK;
}

/* The value of a text at a place as an expression. */
static sx_status evaluate_text(const sx_spec_scope *scope, const char *text, sx_place place, sx_value *out) {
    evaluation e = {.scope = scope};
    SX_TRY(sx_variables_scope(scope->input, &e.variables));
    const sx_names names = {.arena = sx_input_arena(scope->input),
                            .lookup = find_value,
                            .call = call_function,
                            .functions = "str, len and those of arithmetic",
                            .user = &e};
    return sx_expression_value(&names, text, place, out);
}

/* Writes the value of an expression in the braces of a formatted text, `length` bytes long. */
static sx_status add_value(const sx_spec_scope *scope, sx_place place, const char *at, size_t length,
                           sx_text *out) {
    sx_arena *arena = sx_input_arena(scope->input);
    const char *text = sx_arena_copy(arena, at, length);
    sx_value value;
    if (!text) return sx_arena_error(arena);
    SX_TRY(evaluate_text(scope, text, place, &value));
    sx_value_write(&value, out);
    return SX_OK;
}

/* Writes a formatted text, what is between its quotes: f"X={BITS}". */
static sx_status format_quoted(const sx_spec_scope *scope, sx_place place, const char *at, const char *end,
                               sx_text *out) {
    while (at < end) {
        const char *open = memchr(at, '{', (size_t)(end - at));
        const char *close = open ? memchr(open, '}', (size_t)(end - open)) : NULL;
        if (open && !close) return sx_error_at(place, "a '}' is missing");
        sx_text_add(out, "%.*s", (int)((open ? open : end) - at), at);
        if (!open) return SX_OK;
        SX_TRY(add_value(scope, place, open + 1, (size_t)(close - open - 1), out));
        at = close + 1;
    }
    return SX_OK;
}

/* The value of a formatted text; it lives as long as the input. */
static sx_status format_text(const sx_spec_scope *scope, const sx_node *node, const char **out) {
    sx_arena *arena = sx_input_arena(scope->input);
    const char *text = node->text, *end = text + strlen(text);
    sx_text made = {0};
    sx_status status = end - text < 3 || end[-1] != text[1]
                           ? sx_error_at(node->place, "a quote is not closed")
                           : format_quoted(scope, node->place, text + 2, end - 1, &made);
    const char *copy =
        status || made.failed ? NULL : sx_arena_copy(arena, made.data ? made.data : "", made.size);
    sx_text_free(&made);
    SX_TRY(status);
    if (!copy) return sx_arena_error(arena);
    *out = copy;
    return SX_OK;
}

sx_status sx_spec_text(const sx_spec_scope *scope, const sx_node *node, const char **out) {
    sx_value value;
    SX_TRY(sx_node_text(node, "the value", out));
    if (!strpbrk(*out, "'\"")) return SX_OK;
    if ((*out)[0] == 'f' && ((*out)[1] == '"' || (*out)[1] == '\'')) return format_text(scope, node, out);
    SX_TRY(evaluate_text(scope, node->text, node->place, &value));
    if (value.kind != SX_VALUE_TEXT)
        return sx_error_at(node->place, "the expression '%.200s' is not a text", node->text);
    *out = value.text;
    return SX_OK;
}

sx_status sx_spec_count(const sx_spec_scope *scope, const sx_node *node, const char *what, uint64_t low,
                        uint64_t high, uint64_t *out) {
    double number;
    sx_value value;
    bool written = node->kind != SX_NODE_SCALAR || sx_text_double(node->text, &number);
    if (written && high == UINT64_MAX) return sx_node_u64(node, what, out);
    if (written) return sx_node_range(node, what, low, high, out);
    SX_TRY(evaluate_text(scope, node->text, node->place, &value));
    if (!sx_value_numeric(&value) || value.number != floor(value.number) || value.number < (double)low)
        return sx_error_at(node->place, "'%s' must be a whole number, at least %llu", what,
                           (unsigned long long)low);
    *out = value.number >= (double)high ? high : (uint64_t)value.number;
    return SX_OK;
}
