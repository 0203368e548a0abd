/* `sextant space`: how large a map space is, what is in it, and what is near. */
#include "base/choice.h"
#include "base/file.h"
#include "cli/bind.h"
#include "cli/command.h"
#include "cli/pca.h"
#include "cli/progress.h"
#include "cli/search.h"
#include "report/evaluation.h"
#include "report/illegal.h"
#include "report/json_parts.h"
#include "report/space_report.h"
#include "report/sweep.h"
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

/* Draws and evaluations where none are named, as numbers and as text. */
#define DEFAULT_SAMPLES 10000
#define DEFAULT_EVALS 5000

enum { MAX_SAMPLES = 1000000000, DIAGNOSED = 100000 };

/* The options of the command line, and the results. */
typedef struct job {
    const sx_args *args;
    bool json, quiet, nearest, sweep, mapped; /* mapped: there is a mapping */
    const char *pca, *output;
    uint64_t samples;
    sx_run_options run;
    char objective[256];
    sx_problem problem; /* as they are read */
    sx_arch arch;
    sx_search_space s;
    sx_mapping mapping;
    const char *energies; /* where they come from */
    json_t *object;       /* the answer to programs; NULL: for a person */
    sx_status written;    /* why the figure could not be written; or SX_OK */
} job;

/* Reads and checks the options. */
static sx_status read_options(const sx_args *args, job *j) {
    const char *sweep = sx_args_text(args, "sweep", 0), *mapper;
    j->args = args;
    j->json = sx_args_flag(args, "json");
    j->quiet = sx_args_flag(args, "quiet");
    j->nearest = sx_args_flag(args, "nearest");
    j->pca = sx_args_text(args, "pca", 0);
    j->output = sx_args_text(args, "output", 0);
    j->sweep = sweep != NULL;
    j->samples = sx_args_count(args, "samples", DEFAULT_SAMPLES);
    if (sweep) SX_TRY(sx_choice_read("--sweep", sweep, "orders", NULL));
    if (j->samples < 1 || j->samples > MAX_SAMPLES)
        return sx_error_new(SX_ERR_USAGE, "--samples must be between 1 and %d", MAX_SAMPLES);
    for (size_t i = 0; (mapper = sx_args_text(args, "mapper", i)); i++) SX_TRY(sx_search_mapper(mapper));
    static const char *const pca_only[] = {"mapper", "evals", "objective"};
    for (size_t i = 0; i < sizeof pca_only / sizeof pca_only[0] && !j->pca; i++)
        if (sx_args_flag(args, pca_only[i]))
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s needs --pca", pca_only[i]),
                                 "to search the space, use `sextant map`");
    SX_TRY(sx_search_run_options(args, DEFAULT_EVALS, &j->run));
    return sx_search_writable(args);
}

/* Reads the nouns and makes the space. */
static sx_status read_nouns(sx_sources *sources, job *j, sx_output *result) {
    sx_text none = {0};
    SX_TRY(sx_sources_load(j->args, sources));
    SX_TRY(sx_search_objective(sources, &j->run.objective, j->objective, sizeof j->objective,
                               j->pca ? &result->err : &none));
    sx_text_free(&none);
    SX_TRY(sx_sources_arch(sources, &j->arch));
    SX_TRY(sx_search_check_latency(j->args, &j->arch, &j->run.objective));
    j->energies = sx_sources_energies(sources);
    SX_TRY(sx_sources_problem(sources, &j->problem));
    SX_TRY(sx_bind_problem(sources, &j->arch, &j->problem, result));
    j->mapped = sx_args_flag(j->args, "mapping") || j->nearest || j->sweep;
    if (j->mapped) SX_TRY(sx_sources_mapping(sources, &j->problem, &j->arch, &j->mapping));
    SX_TRY(sx_sources_space(sources, &j->problem, &j->arch, &j->s));
    SX_TRY(sx_search_check_sparse(j->args, &j->arch, result->warnings));
    return sx_search_notes(j->args, sources, true, result);
}

/* Says why nothing is legal. */
static sx_status add_diagnosis(const job *j, sx_output *result) {
    char *text;
    sx_output_exits(result, SX_EXIT_NONE);
    uint64_t tries = sx_cancel_is_set(j->run.cancel) || j->samples > DIAGNOSED ? DIAGNOSED : j->samples;
    SX_TRY(sx_space_diagnose(j->s.space, j->run.seed, tries, &text));
    size_t size = strlen(text);
    sx_text_add(&result->err, "no legal mapping was found\n%s%s", text,
                size && text[size - 1] == '\n' ? "" : "\n");
    if (j->object) sx_json_set(j->object, "diagnosis", json_string(text));
    free(text);
    return SX_OK;
}

