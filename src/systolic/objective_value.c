#include "systolic/objective_value.h"

#include <math.h>

sx_systolic_objective_value sx_systolic_objective_of(const sx_systolic_space *space, const sx_goal *goal) {
    return (sx_systolic_objective_value){space, goal,
                                         sx_goal_objective(goal)->criterion[0].energy_power != 0};
}

double sx_systolic_objective_apply(const sx_systolic_objective_value *objective, const sx_systolic_plan *plan,
                                   double lanes, sx_systolic_tile (*tile)[SX_MAX_SYSTOLIC_LOOPS]) {
    const sx_systolic_space *space = objective->space;
    sx_metrics sum = {0};
    double *latency = &sum.value[SX_SYSTOLIC_LATENCY];
    for (size_t k = 0; k < space->n_kernels; k++) {
        sx_systolic_cost cost;
        double count = (double)space->kernel[k].count;
        sx_systolic_measure(plan, &space->factors[k], tile[k], lanes, &cost);
        if (cost.bram18k > plan->limits.bram) return INFINITY;
        *latency += count * cost.latency;
        sum.value[SX_SYSTOLIC_OFFCHIP] += count * cost.offchip_words;
        if (objective->energy)
            sum.value[SX_SYSTOLIC_ENERGY] +=
                count * sx_systolic_energy(plan, &space->factors[k], tile[k], lanes, cost.offchip_words);
    }
    sum.value[SX_SYSTOLIC_UTILIZATION] = sx_systolic_use(space, *latency);
    return sx_goal_value(objective->goal, &sum);
}

bool sx_systolic_promises(double bound, double best) {
    if (fabs(bound) < 0x1p50 && fabs(bound) >= 1) return bound < best;
    return bound - 1e-12 * fabs(bound) < best;
}
