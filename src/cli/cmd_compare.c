/* `sextant compare`: several mappers, or search methods of systolic arrays or of placements, under the same
 * budget. */
#include "base/choice.h"
#include "base/file.h"
#include "cli/bind.h"
#include "cli/command.h"
#include "cli/place_input.h"
#include "cli/progress.h"
#include "cli/search.h"
#include "cli/seeds.h"
#include "cli/systolic_options.h"
#include "registry/registry.h"
#include "report/compare.h"

#include <stdlib.h>
#include <string.h>

/* Evaluations and seeds where none are named, as numbers and as text. */
#define DEFAULT_EVALS 10000
#define DEFAULT_SEEDS 5
#define PLACEMENT_OBJECTIVE "delay"
#define ALL "all"
/* The search that proves optima, without the budget of the others. */
#define PROOF "optimal:effort=300"

/* What is searched: mappings, systolic arrays (--device) or placements (--graph). */
typedef enum subject { OF_MAPPINGS, OF_ARRAYS, OF_PLACEMENTS } subject;

/* The words about each. */
static const struct {
    const char *space, *objects, *object, *list, *option;
} words[] = {{"map", "mappings", "mapping", "mappers", "arch"},
             {"systolic", "systolic arrays", "array", "methods", "device"},
             {"placement", "placements", "placement", "placers", "graph"}};

/* What is compared. */
typedef struct compare_job {
    sx_comparison_options options;
    const char **navigator, **label, **problem; /* of the options */
    uint64_t *seed;
    sx_progress_line line;
    sx_sources sources;
    subject subject;
    bool all;         /* all mappers, of which some may refuse a problem */
    bool optimum;     /* optima are proven first */
    bool algorithmic; /* minima are Mind Mappings' */
    sx_text *err;
    /* With an architecture: each computation once, and the space that is open. */
    sx_arch arch;
    sx_network problems;
    sx_search_space map;
    sx_systolic_job *systolic; /* with a device; otherwise NULL */
    /* With graphs. */
    sx_chip chip;
    sx_place_graph *graph;
    double *baseline; /* latencies of the compiler's placements, in seconds */
} compare_job;

/* Refuses a text that names no navigator, or one that searches other spaces than those that are compared on. */
static sx_status check_navigator(const compare_job *job, const char *text) {
    const char *space = words[job->subject].space;
    char *full = NULL;
    SX_TRY(sx_navigator_text(text, space, &full));
    const char *searched = sx_navigator_space(full);
    free(full);
    if (!searched || strcmp(searched, space) == 0) return SX_OK;
    size_t other = 0;
    while (other + 1 < sizeof words / sizeof *words && strcmp(words[other].space, searched) != 0) other++;
    return sx_error_hint(
        sx_error_new(SX_ERR_USAGE, "--mapper %.*s searches %s, not %s", (int)strcspn(text, ":"), text,
                     words[other].objects, words[job->subject].objects),
        "`sextant list %s` lists those that search %s; --%s compares searches of %s",
        words[job->subject].list, words[job->subject].objects, words[other].option, words[other].objects);
}

/* Whether --mapper all has a navigator: one for these spaces that neither needs a small one nor proves what --optimum
 * proves. */
static bool is_listed(const compare_job *job, const char *name) {
    const char *space = sx_navigator_space(name);
    if (strcmp(name, "exhaustive") == 0) return false;
    if (!space) return true;
    return strcmp(space, words[job->subject].space) == 0 &&
           !(job->subject == OF_MAPPINGS && sx_navigator_proves(name));
}

/* Adds a mapper; false where its label is there already. */
static bool add_mapper(compare_job *job, const char *text, const char *label) {
    size_t *used = &job->options.n_navigators;
    for (size_t i = 0; i < *used; i++)
        if (strcmp(job->label[i], label) == 0) return false;
    job->navigator[*used] = text;
    job->label[(*used)++] = label;
    return true;
}

/* Adds all mappers. */
static void add_all(compare_job *job) {
    const char *name;
    job->all = true;
    for (size_t i = 0; (name = sx_navigator_name(i, NULL)); i++)
        if (is_listed(job, name)) (void)add_mapper(job, name, name);
}

