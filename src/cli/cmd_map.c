/* `sextant map`: the main job. */
#include "base/file.h"
#include "cli/bind.h"
#include "cli/chips.h"
#include "cli/clock.h"
#include "cli/command.h"
#include "cli/evaluator.h"
#include "cli/fuse.h"
#include "cli/gpu.h"
#include "cli/progress.h"
#include "cli/run_graph.h"
#include "cli/search.h"
#include "frontend/input.h"
#include "input/density.h"
#include "registry/registry.h"
#include "report/cost_svg.h"
#include "report/fused.h"
#include "report/map_table.h"
#include "report/runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_MAPPER "auto"
/* What is preset with --evaluator, whose answers take long and have no lower bounds. */
#define JUDGED_EVALS 4000
#define MEASURED_EVALS 100
#define JUDGED_MAPPER "gamma"
#define MAPPING_SUFFIX ".map.yaml"

/* What is searched, and how it is shown. */
typedef struct map_job {
    sx_result *r;
    sx_mapping_view view;
    sx_gpu_choice gpu;
    sx_graph graph; /* of a network that is fused */
    bool explain;   /* the same: its groups */
    bool narrowed;  /* remainders are left out for a fused network's certificate */
} map_job;

/* What the callbacks of a session need. */
typedef struct watcher {
    sx_progress_line line; /* first: what progress is told to */
    sx_sources *sources;
    const map_job *job;
    sx_output *result;
    const char *certificate; /* a file, or the folder of a network; NULL: none */
    size_t searched_from;    /* the first layer that this process searched; those before are a checkpoint's */
    sx_status certified;     /* what went wrong with it */
    bool interrupted;        /* before anything was proven that a certificate could claim */
} watcher;

static sx_status constraints_of(void *user, const sx_problem *problem, const sx_arch *arch,
                                sx_constraints *out) {
    return sx_sources_constraints(((watcher *)user)->sources, problem, arch, out);
}

/* Shows how a search that asks an evaluator is going; `user` is a watcher's line. */
static void show_questions(void *user, const sx_progress *progress) {
    const watcher *w = user;
    sx_outside_evaluator_account a = sx_outside_evaluator_report(w->job->r->options.outside);
    if (a.expected > 0 && isfinite(progress->best))
        sx_progress_note(user, "%llu questions, best measured %.4g, next expected %.4g",
                         (unsigned long long)a.questions, progress->best, a.expected);
    else
        sx_progress_show(user, progress);
}

static void layer_begins(void *user, size_t layer) {
    watcher *w = user;
    if (layer < w->searched_from) w->searched_from = layer;
    if (w->job->r->network.n_layers > 1)
        sx_progress_title(&w->line, "%zu/%zu %s", layer + 1, w->job->r->network.n_layers,
                          w->job->r->network.layer[layer].name);
    else
        sx_progress_title(&w->line, "%s", w->job->r->network.layer[layer].name);
}

/* The file for layer `i` in a folder, named after the layer; freed with free(). */
static sx_status path_in_folder(const map_job *job, size_t i, const char *folder, const char *suffix,
                                char **out) {
    sx_text name = {0};
    sx_text_add(&name, "%s/%s%s", folder, job->r->network.layer[i].name, suffix);
    SX_TRY(sx_text_take(&name, out));
    for (char *c = *out + strlen(folder) + 1; *c; c++)
        if (*c == '/') *c = '_';
    return SX_OK;
}

/* Writes the certificate of a layer to a file; an error where nothing was proven. */
static sx_status write_certificate(const watcher *w, size_t layer, const char *path) {
    sx_constraints limits;
    sx_certificate *certificate = NULL;
    char *text = NULL;
    const sx_result *r = w->job->r;
    SX_TRY(sx_sources_constraints(w->sources, &r->network.layer[layer].problem, &r->arch, &limits));
    SX_TRY(sx_result_certificate(r, layer, &limits, &certificate));
    sx_status status = sx_certificate_write(certificate, &text);
    if (!status) status = sx_file_write(path, text, strlen(text));
    free(text);
    sx_certificate_free(certificate);
    return status;
}

