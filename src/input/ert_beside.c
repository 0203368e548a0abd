#include "input/ert_beside.h"

#include "base/file.h"
#include "base/text.h"
#include "frontend/input.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* How a file's name fits that of an architecture. */
typedef enum fit { NO_FIT, ANY_ARCH, THIS_ARCH } fit;

/* Whether a text ends in another, in any case. */
static bool ends_in(const char *text, size_t size, const char *end) {
    size_t length = strlen(end);
    return size >= length && strncasecmp(text + size - length, end, length) == 0;
}

/* How the name of a file fits an architecture's stem. */
static fit fit_of(const char *name, const char *stem, size_t stem_size) {
    static const char timeloop[] = "timeloop-";
    size_t size = strlen(name);
    if (ends_in(name, size, ".yaml"))
        size -= 5;
    else if (ends_in(name, size, ".yml"))
        size -= 4;
    else
        return NO_FIT;
    if (size == 3 && ends_in(name, size, "ert")) return ANY_ARCH;
    if (!ends_in(name, size, ".ert")) return NO_FIT;
    if (size == stem_size + 4 && strncmp(name, stem, stem_size) == 0) return THIS_ARCH;
    return strncmp(name, timeloop, strlen(timeloop)) == 0 ? ANY_ARCH : NO_FIT;
}

/* Whether a file is a table that leaves no energy of the architecture to a formula. */
static sx_status table_fits(const sx_input *input, const char *path, bool *out) {
    struct stat info;
    sx_input *both = NULL;
    *out = false;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return SX_OK;
    sx_arch *arch = malloc(sizeof *arch);
    sx_status status = arch ? sx_input_new(&both) : sx_error_memory();
    if (!status) status = sx_input_borrow(both, input, NULL);
    if (!status) {
        sx_status bad = sx_input_add_file(both, path);
        if (!bad) bad = sx_input_arch(both, arch);
        *out = !bad && sx_input_first(both, "ERT") && !sx_input_by_formula(both);
        if (bad && bad->code == SX_ERR_MEMORY)
            status = bad;
        else
            sx_status_free(bad);
    }
    sx_input_free(both);
    free(arch);
    return status;
}

/* Looks for tables of one kind in a folder: how many fit, and the path of one. */
static sx_status find_table(const sx_input *input, const char *file, fit wanted, size_t *n, char **out) {
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    size_t folder = (size_t)(base - file), stem = strcspn(base, ".");
    sx_text path = {0};
    sx_status status = SX_OK;
    sx_text_add(&path, "%.*s", (int)folder, file);
    DIR *dir = path.failed ? NULL : opendir(folder ? path.data : ".");
    if (path.failed)
        status = sx_error_memory();
    else if (!dir && !sx_file_is_absent(errno))
        status = sx_error_system(SX_ERR_FILE, "cannot read the folder of '%s'", file);
    for (struct dirent *entry; dir && !status && (entry = readdir(dir));) {
        bool good = false;
        char *full;
        if (fit_of(entry->d_name, base, stem) != wanted) continue;
        sx_text name = {0};
        sx_text_add(&name, "%.*s%s", (int)folder, file, entry->d_name);
        status = sx_text_take(&name, &full);
        if (status) break;
        status = table_fits(input, full, &good);
        *n += good;
        if (good && !*out)
            *out = full;
        else
            free(full);
    }
    if (dir) closedir(dir);
    sx_text_free(&path);
    return status;
}

sx_status sx_ert_beside(const sx_input *input, size_t *n, char **out) {
    const sx_pair *section = sx_input_first(input, "arch");
    const char *file = (section ? section : sx_input_first(input, "architecture"))->place.file;
    char *found = NULL;
    *n = 0;
    sx_status status = find_table(input, file, THIS_ARCH, n, &found);
    if (!status && *n == 0) status = find_table(input, file, ANY_ARCH, n, &found);
    if (status || *n != 1) {
        free(found);
        found = NULL;
    }
    *out = found;
    return status;
}

sx_status sx_input_add_ert_beside(sx_input *input, char **path) {
    size_t n;
    *path = NULL;
    if (!sx_input_has(input, SX_DOCUMENT_ARCH) || !sx_input_by_formula(input) || sx_input_first(input, "ERT"))
        return SX_OK;
    SX_TRY(sx_ert_beside(input, &n, path));
    sx_status status = *path ? sx_input_add_file(input, *path) : SX_OK;
    if (status) {
        free(*path);
        *path = NULL;
    }
    return status;
}
