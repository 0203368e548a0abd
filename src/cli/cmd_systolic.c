/* `sextant systolic`: tune a systolic array. */
#include "base/file.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/search.h"
#include "report/systolic.h"
#include "run/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Evaluations of a search where the method has no end of its own and no budget is given. */
#define DEFAULT_EVALS 100000
#define PAD_TO 64
#define DEFAULT_DEVICE "u250"
#define DEFAULT_METHOD "exact"
#define DEFAULT_OBJECTIVE "delay"

/* Reads --device: a file, which has a point or a slash in its name or is there, or a name of the catalog. */
static sx_status read_device(const sx_args *args, sx_device *out) {
    const char *value = sx_args_text(args, "device", 0);
    struct stat info;
    if (!value) value = DEFAULT_DEVICE;
    bool file = strpbrk(value, "./") || stat(value, &info) == 0;
    return file ? sx_device_read(value, out) : sx_catalog_device(value, out);
}

/* Reads --tiles. Where any tile is allowed, short loops may be padded until they hide the latency of adding.
 */
static sx_status read_tiles(const char *text, sx_systolic_options *out) {
    static const char *const names[] = {
        [SX_TILES_PADDED] = "padded", [SX_TILES_FULL] = "full", [SX_TILES_DIVISORS] = "divisors"};
    if (!text) text = names[SX_TILES_FULL];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            out->tiles = (sx_systolic_tiles)i;
            out->pad_to = i == SX_TILES_FULL ? PAD_TO : 0;
            return SX_OK;
        }
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--tiles: '%s' is not a valid value", text),
                         "valid values: full, padded, divisors");
}

/* Reads --device, --type, --corrected, --thin, --tiles and --min-dsp. */
static sx_status read_array(const sx_args *args, sx_systolic_job *job) {
    sx_systolic_options *o = &job->options;
    SX_TRY(read_device(args, &job->device));
    o->element = sx_args_text(args, "type", 0);
    SX_TRY(sx_device_element(&job->device, o->element, &job->element));
    o->corrected = sx_args_flag(args, "corrected");
    o->thin = sx_args_flag(args, "thin");
    SX_TRY(read_tiles(sx_args_text(args, "tiles", 0), o));
    o->least_dsp = sx_args_number(args, "min-dsp", 0);
    if (o->least_dsp >= 0 && o->least_dsp <= 1) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--min-dsp: %g is not a valid value", o->least_dsp),
                         "give the share of the usable DSP blocks, from 0 to 1");
}

/* Reads --method, refusing one that searches other spaces. */
static sx_status read_method(const sx_args *args, sx_systolic_job *job) {
    const char *method = sx_args_text(args, "method", 0);
    if (!method) method = DEFAULT_METHOD;
    job->asked = method;
    SX_TRY(sx_navigator_text(method, &job->method));
    const char *space = sx_navigator_space(method);
    if (space && strcmp(space, "systolic") != 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE,
                                          "--method %.*s searches mappings, not systolic arrays",
                                          (int)strcspn(method, ":"), method),
                             "`sextant list methods` lists those that do");
    return SX_OK;
}

/* Reads --design: names, where "all" is none. */
static sx_status read_designs(const sx_args *args, sx_systolic_job *job) {
    const char *name;
    size_t n = 0;
    bool all = false;
    for (; (name = sx_args_text(args, "design", n)); n++) all |= strcmp(name, "all") == 0;
    if (n == 0 || all) return SX_OK;
    job->design_name = calloc(n, sizeof *job->design_name);
    if (!job->design_name) return sx_error_memory();
    for (; job->n_names < n; job->n_names++)
        job->design_name[job->n_names] = sx_args_text(args, "design", job->n_names);
    return SX_OK;
}

/* Reads the options that decide the search. */
static sx_status read_options(const sx_args *args, sx_systolic_job *job) {
    SX_TRY(read_array(args, job));
    SX_TRY(read_method(args, job));
    SX_TRY(read_designs(args, job));
    SX_TRY(sx_search_run_options(args, sx_navigator_complete(job->method) ? 0 : DEFAULT_EVALS, &job->run));
    if (!sx_args_flag(args, "objective")) SX_TRY(sx_objective_parse(DEFAULT_OBJECTIVE, &job->run.objective));
    sx_objective_text(&job->run.objective, job->objective, sizeof job->objective);
    job->clock = !sx_args_flag(args, "no-clock");
    return SX_OK;
}

/* Reads the problem or the layers. */
static sx_status read_problems(const sx_args *args, sx_sources *sources, sx_systolic_job *job, sx_text *err) {
    sx_network network = {0};
    SX_TRY(sx_sources_load(args, sources));
    SX_TRY(sx_args_text(args, "problem", 1) ? sx_sources_problems(sources, &network)
                                            : sx_sources_network(sources, &network));
    if (!network.name[0]) snprintf(network.name, sizeof network.name, "%zu layers", network.n_layers);
    sx_status status = sx_systolic_job_layers(job, &network, sx_args_flag(args, "quiet"), err);
    sx_network_fini(&network);
    return status;
}

static sx_status write_svg(const sx_systolic_job *job, const char *path) {
    sx_text svg = {0};
    sx_status status = sx_systolic_svg(job, &svg);
    if (!status) status = sx_file_write(path, svg.data, svg.size);
    sx_text_free(&svg);
    return status;
}