/* The same to the file of --certificate, or into the folder of a network. */
static sx_status certify_layer(const watcher *w, size_t layer) {
    char *path = NULL;
    if (w->job->r->network.n_layers > 1)
        SX_TRY(path_in_folder(w->job, layer, w->certificate, SX_CERTIFICATE_SUFFIX, &path));
    sx_status status = write_certificate(w, layer, path ? path : w->certificate);
    free(path);
    return status;
}

/* Writes the certificate of a layer, where one is wanted; the first failure is kept. */
static void try_certify(watcher *w, size_t layer, const sx_layer_result *result) {
    if (!w->certificate || !result->found) return;
    if (result->summary.stop == SX_STOP_SIGNAL && !result->proof) {
        w->interrupted = true;
        return;
    }
    sx_status status = certify_layer(w, layer);
    if (w->certified)
        sx_status_free(status);
    else
        w->certified = status;
}

/* Warns of what the search survives, once at most. */
static void warn_once(void *user, const struct sx_error *error) {
    watcher *w = user;
    sx_progress_end(&w->line);
    sx_warnings_tell(w->result->warnings, "%s; the search continues, and the checkpoint is tried again later",
                     error->message);
    sx_output_show_warnings(w->result);
}

static void layer_ends(void *user, size_t layer, const sx_layer_result *result) {
    watcher *w = user;
    sx_progress_end(&w->line);
    try_certify(w, layer, result);
}

/* Writes the certificates of the layers that a checkpoint had finished: writing them may have failed then. Warns where Ctrl-C
 * left none to write. */
static void certify_finished(watcher *w) {
    const sx_session_result *result = &w->job->r->session;
    for (size_t i = 0; result->resumed && i < result->n_layers && i < w->searched_from; i++)
        if (result->layer[i].same_as == i) try_certify(w, i, &result->layer[i]);
    if (w->interrupted)
        sx_warnings_tell(w->result->warnings,
                         "interrupted before a bound was proven; no certificate is written");
}

/* Puts the full text of a mapper, which it frees, in the place of the job's. */
static sx_status take_mapper(map_job *job, SX_TAKE char *text) {
    char *full;
    sx_status status = sx_navigator_text(text, "map", &full);
    free(text);
    SX_TRY(status);
    free(job->r->mapper);
    job->r->options.mapper = job->r->mapper = full;
    return SX_OK;
}

/* Makes --gap a setting of the mapper. */
static sx_status read_gap(map_job *job, double gap) {
    const char *mapper = job->view.asked;
    char value[32], *text;
    if (!sx_search_has_setting(mapper, "gap"))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--gap: the mapper '%.*s' gives no lower bound",
                                          (int)strcspn(mapper, ":"), mapper),
                             "use auto or optimal");
    if (gap >= 1)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--gap %g is a gap of %g %%", gap, 100 * gap),
                             "did you mean --gap %g (%g %%)?", gap / 100, gap);
    snprintf(value, sizeof value, "%.17g", gap);
    SX_TRY(sx_search_with(mapper, "gap", value, &text));
    return take_mapper(job, text);
}

/* Makes --surrogate a setting of the mapper. */
static sx_status read_surrogate(map_job *job, const char *path) {
    const char *mapper = job->view.asked;
    if (!sx_search_has_setting(mapper, "surrogate"))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--surrogate: the mapper '%.*s' uses no surrogate",
                                          (int)strcspn(mapper, ":"), mapper),
                             "use --mapper gradient");
    char *text;
    SX_TRY(sx_search_with_path(mapper, "surrogate", "surrogate", path, &text));
    return take_mapper(job, text);
}

