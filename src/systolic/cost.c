/* What a point costs: rules, resources, and the sum over kernels. */
#include "base/status.h"
#include "systolic/space.h"

#include <math.h>
#include <stdio.h>

enum {
    LANE_BITS = 256,      /* of all lanes of a PE together */
    BRAM_BITS = 36,       /* of a word of a block */
    MAX_TILE = 0x7fffffff /* of any loop */
};

double sx_device_usable_dsp(const sx_device *device) {
    return device->share * device->dsp;
}

double sx_device_usable_bram(const sx_device *device) {
    return device->share * device->bram18k;
}

sx_status sx_systolic_limits_of(const sx_device *device, const char *element, sx_systolic_limits *out) {
    const sx_element *type;
    SX_TRY(sx_device_check(device));
    SX_TRY(sx_device_element(device, element, &type));
    sx_systolic_limits limits = {.dsp = sx_device_usable_dsp(device),
                                 .bram = sx_device_usable_bram(device),
                                 .dsp_per_mac = type->dsp_per_mac,
                                 .port_words = (double)device->port_bits / type->bits,
                                 .row_cycles = device->row_cycles,
                                 .bits = type->bits,
                                 .lanes = LANE_BITS / type->bits,
                                 .add_latency = type->add_latency};
    limits.per_port = 1 / limits.port_words;
    for (uint32_t pack = 1; pack < sizeof limits.width / sizeof *limits.width; pack++) {
        limits.width[pack] = (type->bits * pack + BRAM_BITS - 1) / BRAM_BITS;
        limits.inverse[pack] = 1.0 / pack;
    }
    *out = limits;
    return SX_OK;
}

bool sx_systolic_has_cost(sx_systolic_fault fault) {
    return fault == SX_SYSTOLIC_FINE || fault >= SX_SYSTOLIC_THIN;
}

/* Whether the tiles of a point are in range and divide. */
static bool well_formed(int n_loops, const sx_systolic_point *point) {
    for (int d = 0; d < n_loops; d++) {
        uint32_t t1 = point->t1[d], t2 = point->t2[d];
        if (t1 < 1 || t2 < 1 || t1 > MAX_TILE || t1 % t2) return false;
    }
    return true;
}

/* The records of tiles for a kernel. */
static void read_tiles(const sx_systolic_plan *plan, const sx_systolic_kernel *kernel,
                       const sx_systolic_point *point, sx_systolic_tile *tile) {
    for (int d = 0; d < plan->form.n_loops; d++)
        tile[d] = sx_systolic_tile_of(plan, &kernel->loop[d], d, point->t1[d], point->t2[d]);
}

/* The faults that tiles have whatever the size of the device and the space. */
static sx_systolic_fault broken_rule(const sx_systolic_plan *plan, const sx_systolic_kernel *kernel,
                                     const sx_systolic_point *point, sx_systolic_tile *tile) {
    if (!well_formed(plan->form.n_loops, point)) return SX_SYSTOLIC_TILES;
    read_tiles(plan, kernel, point, tile);
    return sx_systolic_rules(plan, tile, point->t2[plan->simd]);
}

/* The faults of tiles that have a cost. */
static sx_systolic_fault tile_faults(const sx_systolic_plan *plan, bool thin, double least_dsp,
                                     const sx_systolic_tile *tile, const sx_systolic_cost *cost) {
    for (int i = 0; i < plan->design.n_space && plan->design.n_space == 2 && !thin; i++)
        if (tile[plan->design.space[i]].pes <= 1) return SX_SYSTOLIC_THIN;
    if (cost->dsp > plan->limits.dsp) return SX_SYSTOLIC_DSP;
    if (cost->bram18k > plan->limits.bram) return SX_SYSTOLIC_BRAM;
    return cost->dsp < least_dsp ? SX_SYSTOLIC_UNDERUSED : SX_SYSTOLIC_FINE;
}

/* A kernel's cost, energy too. */
static sx_systolic_cost cost_of(const sx_systolic_plan *plan, const sx_systolic_factors *factors,
                                const sx_systolic_tile *tile, double lanes) {
    sx_systolic_cost cost;
    sx_systolic_measure(plan, factors, tile, lanes, &cost);
    cost.energy = sx_systolic_energy(plan, factors, tile, lanes, cost.offchip_words);
    return cost;
}

/* The plan of a point's design, outside of any space. */
static sx_status plan_of(const sx_systolic_kernel *kernel, const sx_device *device,
                         const sx_systolic_options *options, const sx_systolic_point *point,
                         sx_systolic_plan *out) {
    sx_systolic_limits limits;
    sx_systolic_design design;
    if (point->design >= sx_systolic_n_designs(kernel))
        return sx_error_new(SX_ERR_USAGE, "'%s' has no design number %u", kernel->name, point->design);
    SX_TRY(sx_systolic_limits_of(device, options ? options->element : NULL, &limits));
    sx_systolic_design_at(kernel, point->design, &design);
    sx_systolic_plan_init(kernel, &design, &limits, options && options->corrected, out);
    return SX_OK;
}

