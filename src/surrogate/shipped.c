/* The folder is share/sextant in the folder of the program or one of those above it, so that it is found in a
 * build tree and after an installation anywhere; else the same of the shared library, which a program elsewhere (such as
 * Python) may have loaded; else the one that the build was configured for. */
#define _GNU_SOURCE /* dladdr */
#include "surrogate/shipped.h"

#include "base/file.h"
#include "base/text.h"
#include "base/vector.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARENTS = 4, PATH_ROOM = 4096 };

/* Whether a path is a folder. */
static bool is_folder(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Replaces the path of a file by that of the folder found from there; false where there is none. */
static bool find_above(char path[PATH_ROOM + 32]) {
    for (int i = 0; i < PARENTS; i++) {
        char *slash = strrchr(path, '/');
        if (!slash) break;
        strcpy(slash, "/share/sextant");
        if (is_folder(path)) return true;
        *slash = 0;
    }
    return false;
}

/* Writes the path of the folder; false where there is none. */
static bool find_folder(char path[PATH_ROOM + 32]) {
    Dl_info library;
    ssize_t n = readlink("/proc/self/exe", path, PATH_ROOM - 1);
    path[n > 0 ? n : 0] = 0;
    if (find_above(path)) return true;
    if (dladdr(SX_SHARE, &library) && strlen(library.dli_fname) < PATH_ROOM) {
        strcpy(path, library.dli_fname);
        if (find_above(path)) return true;
    }
    strcpy(path, SX_SHARE);
    return is_folder(path);
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_surrogate(const char *name) {
    size_t length = strlen(name), suffix = strlen(SX_SURROGATE_SUFFIX);
    return length > suffix && strcmp(name + length - suffix, SX_SURROGATE_SUFFIX) == 0;
}

/* Adds the path of a file. */
static sx_status add_path(const char *folder, const char *name, sx_shipped *out, size_t *room) {
    sx_text text = {0};
    if (!sx_reserve(&out->path, room, out->n + 1, sizeof *out->path)) return sx_error_memory();
    sx_text_add(&text, "%s/%s", folder, name);
    SX_TRY(sx_text_take(&text, &out->path[out->n]));
    out->n++;
    return SX_OK;
}

sx_status sx_shipped_list(sx_shipped *out) {
    char folder[PATH_ROOM + 32];
    size_t room = 0;
    *out = (sx_shipped){0};
    if (!find_folder(folder)) return SX_OK;
    DIR *dir = opendir(folder);
    if (!dir && sx_file_is_absent(errno)) return SX_OK;
    if (!dir) return sx_error_system(SX_ERR_FILE, "cannot read the folder '%s'", folder);
    sx_status status = SX_OK;
    for (struct dirent *entry; !status && (entry = readdir(dir));)
        if (is_surrogate(entry->d_name)) status = add_path(folder, entry->d_name, out, &room);
    closedir(dir);
    if (status)
        sx_shipped_free(out);
    else if (out->n)
        qsort(out->path, out->n, sizeof *out->path, compare_paths);
    return status;
}

void sx_shipped_free(sx_shipped *shipped) {
    for (size_t i = 0; i < shipped->n; i++) free(shipped->path[i]);
    free(shipped->path);
    *shipped = (sx_shipped){0};
}

/* Reads one of them and takes it where it fits better than what there is. */
static sx_status try_path(const char *path, const sx_map_space *space, const sx_objective *objective,
                          sx_view *view, sx_surrogate **best) {
    sx_surrogate *s;
    SX_TRY(sx_surrogate_read(path, &s));
    sx_status misfit = sx_view_init(s, space, objective, false, view);
    bool memory = misfit && misfit->code == SX_ERR_MEMORY;
    if (!misfit && (!*best || (s->space.keep_all && !(*best)->space.keep_all))) {
        sx_surrogate_free(*best);
        *best = s;
    } else {
        sx_surrogate_free(s);
    }
    if (memory) return misfit;
    sx_status_free(misfit);
    return SX_OK;
}

/* The error where none fits. */
static sx_status none_fits(const sx_map_space *space, size_t n) {
    const sx_map_space_options *o = &space->options;
    sx_status error = sx_error_new(
        SX_ERR_USAGE, "none of the %zu surrogates that come with Sextant fits this problem on %s", n,
        space->arch->name);
    return sx_error_hint(
        error,
        "train one with `sextant train --arch %s --family ...%s%s%s -o FILE` and name it with "
        "--surrogate FILE",
        space->arch->name, o->keep_all ? " --keep-all" : "", o->remainders ? " --remainders" : "",
        o->no_banks ? " --no-banks" : "");
}

sx_status sx_shipped_find(const sx_map_space *space, const sx_objective *objective, sx_surrogate **out) {
    sx_shipped all;
    SX_TRY(sx_shipped_list(&all));
    sx_view *view = malloc(sizeof *view);
    sx_surrogate *best = NULL;
    sx_status status = view ? SX_OK : sx_error_memory();
    for (size_t i = 0; !status && i < all.n; i++)
        status = try_path(all.path[i], space, objective, view, &best);
    if (!status && !best) status = space->options.split_axes ? sx_view_no_split() : none_fits(space, all.n);
    free(view);
    sx_shipped_free(&all);
    if (status)
        sx_surrogate_free(best);
    else
        *out = best;
    return status;
}