/* Reads the mapper and how long it may take. */
static sx_status read_mapper(const sx_args *args, map_job *job) {
    const char *mapper = sx_args_text(args, "mapper", 0);
    bool judged = sx_args_flag(args, "evaluator");
    job->view.asked = mapper ? mapper : judged ? JUDGED_MAPPER : DEFAULT_MAPPER;
    bool measures = judged && sx_navigator_measures(job->view.asked);
    uint64_t evaluations = measures                                 ? MEASURED_EVALS
                           : sx_navigator_complete(job->view.asked) ? 0
                           : judged                                 ? JUDGED_EVALS
                                                                    : SX_DEFAULT_EVALS;
    SX_TRY(sx_gpu_choose(args, job->view.asked, &job->gpu, &job->r->mapper));
    if (job->gpu.asked[0] && evaluations) evaluations = SX_GPU_EVALS;
    SX_TRY(sx_search_run_options(args, evaluations, &job->r->options.run));
    if (job->gpu.asked[0]) {
        job->view.asked = job->gpu.asked;
        job->r->options.mapper = job->r->mapper;
        job->r->options.navigator = &job->gpu.navigator;
        return SX_OK;
    }
    SX_TRY(sx_navigator_text(job->view.asked, "map", &job->r->mapper));
    job->r->options.mapper = job->r->mapper;
    const char *surrogate = sx_args_text(args, "surrogate", 0);
    if (surrogate) SX_TRY(read_surrogate(job, surrogate));
    if (!sx_args_flag(args, "gap") || sx_args_flag(args, "fuse")) return SX_OK;
    return read_gap(job, sx_args_number(args, "gap", 0));
}

/* Whether remainders are searched after tiles that divide: by the default mapper, but where a fused network's certificate is asked
 * for, which claims nothing of them. */
static sx_status read_widen(const sx_args *args, map_job *job) {
    bool off = sx_args_flag(args, "no-remainders");
    sx_session_options *o = &job->r->options;
    size_t length = strcspn(job->view.asked, ":");
    bool preset = length == strlen(DEFAULT_MAPPER) && strncmp(job->view.asked, DEFAULT_MAPPER, length) == 0;
    if (off && o->space.remainders)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--remainders and --no-remainders contradict each other"),
            "without either, tiles that divide are searched first, then those that leave remainders");
    o->widen = preset && !off && !o->space.remainders && !o->space.split_axes;
    job->narrowed = o->widen && sx_args_flag(args, "fuse") && sx_args_text(args, "certificate", 0);
    if (job->narrowed) o->widen = false;
    return SX_OK;
}

/* Warns that remainders are left out though nobody asked for that. */
static void tell_narrowed(const map_job *job, sx_output *result) {
    if (!job->narrowed) return;
    sx_warnings_tell(result->warnings,
                     "tiles that leave remainders are not searched: the certificate of a fused network "
                     "is about tiles that divide");
}

/* Warns of answers with remainders where they are to be Timeloop's. */
static void tell_remainders(const map_job *job, sx_output *result) {
    const sx_result *r = job->r;
    bool perfect = true;
    for (size_t i = 0; i < r->session.n_layers && perfect; i++)
        perfect = !r->session.layer[i].found ||
                  sx_mapping_perfect(&r->session.layer[i].best.mapping, &r->network.layer[i].problem);
    if (r->options.model.like_timeloop && !perfect) sx_warnings_tell(result->warnings, SX_REMAINDERS_UNLIKE);
}

/* Warns that a warm start is asked for where there is nothing to start from: one layer, and no database. */
static void tell_cold(const map_job *job, const char *warm, sx_output *result) {
    if (!warm || job->r->options.warm == SX_WARM_OFF || job->view.db || job->r->network.n_layers > 1) return;
    sx_warnings_tell(result->warnings,
                     "--warm-start %s has no effect: there is one layer, and no --db to start it from", warm);
}

/* Copies a text into a result; NULL stays NULL. */
static sx_status keep_text(const char *text, char **out) {
    *out = text ? strdup(text) : NULL;
    return text && !*out ? sx_error_memory() : SX_OK;
}

