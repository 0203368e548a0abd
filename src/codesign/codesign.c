/* The search of designs as a whole. */
#include "codesign/search.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/ranks.h"
#include "base/status.h"
#include "run/uphold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *about;
} methods[] = {
    [SX_CODESIGN_AUTO] = {"auto",
                          "exact within a budget: a good answer soon, and how far it can be from the best"},
    [SX_CODESIGN_GRID] = {"grid", "a mapper on every design"},
    [SX_CODESIGN_SUNSTONE] = {"sunstone-arch",
                              "Sunstone-arch: every tile with the smallest memories that hold it, one "
                              "incumbent for all designs"},
    [SX_CODESIGN_EXACT] = {"exact", "the best design, proven: branch and bound on top of the mapper optimal"},
};

const char *sx_codesign_method_name(sx_codesign_method method, const char **about) {
    if ((size_t)method >= sizeof methods / sizeof *methods) return NULL;
    if (about) *about = methods[method].about;
    return methods[method].name;
}

const char *sx_design_outcome_name(sx_design_outcome outcome) {
    static const char *const names[] = {"open", "done", "cut", "empty", "none", "quick", "unfound"};
    return names[outcome];
}

/* Joins layers that are the same computation. */
static sx_status find_targets(sx_codesign *c) {
    size_t n = c->network->n_layers;
    c->first = calloc(n + 1, sizeof *c->first);
    c->target = calloc(n + 1, sizeof *c->target);
    c->found = calloc(n + 1, sizeof *c->found);
    if (!c->first || !c->target || !c->found) return sx_error_memory();
    sx_network_distinct(c->network, c->first);
    for (size_t i = 0; i < n; i++) {
        const sx_layer *layer = &c->network->layer[i];
        size_t t = 0;
        while (t < c->n_targets && c->target[t].layer != c->first[i]) t++;
        if (t == c->n_targets)
            c->target[c->n_targets++] = (sx_target){.layer = i, .problem = &layer->problem};
        c->target[t].weight += (double)layer->count;
    }
    return SX_OK;
}

/* Makes room for the result. */
static sx_status prepare_result(sx_codesign *c) {
    sx_codesign_result *out = c->out;
    out->n_designs = c->designs->n;
    out->n_layers = c->network->n_layers;
    out->lower_bound = -INFINITY;
    out->repeatable = true;
    out->counts.designs = c->designs->n;
    out->design = calloc(out->n_designs, sizeof *out->design);
    out->layer = calloc(out->n_layers + 1, sizeof *out->layer);
    out->front = calloc(out->n_designs, sizeof *out->front);
    if (!out->design || !out->layer || !out->front) return sx_error_memory();
    for (size_t i = 0; i < out->n_designs; i++)
        out->design[i] = (sx_design_result){.value = INFINITY, .bound = -INFINITY, .tile_cost = -INFINITY};
    for (size_t i = 0; i < out->n_layers; i++)
        SX_TRY(sx_designs_check(c->designs, &c->network->layer[i].problem));
    return find_targets(c);
}

/* A design as the front sees it. */
typedef struct corner {
    double area, value;
    size_t design;
} corner;

/* Orders corners by area, then by value, then by number. */
static int by_area(const void *a, const void *b) {
    const corner *x = a, *y = b;
    if (x->area != y->area) return x->area < y->area ? -1 : 1;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->design > y->design) - (x->design < y->design);
}

/* Lists the designs of which no other is as small and as good. */
static sx_status find_front(const sx_codesign *c) {
    sx_codesign_result *out = c->out;
    corner *all = calloc(out->n_designs + 1, sizeof *all);
    size_t n = 0;
    double best = INFINITY;
    if (!all) return sx_error_memory();
    for (size_t i = 0; i < out->n_designs; i++)
        if (out->design[i].outcome == SX_OUTCOME_DONE || out->design[i].outcome == SX_OUTCOME_QUICK)
            all[n++] = (corner){c->designs->total[i], out->design[i].value, i};
    qsort(all, n, sizeof *all, by_area);
    for (size_t i = 0; i < n; i++) {
        if (all[i].value >= best) continue;
        best = all[i].value;
        out->front[out->n_front++] = all[i].design;
    }
    free(all);
    return SX_OK;
}

/* Counts the designs of each outcome. */
static void count_outcomes(sx_codesign_result *out) {
    uint64_t *const count[] = {&out->counts.open, &out->counts.done,  &out->counts.cut,    &out->counts.empty,
                               &out->counts.none, &out->counts.quick, &out->counts.unfound};
    for (size_t i = 0; i < out->n_designs; i++) ++*count[out->design[i].outcome];
}

