/* Text put together from files, and from which place each of its characters came. */
#ifndef SX_TEXT_DOCUMENT_SOURCE_H
#define SX_TEXT_DOCUMENT_SOURCE_H

#include "base/arena.h"
#include "base/text.h"

enum { SX_MAX_TEXT = 64 << 20 }; /* bytes of a file, and of a text with its includes */

struct sx_node;

/* From (line, column) of the whole on, counted from 0 in characters, the text is that of `file` from
 * (from_line, from_column) on. */
typedef struct sx_span {
    size_t line, column;
    const char *file;
    size_t from_line, from_column;
} sx_span;

/* A text with its places. File names live in the arena it was made with. A scalar "!include_loaded N" of the
 * text stands for node N, which was read from an included file. */
typedef struct sx_source {
    char *text;
    size_t size;
    sx_span *span;
    size_t n_spans;
    const struct sx_node **node;
    size_t n_nodes;
    bool literal; /* keys with hyphens are taken literally (sx_pair.literal) */
} sx_source;

/* The tag of a scalar that stands for a node of its source. */
#define SX_INCLUDED_TAG "!include_loaded"

/* The making of a source; all zero is an empty one. */
typedef struct sx_source_builder {
    sx_source source; /* spans and nodes so far */
    sx_text text;
    size_t span_room, node_room;
    size_t line, column; /* of the end of the text */
    size_t indent;       /* spaces before each line that is not empty, from the next one on */
    bool begins;         /* a line begins here, and its spaces are still to come */
} sx_source_builder;

/* Moves (line, column), counted from 0 in characters, over some text; lines are counted as libyaml does. */
void sx_source_advance(const char *at, const char *end, size_t *line, size_t *column);

/* What is added from here on comes from (line, column) of a file. */
SX_MUST_USE sx_status sx_source_add_span(sx_source_builder *b, const char *file, size_t line, size_t column);
SX_MUST_USE sx_status sx_source_add_text(sx_source_builder *b, const char *at, const char *end);
/* Adds a node; *index is its number. */
SX_MUST_USE sx_status sx_source_add_node(sx_source_builder *b, const struct sx_node *node, size_t *index);

/* Hands the source over, or frees what there is after an error. */
SX_MUST_USE sx_status sx_source_finish(sx_source_builder *b, SX_TAKE sx_status status, SX_OWN sx_source *out);

void sx_source_fini(SX_TAKE sx_source *source);

/* From now on the source is read as by Timeloop: words that it knows get underscores for hyphens, and other keys with
 * hyphens are taken literally. */
void sx_source_like_timeloop(sx_source *source);

/* Where a position of the whole (counted from 0) stands, and where a byte offset does. */
sx_place sx_source_place(const sx_source *source, size_t line, size_t column);
sx_place sx_source_offset(const sx_source *source, size_t offset);

#endif
