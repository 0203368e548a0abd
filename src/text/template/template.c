#include "text/template/template.h"

#include "base/file.h"
#include "text/document/document.h"
#include "text/template/template_render.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A position in a file's text. */
typedef struct cursor {
    const char *text, *at, *end;
    size_t line, column; /* of `at`, counted from 0 */
    bool trim;           /* white space at `at` is left out */
    const char *seen;    /* how far lines were looked at, NULL: not at all */
    bool comment;        /* the line of `seen` begins with # */
} cursor;

/* One of {{ }}, {% %}, {# #} and !include. */
typedef struct tag {
    char kind;               /* '{', '%', '#' or '!' */
    const char *begin, *end; /* with its brackets */
    const char *inner;       /* the text between them, without the signs for white space */
    bool trim_before, trim_after;
    sx_place place, inner_place;
} tag;

enum { MAX_ROUNDS = 100000 };

static const char *const statements[] = {"if", "elif", "else", "endif", "for", "endfor", "set"};
enum { IF, ELIF, ELSE, ENDIF, FOR, ENDFOR, SET, N_STATEMENTS };

/* Which statement a text begins with, N_STATEMENTS for none of them; goes past the word. */
static int statement_of(const char **text, const char *end) {
    const char *at = *text;
    while (at < end && (*at == '-' || *at == '+')) at++;
    while (at < end && isspace((unsigned char)*at)) at++;
    for (int i = 0; i < N_STATEMENTS; i++) {
        size_t length = strlen(statements[i]);
        if ((size_t)(end - at) < length || memcmp(at, statements[i], length) != 0) continue;
        if (at + length < end && (isalnum((unsigned char)at[length]) || at[length] == '_')) continue;
        *text = at + length;
        return i;
    }
    return N_STATEMENTS;
}

/* Whether a line begins with #, blanks aside. */
static bool is_comment(const char *line, const char *end) {
    while (line < end && (*line == ' ' || *line == '\t')) line++;
    return line < end && *line == '#';
}

/* Whether `at`, which is not before any asked for earlier, lies in a line that begins with #. */
static bool in_comment(cursor *c, const char *at) {
    if (!c->seen) {
        c->seen = c->text;
        c->comment = is_comment(c->text, c->end);
    }
    for (const char *line; (line = memchr(c->seen, '\n', (size_t)(at - c->seen))); c->seen = line + 1)
        c->comment = is_comment(line + 1, c->end);
    c->seen = at;
    return c->comment;
}

/* Whether a YAML value "!include path" is at `at`: behind the sign of a key or an item, and in no comment. */
static bool is_include(const cursor *c, const char *at) {
    static const char word[] = "!include";
    const size_t n = sizeof word - 1;
    const char *before = at;
    if ((size_t)(c->end - at) <= n || memcmp(at, word, n) != 0 || (at[n] != ' ' && at[n] != '\t'))
        return false;
    while (before > c->text && (before[-1] == ' ' || before[-1] == '\t')) before--;
    if (before > c->text && !strchr(":-[,{\n", before[-1])) return false;
    for (; before > c->text && before[-1] != '\n'; before--)
        if (before[-1] == '#' && (before - 1 == c->text || isspace((unsigned char)before[-2]))) return false;
    return true;
}

/* The next "{{", "{%", "{#" or "!include", NULL where there is none; in lines that begin with # only statements
 * count. */
static const char *find_tag(cursor *c) {
    const char *at = c->at, *end = c->end;
    for (; at < end; at++) {
        while (at < end && *at != '{' && *at != '!') at++;
        if (at == end) break;
        if (*at == '!' && is_include(c, at) && !in_comment(c, at)) return at;
        if (*at == '!' || at + 1 == end || (at[1] != '{' && at[1] != '%' && at[1] != '#')) continue;
        const char *inner = at + 2;
        if (!in_comment(c, at)) return at;
        if (at[1] == '%' && statement_of(&inner, end) < N_STATEMENTS) return at;
    }
    return NULL;
}

/* Where a tag ends, behind its brackets; NULL where it does not. Brackets in quotes do not count. */
static const char *tag_end(const char *begin, const char *end) {
    char close = begin[1] == '{' ? '}' : begin[1], quote = 0;
    for (const char *at = begin + 2; at + 1 < end; at++) {
        if (quote && *at == '\\')
            at++;
        else if (quote)
            quote = *at == quote ? 0 : quote;
        else if (*at == close && at[1] == '}')
            return at + 2;
        else if (close != '#' && (*at == '\'' || *at == '"'))
            quote = *at;
    }
    return NULL;
}

