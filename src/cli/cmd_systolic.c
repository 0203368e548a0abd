/* `sextant systolic`: tune a systolic array. */
#include "base/file.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/search.h"
#include "cli/systolic_options.h"
#include "input/set_option.h"
#include "report/systolic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Evaluations of a search where the method does not terminate by itself and no budget is given. */
#define DEFAULT_EVALS 100000
#define DEFAULT_METHOD "exact"

/* Reads --method, refusing one that searches other spaces. */
static sx_status read_method(const sx_args *args, sx_systolic_job *job) {
    const char *method = sx_args_text(args, "method", 0);
    if (!method) method = DEFAULT_METHOD;
    job->asked = method;
    SX_TRY(sx_navigator_text(method, "systolic", &job->method));
    const char *space = sx_navigator_space(method);
    if (space && strcmp(space, "systolic") != 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE,
                                          "--method %.*s searches mappings, not systolic arrays",
                                          (int)strcspn(method, ":"), method),
                             "`sextant list methods` lists those that do");
    return SX_OK;
}

/* Reads the options that decide the search. */
static sx_status read_options(const sx_args *args, sx_systolic_job *job) {
    SX_TRY(sx_systolic_read_array(args, job));
    SX_TRY(read_method(args, job));
    SX_TRY(sx_search_run_options(args, sx_navigator_complete(job->method) ? 0 : DEFAULT_EVALS, &job->run));
    if (!sx_args_flag(args, "objective"))
        SX_TRY(sx_objective_parse(SX_SYSTOLIC_OBJECTIVE, &job->run.objective));
    sx_objective_text(&job->run.objective, job->objective, sizeof job->objective);
    job->clock = !sx_args_flag(args, "no-clock");
    return SX_OK;
}

/* Reads the problem or the layers. */
static sx_status read_problems(const sx_args *args, sx_sources *sources, sx_systolic_job *job, sx_text *err) {
    sx_network network = {0};
    SX_TRY(sx_sources_load(args, sources));
    SX_TRY(sx_sources_layers(sources, &network));
    if (!network.name[0]) snprintf(network.name, sizeof network.name, "%zu layers", network.n_layers);
    sx_status status = sx_systolic_job_layers(job, &network, sx_args_flag(args, "quiet"), err);
    sx_network_fini(&network);
    return status;
}

static sx_status write_svg(const sx_systolic_job *job, const char *path) {
    sx_text svg = {0};
    sx_status status = sx_systolic_svg(job, &svg);
    return sx_file_finish(path, &svg, status);
}

/* Outputs the result, also where the figure cannot be written. */
static sx_status print_result(const sx_args *args, const sx_systolic_job *job, sx_output *result) {
    const char *svg = sx_args_text(args, "svg", 0);
    bool any = sx_systolic_any_found(job), quiet = sx_args_flag(args, "quiet");
    result->incomplete = job->interrupted || job->late;
    sx_output_exits(result,
                    sx_systolic_all_found(job) || (any && result->incomplete) ? SX_EXIT_FOUND : SX_EXIT_NONE);
    sx_output_to_file(result, sx_args_text(args, "output", 0));
    sx_status written = any && svg ? write_svg(job, svg) : SX_OK, printed = SX_OK;
    if (sx_args_flag(args, "json"))
        printed = sx_systolic_json(job, &result->out);
    else if (any)
        printed = sx_systolic_job_print(job, quiet, sx_args_flag(args, "verbose"), &result->out);
    if (!printed && any && result->incomplete && !quiet)
        sx_text_add(&result->err, "note: %s; this is the best result so far\n",
                    job->interrupted ? "interrupted" : "stopped by the time limit");
    if (!printed && !any && job->interrupted)
        sx_text_add(&result->err, "interrupted before an array was found\n");
    else if (!printed && result->exit == SX_EXIT_NONE)
        printed = sx_systolic_job_why(job, &result->err);
    if (!written) return printed;
    sx_status_free(printed);
    return written;
}

/* Reads the inputs, searches, and outputs the result. */
static sx_status tune_design(const sx_args *args, sx_sources *sources, sx_systolic_job *job, sx_store **store,
                             sx_output *result) {
    const char *db = sx_args_text(args, "db", 0);
    SX_TRY(read_options(args, job));
    SX_TRY(read_problems(args, sources, job, &result->err));
    SX_TRY(sx_search_notes(args, sources, true, result));
    SX_TRY(sx_search_writable(args));
    if (sx_ranks_follows(args->ranks)) db = NULL;
    if (db) SX_TRY(sx_store_open(db, store));
    job->store = *store;
    job->again = sx_args_flag(args, "again");
    sx_progress_line line;
    sx_progress_begin(&line, args);
    job->run.cancel = sx_interrupt_catch();
    job->run.progress = sx_progress_show;
    job->begins = sx_progress_begins;
    job->run.user = job->user = &line;
    sx_status status = sx_systolic_job_search(job);
    sx_progress_end(&line);
    if (status || sx_ranks_follows(args->ranks)) return status;
    status = print_result(args, job, result);
    if (status || !job->unkept) return status;
    status = job->unkept;
    job->unkept = NULL;
    return status;
}

