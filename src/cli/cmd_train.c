/* `sextant train`: data sets and surrogates. */
#include "base/choice.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/search.h"
#include "report/json_parts.h"
#include "report/table.h"
#include "surrogate/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the command line asks for, and what becomes of it. */
typedef struct job {
    sx_train_options options;
    sx_arch arch;
    sx_family family;
    sx_train_result result;
    sx_progress_line line;
    double shown; /* when the line was drawn last */
    const char *output;
    bool json, quiet, clock, data_only;
    double began; /* with data_only */
} job;

/* Shows how far the training is. */
static void show_progress(void *user, const sx_train_progress *p) {
    job *j = user;
    sx_text text = {0};
    double now = sx_clock_seconds();
    if (now - j->shown < 0.1) return;
    j->shown = now;
    if (p->phase != SX_TRAIN_STEPS) {
        sx_text_add(&text, "%s of %s samples", sx_show_count((double)p->samples).text,
                    sx_show_count((double)p->all_samples).text);
    } else {
        sx_text_add(&text, "%s of %s steps  loss %.3g", sx_show_count((double)p->step).text,
                    sx_show_count((double)p->steps).text, p->loss);
        if (isfinite(p->held_loss))
            sx_text_add(&text, "  held out %.3g, rank correlation %.4f", p->held_loss, p->rank);
    }
    sx_text_add(&text, "  %s samples/s", sx_show_count(floor(p->samples_per_second)).text);
    if (isfinite(p->seconds_left)) sx_text_add(&text, "  %.0f s left", ceil(p->seconds_left));
    if (!text.failed) sx_progress_note(&j->line, "%s", text.data);
    sx_text_free(&text);
}

/* Reads the widths of the hidden layers, "128,256,256,128". */
static sx_status read_widths(const char *text, sx_train_options *o) {
    o->n_widths = 0;
    for (const char *at = text;; at++) {
        char *end;
        unsigned long width = strtoul(at, &end, 10);
        if (end == at || (*end && *end != ',') || width < 1 || width > SX_NN_MAX_WIDTH)
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--hidden: '%s' is not a list of widths", text),
                                 "such as 64,128,128,64: each from 1 to %d", SX_NN_MAX_WIDTH);
        if (o->n_widths == SX_TRAIN_WIDTHS)
            return sx_error_new(SX_ERR_USAGE, "--hidden: more than %d layers", SX_TRAIN_WIDTHS);
        o->width[o->n_widths++] = (uint32_t)width;
        at = end;
        if (!*at) return SX_OK;
    }
}

/* The paper's network and training, where options do not say otherwise. */
static void take_paper(sx_train_options *o) {
    static const uint32_t width[] = {64, 256, 1024, 2048, 2048, 1024, 256, 64};
    memcpy(o->width, width, sizeof width);
    o->n_widths = sizeof width / sizeof *width;
    o->form = (sx_surrogate_form){.raw_inputs = true, .raw_outputs = true};
    o->optimizer = SX_SGD;
    o->schedule = (sx_schedule){.kind = SX_SCHEDULE_STEP, .rate = 1e-2, .factor = 0.1};
    o->batch = 128;
    o->epochs = 100;
    o->data.n_problems = 20000;
}

/* Reads a count that is at least 1 and at most `most`. */
static sx_status read_count(const sx_args *args, const char *name, uint64_t most, uint64_t *out) {
    uint64_t value = sx_args_count(args, name, *out);
    if (value < 1 || value > most)
        return sx_error_new(SX_ERR_USAGE, "--%s must be between 1 and %llu", name, (unsigned long long)most);
    *out = value;
    return SX_OK;
}