/* Reads the mappers and their labels. */
static sx_status read_mappers(const sx_args *args, compare_job *job) {
    size_t n = 0, known = 0;
    const char *text, *label;
    while (sx_args_text(args, "mapper", n)) n++;
    if (sx_args_text(args, "label", n))
        return sx_error_new(SX_ERR_USAGE, "--label %s: more labels than mappers",
                            sx_args_text(args, "label", n));
    if (n == 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "no mapper given"),
                             "give one or more --mapper NAME, or --mapper " ALL
                             "; `sextant list %s` lists them",
                             words[job->subject].list);
    while (sx_navigator_name(known, NULL)) known++;
    job->navigator = calloc(n * (known + 1), sizeof *job->navigator);
    job->label = calloc(n * (known + 1), sizeof *job->label);
    if (!job->navigator || !job->label) return sx_error_memory();
    for (size_t i = 0; (text = sx_args_text(args, "mapper", i)); i++) {
        if (!(label = sx_args_text(args, "label", i))) label = text;
        if (strcmp(text, ALL) == 0) {
            add_all(job);
            continue;
        }
        SX_TRY(check_navigator(job, text));
        if (!add_mapper(job, text, label))
            return sx_error_new(SX_ERR_USAGE, "--%s %s is given twice", label == text ? "mapper" : "label",
                                label);
    }
    return SX_OK;
}

/* Reads --x: whether curves go over seconds. */
static sx_status read_axis(const sx_args *args, bool *by_time) {
    const char *text = sx_args_text(args, "x", 0);
    bool clock = !sx_args_flag(args, "no-clock");
    bool preset = clock && sx_args_flag(args, "time") && !sx_args_flag(args, "evals");
    size_t axis = preset;
    if (text) SX_TRY(sx_choice_read("--x", text, "evals, time", &axis));
    *by_time = axis == 1;
    if (text && !sx_args_flag(args, "svg"))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--x needs --svg"), "add --svg FILE");
    if (*by_time && !clock)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--x time needs the times that --no-clock omits"),
                             "drop one of the two");
    return SX_OK;
}

/* Refuses an option that is given and not for this subject; `of` are the subjects that have it, as bits. */
static sx_status check_option(const sx_args *args, subject now, const char *option, unsigned of) {
    if (!sx_args_flag(args, option) || of >> now & 1) return SX_OK;
    if (now != OF_MAPPINGS)
        return sx_error_new(SX_ERR_USAGE, "--%s cannot be used with --%s", option, words[now].option);
    unsigned needed = (unsigned)__builtin_ctz(of);
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s needs --%s", option, words[needed].option),
                         "add --%s NAME to compare searches of %s", words[needed].option,
                         words[needed].objects);
}

/* Finds out what is compared, and refuses options of the others. */
static sx_status read_subject(const sx_args *args, subject *out) {
    enum { MAPPINGS = 1 << OF_MAPPINGS, ARRAYS = 1 << OF_ARRAYS, PLACEMENTS = 1 << OF_PLACEMENTS };
    static const struct {
        const char *name;
        unsigned of;
    } some[] = {{"arch", MAPPINGS},
                {"constraints", MAPPINGS},
                {"bind", MAPPINGS},
                {"remainders", MAPPINGS},
                {"keep-all", MAPPINGS},
                {"no-banks", MAPPINGS},
                {"split-axes", MAPPINGS},
                {"no-first-read-elision", MAPPINGS},
                {"no-link-transfers", MAPPINGS},
                {"latency", MAPPINGS},
                {"algorithmic-minimum", MAPPINGS},
                {"optimum", MAPPINGS},
                {"type", ARRAYS},
                {"design", ARRAYS},
                {"tiles", ARRAYS},
                {"thin", ARRAYS},
                {"corrected", ARRAYS},
                {"min-dsp", ARRAYS},
                {"device", ARRAYS},
                {"problem", MAPPINGS | ARRAYS},
                {"training", MAPPINGS | ARRAYS},
                {"training-step", MAPPINGS | ARRAYS},
                {"rename", MAPPINGS | ARRAYS},
                {"density", MAPPINGS | ARRAYS},
                {"bits", MAPPINGS},
                {"chip", PLACEMENTS},
                {"bytes", PLACEMENTS}};
    *out = sx_args_flag(args, "graph")    ? OF_PLACEMENTS
           : sx_args_flag(args, "device") ? OF_ARRAYS
                                          : OF_MAPPINGS;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        SX_TRY(check_option(args, *out, some[i].name, some[i].of));
    if (*out == OF_PLACEMENTS && args->n_operands)
        return sx_error_new(SX_ERR_USAGE, "'%s': files without an option cannot be used with --graph",
                            args->operand[0]);
    return SX_OK;
}

