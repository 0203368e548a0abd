/* What the files of the mapper `optimal` share. */
#ifndef SX_MAPPERS_OPTIMAL_PARTS_H
#define SX_MAPPERS_OPTIMAL_PARTS_H

#include "model/bound.h"
#include "run/run.h"
#include "space/map_choices.h"

/* Every way to spread loops over the arrays of a space: factors per level and dimension, one after another.
 */
typedef struct sx_arrays {
    const sx_map_space *space;
    size_t n, room;
    uint32_t *factor;
} sx_arrays;

/* Lists the arrays of a space for which some way to lay them on X and Y has room; an error where there are
 * more than `most`. */
SX_MUST_USE sx_status sx_arrays_list(sx_map_choices *choices, const sx_map_space *space, size_t most,
                                     sx_arrays *out);
void sx_arrays_fini(sx_arrays *arrays);

/* Sets the spatial factors of an outline to those of array `index`. */
void sx_arrays_get(const sx_arrays *arrays, size_t index, sx_outline *outline);

/* Whether the loops of a level, of which those of a mask lie on X, have room there. */
bool sx_array_fits(const sx_map_space *space, int level, const uint32_t *factor, unsigned x);

/* How a search judges bounds. */
typedef struct sx_judge {
    const sx_objective *objective;
    double gap;  /* what is not better by that share need not be looked at */
    bool sound;  /* the objective grows with energy and cycles */
    bool tables; /* bounds by tables */
} sx_judge;

/* The least value of the objective for a bound; -INFINITY where nothing can be said. */
double sx_judge_value(const sx_judge *judge, const sx_score *bound);

/* Whether something of that least value may be worth a look beside a value that is there. */
bool sx_judge_open(const sx_judge *judge, double bound, double best);

/* A walk through all mappings of an array: one task's workspace. */
typedef struct sx_descent sx_descent;

SX_MUST_USE sx_status sx_descent_new(const sx_bound *bound, sx_map_choices *choices,
                                     const sx_map_space *space, const sx_judge *judge,
                                     SX_OWN sx_descent **out);
void sx_descent_free(SX_TAKE sx_descent *descent);

/* A bound of all mappings of an array: at least the value up to which bounds are of interest, or their least.
 */
double sx_descent_bound(sx_descent *descent, const sx_arrays *arrays, size_t index, double best);

/* How a search of an array ended. */
typedef enum sx_ending { SX_CLOSED, SX_TIRED, SX_STOPPED } sx_ending;

/* Evaluates all mappings of an array that may be better than `best`, in about `effort` steps at most: beyond,
 * it ends tired. Stopped: by the run, or as memory is out. */
sx_ending sx_descent_search(sx_descent *descent, const sx_arrays *arrays, size_t index, double best,
                            uint64_t effort, sx_worker *worker);

/* How often an array was looked at, once all its mappings that may be better have been. */
enum { SX_SEARCHED = UINT8_MAX };

/* Tells a run that wants to know what closed the arrays: bounds of their own, bounds (INFINITY: nothing is
 * left) and looks as the search left them. */
SX_MUST_USE sx_status sx_arrays_prove(sx_run *run, const sx_arrays *arrays, const double *compulsory,
                                      const double *bound, const uint8_t *looks);

#endif
