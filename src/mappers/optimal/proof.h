/* What a search can say for a certificate. */
#ifndef SX_MAPPERS_OPTIMAL_PROOF_H
#define SX_MAPPERS_OPTIMAL_PROOF_H

#include "mappers/optimal/spatial_mappings.h"
#include "sextant/navigator.h"

/* How often a spatial mapping was visited, once all its mappings that may be better have been. */
enum { SX_SEARCHED = UINT8_MAX };

/* Tells a run that wants to know what closed the spatial mappings: bounds of their own, bounds (INFINITY:
 * nothing is left) and visits as the search left them. */
SX_MUST_USE sx_status sx_spatial_mappings_prove(sx_run *run, const sx_spatial_mappings *spatials,
                                                const double *compulsory, const double *bound,
                                                const uint8_t *visits);

/* Tells a run of several criteria, or of a space with remainders, that something is proven, without entries: only the
 * independent checker has rules for its lower bound. */
SX_MUST_USE sx_status sx_criteria_prove(sx_run *run, uint64_t n_spatial);

#endif
