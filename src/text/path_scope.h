/* Which files the text of another file may name: those below its own folder, links followed, and those below
 * the folders that the user gives. */
#ifndef SX_TEXT_PATH_SCOPE_H
#define SX_TEXT_PATH_SCOPE_H

#include "base/status.h"
#include "sextant/problem.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sx_path_scope {
    const char **folder; /* that the user gives, beside that of the file itself; "" is the current one */
    size_t n_folders;
    bool any; /* every path: the user, or this program, named it */
} sx_path_scope;

/* The scope of what a user writes on a command line. */
extern const sx_path_scope sx_path_any;

/* Whether a path is that of a folder, or lies below it; both with links followed. */
bool sx_path_below(const char *path, const char *folder);

/* Refuses a file that is not below the folder `own` of `length` bytes (0: the current one) nor in the scope
 * (NULL: that of data, a result or a certificate). `place` is where it is named, `what` says in messages what
 * kind of file it is. One that leads nowhere is not refused: opening it says so. */
SX_MUST_USE sx_status sx_path_check(const sx_path_scope *scope, const char *own, int length, sx_place place,
                                    const char *what, const char *path);

/* Finds a file that is named at `place`, in the folder of the file that names it, in those of the scope, and
 * in the current one; where nothing is found, `out` is the path itself. It must pass sx_path_check. */
SX_MUST_USE sx_status sx_path_find(const sx_path_scope *scope, sx_place place, const char *what,
                                   const char *path, char out[SX_PATH_SIZE]);

#endif
