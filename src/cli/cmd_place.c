/* `sextant place`: which memory of a chip holds each tensor of a network. */
#include "base/file.h"
#include "cli/allocate.h"
#include "cli/command.h"
#include "cli/evaluator.h"
#include "cli/pca.h"
#include "cli/place_checkpoint.h"
#include "cli/place_input.h"
#include "cli/progress.h"
#include "cli/search.h"
#include "input/set_option.h"
#include "report/json_parts.h"
#include "report/placement.h"
#include "session/placement_store.h"
#include "sextant/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Evaluations of a search where the method has no end of its own and no budget is given: the paper's. */
#define DEFAULT_EVALS 4000
#define DEFAULT_METHOD "exact:effort=1000"
#define POLICY_METHOD "pg"       /* where a policy is given and no method: its placement alone */
#define MEASURED_METHOD "anneal" /* for latencies that nothing can be proven of */
#define DEFAULT_OBJECTIVE "delay"
#define CHECKPOINT_SECONDS 60

/* Makes an option's file a setting of the method, in whose place its text comes. */
static sx_status add_file(const sx_args *args, const char *option, const char *setting, char **method) {
    const char *path = sx_args_text(args, option, 0);
    char *text;
    if (!path) return SX_OK;
    if (!sx_search_has_setting(*method, setting))
        return sx_error_new(SX_ERR_USAGE, "--%s: only the methods egrl and pg have a policy", option);
    SX_TRY(sx_search_with_path(*method, option, setting, path, &text));
    free(*method);
    *method = text;
    return SX_OK;
}

/* Reads --policy and --save-policy as settings of the method. */
static sx_status add_policies(const sx_args *args, const char *method, char **out) {
    const char *save = sx_args_text(args, "save-policy", 0);
    *out = strdup(method);
    if (!*out) return sx_error_memory();
    SX_TRY(add_file(args, "policy", "policy", out));
    SX_TRY(add_file(args, "save-policy", "save", out));
    return save ? sx_file_writable(save) : SX_OK;
}

/* Reads --method, refusing one that searches other spaces, --policy and --save-policy. */
static sx_status read_method(const sx_args *args, sx_placement_job *job) {
    char *with = NULL;
    job->asked = sx_args_text(args, "method", 0);
    if (sx_args_text(args, "method", 1) && !sx_args_flag(args, "pca"))
        return sx_error_new(SX_ERR_USAGE, "more than one --method needs --pca");
    if (!job->asked)
        job->asked = sx_args_flag(args, "policy")     ? POLICY_METHOD
                     : job->outside || job->noise > 0 ? MEASURED_METHOD
                                                      : DEFAULT_METHOD;
    sx_status status = add_policies(args, job->asked, &with);
    if (!status) status = sx_navigator_text(with, "placement", &job->method);
    free(with);
    SX_TRY(status);
    const char *space = sx_navigator_space(job->method);
    if (space && strcmp(space, "placement") != 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--method %.*s does not search placements",
                                          (int)strcspn(job->asked, ":"), job->asked),
                             "`sextant list placers` lists those that do");
    return SX_OK;
}

/* Reads --evaluator and --noise. */
static sx_status read_measure(const sx_args *args, sx_placement_job *job) {
    job->noise = sx_args_number(args, "noise", 0);
    SX_TRY(sx_evaluator_read(args, &job->outside));
    if (job->noise < 0 || job->noise > 1)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--noise must be between 0 and 1"),
                             "0.02 is about 2 %% of the latency");
    if (job->noise > 0 && job->outside)
        return sx_error_new(SX_ERR_USAGE, "--noise cannot be used with --evaluator, which has its own");
    if (job->noise > 0 && sx_args_flag(args, "db"))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--db cannot be used with --noise"),
                             "the database holds results of the chip's model; --output keeps this one");
    return SX_OK;
}

/* Reads the options that decide the search. */
static sx_status read_options(const sx_args *args, sx_placement_job *job) {
    SX_TRY(read_measure(args, job));
    SX_TRY(read_method(args, job));
    uint64_t evals = sx_navigator_complete(job->method) ? 0 : DEFAULT_EVALS;
    if (sx_args_flag(args, "policy") && !sx_args_flag(args, "method")) evals = 1;
    SX_TRY(sx_search_run_options(args, evals, &job->run));
    if (!sx_args_flag(args, "objective")) SX_TRY(sx_objective_parse(DEFAULT_OBJECTIVE, &job->run.objective));
    sx_objective_text(&job->run.objective, job->objective, sizeof job->objective);
    job->clock = !sx_args_flag(args, "no-clock");
    return SX_OK;
}

