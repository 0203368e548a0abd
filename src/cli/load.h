/* From --arch, --problem and --mapping to nouns. */
#ifndef SX_CLI_LOAD_H
#define SX_CLI_LOAD_H

#include "cli/options.h"
#include "sextant/input.h"

/* What the options named: all files form one input; a catalog's name or an einsum is a noun at once. */
typedef struct sx_sources {
    const sx_args *args;
    sx_input *input;
    bool has_arch, has_problem; /* arch, problem: named, not read from a file */
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

#endif
