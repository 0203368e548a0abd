#define _XOPEN_SOURCE 700

#include "input/folder.h"

#include "base/file.h"
#include "base/vector.h"
#include "frontend/onnx/onnx.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 6, MAX_FILES = 2000, MAX_ENTRIES = 20000, MAX_SIZE = 16 << 20, MAX_LISTED = 8 };
enum { NOUNS = SX_HOLDS_ARCH | SX_HOLDS_PROBLEM | SX_HOLDS_MAPPING };

/* Sections, as they are written with underscores. */
static const struct {
    const char *key;
    unsigned holds;
} sections[] = {
    {"architecture", SX_HOLDS_ARCH},
    {"arch", SX_HOLDS_ARCH},
    {"problem", SX_HOLDS_PROBLEM},
    {"graph", SX_HOLDS_PROBLEM},
    {"network", SX_HOLDS_PROBLEM},
    {"mapping", SX_HOLDS_MAPPING},
    {"constraints", SX_HOLDS_CONSTRAINTS},
    {"architecture_constraints", SX_HOLDS_CONSTRAINTS},
    {"arch_constraints", SX_HOLDS_CONSTRAINTS},
    {"mapspace_constraints", SX_HOLDS_MAPSPACE},
    {"mapspace", SX_HOLDS_MAPSPACE},
    {"mapper", SX_HOLDS_MAPPER},
    {"ERT", SX_HOLDS_ERT},
    {"variables", SX_HOLDS_PARTS},
    {"globals", SX_HOLDS_PARTS},
    {"components", SX_HOLDS_PARTS},
    {"compound_components", SX_HOLDS_PARTS},
    {"sparse_optimizations", SX_HOLDS_PARTS},
    {"model", SX_HOLDS_PARTS},
    {"dumped_by_timeloop_front_end", SX_HOLDS_RESULT},
};

/* Any other section with this in its name is one of constraints. */
static const char any_constraints[] = "constraints";

/* Whether a key of `length` bytes is a section's, hyphens and underscores being alike. */
static bool is_key(const char *at, size_t length, const char *key) {
    if (strlen(key) != length) return false;
    for (size_t i = 0; i < length; i++)
        if ((at[i] == '-' ? '_' : at[i]) != key[i]) return false;
    return true;
}

/* Whether a section that begins with this rest of a line has nothing in it. */
static bool is_empty(const char *at, size_t size) {
    static const char *const values[] = {"[]", "{}", "null", "~"};
    while (size && strchr(" \t", *at)) at++, size--;
    while (size && strchr(" \t\r", at[size - 1])) size--;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (size == strlen(values[i]) && strncmp(at, values[i], size) == 0) return true;
    return false;
}

/* What the key at the beginning of a line says. */
static unsigned line_holds(const char *at, size_t size) {
    char quote = size && (*at == '"' || *at == '\'') ? *at : 0;
    size_t length = 0;
    at += quote != 0;
    size -= quote != 0;
    while (length < size && !strchr(": \t\r'\"#", at[length])) length++;
    size_t colon = length + (quote && length < size && at[length] == quote);
    while (colon < size && (at[colon] == ' ' || at[colon] == '\t')) colon++;
    if (colon == size || at[colon] != ':' || is_empty(at + colon + 1, size - colon - 1)) return 0;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (is_key(at, length, sections[i].key)) return sections[i].holds;
    for (size_t i = 0; i + strlen(any_constraints) <= length; i++)
        if (strncmp(at + i, any_constraints, strlen(any_constraints)) == 0) return SX_HOLDS_CONSTRAINTS;
    return 0;
}

/* What the text of a file holds. */
static unsigned contents_of(const char *text, size_t size) {
    unsigned holds = 0;
    for (const char *at = text, *end = text + size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        holds |= line_holds(at, (size_t)(stop - at));
        at = stop + 1;
    }
    return holds;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcasecmp(text + n - m, end) == 0;
}