/* Reads what decides the data set. */
static sx_status read_data(const sx_args *args, sx_train_options *o) {
    sx_samples_options *d = &o->data;
    uint64_t samples = d->n_problems * d->per_problem;
    SX_TRY(read_count(args, "mappings", 1000000, &d->per_problem));
    SX_TRY(read_count(args, "samples", (uint64_t)1 << 40, &samples));
    SX_TRY(read_count(args, "held-out", 1000000, &o->held_problems));
    d->n_problems = (samples + d->per_problem - 1) / d->per_problem;
    d->space = sx_search_space_options(args);
    d->model = sx_search_model_options(args);
    d->folder = sx_args_text(args, "data", 0);
    d->seed = sx_args_count(args, "seed", 0);
    if (d->seed > INT64_MAX)
        return sx_error_new(SX_ERR_USAGE, "--seed must be at most %lld", (long long)INT64_MAX);
    d->ranks = args->ranks;
    return sx_search_threads(args, &d->threads);
}

/* Reads --raw and --outputs. */
static sx_status read_form(const sx_args *args, sx_surrogate_form *form) {
    const char *given = sx_args_text(args, "raw", 0), *outputs = sx_args_text(args, "outputs", 0);
    size_t raw, edp = 0;
    if (given) {
        SX_TRY(sx_choice_read("--raw", given, "none, inputs, outputs, all", &raw));
        form->raw_inputs = raw & 1;
        form->raw_outputs = raw & 2;
    }
    if (outputs) SX_TRY(sx_choice_read("--outputs", outputs, "vector, edp", &edp));
    form->edp = edp == 1;
    return SX_OK;
}

/* Reads what decides the training. */
static sx_status read_training(const sx_args *args, sx_train_options *o) {
    const char *text;
    uint64_t batch = o->batch;
    if ((text = sx_args_text(args, "hidden", 0))) SX_TRY(read_widths(text, o));
    if ((text = sx_args_text(args, "loss", 0))) SX_TRY(sx_loss_find(text, &o->loss));
    if ((text = sx_args_text(args, "optimizer", 0))) SX_TRY(sx_optimizer_find(text, &o->optimizer));
    if ((text = sx_args_text(args, "schedule", 0))) SX_TRY(sx_schedule_find(text, &o->schedule.kind));
    if ((text = sx_args_text(args, "device", 0))) SX_TRY(sx_trainer_device_find(text, &o->device));
    if ((text = sx_args_text(args, "blas", 0))) SX_TRY(sx_matrix_backend_find(text, &o->backend));
    if ((text = sx_args_text(args, "precision", 0))) SX_TRY(sx_trainer_precision_find(text, &o->precision));
    SX_TRY(read_form(args, &o->form));
    SX_TRY(read_count(args, "batch-size", 1 << 20, &batch));
    SX_TRY(read_count(args, "epochs", 1000000, &o->epochs));
    o->batch = (size_t)batch;
    o->schedule.rate = sx_args_number(args, "rate", o->schedule.rate);
    if (!(o->schedule.rate > 0)) return sx_error_new(SX_ERR_USAGE, "--rate must be above 0");
    o->checkpoint = sx_args_text(args, "checkpoint", 0);
    return SX_OK;
}

static sx_status read_options(const sx_args *args, job *j) {
    sx_train_options *o = &j->options;
    const char *family = sx_args_text(args, "family", 0);
    sx_train_options_init(o);
    if (sx_args_flag(args, "paper")) take_paper(o);
    j->json = sx_args_flag(args, "json");
    j->quiet = sx_args_flag(args, "quiet");
    j->clock = !sx_args_flag(args, "no-clock");
    j->data_only = sx_args_flag(args, "data-only");
    j->output = sx_args_text(args, "output", 0);
    if (!family)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "no family of problems is given"),
                             "give --family conv2d, gemm, mttkrp or a file");
    if (!j->output && !j->data_only)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "no file for the surrogate is given"),
                             "give --output FILE");
    if (j->data_only && !sx_args_flag(args, "data"))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--data-only needs a folder"), "give --data DIR");
    SX_TRY(read_data(args, o));
    SX_TRY(read_training(args, o));
    if (o->schedule.kind == SX_SCHEDULE_STEP) {
        uint64_t steps = o->data.n_problems * o->data.per_problem / o->batch * o->epochs;
        o->schedule.period = steps / 4 ? steps / 4 : 1;
        o->schedule.factor = 0.1;
    }
    return sx_family_load(family, &j->family);
}

