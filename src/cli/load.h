/* From --arch, --problem and --mapping to nouns. */
#ifndef SX_CLI_LOAD_H
#define SX_CLI_LOAD_H

#include "cli/options.h"
#include "sextant/input.h"

/* What an option of its own name brings. */
typedef enum sx_noun { SX_NOUN_ARCH, SX_NOUN_PROBLEM, SX_NOUN_MAPPING, SX_N_NOUNS } sx_noun;

/* The name of a noun, which is also that of its option. */
const char *sx_noun_name(sx_noun noun);

/* What the options named. The files of one option form an input; a catalog's name or an einsum is a noun at
 * once. A noun whose option was not given may stand in the files of the others. */
typedef struct sx_sources {
    const sx_args *args;
    sx_input *input[SX_N_NOUNS]; /* options that name the same files share one; NULL: no files */
    bool has_arch, has_problem;  /* arch, problem: named, not read from a file */
    sx_arch arch;
    sx_problem problem;
} sx_sources;

/* Reads what the options name; *out is freed with sx_sources_fini, also after an error. */
SX_MUST_USE sx_status sx_sources_load(const sx_args *args, sx_sources *out);
void sx_sources_fini(sx_sources *sources);

/* A noun of the sources; an error that says which option to give where there is none. */
SX_MUST_USE sx_status sx_sources_arch(sx_sources *sources, sx_arch *out);
SX_MUST_USE sx_status sx_sources_problem(sx_sources *sources, sx_problem *out);
SX_MUST_USE sx_status sx_sources_mapping(sx_sources *sources, const sx_problem *problem, const sx_arch *arch,
                                         sx_mapping *out);

/* What in the files has no bearing on the result, a line each; NULL past the last. */
const char *sx_sources_note(const sx_sources *sources, size_t index);

#endif
