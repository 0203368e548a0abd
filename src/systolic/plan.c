/* Making a design ready. The rules stand for the paper's 48 descriptors, which AutoSA wrote one by one. */
#include "systolic/plan.h"

#include <math.h>

enum {
    NEAR_BITS = 128, /* side by side in a transfer at the PEs */
    FAR_BITS = 512,  /* and above them */
};

/* The chains of buffers of an array: how many there are, and how often a tile's transfer repeats. */
static void lay_chains(const sx_systolic_plan *plan, sx_systolic_part *part) {
    const sx_systolic_design *design = &plan->design;
    sx_loops own = plan->space & part->loops, first = (sx_loops)(1u << design->space[0]);
    if (design->n_space == 1) {
        part->count = part->rep = part->above = own;
    } else if (part->level == 1) {
        part->count = part->above = plan->space;
        part->rep = first;
    } else {
        part->count = part->rep = part->above = own ? own : (sx_loops)(1u << design->space[1]);
    }
}

/* The order of the tile loops, outermost first: those of the stationary array, then the others. */
static void order_loops(const sx_systolic_plan *plan, uint8_t order[SX_MAX_SYSTOLIC_LOOPS]) {
    sx_loops outer = plan->part[plan->design.stationary].loops;
    int n = 0;
    for (int inner = 0; inner < 2; inner++)
        for (int d = 0; d < plan->n_loops; d++)
            if ((outer >> d & 1) != inner) order[n++] = (uint8_t)d;
}

/* The tile loops that make an array move. An input below the top level stays while the innermost tile loops
 * run, as far as they do not index it. */
static sx_loops moving_loops(const sx_systolic_plan *plan, int operand) {
    const sx_systolic_part *part = &plan->part[operand];
    sx_loops moving = (sx_loops)((1u << plan->n_loops) - 1);
    uint8_t order[SX_MAX_SYSTOLIC_LOOPS] = {0};
    if (part->result) return plan->corrected && !plan->streams ? moving : part->loops;
    order_loops(plan, order);
    for (int i = plan->n_loops - 1; part->level == plan->top - 1 && i >= 0; i--) {
        if (part->loops >> order[i] & 1) break;
        moving &= (sx_loops) ~(1u << order[i]);
    }
    return moving;
}

void sx_systolic_plan_init(const sx_systolic_kernel *kernel, const sx_systolic_design *design,
                           const sx_systolic_limits *limits, bool corrected, sx_systolic_plan *out) {
    sx_systolic_plan plan = {.design = *design,
                             .n_loops = kernel->n_loops,
                             .simd = kernel->simd,
                             .top = design->n_space == 2 ? 3 : 2,
                             .streams = design->stationary == SX_RESULT,
                             .chained = !(kernel->loop[kernel->simd].operands >> SX_RESULT & 1),
                             .corrected = corrected,
                             .limits = *limits};
    for (int i = 0; i < design->n_space; i++) plan.space |= (sx_loops)(1u << design->space[i]);
    for (int d = 0; d < kernel->n_loops; d++) {
        if (!(kernel->loop[d].operands >> SX_RESULT & 1)) plan.summed |= (sx_loops)(1u << d);
        for (int a = 0; a < SX_N_OPERANDS; a++)
            if (kernel->loop[d].operands >> a & 1) plan.part[a].loops |= (sx_loops)(1u << d);
    }
    plan.sums = kernel->sliding || !plan.summed || (plan.summed & ~plan.space) != 0;
    plan.handover = !plan.streams && !(plan.summed & plan.space) ? 2 : 0;
    for (int a = 0; a < SX_N_OPERANDS; a++) {
        sx_systolic_part *part = &plan.part[a];
        part->last = (uint8_t)kernel->last[a];
        part->result = a == SX_RESULT;
        part->level = (plan.space & ~part->loops) == 0 ? 1 : 2;
        uint32_t words = (part->level == 1 ? NEAR_BITS : FAR_BITS) / limits->bits;
        part->cap = words > 1 ? words : 1;
        lay_chains(&plan, part);
        part->outer = moving_loops(&plan, a);
    }
    *out = plan;
}

sx_systolic_tile sx_systolic_tile_of(const sx_systolic_plan *plan, const sx_systolic_loop *loop, int index,
                                     uint32_t t1, uint32_t t2) {
    bool spread = plan->space >> index & 1;
    sx_systolic_tile tile = {.trips = (double)((loop->size + (uint64_t)t1 - 1) / t1),
                             .pes = spread ? (double)(t1 / t2) : 1,
                             .step = spread ? t2 : t1,
                             .hide = index == plan->simd ? 1 : t2};
    tile.all = tile.trips * tile.step;
    tile.span = (tile.step - 1) * loop->stride + 1 + loop->reach;
    tile.spans = tile.trips * tile.span;
    return tile;
}

double sx_systolic_pack(const sx_systolic_plan *plan, int operand, double step, double lanes) {
    const sx_systolic_part *part = &plan->part[operand];
    double least = part->result && plan->chained ? 1 : lanes;
    return fmax(fmin(step, part->cap), least);
}

bool sx_systolic_packs(double pack) {
    uint32_t words = (uint32_t)pack;
    return (words & (words - 1)) == 0;
}

sx_systolic_fault sx_systolic_rules(const sx_systolic_plan *plan, const sx_systolic_tile *tile,
                                    double lanes) {
    if (!sx_systolic_packs(lanes) || lanes > plan->limits.lanes) return SX_SYSTOLIC_LANES;
    double hidden = 1;
    for (int d = 0; d < plan->n_loops; d++) hidden *= tile[d].hide;
    if (plan->sums && hidden < plan->limits.add_latency * (plan->chained ? lanes : 1))
        return SX_SYSTOLIC_HIDING;
    for (int a = 0; a < SX_N_OPERANDS; a++)
        if (!sx_systolic_packs(sx_systolic_pack(plan, a, tile[plan->part[a].last].step, lanes)))
            return SX_SYSTOLIC_PACK;
    return SX_SYSTOLIC_FINE;
}
