/* The inside of an outline's bounds: setting it, and the score of what was summed up. */
#ifndef SX_BOUND_OUTLINE_H
#define SX_BOUND_OUTLINE_H

#include "bound/bound.h"

/* The workspace of sx_outline_bound_spatial, to be freed with free(); NULL when memory is out. */
SX_OWN struct sx_keep_survey *sx_keep_survey_new(void);

/* Sets the outline and, where its spatial mapping is a new one, what follows from that. */
void sx_outline_bound_set(sx_outline_bound *bounds, const sx_outline *outline);

/* The score of an energy without leakage and of the largest use of a port. */
sx_score sx_outline_bound_score(const sx_outline_bound *bounds, double energy, double cycles);

/* As sx_outline_bound_traffic, with what every first loop comes to, whether neighbours help or not (window.c). */
void sx_outline_bound_first_traffic(sx_outline_bound *bounds, int tensor, int from, int to,
                                    sx_least_traffic *out);

/* Whether accesses of a flow to a level beyond bypassed ones are whole numbers as they are scaled (window.c). */
bool sx_outline_bound_scales_whole(sx_outline_bound *bounds, int tensor, int from, int to);

#endif