/* Writes the nearest mapping to --output, or adds it to the answer. */
static sx_status give_nearest(const job *j, const sx_membership *m, sx_output *result) {
    char *text;
    SX_TRY(sx_mapping_write(&m->nearest, &j->s.problem, &j->s.arch, SX_YAML, &text));
    sx_status status = SX_OK;
    if (j->output)
        status = sx_output_write(result, j->output, text);
    else
        sx_text_add(&result->out, "\n%s", text);
    free(text);
    return status;
}

/* Checks the mapping. */
static sx_status add_membership(const job *j, sx_output *result) {
    sx_map_space_options options = sx_search_space_options(j->args);
    sx_membership m;
    SX_TRY(sx_membership_find(&j->s, &options, &j->mapping, j->nearest, &m));
    sx_status status = SX_OK;
    bool answered = m.member || (j->nearest && m.has_point);
    if (!answered) sx_output_exits(result, SX_EXIT_NONE);
    if (j->object)
        status = sx_space_json_membership(&j->s, &m, j->object);
    else
        sx_space_print_membership(&m, &result->out);
    if (!status && !j->object && m.has_point) status = give_nearest(j, &m, result);
    sx_membership_fini(&m);
    return status;
}

/* Notes that Ctrl-C came after `done` of all. */
static void note_interrupt(const job *j, uint64_t done, uint64_t all, const char *what, sx_output *result) {
    if (j->object) sx_json_set(j->object, "complete", json_false());
    if (!j->quiet)
        sx_text_add(&result->err, "note: interrupted after %s of %s %s\n", sx_show_count((double)done).text,
                    sx_show_count((double)all).text, what);
}

/* Adds where energies come from, and how zeros are counted. */
static void add_energies(const job *j, sx_output *result) {
    sx_model_options options = sx_search_model_options(j->args);
    sx_search_semantics(j->args, &j->s.problem, &j->s.arch, &options);
    if (j->object) {
        sx_json_set(j->object, "energy_source", sx_json_string(j->energies));
        sx_json_semantics(&j->s.arch, &options, j->object);
    } else {
        sx_report_energies(j->energies, &result->out);
        sx_report_semantics(&j->s.arch, &options, &result->out);
    }
}

/* The account of the space: its sizes, how many draws are legal, and whether the mapping belongs to it. */
static sx_status add_account(const job *j, sx_output *result) {
    sx_draws draws;
    SX_TRY(sx_draws_make(j->s.space, j->run.seed, j->samples, j->run.cancel, &draws));
    if (draws.n < j->samples) note_interrupt(j, draws.n, j->samples, "draws", result);
    SX_TRY(sx_space_count(j->s.space));
    if (j->object) {
        sx_space_json_sizes(j->s.space, j->object);
        sx_space_json_draws(j->s.space, &draws, j->object);
    } else {
        sx_space_print_sizes(&j->s, &result->out);
        sx_text_add(&result->out, "\n");
        sx_space_print_draws(j->s.space, &draws, &result->out);
    }
    if (draws.samples == 0) SX_TRY(add_diagnosis(j, result));
    return j->mapped ? add_membership(j, result) : SX_OK;
}

/* The mapping under every order of its loops. */
static sx_status add_sweep(const job *j, sx_output *result) {
    sx_evaluation *e = calloc(1, sizeof *e);
    if (!e) return sx_error_memory();
    e->problem = j->s.problem;
    e->arch = j->s.arch;
    e->mapping = j->mapping;
    e->verdict = sx_check(j->s.model, &j->mapping);
    sx_status status = sx_verdict_status(&e->verdict, &e->problem, &e->arch);
    bool legal = e->verdict.reason == SX_LEGAL;
    if (!legal && !status) {
        sx_illegal_print(e, &result->err);
        sx_output_exits(result, SX_EXIT_NONE);
    }
    free(e);
    if (!legal) return status;
    sx_sweep sweep;
    SX_TRY(sx_sweep_orders(j->s.model, &j->mapping, j->run.cancel, &sweep));
    if (sweep.n_costed < sweep.n_orders) note_interrupt(j, sweep.n_costed, sweep.n_orders, "orders", result);
    if (j->object)
        sx_json_set(j->object, "sweep", sx_sweep_json(&sweep, &j->s.problem));
    else
        sx_sweep_print(&sweep, &j->s.problem, &result->out);
    add_energies(j, result);
    sx_sweep_fini(&sweep);
    return SX_OK;
}

