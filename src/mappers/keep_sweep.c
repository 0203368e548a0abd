#include "mappers/keep_sweep.h"

#include "mapspace/map_parts.h"
#include "model/core_score.h"
#include "model/latency.h"

#include <math.h>

sx_keep_sweep sx_keep_sweep_make(const sx_map_space *space, sx_worker *worker,
                                 const sx_objective *objective) {
    const sx_model *model = space->model;
    const sx_model_workspace *workspace = sx_worker_workspace(worker, &sx_map_model_type);
    sx_keep_sweep sweep = {.worker = worker, .space = space, .objective = objective};
    sweep.bounded = workspace && objective->criterion[0].kind == SX_PRODUCT && !model->sparse &&
                    !model->range && !model->formats;
    if (workspace && !model->sparse && !space->banks_at && !(model->law && model->law->counted))
        sweep.core = workspace->core;
    sweep.minimum = sx_model_minimum(model, space->fixed_keep[model->n_levels - 1]);
    return sweep;
}

/* The least value that a mapping of the factorisation can have: no energy is below the minimum, and no unit does more
 * than one compute a cycle. */
static double least_value(const sx_keep_sweep *sweep, double units) {
    const sx_model *model = sweep->space->model;
    sx_score least = sweep->minimum;
    least.cycles = fmax(least.cycles, (double)model->computes / units + (double)model->latency);
    return sx_criterion_value(&sweep->objective->criterion[0], &least) * (1 - 1e-9);
}

void sx_keep_sweep_units(sx_keep_sweep *sweep, double units) {
    sweep->least = sweep->bounded ? least_value(sweep, units) : -INFINITY;
    sweep->open = false;
}

void sx_keep_sweep_factors(sx_keep_sweep *sweep, const void *point) {
    const sx_model *model = sweep->space->model;
    double units = 1;
    for (int s = 0; s < model->n_levels; s++)
        for (int d = 0; d < model->n_dims && sweep->space->spatial_slot[s] >= 0; d++)
            units *= sx_map_point(point)->level[s].spatial[d];
    sx_keep_sweep_units(sweep, units);
}

/* Lets the point keep a choice. */
static void set_keeps(const sx_keep_sweep *sweep, void *point, uint64_t levels) {
    for (int s = 0; s < sweep->space->arch->n_levels; s++) {
        unsigned keep = 0;
        for (int v = 0; v < sweep->space->problem->n_tensors; v++)
            keep |= (unsigned)(levels >> (8 * v + s) & 1) << v;
        sx_map_level(point, s)->keep = (uint8_t)keep;
    }
}

sx_outcome sx_keep_sweep_evaluate(sx_keep_sweep *sweep, void *point, uint64_t levels) {
    const sx_objective *objective = sweep->objective;
    sx_outcome outcome;
    sx_score score;
    int reason = -1;
    if (sweep->core && !sweep->open) sweep->open = sx_core_scorer_open(sweep->core, sx_map_point(point));
    if (sweep->open)
        reason = sx_core_scorer_keep(sweep->core, levels,
                                     objective->criterion[0].kind < SX_LATENCY ? objective : NULL,
                                     sx_worker_cutoff(sweep->worker), &score);
    if (reason == SX_BOUND_EXCEEDED && sx_worker_pass(sweep->worker, INFINITY, &outcome)) return outcome;
    set_keeps(sweep, point, levels);
    sx_metrics metrics = {0};
    if (reason == SX_LEGAL) {
        score.latency = sx_latency_score(sweep->space->model, sx_map_point(point), score.cycles);
        metrics = sx_score_metrics(&score);
    }
    if (reason == SX_LEGAL) return sx_worker_record(sweep->worker, point, &metrics);
    sweep->open = false;
    return sx_worker_evaluate(sweep->worker, point, true);
}
