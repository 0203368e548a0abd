#include "input/sources.h"
#include "input/clock.h"

#include "frontend/catalog/catalog.h"
#include "frontend/timeloop/mapper_section.h"
#include "frontend/timeloop/sparse_section.h"
#include "frontend/timing_section.h"
#include "input/ert_beside.h"
#include "input/layers.h"
#include "input/named.h"
#include "input/phase.h"
#include "input/rename.h"
#include "input/set_option.h"

#include "base/vector.h"
#include "base/warnings.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const noun_name[SX_N_NOUNS] = {"arch", "problem", "mapping", "constraints", "files"};

/* What a file must hold to be the value of a noun's option. */
static const unsigned noun_holds[SX_NOUN_FILES] = {SX_HOLDS_ARCH, SX_HOLDS_PROBLEM, SX_HOLDS_MAPPING,
                                                   SX_HOLDS_CONSTRAINTS | SX_HOLDS_MAPSPACE};

const char *sx_noun_name(sx_noun noun) {
    return noun_name[noun];
}

static bool path_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

/* Whether two paths lead to one file. */
static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    if (strcmp(a, b) == 0) return true;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Whether a value of --problem is einsum text. */
static bool is_einsum(const char *value) {
    return strchr(value, '[') != NULL;
}

const char *sx_layer_of(const char *value, char file[SX_LONG_PATH]) {
    char path[SX_LONG_PATH];
    struct stat info;
    for (const char *slash = strchr(value, '/'); slash; slash = strchr(slash + 1, '/')) {
        if (slash == value || slash - value >= (ptrdiff_t)sizeof path) continue;
        snprintf(path, sizeof path, "%.*s", (int)(slash - value), value);
        if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) continue;
        if (file) memcpy(file, path, sizeof path);
        return slash + 1;
    }
    return NULL;
}

bool sx_is_named(sx_noun noun, const char *value) {
    if (noun == SX_NOUN_PROBLEM && is_einsum(value)) return true;
    if (noun != SX_NOUN_ARCH && noun != SX_NOUN_PROBLEM) return false;
    if (sx_is_folder(value))
        return noun == SX_NOUN_ARCH ? sx_named_knows_arch(value) : sx_named_knows_problem(value);
    if (path_exists(value)) return false;
    return noun == SX_NOUN_ARCH || !sx_layer_of(value, NULL) || sx_named_knows_problem(value);
}

/* The files that an option names, number `index`: NULL past the last. What is named by the catalog or is an
 * einsum is left out. */