static sx_status read_options(const sx_args *args, compare_job *job) {
    const char *seeds = sx_args_text(args, "seeds", 0);
    sx_comparison_options *o = &job->options;
    bool by_time;
    SX_TRY(read_subject(args, &job->subject));
    if (job->subject == OF_ARRAYS) {
        job->systolic = calloc(1, sizeof *job->systolic);
        if (!job->systolic) return sx_error_memory();
        SX_TRY(sx_systolic_read_array(args, job->systolic));
    }
    SX_TRY(sx_search_run_options(args, DEFAULT_EVALS, &o->run));
    SX_TRY(sx_seeds_read(seeds ? seeds : SX_TEXT_OF(DEFAULT_SEEDS), &job->seed, &o->n_seeds));
    SX_TRY(read_mappers(args, job));
    SX_TRY(read_axis(args, &by_time));
    job->optimum = sx_args_flag(args, "optimum") || (job->all && job->subject == OF_MAPPINGS);
    o->no_clock = sx_args_flag(args, "no-clock");
    job->algorithmic = sx_args_flag(args, "algorithmic-minimum");
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

/* Proves the optimum of a map space, or a lower bound. */
static sx_status prove_optimum(compare_job *job, size_t problem, sx_compare_space *out) {
    sx_run_options options = job->options.run;
    sx_run *run;
    options.evaluations = options.patience = 0;
    options.seconds = options.target = 0;
    sx_progress_title(&job->line, "%s, optimum", job->problems.layer[problem].name);
    SX_TRY(sx_run_new(out->space, NULL, &options, &run));
    sx_status status = sx_run_search(run, PROOF);
    sx_run_summary summary = sx_run_result(run);
    out->bound = summary.lower_bound;
    out->optimal = summary.optimal;
    sx_run_free(run);
    bool refused = status && (status->code == SX_ERR_USAGE || status->code == SX_ERR_LIMIT);
    if (refused)
        sx_text_add(job->err, "note: %s: no optimum: %s\n", job->problems.layer[problem].name,
                    status->message);
    if (!refused) return status;
    sx_status_free(status);
    return SX_OK;
}

/* Makes the map space of a problem. */
static sx_status open_map(void *user, size_t problem, sx_compare_space *out) {
    compare_job *job = user;
    sx_status status =
        sx_sources_space(&job->sources, &job->problems.layer[problem].problem, &job->arch, &job->map);
    if (status) {
        sx_search_space_fini(&job->map);
        return status;
    }
    out->space = job->map.space;
    out->minimum = sx_search_space_minimum(&job->map, &job->options.run.objective, job->algorithmic);
    if (job->optimum) status = prove_optimum(job, problem, out);
    if (status) sx_search_space_fini(&job->map);
    return status;
}

static void close_map(void *user, size_t problem, sx_compare_space *space) {
    (void)problem, (void)space;
    sx_search_space_fini(&((compare_job *)user)->map);
}

/* Makes the space of all designs of a layer. */
static sx_status open_systolic(void *user, size_t problem, sx_compare_space *out) {
    const sx_systolic_job *job = ((compare_job *)user)->systolic;
    sx_space *space;
    SX_TRY(sx_systolic_job_space(job, &job->layer[problem].kernel, 1, NULL, &space));
    out->space = space;
    return SX_OK;
}

static void close_space(void *user, size_t problem, sx_compare_space *space) {
    (void)user, (void)problem;
    sx_space_free((sx_space *)space->space);
}

/* Makes the space of the placements of a network. */
static sx_status open_placement(void *user, size_t problem, sx_compare_space *out) {
    compare_job *job = user;
    sx_space *space;
    SX_TRY(sx_placement_space_new(&job->graph[problem], &job->chip, &space));
    job->baseline[problem] = sx_placement_baseline(space);
    out->space = space;
    return SX_OK;
}

/* Shows which run begins. */
static void show_compared_run(void *user, const sx_comparison *c, size_t problem, size_t navigator,
                              uint64_t seed) {
    sx_progress_title(&((compare_job *)user)->line, "%zu/%zu %s, %s, seed %llu", c->n_runs + 1,
                      sx_comparison_total(c), c->problem[problem].name, c->label[navigator],
                      (unsigned long long)seed);
}

/* Notes that a mapper refuses a problem. */
static void note_refusal(void *user, const sx_comparison *c, size_t problem, size_t navigator,
                         sx_status why) {
    sx_text_add(((compare_job *)user)->err, "note: %s is left out on %s: %s\n", c->label[navigator],
                c->problem[problem].name, why->message);
}

/* Reads the architecture and the problems. */
static sx_status load_map(compare_job *job, sx_output *result) {
    char text[256];
    SX_TRY(sx_search_objective(&job->sources, &job->options.run.objective, text, sizeof text, &result->err));
    SX_TRY(sx_sources_arch(&job->sources, &job->arch));
    SX_TRY(sx_search_check_latency(job->sources.args, &job->arch, &job->options.run.objective));
    SX_TRY(sx_sources_problems(&job->sources, &job->problems));
    SX_TRY(sx_bind_network(&job->sources, &job->arch, NULL, &job->problems, result));
    SX_TRY(drop_duplicates(&job->problems));
    sx_search_foresee(&job->sources, &job->problems, &job->arch);
    job->options.open = open_map;
    job->options.close = close_map;
    return SX_OK;
}

/* Reads the problems and makes kernels of them. */
static sx_status load_systolic(const sx_args *args, compare_job *job, sx_text *err) {
    if (!sx_args_flag(args, "objective"))
        SX_TRY(sx_objective_parse(SX_SYSTOLIC_OBJECTIVE, &job->options.run.objective));
    SX_TRY(sx_sources_problems(&job->sources, &job->problems));
    SX_TRY(drop_duplicates(&job->problems));
    SX_TRY(sx_systolic_job_layers(job->systolic, &job->problems, sx_args_flag(args, "quiet"), err));
    job->options.open = open_systolic;
    job->options.close = close_space;
    return SX_OK;
}

/* Reads the networks and the chip. */
static sx_status load_placement(const sx_args *args, compare_job *job, sx_warnings *warnings) {
    const char *value;
    size_t n = 0;
    if (!sx_args_flag(args, "objective"))
        SX_TRY(sx_objective_parse(PLACEMENT_OBJECTIVE, &job->options.run.objective));
    while (sx_args_text(args, "graph", n)) n++;
    job->graph = calloc(n, sizeof *job->graph);
    job->baseline = calloc(n, sizeof *job->baseline);
    if (!job->graph || !job->baseline) return sx_error_memory();
    SX_TRY(sx_place_read_chip(args, &job->chip));
    for (size_t *i = &job->options.n_problems; (value = sx_args_text(args, "graph", *i)); ++*i)
        SX_TRY(sx_place_read_graph(args, value, warnings, &job->graph[*i]));
    job->options.open = open_placement;
    job->options.close = close_space;
    return SX_OK;
}

/* The name of a problem. */
static const char *name_of(const compare_job *job, size_t problem) {
    switch (job->subject) {
    case OF_ARRAYS:
        return job->systolic->layer[problem].name;
    case OF_PLACEMENTS:
        return job->graph[problem].name;
    default:
        return job->problems.layer[problem].name;
    }
}

/* Reads all inputs. */
static sx_status load_inputs(const sx_args *args, compare_job *job, sx_output *result) {
    sx_comparison_options *o = &job->options;
    if (job->subject == OF_PLACEMENTS) {
        SX_TRY(load_placement(args, job, result->warnings));
    } else {
        SX_TRY(sx_sources_load(args, &job->sources));
        SX_TRY(job->systolic ? load_systolic(args, job, &result->err) : load_map(job, result));
        o->n_problems = job->systolic ? job->systolic->n_layers : job->problems.n_layers;
    }
    job->problem = calloc(o->n_problems + 1, sizeof *job->problem);
    if (!job->problem) return sx_error_memory();
    for (size_t i = 0; i < o->n_problems; i++) job->problem[i] = name_of(job, i);
    return SX_OK;
}

/* Runs everything. */
static sx_status run_all(const sx_args *args, compare_job *job, sx_comparison **out) {
    sx_comparison_options *o = &job->options;
    o->problem = job->problem;
    o->navigator = job->navigator;
    o->label = job->label;
    o->seed = job->seed;
    o->begins = show_compared_run;
    if (job->all) o->refused = note_refusal;
    o->user = job;
    sx_progress_begin(&job->line, args);
    o->run.cancel = sx_interrupt_catch();
    o->run.progress = sx_progress_show;
    o->run.user = &job->line;
    sx_status status = sx_comparison_run(o, out);
    sx_progress_end(&job->line);
    return status;
}

/* Adds why problems have no answer, and how much was done before a Ctrl-C. */
static void add_notes(const compare_job *job, const sx_comparison *c, sx_text *err) {
    size_t whole = 0;
    for (size_t i = 0; i < c->n_problems; i++) {
        const sx_compare_problem *p = &c->problem[i];
        if (!p->diagnosis) continue;
        size_t size = strlen(p->diagnosis);
        sx_text_add(err, "%s: no legal %s was found%s\n%s%s", p->name, words[job->subject].object,
                    p->none ? "" : " within the budget; the space may contain one", p->diagnosis,
                    size && p->diagnosis[size - 1] == '\n' ? "" : "\n");
    }
    for (size_t i = 0; i < c->n_runs; i++) whole += c->run[i].summary.stop != SX_STOP_SIGNAL;
    if (!c->complete)
        sx_text_add(err, "note: interrupted after %zu of %zu runs\n", whole, sx_comparison_total(c));
}

/* Writes the files asked for. */
static sx_status write_files(const sx_args *args, const sx_compare_report *r, bool by_time) {
    const char *csv = sx_args_text(args, "csv", 0), *svg = sx_args_text(args, "svg", 0);
    sx_text text = {0};
    sx_status status = SX_OK;
    if (csv) {
        sx_compare_csv(r->comparison, &text);
        status = text.failed ? sx_error_memory() : sx_file_write(csv, text.data, text.size);
        sx_text_free(&text);
    }
    if (!svg) return status;
    sx_status drawn = sx_compare_svg(r, by_time, svg);
    if (!status) return drawn;
    sx_status_free(drawn);
    return status;
}

/* Outputs the table or the JSON, also where a file asked for cannot be written. */
static sx_status print_comparison(const sx_args *args, const compare_job *job, const sx_comparison *c,
                                  sx_output *result) {
    sx_compare_report r = {.comparison = c};
    bool found = false, by_time = false;
    if (job->subject == OF_ARRAYS) r.device = job->systolic->device.name;
    if (job->subject == OF_PLACEMENTS) r.chip = job->chip.name;
    if (job->subject == OF_MAPPINGS) r.arch = job->arch.name;
    r.baseline = job->baseline;
    if (r.arch) {
        r.energies = sx_sources_energies(&job->sources);
        r.machine = &job->arch;
        r.model = sx_search_model_options(args);
        sx_search_network_semantics(args, &job->problems, &job->arch, &r.model);
    }
    for (size_t i = 0; i < c->n_runs; i++) found |= c->run[i].found;
    sx_output_exits(result, found ? SX_EXIT_FOUND : SX_EXIT_NONE);
    sx_output_to_file(result, sx_args_text(args, "output", 0));
    SX_TRY(read_axis(args, &by_time));
    sx_status written = write_files(args, &r, by_time);
    sx_status printed =
        sx_args_flag(args, "json") ? sx_compare_json(&r, &result->out) : sx_compare_print(&r, &result->out);
    if (!written) return printed;
    sx_status_free(printed);
    return written;
}

static sx_status compare_mappers(const sx_args *args, compare_job *job, sx_output *result) {
    sx_comparison *c;
    job->err = &result->err;
    SX_TRY(read_options(args, job));
    SX_TRY(load_inputs(args, job, result));
    if (job->subject == OF_MAPPINGS) SX_TRY(sx_search_check_sparse(args, &job->arch, result->warnings));
    SX_TRY(sx_search_notes(args, &job->sources, true, result));
    SX_TRY(sx_search_writable(args));
    SX_TRY(run_all(args, job, &c));
    if (sx_ranks_follows(args->ranks)) {
        sx_comparison_free(c);
        return SX_OK;
    }
    add_notes(job, c, &result->err);
    sx_status status = print_comparison(args, job, c, result);
    sx_comparison_free(c);
    return status;
}

static void job_free(compare_job *job) {
    sx_network_fini(&job->problems);
    sx_systolic_job_free(job->systolic);
    for (size_t i = 0; job->graph && i < job->options.n_problems; i++) sx_place_graph_fini(&job->graph[i]);
    free(job->graph);
    free(job->baseline);
    sx_sources_fini(&job->sources);
    free(job->navigator);
    free(job->label);
    free(job->problem);
    free(job->seed);
    free(job);
}

/* `sextant compare`. */
static sx_status run_compare(const sx_args *args, sx_output *result) {
    compare_job *job = calloc(1, sizeof *job);
    if (!job) return sx_error_memory();
    sx_status status = compare_mappers(args, job, result);
    job_free(job);
    return status;
}

static const sx_option options[] = {
    SX_OPTION_ARCH,
    SX_ROW_ONCE("device", 'd', "NAME|FILE", INPUT,
                "instead of an architecture: compare searches of systolic arrays on this device, a name of "
                "`sextant list devices` or a file"),
    SX_OPTIONS_ARRAY,
    SX_ROW_MANY("graph", 'g', "FILE|NAME", INPUT,
                "instead of problems: compare searches of placements of this network, as in `sextant place`; "
                "repeatable"),
    SX_OPTION_CHIP(0),
    SX_OPTION_BYTES,
    SX_OPTIONS_NETWORK,
    SX_OPTION_CONSTRAINTS,
    SX_OPTION_BIND,
    SX_OPTIONS_FILES,
    SX_ROW_MANY("mapper", 0, "NAME[:KEY=VALUE,...]", TEXT,
                "mapper of `sextant list mappers`, with optional settings, or " ALL
                ", which leaves out those that refuse a problem; repeatable"),
    SX_ROW_FLAG("optimum", 0,
                "prove the optimum of each problem first, or a lower bound, and report values relative to "
                "it; --mapper " ALL " does"),
    SX_ROW_MANY("label", 0, "TEXT", TEXT,
                "name of a mapper in tables and figures, in the order of the mappers; repeatable"),
    SX_ROW_ONCE("seeds", 's', "N|LIST", TEXT,
                "number of seeds, or a list such as 3,14,15 (" SX_TEXT_OF(DEFAULT_SEEDS) ")"),
    SX_ROW_ONCE(
        "objective", 0, "NAME", TEXT,
        "objective to minimise, of `sextant list objectives` (edp; with --device " SX_SYSTOLIC_OBJECTIVE
        "; with --graph " PLACEMENT_OBJECTIVE ")"),
    SX_OPTIONS_BUDGET,
    SX_OPTIONS_SPACE,
    SX_OPTION_SPLIT_AXES,
    SX_OPTIONS_MODEL,
    SX_OPTION_LATENCY,
    SX_ROW_ONCE("csv", 0, "FILE", TEXT, "also write one line per run"),
    SX_ROW_ONCE("svg", 0, "FILE", TEXT,
                "also plot convergence curves; with several problems, one file for each"),
    SX_ROW_ONCE("x", 0, "evals|time", TEXT,
                "with --svg: horizontal axis (time if only --time is given, otherwise evals)"),
    SX_ROW_FLAG("algorithmic-minimum", 0,
                "report values relative to Mind Mappings' algorithmic minimum (every word once at every "
                "level), which mappings that bypass levels can undercut"),
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
    .usage = "[FOLDER|FILE ...] [--arch FILE|NAME | --device NAME | --graph NAME] [--problem "
             "FILE|EINSUM|NAME ...] --mapper NAME ... "
             "[OPTION ...]",
    .details = SX_HELP_FILES "Without --evals, --time, --target and --patience, a run has " SX_TEXT_OF(
        DEFAULT_EVALS) " evaluations. Equal layers\nof a network count once. The column `x minimum` is the "
                       "objective over its compulsory minimum.\nWith --device, mappers are the methods of "
                       "`sextant list methods`, each searches all designs at\nonce, and `x best` is the "
                       "objective over the best that any run found.\n"
                       "With --graph, mappers are those of `sextant list placers`, and --svg draws speedups "
                       "over "
                       "the\ncompiler's placement with their spread over the seeds.\n"
                       "Ctrl-C stops and reports the finished runs.\n",
    .exits = {[SX_EXIT_FOUND] = "at least one run found an answer", [SX_EXIT_NONE] = "none did"},
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .divided = true,
    .run = run_compare,
};