/* Adds the answer for a person. */
static void print_training(const job *j, sx_output *result) {
    const sx_train_result *r = &j->result;
    const sx_surrogate *s = r->surrogate;
    sx_text *out = &result->out;
    sx_text_add(out, "%s for %s%s\n", j->family.name, j->arch.name,
                j->options.data.space.keep_all ? ", every tensor kept" : "");
    sx_text_add(out, "samples: %s of %s problems%s", sx_show_count((double)r->samples).text,
                sx_show_count((double)j->options.data.n_problems).text,
                j->options.data.folder ? ", in " : "");
    sx_text_add(out, "%s", j->options.data.folder ? j->options.data.folder : "");
    if (j->clock) sx_text_add(out, " (%.1f s)", r->sampling_seconds);
    sx_text_add(out, "\n");
    if (!s) return;
    sx_text_add(out, "network: %zu inputs, ", s->encoding.n_inputs);
    for (size_t i = 0; i < j->options.n_widths; i++)
        sx_text_add(out, "%s%u", i ? "-" : "", j->options.width[i]);
    sx_text_add(out, ", %zu outputs: %s weights\n", sx_surrogate_n_outputs(s),
                sx_show_count((double)s->net->n_parameters).text);
    sx_text_add(out, "steps: %s of %zu samples", sx_show_count((double)s->record.steps).text,
                j->options.batch);
    if (j->clock)
        sx_text_add(out, " (%.1f s and %.1f s for held-out problems)", r->training_seconds,
                    r->measuring_seconds);
    sx_text_add(out, "\nheld-out problems: loss %.4g, rank correlation of EDP %.5f\n", s->record.held_loss,
                s->record.rank);
    sx_text_add(out, "written: %s\n", j->output);
}

/* The measures as a list. */
static json_t *measures_of(const sx_train_result *r) {
    json_t *list = json_array();
    for (size_t i = 0; i < r->n_measures; i++) {
        const sx_train_measure *m = &r->measure[i];
        sx_json_append(list, json_pack("{s:I, s:o, s:o, s:o}", "step", (json_int_t)m->step, "loss",
                                       sx_json_real(m->loss), "held_out_loss", sx_json_real(m->held_loss),
                                       "rank_correlation", sx_json_real(m->rank)));
    }
    return list;
}

/* Adds the answer for programs. */
static sx_status print_json(const job *j, sx_output *result) {
    const sx_train_result *r = &j->result;
    json_t *o = json_pack("{s:s, s:s, s:b, s:I, s:I, s:b, s:o}", "arch", j->arch.name, "family",
                          j->family.name, "keep_all", j->options.data.space.keep_all, "samples",
                          (json_int_t)r->samples, "problems", (json_int_t)j->options.data.n_problems,
                          "complete", !result->incomplete, "measures", measures_of(r));
    if (j->clock) {
        sx_json_set(o, "sampling_seconds", sx_json_real(r->sampling_seconds));
        sx_json_set(o, "training_seconds", sx_json_real(r->training_seconds));
        sx_json_set(o, "measuring_seconds", sx_json_real(r->measuring_seconds));
    }
    if (r->surrogate) {
        char *text;
        SX_TRY(sx_surrogate_text(r->surrogate, &text));
        sx_json_set(o, "surrogate", sx_json_read(text));
        sx_json_set(o, "file", sx_json_string(j->output));
        free(text);
    }
    return sx_json_finish(o, &result->out);
}