/* Reads --addresses, --require-addresses and --align. */
static sx_status read_addresses(const sx_args *args, sx_placement_job *job) {
    bool required = sx_args_flag(args, "require-addresses");
    if (required && sx_args_flag(args, "db"))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--db cannot be used with --require-addresses"),
                             "the database holds placements that need not have addresses");
    if (required || sx_args_flag(args, "addresses")) return sx_allocate_align(args, &job->addresses.align);
    if (!sx_args_flag(args, "align")) return SX_OK;
    return sx_error_new(SX_ERR_USAGE, "--align is for --addresses and --allocate");
}

/* Makes the space. */
static sx_status make_space(const sx_args *args, sx_placement_job *job, sx_warnings *warnings) {
    sx_chip chip;
    sx_place_graph graph;
    const char *value = sx_args_text(args, "graph", 0);
    if (!value)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "no graph given"),
            "use --graph FILE or --graph NAME, such as resnet50; `sextant list networks` lists "
            "the built-in ones");
    SX_TRY(sx_place_read_chip(args, &chip));
    SX_TRY(sx_place_read_graph(args, value, warnings, &graph));
    sx_status status = sx_set_option_check(args);
    if (!status) status = sx_placement_space_new(&graph, &chip, &job->space);
    sx_place_graph_fini(&graph);
    if (!status) job->in = sx_placement_space_of(job->space);
    if (!status && sx_args_flag(args, "require-addresses"))
        status = sx_addresses_require(job->space, job->addresses.align);
    return status;
}

/* What a run tells while it searches. */
typedef struct watcher {
    sx_progress_line line;
    const sx_place_checkpoint *checkpoint;
    const sx_placement_job *job;
} watcher;

static void show_progress(void *user, const sx_progress *progress) {
    sx_progress_show(&((watcher *)user)->line, progress);
}

static sx_status save_checkpoint(void *user, const void *bytes, size_t size) {
    const watcher *w = user;
    return sx_place_checkpoint_write(w->checkpoint, w->job, bytes, size);
}

/* Searches, from a checkpoint where there is one. With a database the checkpoint has the start point before
 * the search begins: the database may offer another one to the search that resumes. */
static sx_status search_placements(const sx_args *args, const sx_place_checkpoint *checkpoint,
                                   sx_placement_job *job, sx_output *result) {
    watcher w = {.checkpoint = checkpoint, .job = job};
    job->run.cancel = sx_interrupt_catch();
    job->run.progress = show_progress;
    job->run.user = &w;
    if (checkpoint->path) {
        job->run.checkpoint = save_checkpoint;
        job->run.checkpoint_seconds = sx_args_number(args, "checkpoint-seconds", CHECKPOINT_SECONDS);
    }
    if (checkpoint->path && !checkpoint->bytes && sx_args_flag(args, "db"))
        SX_TRY(save_checkpoint(&w, NULL, 0));
    sx_progress_begin(&w.line, args);
    sx_progress_title(&w.line, "%s", job->in->graph.name);
    sx_status status = sx_placement_job_search(job);
    sx_progress_end(&w.line);
    if (!status && checkpoint->bytes && !sx_args_flag(args, "quiet"))
        sx_text_add(&result->err, "note: resumed from %s\n", checkpoint->path);
    if (!status) sx_evaluator_note(job->outside, sx_args_flag(args, "quiet"), &result->err);
    if (job->summary.stop != SX_STOP_SIGNAL && job->summary.stop != SX_STOP_TIME)
        result->checkpoint = checkpoint->path;
    return status;
}

static sx_status write_svg(const sx_placement_job *job, const char *path) {
    sx_text svg = {0};
    sx_placement_svg(job, &svg);
    return sx_file_finish(path, &svg, SX_OK);
}

