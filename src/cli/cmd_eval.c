#include "base/file.h"
#include "cli/bind.h"
#include "cli/clock.h"
#include "cli/command.h"
#include "cli/fuse.h"
#include "cli/search.h"
#include "input/density.h"
#include "input/set_option.h"
#include "report/cost_svg.h"
#include "report/evaluation.h"
#include "report/evaluation_json.h"
#include "report/explain.h"
#include "report/formats.h"
#include "report/illegal.h"

#include <stdlib.h>
#include <string.h>

/* Steps that --simulate takes unless told otherwise, as a number and as text. */
#define DEFAULT_STEPS 100000000
#define QUOTED(number) #number
#define TEXT_OF(number) QUOTED(number)

/* What --write asks for. */
typedef struct write_request {
    sx_noun noun;
    bool graph; /* no noun of an option of its own */
    bool einsum;
    sx_format format;
} write_request;

static sx_status read_write_request(const char *text, bool json, write_request *out) {
    write_request request = {.format = json ? SX_JSON : SX_YAML};
    size_t length = strcspn(text, ":");
    const char *format = text[length] ? text + length + 1 : NULL;
    request.graph = length == strlen("graph") && strncmp(text, "graph", length) == 0;
    bool known = request.graph;
    for (int i = 0; i <= SX_NOUN_MAPPING && !known; i++) {
        const char *noun = sx_noun_name((sx_noun)i);
        known = strlen(noun) == length && strncmp(text, noun, length) == 0;
        if (known) request.noun = (sx_noun)i;
    }
    if (format && strcmp(format, "json") == 0)
        request.format = SX_JSON;
    else if (format && strcmp(format, "yaml") == 0)
        request.format = SX_YAML;
    else if (format && strcmp(format, "einsum") == 0 && request.noun == SX_NOUN_PROBLEM)
        request.einsum = true;
    else if (format)
        known = false;
    if (!known)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--write: '%s' is not a valid value", text),
            "valid values: arch, problem, graph or mapping, each with :yaml or :json, and problem:einsum");
    *out = request;
    return SX_OK;
}

/* Binds the names of tensors and reads the mapping. */
static sx_status read_bound(sx_sources *sources, sx_evaluation *e, sx_output *result) {
    SX_TRY(sx_bind_problem(sources, &e->arch, &e->problem, result));
    return sx_sources_mapping(sources, &e->problem, &e->arch, &e->mapping);
}

/* Reads a mapping; where it cannot be read and JSON is wanted, says so there too. */
static sx_status read_mapping(sx_sources *sources, bool json, sx_evaluation *e, sx_output *result) {
    sx_status status = read_bound(sources, e, result);
    if (!status || status->code != SX_ERR_INPUT || !json) return status;
    sx_status more = sx_json_unreadable(status, &result->out);
    sx_status_free(more);
    return status;
}

/* Writes the graph of --problem. */
static sx_status write_graph(sx_format format, sx_sources *sources, char **text) {
    sx_graph graph;
    SX_TRY(sx_sources_graph(sources, &graph));
    sx_status status = sx_graph_write(&graph, format, text);
    sx_graph_fini(&graph);
    return status;
}

/* Writes one noun back; reads no more than it takes. */
static sx_status write_noun(const write_request *request, sx_sources *sources, sx_evaluation *e,
                            sx_output *result) {
    char *text = NULL;
    if (request->noun != SX_NOUN_PROBLEM && !request->graph) SX_TRY(sx_sources_arch(sources, &e->arch));
    if (request->noun != SX_NOUN_ARCH) SX_TRY(sx_sources_problem(sources, &e->problem));
    if (request->noun == SX_NOUN_MAPPING) SX_TRY(read_bound(sources, e, result));
    if (request->graph)
        SX_TRY(write_graph(request->format, sources, &text));
    else if (request->einsum)
        SX_TRY(sx_einsum_text(&e->problem, &text));
    else if (request->noun == SX_NOUN_ARCH)
        SX_TRY(sx_arch_write(&e->arch, request->format, &text));
    else if (request->noun == SX_NOUN_PROBLEM)
        SX_TRY(sx_problem_write(&e->problem, request->format, &text));
    else
        SX_TRY(sx_mapping_write(&e->mapping, &e->problem, &e->arch, request->format, &text));
    size_t size = strlen(text);
    sx_text_add(&result->out, "%s%s", text, size && text[size - 1] == '\n' ? "" : "\n");
    free(text);
    return SX_OK;
}