/* Writes what was reached, also before an error, and gives it out. */
static sx_status output_training(job *j, sx_status status, sx_output *result) {
    const sx_train_result *r = &j->result;
    sx_status written = r->surrogate ? sx_surrogate_write(j->output, r->surrogate) : SX_OK;
    if (status && r->surrogate && !written)
        sx_text_add(&result->err, "note: the best surrogate before that is in %s\n", j->output);
    if (status) {
        sx_status_free(written);
        return status;
    }
    SX_TRY(written);
    bool whole =
        j->data_only ? r->samples == j->options.data.n_problems * j->options.data.per_problem : r->complete;
    if (!whole)
        sx_text_add(&result->err, "note: interrupted%s\n",
                    r->surrogate             ? "; this is the best surrogate so far"
                    : j->options.data.folder ? "; the same command continues with the samples made so far"
                                             : "");
    result->incomplete = !whole;
    sx_output_exits(result, r->surrogate || (j->data_only && r->samples) ? SX_EXIT_FOUND : SX_EXIT_NONE);
    if (r->resumed && !j->quiet) sx_text_add(&result->err, "note: resumed from %s\n", j->options.checkpoint);
    if (j->json) return print_json(j, result);
    print_training(j, result);
    return SX_OK;
}

/* Shows how far a data set is that is made alone. */
static void show_samples(void *user, uint64_t samples) {
    const job *j = user;
    const sx_samples_options *o = &j->options.data;
    sx_train_progress p = sx_train_sampling(j->began, samples, o->n_problems * o->per_problem);
    show_progress(user, &p);
}

/* Makes the data set alone. */
static sx_status make_data(job *j) {
    sx_samples_options o = j->options.data;
    sx_samples *samples;
    o.stream = "train";
    o.progress = j->line.on ? show_samples : NULL;
    o.user = j;
    j->began = sx_clock_seconds();
    SX_TRY(sx_samples_new(&o, &samples));
    j->result.sampling_seconds = sx_clock_seconds() - j->began;
    j->result.samples = sx_samples_count(samples);
    sx_samples_free(samples);
    return SX_OK;
}

static sx_status train_surrogate(const sx_args *args, sx_sources *sources, job *j, sx_output *result) {
    SX_TRY(read_options(args, j));
    SX_TRY(sx_sources_load(args, sources));
    SX_TRY(sx_sources_arch(sources, &j->arch));
    SX_TRY(sx_search_notes(args, sources, true, result));
    if (j->output && !sx_ranks_follows(args->ranks)) SX_TRY(sx_file_writable(j->output));
    sx_progress_begin(&j->line, args);
    sx_progress_title(&j->line, "%s on %s", j->family.name, j->arch.name);
    j->options.data.arch = &j->arch;
    j->options.data.family = &j->family;
    j->options.data.cancel = sx_interrupt_catch();
    j->options.progress = j->line.on ? show_progress : NULL;
    j->options.user = j;
    sx_status status = j->data_only ? make_data(j) : sx_train(&j->options, &j->result);
    sx_progress_end(&j->line);
    return sx_ranks_follows(args->ranks) ? status : output_training(j, status, result);
}

/* `sextant train`. */
static sx_status run_train(const sx_args *args, sx_output *result) {
    sx_sources sources = {0};
    job *j = calloc(1, sizeof *j);
    if (!j) return sx_error_memory();
    sx_status status = train_surrogate(args, &sources, j, result);
    sx_train_result_fini(&j->result);
    sx_sources_fini(&sources);
    free(j);
    return status;
}

