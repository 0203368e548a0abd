/* From --arch, --problem, --mapping, --constraints, and files and folders without an option, to nouns. */
#ifndef SX_INPUT_SOURCES_H
#define SX_INPUT_SOURCES_H

#include "base/text.h"
#include "input/args.h"
#include "input/folder.h"
#include "sextant/input.h"
#include "sextant/network.h"
#include "sextant/objective.h"
#include "sextant/timing.h"

/* What an option of its own name brings. */
typedef enum sx_noun {
    SX_NOUN_ARCH,
    SX_NOUN_PROBLEM,
    SX_NOUN_MAPPING,
    SX_NOUN_CONSTRAINTS,
    SX_NOUN_FILES, /* no option: files and folders given without an option, which may hold anything */
    SX_N_NOUNS,
} sx_noun;

/* The name of a noun, which is also that of its option. */
const char *sx_noun_name(sx_noun noun);

/* The layer that a value of --problem names after a file, as in FILE/LAYER; NULL where it is not of that
 * form. `file`, where not NULL, is that of the value. */
enum { SX_LONG_PATH = 4096 };
const char *sx_layer_of(const char *value, char file[SX_LONG_PATH]);

/* Whether a value of a noun's option is a name or an einsum rather than a file; a folder does not hide a
 * name. */
bool sx_is_named(sx_noun noun, const char *value);

/* The section that holds a noun, NULL where there is none (or no input). A graph and a list of layers are
 * problems, too. */
const struct sx_pair *sx_noun_section(const sx_input *input, sx_noun noun);

/* What the options named. The files of one option form an input; a name of the catalog or an einsum is a noun
 * at once. A noun whose option was not given may be in the files of the others. */
typedef struct sx_sources {
    const sx_args *args;
    sx_input *input[SX_N_NOUNS]; /* options that name the same files share one; NULL: no files */
    sx_input *joined;           /* all of them but the mapping's, for constraints; NULL before it is wanted */
    sx_arch *arch;              /* named, not read from a file; NULL: none */
    sx_input *named_arch;       /* of which, where it was read with --estimator; NULL: otherwise */
    const sx_input *arch_input; /* that the architecture was read from; NULL: none */
    const char *energies;       /* where those of the architecture come from; NULL before it was read */
    size_t n_named; /* values of --problem that are no files; each a network, if only of one layer */
    sx_network *named;
    sx_folder *folder; /* folders given without an option */
    size_t n_folders;
    sx_text said;          /* notes for everybody, a line each */
    sx_warnings *warnings; /* about files that are not kept; NULL: none */
} sx_sources;

/* An input for files, with what --set and --include-path say; *out is freed also after an error. */
SX_MUST_USE sx_status sx_sources_input(const sx_args *args, SX_OWN sx_input **out);

/* Reads the files and folders given without an option. */
SX_MUST_USE sx_status sx_sources_operands(sx_sources *sources);

/* The error for a noun that they should hold, but hold not at all or more than once; NULL otherwise. */
SX_MUST_USE sx_status sx_sources_unclear(const sx_sources *sources, unsigned holds, const char *option);

/* Reads what the options name; *out is freed with sx_sources_fini, also after an error. */
SX_MUST_USE sx_status sx_sources_load(const sx_args *args, sx_sources *out);
void sx_sources_fini(sx_sources *sources);

/* A noun of the sources; an error that says which option to give where there is none. */
SX_MUST_USE sx_status sx_sources_arch(sx_sources *sources, sx_arch *out);
SX_MUST_USE sx_status sx_sources_problem(sx_sources *sources, sx_problem *out);
SX_MUST_USE sx_status sx_sources_mapping(sx_sources *sources, const sx_problem *problem, const sx_arch *arch,
                                         sx_mapping *out);

/* What holds a fused mapping, of --mapping or of the files without an option; NULL: there is none. */
const sx_input *sx_sources_fused(const sx_sources *sources);

/* The timing that goes with the architecture, which was read before; all zero where it has none. */
SX_MUST_USE sx_status sx_sources_timing(sx_sources *sources, const sx_arch *arch, sx_timing *out);

/* The source of the architecture's energies, as text; set by sx_sources_arch. */
const char *sx_sources_energies(const sx_sources *sources);

/* The graph of --problem: a network of the catalog, or a file with `graph:`; an error for a single problem.
 * *out is freed with sx_graph_fini. */
SX_MUST_USE sx_status sx_sources_graph(sx_sources *sources, sx_graph *out);
/* Every problem of every --problem, as one network; layers of networks are called NETWORK/LAYER. *out is
 * freed with sx_network_fini. */
SX_MUST_USE sx_status sx_sources_problems(sx_sources *sources, sx_network *out);

/* The problem or the network of --problem, or the graph in its file; a problem, NETWORK/LAYER or FILE/LAYER is a
 * network of one layer, and several values or a folder are one network. *out is freed with sx_network_fini. */
SX_MUST_USE sx_status sx_sources_layers(sx_sources *sources, sx_network *out);

/* The constraints that the files of --arch, --problem and --constraints state; none at all is fine. */
SX_MUST_USE sx_status sx_sources_constraints(sx_sources *sources, const sx_problem *problem,
                                             const sx_arch *arch, sx_constraints *out);

/* The objective of a `mapper` section in those files, and where it is said; place->file is NULL where none
 * is. */
SX_MUST_USE sx_status sx_sources_objective(sx_sources *sources, sx_objective *out, sx_place *place);

/* What in the files has no effect on the result, a line each; NULL past the last. */
const char *sx_sources_note(const sx_sources *sources, size_t index);

/* Adds the warnings about the files that were read so far to a list. */
SX_MUST_USE sx_status sx_sources_warnings(const sx_sources *sources, sx_warnings *out);

#endif
