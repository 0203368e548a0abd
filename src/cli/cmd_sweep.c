/* `sextant sweep`: a language model over batches and contexts. The layers of all points are one network, so that a session
 * searches each distinct one once. */
#include "base/file.h"
#include "base/vector.h"
#include "cli/bind.h"
#include "cli/chips.h"
#include "cli/clock.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/run_graph.h"
#include "cli/search.h"
#include "cli/sweep_range.h"
#include "input/phase.h"
#include "input/tensor_bits.h"
#include "ir/shard.h"
#include "report/frontier.h"
#include "report/json_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWEEP_SECONDS 45
#define SWEEP_MAPPER "auto:gap=0.001" /* points of a frontier need no more */
enum { MOST_POINTS = 1024, MOST_BATCH = 1 << 20, MOST_CONTEXT = 1 << 28 };

/* A point of the sweep: its graph, and where its layers are in the network of all. */
typedef struct sweep_point {
    sx_graph graph;
    size_t first, n;
} sweep_point;

/* What the command works with. */
typedef struct sweep {
    sx_result *r;
    sx_sources sources;
    sx_args inputs; /* without what sources do not read */
    sx_network_options options;
    sx_sweep_range batch, context;
    size_t n_points, room;
    sweep_point *point;
    sx_progress_line line;
    sx_frontier frontier;
} sweep;

/* Leaves out the options that are read for each point. */
static sx_status strip_options(const sx_args *args, sx_args *out) {
    static const char *const own[] = {"problem", "batch",   "context",     "phase", "tokens",
                                      "logits",  "routing", "experts-hit", "mla",   "causal"};
    *out = *args;
    out->given = malloc((args->n_given + 1) * sizeof *out->given);
    if (!out->given) return sx_error_memory();
    out->n_given = 0;
    for (size_t i = 0; i < args->n_given; i++) {
        bool kept = true;
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            kept &= strcmp(args->given[i].option->name, own[k]) != 0;
        if (kept) out->given[out->n_given++] = args->given[i];
    }
    return SX_OK;
}

/* Reads the architecture, its timing, and the link of --link. */
static sx_status read_machine(const sx_args *args, sweep *s) {
    sx_result *r = s->r;
    SX_TRY(sx_sources_load(&s->inputs, &s->sources));
    SX_TRY(sx_sources_arch(&s->sources, &r->arch));
    SX_TRY(sx_clock_apply(args, &r->arch));
    if (r->arch.cycle_seconds == 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "the architecture '%s' has no clock", r->arch.name),
                             "give one, such as --clock 1GHz");
    return sx_chips_timing(args, &s->sources, r);
}

/* Reads the numbers of the sweep. */
static sx_status read_points(const sx_args *args, sweep *s) {
    const char *batch = sx_args_text(args, "batch", 0), *context = sx_args_text(args, "context", 0);
    SX_TRY(sx_sweep_range_read("batch", batch ? batch : "1:256", MOST_BATCH, &s->batch));
    SX_TRY(sx_sweep_range_read("context", context ? context : "1k:128k", MOST_CONTEXT, &s->context));
    if (s->batch.n * s->context.n > MOST_POINTS)
        return sx_error_new(SX_ERR_LIMIT, "%zu points; at most %d are allowed", s->batch.n * s->context.n,
                            MOST_POINTS);
    SX_TRY(sx_chips_options(args, &s->r->served));
    SX_TRY(sx_phase_options(args, &s->options));
    if (sx_phase_both(args))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "a sweep is of one phase"),
                             "give --phase decode, or --phase prefill for the time to the first token");
    if (s->options.phase == SX_PHASE_ANY) s->options.phase = SX_PHASE_DECODE;
    return SX_OK;
}

/* The graph of the model for a point, in the part that a chip has. */
static sx_status make_graph(const char *model, const sweep *s, const sx_network_options *options,
                            sx_graph *out) {
    const sx_served *served = &s->r->served;
    sx_graph whole = {0};
    if (sx_is_named(SX_NOUN_PROBLEM, model) && !sx_catalog_has_phases(model))
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--problem %s is no language model of the catalog", model),
            "`sextant list networks` lists them; a config.json of one works, too");
    SX_TRY(sx_model_graph(&s->inputs, model, options, &whole));
    sx_status status = sx_bits_apply_graph(&s->inputs, &whole);
    if (!status) status = sx_graph_shard(&whole, served->chips, served->by_experts, out);
    sx_graph_fini(&whole);
    return status;
}