static sx_place place_of(const sx_template *t, const cursor *c) {
    return (sx_place){t->file, (int)c->line + 1, (int)c->column + 1};
}

/* Reads the path of an !include at the cursor, which may be in quotes. */
static SX_MUST_USE sx_status read_include(const sx_template *t, const cursor *c, tag *out) {
    const char *from = c->at + strlen("!include"), *to;
    while (from < c->end && (*from == ' ' || *from == '\t')) from++;
    char quote = from < c->end && (*from == '"' || *from == '\'') ? *from : 0;
    from += quote != 0;
    for (to = from; to < c->end && *to != '\n' && (quote ? *to != quote : !strchr(",]}#", *to)); to++)
        continue;
    out->end = to + (quote && to < c->end && *to == quote);
    while (!quote && to > from && isspace((unsigned char)to[-1])) to--;
    if (!quote) out->end = to;
    out->kind = '!';
    out->trim_before = out->trim_after = false;
    out->inner = sx_arena_copy(t->x->arena, from, (size_t)(to - from));
    return out->inner ? SX_OK : sx_arena_error(t->x->arena);
}

/* Reads the tag at the cursor. */
static SX_MUST_USE sx_status read_tag(const sx_template *t, const cursor *c, tag *out) {
    out->kind = c->at[1];
    out->begin = c->at;
    out->place = out->inner_place = place_of(t, c);
    if (*c->at == '!') return read_include(t, c, out);
    out->end = tag_end(c->at, c->end);
    if (!out->end)
        return sx_error_at(out->place, "'{%c' is not closed by '%c}'", out->kind,
                           out->kind == '{' ? '}' : out->kind);
    const char *from = c->at + 2, *to = out->end - 2;
    out->trim_before = from < to && *from == '-';
    from += from < to && (*from == '-' || *from == '+');
    out->trim_after = from < to && to[-1] == '-';
    to -= from < to && (to[-1] == '-' || to[-1] == '+');
    out->inner = "";
    out->inner_place.column += (int)(from - c->at);
    if (out->kind == '#') return SX_OK;
    if (memchr(from, 0, (size_t)(to - from))) return sx_error_at(out->place, "a template has a zero byte");
    out->inner = sx_arena_copy(t->x->arena, from, (size_t)(to - from));
    return out->inner ? SX_OK : sx_arena_error(t->x->arena);
}

/* Looks a variable up; that the user's value of it is used, or that there is none, is kept. */
static SX_MUST_USE sx_status find_variable(void *user, const char *name, sx_value *out) {
    const sx_template *t = user;
    const sx_template_variable *found = NULL;
    for (size_t i = 0; i < t->n_variables && !found; i++)
        if (strcmp(t->variable[i].name, name) == 0) found = &t->variable[i];
    if (found) *out = found->value;
    if (found && !found->by_user) return SX_OK;
    return sx_settings_know(t->x->options->settings, name, found != NULL);
}

/* Gives a variable a value. */
static SX_MUST_USE sx_status set_variable(sx_template *t, const char *name, const sx_value *value) {
    size_t i = 0;
    while (i < t->n_variables && strcmp(t->variable[i].name, name) != 0) i++;
    if (i == SX_MAX_TEMPLATE_VARIABLES)
        return sx_error_new(SX_ERR_LIMIT, "a template has more than %d variables", SX_MAX_TEMPLATE_VARIABLES);
    t->variable[i] = (sx_template_variable){name, *value, false};
    t->n_variables += i == t->n_variables;
    return SX_OK;
}

/* The value of an expression `at` in a tag. */
static SX_MUST_USE sx_status evaluate_tag(sx_template *t, const tag *g, const char *at, sx_value *out) {
    const sx_names names = {.arena = t->x->arena,
                            .lookup = find_variable,
                            .call = sx_template_call,
                            .functions = sx_template_functions,
                            .user = t,
                            .jinja = true};
    size_t line = 0, column = 0;
    sx_place place = g->inner_place;
    sx_source_advance(g->inner, at, &line, &column);
    place.column = (int)column + (line ? 1 : place.column);
    place.line += (int)line;
    return sx_expression_value(&names, at, place, out);
}

