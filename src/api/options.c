#include "api/options.h"
#include "base/choice.h"
#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CACHED_SCORES = 1 << 16, MOST_THREADS = 1024 };

typedef enum kind { FLAG, COUNT, NUMBER, TEXT } kind;

/* An option: where its value is, and (of texts) what refuses a wrong one. */
typedef struct option_row {
    const char *name, *about;
    kind kind;
    size_t offset;
    sx_status (*check)(const char *value);
} option_row;

static sx_status check_mapper(const char *value) {
    char *text;
    SX_TRY(sx_navigator_text(value, "map", &text));
    free(text);
    return SX_OK;
}

static sx_status check_objective(const char *value) {
    sx_objective objective;
    return sx_objective_parse(value, &objective);
}

static sx_status check_warm(const char *value) {
    sx_warm warm;
    return sx_warm_named("warm-start", value, &warm);
}

static sx_status check_like(const char *value) {
    return sx_choice_read("like", value, "timeloop", NULL);
}

static sx_status check_latency(const char *value) {
    return sx_choice_read("latency", value, "timeloop, tile", NULL);
}

static sx_status check_semantics(const char *value) {
    return sx_choice_read("sparse-semantics", value, "exact, timeloop", NULL);
}

#define AT(field) offsetof(sx_options, field)
static const option_row rows[] = {
    {"mapper", "the search method, NAME[:KEY=VALUE,...]", TEXT, AT(mapper), check_mapper},
    {"objective", "what is minimised", TEXT, AT(objective), check_objective},
    {"evals", "evaluations at the most; 0: no limit but the mapper's own", COUNT, AT(evals), NULL},
    {"time", "seconds at the most; 0: no limit", NUMBER, AT(time), NULL},
    {"target", "stop at this value of the objective; 0: none", NUMBER, AT(target), NULL},
    {"patience", "stop after this number of evaluations without improvement; 0: never", COUNT, AT(patience),
     NULL},
    {"seed", "of all random numbers", COUNT, AT(seed), NULL},
    {"threads", "results do not depend on it; 0: one per processor", COUNT, AT(threads), NULL},
    {"k-best", "how many different best mappings to keep", COUNT, AT(k_best), NULL},
    {"pareto", "also keep the front of energy and cycles", FLAG, AT(pareto), NULL},
    {"proof", "remember what a certificate needs", FLAG, AT(proof), NULL},
    {"warm-start", "of networks: similarity, previous or off", TEXT, AT(warm_start), check_warm},
    {"again", "search also where the database has a proven answer", FLAG, AT(again), NULL},
    {"checkpoint", "a file that keeps the state, and from which a search goes on", TEXT, AT(checkpoint),
     NULL},
    {"checkpoint-seconds", "between two writes of it", NUMBER, AT(checkpoint_seconds), NULL},
    {"remainders", "tile sizes need not divide", FLAG, AT(remainders), NULL},
    {"no-remainders", "not even after tiles that divide, by the mapper auto", FLAG, AT(no_remainders), NULL},
    {"keep-all", "every level keeps what it is built for", FLAG, AT(keep_all), NULL},
    {"no-banks", "search what a banked level keeps, not its shares", FLAG, AT(no_banks), NULL},
    {"split-axes", "a dimension may lie on both axes of an array", FLAG, AT(split_axes), NULL},
    {"no-first-read-elision", "charge the first read of an output, too", FLAG, AT(no_first_read_elision),
     NULL},
    {"no-link-transfers", "children do not hand words to their neighbours", FLAG, AT(no_link_transfers),
     NULL},
    {"latency", "what latency is: timeloop (its cycles) or tile (the tile pipeline)", TEXT, AT(latency),
     check_latency},
    {"like", "answer as this tool does: timeloop", TEXT, AT(like), check_like},
    {"sparse-semantics", "how zeros are counted: exact or timeloop", TEXT, AT(sparse_semantics),
     check_semantics},
};
#undef AT
enum { N_ROWS = sizeof rows / sizeof *rows };

sx_status sx_options_new(sx_options **out) {
    sx_options *options = calloc(1, sizeof *options);
    if (!options) return sx_error_memory();
    options->k_best = 1;
    options->checkpoint_seconds = SX_CHECKPOINT_SECONDS;
    *out = options;
    return SX_OK;
}