static const char *file_at(const sx_args *args, sx_noun noun, size_t index) {
    const char *value;
    for (size_t i = 0; (value = sx_args_text(args, noun_name[noun], i)); i++) {
        if (sx_is_named(noun, value)) continue;
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

/* Sets the estimator of --estimator. */
static sx_status set_estimator(const sx_args *args, sx_input *input) {
    const char *name = sx_args_text(args, "estimator", 0);
    sx_estimator estimator;
    if (!name) return SX_OK;
    SX_TRY(sx_estimator_find(name, &estimator));
    sx_input_set_estimator(input, estimator);
    return SX_OK;
}

/* Says which run a configuration among the files is read as. */
static sx_status set_run(const sx_args *args, sx_input *input) {
    sx_network_options options;
    SX_TRY(sx_named_options(args, &options));
    sx_input_set_run(input, &options);
    return SX_OK;
}

sx_status sx_sources_input(const sx_args *args, sx_input **out) {
    const char *value;
    double clock = 0;
    SX_TRY(sx_input_new(out));
    SX_TRY(sx_clock_read(args, &clock));
    sx_input_set_clock(*out, clock);
    if (sx_args_flag(args, "strict")) sx_input_read_as(*out, SX_READ_STRICT);
    if (sx_args_flag(args, "like")) sx_input_read_as(*out, SX_READ_LIKE_TIMELOOP);
    if (sx_args_flag(args, "lenient")) sx_input_read_as(*out, SX_READ_LENIENT);
    SX_TRY(set_estimator(args, *out));
    for (size_t i = 0; (value = sx_args_text(args, "include-path", i)); i++)
        SX_TRY(sx_input_include_path(*out, value));
    if (sx_phase_config(args)) SX_TRY(set_run(args, *out));
    return sx_set_option_apply(args, *out);
}

/* The error for a file of --constraints that has none. */
static sx_status no_constraints(const char *path) {
    return sx_error_hint(
        sx_error_place(sx_error_new(SX_ERR_INPUT, "this file has no constraints"), (sx_place){path, 0, 0}),
        "they are a section such as `constraints:`, `mapspace_constraints:` or `mapspace:`, or "
        "`constraints:` "
        "beside the nodes of an architecture");
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
    SX_TRY(sx_sources_input(args, &out->input[noun]));
    for (size_t i = 0; (path = file_at(args, noun, i)); i++) {
        if (sx_is_folder(path) && noun == SX_NOUN_PROBLEM) continue;
        if (sx_is_folder(path)) return sx_folder_refuse(path, noun_holds[noun], noun_name[noun]);
        char file[SX_LONG_PATH];
        size_t before = sx_input_n_constraints(out->input[noun]);
        SX_TRY(sx_input_add_file(out->input[noun],
                                 noun == SX_NOUN_PROBLEM && sx_layer_of(path, file) ? file : path));
        if (noun == SX_NOUN_CONSTRAINTS && sx_input_n_constraints(out->input[noun]) == before)
            return no_constraints(path);
    }
    return SX_OK;
}

/* Reads a built-in architecture again, with the estimates of --estimator instead of its own energies. */
static sx_status estimate_named(const char *name, sx_sources *out) {
    SX_TRY(sx_catalog_arch_input(name, &out->named_arch));
    SX_TRY(set_estimator(out->args, out->named_arch));
    sx_input_estimate_all(out->named_arch);
    return sx_input_arch(out->named_arch, out->arch);
}

/* Adds the architecture of that name. */
static sx_status add_arch(const char *name, sx_sources *out) {
    if (!out->arch) out->arch = malloc(sizeof *out->arch);
    if (!out->arch) return sx_error_memory();
    SX_TRY(sx_named_arch(name, out->arch));
    if (sx_args_flag(out->args, "estimator")) SX_TRY(estimate_named(name, out));
    if (!sx_args_text(out->args, "arch", 1)) return SX_OK;
    return sx_error_hint(
        sx_error_new(SX_ERR_USAGE,
                     "--arch %s is an architecture of the catalog; it cannot be combined with other files",
                     name),
        "to change it, start from `sextant eval --arch %s --write arch -o my.yaml`", name);
}

/* Adds what a value of --problem names. */
static sx_status add_problem(const char *value, sx_sources *out) {
    sx_network network = {0};
    size_t room = out->n_named;
    if (!sx_reserve(&out->named, &room, room + 1, sizeof network)) return sx_error_memory();
    SX_TRY(is_einsum(value) ? sx_named_einsum(value, &network)
                            : sx_named_problem(out->args, value, &network));
    out->named[out->n_named++] = network;
    return SX_OK;
}

/* Takes what the values of --arch and --problem name that are no files. */
static sx_status add_named(const sx_args *args, sx_sources *out) {
    const char *value;
    for (size_t i = 0; (value = sx_args_text(args, "arch", i)); i++)
        if (sx_is_named(SX_NOUN_ARCH, value)) SX_TRY(add_arch(value, out));
    for (size_t i = 0; (value = sx_args_text(args, "problem", i)); i++)
        if (sx_is_named(SX_NOUN_PROBLEM, value)) SX_TRY(add_problem(value, out));
    return sx_named_check(args);
}

/* Refuses to be like anything but Timeloop. */
static sx_status check_like(const sx_args *args) {
    const char *like = sx_args_text(args, "like", 0);
    if (!like || strcmp(like, "timeloop") == 0) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--like: '%s' is not a valid value", like),
                         "the only value is timeloop");
}

sx_status sx_sources_load(const sx_args *args, sx_sources *out) {
    memset(out, 0, sizeof *out);
    out->args = args;
    SX_TRY(check_like(args));
    if (sx_args_flag(args, "strict") && sx_args_flag(args, "lenient"))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--strict and --lenient contradict each other"),
                             "--strict makes errors of warnings, --lenient warnings of errors");
    SX_TRY(add_named(args, out));
    for (int noun = 0; noun < SX_NOUN_FILES; noun++) SX_TRY(read_files(args, (sx_noun)noun, out));
    return sx_sources_operands(out);
}

/* Whether a noun's input is that of an earlier one. */
static bool shares_input(const sx_sources *sources, int noun) {
    for (int other = 0; other < noun; other++)
        if (sources->input[other] == sources->input[noun]) return true;
    return false;
}

