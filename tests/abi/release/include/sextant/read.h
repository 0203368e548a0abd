/* What is given: problems, architectures and networks, from files, from text or from the catalog.
 *
 * Nouns are opaque: `_new` makes an empty one, a reading function fills it, `_free` frees it. One that is filled again
 * is as if it were new. Indices out of range give 0 or NULL. */
#ifndef SX_READ_H
#define SX_READ_H

#include "sextant/warnings.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An einsum with its sizes; storage levels over an array of compute units; layers with how often they occur; what a
 * search may not do. */
typedef struct sx_problem sx_problem;
typedef struct sx_arch sx_arch;
typedef struct sx_network sx_network;
typedef struct sx_constraints sx_constraints;
/* How a problem is mapped onto an architecture (sextant/evaluate.h). */
typedef struct sx_mapping sx_mapping;

/* Texts that are written: YAML in Timeloop's dialect, JSON, or JSON with 17 digits of every fraction. */
typedef enum sx_format { SX_YAML, SX_JSON, SX_JSON_DIGITS } sx_format;

/* --- problems --- */

SX_API SX_MUST_USE sx_status sx_problem_new(SX_OWN sx_problem **out);
SX_API SX_MUST_USE sx_status sx_problem_copy(const sx_problem *problem, SX_OWN sx_problem **out);
SX_API void sx_problem_free(SX_TAKE sx_problem *problem);
SX_API bool sx_problem_equal(const sx_problem *a, const sx_problem *b);

/* Einsum text: "O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}"; and the problem as such a text, freed with sx_free(). */
SX_API SX_MUST_USE sx_status sx_einsum_parse(const char *text, sx_problem *out);
SX_API SX_MUST_USE sx_status sx_einsum_text(const sx_problem *problem, SX_OWN char **out);
/* The problem as a document that reads back to the identical one; freed with sx_free(). */
SX_API SX_MUST_USE sx_status sx_problem_write(const sx_problem *problem, sx_format format, SX_OWN char **out);

SX_API const char *sx_problem_name(const sx_problem *problem);
SX_API int sx_problem_n_dims(const sx_problem *problem);
SX_API const char *sx_problem_dim_name(const sx_problem *problem, int dim);
SX_API uint32_t sx_problem_dim_size(const sx_problem *problem, int dim);
/* The index of the dimension of that name, or of the tensor of that name or alias; -1 where there is none. */
SX_API int sx_problem_dim(const sx_problem *problem, const char *name);
SX_API int sx_problem_n_tensors(const sx_problem *problem);
SX_API const char *sx_problem_tensor_name(const sx_problem *problem, int tensor);
SX_API int sx_problem_tensor(const sx_problem *problem, const char *name);
/* How many multiply-accumulates the problem takes: the product of its dimensions. */
SX_API uint64_t sx_problem_computes(const sx_problem *problem);

/* Gives the tensors, as further names, those that an architecture's levels call them by: Inputs, Weights, Outputs. What
 * no rule settles is left as it is. */
SX_API SX_MUST_USE sx_status sx_problem_bind_to(sx_problem *problem, const sx_arch *arch);

/* --- architectures --- */

SX_API SX_MUST_USE sx_status sx_arch_new(SX_OWN sx_arch **out);
SX_API void sx_arch_free(SX_TAKE sx_arch *arch);
SX_API bool sx_arch_equal(const sx_arch *a, const sx_arch *b);
/* The architecture as a document that reads back to the identical one; freed with sx_free(). */
SX_API SX_MUST_USE sx_status sx_arch_write(const sx_arch *arch, sx_format format, SX_OWN char **out);

SX_API const char *sx_arch_name(const sx_arch *arch);
/* Storage levels, level 0 the innermost. */
SX_API int sx_arch_n_levels(const sx_arch *arch);
SX_API const char *sx_arch_level_name(const sx_arch *arch, int level);
/* The index of the level of that name, -1 where there is none. */
SX_API int sx_arch_level(const sx_arch *arch, const char *name);
/* How many children each instance of a level has in X and in Y (children of level 0: compute units). */
SX_API void sx_arch_fanout(const sx_arch *arch, int level, uint64_t *x, uint64_t *y);

/* --- networks: layers to be mapped one by one --- */

SX_API SX_MUST_USE sx_status sx_network_new(const char *name, SX_OWN sx_network **out);
SX_API void sx_network_free(SX_TAKE sx_network *network);
/* Appends a layer that the network runs `count` times; a name of NULL is that of the problem, which is copied. */
SX_API SX_MUST_USE sx_status sx_network_add(sx_network *network, const char *name, const sx_problem *problem,
                                            uint64_t count);
SX_API const char *sx_network_name(const sx_network *network);
SX_API size_t sx_network_n_layers(const sx_network *network);
SX_API const char *sx_network_layer_name(const sx_network *network, size_t layer);
SX_API uint64_t sx_network_layer_count(const sx_network *network, size_t layer);
/* The problem of a layer, which lives as long as the network is not changed. */
SX_API const sx_problem *sx_network_layer_problem(const sx_network *network, size_t layer);

/* --- what is built in --- */