/* Adds the layers of a graph to the network of all points, each called POINT/LAYER. */
static sx_status append_layers(sweep *s, sweep_point *p) {
    sx_network *all = &s->r->network, own = {0};
    SX_TRY(sx_graph_network(&p->graph, &own));
    sx_layer *grown = realloc(all->layer, (all->n_layers + own.n_layers) * sizeof *grown);
    if (!grown) {
        sx_network_fini(&own);
        return sx_error_memory();
    }
    all->layer = grown;
    p->first = all->n_layers;
    p->n = own.n_layers;
    for (size_t i = 0; i < own.n_layers; i++) {
        sx_layer *to = &all->layer[all->n_layers++];
        *to = own.layer[i];
        memset(to->name, 0, sizeof to->name);
        snprintf(to->name, sizeof to->name, "%zu/%.*s", s->n_points, SX_NAME_SIZE - 8, own.layer[i].name);
    }
    sx_network_fini(&own);
    return SX_OK;
}

/* Makes one point. */
static sx_status add_point(const char *model, sweep *s, uint64_t batch, uint64_t context) {
    sx_network_options o = s->options;
    const sx_storage *outer = &s->r->arch.level[s->r->arch.n_levels - 1];
    o.batch = (uint32_t)batch;
    o.bits = outer->word_bits;
    if (o.phase == SX_PHASE_DECODE) {
        o.context = context;
        o.has_context = true;
    } else {
        o.tokens = context;
        o.context = 0;
        o.has_context = false;
    }
    if (!sx_reserve(&s->point, &s->room, s->n_points + 1, sizeof *s->point)) return sx_error_memory();
    sweep_point *p = &s->point[s->n_points];
    *p = (sweep_point){.first = 0};
    SX_TRY(make_graph(model, s, &o, &p->graph));
    sx_status status = append_layers(s, p);
    s->n_points++;
    return status;
}

static void layer_begins(void *user, size_t layer) {
    sweep *s = user;
    sx_progress_title(&s->line, "%zu/%zu %s", layer + 1, s->r->network.n_layers,
                      s->r->network.layer[layer].name);
}

static sx_status constraints_of(void *user, const sx_problem *problem, const sx_arch *arch,
                                sx_constraints *out) {
    return sx_sources_constraints(&((sweep *)user)->sources, problem, arch, out);
}

/* Sets how layers are searched. */
static sx_status set_search_options(const sx_args *args, sweep *s, sx_output *result) {
    sx_session_options *o = &s->r->options;
    const char *db = sx_args_text(args, "db", 0);
    SX_TRY(sx_search_run_options(args, 0, &o->run));
    if (!sx_args_flag(args, "time") && !sx_args_flag(args, "evals")) o->run.seconds = SWEEP_SECONDS;
    SX_TRY(sx_search_objective(&s->sources, &o->run.objective, s->r->objective, sizeof s->r->objective,
                               &result->err));
    SX_TRY(sx_navigator_text(SWEEP_MAPPER, "map", &s->r->mapper));
    o->mapper = s->r->mapper;
    o->warm = SX_WARM_SIMILARITY;
    o->again = sx_args_flag(args, "again");
    o->run.k_best = 1;
    if (db) SX_TRY(sx_store_open(db, &o->store));
    sx_progress_begin(&s->line, args);
    o->run.cancel = sx_interrupt_catch();
    o->run.progress = sx_progress_show;
    o->run.user = &s->line;
    o->constraints = constraints_of;
    o->layer_begins = layer_begins;
    o->user = s;
    return SX_OK;
}

/* Evaluates the points by what was found. */
static sx_status evaluate_points(const char *model, sweep *s) {
    sx_frontier *f = &s->frontier;
    *f = (sx_frontier){.model = model, .arch = &s->r->arch, .phase = sx_phase_name(s->options.phase)};
    f->point = calloc(s->n_points, sizeof *f->point);
    f->best = calloc(s->n_points, sizeof *f->best);
    if (!f->point || !f->best) return sx_error_memory();
    for (size_t i = 0; i < s->n_points; i++) {
        f->n = i + 1;
        SX_TRY(sx_serving_of(&s->point[i].graph, s->r, s->point[i].first, s->point[i].n, &f->point[i]));
    }
    sx_frontier_choose(f);
    return SX_OK;
}

