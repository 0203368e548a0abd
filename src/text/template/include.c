#define _XOPEN_SOURCE 700

#include "text/template/include.h"

#include "base/file.h"
#include "base/hint.h"
#include "text/path_scope.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* What has been found so far. */
typedef struct finds {
    const sx_expansion *x;
    sx_included *found;
    size_t n, room;
} finds;

sx_status sx_real_path(sx_arena *arena, const char *name, const char **out) {
    char *real = realpath(*name ? name : ".", NULL);
    *out = NULL;
    if (!real) return errno == ENOMEM ? sx_error_memory() : SX_OK;
    *out = sx_arena_copy(arena, real, strlen(real));
    free(real);
    return *out ? SX_OK : sx_arena_error(arena);
}

const char *sx_folder_of(sx_arena *arena, const char *name) {
    const char *slash = strrchr(name, '/');
    return sx_arena_copy(arena, name, slash ? (size_t)(slash - name) + 1 : 0);
}

/* Two texts in one, in the arena; NULL when memory is out. */
static char *join_texts(sx_arena *arena, const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    char *joined = sx_arena_alloc(arena, n + m + 1, 1);
    if (!joined) return NULL;
    memcpy(joined, a, n);
    memcpy(joined + n, b, m);
    return joined;
}

/* Adds what a name leads to, unless that was found already or is nothing. */
static SX_MUST_USE sx_status add_found(finds *f, const char *name) {
    sx_arena *arena = f->x->arena;
    const char *real;
    SX_TRY(sx_real_path(arena, name, &real));
    if (!real) return SX_OK;
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->found[i].real, real) == 0) return SX_OK;
    if (f->n == f->room) {
        size_t room = f->room ? 2 * f->room : 4;
        sx_included *found = sx_arena_alloc(arena, room, sizeof *found);
        if (!found) return sx_arena_error(arena);
        if (f->n) memcpy(found, f->found, f->n * sizeof *found);
        f->found = found;
        f->room = room;
    }
    f->found[f->n++] = (sx_included){name, real};
    return SX_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds the entries of a folder that match a pattern, in the order of their names. */
static SX_MUST_USE sx_status add_matches(finds *f, const char *folder, const char *pattern) {
    sx_arena *arena = f->x->arena;
    const char *names[SX_MAX_INCLUDES];
    size_t n = 0;
    DIR *dir = opendir(*folder ? folder : ".");
    if (!dir && sx_file_is_absent(errno)) return SX_OK;
    if (!dir) return sx_error_system(SX_ERR_FILE, "cannot read the folder '%s'", folder);
    sx_status status = SX_OK;
    for (struct dirent *entry; !status && (entry = readdir(dir));) {
        if (fnmatch(pattern, entry->d_name, FNM_PERIOD) != 0) continue;
        if (n == SX_MAX_INCLUDES)
            status = sx_error_new(SX_ERR_LIMIT, "more than %d files match '%s'", SX_MAX_INCLUDES, pattern);
        else if (!(names[n++] = join_texts(arena, folder, entry->d_name)))
            status = sx_arena_error(arena);
    }
    closedir(dir);
    if (status) return status;
    qsort(names, n, sizeof names[0], by_name);
    for (size_t i = 0; i < n; i++) SX_TRY(add_found(f, names[i]));
    return SX_OK;
}

static bool has_wildcard(const char *text, size_t length) {
    return strcspn(text, "*?[") < length;
}

/* Adds what a path in a folder leads to. */
static SX_MUST_USE sx_status add_path(finds *f, const char *folder, const char *path) {
    char *joined = join_texts(f->x->arena, folder, path);
    if (!joined) return sx_arena_error(f->x->arena);
    if (!has_wildcard(path, strlen(path))) return add_found(f, joined);
    const char *in = sx_folder_of(f->x->arena, joined);
    if (!in) return sx_arena_error(f->x->arena);
    return add_matches(f, in, joined + strlen(in));
}

/* Looks for a path in all folders; in those that the user allows only where the others have nothing. */
static SX_MUST_USE sx_status find_path(const sx_search *search, const char *path, finds *f) {
    const sx_expansion *x = f->x;
    if (*path == '/') {
        bool inside = sx_path_below(path, x->root) && path[strlen(x->root)] == '/';
        return add_path(f, inside ? x->root_name : "", inside ? path + strlen(x->root) + 1 : path);
    }
    SX_TRY(add_path(f, search->own, path));
    for (size_t i = 0; i < search->n; i++) SX_TRY(add_path(f, search->more[i], path));
    for (size_t i = 0; i < x->options->n_folders && f->n == 0; i++)
        SX_TRY(add_path(f, x->options->folder[i], path));
    return SX_OK;
}