sx_status sx_systolic_cost_of(const sx_systolic_kernel *kernel, const sx_device *device,
                              const sx_systolic_options *options, const sx_systolic_point *point,
                              sx_systolic_fault *fault, sx_systolic_cost *out) {
    const sx_systolic_options none = {0};
    if (!options) options = &none;
    sx_systolic_plan plan;
    sx_systolic_tile tile[SX_MAX_SYSTOLIC_LOOPS];
    SX_TRY(plan_of(kernel, device, options, point, &plan));
    *fault = broken_rule(&plan, kernel, point, tile);
    if (*fault) return SX_OK;
    sx_systolic_factors factors = sx_systolic_factors_of(kernel);
    *out = cost_of(&plan, &factors, tile, point->t2[plan.simd]);
    *fault = tile_faults(&plan, options->thin, options->least_dsp * plan.limits.dsp, tile, out);
    return SX_OK;
}

sx_status sx_systolic_itemize(const sx_systolic_kernel *kernel, const sx_device *device,
                              const sx_systolic_options *options, const sx_systolic_point *point,
                              sx_systolic_items *out) {
    sx_systolic_plan plan;
    sx_systolic_tile tile[SX_MAX_SYSTOLIC_LOOPS];
    SX_TRY(plan_of(kernel, device, options, point, &plan));
    if (broken_rule(&plan, kernel, point, tile))
        return sx_error_new(SX_ERR_USAGE, "tiles that break a rule have no terms");
    sx_systolic_factors factors = sx_systolic_factors_of(kernel);
    sx_systolic_write_down(&plan, &factors, tile, point->t2[plan.simd], out);
    return SX_OK;
}

/* Adds a kernel's cost to that of all. */
static void add_cost(sx_systolic_cost *all, const sx_systolic_cost *one, double count) {
    all->latency += count * one->latency;
    all->prologue += count * one->prologue;
    all->steady += count * one->steady;
    all->epilogue += count * one->epilogue;
    all->offchip_words += count * one->offchip_words;
    all->energy += count * one->energy;
    all->dsp = fmax(all->dsp, one->dsp);
    all->bram18k = fmax(all->bram18k, one->bram18k);
}

/* The cost of one kernel or of all, with or without its energy. */
static sx_systolic_fault cost_at(const sx_systolic_space *space, const sx_systolic_point *point, int kernel,
                                 bool energy, sx_systolic_cost *out) {
    sx_systolic_tile tile[SX_MAX_SYSTOLIC_LOOPS];
    if (point->design >= space->n_plans) return SX_SYSTOLIC_TILES;
    const sx_systolic_plan *plan = &space->plan[point->design];
    double lanes = point->t2[plan->simd];
    sx_systolic_fault fault = broken_rule(plan, &space->kernel[0], point, tile);
    if (fault) return fault;
    sx_systolic_cost all = {0}, one;
    for (size_t i = 0; i < space->n_kernels; i++) {
        if (kernel >= 0 && (size_t)kernel != i) continue;
        if (i > 0) read_tiles(plan, &space->kernel[i], point, tile);
        if (energy)
            one = cost_of(plan, &space->factors[i], tile, lanes);
        else
            sx_systolic_measure(plan, &space->factors[i], tile, lanes, &one);
        add_cost(&all, &one, kernel < 0 ? (double)space->kernel[i].count : 1);
    }
    *out = all;
    fault = tile_faults(plan, space->options.thin, space->least_dsp, tile, out);
    for (int d = 0; d < space->n_loops && !fault; d++)
        if (!space->open[point->design] || !sx_systolic_tile_in(&space->tiles[d], point->t1[d]))
            fault = SX_SYSTOLIC_OUTSIDE;
    return fault;
}

sx_systolic_fault sx_systolic_evaluate(const sx_space *space, const sx_systolic_point *point, int kernel,
                                       sx_systolic_cost *out) {
    return cost_at(sx_systolic_space_of(space), point, kernel, true, out);
}

sx_systolic_fault sx_systolic_fault_of(const sx_systolic_space *space, const sx_systolic_point *point) {
    sx_systolic_cost cost;
    return cost_at(space, point, -1, false, &cost);
}

void sx_systolic_role_text(const sx_systolic_kernel *kernel, sx_systolic_role role, int operand, int level,
                           char *text, size_t size) {
    static const char *const format[] = {
        [SX_SYSTOLIC_COMPUTES] = "computing",
        [SX_SYSTOLIC_ENTERS] = "%s into the buffers (L%d)",
        [SX_SYSTOLIC_LEAVES] = "%s out of the buffers (L%d)",
        [SX_SYSTOLIC_PASSES] = "%s through L%d",
        [SX_SYSTOLIC_COMES] = "%s from memory (L%d)",
        [SX_SYSTOLIC_GOES] = "%s to memory (L%d)",
    };
    snprintf(text, size, format[role], kernel->operand[operand], level);
}
