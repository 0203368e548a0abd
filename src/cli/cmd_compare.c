/* `sextant compare`: several mappers under the same budget. */
#include "base/file.h"
#include "cli/bind.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/search.h"
#include "report/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Evaluations and seeds where none are named, as numbers and as text. */
#define DEFAULT_EVALS 10000
#define DEFAULT_SEEDS 5

enum { MAX_SEEDS = 10000, DIAGNOSED = 10000 };

static sx_status bad_seeds(const char *text) {
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--seeds: '%s' is not a valid value", text),
                         "give the number of seeds, 1 to %d (seeds 0, 1, ...), or a list such as 3,14,15",
                         MAX_SEEDS);
}

/* Reads a number at *text and goes past it; false where there is none. */
static bool read_seed(const char **text, uint64_t *out) {
    char *end;
    if (**text < '0' || **text > '9') return false;
    errno = 0;
    *out = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

/* Reads --seeds: a count, or a list with commas. */
static sx_status read_seeds(const char *text, sx_comparison *c) {
    const char *at = text;
    uint64_t first;
    size_t n = 1;
    for (const char *p = text; *p; p++) n += *p == ',';
    if (!read_seed(&at, &first) || n > MAX_SEEDS) return bad_seeds(text);
    bool count = *at == 0;
    if (count && (first < 1 || first > MAX_SEEDS)) return bad_seeds(text);
    c->n_seeds = count ? (size_t)first : n;
    c->seed = calloc(c->n_seeds, sizeof *c->seed);
    if (!c->seed) return sx_error_memory();
    for (size_t i = 0; i < c->n_seeds; i++) c->seed[i] = i;
    if (count) return SX_OK;
    c->seed[0] = first;
    for (size_t i = 1; i < n; i++)
        if (*at++ != ',' || !read_seed(&at, &c->seed[i])) return bad_seeds(text);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (c->seed[i] == c->seed[j])
                return sx_error_new(SX_ERR_USAGE, "--seeds lists %llu twice", (unsigned long long)c->seed[i]);
    return *at ? bad_seeds(text) : SX_OK;
}

/* Reads the mappers and what they are to be called. */
static sx_status read_mappers(const sx_args *args, sx_comparison *c) {
    size_t n = 0;
    const char *text, *label;
    while (sx_args_text(args, "mapper", n)) n++;
    if (sx_args_text(args, "label", n))
        return sx_error_new(SX_ERR_USAGE, "--label %s: more labels than mappers",
                            sx_args_text(args, "label", n));
    if (n == 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "no mapper given"),
                             "give one or more --mapper NAME; `sextant list mappers` lists them");
    c->mapper = calloc(n, sizeof *c->mapper);
    c->settings = calloc(n, sizeof *c->settings);
    if (!c->mapper || !c->settings) return sx_error_memory();
    for (; (text = sx_args_text(args, "mapper", c->n_mappers)); c->n_mappers++) {
        if (!(label = sx_args_text(args, "label", c->n_mappers))) label = text;
        for (size_t i = 0; i < c->n_mappers; i++)
            if (strcmp(c->mapper[i], label) == 0)
                return sx_error_new(SX_ERR_USAGE, "--%s %s is given twice",
                                    label == text ? "mapper" : "label", label);
        SX_TRY(sx_navigator_text(text, &c->settings[c->n_mappers]));
        c->mapper[c->n_mappers] = strdup(label);
        if (!c->mapper[c->n_mappers]) return sx_error_memory();
    }
    return SX_OK;
}

/* Reads --x: whether curves go over seconds. */
static sx_status read_axis(const sx_args *args, bool *by_time) {
    const char *text = sx_args_text(args, "x", 0);
    bool clock = !sx_args_flag(args, "no-clock");
    bool preset = clock && sx_args_flag(args, "time") && !sx_args_flag(args, "evals");
    *by_time = text ? strcmp(text, "time") == 0 : preset;
    if (text && !*by_time && strcmp(text, "evals") != 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--x: '%s' is not a valid value", text),
                             "valid values: evals, time");
    if (text && !sx_args_flag(args, "svg"))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--x needs --svg"), "add --svg FILE");
    if (*by_time && !clock)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--x time needs the times that --no-clock omits"),
                             "drop one of the two");
    return SX_OK;
}