/* Costs the mapping, by the model or by the oracle. */
static sx_status cost_mapping(const sx_args *args, sx_evaluation *e) {
    sx_model *model = NULL;
    sx_model_workspace *workspace = NULL;
    sx_status status = sx_model_new(&e->problem, &e->arch, &e->options, &model);
    if (status) goto done;
    e->minimum = sx_model_minimum(model, e->mapping.level[e->mapping.n_levels - 1].keep);
    if (e->simulated) {
        uint64_t steps = sx_args_count(args, "max-steps", DEFAULT_STEPS);
        status = sx_simulate(&e->problem, &e->arch, &e->mapping, &e->options, steps, &e->verdict, &e->cost);
        if (status && status->code == SX_ERR_LIMIT)
            status = sx_error_hint(status, "raise --max-steps, or simulate a smaller problem");
        goto done;
    }
    status = sx_model_workspace_new(model, &workspace);
    if (status) goto done;
    e->verdict = sx_evaluate(workspace, &e->mapping, &e->cost);
    status = sx_verdict_status(&e->verdict, &e->problem, &e->arch);
done:
    sx_model_workspace_free(workspace);
    sx_model_free(model);
    return status;
}

/* Writes the figure of --svg, where it is given. */
static sx_status write_svg(const sx_args *args, const sx_evaluation *e) {
    const char *path = sx_args_text(args, "svg", 0);
    sx_text svg = {0};
    if (!path) return SX_OK;
    sx_status status = sx_evaluation_svg(e, &svg);
    return sx_file_finish(path, &svg, status);
}

/* Gives out a cost or why there is none. */
static sx_status add_answer(const sx_args *args, const sx_evaluation *e, sx_output *result) {
    bool json = sx_args_flag(args, "json"), explain = sx_args_flag(args, "explain");
    if (e->verdict.reason != SX_LEGAL) {
        sx_output_exits(result, SX_EXIT_NONE);
        sx_illegal_print(e, &result->err);
        return json ? sx_json_illegal(e, &result->out) : SX_OK;
    }
    SX_TRY(write_svg(args, e));
    if (json) return sx_json_cost(e, explain, &result->out);
    bool quiet = sx_args_flag(args, "quiet"), verbose = sx_args_flag(args, "verbose");
    sx_report(e, quiet ? SX_DETAIL_TOTALS : verbose ? SX_DETAIL_ALL : SX_DETAIL_USUAL, &result->out);
    if (explain) sx_explain(e, &result->out);
    return SX_OK;
}

/* Takes the objective of --objective or, where it is none, of a `mapper:` section; one that cannot be read is
 * noted, as it changes no cost. */
static sx_status read_objective(sx_sources *sources, sx_evaluation *e, sx_text *err) {
    char name[256];
    sx_status status = sx_search_objective(sources, &e->objective, name, sizeof name, err);
    e->has_objective = e->objective.n_criteria > 0;
    if (!status && e->objective.network)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "'%s' is the objective of a whole network", name),
                             "leave out 'network-'");
    if (!status || status->code != SX_ERR_INPUT) return status;
    char *text = sx_status_text(status);
    if (!sx_args_flag(sources->args, "quiet")) sx_text_add(err, "note: %s\n", text ? text : "");
    free(text);
    sx_status_free(status);
    return SX_OK;
}

/* Keeps the architecture and chooses the formats of --search-formats, by the objective or, where there is none, by EDP. */
static sx_status choose_formats(const sx_args *args, sx_evaluation *e, sx_arch *given) {
    sx_objective objective = e->objective;
    if (!e->has_objective) SX_TRY(sx_objective_parse("edp", &objective));
    SX_TRY(sx_formats_read(args, &objective, &e->options.formats));
    if (e->options.formats.kinds == 0) return SX_OK;
    *given = e->arch;
    e->given = given;
    return sx_formats_settle(&e->problem, &e->mapping, &e->options, &e->arch);
}

/* Costs a fused mapping of a network. */
static sx_status evaluate_fused(const sx_args *args, sx_sources *sources, sx_evaluation *e,
                                sx_output *result) {
    static const char *const apart[] = {"svg", "search-formats"};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (sx_args_flag(args, apart[i]))
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s is not for a fused mapping", apart[i]),
                                 "leave it out");
    if (!e->has_objective) SX_TRY(sx_objective_parse("edp", &e->objective));
    const uint64_t steps = e->simulated ? sx_args_count(args, "max-steps", DEFAULT_STEPS) : 0;
    SX_TRY(sx_search_notes(args, sources, false, result));
    return sx_fuse_evaluate_given(args, sources, &e->arch, &e->objective, steps, result);
}