/* Costs the points of a file. */
static sx_status eval_points(const sx_args *args, const char *path, sx_output *result) {
    static const char *const others[] = {
        "problem",   "batch", "training", "training-step", "design",   "method", "tiles", "thin", "min-dsp",
        "objective", "evals", "time",     "target",        "patience", "seed",   "svg",   "db",   "again"};
    sx_systolic_options options = {
        .element = sx_args_text(args, "type", 0), .corrected = sx_args_flag(args, "corrected"), .thin = true};
    sx_device device;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (sx_args_flag(args, others[i]))
            return sx_error_hint(sx_error_new(SX_ERR_USAGE,
                                              "--%s cannot be used with --eval, which does not search",
                                              others[i]),
                                 "the lines of the file give problems, designs and tiles");
    if (args->n_operands)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "unexpected argument '%s'", args->operand[0]),
                             "a problem is given with --problem, a device with --device");
    SX_TRY(sx_set_option_check(args));
    SX_TRY(sx_systolic_read_device(args, &device));
    const sx_element *element;
    SX_TRY(sx_device_element(&device, options.element, &element));
    SX_TRY(sx_search_writable(args));
    sx_output_to_file(result, sx_args_text(args, "output", 0));
    return sx_systolic_eval(path, &device, &options, sx_args_flag(args, "json"), &result->out);
}

/* `sextant systolic`. */
static sx_status run_systolic(const sx_args *args, sx_output *result) {
    const char *points = sx_args_text(args, "eval", 0);
    if (points) return eval_points(args, points, result);
    sx_sources sources = {0};
    sx_store *store = NULL;
    sx_systolic_job *job = calloc(1, sizeof *job);
    if (!job) return sx_error_memory();
    sx_status status = tune_design(args, &sources, job, &store, result);
    sx_systolic_job_free(job);
    sx_store_close(store);
    sx_sources_fini(&sources);
    return status;
}

static const sx_option options[] = {
    SX_OPTIONS_NETWORK,
    SX_OPTIONS_FILES,
    SX_OPTION_DEVICE,
    SX_OPTIONS_ARRAY,
    SX_ROW_ONCE("method", 0, "NAME[:KEY=VALUE,...]", TEXT,
                "search method of `sextant list methods`, with optional settings (" DEFAULT_METHOD ")"),
    SX_ROW_ONCE("objective", 0, "NAME", TEXT,
                "objective to minimise, of `sextant list objectives`; energies are relative to one "
                "multiply-accumulate (" SX_SYSTOLIC_OBJECTIVE ")"),
    SX_OPTIONS_BUDGET,
    SX_OPTION_SEED,
    SX_OPTIONS_DATABASE,
    SX_ROW_ONCE("eval", 0, "FILE", INPUT,
                "do not search: evaluate the points of FILE (- for standard input), one line of JSON each"),
    SX_ROW_ONCE("svg", 0, "FILE", TEXT, "also plot the throughput of the designs, or of the layers"),
    SX_OPTION_NO_CLOCK,
    SX_OPTION_JSON,
    SX_OPTION_OUTPUT,
    SX_ROW_FLAG("verbose", 'v', "also show how long each part of the array is busy"),
    SX_ROW_FLAG("quiet", 'q', "print only the best, and only errors on standard error"),
    SX_OPTION_HELP,
};

const sx_command sx_command_systolic = {
    .name = "systolic",
    .about = "tune a systolic array on an FPGA for a problem, or for the layers of a network",
    .usage = "--problem IxJxK|FILE|EINSUM|NAME|NETWORK[/LAYER] [--device NAME|FILE] [OPTION ...]",
    .details =
        "For one problem, every design is searched separately and the best is explained. For a network, "
        "or\nseveral problems, the best array for each layer is searched, and one array that runs all of "
        "them.\n--time applies to the whole command, other budgets to each search;\nmethods that do not "
        "terminate by themselves get " SX_TEXT_OF(
            DEFAULT_EVALS) " evaluations. Ctrl-C stops\nand reports the best so far. Designs are numbered as "
                           "in Odyssey (DAC 2023).\nA line of --eval is {\"family\": \"mm\", \"problem\": "
                           "{\"i\": 64, \"j\": 64, \"k\": 64}, \"design\": \"3_2\",\n\"tiles\": {\"i_t1\": "
                           "16, \"i_t2\": 4, ...}}, family conv with i, o, r, c, p, q, or {\"einsum\": "
                           "\"...\", ...}.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .divided = true,
    .run = run_systolic,
};