static sx_status read_options(const sx_args *args, sx_comparison *c) {
    const char *seeds = sx_args_text(args, "seeds", 0);
    bool by_time;
    SX_TRY(sx_search_run_options(args, DEFAULT_EVALS, &c->options));
    SX_TRY(read_seeds(seeds ? seeds : SX_TEXT_OF(DEFAULT_SEEDS), c));
    SX_TRY(read_mappers(args, c));
    SX_TRY(read_axis(args, &by_time));
    c->clock = !sx_args_flag(args, "no-clock");
    c->algorithmic = sx_args_flag(args, "algorithmic-minimum");
    return SX_OK;
}

/* Leaves each computation once among the problems. */
static sx_status drop_duplicates(sx_network *problems) {
    size_t *first = calloc(problems->n_layers + 1, sizeof *first), kept = 0;
    if (!first) return sx_error_memory();
    sx_network_distinct(problems, first);
    for (size_t i = 0; i < problems->n_layers; i++)
        if (first[i] == i) problems->layer[kept++] = problems->layer[i];
    problems->n_layers = kept;
    free(first);
    return SX_OK;
}

/* Takes down what a run found. */
static sx_status take_result(const sx_run *run, sx_compare_run *out) {
    sx_found best;
    sx_trace_point point;
    out->summary = sx_run_result(run);
    out->found = sx_run_best(run, 0, &best);
    if (out->found) {
        out->score = sx_metrics_score(&best.metrics);
        out->value = best.value;
    }
    size_t n = 0;
    while (sx_run_trace(run, n, &point)) n++;
    out->trace = calloc(n + 1, sizeof *out->trace);
    if (!out->trace) return sx_error_memory();
    for (; out->n_trace < n; out->n_trace++) sx_run_trace(run, out->n_trace, &out->trace[out->n_trace]);
    return SX_OK;
}

/* Forgets how long a run took. */
static void forget_times(sx_compare_run *run) {
    run->summary.seconds = 0;
    for (size_t i = 0; i < run->n_trace; i++) run->trace[i].seconds = 0;
}

/* Runs one mapper with one seed. */
static sx_status run_once(sx_comparison *c, const sx_space *space, size_t problem, size_t mapper,
                          uint64_t seed) {
    sx_run_options options = c->options;
    sx_compare_run *out = &c->run[c->n_runs];
    sx_run *run = NULL;
    options.seed = seed;
    SX_TRY(sx_run_new(space, NULL, &options, &run));
    *out = (sx_compare_run){.problem = problem, .mapper = mapper, .seed = seed};
    sx_status status = sx_run_search(run, c->settings[mapper]);
    if (!status) status = take_result(run, out);
    if (!c->clock) forget_times(out);
    sx_run_free(run);
    if (status)
        free(out->trace);
    else
        c->n_runs++;
    return status;
}

/* Says why a problem has no legal mapping, where no run found one. */
static sx_status add_diagnosis(const sx_comparison *c, const sx_space *space, size_t problem, sx_text *err) {
    char *text;
    bool found = false, any = false, none = false;
    for (size_t i = 0; i < c->n_runs; i++) {
        any |= c->run[i].problem == problem;
        none |= c->run[i].problem == problem && c->run[i].summary.none;
        found |= c->run[i].problem == problem && c->run[i].found;
    }
    if (found || !any) return SX_OK;
    SX_TRY(sx_space_diagnose(space, 0, DIAGNOSED, &text));
    size_t size = strlen(text);
    sx_text_add(err, "%s: no legal mapping was found%s\n%s%s", c->problems.layer[problem].name,
                none ? "" : " within the budget; the space may contain one", text,
                size && text[size - 1] == '\n' ? "" : "\n");
    free(text);
    return SX_OK;
}