/* Renders files one below the other. */
static SX_MUST_USE sx_status write_files(sx_template *t, sx_place place, const sx_value *files) {
    sx_status status = SX_OK;
    if (!t->out->indent) t->out->begins = false;
    t->out->indent += files->indent;
    for (size_t i = 0; i + 1 < files->n && !status; i += 2) {
        const sx_included file = {files->item[i].text, files->item[i + 1].text};
        const char *newline = "\n";
        if (i) status = sx_source_add_text(t->out, newline, newline + 1);
        if (!status) status = sx_template_include(t, place, &file, t->out);
    }
    t->out->indent -= files->indent;
    return status;
}

/* {{expression}} or !include: writes its value. */
static SX_MUST_USE sx_status write_value(sx_template *t, const tag *g) {
    const sx_value path = sx_value_text(g->inner);
    sx_value value;
    bool known;
    if (g->kind == '!')
        SX_TRY(sx_template_call(t, g->place, "include", &path, 1, &value, &known));
    else
        SX_TRY(evaluate_tag(t, g, g->inner, &value));
    if (value.kind == SX_VALUE_UNDEFINED) return sx_value_undefined(g->place, &value);
    if (value.kind == SX_VALUE_FILES) return write_files(t, g->place, &value);
    sx_text text = {0};
    sx_value_write(&value, &text);
    if (text.failed) return sx_error_memory();
    sx_status status =
        sx_source_add_span(t->out, t->file, (size_t)g->place.line - 1, (size_t)g->place.column - 1);
    if (!status && text.size) status = sx_source_add_text(t->out, text.data, text.data + text.size);
    sx_text_free(&text);
    return status;
}

/* {% set name = expression %}. */
static SX_MUST_USE sx_status run_set(sx_template *t, const tag *g, const char *at) {
    while (isspace((unsigned char)*at)) at++;
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
    const char *name = sx_arena_copy(t->x->arena, at, length);
    if (!name) return sx_arena_error(t->x->arena);
    at += length;
    while (isspace((unsigned char)*at)) at++;
    if (!length || *at != '=' || at[1] == '=')
        return sx_error_hint(sx_error_at(g->place, "this form of {%% set %%} is not supported"),
                             "write {%% set name = expression %%}");
    sx_value value;
    SX_TRY(evaluate_tag(t, g, at + 1, &value));
    if (value.kind == SX_VALUE_UNDEFINED) return sx_value_undefined(g->place, &value);
    return set_variable(t, name, &value);
}

/* Decides whether the next part of an {% if %} is taken. */
static SX_MUST_USE sx_status run_condition(sx_template *t, const tag *g, const char *at) {
    sx_template_if *open = &t->open[t->n_open - 1];
    t->taken = false;
    if (open->decided || !open->around) return SX_OK;
    sx_value value = sx_value_bool(true);
    if (at) SX_TRY(evaluate_tag(t, g, at, &value));
    if (value.kind == SX_VALUE_UNDEFINED) return sx_value_undefined(g->place, &value);
    t->taken = open->decided = sx_value_true(&value);
    return SX_OK;
}

/* {% if %}, {% elif %}, {% else %} and {% endif %}. */
static SX_MUST_USE sx_status run_if(sx_template *t, const tag *g, int statement, const char *at) {
    if (statement == IF) {
        if (t->n_open == SX_MAX_TEMPLATE_IFS)
            return sx_error_at(g->place, "{%% if %%} is nested deeper than %d", SX_MAX_TEMPLATE_IFS);
        t->open[t->n_open++] = (sx_template_if){.place = g->place, .around = t->taken};
        return run_condition(t, g, at);
    }
    if (t->n_open == 0 || t->open[t->n_open - 1].loop)
        return sx_error_at(g->place, "{%% %s %%} without an {%% if %%}", statements[statement]);
    sx_template_if *open = &t->open[t->n_open - 1];
    if (statement == ENDIF) {
        t->taken = open->around;
        t->n_open--;
        return SX_OK;
    }
    if (open->last_part) return sx_error_at(g->place, "{%% %s %%} after {%% else %%}", statements[statement]);
    open->last_part = statement == ELSE;
    return run_condition(t, g, statement == ELSE ? NULL : at);
}

/* Keeps the values that variables have before a loop. */
static SX_MUST_USE sx_status save_variables(const sx_template *t, sx_template_loop *loop) {
    size_t n = t->n_variables;
    sx_template_variable *kept = sx_arena_alloc(t->x->arena, n ? n : 1, sizeof *kept);
    if (!kept) return sx_arena_error(t->x->arena);
    if (n) memcpy(kept, t->variable, n * sizeof *kept);
    loop->variable = kept;
    loop->n_variables = n;
    return SX_OK;
}

