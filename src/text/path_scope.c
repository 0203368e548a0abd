#define _XOPEN_SOURCE 700 /* realpath */
#include "text/path_scope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const sx_path_scope sx_path_any = {.any = true};

bool sx_path_below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    if (strncmp(path, folder, length) != 0) return false;
    return path[length] == '/' || path[length] == 0 || (length && folder[length - 1] == '/');
}

/* The length of the folder's part of a path: up to its last '/', or 0. */
static int folder_length(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? (int)(slash + 1 - path) : 0;
}

/* Writes a path in a folder of `length` bytes; false where nothing is there, or it is too long. */
static bool find_in(const char *folder, int length, const char *path, char out[SX_PATH_SIZE]) {
    const char *slash = length && folder[length - 1] != '/' ? "/" : "";
    int n = snprintf(out, SX_PATH_SIZE, "%.*s%s%s", length, folder, slash, path);
    return n < SX_PATH_SIZE && access(out, F_OK) == 0;
}

/* Whether a file, links followed, lies below a folder of `length` bytes. */
static SX_MUST_USE sx_status is_inside(const char *real, const char *folder, int length, bool *out) {
    char name[SX_PATH_SIZE];
    snprintf(name, sizeof name, "%.*s", length ? length : 1, length ? folder : ".");
    char *root = realpath(name, NULL);
    if (!root && errno == ENOMEM) return sx_error_memory();
    *out = root && sx_path_below(real, root);
    free(root);
    return SX_OK;
}

/* The error for a file outside, whose name with links followed is `real`. */
static SX_MUST_USE sx_status outside_error(const sx_path_scope *scope, const char *own, int length,
                                           sx_place place, const char *what, const char *path,
                                           const char *real) {
    bool beside = false;
    SX_TRY(is_inside(real, path, folder_length(path), &beside));
    const char *from = beside ? path : real;
    int in = folder_length(from);
    sx_status error = sx_error_new(SX_ERR_FILE, "the %s '%s' is outside the folder '%.*s'", what, path,
                                   length ? length : 1, length ? own : ".");
    error = sx_error_place(error, place);
    if (!scope)
        return sx_error_hint(error, "put it there; nothing outside is read for a result or a certificate");
    return sx_error_hint(error, "to read it nevertheless, add --include-path %.*s", in ? in : 1,
                         in ? from : ".");
}

sx_status sx_path_check(const sx_path_scope *scope, const char *own, int length, sx_place place,
                        const char *what, const char *path) {
    bool inside = false;
    if (scope && scope->any) return SX_OK;
    char *real = realpath(path, NULL);
    if (!real) return errno == ENOMEM ? sx_error_memory() : SX_OK;
    sx_status status = is_inside(real, own, length, &inside);
    for (size_t i = 0; scope && i < scope->n_folders && !status && !inside; i++)
        status = is_inside(real, scope->folder[i], (int)strlen(scope->folder[i]), &inside);
    if (!status && !inside) status = outside_error(scope, own, length, place, what, path, real);
    free(real);
    return status;
}

sx_status sx_path_find(const sx_path_scope *scope, sx_place place, const char *what, const char *path,
                       char out[SX_PATH_SIZE]) {
    const char *from = place.file ? place.file : "";
    if (strlen(path) >= SX_PATH_SIZE)
        return sx_error_at(place, "the name of the %s is longer than %d bytes", what, SX_PATH_SIZE - 1);
    bool found = *path == '/' ? find_in("", 0, path, out) : find_in(from, folder_length(from), path, out);
    for (size_t i = 0; scope && i < scope->n_folders && !found && *path != '/'; i++)
        found = find_in(scope->folder[i], (int)strlen(scope->folder[i]), path, out);
    if (!found) memcpy(out, path, strlen(path) + 1);
    return sx_path_check(scope, from, folder_length(from), place, what, out);
}