/* The same, in this case of letters only. */
static bool ends_just(const char *text, const char *end) {
    return ends_with(text, end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* Whether a file is read as YAML. */
static bool is_yaml(const char *name) {
    static const char *const ends[] = {".yaml",       ".yml",        ".yaml.jinja2",
                                       ".yml.jinja2", ".yaml.jinja", ".yaml.j2"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends_with(name, ends[i])) return true;
    return false;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether a file is named like what Timeloop and Accelergy write. */
static bool is_result(const char *name) {
    static const char *const begins[] = {"timeloop-mapper.", "timeloop-model.", "timeloop-metrics.",
                                         "timeloop-simple-mapper.", "parsed-processed-input."};
    static const char *const ends[] = {"ERT.yaml",
                                       "ART.yaml",
                                       "ERT_summary.yaml",
                                       "ART_summary.yaml",
                                       "_estimation.yaml",
                                       "flattened_architecture.yaml",
                                       "defined_input_architecture.yaml"};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0) return true;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends_just(name, ends[i])) return true;
    return false;
}

/* Whether a file that could not be read is one that should have been: a regular file of this user's. */
static bool is_fault(const struct sx_error *error, const char *path) {
    struct stat info;
    if (error->code != SX_ERR_FILE) return error->code == SX_ERR_MEMORY;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, R_OK) == 0;
}

/* Reads what a file holds; one that cannot be read holds nothing. */
static SX_MUST_USE sx_status read_holds(sx_folder_file *file) {
    char *text = NULL;
    size_t size = 0;
    const char *name = base_name(file->path);
    file->result = is_result(name);
    if (ends_with(name, ".map.txt")) {
        file->holds = SX_HOLDS_MAPPING;
        file->result = true;
        return SX_OK;
    }
    if (sx_onnx_is_path(name)) {
        file->holds = SX_HOLDS_PROBLEM;
        return SX_OK;
    }
    sx_status status = sx_file_read_regular(file->path, MAX_SIZE, &text, &size);
    if (status && is_fault(status, file->path)) return status;
    sx_status_free(status);
    if (status) return SX_OK;
    file->holds = contents_of(text, size);
    free(text);
    if (ends_with(name, "flattened_architecture.yaml") || ends_with(name, "defined_input_architecture.yaml"))
        file->holds = 0;
    if (file->holds & SX_HOLDS_RESULT) file->result = true;
    file->holds &= ~(unsigned)SX_HOLDS_RESULT;
    return SX_OK;
}