/* Gives variables the values that they had before a loop. */
static void restore_variables(sx_template *t, const sx_template_loop *loop) {
    t->n_variables = loop->n_variables;
    if (loop->n_variables) memcpy(t->variable, loop->variable, loop->n_variables * sizeof *t->variable);
}

/* Begins the next round of the innermost loop. */
static SX_MUST_USE sx_status next_round(sx_template *t, cursor *c) {
    sx_template_if *open = &t->open[t->n_open - 1];
    sx_template_loop *loop = open->loop;
    if (++t->x->rounds > MAX_ROUNDS)
        return sx_error_at(open->place, "loops of the templates have more than %d rounds", MAX_ROUNDS);
    size_t round = loop->round++;
    const sx_value values[] = {loop->items.item[round],
                               sx_value_number((double)round + 1, true),
                               sx_value_number((double)round, true),
                               sx_value_bool(round == 0),
                               sx_value_bool(round + 1 == loop->items.n),
                               sx_value_number((double)loop->items.n, true)};
    const char *const names[] = {loop->name,   "loop.index", "loop.index0",
                                 "loop.first", "loop.last",  "loop.length"};
    restore_variables(t, loop);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) SX_TRY(set_variable(t, names[i], &values[i]));
    if (round == 0) return SX_OK;
    const cursor *body = loop->body;
    *c = *body;
    return SX_OK;
}

/* Reads what a loop is over, `name in list`; what is left out has no items. */
static SX_MUST_USE sx_status read_loop(sx_template *t, const tag *g, const char *at, sx_template_loop *loop) {
    size_t length = 0;
    while (isspace((unsigned char)*at)) at++;
    while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
    loop->name = sx_arena_copy(t->x->arena, at, length);
    if (!loop->name) return sx_arena_error(t->x->arena);
    at += length;
    while (isspace((unsigned char)*at)) at++;
    if (!t->taken) return SX_OK;
    if (!length || strncmp(at, "in", 2) != 0 ||
        !(isspace((unsigned char)at[2]) || at[2] == '[' || at[2] == '('))
        return sx_error_hint(sx_error_at(g->place, "this form of {%% for %%} is not supported"),
                             "write {%% for name in list %%}");
    SX_TRY(evaluate_tag(t, g, at + 2, &loop->items));
    if (loop->items.kind == SX_VALUE_UNDEFINED) return sx_value_undefined(g->place, &loop->items);
    if (loop->items.kind == SX_VALUE_LIST) return SX_OK;
    return sx_error_hint(sx_error_at(g->place, "{%% for %%} needs a list"), "such as [1, 2, 3] or range(8)");
}

/* {% for name in list %}: what it encloses is written once for each item. */
static SX_MUST_USE sx_status begin_loop(sx_template *t, const tag *g, const char *at, const cursor *c) {
    sx_template_loop *loop = sx_arena_alloc(t->x->arena, 1, sizeof *loop);
    cursor *body = sx_arena_alloc(t->x->arena, 1, sizeof *body), here = *c;
    if (!loop || !body) return sx_arena_error(t->x->arena);
    if (t->n_open == SX_MAX_TEMPLATE_IFS)
        return sx_error_at(g->place, "{%% for %%} is nested deeper than %d", SX_MAX_TEMPLATE_IFS);
    SX_TRY(read_loop(t, g, at, loop));
    *body = *c;
    loop->body = body;
    SX_TRY(save_variables(t, loop));
    t->open[t->n_open++] = (sx_template_if){.place = g->place, .around = t->taken, .loop = loop};
    t->taken = t->taken && loop->items.n > 0;
    return t->taken ? next_round(t, &here) : SX_OK;
}

/* {% endfor %}: the loop begins again, or ends; what was set in it is forgotten. */
static SX_MUST_USE sx_status end_round(sx_template *t, const tag *g, cursor *c) {
    sx_template_if *open = &t->open[t->n_open - (t->n_open > 0)];
    if (t->n_open == 0 || !open->loop) return sx_error_at(g->place, "{%% endfor %%} without a {%% for %%}");
    sx_template_loop *loop = open->loop;
    if (t->taken && loop->round < loop->items.n) return next_round(t, c);
    t->taken = open->around;
    restore_variables(t, loop);
    t->n_open--;
    return SX_OK;
}

