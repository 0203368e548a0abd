/* One layer on one design: model, space and run; and what becomes of designs. */
#include "codesign/search.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sx_status make_space(sx_codesign *c, size_t target, sx_target_space *b) {
    const sx_codesign_options *o = c->options;
    const sx_problem *problem = c->target[target].problem;
    sx_constraints_init(&b->constraints, problem, &b->arch);
    if (o->constraints) SX_TRY(o->constraints(o->user, problem, &b->arch, &b->constraints));
    SX_TRY(sx_model_new(problem, &b->arch, &o->model, &b->model));
    return sx_map_space_new(b->model, &b->constraints, &o->space, &b->space);
}

sx_status sx_target_space_new(const sx_designs *designs, size_t design, sx_target_space **out) {
    sx_target_space *made = calloc(1, sizeof *made);
    if (!made) return sx_error_memory();
    sx_designs_arch(designs, design, &made->arch);
    *out = made;
    return SX_OK;
}

sx_status sx_target_space_init(sx_codesign *c, size_t target, sx_target_space *out, bool *usable) {
    sx_status status = make_space(c, target, out);
    *usable = status == SX_OK;
    c->usable |= *usable;
    if (!status || status->code != SX_ERR_INPUT) return status;
    if (c->trouble)
        sx_status_free(status);
    else
        c->trouble = status;
    return SX_OK;
}

void sx_target_space_fini(sx_target_space *target_space) {
    sx_space_free(target_space->space);
    sx_model_free(target_space->model);
    target_space->space = NULL;
    target_space->model = NULL;
}

void sx_target_space_free(sx_target_space *target_space) {
    free(target_space);
}

double sx_target_space_tilings(const sx_target_space *target_space) {
    const sx_map_space *space = sx_map_space_of(target_space->space);
    double ways = 1;
    for (int d = 0; d < space->problem->n_dims; d++) ways *= (double)sx_factors_count(space->factors[d]);
    return ways;
}

static const double LEAST_SECONDS = 1e-3; /* of a search; 0 would be no limit */

/* The options of a run. */
static sx_run_options run_options(const sx_codesign *c) {
    sx_run_options o = c->options->run;
    o.starts = NULL;
    o.n_starts = 0;
    o.k_best = 1;
    o.pareto = false;
    o.checkpoint = NULL;
    o.resume = NULL;
    o.user = c->options->user;
    if (c->deadline > 0) {
        double left = (c->deadline - sx_clock_seconds()) / (double)(c->shares ? c->shares : 1);
        o.seconds = fmax(left, LEAST_SECONDS);
    }
    return o;
}

/* Copies out what a run found. */
static void read_outcome(sx_codesign *c, const sx_target_space *b, const sx_run *run,
                         sx_search_outcome *out) {
    sx_run_summary summary = sx_run_result(run);
    sx_found best;
    *out = (sx_search_outcome){.found = sx_run_best(run, 0, &best),
                               .lower_bound = -INFINITY,
                               .none = summary.none,
                               .stop = summary.stop};
    if (c->out->stop == SX_STOP_DONE && (summary.stop == SX_STOP_SIGNAL || summary.stop == SX_STOP_TIME))
        c->out->stop = summary.stop;
    c->out->counts.evaluations += summary.evaluations;
    c->out->repeatable &= summary.repeatable;
    if (summary.lower_bound != 0) out->lower_bound = summary.lower_bound;
    if (!out->found) return;
    sx_map_space_mapping(b->space, best.point, &out->best.mapping);
    out->best.score = sx_metrics_score(&best.metrics);
    out->best.value = best.value;
    if (summary.optimal) out->lower_bound = best.value;
}

sx_status sx_search_by_mapper(sx_codesign *c, const sx_target_space *target_space, const char *mapper,
                              const sx_mapping *mapping, sx_search_outcome *out) {
    sx_run_options options = run_options(c);
    sx_run *run = NULL;
    void *start = mapping ? malloc(sx_space_point_size(target_space->space)) : NULL;
    if (mapping && !start) return sx_error_memory();
    if (mapping && sx_map_space_point(target_space->space, mapping, start)) {
        options.starts = start;
        options.n_starts = 1;
    }
    sx_status status = sx_run_new(target_space->space, NULL, &options, &run);
    if (!status) status = sx_run_search(run, mapper);
    if (!status) read_outcome(c, target_space, run, out);
    sx_run_free(run);
    free(start);
    return status;
}

sx_status sx_search_bound(sx_codesign *c, const sx_target_space *target_space, const sx_mapping *mapping,
                          sx_search_outcome *out) {
    const char *mapper = c->deadline > 0 ? "optimal:gamma=0,sunstone=0,descents=0,effort=0.000001"
                                         : "optimal:gamma=1000,sunstone=0,effort=0.000001";
    sx_status status = sx_search_by_mapper(c, target_space, mapper, mapping, out);
    if (!status || status->code != SX_ERR_LIMIT) return status;
    sx_status_free(status);
    *out = (sx_search_outcome){.lower_bound = -INFINITY};
    return SX_OK;
}