/* Reads --evaluator. */
static sx_status read_evaluator(const sx_args *args, map_job *job) {
    sx_session_options *o = &job->r->options;
    SX_TRY(sx_evaluator_read(args, &o->outside));
    if (!o->outside) return SX_OK;
    if (o->run.ranks)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--evaluator is not for several processes"),
                             "start one process; the evaluator may itself use several");
    if (sx_args_flag(args, "objective"))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--objective cannot be used with --evaluator"),
                             "the evaluator's answers are what is minimised");
    sx_outside_evaluator_objective(&o->run.objective);
    o->run.threads = 1;
    o->run.cache = 1 << 16;
    return keep_text(sx_outside_evaluator_command(o->outside), &job->r->evaluator);
}

/* Reads the options that decide the search. */
static sx_status read_options(const sx_args *args, map_job *job) {
    sx_session_options *o = &job->r->options;
    const char *warm = sx_args_text(args, "warm-start", 0);
    SX_TRY(read_mapper(args, job));
    o->space = sx_search_space_options(args);
    o->model = sx_search_model_options(args);
    o->checkpoint = sx_args_text(args, "checkpoint", 0);
    o->again = sx_args_flag(args, "again");
    job->view.db = sx_args_text(args, "db", 0);
    o->run.pareto = sx_args_flag(args, "pareto");
    o->run.k_best = (unsigned)sx_args_count(args, "k-best", 1);
    if (o->run.k_best < 1 || o->run.k_best > 10000)
        return sx_error_new(SX_ERR_USAGE, "--k-best must be between 1 and 10000");
    o->run.checkpoint_seconds = sx_args_number(args, "checkpoint-seconds", SX_CHECKPOINT_SECONDS);
    if (o->space.remainders) o->run.cache = 1 << 16;
    SX_TRY(read_widen(args, job));
    o->warm = SX_WARM_SIMILARITY;
    if (warm) SX_TRY(sx_warm_named("--warm-start", warm, &o->warm));
    job->view.quiet = sx_args_flag(args, "quiet");
    job->view.verbose = sx_args_flag(args, "verbose");
    SX_TRY(keep_text(sx_args_text(args, "problem", 0), &job->r->problem));
    job->r->batch = (uint32_t)sx_args_count(args, "batch", 1);
    job->r->training = sx_args_flag(args, "training");
    job->r->training_step = sx_args_flag(args, "training-step");
    o->run.proof = sx_args_flag(args, "certificate");
    SX_TRY(sx_chips_options(args, &job->r->served));
    SX_TRY(sx_fuse_prepare(args, job->r));
    job->explain = sx_args_flag(args, "explain");
    return read_evaluator(args, job);
}

/* Reads the densities over which mappings are scored. */
static sx_status read_densities(const sx_args *args, map_job *job) {
    sx_session_options *o = &job->r->options;
    const char *text = sx_args_text(args, "densities", 0);
    if (!text) return SX_OK;
    if (o->run.pareto || job->view.db || o->outside)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--densities scores a mapping over several densities at once"),
            "leave out --%s or --densities",
            o->outside      ? "evaluator"
            : o->run.pareto ? "pareto"
                            : "db");
    SX_TRY(sx_density_range_parse(text, &o->model.densities));
    return sx_density_range_aim(&o->model.densities, &o->run.objective);
}

/* Reads the formats among which to choose. */
static sx_status read_formats(const sx_args *args, map_job *job) {
    sx_session_options *o = &job->r->options;
    SX_TRY(sx_formats_read(args, &o->run.objective, &o->model.formats));
    if (o->model.formats.kinds && (o->run.pareto || job->view.db || o->outside))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--search-formats chooses formats by one objective"),
                             "leave out --%s or --search-formats",
                             o->outside      ? "evaluator"
                             : o->run.pareto ? "pareto"
                                             : "db");
    return SX_OK;
}

