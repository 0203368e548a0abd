/* Text put together from files: {{include_text('path')}} is replaced by the text of that file (less one final
 * line break, as Jinja does), and every position of the whole still knows the file it came from.
 *
 * A path is relative to the folder of the file that includes it, and must stay in the tree two folders above
 * the file given by the user (fewer where that would be the root folder), links followed. Other templates are
 * refused; lines that begin with # are left alone. */
#ifndef SX_FRONTEND_INCLUDE_H
#define SX_FRONTEND_INCLUDE_H

#include "base/arena.h"

enum {
    SX_MAX_TEXT = 64 << 20, /* bytes of a file, and of a text with its includes */
    SX_MAX_INCLUDE_DEPTH = 16,
    SX_MAX_INCLUDES = 1000, /* in one text */
};

/* From (line, column) of the whole on, counted from 0 in characters, the text is that of `file` from
 * (from_line, from_column) on. */
typedef struct sx_span {
    size_t line, column;
    const char *file;
    size_t from_line, from_column;
} sx_span;

/* A text with its places. File names live in the arena it was made with. */
typedef struct sx_source {
    char *text;
    size_t size;
    sx_span *span;
    size_t n_spans;
} sx_source;

/* Reads a file with its includes. */
SX_MUST_USE sx_status sx_source_file(sx_arena *arena, const char *path, SX_OWN sx_source *out);

/* Takes a copy of a text as if it were the file `name`; any template in it is an error. */
SX_MUST_USE sx_status sx_source_text(sx_arena *arena, const char *name, const char *text, size_t size,
                                     SX_OWN sx_source *out);

void sx_source_fini(SX_TAKE sx_source *source);

/* Where a position of the whole (counted from 0) stands, and where a byte offset does. */
sx_place sx_source_place(const sx_source *source, size_t line, size_t column);
sx_place sx_source_offset(const sx_source *source, size_t offset);

#endif