/* A search by a plan, as a navigator of our own. */
typedef struct plan_search {
    sx_sunstone *plan;
    bool begin;
} plan_search;

static sx_status search_plan(sx_run *run) {
    const plan_search *search = sx_run_user(run);
    uint64_t next = 0;
    if (search->begin) SX_TRY(sx_sunstone_begin(search->plan, run));
    return sx_sunstone_walk(search->plan, run, &next);
}

/* Adds what a plan has visited, and begins to count anew. */
static void count_plan(sx_codesign *c, sx_sunstone *plan) {
    sx_codesign_counts *counts = &c->out->counts;
    counts->partial += plan->partial;
    for (int i = 0; i < plan->n_stages; i++) counts->tiles[i] += plan->tiles[i];
    plan->partial = 0;
    memset(plan->tiles, 0, sizeof plan->tiles);
    if (plan->n_stages > counts->n_memories) counts->n_memories = plan->n_stages;
}

sx_status sx_search_by_plan(sx_codesign *c, const sx_target_space *target_space, sx_sunstone *plan,
                            bool begin, sx_search_outcome *out) {
    plan_search search = {.plan = plan, .begin = begin};
    const sx_navigator navigator = {.space = "map", .model = "map", .search = search_plan, .user = &search};
    sx_run_options options = run_options(c);
    sx_run *run = NULL;
    SX_TRY(sx_run_new(target_space->space, NULL, &options, &run));
    sx_status status = sx_run_search_by(run, "sunstone", &navigator, NULL);
    if (!status) read_outcome(c, target_space, run, out);
    count_plan(c, plan);
    sx_run_free(run);
    return status;
}

sx_sunstone_switches sx_plain_switches(void) {
    return (sx_sunstone_switches){
        .order = true, .unrolling = true, .tiles = true, .alphabeta = true, .limit = 1e6};
}

bool sx_codesign_stopped(const sx_codesign *c) {
    const sx_run_options *o = &c->options->run;
    bool signal = sx_is_cancelled(o->cancel), late = c->deadline > 0 && sx_clock_seconds() >= c->deadline;
    if (!signal && !late) return false;
    if (c->out->stop == SX_STOP_DONE) c->out->stop = signal ? SX_STOP_SIGNAL : SX_STOP_TIME;
    return true;
}

void sx_codesign_begins(const sx_codesign *c, size_t design, size_t target) {
    if (c->options->begins) c->options->begins(c->options->user, design, c->target[target].layer);
}

double sx_codesign_cutoff(const sx_codesign *c, size_t design) {
    const sx_codesign_result *out = c->out;
    if (!c->options->front) return out->found ? out->design[out->best].value : INFINITY;
    double value = INFINITY;
    for (size_t i = 0; i < out->n_designs; i++)
        if (c->designs->total[i] <= c->designs->total[design]) value = fmin(value, out->design[i].value);
    return value;
}

/* Whether a design of that value is a better answer than the best so far, which it may be itself. */
static bool is_better(const sx_codesign *c, size_t design, double value) {
    const sx_codesign_result *out = c->out;
    if (!out->found) return true;
    double best = out->design[out->best].value;
    return value < best || (value == best && c->designs->total[design] < c->designs->total[out->best]);
}

void sx_codesign_done(sx_codesign *c, size_t design) {
    sx_design_result *to = &c->out->design[design];
    sx_score total = {0};
    double value = 0, used = 0;
    for (size_t t = 0; t < c->n_targets; t++) {
        const sx_codesign_layer *layer = &c->found[t];
        double weight = c->target[t].weight;
        value += weight * layer->value;
        total.energy_pj += weight * layer->score.energy_pj;
        total.cycles += weight * layer->score.cycles;
        total.latency += weight * layer->score.latency;
        total.last_level_accesses += weight * layer->score.last_level_accesses;
        used += weight * layer->score.cycles * layer->score.utilization;
    }
    total.utilization = used / total.cycles;
    bool better = is_better(c, design, value);
    to->outcome = SX_OUTCOME_DONE;
    to->value = value;
    to->total = total;
    if (!better) return;
    c->out->found = true;
    c->out->best = design;
    for (size_t i = 0; i < c->out->n_layers; i++) {
        size_t t = 0;
        while (c->target[t].layer != c->first[i]) t++;
        c->out->layer[i] = c->found[t];
        c->out->layer[i].same_as = c->first[i];
        c->out->layer[i].bound = -INFINITY;
    }
}

void sx_codesign_assess_layer(sx_codesign *c, size_t target, double bound, double known) {
    sx_codesign_result *out = c->out;
    for (size_t i = 0; i < out->n_layers; i++) {
        sx_codesign_layer *layer = &out->layer[i];
        if (c->first[i] != c->target[target].layer) continue;
        layer->bound = bound;
        layer->poor =
            layer->value > SX_POOR_GAIN * known || (bound > 0 && layer->value > SX_POOR_GAP * bound);
        out->design[out->best].poor |= layer->poor;
    }
}

void sx_codesign_record_outcome(sx_codesign *c, size_t design, sx_design_outcome outcome) {
    c->out->design[design].outcome = outcome;
}
