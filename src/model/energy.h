/* The cost accumulator of one evaluation: energies and bandwidths, tensor by tensor, then the totals. */
#ifndef SX_MODEL_ENERGY_H
#define SX_MODEL_ENERGY_H

#include "model/model.h"

typedef struct sx_cost_accumulator {
    const sx_model *model;
    const sx_nest *nest;
    bool totals; /* counts are over all instances */
    double compute_energy, compute_cycles;
    double busy_computes;          /* that take a compute unit's time */
    double leaking[SX_MAX_LEVELS]; /* instances */
    uint64_t clusters[SX_MAX_LEVELS];
    double storage[SX_MAX_LEVELS], network[SX_MAX_LEVELS];
    double reads[SX_MAX_LEVELS], writes[SX_MAX_LEVELS]; /* words per compute cycle and instance */
    double slowdown[SX_MAX_LEVELS];
} sx_cost_accumulator;

/* Starts a cost accumulator for a nest. */
void sx_cost_accumulator_begin(sx_cost_accumulator *costs, const sx_model *model, const sx_nest *nest,
                               bool totals);

/* Charges one tensor; returns its energy. `out` may be NULL; then networks that cost nothing are passed over.
 */
double sx_cost_accumulator_add_tensor(sx_cost_accumulator *costs, const sx_model_workspace *workspace,
                                      int tensor, const sx_counts *counts, sx_cost *out);

/* Charges one tensor's traffic to the networks; returns its energy. `out` as above. */
double sx_cost_accumulator_add_networks(sx_cost_accumulator *costs, const sx_model_workspace *workspace,
                                        int tensor, const sx_counts *counts, sx_cost *out);

/* Adds a tensor's use of a level's bandwidth, in words per compute cycle and instance. */
void sx_cost_accumulator_add_traffic(sx_cost_accumulator *costs, int level, double reads, double writes);

/* Adds up. `out` may be NULL. Leaves last_level_accesses alone. */
void sx_cost_accumulator_finish(sx_cost_accumulator *costs, sx_score *score, sx_cost *out);

#endif
