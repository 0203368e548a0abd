#include "cli/load.h"

#include "base/text.h"

#include <string.h>
#include <sys/stat.h>

enum { MAX_CATALOG = 256 };

typedef const char *catalog_name(size_t index, const char **about);

static bool in_catalog(catalog_name *entry, const char *name) {
    const char *about;
    for (size_t i = 0; entry(i, &about); i++)
        if (strcmp(entry(i, &about), name) == 0) return true;
    return false;
}

/* The error for a value that is neither a file nor in a catalog. */
static sx_status not_found(const char *option, const char *value, catalog_name *entry, const char *topic) {
    const char *names[MAX_CATALOG], *about;
    size_t n = 0;
    while (n < MAX_CATALOG && (names[n] = entry(n, &about))) n++;
    sx_status error = sx_error_new(
        SX_ERR_FILE, "--%s %s: there is no such file, and the catalog has no such name", option, value);
    const char *nearest = sx_text_nearest(value, names, n);
    if (nearest) return sx_error_hint(error, "did you mean '%s'?", nearest);
    return sx_error_hint(error, "`sextant list %s` shows the catalog", topic);
}

static bool exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

/* Whether two paths lead to one file. */
static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    if (strcmp(a, b) == 0) return true;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Whether an earlier option than number `end` named the same file. */
static bool added_before(const sx_args *args, size_t end, const char *path) {
    for (size_t i = 0; i < end; i++) {
        const sx_given *given = &args->given[i];
        bool noun = strcmp(given->option->name, "arch") == 0 || strcmp(given->option->name, "problem") == 0 ||
                    strcmp(given->option->name, "mapping") == 0;
        if (noun && same_file(given->value, path)) return true;
    }
    return false;
}

static sx_status add_arch(const sx_args *args, const char *name, sx_sources *out) {
    if (!in_catalog(sx_catalog_arch_name, name))
        return not_found("arch", name, sx_catalog_arch_name, "archs");
    if (sx_args_text(args, "arch", 1))
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--arch %s is an architecture of the catalog and complete by itself",
                         name),
            "to change it, begin with `sextant eval --arch %s --write arch -o my.yaml`", name);
    SX_TRY(sx_catalog_arch(name, &out->arch));
    out->has_arch = true;
    return SX_OK;
}

static sx_status add_problem(const sx_args *args, const char *value, sx_sources *out) {
    bool einsum = strchr(value, '[') != NULL;
    if (!einsum && !in_catalog(sx_catalog_problem_name, value))
        return not_found("problem", value, sx_catalog_problem_name, "problems");
    if (sx_args_text(args, "problem", 1))
        return sx_error_new(SX_ERR_USAGE, "--problem names more than one problem");
    SX_TRY(einsum ? sx_einsum_parse(value, &out->problem) : sx_catalog_problem(value, &out->problem));
    out->has_problem = true;
    return SX_OK;
}

/* Adds what option number `index` names, if it names a noun. */
static sx_status add_source(const sx_args *args, size_t index, sx_sources *out) {
    const char *option = args->given[index].option->name, *value = args->given[index].value;
    bool arch = strcmp(option, "arch") == 0, problem = strcmp(option, "problem") == 0;
    if (!arch && !problem && strcmp(option, "mapping") != 0) return SX_OK;
    if (problem && strchr(value, '[')) return add_problem(args, value, out);
    if (arch && !exists(value)) return add_arch(args, value, out);
    if (problem && !exists(value)) return add_problem(args, value, out);
    if (added_before(args, index, value)) return SX_OK;
    return sx_input_add_file(out->input, value);
}

sx_status sx_sources_load(const sx_args *args, sx_sources *out) {
    memset(out, 0, sizeof *out);
    out->args = args;
    if (args->n_operands)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "'%s' stands alone on the command line", args->operand[0]),
            "name files by --arch, --problem and --mapping, and quote an einsum: '%s'",
            "O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}");
    SX_TRY(sx_input_new(&out->input));
    for (size_t i = 0; i < args->n_given; i++) SX_TRY(add_source(args, i, out));
    return SX_OK;
}

void sx_sources_fini(sx_sources *sources) {
    sx_input_free(sources->input);
    sources->input = NULL;
}

/* The error for a noun that no option brought, or no file. */
static sx_status missing(const sx_sources *sources, const char *noun, const char *option, const char *value) {
    if (sx_args_flag(sources->args, option))
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "none of the files given holds %s", noun),
                             "it is a section of its own: `%s:` at the left margin",
                             strcmp(option, "arch") ? option : "architecture");
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "%s is missing", noun), "give it by --%s %s", option,
                         value);
}

sx_status sx_sources_arch(sx_sources *sources, sx_arch *out) {
    if (!sources->has_arch && !sx_input_has_arch(sources->input))
        return missing(sources, "an architecture", "arch", "FILE|NAME");
    if (!sources->has_arch) return sx_input_arch(sources->input, out);
    *out = sources->arch;
    return SX_OK;
}

sx_status sx_sources_problem(sx_sources *sources, sx_problem *out) {
    if (!sources->has_problem && !sx_input_has_problem(sources->input))
        return missing(sources, "a problem", "problem", "FILE|EINSUM|NAME");
    if (!sources->has_problem) return sx_input_problem(sources->input, out);
    *out = sources->problem;
    return SX_OK;
}

sx_status sx_sources_mapping(sx_sources *sources, const sx_problem *problem, const sx_arch *arch,
                             sx_mapping *out) {
    if (!sx_input_has_mapping(sources->input)) return missing(sources, "a mapping", "mapping", "FILE");
    return sx_input_mapping(sources->input, problem, arch, out);
}
