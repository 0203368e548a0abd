#include "base/file_error.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files of a folder that are compared, and bytes of their names. */
enum { MOST_FILES = 1000, LONGEST_NAME = 256 };

/* Copies the name of a folder's file that is nearest to another; false where none is near. */
static bool find_nearest(DIR *folder, const char *name, char nearest[LONGEST_NAME]) {
    unsigned best = UINT32_MAX;
    const struct dirent *entry;
    for (size_t i = 0; i < MOST_FILES && (entry = readdir(folder)); i++) {
        const char *candidate = entry->d_name;
        const unsigned distance =
            sx_text_nearest(name, &candidate, 1) ? sx_text_distance(name, candidate) : UINT32_MAX;
        const bool first =
            distance == best && strcmp(candidate, nearest) < 0; /* in whatever order they come */
        if (distance > best || (distance == best && !first) || distance == UINT32_MAX) continue;
        best = distance;
        snprintf(nearest, LONGEST_NAME, "%s", candidate);
    }
    return best != UINT32_MAX;
}

/* Opens the folder of a path; NULL with errno where that fails. */
static DIR *open_folder(const char *path, int length) {
    char *name = length ? strndup(path, (size_t)length) : strdup(".");
    DIR *folder = name ? opendir(name) : NULL;
    free(name);
    return folder;
}

/* How many bytes of a path are its folder, with the slash. */
static int folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

sx_status sx_file_hint(sx_status error, const char *path, const char *otherwise) {
    const int length = folder_length(path);
    char nearest[LONGEST_NAME] = "";
    DIR *folder = open_folder(path, length);
    if (!folder && errno == ENOENT)
        error = sx_error_hint(error, "there is no folder '%.*s'", length, path);
    else if (folder && find_nearest(folder, path + length, nearest))
        error = sx_error_hint(error, "did you mean '%.*s%s'?", length, path, nearest);
    else
        error = sx_error_hint(error, "%s", otherwise);
    if (folder) closedir(folder);
    return error;
}

sx_status sx_file_error(sx_code code, const char *verb, const char *path) {
    const bool absent = errno == ENOENT;
    sx_status error = sx_error_system(code, "cannot %s '%s'", verb, path);
    return absent ? sx_file_hint(error, path, "paths are relative to the current folder") : error;
}