void sx_sources_fini(sx_sources *sources) {
    for (int noun = SX_N_NOUNS - 1; noun >= 0; noun--) {
        if (!shares_input(sources, noun)) sx_input_free(sources->input[noun]);
        sources->input[noun] = NULL;
    }
    sx_input_free(sources->joined);
    for (size_t i = 0; i < sources->n_named; i++) sx_network_fini(&sources->named[i]);
    free(sources->named);
    for (size_t i = 0; i < sources->n_folders; i++) sx_folder_fini(&sources->folder[i]);
    free(sources->folder);
    sources->folder = NULL;
    sources->n_folders = 0;
    free(sources->arch);
    sx_input_free(sources->named_arch);
    sources->arch = NULL;
    sources->named_arch = NULL;
    sx_text_free(&sources->said);
    sx_warnings_free(sources->warnings);
    sources->warnings = NULL;
    sources->joined = NULL;
    sources->named = NULL;
    sources->n_named = 0;
}

const sx_pair *sx_noun_section(const sx_input *input, sx_noun noun) {
    static const char *const other[] = {"architecture", "graph", "network"};
    const sx_pair *section = input ? sx_input_first(input, noun_name[noun]) : NULL;
    for (size_t i = 0; i < 3 && !section && input; i++)
        if (i == 0 ? noun == SX_NOUN_ARCH : noun == SX_NOUN_PROBLEM)
            section = sx_input_first(input, other[i]);
    return section;
}

/* The error for a noun that no option brought, or not the one that should. */
static sx_status missing_noun(const sx_sources *sources, sx_noun noun) {
    static const char *const text[] = {"an architecture", "a problem", "a mapping"};
    static const char *const value[] = {"FILE|NAME", "FILE|EINSUM|NAME", "FILE"};
    const char *option = noun_name[noun];
    const sx_pair *elsewhere = NULL;
    for (int i = 0; i < SX_N_NOUNS && !elsewhere; i++) elsewhere = sx_noun_section(sources->input[i], noun);
    if (!sx_args_flag(sources->args, option)) SX_TRY(sx_sources_unclear(sources, noun_holds[noun], option));
    if (!sx_args_flag(sources->args, option))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "%s is missing", text[noun]), "give it with --%s %s",
                             option, value[noun]);
    const char *section = noun == SX_NOUN_ARCH ? "architecture" : option;
    sx_status error = sx_error_new(SX_ERR_INPUT, "%s has no `%s:` section",
                                   sx_args_text(sources->args, option, 0), section);
    if (elsewhere)
        return sx_error_hint(error, "'%s' has one: give it with --%s, too", elsewhere->place.file, option);
    return sx_error_hint(error, "`%s:` must be a top-level section", section);
}

/* The input that holds a noun: that of its own option or, where it was not given, that of the files without
 * an option, or the one among the others that does. */
static sx_status find_input(const sx_sources *sources, sx_noun noun, sx_input **out) {
    bool given = sx_args_flag(sources->args, noun_name[noun]);
    const sx_pair *found = NULL;
    sx_input *holder = NULL;
    if (!given && sx_noun_section(sources->input[SX_NOUN_FILES], noun)) {
        *out = sources->input[SX_NOUN_FILES];
        return SX_OK;
    }
    for (int i = 0; i < SX_N_NOUNS; i++) {
        const sx_pair *section = sx_noun_section(sources->input[i], noun);
        if (!section || section == found || (given && i != (int)noun)) continue;
        if (found && !same_file(found->place.file, section->place.file))
            return sx_error_hint(sx_error_at(section->place, "second %s; the first is at %s:%d:%d",
                                             noun_name[noun], found->place.file, found->place.line,
                                             found->place.column),
                                 "give the intended file with --%s", noun_name[noun]);
        if (!found) holder = sources->input[i];
        found = found ? found : section;
    }
    if (!found) return missing_noun(sources, noun);
    *out = holder;
    return SX_OK;
}

/* Warns of the energy tables of folders that are not used, as they differ. */
static sx_status warn_of_tables(const sx_sources *sources, sx_input *input) {
    for (size_t i = 0; i < sources->n_folders; i++) {
        const sx_folder *folder = &sources->folder[i];
        size_t n = 0;
        while (sx_folder_candidate(folder, SX_HOLDS_ERT, n)) n++;
        if (n < 2 || sx_folder_takes(folder, SX_HOLDS_ERT)) continue;
        SX_TRY(sx_input_warn(input, (sx_place){0},
                             "'%s' has %zu energy tables that differ; none is used, add the intended file, "
                             "such as %s",
                             folder->path, n, sx_folder_candidate(folder, SX_HOLDS_ERT, 0)->path));
    }
    return SX_OK;
}