/* Reads the nouns, and writes one back or costs the mapping. */
static sx_status evaluate_inputs(const sx_args *args, sx_sources *sources, sx_evaluation *e, sx_arch *given,
                                 sx_output *result) {
    bool json = sx_args_flag(args, "json");
    const char *write = sx_args_text(args, "write", 0), *objective = sx_args_text(args, "objective", 0);
    write_request request = {0};
    if (objective) SX_TRY(sx_objective_parse(objective, &e->objective));
    if (write) SX_TRY(read_write_request(write, json, &request));
    SX_TRY(sx_search_writable(args));
    SX_TRY(sx_sources_load(args, sources));
    if (write) {
        result->plain = true;
        SX_TRY(write_noun(&request, sources, e, result));
        SX_TRY(sx_sources_warnings(sources, result->warnings));
        sx_status status = sx_set_option_check_files(sources, NULL, NULL);
        if (status) sx_text_free(&result->out);
        return status;
    }
    SX_TRY(read_objective(sources, e, &result->err));
    e->simulated = sx_args_flag(args, "simulate");
    e->options = sx_search_model_options(args);
    SX_TRY(sx_sources_arch(sources, &e->arch));
    SX_TRY(sx_clock_apply(args, &e->arch));
    SX_TRY(sx_search_check_latency(args, &e->arch, &e->objective));
    e->energies = sx_sources_energies(sources);
    if (sx_sources_fused(sources)) return evaluate_fused(args, sources, e, result);
    SX_TRY(sx_sources_problem(sources, &e->problem));
    SX_TRY(read_mapping(sources, json, e, result));
    sx_search_semantics(args, &e->problem, &e->arch, &e->options);
    SX_TRY(sx_search_check_sparse(args, &e->arch, result->warnings));
    SX_TRY(sx_search_notes(args, sources, false, result));
    SX_TRY(choose_formats(args, e, given));
    SX_TRY(cost_mapping(args, e));
    return add_answer(args, e, result);
}

/* `sextant eval`. */
static sx_status run_eval(const sx_args *args, sx_output *result) {
    sx_sources sources = {0};
    sx_evaluation *e = calloc(1, sizeof *e + sizeof *e->given);
    if (!e) return sx_error_memory();
    sx_output_to_file(result, sx_args_text(args, "output", 0));
    sx_status status = evaluate_inputs(args, &sources, e, (sx_arch *)(e + 1), result);
    sx_sources_fini(&sources);
    free(e);
    return status;
}

static const sx_option options[] = {
    SX_OPTION_ARCH,
    SX_OPTION_PROBLEM,
    SX_OPTION_MAPPING,
    SX_OPTION_BIND,
    SX_OPTIONS_FILES,
    SX_ROW_FLAG("explain", 'e',
                "explain the counts: what each level reuses or refetches, and which loops cause it"),
    SX_OPTION_CLOCK,
    SX_OPTION_SVG_COST,
    SX_OPTION_OBJECTIVE,
    SX_OPTIONS_MODEL,
    SX_OPTION_LATENCY,
    SX_OPTIONS_FORMATS,
    SX_ROW_FLAG("simulate", 0, "count accesses by simulating every iteration: slow, for small problems"),
    SX_ROW_ONCE("max-steps", 0, "N", COUNT,
                "maximum number of steps of --simulate (" TEXT_OF(DEFAULT_STEPS) ")"),
    SX_ROW_ONCE(
        "write", 'w', "NOUN[:FORMAT]", TEXT,
        "only read and write arch, problem, graph or mapping, as yaml or json; a problem also as einsum"),
    SX_OPTION_BATCH,
    SX_OPTIONS_PHASE,
    SX_OPTION_TRAINING,
    SX_OPTION_TRAINING_STEP,
    SX_OPTION_JSON,
    SX_OPTION_OUTPUT,
    SX_OPTION_VERBOSE,
    SX_OPTION_QUIET,
    SX_OPTION_HELP,
};

const sx_command sx_command_eval = {
    .name = "eval",
    .about = "evaluate a given mapping, level by level, with explanations",
    .usage =
        "[FOLDER|FILE ...] [--arch FILE|NAME] [--problem FILE|EINSUM|NAME] [--mapping FILE] [OPTION ...]",
    .details = SX_HELP_FILES
    "A file may hold several sections (architecture, problem, mapping): a section that no option gives "
    "is\nlooked up in the files of the other options.\n"
    "Counts are those of Timeloop's master branch of March 2025 (4cf6d4c); docs/model.md says what older\n"
    "versions count differently.\n",
    .exits = {[SX_EXIT_FOUND] = "success",
              [SX_EXIT_NONE] =
                  "the mapping is illegal; the reason is given, with --json as {\"legal\": false, ...}"},
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run_eval,
};