/* Gives out what was found, also where the figure cannot be written. */
static sx_status print_placement(const sx_args *args, const sx_placement_job *job, sx_output *result) {
    const char *svg = sx_args_text(args, "svg", 0);
    bool quiet = sx_args_flag(args, "quiet");
    sx_output_exits(result, job->found ? SX_EXIT_FOUND : SX_EXIT_NONE);
    result->incomplete = job->summary.stop == SX_STOP_TIME;
    sx_output_to_file(result, sx_args_text(args, "output", 0));
    sx_status written = job->found && svg ? write_svg(job, svg) : SX_OK, printed = SX_OK;
    if (sx_args_flag(args, "json"))
        printed = sx_placement_json(job, &result->out);
    else if (job->found)
        printed = sx_placement_print(job, quiet, sx_args_flag(args, "verbose"), &result->out);
    if (!job->found)
        sx_text_add(&result->err, job->summary.stop == SX_STOP_SIGNAL
                                      ? "interrupted before a placement was found\n"
                                      : "no valid placement was found; a larger --evals may help\n");
    else if (job->summary.stop == SX_STOP_SIGNAL && !quiet)
        sx_text_add(&result->err, "note: interrupted; this is the best result so far\n");
    if (!written) return printed;
    sx_status_free(printed);
    return written;
}

/* Plots the placements that searches evaluate (--pca). */
static sx_status plot_placements(const sx_args *args, sx_placement_job *job, sx_output *result) {
    static const char *const others[] = {
        "svg",       "db",    "checkpoint", "addresses",  "require-addresses",
        "evaluator", "noise", "policy",     "save-policy"};
    const char *path = sx_args_text(args, "pca", 0);
    char subject[2 * SX_NAME_SIZE + 8];
    sx_pca_options options = {.run = job->run, .objective = job->objective, .path = path, .subject = subject};
    options.axis = strcmp(job->objective, DEFAULT_OBJECTIVE) == 0 ? "latency (seconds)" : job->objective;
    sx_pca_study study;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (sx_args_flag(args, others[i]))
            return sx_error_new(SX_ERR_USAGE, "--%s cannot be used with --pca", others[i]);
    SX_TRY(sx_file_writable(path));
    snprintf(subject, sizeof subject, "%s on %s", job->in->graph.name, job->in->chip.name);
    if (!options.run.evaluations) options.run.evaluations = DEFAULT_EVALS;
    options.run.cancel = sx_interrupt_catch();
    SX_TRY(sx_pca_of_methods(args, "method", job->space, &options, &study));
    sx_output_to_file(result, sx_args_text(args, "output", 0));
    sx_status status = SX_OK;
    if (sx_args_flag(args, "json"))
        status = sx_json_finish(sx_pca_study_json(&study, path), &result->out);
    else
        sx_pca_study_print(&study, path, &result->out);
    size_t points = 0;
    for (size_t i = 0; i < study.n_seen; i++) points += study.seen[i].n;
    sx_output_exits(result, points ? SX_EXIT_FOUND : SX_EXIT_NONE);
    if (study.interrupted) sx_text_add(&result->err, "note: interrupted; these are the placements so far\n");
    if (!status) {
        status = study.written;
        study.written = SX_OK;
    }
    sx_pca_study_fini(&study);
    return status;
}

/* Reads the inputs, searches, and outputs what was found. A search that resumes does not ask the database:
 * its checkpoint has what that said. */
static sx_status place_input(const sx_args *args, sx_placement_job *job, sx_place_checkpoint *checkpoint,
                             sx_store **store, sx_output *result) {
    const char *db = sx_args_text(args, "db", 0);
    if (args->n_operands)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "unexpected argument '%s'", args->operand[0]),
                             "a graph is given with --graph, a chip with --chip");
    if (sx_args_flag(args, "allocate")) return sx_allocate_file(args, result);
    if (sx_args_flag(args, "capacity"))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--capacity is for --allocate"),
                             "the chip gives the capacities of its memories");
    SX_TRY(read_options(args, job));
    SX_TRY(read_addresses(args, job));
    SX_TRY(make_space(args, job, result->warnings));
    if (sx_args_flag(args, "pca")) return plot_placements(args, job, result);
    SX_TRY(sx_search_writable(args));
    SX_TRY(sx_place_checkpoint_read(sx_args_text(args, "checkpoint", 0), db, sx_args_flag(args, "again"), job,
                                    checkpoint));
    if (db) SX_TRY(sx_store_open(db, store));
    if (db && (!checkpoint->bytes || job->outside))
        SX_TRY(sx_placement_recall(job, *store, sx_args_flag(args, "again")));
    sx_status searched = job->proven_before ? SX_OK : search_placements(args, checkpoint, job, result);
    if (searched && !job->found) return searched;
    if (job->found && job->addresses.align)
        SX_TRY(sx_addresses_find(job->in, job->placement, job->addresses.align, job->run.cancel,
                                 &job->addresses));
    sx_status kept = db && !job->proven_before && job->found ? sx_placement_keep(job, *store) : SX_OK;
    sx_status status = print_placement(args, job, result);
    if (searched) {
        sx_status_free(status);
        status = searched;
    }
    if (!status) return kept;
    sx_status_free(kept);
    return status;
}

