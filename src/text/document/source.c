#include "text/document/source.h"

#include "base/vector.h"
#include "text/document/hyphens.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

void sx_source_advance(const char *at, const char *end, size_t *line, size_t *column) {
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

sx_status sx_source_add_span(sx_source_builder *b, const char *file, size_t line, size_t column) {
    sx_source *s = &b->source;
    if (!sx_reserve(&s->span, &b->span_room, s->n_spans + 1, sizeof *s->span)) return sx_error_memory();
    s->span[s->n_spans++] = (sx_span){b->line, b->column, file, line, column};
    return SX_OK;
}

/* Adds a text as it is. */
static SX_MUST_USE sx_status add_bytes(sx_source_builder *b, const char *at, const char *end) {
    if ((size_t)(end - at) > SX_MAX_TEXT - b->text.size)
        return sx_error_new(SX_ERR_LIMIT, "the text with its includes is larger than %d bytes",
                            (int)SX_MAX_TEXT);
    sx_text_add_bytes(&b->text, at, (size_t)(end - at));
    sx_source_advance(at, end, &b->line, &b->column);
    return b->text.failed ? sx_error_memory() : SX_OK;
}

/* Adds the spaces before a line; what follows comes from where it would without them. */
static SX_MUST_USE sx_status add_indent(sx_source_builder *b) {
    static const char spaces[] = "                                ";
    size_t line = 0, column = 0;
    const char *file = NULL;
    b->begins = false;
    if (b->source.n_spans) {
        const sx_span *s = &b->source.span[b->source.n_spans - 1];
        file = s->file;
        line = b->line - s->line + s->from_line;
        column = b->line == s->line ? b->column - s->column + s->from_column : b->column;
    }
    for (size_t left = b->indent, n; left; left -= n) {
        n = left < sizeof spaces - 1 ? left : sizeof spaces - 1;
        SX_TRY(add_bytes(b, spaces, spaces + n));
    }
    return file ? sx_source_add_span(b, file, line, column) : SX_OK;
}

sx_status sx_source_add_text(sx_source_builder *b, const char *at, const char *end) {
    while (b->indent && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (b->begins && stop != at) SX_TRY(add_indent(b));
        stop = stop ? stop + 1 : end;
        SX_TRY(add_bytes(b, at, stop));
        b->begins = stop[-1] == '\n';
        at = stop;
    }
    return at < end ? add_bytes(b, at, end) : SX_OK;
}

sx_status sx_source_add_node(sx_source_builder *b, const struct sx_node *node, size_t *index) {
    sx_source *s = &b->source;
    if (!sx_reserve(&s->node, &b->node_room, s->n_nodes + 1, sizeof *s->node)) return sx_error_memory();
    *index = s->n_nodes;
    s->node[s->n_nodes++] = node;
    return SX_OK;
}

sx_status sx_source_finish(sx_source_builder *b, sx_status status, sx_source *out) {
    b->source.size = b->text.size;
    if (!status) status = sx_text_take(&b->text, &b->source.text);
    if (status) {
        sx_text_free(&b->text);
        sx_source_fini(&b->source);
        return status;
    }
    *out = b->source;
    return SX_OK;
}

void sx_source_fini(sx_source *source) {
    free(source->text);
    free(source->span);
    free(source->node);
    *source = (sx_source){0};
}

void sx_source_like_timeloop(sx_source *source) {
    sx_hyphens_convert(source->text, source->size);
    source->literal = true;
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
    sx_source_advance(source->text, source->text + (offset < source->size ? offset : source->size), &line,
                      &column);
    return sx_source_place(source, line, column);
}