/* Gives out what was found, also where the figure cannot be written. */
static sx_status answer(const sx_args *args, const sx_systolic_job *job, sx_output *result) {
    const char *svg = sx_args_text(args, "svg", 0);
    bool any = sx_systolic_any_found(job), quiet = sx_args_flag(args, "quiet");
    result->exit =
        sx_systolic_all_found(job) || (any && (job->interrupted || job->late)) ? SX_EXIT_FOUND : SX_EXIT_NONE;
    sx_output_to_file(result, sx_args_text(args, "output", 0));
    sx_status written = any && svg ? write_svg(job, svg) : SX_OK, printed = SX_OK;
    if (sx_args_flag(args, "json"))
        printed = sx_systolic_json(job, &result->out);
    else if (any)
        printed = sx_systolic_job_print(job, quiet, sx_args_flag(args, "verbose"), &result->out);
    if (!printed && any && (job->interrupted || job->late) && !quiet)
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

/* Reads the inputs, searches, and gives out what was found. */
static sx_status tune(const sx_args *args, sx_sources *sources, sx_systolic_job *job, sx_output *result) {
    SX_TRY(read_options(args, job));
    SX_TRY(read_problems(args, sources, job, &result->err));
    sx_search_notes(args, sources, &result->err);
    SX_TRY(sx_search_writable(args));
    sx_progress_line line;
    sx_progress_begin(&line, args);
    job->run.cancel = sx_interrupt_catch();
    job->run.progress = sx_progress_show;
    job->begins = sx_progress_begins;
    job->run.user = job->user = &line;
    sx_status status = sx_systolic_job_search(job);
    sx_progress_end(&line);
    SX_TRY(status);
    return answer(args, job, result);
}

/* Costs the points of a file. */
static sx_status eval(const sx_args *args, const char *path, sx_output *result) {
    static const char *const others[] = {"problem", "batch",  "training", "design",    "method",
                                         "tiles",   "thin",   "min-dsp",  "objective", "evals",
                                         "time",    "target", "patience", "seed",      "svg"};
    sx_systolic_options options = {
        .element = sx_args_text(args, "type", 0), .corrected = sx_args_flag(args, "corrected"), .thin = true};
    sx_device device;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (sx_args_flag(args, others[i]))
            return sx_error_hint(sx_error_new(SX_ERR_USAGE,
                                              "--%s cannot be used with --eval, which does not search",
                                              others[i]),
                                 "the lines of the file give problems, designs and tiles");
    if (args->n_operands) return sx_error_new(SX_ERR_USAGE, "unexpected argument '%s'", args->operand[0]);
    SX_TRY(read_device(args, &device));
    const sx_element *element;
    SX_TRY(sx_device_element(&device, options.element, &element));
    SX_TRY(sx_search_writable(args));
    sx_output_to_file(result, sx_args_text(args, "output", 0));
    return sx_systolic_eval(path, &device, &options, &result->out);
}

/* `sextant systolic`. */
static sx_status run(const sx_args *args, sx_output *result) {
    const char *points = sx_args_text(args, "eval", 0);
    if (points) return eval(args, points, result);
    sx_sources sources = {0};
    sx_systolic_job *job = calloc(1, sizeof *job);
    if (!job) return sx_error_memory();
    sx_status status = tune(args, &sources, job, result);
    sx_systolic_job_free(job);
    sx_sources_fini(&sources);
    return status;
}

static const sx_option options[] = {
    SX_OPTIONS_NETWORK,
    SX_OPTIONS_FILES,
    {"device", 'd', "NAME|FILE", SX_OPTION_TEXT, false,
     "the device: a name of `sextant list devices`, or a file that describes one (" DEFAULT_DEVICE ")"},
    {"type", 0, "NAME", SX_OPTION_TEXT, false, "data type, one of the device's (its first)"},
    {"design", 0, "NAME", SX_OPTION_TEXT, true,
     "a design such as 3_2, DATAFLOW_PERMUTATION; repeatable (all)"},
    {"method", 0, "NAME[:KEY=VALUE,...]", SX_OPTION_TEXT, false,
     "search method of `sextant list methods`, with optional settings (" DEFAULT_METHOD ")"},
    {"tiles", 0, "SPACE", SX_OPTION_TEXT, false,
     "first-level tiles: full (any, short loops padded up to " SX_TEXT_OF(
         PAD_TO) " steps), padded (as in the paper: those of the SIMD loop divide it) or divisors (full)"},
    {"thin", 0, NULL, SX_OPTION_FLAG, false, "allow two-dimensional arrays with a side of 1"},
    {"corrected", 0, NULL, SX_OPTION_FLAG, false, "use the corrected model instead of the published one"},
    {"min-dsp", 0, "SHARE", SX_OPTION_NUMBER, false,
     "minimum share of the usable DSP blocks that a design uses (0)"},
    {"objective", 0, "NAME", SX_OPTION_TEXT, false,
     "objective to minimise, of `sextant list objectives`; energies are relative to one multiply-accumulate "
     "(" DEFAULT_OBJECTIVE ")"},
    SX_OPTIONS_BUDGET,
    SX_OPTION_SEED,
    {"eval", 0, "FILE", SX_OPTION_TEXT, false,
     "do not search: evaluate the points of FILE (- for standard input), one line of JSON each"},
    {"svg", 0, "FILE", SX_OPTION_TEXT, false, "also plot the throughput of the designs, or of the layers"},
    SX_OPTION_NO_CLOCK,
    SX_OPTION_JSON,
    SX_OPTION_OUTPUT,
    {"verbose", 'v', NULL, SX_OPTION_FLAG, false, "also show how long each part of the array is busy"},
    {"quiet", 'q', NULL, SX_OPTION_FLAG, false, "print only the best, and only errors on standard error"},
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
    .run = run,
};