/* Takes the energy table beside an architecture, where there is one, into its input, and says so. */
static sx_status take_ert(sx_sources *sources, sx_input *input) {
    char *path = NULL;
    size_t n;
    SX_TRY(sx_ert_beside(input, &n, &path));
    if (n > 1)
        return sx_input_warn(input, (sx_place){0},
                             "%zu energy tables beside the architecture match; none is used (choose one with "
                             "--arch FILE)",
                             n);
    if (!path) return warn_of_tables(sources, input);
    sx_text_add(&sources->said,
                "note: energies from %s, found beside the architecture; --no-ert ignores it\n", path);
    sx_status status = sources->said.failed ? sx_error_memory() : sx_input_add_file(input, path);
    free(path);
    return status;
}

/* Lets an architecture's input see sparse optimizations in the files of other options. */
static sx_status borrow_sparse(const sx_sources *sources, sx_input *input) {
    for (int noun = 0; noun < SX_N_NOUNS; noun++)
        if (sources->input[noun] && sources->input[noun] != input)
            SX_TRY(sx_input_borrow(input, sources->input[noun], "sparse_optimizations"));
    return SX_OK;
}

/* Reads the architecture of an input; where energies would be by formula, with the energy table beside it. */
static sx_status read_arch(sx_sources *sources, sx_input *input, sx_arch *out) {
    const bool looks = !sx_args_flag(sources->args, "no-ert") && !sx_input_first(input, "ERT");
    sx_input_expect_ert(input, looks);
    sx_status status = sx_input_arch(input, out);
    const bool by_formula = !status && looks && sx_input_by_formula(input);
    if (by_formula) status = take_ert(sources, input);
    sx_input_expect_ert(input, false);
    return status || !by_formula ? status : sx_input_arch(input, out);
}

/* Gives a built-in architecture the sparse optimizations of the files. */
static sx_status add_sparse(const sx_sources *sources, sx_arch *arch) {
    const sx_pair *section;
    for (int noun = 0; noun < SX_N_NOUNS; noun++) {
        sx_input *input = sources->input[noun];
        if (!input || shares_input(sources, noun)) continue;
        for (size_t i = 0; (section = sx_input_section(input, "sparse_optimizations", i)); i++)
            SX_TRY(sx_sparse_read(input, section->value, arch));
    }
    return SX_OK;
}

sx_status sx_sources_arch(sx_sources *sources, sx_arch *out) {
    sx_input *input = NULL;
    if (!sources->arch) {
        SX_TRY(find_input(sources, SX_NOUN_ARCH, &input));
        SX_TRY(borrow_sparse(sources, input));
        SX_TRY(read_arch(sources, input, out));
        sources->energies = sx_input_energies(input);
        sources->arch_input = input;
        return SX_OK;
    }
    sources->arch_input = sources->named_arch;
    sources->energies = sources->named_arch ? sx_input_energies(sources->named_arch) : "built-in table";
    *out = *sources->arch;
    return add_sparse(sources, out);
}

sx_status sx_sources_timing(sx_sources *sources, const sx_arch *arch, sx_timing *out) {
    sx_input *input = NULL;
    if (sources->arch) return sx_catalog_timing(sources->arch->name, arch, out);
    SX_TRY(find_input(sources, SX_NOUN_ARCH, &input));
    return sx_timing_read(input, arch, out);
}

const char *sx_sources_energies(const sx_sources *sources) {
    return sources->energies;
}

/* Refuses several problems where one is wanted. */
static sx_status single_problem(const sx_sources *sources) {
    if (!sources->n_named || !sx_args_text(sources->args, "problem", 1)) return SX_OK;
    return sx_error_new(SX_ERR_USAGE, "more than one --problem is given");
}

/* The layer of the first value FILE/LAYER of --problem, NULL where there is none. */
static const char *wanted_layer(const sx_args *args) {
    const char *value, *layer = NULL;
    for (size_t i = 0; !layer && (value = file_at(args, SX_NOUN_PROBLEM, i)); i++)
        layer = sx_layer_of(value, NULL);
    return layer;
}

/* The problem or the graph in the files. */
static sx_status file_network(sx_sources *sources, sx_network *out) {
    sx_input *input = NULL;
    SX_TRY(find_input(sources, SX_NOUN_PROBLEM, &input));
    return sx_layers_of_input(sources, input, wanted_layer(sources->args), out);
}

