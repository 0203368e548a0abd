#define _XOPEN_SOURCE 700

#include "frontend/include.h"

#include "base/file.h"
#include "base/text.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The making of a source. */
typedef struct expansion {
    sx_arena *arena;
    sx_text text;
    sx_span *span;
    size_t n_spans, room;
    size_t line, column; /* of the end of the text */
    size_t includes;
    char *root;                             /* where includes must stay; NULL: no includes at all */
    const char *open[SX_MAX_INCLUDE_DEPTH]; /* resolved paths of the files being read */
    const char *name[SX_MAX_INCLUDE_DEPTH]; /* and what they are called */
    unsigned depth;
} expansion;

/* The length of the line break at `at` as libyaml counts lines, 0 where there is none. */
static size_t break_length(const char *at, const char *end) {
    const unsigned char *c = (const unsigned char *)at;
    size_t left = (size_t)(end - at);
    if (*c == '\r') return left > 1 && c[1] == '\n' ? 2 : 1;
    if (*c == '\n') return 1;
    if (*c == 0xc2 && left > 1 && c[1] == 0x85) return 2;
    if (*c == 0xe2 && left > 2 && c[1] == 0x80 && (c[2] == 0xa8 || c[2] == 0xa9)) return 3;
    return 0;
}

/* Moves (line, column) over some text. */
static void advance(const char *at, const char *end, size_t *line, size_t *column) {
    while (at < end) {
        size_t length = break_length(at, end);
        if (length) {
            ++*line;
            *column = 0;
            at += length;
        } else {
            *column += ((unsigned char)*at & 0xc0) != 0x80;
            at++;
        }
    }
}

static SX_MUST_USE sx_status add_span(expansion *x, const char *file, size_t line, size_t column) {
    if (x->n_spans == x->room) {
        size_t room = x->room ? 2 * x->room : 8;
        sx_span *span = realloc(x->span, room * sizeof *span);
        if (!span) return sx_error_memory();
        x->span = span;
        x->room = room;
    }
    x->span[x->n_spans++] = (sx_span){x->line, x->column, file, line, column};
    return SX_OK;
}

static SX_MUST_USE sx_status add_text(expansion *x, const char *at, const char *end) {
    if ((size_t)(end - at) > SX_MAX_TEXT - x->text.size)
        return sx_error_new(SX_ERR_LIMIT, "the text with its includes is larger than %d bytes",
                            (int)SX_MAX_TEXT);
    sx_text_add_bytes(&x->text, at, (size_t)(end - at));
    advance(at, end, &x->line, &x->column);
    return x->text.failed ? sx_error_memory() : SX_OK;
}

/* The next "{{", "{%" or "{#" outside lines that begin with #, NULL where there is none. `from` is the
 * beginning of a line, or inside a line that does not begin with #. */
static const char *find_template(const char *text, const char *from, const char *end) {
    for (const char *at = from; at < end && (at = memchr(at, '{', (size_t)(end - at))); at++) {
        if (at + 1 == end || (at[1] != '{' && at[1] != '%' && at[1] != '#')) continue;
        const char *line = at;
        while (line > from && line[-1] != '\n') line--;
        bool whole = line == text || line[-1] == '\n';
        while (*line == ' ' || *line == '\t') line++;
        if (!whole || *line != '#') return at;
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at) return NULL;
        from = at + 1;
    }
    return NULL;
}

static void skip_blanks(const char **at, const char *end) {
    while (*at < end && (**at == ' ' || **at == '\t')) ++*at;
}

/* Goes past a word and the blanks around it. */
static bool skip_word(const char **at, const char *end, const char *word) {
    size_t length = strlen(word);
    skip_blanks(at, end);
    if ((size_t)(end - *at) < length || memcmp(*at, word, length) != 0) return false;
    *at += length;
    skip_blanks(at, end);
    return true;
}

/* Reads {{include_text('path')}}: goes past it and gives the path's bytes. */
static bool read_directive(const char **at, const char *end, const char **path, size_t *length) {
    if (!skip_word(at, end, "{{") || !skip_word(at, end, "include_text") || !skip_word(at, end, "("))
        return false;
    if (*at == end || (**at != '\'' && **at != '"')) return false;
    char quote = *(*at)++;
    *path = *at;
    while (*at < end && **at != quote && **at != '\n') ++*at;
    if (*at == end || **at != quote) return false;
    *length = (size_t)(*at - *path);
    ++*at;
    return skip_word(at, end, ")") && (size_t)(end - *at) >= 2 && memcmp(*at, "}}", 2) == 0 &&
           (*at += 2, true);
}

