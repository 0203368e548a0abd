/* Preparing a design. The rules replace the paper's 48 descriptors, which AutoSA wrote one by one. */
#include "systolic/flow.h"

#include <math.h>

enum {
    NEAR_BITS = 128, /* words per transfer at the PEs */
    FAR_BITS = 512,  /* and above them */
};

void sx_systolic_plan_init(const sx_systolic_kernel *kernel, const sx_systolic_design *design,
                           const sx_systolic_limits *limits, bool corrected, sx_systolic_plan *out) {
    sx_systolic_outline outline = {.n_loops = kernel->n_loops,
                                   .n_space = design->n_space,
                                   .space = {design->space[0], design->space[1]},
                                   .stationary = design->stationary,
                                   .sliding = kernel->sliding,
                                   .chained = !(kernel->loop[kernel->simd].operands >> SX_RESULT & 1),
                                   .corrected = corrected};
    for (int a = 0; a < SX_N_OPERANDS; a++) {
        outline.last[a] = kernel->last[a];
        for (int d = 0; d < kernel->n_loops; d++)
            if (kernel->loop[d].operands >> a & 1) outline.loops[a] |= (sx_loops)(1u << d);
    }
    sx_systolic_plan plan = {.design = *design,
                             .form = sx_form_of(&outline),
                             .simd = kernel->simd,
                             .measure = sx_systolic_measurer_of(&outline, design->dataflow),
                             .limits = *limits};
    for (int a = 0; a < SX_N_OPERANDS; a++) {
        uint32_t words = (plan.form.part[a].level == 1 ? NEAR_BITS : FAR_BITS) / limits->bits;
        plan.cap[a] = words > 1 ? words : 1;
        for (int lanes = 1; lanes <= SX_MAX_SYSTOLIC_LANES; lanes++)
            plan.per_cap[a][lanes] = 1 / sx_systolic_pack(&plan, a, plan.cap[a], lanes);
        plan.narrow = plan.narrow || plan.cap[a] > limits->port_words || limits->lanes > limits->port_words;
    }
    *out = plan;
}

sx_systolic_tile sx_systolic_tile_of(const sx_systolic_plan *plan, const sx_systolic_loop *loop, int index,
                                     uint32_t t1, uint32_t t2) {
    bool is_space = plan->form.space >> index & 1;
    sx_systolic_tile tile = {.trips = (double)((loop->size + (uint64_t)t1 - 1) / t1),
                             .pes = is_space ? (double)(t1 / t2) : 1,
                             .step = is_space ? t2 : t1,
                             .hide = index == plan->simd ? 1 : t2};
    tile.all = tile.trips * tile.step;
    tile.span = sx_systolic_span(loop, tile.step);
    tile.spans = tile.trips * tile.span;
    return tile;
}

sx_systolic_factors sx_systolic_factors_of(const sx_systolic_kernel *kernel) {
    sx_systolic_factors factors = {.steps = kernel->steps};
    for (int a = 0; a < SX_N_OPERANDS; a++) factors.words[a] = kernel->words[a];
    return factors;
}

double sx_systolic_sums_wanted(const sx_systolic_plan *plan, double lanes) {
    if (!plan->form.sums) return 0;
    return plan->limits.add_latency * (plan->form.chained ? lanes : 1);
}

double sx_systolic_pack(const sx_systolic_plan *plan, int operand, double step, double lanes) {
    double least = operand == SX_RESULT && plan->form.chained ? 1 : lanes;
    return fmax(fmin(step, plan->cap[operand]), least);
}

bool sx_systolic_packs(double pack) {
    uint32_t words = (uint32_t)pack;
    return (words & (words - 1)) == 0;
}

sx_systolic_fault sx_systolic_rules(const sx_systolic_plan *plan, const sx_systolic_tile *tile,
                                    double lanes) {
    if (!sx_systolic_packs(lanes) || lanes > plan->limits.lanes) return SX_SYSTOLIC_LANES;
    double hidden = 1;
    for (int d = 0; d < plan->form.n_loops; d++) hidden *= tile[d].hide;
    if (hidden < sx_systolic_sums_wanted(plan, lanes)) return SX_SYSTOLIC_HIDING;
    for (int a = 0; a < SX_N_OPERANDS; a++)
        if (!sx_systolic_packs(sx_systolic_pack(plan, a, tile[plan->form.part[a].last].step, lanes)))
            return SX_SYSTOLIC_PACK;
    return SX_SYSTOLIC_FINE;
}