/* What a problem's names are checked against. */
typedef struct design {
    sx_sources *sources;
    const sx_arch *arch;
    sx_status memory; /* the error, if memory is out */
} design;

/* Whether the mapping, or where none is given the constraints, can be read for a problem. */
static bool fits_design(void *user, const sx_problem *problem) {
    design *d = user;
    sx_constraints limits;
    sx_mapping mapping;
    sx_input_free(d->sources->joined);
    d->sources->joined = NULL;
    sx_status status = d->sources->input[SX_NOUN_MAPPING]
                           ? sx_sources_mapping(d->sources, problem, d->arch, &mapping)
                           : sx_sources_constraints(d->sources, problem, d->arch, &limits);
    bool fits = !status;
    if (status && status->code == SX_ERR_MEMORY && !d->memory) {
        d->memory = status;
        return true;
    }
    sx_status_free(status);
    return fits;
}

/* Gives the dimensions of all layers their names: those of --rename, else those of the design. What became
 * what is added to `renamed`. */
static sx_status settle_names(sx_sources *sources, sx_network *network, sx_text *renamed) {
    if (sx_args_flag(sources->args, "rename")) return sx_rename_as_told(sources->args, network, renamed);
    bool files = false;
    for (int noun = 0; noun < SX_N_NOUNS; noun++) files |= sources->input[noun] != NULL;
    sx_arch *arch = files ? malloc(sizeof *arch) : NULL;
    if (files && !arch) return sx_error_memory();
    design d = {sources, arch, SX_OK};
    sx_status status = arch ? sx_sources_arch(sources, arch) : SX_OK;
    for (size_t i = 0; arch && !status && !d.memory && i < network->n_layers; i++)
        (void)sx_rename_to_fit(&network->layer[i].problem, fits_design, &d, renamed);
    free(arch);
    if (status && status->code == SX_ERR_MEMORY) return status;
    sx_status_free(status);
    return d.memory;
}

/* A network with its names settled, or nothing. */
static sx_status settled_network(sx_sources *sources, sx_network *network) {
    sx_text renamed = {0};
    sx_status status = settle_names(sources, network, &renamed);
    if (renamed.size)
        sx_text_add(&sources->said, "note: dimensions renamed%s: %s\n",
                    sx_args_flag(sources->args, "rename") ? "" : " to those of the design", renamed.data);
    sx_text_free(&renamed);
    if (!status) status = sx_layers_warn_repeats(sources, network);
    if (status) sx_network_fini(network);
    return status;
}

/* What --problem names, as it is called there. */
static sx_status load_network(sx_sources *sources, sx_network *out) {
    SX_TRY(single_problem(sources));
    const char *value = sx_args_text(sources->args, "problem", 0);
    if (value && !sources->n_named && sx_is_folder(value))
        return sx_folder_refuse(value, SX_HOLDS_PROBLEM, "problem");
    return sources->n_named ? sx_named_copy(&sources->named[0], out) : file_network(sources, out);
}

/* The error for a network where one problem is wanted. */
static sx_status several_layers(const sx_sources *sources, const sx_network *network) {
    const char *value = sx_args_text(sources->args, "problem", 0);
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "%s%s is a network of %zu layers",
                                      value ? "--problem " : "the graph ", value ? value : network->name,
                                      network->n_layers),
                         "name one of them, such as %s/%s", value ? value : "FILE", network->layer[0].name);
}

sx_status sx_sources_problem(sx_sources *sources, sx_problem *out) {
    sx_network network = {0};
    SX_TRY(load_network(sources, &network));
    if (network.n_layers != 1) {
        sx_status status = several_layers(sources, &network);
        sx_network_fini(&network);
        return status;
    }
    SX_TRY(settled_network(sources, &network));
    *out = network.layer[0].problem;
    sx_network_fini(&network);
    return SX_OK;
}

/* What --problem names, with the names settled. */
static sx_status single_network(sx_sources *sources, sx_network *out) {
    sx_network network = {0};
    SX_TRY(load_network(sources, &network));
    SX_TRY(settled_network(sources, &network));
    *out = network;
    return SX_OK;
}