void sx_options_free(sx_options *options) {
    if (!options) return;
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].kind == TEXT) free(*(char **)((char *)options + rows[i].offset));
    free(options->function_name);
    free(options->start);
    free(options);
}

const char *sx_options_name(size_t index, const char **about) {
    if (index >= N_ROWS) return NULL;
    if (about) *about = rows[index].about;
    return rows[index].name;
}

/* The error for an option that does not exist. */
static sx_status unknown_option(const char *name) {
    const char *known[N_ROWS];
    for (size_t i = 0; i < N_ROWS; i++) known[i] = rows[i].name;
    const char *nearest = sx_text_nearest(name, known, N_ROWS);
    sx_status error = sx_error_new(SX_ERR_USAGE, "unknown option '%s'", name);
    if (!nearest) return error;
    return sx_error_hint(error, "did you mean '%s'?", nearest);
}

/* The error for a value that an option cannot have. */
static sx_status invalid_value(const option_row *row, const char *value) {
    static const char *const expected[] = {"on or off", "a whole number", "a number that is not negative"};
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "%s: '%s' is not a valid value", row->name, value),
                         "expected %s", expected[row->kind]);
}

static sx_status set_text(const option_row *row, const char *value, char **out) {
    if (row->check) SX_TRY(row->check(value));
    char *copy = strdup(value);
    if (!copy) return sx_error_memory();
    free(*out);
    *out = copy;
    return SX_OK;
}

sx_status sx_options_set(sx_options *options, const char *name, const char *value) {
    size_t i = 0;
    while (i < N_ROWS && strcmp(rows[i].name, name) != 0) i++;
    if (i == N_ROWS) return unknown_option(name);
    void *at = (char *)options + rows[i].offset;
    double number;
    switch (rows[i].kind) {
    case TEXT:
        return set_text(&rows[i], value, at);
    case COUNT:
        return sx_text_count(value, at) ? SX_OK : invalid_value(&rows[i], value);
    case NUMBER:
        if (!sx_text_number(value, &number) || number < 0) return invalid_value(&rows[i], value);
        *(double *)at = number;
        return SX_OK;
    case FLAG:
        break;
    }
    if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0) return invalid_value(&rows[i], value);
    *(bool *)at = strcmp(value, "on") == 0;
    return SX_OK;
}

void sx_options_set_cancel(sx_options *options, const sx_cancel *cancel) {
    options->cancel = cancel;
}

void sx_options_set_input(sx_options *options, sx_input *input) {
    options->input = input;
}

void sx_options_set_store(sx_options *options, sx_store *store) {
    options->store = store;
}

sx_status sx_options_add_start(sx_options *options, const sx_mapping *mapping) {
    sx_mapping *start = realloc(options->start, (options->n_starts + 1) * sizeof *start);
    if (!start) return sx_error_memory();
    options->start = start;
    start[options->n_starts++] = *mapping;
    return SX_OK;
}

void sx_options_set_watch(sx_options *options, sx_watch *watch, void *user) {
    options->watch = watch;
    options->watch_user = user;
}

double sx_progress_figure_of(const sx_progress *progress, sx_progress_figure figure) {
    switch (figure) {
    case SX_PROGRESS_EVALUATIONS:
        return (double)progress->evaluations;
    case SX_PROGRESS_LIMIT:
        return (double)progress->limit;
    case SX_PROGRESS_SECONDS:
        return progress->seconds;
    case SX_PROGRESS_BEST:
        return progress->best;
    case SX_PROGRESS_BOUND:
        return progress->bound;
    case SX_PROGRESS_LAYER:
        return (double)progress->layer;
    }
    return 0;
}

sx_status sx_options_set_objective(sx_options *options, const char *name, sx_objective_function *function,
                                   void *user) {
    char *copy = strdup(name ? name : "function");
    if (!copy) return sx_error_memory();
    free(options->function_name);
    options->function_name = copy;
    options->function = function;
    options->function_user = user;
    return SX_OK;
}

void sx_options_set_cost(sx_options *options, sx_cost_function *function, void *user) {
    options->cost = function;
    options->cost_user = user;
}