/* Writes the files that are asked for. */
static sx_status write_files(const sx_args *args, const sweep *s) {
    const char *csv = sx_args_text(args, "csv", 0), *svg = sx_args_text(args, "svg", 0),
               *page = sx_args_text(args, "html", 0);
    sx_text text = {0};
    char *figure = NULL;
    if (csv) {
        sx_frontier_csv(&s->frontier, &text);
        sx_status status = sx_file_write(csv, text.data, text.size);
        sx_text_free(&text);
        SX_TRY(status);
    }
    if (svg) {
        SX_TRY(sx_frontier_svg(&s->frontier, &figure));
        sx_status status = sx_file_write(svg, figure, strlen(figure));
        free(figure);
        SX_TRY(status);
    }
    if (!page) return SX_OK;
    sx_text_free(&text);
    sx_status status = sx_frontier_page(&s->frontier, &text);
    if (!status) status = sx_file_write(page, text.data, text.size);
    sx_text_free(&text);
    return status;
}

/* Outputs the points: of a single one its operators. */
static sx_status print_points(const sx_args *args, const sweep *s, sx_output *result) {
    const sx_frontier *f = &s->frontier;
    size_t searched = 0;
    for (size_t i = 0; i < f->n; i++) searched += f->point[i].n && f->point[i].found == f->point[i].layers;
    sx_output_exits(result, searched ? SX_EXIT_FOUND : SX_EXIT_NONE);
    const sx_session_result *session = &s->r->session;
    result->incomplete = !session->complete;
    for (size_t i = 0; i < session->n_layers; i++)
        result->incomplete |= session->layer[i].summary.stop == SX_STOP_TIME;
    if (sx_args_flag(args, "json")) return sx_json_finish(sx_frontier_json(f), &result->out);
    sx_frontier_table(f, &result->out);
    if (f->n == 1 || sx_args_flag(args, "verbose"))
        for (size_t i = 0; i < f->n; i++) {
            sx_text_add(&result->out, "\nBatch %llu, context %llu:\n\n",
                        (unsigned long long)f->point[i].run.batch,
                        (unsigned long long)f->point[i].run.context);
            sx_serving_report(&f->point[i], f->arch, true, &result->out);
        }
    size_t distinct = 0;
    for (size_t i = 0; i < s->r->session.n_layers; i++) distinct += s->r->session.layer[i].same_as == i;
    sx_text_add(
        &result->out,
        "\n  %zu points, %zu layers, %zu of them distinct and searched once. '*': no other batch of its "
        "context is better.\n",
        f->n, s->r->session.n_layers, distinct);
    if (!s->r->timing)
        sx_text_add(&result->out, "  The architecture has no timing: times are cycles (docs/timing.md).\n");
    if (!s->r->session.complete)
        sx_text_add(&result->out,
                    "  Stopped early (time limit or Ctrl-C): points that are not searched are left out.\n");
    return SX_OK;
}

/* Reads, searches and outputs the result. */
static sx_status run_sweep(const sx_args *args, sweep *s, sx_output *result) {
    const char *model = sx_args_text(args, "problem", 0), *const files[] = {"csv", "svg", "html"};
    if (!model || args->n_operands)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "a model is needed"),
                             "`sextant sweep -p llama-3-8b -a a100 --batch 1:256 --context 1k:128k`");
    SX_TRY(read_points(args, s));
    for (int i = 0; i < 3; i++)
        if (sx_args_text(args, files[i], 0)) SX_TRY(sx_file_writable(sx_args_text(args, files[i], 0)));
    SX_TRY(read_machine(args, s));
    for (size_t c = 0; c < s->context.n; c++)
        for (size_t b = 0; b < s->batch.n; b++)
            SX_TRY(add_point(model, s, s->batch.value[b], s->context.value[c]));
    SX_TRY(sx_search_notes(args, &s->sources, true, result));
    SX_TRY(sx_bind_network(&s->sources, &s->r->arch, NULL, &s->r->network, result));
    SX_TRY(set_search_options(args, s, result));
    sx_status status = sx_session_run(&s->r->network, &s->r->arch, &s->r->options, &s->r->session);
    sx_progress_end(&s->line);
    SX_TRY(status);
    SX_TRY(evaluate_points(model, s));
    SX_TRY(write_files(args, s));
    return print_points(args, s, result);
}