/* Bounds the layers of the best design, where the method has no bounds, and marks poor mappings. */
static sx_status assess_best(sx_codesign *c) {
    sx_codesign_result *out = c->out;
    const sx_codesign_counts counts = out->counts;
    sx_target_space *target_space;
    if (!out->found || c->options->method == SX_CODESIGN_EXACT || c->options->method == SX_CODESIGN_AUTO)
        return SX_OK;
    SX_TRY(sx_target_space_new(c->designs, out->best, &target_space));
    sx_status status = SX_OK;
    for (size_t t = 0; t < c->n_targets && !status && !sx_codesign_stopped(c); t++) {
        sx_search_outcome result = {.lower_bound = -INFINITY};
        bool usable;
        status = sx_target_space_init(c, t, target_space, &usable);
        if (!status && usable)
            status = sx_search_bound(c, target_space, &out->layer[c->target[t].layer].mapping, &result);
        sx_target_space_fini(target_space);
        const double value = out->layer[c->target[t].layer].value;
        if (!sx_uphold_bound(c->options->run.warnings, "a layer of the best design", value,
                             &result.lower_bound, &result.none))
            result.lower_bound = -INFINITY;
        if (!status)
            sx_codesign_assess_layer(c, t, result.lower_bound, result.found ? result.best.value : INFINITY);
    }
    sx_target_space_free(target_space);
    out->counts = counts;
    return status;
}

static sx_status search_designs(sx_codesign *c) {
    SX_TRY(prepare_result(c));
    switch (c->options->method) {
    case SX_CODESIGN_AUTO:
        return sx_codesign_auto(c);
    case SX_CODESIGN_GRID:
        return sx_codesign_grid(c);
    case SX_CODESIGN_SUNSTONE:
        return sx_codesign_sunstone(c);
    case SX_CODESIGN_EXACT:
        return sx_codesign_exact(c);
    }
    return sx_error_new(SX_ERR_USAGE, "there is no method number %d", (int)c->options->method);
}

/* Searches the targets on a design after the time limit; each goes on until it has a mapping, for
 * SX_GRACE_SECONDS at most. */
static sx_status answer_design(sx_codesign *c, size_t design) {
    sx_target_space *target_space;
    SX_TRY(sx_target_space_new(c->designs, design, &target_space));
    sx_status status = SX_OK;
    bool found = true;
    for (size_t t = 0; t < c->n_targets && found && !status; t++) {
        sx_search_outcome result = {.found = false};
        bool usable;
        sx_codesign_begins(c, design, t);
        status = sx_target_space_init(c, t, target_space, &usable);
        if (!status && usable) status = sx_search_by_mapper(c, target_space, SX_PROMPT_MAPPER, NULL, &result);
        sx_target_space_fini(target_space);
        found = result.found;
        c->found[t] = result.best;
    }
    sx_target_space_free(target_space);
    if (status || !found) return status;
    sx_codesign_done(c, design);
    sx_codesign_record_outcome(c, design, SX_OUTCOME_QUICK);
    return SX_OK;
}

/* Where the time was over before any design had an answer: answers for the first design that can be. Others are begun
 * for as long as one search may go on without an answer. */
static sx_status answer_late(sx_codesign *c) {
    const sx_run_options *o = &c->options->run;
    double until = sx_clock_seconds() + SX_GRACE_SECONDS;
    if (c->out->stop != SX_STOP_TIME || sx_ranks_active(o->ranks)) return SX_OK;
    for (size_t d = 0; d < c->out->n_designs && !c->out->found; d++) {
        sx_design_outcome outcome = c->out->design[d].outcome;
        if (sx_is_cancelled(o->cancel) || sx_clock_seconds() > until) break;
        if (outcome == SX_OUTCOME_OPEN) SX_TRY(answer_design(c, d));
    }
    return SX_OK;
}

/* Withdraws what is proven of all designs where some bound was false. */
static void withdraw_proofs(const sx_codesign_options *options, sx_codesign_result *out) {
    if (!sx_bounds_withdrawn(options->run.warnings)) return;
    for (size_t i = 0; i < out->n_designs && out->design; i++) out->design[i].bound = -INFINITY;
    for (size_t i = 0; i < out->n_layers && out->layer; i++) out->layer[i].bound = -INFINITY;
    out->lower_bound = -INFINITY;
    out->optimal = out->none = false;
}

sx_status sx_codesign_run(const sx_designs *designs, const sx_network *network,
                          const sx_codesign_options *options, sx_codesign_result *out) {
    sx_codesign c = {.designs = designs, .network = network, .options = options, .out = out};
    double began = sx_clock_seconds();
    memset(out, 0, sizeof *out);
    c.deadline = options->run.seconds > 0 ? began + options->run.seconds : 0;
    sx_status status = search_designs(&c);
    if (!status) status = answer_late(&c);
    if (!status) status = assess_best(&c);
    if (!status) status = sx_codesign_widen(&c);
    if (!status) status = find_front(&c);
    if (out->design) count_outcomes(out);
    if (!status && !c.usable) status = c.trouble;
    if (status != c.trouble) sx_status_free(c.trouble);
    out->complete = !status && out->stop == SX_STOP_DONE;
    out->none = out->complete && c.n_none == out->n_designs;
    withdraw_proofs(options, out);
    out->seconds = sx_clock_seconds() - began;
    free(c.first);
    free(c.target);
    free(c.found);
    return status;
}

void sx_codesign_result_fini(sx_codesign_result *result) {
    free(result->design);
    free(result->layer);
    free(result->front);
    memset(result, 0, sizeof *result);
}