sx_model_options sx_options_model(const sx_options *options, const sx_problem *problem, const sx_arch *arch) {
    sx_model_options model;
    sx_model_options_init(&model);
    const char *semantics = options ? options->sparse_semantics : NULL;
    model.like_timeloop = options && options->like;
    model.sparse_timeloop = semantics ? strcmp(semantics, "timeloop") == 0
                                      : (model.like_timeloop && sx_sparse_active(&arch->sparse)) ||
                                            sx_model_prefers_timeloop(problem, arch);
    if (!options) return model;
    model.no_first_read_elision = options->no_first_read_elision;
    model.no_link_transfers = options->no_link_transfers;
    model.latency_tile = options->latency && strcmp(options->latency, "tile") == 0;
    return model;
}

sx_map_space_options sx_options_space(const sx_options *options) {
    sx_map_space_options space;
    sx_map_space_options_init(&space);
    if (!options) return space;
    space.remainders = options->remainders;
    space.keep_all = options->keep_all;
    space.no_banks = options->no_banks;
    space.split_axes = options->split_axes;
    return space;
}

/* The caller's own objective. */
static double call_objective(void *user, const sx_metrics *metrics) {
    const sx_options *options = user;
    return options->function(options->function_user, metrics->value, SX_N_TOTALS);
}

static sx_status set_objective(const sx_options *options, sx_objective *out) {
    if (!options->function) return options->objective ? sx_objective_parse(options->objective, out) : SX_OK;
    *out = (sx_objective){.n_criteria = 1,
                          .criterion = {{.kind = SX_FUNCTION}},
                          .function = call_objective,
                          .user = (void *)options,
                          .name = options->function_name};
    return SX_OK;
}

/* The caller's constraints for a problem. */
static sx_status call_constraints(void *user, const sx_problem *problem, const sx_arch *arch,
                                  sx_constraints *out) {
    const sx_options *options = user;
    return sx_input_constraints(options->input, problem, arch, out);
}

/* Passes progress on. */
static void call_watch(void *user, const sx_progress *progress) {
    const sx_options *options = user;
    options->watch(options->watch_user, progress);
}

/* How many threads there are for a search. */
static unsigned threads_of(const sx_options *options) {
    if (options->threads) return options->threads < MOST_THREADS ? (unsigned)options->threads : MOST_THREADS;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors > MOST_THREADS ? MOST_THREADS : (unsigned)processors;
}

/* Sets what limits a run and what it remembers. */
static void set_run(const sx_options *options, const char *mapper, sx_run_options *run) {
    bool limited = options->evals || options->time > 0 || options->target > 0 || options->patience ||
                   sx_navigator_complete(mapper);
    run->evaluations = limited ? options->evals : SX_DEFAULT_EVALS;
    run->seconds = options->time;
    run->target = options->target;
    run->patience = options->patience;
    run->seed = options->seed;
    run->threads = threads_of(options);
    run->k_best = (unsigned)(options->k_best < 10000 ? options->k_best : 10000);
    run->pareto = options->pareto;
    run->proof = options->proof;
    run->cache = options->remainders ? CACHED_SCORES : 0;
    run->cancel = options->cancel;
    run->progress = options->watch ? call_watch : NULL;
    run->checkpoint_seconds = options->checkpoint_seconds;
    run->user = (void *)options;
}

sx_status sx_options_session(const sx_options *options, sx_session_options *out) {
    sx_session_options_init(out);
    bool own = options->cost || options->function;
    const char *mapper = options->mapper ? options->mapper : own ? "gamma" : "auto";
    out->mapper = mapper;
    SX_TRY(set_objective(options, &out->run.objective));
    set_run(options, mapper, &out->run);
    out->space = sx_options_space(options);
    out->widen = strcspn(mapper, ":") == strlen("auto") && strncmp(mapper, "auto", 4) == 0 &&
                 !options->no_remainders && !options->remainders && !options->split_axes;
    out->warm = SX_WARM_SIMILARITY;
    if (options->warm_start) SX_TRY(sx_warm_named("warm-start", options->warm_start, &out->warm));
    out->store = options->store;
    out->again = options->again;
    out->checkpoint = options->checkpoint;
    out->constraints = options->input ? call_constraints : NULL;
    out->user = (void *)options;
    return SX_OK;
}