static sx_status run_place(const sx_args *args, sx_output *result) {
    sx_store *store = NULL;
    sx_placement_job *job = calloc(1, sizeof *job);
    if (!job) return sx_error_memory();
    sx_place_checkpoint checkpoint = {0};
    sx_status status = place_input(args, job, &checkpoint, &store, result);
    sx_place_checkpoint_fini(&checkpoint);
    sx_placement_job_fini(job);
    free(job);
    sx_store_close(store);
    return status;
}

static const sx_option options[] = {
    SX_ROW_ONCE("graph", 'g', "FILE|NAME", INPUT,
                "the network: a file with `graph:`, an ONNX model, or a name of `sextant list networks`; "
                "bert is bert-base-128"),
    SX_OPTION_BATCH,
    SX_OPTIONS_PHASE,
    SX_OPTION_BYTES,
    SX_OPTION_CHIP('c'),
    SX_ROW_MANY("method", 0, "NAME[:KEY=VALUE,...]", TEXT,
                "search method of `sextant list placers`, with optional settings (" DEFAULT_METHOD ")"),
    SX_ROW_ONCE("policy", 0, "FILE", TEXT,
                "place by a trained policy; with --method egrl or pg: begin from it"),
    SX_ROW_ONCE("save-policy", 0, "FILE", TEXT, "with --method egrl or pg: write the policy to FILE"),
    SX_ROW_ONCE("objective", 0, "NAME", TEXT,
                "objective to minimise, of `sextant list objectives` (" DEFAULT_OBJECTIVE ")"),
    SX_OPTIONS_EVALUATOR,
    SX_ROW_ONCE("noise", 0, "X", NUMBER,
                "measure latencies with log-normal noise of this standard deviation, such as 0.02 (0)"),
    SX_ROW_ONCE("allocate", 0, "FILE", INPUT,
                "give the buffers of a CSV file (id,lower,upper,size) offsets in one memory, and print them "
                "as CSV; no network is placed"),
    SX_ROW_FLAG("addresses", 0,
                "also give every tensor an offset in its memory, so that tensors that live at the same step "
                "do not overlap; the fewest bytes are looked for"),
    SX_ROW_FLAG("require-addresses", 0, "the same, and placements without such offsets are not valid"),
    SX_ROW_ONCE("capacity", 0, "BYTES", COUNT,
                "size of the memory of --allocate (the fewest bytes are looked for)"),
    SX_ROW_ONCE("align", 0, "BYTES", COUNT, "offsets are multiples of BYTES (1)"),
    SX_OPTIONS_BUDGET,
    SX_OPTION_SEED,
    SX_OPTIONS_DATABASE,
    SX_ROW_ONCE("checkpoint", 0, "FILE", TEXT,
                "save the search to FILE now and then, and resume from it; it is removed at the end"),
    SX_ROW_ONCE("checkpoint-seconds", 0, "SECONDS", NUMBER,
                "interval between checkpoints (" SX_TEXT_OF(CHECKPOINT_SECONDS) ")"),
    SX_ROW_ONCE("pca", 0, "FILE", TEXT,
                "instead, plot the placements visited by random draws and by each --method as SVG, projected "
                "onto two principal components"),
    SX_ROW_ONCE("svg", 0, "FILE", TEXT,
                "also draw the memories of all tensors, their use over time, the shift from the compiler's "
                "placement and the speedup against evaluations"),
    SX_OPTION_SET,
    SX_OPTION_INCLUDE_PATH,
    SX_OPTION_NO_CLOCK,
    SX_OPTION_JSON,
    SX_OPTION_OUTPUT,
    SX_ROW_FLAG("verbose", 'v', "show every node"),
    SX_ROW_FLAG("quiet", 'q', "print only the latency, and only errors on standard error"),
    SX_OPTION_HELP,
};

const sx_command sx_command_place = {
    .name = "place",
    .about = "place the tensors of a network in the memories of a chip",
    .usage = "--graph FILE|NAME [--chip FILE|NAME] [--method NAME] [OPTION ...]",
    .details =
        "Each node's weights and output get a memory, so that everything that lives at a step fits and the\n"
        "latency of one inference is least. Speedups are over the placement of a simple compiler. Methods\n"
        "that do not terminate by themselves get " SX_TEXT_OF(
            DEFAULT_EVALS) " evaluations. Ctrl-C stops and reports the best so far.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run_place,
};