/* The value of the objective that mappers are held against. */
static double minimum_of(const sx_comparison *c, const sx_search_space *s) {
    int outermost = s->arch.n_levels - 1;
    unsigned built = sx_arch_keep_mask(&s->arch, outermost, &s->problem);
    uint8_t backed = (uint8_t)(built & ~(unsigned)s->constraints.level[outermost].must_bypass);
    sx_score least =
        c->algorithmic ? sx_model_algorithmic_minimum(s->model) : sx_model_minimum(s->model, backed);
    return sx_objective_value(&c->options.objective, &least);
}

/* Runs all mappers with all seeds on one problem. */
static sx_status run_problem(sx_comparison *c, sx_sources *sources, size_t problem, sx_progress_line *line,
                             sx_text *err) {
    sx_search_space s;
    sx_status status = sx_sources_space(sources, &c->problems.layer[problem].problem, &c->arch, &s);
    size_t total = c->problems.n_layers * c->n_mappers * c->n_seeds;
    if (!status) c->minimum[problem] = minimum_of(c, &s);
    for (size_t m = 0; m < c->n_mappers && !status; m++)
        for (size_t i = 0; i < c->n_seeds && !status && !sx_cancel_is_set(c->options.cancel); i++) {
            sx_progress_title(line, "%zu/%zu %s, %s, seed %llu", c->n_runs + 1, total,
                              c->problems.layer[problem].name, c->mapper[m], (unsigned long long)c->seed[i]);
            status = run_once(c, s.space, problem, m, c->seed[i]);
        }
    if (!status) status = add_diagnosis(c, s.space, problem, err);
    sx_search_space_fini(&s);
    return status;
}

/* Runs everything. */
static sx_status run_all(const sx_args *args, sx_sources *sources, sx_comparison *c, sx_output *result) {
    sx_progress_line line;
    size_t total = c->problems.n_layers * c->n_mappers * c->n_seeds;
    c->minimum = calloc(c->problems.n_layers, sizeof *c->minimum);
    c->run = calloc(total, sizeof *c->run);
    if (!c->minimum || !c->run) return sx_error_memory();
    sx_progress_begin(&line, args);
    c->options.cancel = sx_interrupt_catch();
    c->options.progress = sx_progress_show;
    c->options.user = &line;
    sx_status status = SX_OK;
    for (size_t p = 0; p < c->problems.n_layers && !status && !sx_cancel_is_set(c->options.cancel); p++)
        status = run_problem(c, sources, p, &line, &result->err);
    sx_progress_end(&line);
    size_t whole = 0;
    for (size_t i = 0; i < c->n_runs; i++) whole += c->run[i].summary.stop != SX_STOP_SIGNAL;
    c->complete = whole == total;
    if (!status && !c->complete)
        sx_text_add(&result->err, "note: interrupted after %zu of %zu runs\n", whole, total);
    return status;
}

/* Writes the files asked for. */
static sx_status write_files(const sx_args *args, const sx_comparison *c, bool by_time) {
    const char *csv = sx_args_text(args, "csv", 0), *svg = sx_args_text(args, "svg", 0);
    sx_text text = {0};
    sx_status status = SX_OK;
    if (csv) {
        sx_compare_csv(c, &text);
        status = text.failed ? sx_error_memory() : sx_file_write(csv, text.data, text.size);
        sx_text_free(&text);
    }
    if (!svg) return status;
    sx_status drawn = sx_compare_svg(c, by_time, svg);
    if (!status) return drawn;
    sx_status_free(drawn);
    return status;
}

/* Gives out the table or the JSON, also where a file asked for cannot be written. */
static sx_status answer(const sx_args *args, const sx_comparison *c, sx_output *result) {
    bool found = false, by_time = false;
    for (size_t i = 0; i < c->n_runs; i++) found |= c->run[i].found;
    result->exit = found ? SX_EXIT_FOUND : SX_EXIT_NONE;
    sx_output_to_file(result, sx_args_text(args, "output", 0));
    SX_TRY(read_axis(args, &by_time));
    sx_status written = write_files(args, c, by_time);
    sx_status printed =
        sx_args_flag(args, "json") ? sx_compare_json(c, &result->out) : sx_compare_print(c, &result->out);
    if (!written) return printed;
    sx_status_free(printed);
    return written;
}