/* Takes a byte order mark off a text. */
static void drop_mark(char *text, size_t *size) {
    if (*size < 3 || memcmp(text, "\xef\xbb\xbf", 3) != 0) return;
    *size -= 3;
    memmove(text, text + 3, *size + 1);
}

static SX_MUST_USE sx_status expand(expansion *x, const char *file, const char *text, size_t size);

/* The path of a file named in another one, in the arena. */
static char *join_path(sx_arena *arena, const char *including, const char *path, size_t length) {
    const char *slash = strrchr(including, '/');
    size_t folder = slash ? (size_t)(slash - including) + 1 : 0;
    char *joined = sx_arena_alloc(arena, folder + length + 1, 1);
    if (!joined) return NULL;
    memcpy(joined, including, folder);
    memcpy(joined + folder, path, length);
    return joined;
}

/* The error for a file that is included while it is being read, `first` of those that are. */
static SX_MUST_USE sx_status cycle(const expansion *x, unsigned first, sx_place place, const char *joined) {
    sx_text chain = {0};
    sx_text_add(&chain, "'%s' includes ", joined);
    for (unsigned i = first + 1; i < x->depth; i++) sx_text_add(&chain, "'%s', which includes ", x->name[i]);
    sx_text_add(&chain, "%s", first + 1 == x->depth ? "itself" : "it again");
    sx_status error = chain.failed ? sx_error_memory()
                                   : sx_error_hint(sx_error_at(place, "%s", chain.data),
                                                   first + 1 == x->depth ? "remove this include"
                                                                         : "remove one of the includes");
    sx_text_free(&chain);
    return error;
}

/* Refuses a path that may not be included; *resolved is the real one, to be freed. */
static SX_MUST_USE sx_status resolve(const expansion *x, sx_place place, const char *written,
                                     const char *joined, SX_OWN char **resolved) {
    if (*written == '/')
        return sx_error_hint(sx_error_at(place, "an included path must be relative"),
                             "paths are relative to the folder of the file they stand in");
    char *real = realpath(joined, NULL);
    if (!real) return sx_error_at(place, "cannot find the included file '%s'", joined);
    size_t root = strlen(x->root);
    sx_status error = SX_OK;
    if (strncmp(real, x->root, root) != 0 || real[root] != '/')
        error = sx_error_hint(
            sx_error_at(place, "the included file '%s' is outside the tree of '%s'", joined, x->root),
            "includes may reach two folders up from the file given, no further");
    for (unsigned i = 0; i < x->depth && !error; i++)
        if (strcmp(x->open[i], real) == 0) error = cycle(x, i, place, joined);
    if (!error && x->depth == SX_MAX_INCLUDE_DEPTH)
        error = sx_error_at(place, "includes are nested deeper than %d", SX_MAX_INCLUDE_DEPTH);
    if (!error) *resolved = real;
    if (error) free(real);
    return error;
}

/* Puts an included file's text in its place. */
static SX_MUST_USE sx_status include_file(expansion *x, sx_place place, const char *path, size_t length) {
    if (length == 0 || memchr(path, 0, length)) return sx_error_at(place, "an included path is empty");
    if (!x->root)
        return sx_error_hint(sx_error_at(place, "includes are only read from files"),
                             "write the other text here");
    if (x->includes++ == SX_MAX_INCLUDES) return sx_error_at(place, "more than %d includes", SX_MAX_INCLUDES);
    char *joined = join_path(x->arena, place.file, path, length), *resolved = NULL, *text = NULL;
    if (!joined) return sx_arena_error(x->arena);
    SX_TRY(resolve(x, place, path, joined, &resolved));
    size_t size;
    sx_status status = sx_file_read(resolved, SX_MAX_TEXT, &text, &size);
    if (status) {
        status = sx_error_place(status, place);
        goto done;
    }
    drop_mark(text, &size);
    if (size && text[size - 1] == '\n') size--;
    x->name[x->depth] = joined;
    x->open[x->depth++] = resolved;
    status = expand(x, joined, text, size);
    x->depth--;
done:
    free(text);
    free(resolved);
    return status;
}

