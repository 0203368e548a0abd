#include "text/template/expression.h"

#include "text/document/source.h"
#include "text/template/expression_filter.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_ARGUMENTS = 64, MAX_NAME = 64 };

/* An expression being evaluated while it is read. What a condition leaves out is read with `skipped`: names
 * are not looked up and values mean nothing. */
typedef struct parser {
    const sx_names *names;
    const char *text, *at;
    sx_place place;
    const char *marked;  /* the last character whose place was asked for; NULL: none yet */
    size_t line, column; /* of it */
    int depth, skipped;
} parser;

typedef sx_status parse_operand(parser *p, sx_value *out);

static parse_operand parse_condition;

static void skip_space(parser *p) {
    while (isspace((unsigned char)*p->at)) p->at++;
}

static bool name_character(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Takes an operator or a bracket where it comes next. */
static bool accept_token(parser *p, const char *token) {
    skip_space(p);
    size_t size = strlen(token);
    if (strncmp(p->at, token, size) != 0) return false;
    if (name_character(*token) && name_character(p->at[size])) return false;
    p->at += size;
    return true;
}

/* The place of the next character, or that of the whole where that is all there is. Lines and columns are
 * counted on from the last place, so that all places of an expression take one pass over it. */
static sx_place parser_place(parser *p) {
    sx_place place = p->place;
    if (!p->names->jinja) return place;
    skip_space(p);
    if (!p->marked || p->at < p->marked) {
        p->marked = p->text;
        p->line = p->column = 0;
    }
    sx_source_advance(p->marked, p->at, &p->line, &p->column);
    p->marked = p->at;
    if (p->line > INT_MAX / 2 || p->column > INT_MAX / 2) return place;
    place.column = (int)p->column + (p->line ? 1 : place.column);
    place.line += (int)p->line;
    return place;
}

static sx_status malformed_expression(parser *p, const char *what) {
    return sx_error_at(parser_place(p), "the expression '%.200s' is not valid: %s", p->text, what);
}

/* Gives an error of a value its place and the text that it comes from. */
static sx_status locate_error(parser *p, SX_TAKE sx_status status) {
    if (!status || status->code != SX_ERR_INPUT || status->file) return status;
    sx_status error = malformed_expression(p, status->message);
    sx_status_free(status);
    return error;
}

sx_status sx_value_undefined(sx_place place, const sx_value *value) {
    return sx_error_hint(sx_error_at(place, "the variable '%s' of the template has no value", value->text),
                         "give it with --set %s=VALUE", value->text);
}

/* Refuses a value that is undefined. */
static sx_status require_defined(parser *p, sx_place place, const sx_value *value) {
    return value->kind == SX_VALUE_UNDEFINED && !p->skipped ? sx_value_undefined(place, value) : SX_OK;
}

/* Reads the right side of an operator and applies it, unless this part is skipped; `place` is that of the
 * left side. */
static sx_status apply_operator(parser *p, const char *op, sx_place place, parse_operand *operand,
                                sx_value *left) {
    sx_value right, before = *left;
    SX_TRY(require_defined(p, place, left));
    place = parser_place(p);
    SX_TRY(operand(p, &right));
    SX_TRY(require_defined(p, place, &right));
    if (p->skipped) return SX_OK;
    return locate_error(p, sx_value_operate(p->names->arena, op, &before, &right, left));
}

/* Reads a number; hexadecimal, whole numbers with leading zeros and names such as "inf" are not numbers here. */
static sx_status parse_number(parser *p, sx_value *out) {
    if (p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X'))
        return malformed_expression(p, "numbers must be decimal");
    char *end;
    size_t digits = strspn(p->at, "0123456789");
    double value = strtod(p->at, &end);
    if (p->at[0] == '0' && digits > 1 && p->at + digits == end)
        return malformed_expression(p, "whole numbers do not begin with 0");
    if (end == p->at || !(digits || *p->at == '.'))
        return malformed_expression(p, "a number, a name or '(' is expected next");
    if (!isfinite(value)) return malformed_expression(p, "its value is not a finite number");
    *out = sx_value_number(value, p->at + digits == end && value <= 0x1p53);
    p->at = end;
    return SX_OK;
}

/* Reads a text in quotes; a backslash takes the next character as it is. */
static sx_status parse_text(parser *p, sx_value *out) {
    char quote = *p->at;
    const char *end = p->at + 1;
    while (*end && *end != quote) end += *end == '\\' && end[1] ? 2 : 1;
    if (!*end) return malformed_expression(p, "a quote is not closed");
    if (!p->names->arena) return malformed_expression(p, "a number, a name or '(' is expected next");
    char *text = sx_arena_alloc(p->names->arena, (size_t)(end - p->at), 1), *to = text;
    if (!text) return sx_arena_error(p->names->arena);
    for (const char *c = p->at + 1; c < end; c++) *to++ = *c == '\\' ? *++c : *c;
    p->at = end + 1;
    *out = sx_value_text(text);
    return SX_OK;
}

/* Reads values up to a closing bracket, the opening one being behind. */
static sx_status parse_items(parser *p, const char *close, sx_value *item, size_t *n) {
    *n = 0;
    while (!accept_token(p, close)) {
        if (*n == MAX_ARGUMENTS) return malformed_expression(p, "more than 64 values in brackets");
        sx_place place = parser_place(p);
        SX_TRY(parse_condition(p, &item[*n]));
        SX_TRY(require_defined(p, place, &item[*n]));
        ++*n;
        if (accept_token(p, ",")) continue;
        if (!accept_token(p, close))
            return malformed_expression(p, *close == ')' ? "a ')' is missing" : "a ']' is missing");
        break;
    }
    return SX_OK;
}

static sx_status parse_list(parser *p, sx_value *out) {
    sx_value item[MAX_ARGUMENTS];
    size_t n;
    SX_TRY(parse_items(p, "]", item, &n));
    if (!p->names->arena) return malformed_expression(p, "lists are not allowed in it");
    sx_value *copy = sx_arena_alloc(p->names->arena, n, sizeof *copy);
    if (!copy) return sx_arena_error(p->names->arena);
    *out = (sx_value){.kind = SX_VALUE_LIST, .item = copy, .n = n};
    for (size_t i = 0; i < n; i++) {
        copy[i] = item[i];
        out->size += sx_value_size(&item[i]);
    }
    if (out->size > SX_MAX_VALUE) return malformed_expression(p, "a list is too large");
    return SX_OK;
}

/* Reads the arguments of a function, its opening bracket being behind, and applies it. */
static sx_status parse_call(parser *p, sx_place place, const char *name, sx_value *out) {
    sx_value argument[MAX_ARGUMENTS];
    size_t n;
    bool known = true;
    SX_TRY(parse_items(p, ")", argument, &n));
    if (p->skipped) return SX_OK;
    const sx_names *names = p->names;
    SX_TRY(locate_error(p, names->call(names->user, place, name, argument, n, out, &known)));
    if (known) return SX_OK;
    return sx_error_hint(
        sx_error_at(place, "the expression '%.200s' is not valid: unknown function '%s'", p->text, name),
        "supported: %s", names->functions);
}

/* Reads a word of letters, digits and underscores. */
static sx_status parse_word(parser *p, char name[MAX_NAME]) {
    size_t size = 0;
    skip_space(p);
    while (name_character(p->at[size])) size++;
    if (size >= MAX_NAME) return malformed_expression(p, "a name is too long");
    memcpy(name, p->at, size);
    name[size] = 0;
    p->at += size;
    return SX_OK;
}

/* The error for a name of a number without a value. */
static sx_status unknown_name(sx_place place, const char *name) {
    return sx_error_hint(
        sx_error_at(place, "'%s' is neither a number nor a known name", name),
        "names are attributes of the same component, of the containers around it, variables, and what "
        "--set %s=VALUE sets",
        name);
}

/* The value of a word that has one everywhere. */
static bool constant_named(const char *name, sx_value *out) {
    static const char *const words[] = {"True", "true", "False", "false", "None", "none"};
    for (int i = 0; i < 6; i++) {
        if (strcmp(name, words[i]) != 0) continue;
        *out = i < 4 ? sx_value_bool(i < 2) : (sx_value){.kind = SX_VALUE_NONE};
        return true;
    }
    return false;
}

/* Goes past the quote and the bracket behind a key, if there was a quote before it. */
static sx_status end_key(parser *p, char quote) {
    if (!quote) return SX_OK;
    if (p->at[0] != quote || p->at[1] != ']')
        return malformed_expression(p, "a name in quotes and ']' are expected next");
    p->at += 2;
    return SX_OK;
}

/* Reads a name with dots in it, such as loop.index or spec.variables.X; X["key"] is the same as X.key. */
static sx_status parse_dotted(parser *p, char name[MAX_NAME]) {
    size_t size = 0;
    SX_TRY(parse_word(p, name));
    for (size = strlen(name);;) {
        char part[MAX_NAME], quote = 0;
        if (p->at[0] == '[' && (p->at[1] == '"' || p->at[1] == '\''))
            quote = *++p->at;
        else if (p->at[0] != '.' || !(isalpha((unsigned char)p->at[1]) || p->at[1] == '_'))
            break;
        p->at++;
        SX_TRY(parse_word(p, part));
        SX_TRY(end_key(p, quote));
        if (size + strlen(part) + 2 > MAX_NAME) return malformed_expression(p, "a name is too long");
        name[size++] = '.';
        memcpy(name + size, part, strlen(part) + 1);
        size += strlen(part);
    }
    return SX_OK;
}

/* The part of a name that names a variable or an attribute: Timeloop's front end writes it with what holds it. */
static const char *plain_name(const char *name) {
    static const char *const holders[] = {"spec.variables.", "variables.", "attributes."};
    for (size_t i = 0; i < sizeof holders / sizeof *holders; i++)
        if (strncmp(name, holders[i], strlen(holders[i])) == 0) return name + strlen(holders[i]);
    return name;
}

/* Reads the arguments of `spec.variables.get`, its opening bracket being behind: a name in quotes, and perhaps the value
 * where it has none. */
static sx_status read_variable_call(parser *p, sx_value *out) {
    char name[MAX_NAME];
    sx_value otherwise = {.kind = SX_VALUE_UNDEFINED, .text = ""};
    skip_space(p);
    char quote = *p->at;
    if (quote != '"' && quote != '\'') return malformed_expression(p, "a name in quotes is expected next");
    p->at++;
    SX_TRY(parse_word(p, name));
    if (*p->at != quote) return malformed_expression(p, "a name in quotes is expected next");
    p->at++;
    if (accept_token(p, ",")) SX_TRY(parse_condition(p, &otherwise));
    if (!accept_token(p, ")")) return malformed_expression(p, "a ')' is missing");
    *out = (sx_value){.kind = SX_VALUE_UNDEFINED};
    if (!p->skipped) SX_TRY(p->names->lookup(p->names->user, name, out));
    if (out->kind == SX_VALUE_UNDEFINED) *out = otherwise;
    return SX_OK;
}

static sx_status parse_name(parser *p, sx_value *out) {
    char name[MAX_NAME];
    sx_place place = parser_place(p);
    SX_TRY(parse_dotted(p, name));
    const char *plain = plain_name(name);
    if (accept_token(p, "(")) {
        if (plain != name && strcmp(plain, "get") == 0) return read_variable_call(p, out);
        return parse_call(p, place, name, out);
    }
    if (constant_named(name, out) || p->skipped) return SX_OK;
    *out = (sx_value){.kind = SX_VALUE_UNDEFINED};
    SX_TRY(p->names->lookup(p->names->user, plain, out));
    if (out->kind != SX_VALUE_UNDEFINED) return SX_OK;
    if (!p->names->jinja) return unknown_name(place, name);
    out->text = p->names->arena ? sx_arena_copy(p->names->arena, name, strlen(name)) : "";
    return out->text ? SX_OK : sx_arena_error(p->names->arena);
}

static sx_status parse_atom(parser *p, sx_value *out) {
    *out = (sx_value){.kind = SX_VALUE_NONE};
    skip_space(p);
    if (isalpha((unsigned char)*p->at) || *p->at == '_') return parse_name(p, out);
    if (*p->at == '\'' || *p->at == '"') return parse_text(p, out);
    if (accept_token(p, "[")) return parse_list(p, out);
    if (!accept_token(p, "(")) return parse_number(p, out);
    SX_TRY(parse_condition(p, out));
    return accept_token(p, ")") ? SX_OK : malformed_expression(p, "a ')' is missing");
}

/* The word before a '=' that comes next, with both taken; false where none does. */
static bool take_keyword(parser *p, char word[MAX_NAME]) {
    const char *begin = p->at;
    size_t size = 0;
    skip_space(p);
    while (name_character(p->at[size]) && size + 1 < MAX_NAME) size++;
    memcpy(word, p->at, size);
    word[size] = 0;
    p->at += size;
    skip_space(p);
    bool is = size > 0 && p->at[0] == '=' && p->at[1] != '=';
    p->at = is ? p->at + 1 : begin;
    return is;
}

/* Reads the arguments of a filter, its opening bracket being behind; some may be given by name. */
static sx_status parse_arguments(parser *p, const char *filter, sx_value argument[2], size_t *n) {
    argument[0] = argument[1] = (sx_value){.kind = SX_VALUE_NONE};
    for (size_t next = 0; !accept_token(p, ")"); next++) {
        char word[MAX_NAME];
        int at = take_keyword(p, word) ? sx_filter_argument(filter, word) : next < 2 ? (int)next : -1;
        if (at < 0)
            return malformed_expression(p, "a filter has too many arguments, or one that it does not know");
        sx_place place = parser_place(p);
        SX_TRY(parse_condition(p, &argument[at]));
        SX_TRY(require_defined(p, place, &argument[at]));
        if ((size_t)at + 1 > *n) *n = (size_t)at + 1;
        if (accept_token(p, ",")) continue;
        if (!accept_token(p, ")")) return malformed_expression(p, "a ')' is missing");
        break;
    }
    return SX_OK;
}

/* Applies the filter after a '|'. */
static sx_status parse_filter(parser *p, sx_place operand, sx_value *value) {
    char name[MAX_NAME];
    sx_value argument[2];
    size_t n = 0;
    sx_place place = parser_place(p);
    SX_TRY(parse_word(p, name));
    if (accept_token(p, "(")) SX_TRY(parse_arguments(p, name, argument, &n));
    if (p->skipped) return SX_OK;
    if (!sx_filter_takes_undefined(name)) SX_TRY(require_defined(p, operand, value));
    sx_value before = *value;
    bool known = false;
    SX_TRY(locate_error(p, sx_filter_apply(p->names->arena, name, &before, argument, n, value, &known)));
    if (known) return SX_OK;
    return sx_error_hint(sx_error_at(place, "the filter '%s' is not supported", name), "supported: %s",
                         sx_filter_names);
}

/* Applies the test after `is`. */
static sx_status parse_test(parser *p, sx_place operand, sx_value *value) {
    char name[MAX_NAME];
    bool inverse = accept_token(p, "not"), is = false, known = false;
    sx_place place = parser_place(p);
    SX_TRY(parse_word(p, name));
    if (p->skipped) return SX_OK;
    if (strcmp(name, "defined") != 0 && strcmp(name, "undefined") != 0)
        SX_TRY(require_defined(p, operand, value));
    is = sx_test_apply(name, value, &known);
    if (!known)
        return sx_error_hint(sx_error_at(place, "the test 'is %s' is not supported", name), "supported: %s",
                             sx_test_names);
    *value = sx_value_bool(is != inverse);
    return SX_OK;
}

/* A value with the filters and tests behind it. */
static sx_status parse_filtered(parser *p, sx_value *out) {
    sx_place place = parser_place(p);
    SX_TRY(parse_atom(p, out));
    while (p->names->jinja) {
        if (accept_token(p, "|"))
            SX_TRY(parse_filter(p, place, out));
        else if (accept_token(p, "is"))
            SX_TRY(parse_test(p, place, out));
        else
            break;
    }
    return SX_OK;
}

/* Signs and powers: -2**2 is -4, 2**-1 is 0.5, 2**3**2 is 512. */
static sx_status parse_factor(parser *p, sx_value *out) {
    if (++p->depth > MAX_DEPTH) return malformed_expression(p, "it is nested too deeply");
    sx_place place = parser_place(p);
    bool minus = accept_token(p, "-");
    if (minus || accept_token(p, "+")) {
        *out = sx_value_number(0, true);
        SX_TRY(apply_operator(p, minus ? "-" : "+", place, parse_factor, out));
    } else {
        SX_TRY(parse_filtered(p, out));
        if (accept_token(p, "**")) SX_TRY(apply_operator(p, "**", place, parse_factor, out));
    }
    p->depth--;
    return SX_OK;
}

/* Operands with operators of one rank between them, from left to right. */
static sx_status parse_chain(parser *p, parse_operand *operand, const char *const *ops, sx_value *out) {
    sx_place place = parser_place(p);
    SX_TRY(operand(p, out));
    for (;;) {
        const char *const *op = ops;
        while (*op && !accept_token(p, *op)) op++;
        if (!*op) return SX_OK;
        SX_TRY(apply_operator(p, *op, place, operand, out));
    }
}

static sx_status parse_product(parser *p, sx_value *out) {
    static const char *const ops[] = {"//", "*", "/", "%", NULL};
    return parse_chain(p, parse_factor, ops, out);
}

static sx_status parse_joined(parser *p, sx_value *out) {
    static const char *const ops[] = {"~", NULL};
    return p->names->jinja ? parse_chain(p, parse_product, ops, out) : parse_product(p, out);
}

static sx_status parse_sum(parser *p, sx_value *out) {
    static const char *const ops[] = {"+", "-", NULL};
    return parse_chain(p, parse_joined, ops, out);
}

/* Comparisons; a < b < c means a < b and b < c. */
static sx_status parse_comparison(parser *p, sx_value *out) {
    static const char *const ops[] = {"==", "!=", "<=", ">=", "<", ">", "in", "not", NULL};
    sx_place place = parser_place(p);
    SX_TRY(parse_sum(p, out));
    sx_value left = *out;
    for (bool all = true;;) {
        const char *const *op = ops;
        while (*op && !accept_token(p, *op)) op++;
        if (!*op) return SX_OK;
        bool inverse = **op == 'n', is = false;
        if (inverse && !accept_token(p, "in")) return malformed_expression(p, "'in' should follow 'not'");
        sx_value right;
        SX_TRY(require_defined(p, place, &left));
        place = parser_place(p);
        SX_TRY(parse_sum(p, &right));
        SX_TRY(require_defined(p, place, &right));
        if (!p->skipped) SX_TRY(locate_error(p, sx_value_compare(inverse ? "in" : *op, &left, &right, &is)));
        all &= is != inverse;
        *out = sx_value_bool(all);
        left = right;
    }
}

static sx_status parse_not(parser *p, sx_value *out) {
    int inversions = 0;
    for (; accept_token(p, "not"); inversions++)
        if (inversions == MAX_DEPTH) return malformed_expression(p, "it is nested too deeply");
    sx_place place = parser_place(p);
    SX_TRY(parse_comparison(p, out));
    if (!inversions) return SX_OK;
    SX_TRY(require_defined(p, place, out));
    *out = sx_value_bool(sx_value_true(out) == (inversions % 2 == 0));
    return SX_OK;
}

/* Operands of `and` or `or`: the first that decides is the value, and those behind it are skipped. */
static sx_status parse_logic(parser *p, parse_operand *operand, const char *word, bool decides,
                             sx_value *out) {
    sx_place place = parser_place(p);
    int skipped = p->skipped;
    SX_TRY(operand(p, out));
    while (accept_token(p, word)) {
        SX_TRY(require_defined(p, place, out));
        sx_value right;
        bool decided = p->skipped || sx_value_true(out) == decides;
        p->skipped += decided;
        place = parser_place(p);
        SX_TRY(operand(p, &right));
        p->skipped = skipped;
        if (!decided) *out = right;
    }
    return SX_OK;
}

static sx_status parse_and(parser *p, sx_value *out) {
    return parse_logic(p, parse_not, "and", false, out);
}

static sx_status parse_or(parser *p, sx_value *out) {
    return parse_logic(p, parse_and, "or", true, out);
}

/* Whether an `if` comes before the end of this part of the expression. */
static bool is_conditional(const parser *p) {
    int depth = 0;
    for (const char *c = p->at; *c && depth >= 0; c++) {
        if (*c == '\'' || *c == '"') {
            char quote = *c++;
            while (*c && *c != quote) c += *c == '\\' && c[1] ? 2 : 1;
            if (!*c) return false;
        } else if (name_character(*c)) {
            size_t size = 1;
            while (name_character(c[size])) size++;
            if (depth == 0 && size == 2 && strncmp(c, "if", 2) == 0) return true;
            if (depth == 0 && size == 4 && strncmp(c, "else", 4) == 0) return false;
            c += size - 1;
        } else if (*c == ',' && depth == 0) {
            return false;
        }
        depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
    }
    return false;
}

/* Reads a part whose value is wanted or not. */
static sx_status parse_branch(parser *p, parse_operand *operand, bool wanted, sx_value *out) {
    sx_value unused;
    p->skipped += !wanted;
    SX_TRY(operand(p, wanted ? out : &unused));
    p->skipped -= !wanted;
    return SX_OK;
}

/* `a if b else c`, where a is read again once b is known. */
static sx_status parse_condition(parser *p, sx_value *out) {
    if (!is_conditional(p)) return parse_or(p, out);
    if (++p->depth > MAX_DEPTH) return malformed_expression(p, "it is nested too deeply");
    sx_value is;
    const char *begin = p->at;
    SX_TRY(parse_branch(p, parse_or, false, out));
    if (!accept_token(p, "if")) return malformed_expression(p, "unexpected text at the end");
    sx_place place = parser_place(p);
    SX_TRY(parse_or(p, &is));
    SX_TRY(require_defined(p, place, &is));
    const char *end = p->at;
    if (!p->skipped && sx_value_true(&is)) {
        p->at = begin;
        SX_TRY(parse_or(p, out));
        p->at = end;
    } else {
        *out = (sx_value){.kind = SX_VALUE_UNDEFINED, .text = "else"};
    }
    if (accept_token(p, "else"))
        SX_TRY(parse_branch(p, parse_condition, out->kind == SX_VALUE_UNDEFINED, out));
    else if (!p->names->jinja)
        return malformed_expression(p, "an 'else' is missing");
    p->depth--;
    return SX_OK;
}

sx_status sx_expression_value(const sx_names *names, const char *text, sx_place place, sx_value *out) {
    parser p = {.names = names, .text = text, .at = text, .place = place};
    sx_value value;
    SX_TRY(parse_condition(&p, &value));
    skip_space(&p);
    if (*p.at) return malformed_expression(&p, "unexpected text at the end");
    *out = value;
    return SX_OK;
}

/* The names of an expression that is a number. */
typedef struct numbers {
    sx_name_lookup *lookup;
    void *user;
} numbers;

static sx_status find_number(void *user, const char *name, sx_value *out) {
    const numbers *n = user;
    double value;
    bool found = false;
    SX_TRY(n->lookup(n->user, name, &value, &found));
    if (found) *out = sx_value_number(value, value == floor(value) && fabs(value) <= 0x1p53);
    return SX_OK;
}

static sx_status call_math(void *user, sx_place place, const char *name, const sx_value *argument, size_t n,
                           sx_value *out, bool *known) {
    (void)user;
    (void)place;
    return sx_math_call(name, argument, n, out, known);
}

sx_status sx_expression(const char *text, sx_place place, sx_name_lookup *lookup, void *user, double *out) {
    numbers n = {lookup, user};
    const sx_names names = {
        .lookup = find_number, .call = call_math, .functions = SX_MATH_FUNCTIONS, .user = &n};
    sx_value value;
    SX_TRY(sx_expression_value(&names, text, place, &value));
    if (!sx_value_numeric(&value)) return sx_error_at(place, "the expression '%.200s' is not a number", text);
    *out = value.number;
    return SX_OK;
}