/* {% ... %}; the cursor, which is behind it, goes back to where a loop begins again. */
static SX_MUST_USE sx_status run_statement(sx_template *t, const tag *g, cursor *c) {
    const char *at = g->inner;
    int statement = statement_of(&at, at + strlen(at));
    if (statement == FOR) return begin_loop(t, g, at, c);
    if (statement == ENDFOR) return end_round(t, g, c);
    if (statement < FOR) return run_if(t, g, statement, at);
    if (!t->taken) return SX_OK;
    if (statement == SET) return run_set(t, g, at);
    while (isspace((unsigned char)*at)) at++;
    return sx_error_hint(
        sx_error_at(g->place, "{%% %.*s %%} is not supported", (int)strcspn(at, " \t\r\n("), at),
        "supported: if, elif, else, endif, for, endfor and set; or give Timeloop's processed copy of "
        "this file, parsed-processed-input.yaml");
}

/* Adds the text up to `end`, unless it is left out, and moves the cursor there. */
static SX_MUST_USE sx_status copy_text(sx_template *t, cursor *c, const char *end, bool trim_end) {
    const char *from = c->at, *to = end;
    while (c->trim && from < to && isspace((unsigned char)*from)) from++;
    while (trim_end && to > from && isspace((unsigned char)to[-1])) to--;
    sx_source_advance(c->at, from, &c->line, &c->column);
    if (t->taken && from < to) {
        SX_TRY(sx_source_add_span(t->out, t->file, c->line, c->column));
        SX_TRY(sx_source_add_text(t->out, from, to));
    }
    sx_source_advance(from, end, &c->line, &c->column);
    c->at = end;
    c->trim = false;
    return SX_OK;
}

/* Renders a file's text. */
static SX_MUST_USE sx_status render_text(sx_template *t, const char *text, size_t size) {
    cursor c = {.text = text, .at = text, .end = text + size};
    t->taken = true;
    SX_TRY(sx_source_add_span(t->out, t->file, 0, 0));
    for (const char *found; (found = find_tag(&c));) {
        cursor ahead = c;
        tag g;
        sx_source_advance(c.at, found, &ahead.line, &ahead.column);
        ahead.at = found;
        SX_TRY(read_tag(t, &ahead, &g));
        SX_TRY(copy_text(t, &c, found, g.trim_before));
        if ((g.kind == '{' || g.kind == '!') && t->taken) SX_TRY(write_value(t, &g));
        sx_source_advance(g.begin, g.end, &c.line, &c.column);
        c.at = g.end;
        c.trim = g.trim_after;
        if (g.kind == '%') SX_TRY(run_statement(t, &g, &c));
    }
    if (t->n_open) {
        const char *word = t->open[t->n_open - 1].loop ? "for" : "if";
        return sx_error_at(t->open[t->n_open - 1].place, "{%% %s %%} is not closed by {%% end%s %%}", word,
                           word);
    }
    SX_TRY(copy_text(t, &c, c.end, false));
    return SX_OK;
}

/* A value as the user sets it: a number or a boolean where it looks like one, else a text. So is 01, which is part of a
 * file's name and no number of Python. */
static sx_value set_value(const char *text) {
    double number;
    const char *digits = text + strspn(text, "+-");
    bool padded = digits[0] == '0' && isdigit((unsigned char)digits[1]);
    if (!padded && sx_text_double(text, &number) && number - number == 0)
        return sx_value_number(number, text[strspn(text, "+-0123456789")] == 0);
    if (strcmp(text, "true") == 0 || strcmp(text, "True") == 0) return sx_value_bool(true);
    if (strcmp(text, "false") == 0 || strcmp(text, "False") == 0) return sx_value_bool(false);
    return sx_value_text(text);
}

/* A template for a file with the variables that the user sets; in the arena. */
static SX_MUST_USE sx_status template_new(sx_expansion *x, const char *file, sx_source_builder *out,
                                          sx_template **made) {
    sx_template *t = sx_arena_alloc(x->arena, 1, sizeof *t);
    if (!t) return sx_arena_error(x->arena);
    t->x = x;
    t->out = out;
    t->file = file;
    t->search.own = sx_folder_of(x->arena, file);
    if (!t->search.own) return sx_arena_error(x->arena);
    for (size_t i = 0; i < x->options->n_variables; i++) {
        sx_value value = set_value(x->options->value[i]);
        SX_TRY(set_variable(t, x->options->name[i], &value));
    }
    for (size_t i = 0; i < t->n_variables; i++) t->variable[i].by_user = true;
    *made = t;
    return SX_OK;
}

