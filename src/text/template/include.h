/* The files that templates include: where they are looked for, and which may be read.
 *
 * A path is relative to the folder of the file that includes it, then to those of add_to_path, and last to
 * those that the user allows. Only regular files below the folder of the file given by the user are read,
 * links followed, and those below the folders that the user allows. */
#ifndef SX_TEXT_TEMPLATE_INCLUDE_H
#define SX_TEXT_TEMPLATE_INCLUDE_H

#include "text/document/source.h"
#include "text/settings.h"

enum {
    SX_MAX_INCLUDE_DEPTH = 16,
    SX_MAX_INCLUDES = 1000, /* in one text */
    SX_MAX_FOLDERS = 64,    /* in which one file looks for others */
};

/* What a user allows and sets. */
typedef struct sx_template_options {
    const char **folder; /* where included files may lie, too */
    size_t n_folders;
    const char **name; /* of variables */
    const char **value;
    size_t n_variables;
    sx_settings *settings; /* which variables are used is kept here; NULL: nowhere */
    bool like_timeloop;    /* hyphens of keys are read as by Timeloop (sx_source_like_timeloop) */
} sx_template_options;

/* The reading of one file with all that it includes. */
typedef struct sx_expansion {
    sx_arena *arena;
    const sx_template_options *options;
    const char *root;      /* the folder of the file given, links followed; NULL: a text without a file */
    const char *root_name; /* the same as it was named, with a final '/', or "" */
    size_t includes, bytes;
    int rounds;                             /* of loops so far */
    const char *open[SX_MAX_INCLUDE_DEPTH]; /* the files being read, links followed */
    const char *name[SX_MAX_INCLUDE_DEPTH]; /* and as they are named */
    unsigned depth;
} sx_expansion;

/* A file or folder that was found. */
typedef struct sx_included {
    const char *name; /* for messages, and to open it */
    const char *real; /* links followed */
} sx_included;

/* The folders in which one file looks for others, each with a final '/' or "". */
typedef struct sx_search {
    const char *own;
    const char *more[SX_MAX_FOLDERS];
    size_t n;
} sx_search;

/* What a path leads to, in the order in which it was found, each once; the last part of the path may have the
 * wildcards *, ? and [...]. An error where nothing is found. */
SX_MUST_USE sx_status sx_include_find(const sx_expansion *x, const sx_search *search, sx_place place,
                                      const char *path, const sx_included **out, size_t *n);

/* Whether a path leads anywhere. */
SX_MUST_USE sx_status sx_include_exists(const sx_expansion *x, const sx_search *search, const char *path,
                                        bool *out);

/* Reads a file that was found, unless it may not be read; `place` is where it is included. It counts as being
 * read until sx_include_close. */
SX_MUST_USE sx_status sx_include_open(sx_expansion *x, sx_place place, const sx_included *file,
                                      SX_OWN char **text, size_t *size);
void sx_include_close(sx_expansion *x);

/* What a name leads to, links followed, in the arena; NULL where it leads nowhere. */
SX_MUST_USE sx_status sx_real_path(sx_arena *arena, const char *name, const char **out);

/* The folder of a file's name: with a final '/', or "". In the arena; NULL when memory is out. */
const char *sx_folder_of(sx_arena *arena, const char *name);

#endif
