#include "api/own_cost.h"

#include "api/mappings.h"
#include "base/status.h"
#include "mapspace/map_space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 }; /* mappings that the function gets at once */

static const sx_metric_about metrics[] = {
    {"cost", "", NULL},
    {"energy_pj", "pJ", NULL},
    {"cycles", "cycles", NULL},
};
enum { N_METRICS = sizeof metrics / sizeof *metrics };

/* Sets an outcome: the function's number, with what the model says beside it. */
static void set_outcome(double cost, const double *totals, sx_outcome *out) {
    out->reason = isfinite(cost) ? 0 : SX_REFUSED;
    out->metrics = (sx_metrics){{cost, totals[SX_TOTAL_ENERGY_PJ], totals[SX_TOTAL_CYCLES]}};
}

/* Asks the function about packed mappings. */
static sx_status ask_own_cost(const sx_own_cost *own, const sx_mappings *mappings, double *totals,
                              sx_outcome *out) {
    const sx_model *model = sx_map_space_of(own->space)->model;
    double *cost = calloc(mappings->n, sizeof *cost);
    if (!cost) return sx_error_memory();
    sx_status status = sx_model_score(model, mappings, 1, SX_N_TOTALS, totals);
    if (!status) status = own->options->cost(own->options->cost_user, mappings, totals, SX_N_TOTALS, cost);
    for (size_t i = 0; !status && i < mappings->n; i++)
        set_outcome(cost[i], totals + i * SX_N_TOTALS, &out[i]);
    free(cost);
    return status;
}

/* Scores n points. */
static sx_status score_points(const sx_point_model *model, void *workspace, const void *points, size_t n,
                              const sx_goal *goal, double cutoff, sx_outcome *out) {
    const sx_own_cost *own = model->user;
    const sx_model *cost = sx_map_space_of(own->space)->model;
    (void)workspace, (void)goal, (void)cutoff;
    sx_mappings *mappings = NULL;
    SX_TRY(sx_mappings_new(sx_model_problem(cost), sx_model_arch(cost), n, &mappings));
    for (size_t i = 0; i < n; i++)
        memcpy(mappings->data + i * mappings->stride,
               (const unsigned char *)points + i * own->space->point_size, mappings->stride);
    double *totals = calloc(n, SX_N_TOTALS * sizeof *totals);
    sx_status status = totals ? ask_own_cost(own, mappings, totals, out) : sx_error_memory();
    free(totals);
    sx_mappings_free(mappings);
    return status;
}

sx_status sx_own_cost_init(const sx_space *space, const sx_options *options, sx_own_cost *out,
                           sx_objective *objective) {
    static const sx_point_model_type type = {
        .name = "own",
        .metrics = metrics,
        .n_metrics = N_METRICS,
        .front = {1, 2},
        .batch = BATCH,
        .score_batch = score_points,
    };
    *out = (sx_own_cost){.model = {.type = &type}, .space = space, .options = options};
    out->model.user = out;
    return sx_objective_parse_metrics("cost", metrics, N_METRICS, objective);
}
