/* `sextant codesign`: memory sizes and array shapes together with the mappings. */
#include "base/choice.h"
#include "base/file.h"
#include "cli/bind.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/search.h"
#include "report/codesign.h"

#include <stdio.h>
#include <stdlib.h>

/* Evaluations of a layer on a design where a mapper has no end of its own and no budget is given. */
#define DEFAULT_EVALS 10000
#define DEFAULT_MAPPER "sunstone"
#define DEFAULT_METHOD SX_CODESIGN_AUTO

/* What the callbacks need. */
typedef struct watcher {
    sx_progress_line line;
    sx_sources *sources;
    const sx_codesign_job *job;
} watcher;

static sx_status constraints_of(void *user, const sx_problem *problem, const sx_arch *arch,
                                sx_constraints *out) {
    return sx_sources_constraints(((watcher *)user)->sources, problem, arch, out);
}

static void show_progress(void *user, const sx_progress *progress) {
    sx_progress_show(&((watcher *)user)->line, progress);
}

static void search_begins(void *user, size_t design, size_t layer) {
    watcher *w = user;
    sx_text settings = {0};
    if (!w->line.on) return;
    sx_codesign_settings(w->job, design, &settings);
    sx_progress_title(&w->line, "%zu/%zu %s: %s", design + 1, sx_designs_count(w->job->designs),
                      settings.data ? settings.data : "", w->job->network.layer[layer].name);
    sx_text_free(&settings);
}

/* Reads --method; options of Sunstone-arch choose it where no method is named. */
static sx_status read_method(const sx_args *args, sx_codesign_method *out) {
    const char *text = sx_args_text(args, "method", 0);
    bool sunstone = sx_args_flag(args, "apart") || sx_args_flag(args, "plus");
    size_t method = sunstone ? SX_CODESIGN_SUNSTONE : DEFAULT_METHOD;
    if (text) SX_TRY(sx_choice_read("--method", text, "auto, grid, sunstone-arch, exact", &method));
    *out = (sx_codesign_method)method;
    return SX_OK;
}

/* Refuses options that belong to another method. */
static sx_status check_method(const sx_args *args, sx_codesign_method method) {
    if (sx_args_flag(args, "mapper") && method != SX_CODESIGN_GRID)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--mapper needs --method grid"),
                             "the other methods use their own mappers");
    if (sx_args_flag(args, "apart") && method != SX_CODESIGN_SUNSTONE)
        return sx_error_new(SX_ERR_USAGE, "--apart needs --method sunstone-arch");
    if (sx_args_flag(args, "plus") && method != SX_CODESIGN_SUNSTONE)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--plus needs --method sunstone-arch"),
                             "with --method grid, use --mapper sunstone:plus=on");
    return SX_OK;
}

/* Reads the options that decide the search. */
static sx_status read_options(const sx_args *args, sx_codesign_job *job) {
    sx_codesign_options *o = &job->options;
    const char *mapper = sx_args_text(args, "mapper", 0);
    SX_TRY(read_method(args, &o->method));
    SX_TRY(check_method(args, o->method));
    bool grid = o->method == SX_CODESIGN_GRID;
    if (!mapper) mapper = DEFAULT_MAPPER;
    if (grid) SX_TRY(sx_navigator_text(mapper, "map", &job->mapper));
    uint64_t evaluations = grid && !sx_navigator_complete(mapper) ? DEFAULT_EVALS : 0;
    SX_TRY(sx_search_run_options(args, evaluations, &o->run));
    o->mapper = job->mapper;
    o->front = sx_args_flag(args, "pareto");
    o->apart = sx_args_flag(args, "apart");
    o->plus = sx_args_flag(args, "plus");
    o->space = sx_search_space_options(args);
    o->model = sx_search_model_options(args);
    if (o->space.remainders && sx_args_flag(args, "no-remainders"))
        return sx_error_new(SX_ERR_USAGE, "--remainders and --no-remainders contradict each other");
    o->widen = o->method == SX_CODESIGN_AUTO && !o->space.remainders && !o->space.split_axes &&
               !sx_args_flag(args, "no-remainders");
    job->clock = !sx_args_flag(args, "no-clock");
    job->area_budget = sx_args_number(args, "area-budget", 0);
    if (sx_args_flag(args, "area-budget") && job->area_budget <= 0)
        return sx_error_new(SX_ERR_USAGE, "--area-budget is %g; it must be above 0 (um^2)", job->area_budget);
    return SX_OK;
}