static sx_status compare(const sx_args *args, sx_sources *sources, sx_comparison *c, sx_output *result) {
    SX_TRY(read_options(args, c));
    SX_TRY(sx_sources_load(args, sources));
    SX_TRY(
        sx_search_objective(sources, &c->options.objective, c->objective, sizeof c->objective, &result->err));
    SX_TRY(sx_sources_arch(sources, &c->arch));
    c->energies = sx_sources_energies(sources);
    SX_TRY(sx_sources_problems(sources, &c->problems));
    SX_TRY(sx_bind_network(sources, &c->arch, NULL, &c->problems, &result->err));
    SX_TRY(drop_duplicates(&c->problems));
    sx_search_foresee(sources, &c->problems, &c->arch);
    sx_search_notes(args, sources, &result->err);
    SX_TRY(sx_search_writable(args));
    SX_TRY(run_all(args, sources, c, result));
    return answer(args, c, result);
}

static void comparison_fini(sx_comparison *c) {
    for (size_t i = 0; i < c->n_runs; i++) free(c->run[i].trace);
    for (size_t i = 0; c->mapper && i < c->n_mappers; i++) free(c->mapper[i]);
    for (size_t i = 0; c->settings && i < c->n_mappers; i++) free(c->settings[i]);
    free(c->run);
    free(c->minimum);
    free(c->mapper);
    free(c->settings);
    free(c->seed);
    sx_network_fini(&c->problems);
}

/* `sextant compare`. */
static sx_status run(const sx_args *args, sx_output *result) {
    sx_sources sources = {0};
    sx_comparison *c = calloc(1, sizeof *c);
    if (!c) return sx_error_memory();
    sx_status status = compare(args, &sources, c, result);
    comparison_fini(c);
    sx_sources_fini(&sources);
    free(c);
    return status;
}

static const sx_option options[] = {
    SX_OPTION_ARCH,
    SX_OPTIONS_NETWORK,
    SX_OPTION_CONSTRAINTS,
    SX_OPTION_BIND,
    SX_OPTIONS_FILES,
    SX_OPTION_MAPPERS,
    {"label", 0, "TEXT", SX_OPTION_TEXT, true,
     "name of a mapper in tables and figures, in the order of the mappers; repeatable"},
    {"seeds", 's', "N|LIST", SX_OPTION_TEXT, false,
     "number of seeds, or a list such as 3,14,15 (" SX_TEXT_OF(DEFAULT_SEEDS) ")"},
    SX_OPTION_MINIMISE,
    SX_OPTIONS_BUDGET,
    SX_OPTIONS_SPACE,
    SX_OPTIONS_MODEL,
    {"csv", 0, "FILE", SX_OPTION_TEXT, false, "also write one line per run"},
    {"svg", 0, "FILE", SX_OPTION_TEXT, false,
     "also plot convergence curves; with several problems, one file for each"},
    {"x", 0, "evals|time", SX_OPTION_TEXT, false,
     "with --svg: horizontal axis (time if only --time is given, otherwise evals)"},
    {"algorithmic-minimum", 0, NULL, SX_OPTION_FLAG, false,
     "report values relative to Mind Mappings' algorithmic minimum (every word once at every level), which "
     "mappings that bypass levels can undercut"},
    SX_OPTION_NO_CLOCK,
    SX_OPTION_JSON,
    SX_OPTION_OUTPUT,
    SX_OPTION_VERBOSE,
    SX_OPTION_QUIET,
    SX_OPTION_HELP,
};

const sx_command sx_command_compare = {
    .name = "compare",
    .about =
        "compare mappers on the same problems, with the same budget and several seeds: a table and curves",
    .usage = "[FOLDER|FILE ...] [--arch FILE|NAME] [--problem FILE|EINSUM|NAME ...] --mapper NAME ... "
             "[OPTION ...]",
    .details = SX_HELP_FILES "Without --evals, --time, --target and --patience, a run has " SX_TEXT_OF(
        DEFAULT_EVALS) " evaluations. Equal layers\nof a network count once. The column `x minimum` is the "
                       "objective over its compulsory minimum.\n"
                       "Ctrl-C stops and reports the finished runs.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run,
};