/* Refuses, before the search, a job that no certificate can be written of. */
static sx_status check_certificate(const map_job *job) {
    const sx_session_options *o = &job->r->options;
    if (!sx_navigator_proves(job->view.asked))
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "the mapper '%s' does not prove optimality", job->view.asked),
            "--certificate needs --mapper optimal or auto");
    if (o->run.objective.n_criteria > 1 && (o->run.pareto || o->space.remainders))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE,
                                          "--certificate does not support several criteria with --%s",
                                          o->run.pareto ? "pareto" : "remainders"),
                             "give one of '%s' as --objective", job->r->objective);
    if (o->run.k_best > 1)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "a certificate covers a single mapping, or the front of --pareto"),
            "leave out --k-best or --certificate");
    return SX_OK;
}

/* Makes sure, before the search, that a file can be written, or the files of a network in a folder, which is
 * made. */
static sx_status prepare_path(const map_job *job, const char *path, bool folder, const char *suffix) {
    char *first;
    if (!path) return SX_OK;
    if (!folder) return sx_file_writable(path);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return sx_error_system(SX_ERR_FILE, "cannot create the folder '%s'", path);
    SX_TRY(path_in_folder(job, 0, path, suffix, &first));
    sx_status status = sx_file_writable(first);
    free(first);
    return status;
}

/* The same for all that the search is to write. */
static sx_status prepare_output(const sx_args *args, const map_job *job) {
    bool network = job->r->network.n_layers > 1, json = sx_args_flag(args, "json"),
         fused = sx_args_flag(args, "fuse");
    SX_TRY(prepare_path(job, sx_args_text(args, "certificate", 0), network && !fused, SX_CERTIFICATE_SUFFIX));
    SX_TRY(prepare_path(job, sx_args_text(args, "svg", 0), false, ""));
    return prepare_path(job, sx_args_text(args, "output", 0), network && !json && !fused, MAPPING_SUFFIX);
}

/* Writes the mapping of layer `i` to a file, or into the folder of a network. */
static sx_status write_mapping(const map_job *job, size_t i, const char *output, sx_output *result) {
    char *text = NULL, *path = NULL;
    sx_status status = SX_OK;
    if (job->r->network.n_layers > 1) status = path_in_folder(job, i, output, MAPPING_SUFFIX, &path);
    if (!status)
        status = sx_mapping_write(&job->r->session.layer[i].best.mapping, &job->r->network.layer[i].problem,
                                  &job->r->arch, SX_YAML, &text);
    if (!status) status = sx_output_write(result, path ? path : output, text);
    free(text);
    free(path);
    return status;
}

/* Writes the fused mapping of a network to a file. */
static sx_status write_fused(const map_job *job, const char *output, sx_output *result) {
    char *text;
    SX_TRY(sx_session_fused_write(job->r->fused, job->graph.name, &job->r->arch, SX_YAML, &text));
    sx_status status = sx_output_write(result, output, text);
    free(text);
    return status;
}

/* Writes all mappings to --output: one to a file, those of a network into a folder. Returns the first failure
 * and goes on with the others. */
static sx_status write_mappings(const map_job *job, const char *output, sx_output *result) {
    sx_status first = SX_OK;
    if (job->r->fused && job->r->fused->found) return write_fused(job, output, result);
    for (size_t i = 0; i < job->r->session.n_layers; i++) {
        if (!job->r->session.layer[i].found) continue;
        sx_status status = write_mapping(job, i, output, result);
        if (first)
            sx_status_free(status);
        else
            first = status;
    }
    return first;
}

/* Takes the times out of a result, so that equal searches give equal bytes. */
static void forget_times(sx_result *r) {
    sx_session_result *result = &r->session;
    if (r->fused) r->fused->seconds = 0;
    for (size_t i = 0; i < result->n_layers; i++) {
        result->layer[i].summary.seconds = 0;
        for (size_t t = 0; t < result->layer[i].n_trace; t++) result->layer[i].trace[t].seconds = 0;
    }
}