static const sx_option options[] = {
    SX_OPTION_ARCH,
    SX_OPTIONS_READ,
    SX_ROW_ONCE("family", 0, "NAME|FILE", INPUT,
                "family of problems: conv2d, gemm, mttkrp, or a file with an einsum and ranges of sizes"),
    SX_OPTIONS_SPACE,
    SX_OPTIONS_DENSE,
    SX_ROW_ONCE("samples", 'n', "N", COUNT, "mappings to train on (1000000)"),
    SX_ROW_ONCE("mappings", 0, "N", COUNT, "mappings of each random problem (500)"),
    SX_ROW_ONCE("held-out", 0, "N", COUNT, "problems held out for measuring (40)"),
    SX_ROW_ONCE("data", 0, "DIR", TEXT,
                "folder for the samples; those that are there already are not made again (memory)"),
    SX_ROW_FLAG("data-only", 0, "make the samples and stop"),
    SX_ROW_ONCE("hidden", 0, "WIDTHS", TEXT, "widths of the hidden layers (64,128,128,64)"),
    SX_ROW_ONCE(
        "outputs", 0, "KIND", TEXT,
        "vector: energies by level and tensor, utilisation, energy and cycles; edp: EDP alone (vector)"),
    SX_ROW_ONCE("raw", 0, "WHAT", TEXT, "inputs, outputs or all as they are instead of as logarithms (none)"),
    SX_ROW_ONCE("loss", 0, "NAME", TEXT, "huber, mse or mae (huber)"),
    SX_ROW_ONCE("optimizer", 0, "NAME", TEXT, "adam or sgd (adam)"),
    SX_ROW_ONCE("rate", 0, "X", NUMBER, "learning rate (0.003)"),
    SX_ROW_ONCE("schedule", 0, "NAME", TEXT,
                "of the rate: cosine; step: a tenth after each quarter; constant (cosine)"),
    SX_ROW_ONCE("batch-size", 0, "N", COUNT, "samples of a step (64)"),
    SX_ROW_ONCE("epochs", 0, "N", COUNT, "passes over all samples (5)"),
    SX_ROW_FLAG(
        "paper", 0,
        "defaults as in Mind Mappings: its network, 10 M samples, 100 epochs, SGD, nothing as logarithms"),
    SX_ROW_ONCE("device", 0, "NAME", TEXT, "cpu or cuda (cpu)"),
    SX_ROW_ONCE("blas", 0, "NAME", TEXT,
                "matrix products on the CPU: own, the same bits on every machine; plain; openblas; fast: "
                "openblas where it is installed (own)"),
    SX_ROW_ONCE("precision", 0, "NAME", TEXT, "of products on a GPU: fp32, tf32 or bf16 (fp32)"),
    SX_ROW_ONCE("checkpoint", 0, "FILE", TEXT,
                "save progress to FILE and FILE.best, and resume from there if they exist"),
    SX_OPTION_SEED,
    SX_OPTION_THREADS,
    SX_OPTION_NO_CLOCK,
    SX_OPTION_JSON,
    SX_ROW_ONCE("output", 'o', "FILE", TEXT, "write the surrogate to FILE, for --surrogate"),
    SX_OPTION_VERBOSE,
    SX_OPTION_QUIET,
    SX_OPTION_HELP,
};

static const sx_refused_option refused[] = {
    {"density", "a surrogate learns dense tensors: its inputs are sizes and mappings"},
    {"bits", "a surrogate learns elements of one word: its inputs are sizes and mappings"},
    {"sparse-semantics", "a surrogate learns dense tensors, of which both count the same"},
    {"rename", "a family of problems has dimensions of its own: --family FILE names them"},
};

const sx_command sx_command_train = {
    .name = "train",
    .about = "train a surrogate of the cost model for `--mapper gradient`",
    .usage = "--arch FILE|NAME --family NAME|FILE --output FILE [OPTION ...]",
    .details = "Samples are uniform legal mappings of random problems of the family. The surrogate with the\n"
               "least loss on held-out problems is written; Ctrl-C stops and writes the best so far.\n"
               "docs/learning.md describes families, and when a surrogate is worth training.\n",
    .exits = {[SX_EXIT_NONE] = "interrupted before there was a surrogate"},
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .refused = refused,
    .n_refused = sizeof refused / sizeof refused[0],
    .divided = true,
    .run = run_train,
};