/* `sextant sweep`. */
static sx_status answer_sweep(const sx_args *args, sx_output *result) {
    sweep *s = calloc(1, sizeof *s);
    if (!s) return sx_error_memory();
    sx_status status = sx_result_new(&s->r);
    if (!status) status = strip_options(args, &s->inputs);
    if (!status) status = run_sweep(args, s, result);
    for (size_t i = 0; i < s->n_points; i++) sx_graph_fini(&s->point[i].graph);
    for (size_t i = 0; i < s->frontier.n; i++) sx_serving_fini(&s->frontier.point[i]);
    free(s->point);
    free(s->frontier.point);
    free(s->frontier.best);
    free(s->inputs.given);
    if (s->r) sx_store_close(s->r->options.store);
    sx_result_free(s->r);
    sx_sources_fini(&s->sources);
    free(s);
    return status;
}

static const sx_option options[] = {
    SX_OPTION_ARCH,
    SX_ROW_ONCE("problem", 'p', "MODEL|FILE", TEXT,
                "a language model of `sextant list networks`, or the config.json of one"),
    SX_ROW_ONCE("batch", 0, "LOW:HIGH|LIST", TEXT, "sequences at once, such as 1:256 or 1,8,64 (1:256)"),
    SX_ROW_ONCE(
        "context", 0, "LOW:HIGH|LIST", TEXT,
        "tokens of each sequence before the run, or with --phase prefill in it, such as 1k:128k (1k:128k)"),
    SX_ROW_ONCE("phase", 0, "NAME", TEXT, "decode or prefill (decode)"),
    SX_ROW_ONCE("logits", 0, "last|all", TEXT,
                "scores of words after the last new token, or after all (last)"),
    SX_ROW_ONCE("routing", 0, "uniform|balanced", TEXT,
                "experts that tokens hit: the expected number, or as many as can be (uniform)"),
    SX_ROW_ONCE("experts-hit", 0, "N", COUNT, "experts of a layer that tokens hit, as measured"),
    SX_ROW_ONCE("mla", 0, "absorbed|expanded", TEXT,
                "attention over latents: with the latents, or with keys and values made from them (absorbed "
                "to decode)"),
    SX_ROW_ONCE("causal", 0, "rectangle|skip", TEXT,
                "count all pairs of queries and keys, or those that causal attention uses (rectangle)"),
    SX_OPTIONS_CHIPS,
    SX_OPTION_BITS,
    SX_OPTION_BIND,
    SX_OPTIONS_READ,
    SX_OPTION_CLOCK,
    SX_OPTION_MINIMISE,
    SX_OPTIONS_BUDGET,
    SX_OPTION_SEED,
    SX_OPTIONS_DATABASE,
    SX_ROW_ONCE("csv", 0, "FILE", TEXT, "also write the points to FILE"),
    SX_ROW_ONCE("svg", 0, "FILE", TEXT, "also draw tokens per second over time, coloured by energy"),
    SX_ROW_ONCE("html", 0, "FILE", TEXT, "also write a page with the figure and the points"),
    SX_OPTION_JSON,
    SX_OPTION_VERBOSE,
    SX_OPTION_QUIET,
    SX_OPTION_HELP,
};

const sx_command sx_command_sweep = {
    .name = "sweep",
    .about = "tokens per second, latency and energy of a language model over batches and contexts",
    .usage = "--problem MODEL --arch FILE|NAME [--batch 1:256] [--context 1k:128k] [--chips N] [OPTION ...]",
    .details = "Layers that are the same in several points are searched once, within " SX_TEXT_OF(
        SWEEP_SECONDS) " s for all of them unless --time or\n"
                       "--evals say otherwise. A single point is shown with its operators. Ctrl-C gives the "
                       "points so far.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = answer_sweep,
};