static SX_MUST_USE sx_status bad_template(sx_place place) {
    return sx_error_hint(
        sx_error_at(place, "only {{include_text('relative/path.yaml')}} is read of templates"),
        "run the template engine first, or write its result here");
}

/* Adds a file's text, its includes replaced. */
static sx_status expand(expansion *x, const char *file, const char *text, size_t size) {
    const char *at = text, *end = text + size;
    size_t line = 0, column = 0;
    SX_TRY(add_span(x, file, line, column));
    for (const char *found; (found = find_template(text, at, end));) {
        advance(at, found, &line, &column);
        SX_TRY(add_text(x, at, found));
        sx_place place = {file, (int)line + 1, (int)column + 1};
        const char *path;
        size_t length;
        at = found;
        if (!read_directive(&at, end, &path, &length)) return bad_template(place);
        SX_TRY(include_file(x, place, path, length));
        advance(found, at, &line, &column);
        SX_TRY(add_span(x, file, line, column));
    }
    return add_text(x, at, end);
}

/* The folder two above a file's own, or the last before the root folder; NULL where the file cannot be found
 * or memory is out. */
static SX_OWN char *tree_root(const char *path) {
    char *root = realpath(path, NULL);
    for (int up = 0; root && up < 3; up++) {
        char *slash = strrchr(root, '/');
        if (!slash || slash == root) break;
        *slash = 0;
    }
    return root;
}

/* Hands the text over, or frees what there is after an error. */
static SX_MUST_USE sx_status finish(expansion *x, SX_TAKE sx_status status, sx_source *out) {
    sx_source source = {.span = x->span, .n_spans = x->n_spans, .size = x->text.size};
    if (!status) status = sx_text_take(&x->text, &source.text);
    if (status) {
        sx_text_free(&x->text);
        free(x->span);
        return status;
    }
    *out = source;
    return SX_OK;
}

sx_status sx_source_file(sx_arena *arena, const char *path, sx_source *out) {
    expansion x = {.arena = arena};
    char *text = NULL;
    size_t size;
    const char *file = sx_arena_copy(arena, path, strlen(path));
    if (!file) return sx_arena_error(arena);
    SX_TRY(sx_file_read(path, SX_MAX_TEXT, &text, &size));
    drop_mark(text, &size);
    sx_status status;
    if (!find_template(text, text, text + size)) {
        status = add_span(&x, file, 0, 0);
        x.text = (sx_text){.data = text, .size = size, .room = size + 1};
        return finish(&x, status, out);
    }
    char *real = realpath(path, NULL);
    x.root = tree_root(path);
    x.name[x.depth] = file;
    x.open[x.depth++] = real;
    status =
        real && x.root ? expand(&x, file, text, size) : sx_error_new(SX_ERR_FILE, "cannot find '%s'", path);
    free(real);
    free(x.root);
    free(text);
    return finish(&x, status, out);
}

sx_status sx_source_text(sx_arena *arena, const char *name, const char *text, size_t size, sx_source *out) {
    expansion x = {.arena = arena};
    const char *file = sx_arena_copy(arena, name, strlen(name));
    if (!file) return sx_arena_error(arena);
    return finish(&x, expand(&x, file, text, size), out);
}

void sx_source_fini(sx_source *source) {
    free(source->text);
    free(source->span);
    *source = (sx_source){0};
}

sx_place sx_source_place(const sx_source *source, size_t line, size_t column) {
    size_t low = 0, high = source->n_spans;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        const sx_span *s = &source->span[middle];
        if (s->line < line || (s->line == line && s->column <= column))
            low = middle;
        else
            high = middle;
    }
    const sx_span *s = &source->span[low];
    bool same = line == s->line;
    size_t from_column = same ? column - s->column + s->from_column : column;
    size_t from_line = line - s->line + s->from_line;
    if (from_line > INT_MAX - 1) from_line = INT_MAX - 1;
    if (from_column > INT_MAX - 1) from_column = INT_MAX - 1;
    return (sx_place){s->file, (int)from_line + 1, (int)from_column + 1};
}

sx_place sx_source_offset(const sx_source *source, size_t offset) {
    size_t line = 0, column = 0;
    advance(source->text, source->text + (offset < source->size ? offset : source->size), &line, &column);
    return sx_source_place(source, line, column);
}