/* Refuses an empty path, or wildcards in the folders of one. */
static SX_MUST_USE sx_status check_path(const sx_expansion *x, sx_place place, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!x->root)
        return sx_error_hint(sx_error_at(place, "includes are only read from files"),
                             "write the other text here");
    if (!*path) return sx_error_at(place, "an included path is empty");
    if (slash && has_wildcard(path, (size_t)(slash - path)))
        return sx_error_hint(sx_error_at(place, "'%s' has wildcards in the name of a folder", path),
                             "wildcards are read in the last part of a path");
    return SX_OK;
}

/* The error for a path that does not exist. */
static SX_MUST_USE sx_status not_found(const sx_expansion *x, const sx_search *search, sx_place place,
                                       const char *path) {
    sx_text text = {0};
    sx_status error =
        sx_error_at(place, "cannot find the included file '%s%s'", *path == '/' ? "" : search->own, path);
    if (*path == '/' || search->n + x->options->n_folders == 0) return error;
    for (size_t i = 0; i < search->n; i++)
        sx_text_add(&text, "%s'%s'", text.size ? ", " : "", search->more[i]);
    for (size_t i = 0; i < x->options->n_folders; i++)
        sx_text_add(&text, "%s'%s'", text.size ? ", " : "", x->options->folder[i]);
    return sx_error_hint_list(error, "also searched:", &text);
}

sx_status sx_include_find(const sx_expansion *x, const sx_search *search, sx_place place, const char *path,
                          const sx_included **out, size_t *n) {
    finds f = {.x = x};
    SX_TRY(check_path(x, place, path));
    SX_TRY(sx_error_place(find_path(search, path, &f), place));
    if (f.n == 0) return not_found(x, search, place, path);
    *out = f.found;
    *n = f.n;
    return SX_OK;
}

sx_status sx_include_exists(const sx_expansion *x, const sx_search *search, const char *path, bool *out) {
    finds f = {.x = x};
    *out = false;
    if (!x->root || !*path) return SX_OK;
    SX_TRY(find_path(search, path, &f));
    *out = f.n > 0;
    return SX_OK;
}

/* The error for a file that is included while it is being read, `first` of those that are. */
static SX_MUST_USE sx_status include_cycle(const sx_expansion *x, unsigned first, sx_place place,
                                           const char *name) {
    sx_text chain = {0};
    sx_text_add(&chain, "'%s' includes ", name);
    for (unsigned i = first + 1; i < x->depth; i++) sx_text_add(&chain, "'%s', which includes ", x->name[i]);
    sx_text_add(&chain, "%s", first + 1 == x->depth ? "itself" : "it again");
    sx_status error = chain.failed ? sx_error_memory()
                                   : sx_error_hint(sx_error_at(place, "%s", chain.data),
                                                   first + 1 == x->depth ? "remove this include"
                                                                         : "remove one of the includes");
    sx_text_free(&chain);
    return error;
}

sx_status sx_include_open(sx_expansion *x, sx_place place, const sx_included *file, char **text,
                          size_t *size) {
    const sx_path_scope scope = {.folder = x->options->folder, .n_folders = x->options->n_folders};
    SX_TRY(
        sx_path_check(&scope, x->root_name, (int)strlen(x->root_name), place, "included file", file->name));
    for (unsigned i = 0; i < x->depth; i++)
        if (strcmp(x->open[i], file->real) == 0) return include_cycle(x, i, place, file->name);
    if (x->depth == SX_MAX_INCLUDE_DEPTH)
        return sx_error_at(place, "includes are nested deeper than %d", SX_MAX_INCLUDE_DEPTH);
    if (x->includes++ == SX_MAX_INCLUDES) return sx_error_at(place, "more than %d includes", SX_MAX_INCLUDES);
    SX_TRY(sx_error_place(sx_file_read_regular(file->name, SX_MAX_TEXT, text, size), place));
    if (*size > SX_MAX_TEXT - x->bytes) {
        free(*text);
        return sx_error_at(place, "the text with its includes is larger than %d bytes", (int)SX_MAX_TEXT);
    }
    x->bytes += *size;
    x->name[x->depth] = file->name;
    x->open[x->depth++] = file->real;
    return SX_OK;
}

void sx_include_close(sx_expansion *x) {
    x->depth--;
}