/* Entry `index` of a list, its name and a line about it (`about` may be NULL); NULL past the last. */
typedef enum sx_list {
    SX_LIST_ARCHS, /* of the catalog, as problems and networks */
    SX_LIST_PROBLEMS,
    SX_LIST_NETWORKS,
    SX_LIST_MAPPERS,
    SX_LIST_OBJECTIVES,
    SX_LIST_OPTIONS, /* of sextant/options.h */
} sx_list;
SX_API const char *sx_list_name(sx_list list, size_t index, const char **about);
SX_API SX_MUST_USE sx_status sx_catalog_arch(const char *name, sx_arch *out);
SX_API SX_MUST_USE sx_status sx_catalog_problem(const char *name, sx_problem *out);

/* --- what a person names --- */

/* The layers, replacing those of *out, that a text names as it would for --problem of the program: an einsum, sizes of a
 * matrix product (64x64x64), a name of the catalog, NETWORK/LAYER, a file (YAML, JSON, ONNX, the config.json of a language
 * model), FILE/LAYER, or a folder of problems. A single problem is a network of one layer. Options are the program's that
 * say what is read, each "NAME=VALUE" or the "NAME" of a flag: "set=batch=4", "phase=decode", "context=4096", "training".
 * Warnings are added to a list; NULL: they are not wanted. */
SX_API SX_MUST_USE sx_status sx_read_layers(const char *value, const char *const *option, size_t n_options,
                                            sx_warnings *warnings, sx_network *out);

/* --- inputs: documents that are read together --- */

/* Architecture, energy tables, problem, constraints and mapping may come in any number of files, several to a file. */
typedef struct sx_input sx_input;

SX_API SX_MUST_USE sx_status sx_input_new(SX_OWN sx_input **out);
SX_API void sx_input_free(SX_TAKE sx_input *input);

/* Before files are added: a folder from which they may include others, beside that of the file given itself; the
 * value of a variable, for {{name}} in templates and for names in expressions; and how they are read. */
SX_API SX_MUST_USE sx_status sx_input_include_path(sx_input *input, const char *folder);
SX_API SX_MUST_USE sx_status sx_input_set(sx_input *input, const char *name, const char *value);
typedef enum sx_reading {
    SX_READ_STRICT,        /* unknown keys and other warnings are errors */
    SX_READ_LENIENT,       /* keys that look like misspelt ones are not errors */
    SX_READ_LIKE_TIMELOOP, /* as Timeloop reads them where that differs (docs/from-timeloop.md) */
    SX_READ_REMAINDERS,    /* constraints of a search with remainders: factors that do not divide are kept */
} sx_reading;
SX_API void sx_input_read_as(sx_input *input, sx_reading how);

/* Adds a YAML or JSON file. It may have the templates of Timeloop's front end, and include regular files
 * below its own folder. A map.txt is a loop nest as Timeloop prints it, read as a mapping. A
 * file that was added before is not read again. */
SX_API SX_MUST_USE sx_status sx_input_add_file(sx_input *input, const char *path);
/* Adds text as if it were the file `name`; includes are refused. */
SX_API SX_MUST_USE sx_status sx_input_add_text(sx_input *input, const char *name, const char *text,
                                               size_t size);

/* Whether a document of that kind was added. */
typedef enum sx_document {
    SX_DOCUMENT_ARCH,
    SX_DOCUMENT_PROBLEM,
    SX_DOCUMENT_MAPPING,
    SX_DOCUMENT_GRAPH
} sx_document;
SX_API bool sx_input_has(const sx_input *input, sx_document document);

/* Reads a noun. A mapping is read against the problem and the architecture it is for. */
SX_API SX_MUST_USE sx_status sx_input_arch(sx_input *input, sx_arch *out);
SX_API SX_MUST_USE sx_status sx_input_problem(sx_input *input, sx_problem *out);
SX_API SX_MUST_USE sx_status sx_input_mapping(sx_input *input, const sx_problem *problem, const sx_arch *arch,
                                              sx_mapping *out);
/* After the architecture was read: adds the energy table that lies beside its file, as the program does, where energies
 * came from formulas and one table fits; *path, freed with sx_free(), is NULL where none was added. The architecture is
 * then read again. */
SX_API SX_MUST_USE sx_status sx_input_add_ert_beside(sx_input *input, SX_OWN char **path);
/* The constraints of all documents, those written beside an architecture's parts among them, for a problem
 * and an architecture; none at all is fine. Constraints that contradict each other or the sizes are an error
 * that names both. */
SX_API SX_MUST_USE sx_status sx_input_constraints(sx_input *input, const sx_problem *problem,
                                                  const sx_arch *arch, sx_constraints *out);
SX_API SX_MUST_USE sx_status sx_constraints_new(SX_OWN sx_constraints **out);
SX_API void sx_constraints_free(SX_TAKE sx_constraints *constraints);

/* After nouns were read: an error for a variable that was set and that none of them uses, nor constraints (which are read
 * for a problem) have in their texts; where the architecture's
 * energies come from, in words (NULL before one was read); and the warnings about what was read otherwise than it is
 * written, added to a list. */
SX_API SX_MUST_USE sx_status sx_input_check_settings(const sx_input *input);
SX_API const char *sx_input_energies(const sx_input *input);
SX_API SX_MUST_USE sx_status sx_input_warnings(const sx_input *input, sx_warnings *out);

#ifdef __cplusplus
}
#endif

#endif
