/* Making points of the space of systolic designs legal. */
#include "systolic/space.h"

#include <math.h>
#include <string.h>

enum { REPAIRS = 400 };

static const sx_systolic_space *systolic_of(const sx_space *space) {
    return (const sx_systolic_space *)space;
}

/* A random loop of a set; -1 where there is none. */
static int random_loop(sx_rng *rng, int n_loops, sx_loops loops) {
    unsigned n = 0;
    for (int d = 0; d < n_loops; d++) n += loops >> d & 1;
    if (n == 0) return -1;
    uint64_t left = sx_rng_below(rng, n);
    for (int d = 0; d < n_loops; d++)
        if ((loops >> d & 1) && left-- == 0) return d;
    return -1;
}

/* Sets a loop's tiles to about a number of PEs times an inner tile. */
static void set_tiles(const sx_systolic_space *space, sx_systolic_point *point, int d, double pes,
                      double inner) {
    const sx_systolic_tile_set *set = &space->tiles[d];
    point->t1[d] = sx_systolic_tile_nearest(set, fmax(pes, 1) * fmax(inner, 1));
    point->t2[d] = sx_systolic_inner_nearest(set, point->t1[d], inner);
}

/* One rough step against a fault. */
static void repair_step(const sx_systolic_space *space, sx_rng *rng, sx_systolic_fault fault,
                        sx_systolic_point *point) {
    const sx_systolic_plan *plan = &space->plan[point->design];
    sx_loops all = (sx_loops)((1u << space->n_loops) - 1), lanes = (sx_loops)(1u << plan->simd), loops = all;
    bool shrink = false;
    switch (fault) {
    case SX_SYSTOLIC_HIDING:
        loops = all & (sx_loops)~lanes;
        break;
    case SX_SYSTOLIC_THIN:
    case SX_SYSTOLIC_UNDERUSED:
        loops = plan->form.space;
        break;
    case SX_SYSTOLIC_DSP:
    case SX_SYSTOLIC_BRAM:
        shrink = true;
        loops = fault == SX_SYSTOLIC_DSP ? (sx_loops)(plan->form.space | lanes) : all;
        break;
    default:
        break;
    }
    int d = random_loop(rng, space->n_loops, loops);
    if (d < 0) return;
    double inner = point->t2[d], pes = point->t1[d] / inner, factor = 1.25 + sx_rng_double(rng);
    if (fault == SX_SYSTOLIC_HIDING)
        set_tiles(space, point, d, pes, ceil(inner * factor));
    else if (shrink && (fault == SX_SYSTOLIC_DSP || sx_rng_below(rng, 2)))
        set_tiles(space, point, d, floor(pes / factor), d == plan->simd ? floor(inner / factor) : inner);
    else if (shrink)
        set_tiles(space, point, d, pes, floor(inner / factor));
    else if (fault == SX_SYSTOLIC_THIN || fault == SX_SYSTOLIC_UNDERUSED)
        set_tiles(space, point, d, ceil(pes * factor), inner);
    else
        set_tiles(space, point, d, pes, exp2(floor(log2(inner * factor))));
}

bool sx_systolic_repair(const sx_space *base, sx_rng *rng, void *point) {
    const sx_systolic_space *space = systolic_of(base);
    sx_systolic_snap(space, point);
    for (int i = 0; i < REPAIRS; i++) {
        sx_systolic_fault fault = sx_systolic_fault_of(space, point);
        if (!fault) return true;
        repair_step(space, rng, fault, point);
    }
    return base->type->check(base, point) == 0;
}

/* How far a point is from a vector: designs apart, then tiles. */
static double point_distance(const sx_space *base, const sx_systolic_point *point, const double *values) {
    double sum = 0, own_values[1 + 2 * SX_MAX_SYSTOLIC_LOOPS];
    base->type->encode(base, point, own_values);
    for (size_t i = 0; i < base->n_values; i++)
        sum += (own_values[i] - values[i]) * (own_values[i] - values[i]);
    return sum;
}

/* A number rounded to the nearest valid tile. */
static uint32_t as_tile(double value) {
    return !(value > 1) ? 1 : value > 2147483647.0 ? 2147483647u : (uint32_t)(value + 0.5);
}

bool sx_systolic_project(const sx_space *base, const double *values, void *out) {
    const sx_systolic_space *space = systolic_of(base);
    sx_systolic_point point = {.design = space->open_list[0]}, next;
    for (size_t i = 1; i < space->n_open; i++)
        if (fabs(space->open_list[i] - values[0]) < fabs(point.design - values[0]))
            point.design = space->open_list[i];
    for (int d = 0; d < space->n_loops; d++) {
        point.t1[d] = as_tile(values[1 + 2 * d]);
        point.t2[d] = as_tile(values[2 + 2 * d]);
    }
    sx_systolic_snap(space, &point);
    sx_rng rng = sx_rng_stream(0, "systolic.project", 0);
    if (base->type->check(base, &point) && !sx_systolic_repair(base, &rng, &point)) {
        memcpy(out, &point, sizeof point);
        return false;
    }
    for (bool nearer = true; nearer;) {
        double least = point_distance(base, &point, values);
        sx_systolic_point best = point;
        nearer = false;
        for (size_t i = 0; sx_systolic_neighbour(base, &point, i, &next); i++) {
            double off = point_distance(base, &next, values);
            if (!(off < least) || base->type->check(base, &next)) continue; /* off may be no number */
            least = off;
            best = next;
            nearer = true;
        }
        point = best;
    }
    memcpy(out, &point, sizeof point);
    return true;
}