sx_status sx_sources_graph(sx_sources *sources, sx_graph *out) {
    const char *value = sx_args_text(sources->args, "problem", 0);
    sx_input *input = NULL;
    SX_TRY(single_problem(sources));
    if (sources->n_named) return sx_named_graph(sources->args, value, out);
    SX_TRY(sx_phase_single(sources->args));
    SX_TRY(find_input(sources, SX_NOUN_PROBLEM, &input));
    if (sx_input_has(input, SX_DOCUMENT_GRAPH) && !wanted_layer(sources->args))
        return sx_input_graph(input, out);
    if (!sx_input_has(input, SX_DOCUMENT_PROBLEM) && !sx_input_has(input, SX_DOCUMENT_GRAPH))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "a list of layers has no graph"),
                             "a file with `graph:` says which tensors lie between layers");
    return sx_named_no_graph(value ? value : sx_noun_section(input, SX_NOUN_PROBLEM)->place.file);
}

sx_status sx_sources_problems(sx_sources *sources, sx_network *out) {
    if (!sx_args_flag(sources->args, "problem")) return single_network(sources, out);
    sx_network network = {0};
    SX_TRY(sx_layers_gather(sources, &network));
    SX_TRY(settled_network(sources, &network));
    *out = network;
    return SX_OK;
}

sx_status sx_sources_layers(sx_sources *sources, sx_network *out) {
    if (!sx_layers_several(sources)) return single_network(sources, out);
    SX_TRY(sx_sources_problems(sources, out));
    if (!out->name[0]) snprintf(out->name, sizeof out->name, "%zu layers", out->n_layers);
    return SX_OK;
}

/* Joins all inputs but the mapping's, once. */
static sx_status join_sources(sx_sources *sources) {
    if (sources->joined) return SX_OK;
    SX_TRY(sx_sources_input(sources->args, &sources->joined));
    if (sx_args_flag(sources->args, "remainders")) sx_input_read_as(sources->joined, SX_READ_REMAINDERS);
    for (int noun = 0; noun < SX_N_NOUNS; noun++)
        if (noun != SX_NOUN_MAPPING && sources->input[noun])
            SX_TRY(sx_input_borrow(sources->joined, sources->input[noun], NULL));
    const char *text = sources->arch ? sx_catalog_constraints(sources->arch->name) : NULL;
    return text ? sx_input_add_text(sources->joined, sources->arch->name, text, strlen(text)) : SX_OK;
}

sx_status sx_sources_constraints(sx_sources *sources, const sx_problem *problem, const sx_arch *arch,
                                 sx_constraints *out) {
    bool given = sx_args_flag(sources->args, "constraints");
    if (!given) SX_TRY(sx_sources_unclear(sources, SX_HOLDS_CONSTRAINTS, "constraints"));
    if (!given) SX_TRY(sx_sources_unclear(sources, SX_HOLDS_MAPSPACE, "constraints"));
    SX_TRY(join_sources(sources));
    return sx_input_constraints(sources->joined, problem, arch, out);
}

sx_status sx_sources_objective(sx_sources *sources, sx_objective *out, sx_place *place) {
    SX_TRY(join_sources(sources));
    return sx_input_objective(sources->joined, out, place);
}

sx_status sx_sources_mapping(sx_sources *sources, const sx_problem *problem, const sx_arch *arch,
                             sx_mapping *out) {
    sx_input *input = NULL;
    SX_TRY(find_input(sources, SX_NOUN_MAPPING, &input));
    return sx_input_mapping(input, problem, arch, out);
}

const sx_input *sx_sources_fused(const sx_sources *sources) {
    const bool given = sx_args_flag(sources->args, noun_name[SX_NOUN_MAPPING]);
    const sx_input *input = sources->input[given ? SX_NOUN_MAPPING : SX_NOUN_FILES];
    return input && sx_input_first(input, "fused") ? input : NULL;
}

const char *sx_sources_note(const sx_sources *sources, size_t index) {
    for (int noun = 0; noun < SX_N_NOUNS; noun++) {
        const char *note;
        if (!sources->input[noun] || shares_input(sources, noun)) continue;
        for (size_t i = 0; (note = sx_input_note(sources->input[noun], i)); i++)
            if (index-- == 0) return note;
    }
    return sources->joined ? sx_input_note(sources->joined, index) : NULL;
}

sx_status sx_sources_warnings(const sx_sources *sources, sx_warnings *out) {
    sx_warnings_append(out, sources->warnings);
    for (int noun = 0; noun < SX_N_NOUNS; noun++)
        if (sources->input[noun] && !shares_input(sources, noun))
            SX_TRY(sx_input_warnings(sources->input[noun], out));
    if (sources->joined) SX_TRY(sx_input_warnings(sources->joined, out));
    return sx_warnings_status(out);
}
