/* The map space of a problem on an architecture, with all that it is made of. */
#ifndef SX_SESSION_SEARCH_SPACE_H
#define SX_SESSION_SEARCH_SPACE_H

#include "sextant/objective.h"
#include "sextant/space.h"

typedef struct sx_search_space {
    sx_problem problem;
    sx_arch arch;
    sx_constraints constraints;
    sx_model *model;
    sx_space *space;
} sx_search_space;

/* Makes the model and the space of a problem; *out is freed with sx_search_space_fini, also after an error.
 */
SX_MUST_USE sx_status sx_search_space_init(const sx_problem *problem, const sx_arch *arch,
                                           const sx_constraints *constraints,
                                           const sx_model_options *model_options,
                                           const sx_map_space_options *space_options, sx_search_space *out);
void sx_search_space_fini(sx_search_space *s);

/* The objective's value of the compulsory minimum, where the outermost level keeps all that it may; with
 * `algorithmic`, of Mind Mappings' algorithmic minimum. */
double sx_search_space_minimum(const sx_search_space *s, const sx_objective *objective, bool algorithmic);

#endif
