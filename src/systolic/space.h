/* The space of systolic designs: the inside that its own searches see. A point is an sx_systolic_point.
 * Its genes:
 *   design  one, where there are several designs: which design it is
 *   tile    one per loop: both its tile sizes */
#ifndef SX_SYSTOLIC_SPACE_H
#define SX_SYSTOLIC_SPACE_H

#include "sextant/space_type.h"
#include "systolic/plan.h"
#include "systolic/tiles.h"

enum sx_systolic_axis { SX_AXIS_DESIGN, SX_AXIS_TILES };

/* The metrics of its model. */
enum { SX_SYSTOLIC_ENERGY, SX_SYSTOLIC_LATENCY, SX_SYSTOLIC_UTILIZATION, SX_SYSTOLIC_OFFCHIP };

typedef struct sx_systolic_space {
    sx_space space;
    sx_point_model model;
    size_t n_kernels;
    sx_systolic_kernel *kernel;
    sx_systolic_factors *factors; /* of each kernel */
    sx_systolic_options options;  /* element and designs: NULL */
    sx_systolic_limits limits;
    double least_dsp;
    size_t n_plans;         /* as many as the kernel has designs */
    sx_systolic_plan *plan; /* of each */
    bool *open;             /* by design: it may be chosen */
    size_t n_open;
    uint32_t *open_list;
    int n_loops;
    sx_systolic_tile_set tiles[SX_MAX_SYSTOLIC_LOOPS];
    sx_gene genes[1 + SX_MAX_SYSTOLIC_LOOPS];
    double macs; /* of all kernels, times their counts */
} sx_systolic_space;

/* A space as a systolic space; NULL where it is of another type. */
const sx_systolic_space *sx_systolic_space_of(const sx_space *space);

/* The text of a fault. */
const char *sx_systolic_fault_text(sx_systolic_fault fault);

/* The share of all usable DSP blocks' cycles that compute, of a design of that latency. */
static inline double sx_systolic_use(const sx_systolic_space *space, double latency) {
    return space->macs * space->limits.dsp_per_mac / (latency * space->limits.dsp);
}

/* The objective's first criterion for a cost, with the share of the usable DSP blocks' cycles that compute;
 * NAN where the objective needs what the model does not measure. */
double sx_systolic_value(const sx_objective *objective, const sx_systolic_cost *cost, double utilization);

/* The fault of a point, or SX_SYSTOLIC_FINE. */
sx_systolic_fault sx_systolic_fault_of(const sx_systolic_space *space, const sx_systolic_point *point);

/* Brings any numbers to tiles of the space: t1 to the nearest there is, t2 to the nearest that divides it. */
void sx_systolic_snap(const sx_systolic_space *space, sx_systolic_point *point);

/* What a device and a data type set; an error where it has no such type. */
SX_MUST_USE sx_status sx_systolic_limits_of(const sx_device *device, const char *element,
                                            sx_systolic_limits *out);

/* Parts of the space in other files (space_moves.c, space_project.c). */
void sx_systolic_redraw(const sx_space *space, sx_rng *rng, size_t gene, void *point);
void sx_systolic_nudge(const sx_space *space, sx_rng *rng, size_t gene, void *point);
void sx_systolic_take(const sx_space *space, size_t gene, const void *from, void *point);
/* Neighbour number `index`: a point one small step away, legal or not; false past the last. */
bool sx_systolic_neighbour(const sx_space *space, const void *point, size_t index, void *out);
bool sx_systolic_repair(const sx_space *space, sx_rng *rng, void *point);
bool sx_systolic_project(const sx_space *space, const double *values, void *point);

#endif