/* Adds a file; the path is taken. */
static SX_MUST_USE sx_status add_file(sx_folder *folder, SX_TAKE char *path) {
    sx_status status = SX_OK;
    if (folder->n == MAX_FILES)
        status =
            sx_error_hint(sx_error_new(SX_ERR_LIMIT, "'%s' has more than %d files", folder->path, MAX_FILES),
                          "name the files themselves");
    if (!status && !sx_reserve(&folder->file, &folder->room, folder->n + 1, sizeof *folder->file))
        status = sx_error_memory();
    if (status) {
        free(path);
        return status;
    }
    folder->file[folder->n] = (sx_folder_file){.path = path};
    return read_holds(&folder->file[folder->n++]);
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static SX_MUST_USE sx_status walk_folder(sx_folder *folder, const char *path, int depth, int *entries);

/* Adds one entry of a folder: a file of interest, or all below a folder. */
static SX_MUST_USE sx_status add_entry(sx_folder *folder, const char *path, const char *name, int depth,
                                       int *entries) {
    struct stat info;
    sx_text joined = {0};
    char *full;
    sx_text_add(&joined, "%s%s%s", path, ends_with(path, "/") ? "" : "/", name);
    SX_TRY(sx_text_take(&joined, &full));
    sx_status status = SX_OK;
    if (lstat(full, &info) == 0 && S_ISDIR(info.st_mode))
        status = depth < MAX_DEPTH ? walk_folder(folder, full, depth + 1, entries) : SX_OK;
    else if (is_yaml(name) || sx_onnx_is_path(name) || ends_with(name, ".map.txt"))
        return add_file(folder, full);
    free(full);
    return status;
}

/* Adds the files of a folder and of those below it. */
static sx_status walk_folder(sx_folder *folder, const char *path, int depth, int *entries) {
    struct dirent **list;
    int n = scandir(path, &list, is_visible, by_name);
    if (n < 0 && errno == ENOMEM) return sx_error_memory();
    if (n < 0) return sx_error_new(SX_ERR_FILE, "cannot read the folder '%s': %s", path, strerror(errno));
    sx_status status = SX_OK;
    *entries += n;
    if (*entries > MAX_ENTRIES)
        status = sx_error_hint(
            sx_error_new(SX_ERR_LIMIT, "'%s' has more than %d files and folders", folder->path, MAX_ENTRIES),
            "name the files themselves");
    for (int i = 0; i < n; i++) {
        if (!status) status = add_entry(folder, path, list[i]->d_name, depth, entries);
        free(list[i]);
    }
    free(list);
    return status;
}

bool sx_is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

sx_status sx_folder_scan(const char *path, sx_folder *out) {
    int entries = 0;
    *out = (sx_folder){.path = path};
    return walk_folder(out, path, 0, &entries);
}

void sx_folder_fini(sx_folder *folder) {
    for (size_t i = 0; i < folder->n; i++) free(folder->file[i].path);
    free(folder->file);
    *folder = (sx_folder){0};
}

/* The file top.yaml of the folder itself, or its template; NULL where there is none. */
static sx_folder_file *find_top(const sx_folder *folder) {
    sx_folder_file *top = NULL;
    size_t own = strlen(folder->path);
    for (size_t i = 0; i < folder->n; i++) {
        sx_folder_file *file = &folder->file[i];
        const char *name = base_name(file->path);
        bool direct = (size_t)(name - file->path) <= own + 1;
        if (direct && strncmp(name, "top.", 4) == 0 && file->holds & SX_HOLDS_ARCH) top = file;
    }
    return top;
}

/* Whether a loop nest's mapping is there as YAML, too. */
static bool has_yaml(const sx_folder *folder, const sx_folder_file *nest) {
    size_t stem = strlen(nest->path) - strlen("txt");
    if (!ends_with(nest->path, ".map.txt")) return false;
    for (size_t i = 0; i < folder->n; i++)
        if (strncmp(folder->file[i].path, nest->path, stem) == 0 &&
            strcmp(folder->file[i].path + stem, "yaml") == 0)
            return true;
    return false;
}

const sx_folder_file *sx_folder_candidate(const sx_folder *folder, unsigned holds, size_t index) {
    const bool limits = holds & (SX_HOLDS_CONSTRAINTS | SX_HOLDS_MAPSPACE);
    for (int results = 0; results < 2 - limits; results++) {
        bool any = false;
        for (size_t i = 0; i < folder->n; i++) {
            const sx_folder_file *file = &folder->file[i];
            if (!(file->holds & holds) || file->result != (results == 1) || has_yaml(folder, file)) continue;
            if (limits && file->holds & NOUNS) continue;
            any = true;
            if (index-- == 0) return file;
        }
        if (any) return NULL;
    }
    return NULL;
}

const sx_folder_file *sx_folder_processed(const sx_folder *folder) {
    const sx_folder_file *found = NULL;
    for (size_t i = 0; i < folder->n; i++) {
        const sx_folder_file *file = &folder->file[i];
        if (!file->result || !(file->holds & SX_HOLDS_ARCH)) continue;
        if (found) return NULL;
        found = file;
    }
    return found;
}

bool sx_folder_takes(const sx_folder *folder, unsigned holds) {
    for (size_t i = 0; i < folder->n; i++)
        if (folder->file[i].taken && folder->file[i].holds & holds) return true;
    return false;
}

/* Whether two files have the same bytes. */
static bool same_text(const char *a, const char *b) {
    char *x = NULL, *y = NULL;
    size_t n = 0, m = 0;
    sx_status first = sx_file_read_regular(a, MAX_SIZE, &x, &n);
    sx_status second = sx_file_read_regular(b, MAX_SIZE, &y, &m);
    bool same = !first && !second && n == m && memcmp(x, y, n) == 0;
    sx_status_free(first);
    sx_status_free(second);
    free(x);
    free(y);
    return same;
}

/* Takes the energy table: one that is not part of another file, if all that a person wrote are the same, or,
 * without any, all that Timeloop did. */
static void choose_table(sx_folder *folder) {
    const sx_folder_file *table = sx_folder_candidate(folder, SX_HOLDS_ERT, 0), *file;
    if (!table || sx_folder_takes(folder, SX_HOLDS_ERT)) return;
    for (size_t i = 1; (file = sx_folder_candidate(folder, SX_HOLDS_ERT, i)); i++)
        if (!same_text(table->path, file->path)) return;
    folder->file[table - folder->file].taken = true;
}

/* Takes the file that holds something, if it is the only one; one that Timeloop wrote only where nothing in
 * it is `present` or taken already. */
static void choose_file(sx_folder *folder, unsigned holds, unsigned present) {
    const sx_folder_file *file = sx_folder_candidate(folder, holds, 0);
    if (!file || sx_folder_candidate(folder, holds, 1)) return;
    for (size_t i = 0; i < folder->n; i++)
        if (folder->file[i].taken) present |= folder->file[i].holds;
    if (file->result && file->holds & present & NOUNS) return;
    folder->file[file - folder->file].taken = true;
}

void sx_folder_choose(sx_folder *folder, unsigned given, unsigned present) {
    static const unsigned single[] = {SX_HOLDS_ARCH,        SX_HOLDS_PROBLEM,  SX_HOLDS_MAPPING,
                                      SX_HOLDS_CONSTRAINTS, SX_HOLDS_MAPSPACE, SX_HOLDS_MAPPER};
    sx_folder_file *top = find_top(folder);
    if (top) {
        top->taken = folder->whole = true;
        return;
    }
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
        if (!((given | present) & single[i]) && !(single[i] & NOUNS && sx_folder_takes(folder, single[i])))
            choose_file(folder, single[i], present);
    if (!((given | present) & SX_HOLDS_ARCH) && !sx_folder_takes(folder, SX_HOLDS_ARCH)) return;
    for (size_t i = 0; i < folder->n; i++) {
        sx_folder_file *file = &folder->file[i];
        if (!file->result && !(file->holds & ~(unsigned)(SX_HOLDS_PARTS | SX_HOLDS_ERT)) &&
            file->holds & SX_HOLDS_PARTS)
            file->taken = true;
    }
    choose_table(folder);
}

/* Adds the names of the first files that may be taken for something, and returns how many there are. */
static size_t list_candidates(const sx_folder *folder, unsigned holds, sx_text *list) {
    size_t n = 0;
    const sx_folder_file *file;
    for (; (file = sx_folder_candidate(folder, holds, n)); n++)
        if (n < MAX_LISTED) sx_text_add(list, "%s%s", n ? ", " : "", file->path);
    if (n > MAX_LISTED) sx_text_add(list, " and %zu more", n - MAX_LISTED);
    return n;
}

sx_status sx_folder_unclear(const sx_folder *folder, unsigned holds, const char *option, const char *what) {
    sx_text list = {0};
    size_t n = list_candidates(folder, holds, &list);
    sx_status error;
    if (list.failed)
        error = sx_error_memory();
    else if (n == 0)
        error = sx_error_hint(sx_error_new(SX_ERR_INPUT, "no file of '%s' has a section '%s:'", folder->path,
                                           holds == SX_HOLDS_ARCH ? "architecture" : option),
                              "sections must start in the first column; or give the file with --%s", option);
    else if (n == 1)
        error = sx_error_hint(
            sx_error_new(SX_ERR_INPUT, "'%s' has no %s except Timeloop's output", folder->path, option),
            "to take it, add --%s %s", option, list.data);
    else
        error = sx_error_hint(sx_error_new(SX_ERR_INPUT, "'%s' holds %zu %s", folder->path, n, what),
                              "choose one by --%s: %s", option, list.data);
    sx_text_free(&list);
    return error;
}

sx_status sx_folder_refuse(const char *path, unsigned holds, const char *option) {
    sx_folder folder;
    sx_text list = {0};
    sx_status error = sx_folder_scan(path, &folder);
    size_t n = error ? 0 : list_candidates(&folder, holds, &list);
    if (list.failed) error = sx_error_memory();
    if (!error) {
        error = sx_error_new(SX_ERR_USAGE, "--%s %s is a folder, not a file", option, path);
        if (n)
            error =
                sx_error_hint(error, "give a file: %s; or the folder alone, without --%s", list.data, option);
        else
            error = sx_error_hint(error, "no file below it has such a section");
    }
    sx_text_free(&list);
    sx_folder_fini(&folder);
    return error;
}
