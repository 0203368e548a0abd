/* Reading the nouns from Timeloop's YAML dialects, JSON and einsum text, and writing them back. */
#ifndef SX_INPUT_H
#define SX_INPUT_H

#include "sextant/constraints.h"
#include "sextant/graph.h"
#include "sextant/warnings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A set of documents read together: architecture, energy tables, problem and mapping may come in any number
 * of files, several to a file. */
typedef struct sx_input sx_input;

SX_API SX_MUST_USE sx_status sx_input_new(SX_OWN sx_input **out);
SX_API void sx_input_free(SX_TAKE sx_input *input);

/* Before files are added: a folder from which they may include others, beside that of the file given itself;
 * and the value of a variable, for {{name}} in templates and for names in expressions. */
SX_API SX_MUST_USE sx_status sx_input_include_path(sx_input *input, const char *folder);
SX_API SX_MUST_USE sx_status sx_input_set(sx_input *input, const char *name, const char *value);
/* After nouns were read: an error for a variable that was set and that none of them uses, nor constraints (which are
 * read for a problem) have in their texts. Each variable is set once. */
SX_API SX_MUST_USE sx_status sx_input_check_settings(const sx_input *input);

/* Adds a YAML or JSON file. It may have the templates of Timeloop's front end, and include regular files
 * below its own folder. A map.txt is a loop nest as Timeloop prints it, read as a mapping. A
 * file that was added before is not read again. */
SX_API SX_MUST_USE sx_status sx_input_add_file(sx_input *input, const char *path);

/* Adds text as if it were the file `name`; includes are refused. */
SX_API SX_MUST_USE sx_status sx_input_add_text(sx_input *input, const char *name, const char *text,
                                               size_t size);

/* Whether a document of that kind was added. */
SX_API bool sx_input_has_arch(const sx_input *input);
SX_API bool sx_input_has_problem(const sx_input *input);
SX_API bool sx_input_has_mapping(const sx_input *input);
SX_API bool sx_input_has_graph(const sx_input *input);

/* Reads a noun. A mapping is read against the problem and the architecture it is for. */
SX_API SX_MUST_USE sx_status sx_input_arch(sx_input *input, sx_arch *out);
/* Where the energies of the architecture that was read come from, in words; NULL before one was read. */
SX_API const char *sx_input_energies(const sx_input *input);
SX_API SX_MUST_USE sx_status sx_input_problem(sx_input *input, sx_problem *out);
SX_API SX_MUST_USE sx_status sx_input_mapping(sx_input *input, const sx_problem *problem, const sx_arch *arch,
                                              sx_mapping *out);
/* A graph, which is freed with sx_graph_fini. */
SX_API SX_MUST_USE sx_status sx_input_graph(sx_input *input, sx_graph *out);
/* The constraints of all documents, those written beside an architecture's parts among them, for a problem
 * and an architecture; none at all is fine. Constraints that contradict each other or the sizes are an error
 * that names both. */
SX_API SX_MUST_USE sx_status sx_input_constraints(sx_input *input, const sx_problem *problem,
                                                  const sx_arch *arch, sx_constraints *out);

/* The constraints are for a search with remainders: fixed factors that do not divide are kept. */
SX_API void sx_input_allow_remainders(sx_input *input);
/* How many sections and architectures state constraints, of whatever kind. */
SX_API size_t sx_input_n_constraints(const sx_input *input);

/* What was accepted but has no bearing on a result, a line each ("file:line:column: ..."); NULL past the
 * last. */
SX_API const char *sx_input_note(const sx_input *input, size_t index);

/* Adds the warnings about what was read so far to a list: what was read otherwise than it is written, so that a
 * result may not be what was meant. Several of one kind at one place, as of several layers, are one. */
SX_API SX_MUST_USE sx_status sx_input_warnings(const sx_input *input, sx_warnings *out);

/* From now on unknown keys, and what would be warned about, are errors. */
SX_API void sx_input_strict(sx_input *input);

/* From now on files are read as Timeloop reads them where that differs (docs/from-timeloop.md); each difference is
 * a warning. To be said before files are added. */
SX_API void sx_input_like_timeloop(sx_input *input);

/* From now on a key that looks like a known one misspelt is a warning, not an error. */
SX_API void sx_input_lenient(sx_input *input);

/* Einsum text: "O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}". */
SX_API SX_MUST_USE sx_status sx_einsum_parse(const char *text, sx_problem *out);
SX_API SX_MUST_USE sx_status sx_einsum_text(const sx_problem *problem, SX_OWN char **out);

/* Writing: the text is freed with sx_free() and reads back to the identical noun. */
typedef enum sx_format {
    SX_YAML,
    SX_JSON,
    SX_JSON_DIGITS, /* JSON with 17 digits of every fraction, also where fewer say the same: the text of hashes */
} sx_format;
SX_API SX_MUST_USE sx_status sx_problem_write(const sx_problem *problem, sx_format format, SX_OWN char **out);
SX_API SX_MUST_USE sx_status sx_arch_write(const sx_arch *arch, sx_format format, SX_OWN char **out);
SX_API SX_MUST_USE sx_status sx_mapping_write(const sx_mapping *mapping, const sx_problem *problem,
                                              const sx_arch *arch, sx_format format, SX_OWN char **out);
/* A graph reads back to the identical one if every node, and its einsum, has its output first. */
SX_API SX_MUST_USE sx_status sx_graph_write(const sx_graph *graph, sx_format format, SX_OWN char **out);
SX_API SX_MUST_USE sx_status sx_cost_write(const sx_cost *cost, const sx_problem *problem,
                                           const sx_arch *arch, SX_OWN char **out);

/* The catalog of built-in nouns: entry `index`, its name and a line about it; NULL past the last. */
SX_API const char *sx_catalog_arch_name(size_t index, const char **about);
SX_API const char *sx_catalog_problem_name(size_t index, const char **about);
SX_API SX_MUST_USE sx_status sx_catalog_arch(const char *name, sx_arch *out);
SX_API SX_MUST_USE sx_status sx_catalog_problem(const char *name, sx_problem *out);

#ifdef __cplusplus
}
#endif

#endif