/* Takes a byte order mark off a text. */
static void drop_mark(char *text, size_t *size) {
    if (*size < 3 || memcmp(text, "\xef\xbb\xbf", 3) != 0) return;
    *size -= 3;
    memmove(text, text + 3, *size + 1);
}

sx_status sx_template_include(const sx_template *parent, sx_place place, const sx_included *file,
                              sx_source_builder *out) {
    sx_expansion *x = parent->x;
    sx_template *t = NULL;
    char *text = NULL;
    size_t size;
    SX_TRY(sx_include_open(x, place, file, &text, &size));
    drop_mark(text, &size);
    if (size && text[size - 1] == '\n') size--;
    sx_status status = template_new(x, file->name, out, &t);
    if (!status) {
        t->search.n = parent->search.n;
        memcpy(t->search.more, parent->search.more, sizeof t->search.more);
        status = render_text(t, text, size);
    }
    sx_include_close(x);
    free(text);
    return status;
}

/* Renders the text of the file that the user gave. */
static SX_MUST_USE sx_status render_first(sx_expansion *x, const char *file, const char *text, size_t size,
                                          sx_source_builder *out) {
    sx_template *t;
    SX_TRY(template_new(x, file, out, &t));
    return render_text(t, text, size);
}

/* Sets up the expansion of a file: it is being read, and its folder is where includes must stay. */
static SX_MUST_USE sx_status begin_file(sx_expansion *x, const char *file) {
    const char *real;
    SX_TRY(sx_real_path(x->arena, file, &real));
    if (!real) return sx_error_new(SX_ERR_FILE, "cannot find '%s'", file);
    const char *slash = strrchr(real, '/');
    x->open[0] = real;
    x->name[0] = file;
    x->depth = 1;
    x->root = sx_arena_copy(x->arena, real, slash == real ? 1 : (size_t)(slash - real));
    x->root_name = sx_folder_of(x->arena, file);
    return x->root && x->root_name ? SX_OK : sx_arena_error(x->arena);
}

static const sx_template_options no_options;

sx_status sx_source_file(sx_arena *arena, const sx_template_options *options, const char *path,
                         sx_source *out) {
    sx_expansion x = {.arena = arena, .options = options ? options : &no_options};
    sx_source_builder b = {0};
    char *text = NULL;
    size_t size;
    const char *file = sx_arena_copy(arena, path, strlen(path));
    if (!file) return sx_arena_error(arena);
    SX_TRY(sx_file_read(path, SX_MAX_TEXT, &text, &size));
    drop_mark(text, &size);
    sx_status status;
    if (!find_tag(&(cursor){.text = text, .at = text, .end = text + size})) {
        status = sx_source_add_span(&b, file, 0, 0);
        b.text = (sx_text){.data = text, .size = size, .room = size + 1};
        return sx_source_finish(&b, status, out);
    }
    status = begin_file(&x, file);
    if (!status) status = render_first(&x, file, text, size, &b);
    free(text);
    return sx_source_finish(&b, status, out);
}

sx_status sx_source_text(sx_arena *arena, const sx_template_options *options, const char *name,
                         const char *text, size_t size, sx_source *out) {
    sx_expansion x = {.arena = arena, .options = options ? options : &no_options};
    sx_source_builder b = {0};
    const char *file = sx_arena_copy(arena, name, strlen(name));
    if (!file) return sx_arena_error(arena);
    return sx_source_finish(&b, render_first(&x, file, text, size, &b), out);
}

sx_status sx_source_beside(sx_arena *arena, const sx_template_options *options, sx_place place,
                           const char *path, sx_source *out, bool *found) {
    sx_expansion x = {.arena = arena, .options = options ? options : &no_options};
    sx_source_builder b = {0};
    sx_template *t;
    const sx_included *file;
    size_t n;
    sx_status status = begin_file(&x, place.file);
    *found = false;
    if (status && status->code == SX_ERR_FILE) {
        sx_status_free(status);
        return SX_OK;
    }
    SX_TRY(status);
    SX_TRY(template_new(&x, place.file, &b, &t));
    SX_TRY(sx_include_exists(&x, &t->search, path, found));
    if (!*found) return SX_OK;
    SX_TRY(sx_include_find(&x, &t->search, place, path, &file, &n));
    return sx_source_finish(&b, sx_template_include(t, place, &file[0], &b), out);
}