/* Reads what may be chosen. */
static sx_status read_choices(const sx_args *args, sx_codesign_job *job) {
    const char *text;
    SX_TRY(sx_choices_new(&job->choices));
    for (size_t i = 0; (text = sx_args_text(args, "choices", i)); i++)
        SX_TRY(sx_choices_add_file(job->choices, text));
    for (size_t i = 0; (text = sx_args_text(args, "choose", i)); i++)
        SX_TRY(sx_choices_add(job->choices, text));
    return sx_designs_new(&job->base, job->choices, job->area_budget, &job->designs);
}

/* Writes the best architecture. */
static sx_status write_arch(const sx_codesign_job *job, const char *path, sx_output *result) {
    char *text = NULL;
    sx_arch *arch = malloc(sizeof *arch);
    if (!arch) return sx_error_memory();
    sx_designs_arch(job->designs, job->result.best, arch);
    sx_status status = sx_arch_write(arch, SX_YAML, &text);
    if (!status) status = sx_output_write(result, path, text);
    free(text);
    free(arch);
    return status;
}

static sx_status write_svg(const sx_codesign_job *job, const char *path) {
    sx_text svg = {0};
    sx_status status = sx_codesign_svg(job, &svg);
    return sx_file_finish(path, &svg, status);
}

/* Why no design was found. */
static const char *why_none(const sx_codesign_result *r) {
    if (r->none) return "no design has a legal mapping of every layer";
    if (r->stop == SX_STOP_SIGNAL) return "interrupted before any design had a mapping for every layer";
    if (r->stop == SX_STOP_TIME)
        return "no design with a legal mapping of every layer was found within the time limit; there may be "
               "one";
    return "no design with a legal mapping of every layer was found; the search was not exhaustive, and "
           "there "
           "may be one (--method exact decides it)";
}

/* Outputs the result, also where a file cannot be written. */
static sx_status print_result(const sx_args *args, const sx_codesign_job *job, sx_output *result) {
    const char *output = sx_args_text(args, "output", 0), *svg = sx_args_text(args, "svg", 0);
    const sx_codesign_result *r = &job->result;
    bool json = sx_args_flag(args, "json");
    sx_output_exits(result, r->found ? SX_EXIT_FOUND : SX_EXIT_NONE);
    sx_status written = r->found && svg ? write_svg(job, svg) : SX_OK;
    sx_status printed = SX_OK;
    if (json) {
        sx_output_to_file(result, output);
        printed = sx_codesign_json(job, &result->out);
    } else if (r->found) {
        sx_codesign_print(job, sx_args_flag(args, "quiet"), sx_args_flag(args, "verbose"), &result->out);
    } else {
        sx_text_add(&result->err, "%s\n", why_none(r));
    }
    if (r->found && output && !json) {
        sx_status also = write_arch(job, output, result);
        if (written)
            sx_status_free(also);
        else
            written = also;
    }
    if (!written) return printed;
    sx_status_free(printed);
    return written;
}

/* Reads the inputs, searches, and outputs the result. */
static sx_status search_designs(const sx_args *args, sx_sources *sources, sx_codesign_job *job,
                                sx_output *result) {
    watcher w = {.sources = sources, .job = job};
    SX_TRY(read_options(args, job));
    SX_TRY(sx_sources_load(args, sources));
    SX_TRY(sx_search_objective(sources, &job->options.run.objective, job->objective, sizeof job->objective,
                               &result->err));
    SX_TRY(sx_sources_arch(sources, &job->base));
    SX_TRY(sx_search_check_latency(sources->args, &job->base, &job->options.run.objective));
    job->energies = sx_sources_energies(sources);
    SX_TRY(sx_sources_layers(sources, &job->network));
    SX_TRY(read_choices(args, job));
    SX_TRY(sx_bind_network(sources, &job->base, job->designs, &job->network, result));
    sx_search_network_semantics(args, &job->network, &job->base, &job->options.model);
    SX_TRY(sx_search_check_sparse(args, &job->base, result->warnings));
    sx_search_foresee(sources, &job->network, &job->base);
    SX_TRY(sx_search_notes(args, sources, true, result));
    SX_TRY(sx_search_writable(args));
    sx_progress_begin(&w.line, args);
    job->options.run.cancel = sx_interrupt_catch();
    job->options.run.progress = w.line.on ? show_progress : NULL;
    job->options.constraints = constraints_of;
    job->options.begins = search_begins;
    job->options.user = &w;
    sx_status status = sx_codesign_run(job->designs, &job->network, &job->options, &job->result);
    sx_progress_end(&w.line);
    if (status || sx_ranks_follows(args->ranks)) return status;
    if (!job->result.complete && job->result.found && !sx_args_flag(args, "quiet"))
        sx_text_add(&result->err, "note: %s; this is the best result so far\n",
                    job->result.stop == SX_STOP_TIME ? "stopped by the time limit" : "interrupted");
    return print_result(args, job, result);
}