/* Adds the result as text. */
static sx_status print_result(const map_job *job, sx_output *result) {
    const sx_session_result *found = &job->r->session;
    if (found->resumed && !job->view.quiet)
        sx_text_add(&result->err, "note: resumed from %s\n", job->r->options.checkpoint);
    if (job->r->network.n_layers == 1)
        return sx_mapping_report_layer(job->r, &job->view, found->found ? &result->out : &result->err);
    SX_TRY(sx_mapping_report_network(job->r, &job->view, &result->out));
    if (job->r->fused) sx_fused_report(job->r->fused, job->r->objective, job->view.verbose, &result->out);
    if (job->r->fused && job->explain) sx_fused_explain(job->r->fused, &result->out);
    if (job->r->graph) return sx_runs_report(job->r, job->view.quiet, job->view.verbose, &result->out);
    return SX_OK;
}

/* Adds the result as JSON. */
static sx_status print_json(const map_job *job, sx_output *result) {
    char *text;
    SX_TRY(sx_result_write(job->r, &text));
    sx_text_add_bytes(&result->out, text, strlen(text));
    free(text);
    return SX_OK;
}

/* Writes the figure of --svg, where it is given and something was found. */
static sx_status write_svg(const sx_args *args, const map_job *job) {
    const char *path = sx_args_text(args, "svg", 0);
    sx_text svg = {0};
    if (!path || !job->r->session.found) return SX_OK;
    sx_status status = sx_result_svg(job->r, &svg);
    if (!status) status = sx_file_write(path, svg.data, svg.size);
    sx_text_free(&svg);
    return status;
}

/* Outputs the result, also where the mappings cannot be written. */
static sx_status output_result(const sx_args *args, const map_job *job, sx_output *result) {
    const char *output = sx_args_text(args, "output", 0);
    const sx_session_result *found = &job->r->session;
    tell_remainders(job, result);
    sx_output_exits(result, found->found || (!found->complete && found->total.cycles > 0) ? SX_EXIT_FOUND
                                                                                          : SX_EXIT_NONE);
    if (sx_args_flag(args, "json")) {
        sx_output_to_file(result, output);
        return print_json(job, result);
    }
    sx_status printed = print_result(job, result);
    sx_status written = output ? write_mappings(job, output, result) : SX_OK;
    if (!written) return printed;
    sx_status_free(printed);
    return written;
}

/* Refuses, with an objective of the network, what is about the objective of a layer. */
static sx_status check_network(const map_job *job, const sx_args *args) {
    static const char *const apart[] = {"fuse", "certificate", "densities", "search-formats", "target"};
    for (size_t i = 0; i < sizeof apart / sizeof *apart && job->r->options.run.objective.network; i++)
        if (sx_args_flag(args, apart[i]))
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--objective %s cannot be used with --%s",
                                              job->r->objective, apart[i]),
                                 "leave out 'network-', or --%s", apart[i]);
    return SX_OK;
}

/* Reads the objective, which is the evaluator's where there is one. */
static sx_status read_objective(sx_sources *sources, map_job *job, sx_output *result) {
    sx_result *r = job->r;
    if (!r->evaluator)
        return sx_search_objective(sources, &r->options.run.objective, r->objective, sizeof r->objective,
                                   &result->err);
    sx_objective_text(&r->options.run.objective, r->objective, sizeof r->objective);
    return SX_OK;
}

/* Reads the layers, and the graphs where they are fused or are runs of a network. */
static sx_status read_network(const sx_args *args, sx_sources *sources, map_job *job, sx_output *result) {
    SX_TRY(sx_run_network(args, sources, job->r));
    SX_TRY(sx_bind_network(sources, &job->r->arch, NULL, &job->r->network, result));
    sx_search_network_semantics(args, &job->r->network, &job->r->arch, &job->r->options.model);
    SX_TRY(sx_densities_check(&job->r->options.model.densities, &job->r->network));
    return sx_fuse_graph(args, sources, job->r, &job->graph);
}

