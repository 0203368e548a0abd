#include "cli/load.h"

#include "base/text.h"
#include "frontend/input.h"

#include <string.h>
#include <sys/stat.h>

enum { MAX_CATALOG = 256 };

static const char *const noun_name[SX_N_NOUNS] = {"arch", "problem", "mapping"};

const char *sx_noun_name(sx_noun noun) {
    return noun_name[noun];
}

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

/* The files that an option names, number `index`: NULL past the last. What is named by the catalog or is an
 * einsum is left out. */
static const char *file_at(const sx_args *args, sx_noun noun, size_t index) {
    const char *value;
    for (size_t i = 0; (value = sx_args_text(args, noun_name[noun], i)); i++) {
        bool einsum = noun == SX_NOUN_PROBLEM && strchr(value, '[');
        if (noun != SX_NOUN_MAPPING && (einsum || !exists(value))) continue;
        if (index-- == 0) return value;
    }
    return NULL;
}

/* Whether two options name the same files in the same order. */
static bool same_files(const sx_args *args, sx_noun a, sx_noun b) {
    for (size_t i = 0;; i++) {
        const char *x = file_at(args, a, i), *y = file_at(args, b, i);
        if (!x || !y) return !x && !y;
        if (!same_file(x, y)) return false;
    }
}

/* Reads the files of a noun's option; files that another one named just so are not read again. */
static sx_status read_files(const sx_args *args, sx_noun noun, sx_sources *out) {
    const char *path = file_at(args, noun, 0);
    if (!path) return SX_OK;
    for (int other = 0; other < (int)noun; other++)
        if (same_files(args, (sx_noun)other, noun)) {
            out->input[noun] = out->input[other];
            return SX_OK;
        }
    SX_TRY(sx_input_new(&out->input[noun]));
    for (size_t i = 0; (path = file_at(args, noun, i)); i++)
        SX_TRY(sx_input_add_file(out->input[noun], path));
    return SX_OK;
}

/* Takes what option number `index` names, if that is not a file. */
static sx_status add_named(const sx_args *args, size_t index, sx_sources *out) {
    const char *option = args->given[index].option->name, *value = args->given[index].value;
    if (strcmp(option, noun_name[SX_NOUN_ARCH]) == 0 && !exists(value)) return add_arch(args, value, out);
    bool problem = strcmp(option, noun_name[SX_NOUN_PROBLEM]) == 0;
    return problem && (strchr(value, '[') || !exists(value)) ? add_problem(args, value, out) : SX_OK;
}

sx_status sx_sources_load(const sx_args *args, sx_sources *out) {
    memset(out, 0, sizeof *out);
    out->args = args;
    if (args->n_operands)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "'%s' stands alone on the command line", args->operand[0]),
            "name files by --arch, --problem and --mapping, and quote an einsum: '%s'",
            "O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}");
    for (size_t i = 0; i < args->n_given; i++) SX_TRY(add_named(args, i, out));
    for (int noun = 0; noun < SX_N_NOUNS; noun++) SX_TRY(read_files(args, (sx_noun)noun, out));
    return SX_OK;
}

/* Whether a noun's input is that of an earlier one. */
static bool shared(const sx_sources *sources, int noun) {
    for (int other = 0; other < noun; other++)
        if (sources->input[other] == sources->input[noun]) return true;
    return false;
}

void sx_sources_fini(sx_sources *sources) {
    for (int noun = SX_N_NOUNS - 1; noun >= 0; noun--) {
        if (!shared(sources, noun)) sx_input_free(sources->input[noun]);
        sources->input[noun] = NULL;
    }
}

/* The section that holds a noun, NULL where there is none (or no input). */
static const sx_pair *section_of(const sx_input *input, sx_noun noun) {
    const sx_pair *section = input ? sx_input_first(input, noun_name[noun]) : NULL;
    return section || !input || noun != SX_NOUN_ARCH ? section : sx_input_first(input, "architecture");
}

/* The error for a noun that no option brought, or not the one that should. */
static sx_status missing(const sx_sources *sources, sx_noun noun) {
    static const char *const text[SX_N_NOUNS] = {"an architecture", "a problem", "a mapping"};
    static const char *const value[SX_N_NOUNS] = {"FILE|NAME", "FILE|EINSUM|NAME", "FILE"};
    const char *option = noun_name[noun];
    const sx_pair *elsewhere = NULL;
    for (int i = 0; i < SX_N_NOUNS && !elsewhere; i++) elsewhere = section_of(sources->input[i], noun);
    if (!sx_args_flag(sources->args, option))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "%s is missing", text[noun]), "give it by --%s %s",
                             option, value[noun]);
    sx_status error =
        sx_error_new(SX_ERR_INPUT, "what --%s names holds no %s", option, strchr(text[noun], ' ') + 1);
    if (elsewhere)
        return sx_error_hint(error, "'%s' does: give it by --%s, too", elsewhere->place.file, option);
    return sx_error_hint(error, "it is a section of its own: `%s:` at the left margin",
                         noun == SX_NOUN_ARCH ? "architecture" : option);
}

/* The input that holds a noun: that of its own option or, where it was not given, the one among the others
 * that does. */
static sx_status find_input(const sx_sources *sources, sx_noun noun, sx_input **out) {
    bool given = sx_args_flag(sources->args, noun_name[noun]);
    const sx_pair *found = NULL;
    sx_input *holder = NULL;
    for (int i = 0; i < SX_N_NOUNS; i++) {
        const sx_pair *section = section_of(sources->input[i], noun);
        if (!section || section == found || (given && i != (int)noun)) continue;
        if (found && !same_file(found->place.file, section->place.file))
            return sx_error_hint(sx_error_at(section->place, "here is a second %s; the first is at %s:%d:%d",
                                             noun_name[noun], found->place.file, found->place.line,
                                             found->place.column),
                                 "say by --%s which file is meant", noun_name[noun]);
        if (!found) holder = sources->input[i];
        found = found ? found : section;
    }
    if (!found) return missing(sources, noun);
    *out = holder;
    return SX_OK;
}

sx_status sx_sources_arch(sx_sources *sources, sx_arch *out) {
    sx_input *input = NULL;
    if (!sources->has_arch) {
        SX_TRY(find_input(sources, SX_NOUN_ARCH, &input));
        return sx_input_arch(input, out);
    }
    *out = sources->arch;
    return SX_OK;
}

sx_status sx_sources_problem(sx_sources *sources, sx_problem *out) {
    sx_input *input = NULL;
    if (!sources->has_problem) {
        SX_TRY(find_input(sources, SX_NOUN_PROBLEM, &input));
        return sx_input_problem(input, out);
    }
    *out = sources->problem;
    return SX_OK;
}

sx_status sx_sources_mapping(sx_sources *sources, const sx_problem *problem, const sx_arch *arch,
                             sx_mapping *out) {
    sx_input *input = NULL;
    SX_TRY(find_input(sources, SX_NOUN_MAPPING, &input));
    return sx_input_mapping(input, problem, arch, out);
}

const char *sx_sources_note(const sx_sources *sources, size_t index) {
    for (int noun = 0; noun < SX_N_NOUNS; noun++) {
        const char *note;
        if (!sources->input[noun] || shared(sources, noun)) continue;
        for (size_t i = 0; (note = sx_input_note(sources->input[noun], i)); i++)
            if (index-- == 0) return note;
    }
    return NULL;
}
