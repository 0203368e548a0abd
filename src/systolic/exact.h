/* The inside of the exact search. */
#ifndef SX_SYSTOLIC_EXACT_H
#define SX_SYSTOLIC_EXACT_H

#include "run/navigator.h"
#include "systolic/choices.h"
#include "systolic/objective_value.h"

/* A shape: a design with its number of lanes and of PEs along each space loop. */
typedef struct sx_systolic_shape {
    double bound; /* of the objective, whatever the tiles */
    uint32_t design, lanes;
    uint32_t pes[2]; /* [1]: 1 for arrays of one dimension */
} sx_systolic_shape;

/* What an exact search knows of its space. */
typedef struct sx_exact {
    const sx_systolic_space *space;
    sx_systolic_objective_value objective;
    sx_all_choices choices;
    bool whole; /* all shapes are there: nothing stopped the run meanwhile */
    size_t n, room;
    sx_systolic_shape *shape; /* by bound */
} sx_exact;

/* Lists the shapes of a run's space, by their bounds; fewer where the run is stopped meanwhile. *out is freed
 * with sx_exact_fini, also after an error. */
SX_MUST_USE sx_status sx_exact_init(const sx_run *run, sx_exact *out);
void sx_exact_fini(sx_exact *exact);

/* The choices of a loop in a shape; NULL where there are none. They were made by sx_exact_init. */
const sx_step_choices *sx_exact_choices(const sx_exact *exact, const sx_systolic_shape *shape, int loop);

/* The cutoff of an incumbent's value. With several criteria it is a little higher. */
double sx_exact_cutoff(const sx_objective *objective, double value);

/* Searches the tiles of a shape and evaluates those that are below *best, which becomes the cutoff of
 * what was found; true if it completed. */
bool sx_exact_walk(const sx_exact *exact, const sx_systolic_shape *shape, sx_worker *worker, double *best);

#endif
