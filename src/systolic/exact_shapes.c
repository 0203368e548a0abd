/* The shapes of arrays that a device has room for, each with a lower bound over all its tiles. */
#include "base/status.h"
#include "base/vector.h"
#include "systolic/exact.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SHAPES = 1 << 24 };

void sx_exact_fini(sx_exact *exact) {
    sx_all_choices_fini(&exact->choices);
    free(exact->shape);
}

double sx_exact_cutoff(const sx_objective *objective, double value) {
    if (objective->n_criteria == 1 || isinf(value)) return value;
    return value + (2 * objective->tolerance + 1e-12) * fabs(value);
}

/* The PEs of a shape along a loop. */
static uint32_t pes_of(const sx_systolic_plan *plan, const sx_systolic_shape *shape, int loop) {
    for (int i = 0; i < plan->design.n_space; i++)
        if (plan->design.space[i] == loop) return shape->pes[i];
    return 1;
}

const sx_step_choices *sx_exact_choices(const sx_exact *exact, const sx_systolic_shape *shape, int loop) {
    const sx_systolic_plan *plan = &exact->space->plan[shape->design];
    const sx_loop_choices *choices = sx_choices_find(&exact->choices, plan, loop, shape->lanes);
    uint32_t pes = pes_of(plan, shape, loop);
    if (!choices || pes > choices->most_pes || choices->with[pes].n == 0) return NULL;
    return &choices->with[pes];
}

/* The bound of a shape: every loop at its least. INFINITY where a loop has no tiles. */
static double bound_of(const sx_exact *exact, const sx_systolic_shape *shape,
                       sx_systolic_tile (*tile)[SX_MAX_SYSTOLIC_LOOPS]) {
    const sx_systolic_space *space = exact->space;
    const sx_systolic_plan *plan = &space->plan[shape->design];
    for (int d = 0; d < space->n_loops; d++) {
        const sx_step_choices *choices = sx_exact_choices(exact, shape, d);
        if (!choices) return INFINITY;
        for (size_t k = 0; k < space->n_kernels; k++)
            tile[k][d] = sx_choice_least(space, plan, d, pes_of(plan, shape, d), choices, choices->n - 1, k);
    }
    return sx_systolic_objective_apply(&exact->objective, plan, shape->lanes, tile);
}

/* Adds a shape that has tiles. */
static sx_status add_shape(sx_exact *exact, sx_systolic_shape shape,
                           sx_systolic_tile (*tile)[SX_MAX_SYSTOLIC_LOOPS]) {
    shape.bound = bound_of(exact, &shape, tile);
    if (isinf(shape.bound)) return SX_OK;
    if (exact->n == MOST_SHAPES)
        return sx_error_hint(
            sx_error_new(SX_ERR_LIMIT, "the device fits more than %d array shapes", MOST_SHAPES),
            "search one design at a time, or use another method");
    if (!sx_reserve(&exact->shape, &exact->room, exact->n + 1, sizeof *exact->shape))
        return sx_error_memory();
    exact->shape[exact->n++] = shape;
    return SX_OK;
}

/* Makes the choices of all loops of a design; *space_choices are those of its space loops. */
static sx_status make_choices(sx_exact *exact, const sx_systolic_plan *plan, uint32_t lanes,
                              const sx_loop_choices *space_choices[2]) {
    for (int d = 0; d < exact->space->n_loops; d++) {
        const sx_loop_choices *choices = sx_choices_make(&exact->choices, plan, d, lanes);
        if (!choices) return sx_error_memory();
        for (int i = 0; i < plan->design.n_space; i++)
            if (plan->design.space[i] == d) space_choices[i] = choices;
    }
    return SX_OK;
}

/* Adds all shapes of a design with a given number of lanes, until the run is stopped. */
static sx_status add_design(const sx_run *run, sx_exact *exact, uint32_t design, uint32_t lanes,
                            sx_systolic_tile (*tile)[SX_MAX_SYSTOLIC_LOOPS]) {
    const sx_systolic_space *space = exact->space;
    const sx_systolic_plan *plan = &space->plan[design];
    const sx_loop_choices *space_choices[2] = {NULL, NULL};
    SX_TRY(make_choices(exact, plan, lanes, space_choices));
    bool flat = plan->design.n_space == 2;
    uint32_t least = flat && !space->options.thin ? 2 : 1, most = flat ? space_choices[1]->most_pes : 1;
    for (uint32_t p = least; p <= space_choices[0]->most_pes && !sx_run_stopped(run); p++)
        for (uint32_t q = flat ? least : 1; q <= most && (q % 256 || !sx_run_stopped(run)); q++) {
            double dsp = sx_systolic_dsp(&space->limits, (double)p * q, lanes);
            if (dsp > space->limits.dsp) break;
            if (dsp < space->least_dsp) continue;
            SX_TRY(
                add_shape(exact, (sx_systolic_shape){.design = design, .lanes = lanes, .pes = {p, q}}, tile));
        }
    return SX_OK;
}

/* By bound; ties in the order of designs, then of fewer lanes and PEs. */
static int compare_shapes(const void *a, const void *b) {
    const sx_systolic_shape *x = a, *y = b;
    if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
    if (x->design != y->design) return x->design < y->design ? -1 : 1;
    if (x->lanes != y->lanes) return x->lanes < y->lanes ? -1 : 1;
    if (x->pes[0] != y->pes[0]) return x->pes[0] < y->pes[0] ? -1 : 1;
    return x->pes[1] == y->pes[1] ? 0 : x->pes[1] < y->pes[1] ? -1 : 1;
}

sx_status sx_exact_init(const sx_run *run, sx_exact *out) {
    const sx_systolic_space *space = sx_systolic_space_of(sx_run_space(run));
    *out = (sx_exact){.space = space,
                      .objective = sx_systolic_objective_of(space, sx_run_goal(run)),
                      .choices = {.space = space}};
    sx_systolic_tile(*tile)[SX_MAX_SYSTOLIC_LOOPS] = malloc(space->n_kernels * sizeof *tile);
    sx_status status = tile ? SX_OK : sx_error_memory();
    for (size_t i = 0; !status && i < space->n_open; i++)
        for (uint32_t lanes = 1; !status && lanes <= space->limits.lanes && !sx_run_stopped(run); lanes *= 2)
            status = add_design(run, out, space->open_list[i], lanes, tile);
    free(tile);
    out->whole = !status && !sx_run_stopped(run);
    if (!status && out->n) qsort(out->shape, out->n, sizeof *out->shape, compare_shapes);
    return status;
}