/* Reads the inputs, searches, and outputs the result. */
static sx_status map_input(const sx_args *args, sx_sources *sources, map_job *job, sx_output *result) {
    const bool follows = sx_ranks_follows(args->ranks);
    watcher w = {.sources = sources,
                 .job = job,
                 .result = result,
                 .certificate =
                     follows || sx_args_flag(args, "fuse") ? NULL : sx_args_text(args, "certificate", 0),
                 .searched_from = SIZE_MAX};
    SX_TRY(read_options(args, job));
    SX_TRY(sx_sources_load(args, sources));
    SX_TRY(read_objective(sources, job, result));
    SX_TRY(check_network(job, sources->args));
    if (sx_args_flag(args, "certificate")) SX_TRY(check_certificate(job));
    SX_TRY(read_densities(args, job));
    SX_TRY(read_formats(args, job));
    SX_TRY(sx_sources_arch(sources, &job->r->arch));
    SX_TRY(sx_search_check_latency(args, &job->r->arch, &job->r->options.run.objective));
    SX_TRY(sx_clock_apply(args, &job->r->arch));
    SX_TRY(sx_chips_timing(args, sources, job->r));
    SX_TRY(keep_text(sx_sources_energies(sources), &job->r->energies));
    SX_TRY(read_network(args, sources, job, result));
    SX_TRY(sx_search_check_sparse(args, &job->r->arch, result->warnings));
    tell_narrowed(job, result);
    tell_cold(job, sx_args_text(args, "warm-start", 0), result);
    sx_search_foresee(sources, &job->r->network, &job->r->arch);
    SX_TRY(sx_search_notes(args, sources, true, result));
    if (!follows) SX_TRY(prepare_output(args, job));
    if (job->view.db && !follows) SX_TRY(sx_store_open(job->view.db, &job->r->options.store));
    sx_progress_begin(&w.line, args);
    sx_gpu_choice_show(&job->gpu, &w.line);
    job->r->options.run.cancel = sx_interrupt_catch();
    job->r->options.run.progress = job->r->options.outside ? show_questions : sx_progress_show;
    job->r->options.run.user = &w.line;
    job->r->options.constraints = constraints_of;
    job->r->options.layer_begins = layer_begins;
    job->r->options.layer_ends = layer_ends;
    job->r->options.warn = warn_once;
    job->r->options.user = &w;
    sx_status status = sx_session_run(&job->r->network, &job->r->arch, &job->r->options, &job->r->session);
    sx_progress_end(&w.line);
    if (follows) return status;
    if (!status) status = sx_fuse_network(args, &job->graph, job->r, result);
    if (job->r->options.outside) job->r->judged = sx_outside_evaluator_report(job->r->options.outside);
    if (!status) sx_evaluator_note(job->r->options.outside, job->view.quiet, &result->err);
    if (!status) certify_finished(&w);
    if (sx_args_flag(args, "no-clock")) forget_times(job->r);
    if (status && job->r->session.total.cycles > 0) sx_status_free(output_result(args, job, result));
    if (!status) status = output_result(args, job, result);
    if (!status) status = write_svg(args, job);
    if (status)
        sx_status_free(w.certified);
    else
        status = w.certified;
    if (job->r->session.complete && !(job->r->fused && job->r->fused->stopped))
        result->checkpoint = job->r->options.checkpoint;
    return status;
}

/* `sextant map`. */
static sx_status run_map(const sx_args *args, sx_output *result) {
    sx_sources sources = {0};
    map_job job = {0};
    SX_TRY(sx_result_new(&job.r));
    sx_status status = map_input(args, &sources, &job, result);
    sx_store_close(job.r->options.store);
    sx_outside_evaluator_free(job.r->options.outside);
    sx_result_free(job.r);
    sx_graph_fini(&job.graph);
    sx_sources_fini(&sources);
    return status;
}

