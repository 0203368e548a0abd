#include "systolic/judge.h"

#include <math.h>

sx_systolic_judge sx_systolic_judge_of(const sx_systolic_space *space, const sx_objective *objective) {
    return (sx_systolic_judge){space, *objective, objective->criterion[0].energy_power != 0};
}

double sx_systolic_judge_value(const sx_systolic_judge *judge, const sx_systolic_plan *plan, double lanes,
                               sx_systolic_tile (*tile)[SX_MAX_SYSTOLIC_LOOPS]) {
    const sx_systolic_space *space = judge->space;
    sx_score score = {0};
    for (size_t k = 0; k < space->n_kernels; k++) {
        sx_systolic_cost cost;
        double count = (double)space->kernel[k].count;
        sx_systolic_measure(plan, &space->factors[k], tile[k], lanes, &cost);
        if (cost.bram18k > plan->limits.bram) return INFINITY;
        score.cycles += count * cost.latency;
        score.last_level_accesses += count * cost.offchip_words;
        if (judge->energy)
            score.energy_pj +=
                count * sx_systolic_energy(plan, &space->factors[k], tile[k], lanes, cost.offchip_words);
    }
    score.utilization = space->macs * space->limits.dsp_per_mac / (score.cycles * space->limits.dsp);
    return sx_objective_value(&judge->objective, &score);
}

bool sx_systolic_promises(double bound, double best) {
    if (fabs(bound) < 0x1p50 && fabs(bound) >= 1) return bound < best;
    return bound - 1e-12 * fabs(bound) < best;
}
