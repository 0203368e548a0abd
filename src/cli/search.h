/* What the commands that search share: their options and how these are read. */
#ifndef SX_CLI_SEARCH_H
#define SX_CLI_SEARCH_H

#include "base/text.h"
#include "cli/command.h"
#include "input/sources.h"
#include "session/search_space.h"
#include "sextant/run.h"

/* The mapper of a command that runs one, and of one that runs several. */
#define SX_OPTION_MAPPER                                                                                     \
    SX_ROW_ONCE("mapper", 0, "NAME[:KEY=VALUE,...]", TEXT,                                                   \
                "mapper of `sextant list mappers`, with optional settings")
#define SX_OPTION_MAPPERS                                                                                    \
    SX_ROW_MANY("mapper", 0, "NAME[:KEY=VALUE,...]", TEXT,                                                   \
                "mapper of `sextant list mappers`, with optional settings; repeatable")

#define SX_OPTION_CONSTRAINTS                                                                                \
    SX_ROW_MANY("constraints", 'c', "FILE", INPUT,                                                           \
                "constraints on mappings, in Timeloop's format, in addition to those in the other files")

/* The objective and the budget. */
#define SX_OPTION_MINIMISE                                                                                   \
    SX_ROW_ONCE("objective", 0, "NAME", TEXT, "objective to minimise, of `sextant list objectives` (edp)")
#define SX_OPTION_SEED SX_ROW_ONCE("seed", 's', "N", COUNT, "seed of all random choices (0)")
#define SX_OPTION_THREADS                                                                                    \
    SX_ROW_ONCE("threads", 0, "N", COUNT,                                                                    \
                "number of threads (one per processor); results do not depend on it")
#define SX_OPTION_EVALS SX_ROW_ONCE("evals", 'n', "N", COUNT, "maximum number of model evaluations")
#define SX_OPTION_TIME SX_ROW_ONCE("time", 't', "SECONDS", NUMBER, "time limit; a rerun may then differ")
#define SX_OPTION_TARGET                                                                                     \
    SX_ROW_ONCE("target", 0, "VALUE", NUMBER, "stop at this value of the objective or below")
#define SX_OPTION_PATIENCE                                                                                   \
    SX_ROW_ONCE("patience", 0, "N", COUNT, "stop after N evaluations without improvement")
#define SX_OPTIONS_BUDGET                                                                                    \
    SX_OPTION_EVALS, SX_OPTION_TIME, SX_OPTION_TARGET, SX_OPTION_PATIENCE, SX_OPTION_THREADS

/* Where results are kept. */
#define SX_OPTIONS_DATABASE                                                                                  \
    SX_ROW_ONCE("db", 0, "FILE", TEXT,                                                                       \
                "database that stores results and gives start points to later searches"),                    \
        SX_ROW_FLAG("again", 0, "search even if the database has a proven answer for the same space")

/* For outputs that are compared byte by byte. */
#define SX_OPTION_NO_CLOCK                                                                                   \
    SX_ROW_FLAG("no-clock", 0, "omit times from the output, so that equal searches give equal bytes")

/* The space that is searched. */
#define SX_OPTION_REMAINDERS SX_ROW_FLAG("remainders", 0, "imperfect factors: tile sizes need not divide")
#define SX_OPTION_KEEP_ALL                                                                                   \
    SX_ROW_FLAG("keep-all", 0, "every level keeps all tensors it can; do not search bypassing")
#define SX_OPTION_NO_BANKS                                                                                   \
    SX_ROW_FLAG("no-banks", 0,                                                                               \
                "search which tensors banked levels keep, instead of how many banks each tensor gets")
#define SX_OPTION_SPLIT_AXES                                                                                 \
    SX_ROW_FLAG("split-axes", 0,                                                                             \
                "a dimension may be spread over both axes of an array, where it has no room on X")
#define SX_OPTIONS_SPACE SX_OPTION_REMAINDERS, SX_OPTION_KEEP_ALL, SX_OPTION_NO_BANKS

/* Reads --objective, --evals, --time, --target, --patience, --seed and --threads, those of them that the
 * command has, over a run with nothing chosen; without any limit, `evaluations` is the limit (0: none).
 * Other fields are not set. */
SX_MUST_USE sx_status sx_search_run_options(const sx_args *args, uint64_t evaluations, sx_run_options *out);

/* The objective where --objective was not given: that of a `mapper` section of the files, which is said on
 * standard error; otherwise *objective stays as it is. `text` becomes the objective's text. */
SX_MUST_USE sx_status sx_search_objective(sx_sources *sources, sx_objective *objective, char *text,
                                          size_t size, sx_text *err);

/* Reads --threads; without it, one for each processor. */
SX_MUST_USE sx_status sx_search_threads(const sx_args *args, unsigned *out);

/* Reads --remainders, --keep-all, --no-banks and --split-axes; and --no-first-read-elision and --no-link-transfers. */
sx_map_space_options sx_search_space_options(const sx_args *args);
sx_model_options sx_search_model_options(const sx_args *args);

/* An error where the value of --latency is unknown, the architecture (may be NULL) has no law for it,
 * or the objective (may be NULL) has latency without it. */
SX_MUST_USE sx_status sx_search_check_latency(const sx_args *args, const sx_arch *arch,
                                              const sx_objective *objective);

/* Refuses --search-formats where there are none, and warns of options about zeros on an architecture that makes no use of
 * them. */
SX_MUST_USE sx_status sx_search_check_sparse(const sx_args *args, const sx_arch *arch, sx_warnings *warnings);

/* Settles how zeros are counted where no option says so: by the form of the architecture's file. For all layers of a
 * network it is the same. */
void sx_search_semantics(const sx_args *args, const sx_problem *problem, const sx_arch *arch,
                         sx_model_options *options);
void sx_search_network_semantics(const sx_args *args, const sx_network *network, const sx_arch *arch,
                                 sx_model_options *options);

/* An error with the nearest name or setting where a text names no mapper as --mapper does. */
SX_MUST_USE sx_status sx_search_mapper(const char *text);

/* Whether a search method, with settings or without, has a setting of that name. */
bool sx_search_has_setting(const char *method, const char *name);
/* The text of a method with one more setting; the same where an option gives a path, which is quoted. */
SX_MUST_USE sx_status sx_search_with(const char *method, const char *name, const char *value,
                                     SX_OWN char **out);
SX_MUST_USE sx_status sx_search_with_path(const char *method, const char *option, const char *name,
                                          const char *path, SX_OWN char **out);

/* Makes sure, before anything runs, that the files of --output, --csv and --svg can be written. */
SX_MUST_USE sx_status sx_search_writable(const sx_args *args);

/* Makes the space of a problem under the constraints of the sources and the options of the command line; *out
 * is freed with sx_search_space_fini, also after an error. */
SX_MUST_USE sx_status sx_sources_space(sx_sources *sources, const sx_problem *problem, const sx_arch *arch,
                                       sx_search_space *out);

/* Reads the constraints of all layers, so that notes about them come before a search;
 * errors are left to the search. */
void sx_search_foresee(sx_sources *sources, const sx_network *network, const sx_arch *arch);

/* Adds the warnings about the files to a result, and notes of what they say that has no effect on a cost: each
 * with --verbose, otherwise how many there are; no notes with --quiet. `searches`: without the constraints that apply
 * to searches only. An error where nothing uses a name of --set. */
SX_MUST_USE sx_status sx_search_notes(const sx_args *args, sx_sources *sources, bool searches,
                                      sx_output *result);

#endif