/* `sextant codesign`. */
static sx_status run_codesign(const sx_args *args, sx_output *result) {
    sx_sources sources = {0};
    sx_codesign_job *job = calloc(1, sizeof *job);
    if (!job) return sx_error_memory();
    sx_status status = search_designs(args, &sources, job, result);
    sx_codesign_result_fini(&job->result);
    sx_designs_free(job->designs);
    sx_choices_free(job->choices);
    sx_network_fini(&job->network);
    sx_sources_fini(&sources);
    free(job->mapper);
    free(job);
    return status;
}

static const sx_option options[] = {
    SX_OPTION_ARCH,
    SX_OPTIONS_NETWORK,
    SX_OPTION_CONSTRAINTS,
    SX_OPTION_BIND,
    SX_OPTIONS_FILES,
    SX_ROW_MANY("choices", 0, "FILE", INPUT,
                "choices: memory sizes, array shapes, energies and areas by size, limits"),
    SX_ROW_MANY("choose", 0, "NAME=LIST", TEXT,
                "one choice: L1=64,128 or L1=8..128 (words), L1/Weights=8,16 (part of a level that is split "
                "by tensor), array=16x16,8x32; repeatable"),
    SX_ROW_ONCE("area-budget", 0, "UM2", NUMBER,
                "maximum area of memories and compute units together, in square micrometres"),
    SX_ROW_ONCE("method", 0, "NAME", TEXT, "auto, grid, sunstone-arch or exact (auto)"),
    SX_ROW_ONCE("mapper", 0, "NAME[:KEY=VALUE,...]", TEXT,
                "with --method grid: a mapper of `sextant list mappers` (" DEFAULT_MAPPER ")"),
    SX_ROW_FLAG("pareto", 0,
                "do not prune designs that may be on the Pareto front of area and objective, so that the "
                "front is complete"),
    SX_ROW_FLAG(
        "plus", 0,
        "with --method sunstone-arch: search the designs that were not pruned again with sunstone:plus=on"),
    SX_ROW_FLAG("apart", 0, "with --method sunstone-arch: do not prune designs by results on other designs"),
    SX_OPTION_MINIMISE,
    SX_OPTION_EVALS,
    SX_OPTION_TIME,
    SX_OPTION_PATIENCE,
    SX_OPTION_THREADS,
    SX_OPTION_SEED,
    SX_OPTIONS_SPACE,
    SX_ROW_FLAG("no-remainders", 0,
                "do not search the chosen design with tiles that leave remainders, as --method auto does"),
    SX_OPTION_SPLIT_AXES,
    SX_OPTIONS_MODEL,
    SX_OPTION_LATENCY,
    SX_ROW_ONCE("svg", 0, "FILE", TEXT,
                "also plot area against objective of the designs, with their Pareto front"),
    SX_OPTION_NO_CLOCK,
    SX_OPTION_JSON,
    SX_ROW_ONCE("output", 'o', "FILE", TEXT,
                "write the chosen architecture to FILE, for --arch; with --json, the JSON"),
    SX_ROW_FLAG("verbose", 'v', "also list every design and its outcome"),
    SX_OPTION_QUIET,
    SX_OPTION_HELP,
};

const sx_command sx_command_codesign = {
    .name = "codesign",
    .about = "choose memory sizes and array shapes together with the mappings",
    .usage = "[FOLDER|FILE ...] [--arch FILE|NAME] [--problem FILE|EINSUM|NAME ...] --choices FILE|--choose "
             "NAME=LIST ... [OPTION ...]",
    .details = SX_HELP_FILES
    "A design takes one value of each choice; its cost is the sum over layers of objective times count.\n"
    "  auto           gives every design a quick answer and a bound, then searches the promising ones with\n"
    "                 the mapper optimal within a budget; proves the best design where that suffices\n"
    "  grid           runs a mapper on every design\n"
    "  sunstone-arch  visits every tile once, with the smallest memories that hold it\n"
    "  exact          proves the best design, or gives a lower bound and a gap\n"
    "--time applies to the whole command, other budgets to each layer on each design; mappers that do not\n"
    "terminate by themselves get " SX_TEXT_OF(
        DEFAULT_EVALS) " evaluations. Mappings that are known to be poor are marked.\n"
                       "Ctrl-C stops and reports the best so far. docs/codesign.md describes the choices "
                       "file.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .divided = true,
    .run = run_codesign,
};