static const sx_option options[] = {
    SX_OPTION_ARCH,
    SX_OPTIONS_NETWORK,
    SX_OPTIONS_CHIPS,
    SX_OPTION_CONSTRAINTS,
    SX_OPTION_BIND,
    SX_OPTIONS_FILES,
    SX_OPTION_CLOCK,
    SX_OPTION_SVG_COST,
    SX_OPTION_MAPPER,
    SX_OPTIONS_GPU,
    SX_OPTION_MINIMISE,
    SX_OPTIONS_EVALUATOR,
    SX_OPTIONS_BUDGET,
    SX_OPTION_SEED,
    SX_ROW_ONCE(
        "surrogate", 0, "FILE", TEXT,
        "with --mapper gradient: a surrogate of `sextant train` instead of one of `sextant list surrogates`"),
    SX_ROW_ONCE("gap", 0, "X", NUMBER,
                "stop when the gap to the lower bound is at most this, such as 0.05 (0); with --fuse, that "
                "of the fused network"),
    SX_ROW_ONCE("k-best", 'k', "N", COUNT, "report the N best mappings (1)"),
    SX_ROW_FLAG("pareto", 0, "also report the Pareto front of energy and cycles"),
    SX_ROW_ONCE("warm-start", 0, "HOW", TEXT,
                "start a layer from the mapping of the most similar layer before it (similarity), of the "
                "previous layer (previous), or from none (off)"),
    SX_OPTIONS_DATABASE,
    SX_ROW_ONCE("checkpoint", 0, "FILE", TEXT,
                "save the state of the search in FILE; resume from it if the search was stopped before"),
    SX_ROW_ONCE("checkpoint-seconds", 0, "SECONDS", NUMBER,
                "interval between checkpoints (" SX_TEXT_OF(SX_CHECKPOINT_SECONDS) ")"),
    SX_ROW_ONCE("certificate", 0, "FILE", TEXT,
                "write a certificate of the proof to FILE (for a network, to a folder FILE; with --fuse, to "
                "a file), for `sextant verify`"),
    SX_OPTIONS_SPACE,
    SX_OPTION_SPLIT_AXES,
    SX_ROW_FLAG("no-remainders", 0,
                "search only tiles that divide; by default the mapper " DEFAULT_MAPPER
                " then also tries others, which leave remainders"),
    SX_OPTIONS_MODEL,
    SX_OPTION_LATENCY,
    SX_ROW_ONCE("densities", 0, "TENSOR=[MODEL:]SHARE,...[@WEIGHT,...]", TEXT,
                "find one mapping for several densities, such as Weights=1,0.5,0.1: minimise the sum of the "
                "objective at each, times its weight (1/SHARE)"),
    SX_OPTIONS_FORMATS,
    SX_OPTIONS_FUSE,
    SX_ROW_FLAG("no-clock", 0, "omit times from the output, so that equal searches give equal bytes"),
    SX_OPTION_JSON,
    SX_ROW_ONCE("output", 'o', "FILE", TEXT,
                "write the mapping to FILE, in Timeloop's format (for a network, to a folder FILE; with "
                "--fuse, the fused mapping to a file); with --json, the JSON"),
    SX_OPTION_VERBOSE,
    SX_OPTION_QUIET,
    SX_OPTION_HELP,
};

const sx_command sx_command_map = {
    .name = "map",
    .about = "find mappings for a problem, or for every layer of a network",
    .usage = "[FOLDER|FILE ...] [--arch FILE|NAME] [--problem FILE|EINSUM|NAME|NETWORK[/LAYER]] [OPTION ...]",
    .details = SX_HELP_FILES
    "The default mapper is " DEFAULT_MAPPER
    ": gamma, then optimal. Without a budget it runs until its search is\n"
    "complete, within seconds for a layer; mappers that do not terminate by themselves get\n" SX_TEXT_OF(
        SX_DEFAULT_EVALS) " evaluations. The report says what is proven: the optimum, or a lower bound and a "
                          "gap.\n"
                          "Ctrl-C stops the search and reports the best mapping so far; a second Ctrl-C ends "
                          "the program.\n",
    .exits = {[SX_EXIT_NONE] = "no legal mapping is found, or none yet after Ctrl-C; the reason is given"},
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .divided = true,
    .run = run_map,
};