/* The figure of the points that searches evaluate. */
static sx_status add_pca(job *j, sx_output *result) {
    sx_pca_study study;
    char subject[2 * SX_NAME_SIZE + 8];
    sx_pca_options options = {.run = j->run, .objective = j->objective, .path = j->pca, .subject = subject};
    SX_TRY(sx_file_writable(j->pca));
    snprintf(subject, sizeof subject, "%s on %s", j->s.problem.name, j->s.arch.name);
    SX_TRY(sx_pca_of_methods(j->args, "mapper", j->s.space, &options, &study));
    if (j->object)
        sx_json_set(j->object, "pca", sx_pca_study_json(&study, j->pca));
    else
        sx_pca_study_print(&study, j->pca, &result->out);
    add_energies(j, result);
    if (study.interrupted) note_interrupt(j, study.n_seen - 1, study.n_asked, "sets of points", result);
    size_t points = 0;
    for (size_t i = 0; i < study.n_seen; i++) points += study.seen[i].n;
    j->written = study.written;
    study.written = SX_OK;
    sx_pca_study_fini(&study);
    return points ? SX_OK : add_diagnosis(j, result);
}

/* Runs what the options ask for. */
static sx_status print_space(job *j, sx_output *result) {
    if (j->json)
        j->object = json_pack("{s:s, s:s, s:s, s:b}", "problem", j->s.problem.name, "arch", j->s.arch.name,
                              "space", sx_space_name(j->s.space), "complete", 1);
    if (j->json && !j->object) return sx_error_memory();
    if (j->json || !j->nearest) sx_output_to_file(result, j->output);
    sx_status status = SX_OK;
    if (!j->sweep && !j->pca) status = add_account(j, result);
    if (!status && j->sweep) status = add_sweep(j, result);
    if (!status && j->pca) status = add_pca(j, result);
    if (!j->object) return status;
    if (!status) return sx_json_finish(j->object, &result->out);
    json_decref(j->object);
    return status;
}

/* `sextant space`. */
static sx_status run_space(const sx_args *args, sx_output *result) {
    sx_sources sources = {0};
    job *j = calloc(1, sizeof *j);
    if (!j) return sx_error_memory();
    sx_status status = read_options(args, j);
    if (!status) status = read_nouns(&sources, j, result);
    j->run.cancel = sx_interrupt_catch();
    if (!status) status = print_space(j, result);
    if (!status)
        status = j->written;
    else
        sx_status_free(j->written);
    sx_search_space_fini(&j->s);
    sx_sources_fini(&sources);
    free(j);
    return status;
}

static const sx_option options[] = {
    SX_OPTION_ARCH,
    SX_OPTION_PROBLEM,
    SX_OPTION_BATCH,
    SX_OPTIONS_PHASE,
    SX_OPTION_TRAINING,
    SX_OPTION_TRAINING_STEP,
    SX_OPTION_MAPPING,
    SX_OPTION_CONSTRAINTS,
    SX_OPTION_BIND,
    SX_OPTIONS_FILES,
    SX_ROW_ONCE("samples", 0, "N", COUNT,
                "random draws for estimating the share of legal mappings (" SX_TEXT_OF(DEFAULT_SAMPLES) ")"),
    SX_OPTION_SEED,
    SX_OPTIONS_SPACE,
    SX_OPTION_SPLIT_AXES,
    SX_OPTIONS_MODEL,
    SX_OPTION_LATENCY,
    SX_ROW_FLAG("nearest", 0,
                "also give the legal mapping nearest to --mapping; --output writes it to a file"),
    SX_ROW_ONCE("sweep", 0, "orders", TEXT,
                "instead, evaluate --mapping under every loop order, the same at all levels"),
    SX_ROW_ONCE("pca", 0, "FILE", TEXT,
                "instead, plot the points visited by random draws and by each --mapper as SVG, projected "
                "onto two principal components"),
    SX_OPTION_MAPPERS,
    SX_ROW_ONCE("evals", 'n', "N", COUNT,
                "with --pca: evaluations of each mapper (" SX_TEXT_OF(DEFAULT_EVALS) ")"),
    SX_ROW_ONCE("objective", 0, "NAME", TEXT,
                "with --pca: objective to minimise and colour scale, of `sextant list objectives` (edp)"),
    SX_OPTION_JSON,
    SX_OPTION_OUTPUT,
    SX_OPTION_VERBOSE,
    SX_OPTION_QUIET,
    SX_OPTION_HELP,
};

const sx_command sx_command_space = {
    .name = "space",
    .about = "size of a map space, raw and pruned; whether a mapping is in it, and the nearest one that is",
    .usage =
        "[FOLDER|FILE ...] [--arch FILE|NAME] [--problem FILE|EINSUM|NAME] [--mapping FILE] [OPTION ...]",
    .details =
        SX_HELP_FILES "Numbers with ~ are estimated from samples; +- gives their relative standard error.\n"
                      "Ctrl-C stops and reports what was done so far.\n",
    .exits = {[SX_EXIT_NONE] =
                  "no legal mapping is found, or --mapping is not in the space (with --nearest: and no "
                  "legal one is near)"},
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run_space,
};
