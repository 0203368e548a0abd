/* What a search can say for a certificate. */
#ifndef SX_MAPPERS_OPTIMAL_PROOF_H
#define SX_MAPPERS_OPTIMAL_PROOF_H

#include "mappers/optimal/arrays.h"
#include "sextant/navigator.h"

/* How often an array was looked at, once all its mappings that may be better have been. */
enum { SX_SEARCHED = UINT8_MAX };

/* Tells a run that wants to know what closed the arrays: bounds of their own, bounds (INFINITY: nothing is
 * left) and looks as the search left them. */
SX_MUST_USE sx_status sx_arrays_prove(sx_run *run, const sx_arrays *arrays, const double *compulsory,
                                      const double *bound, const uint8_t *looks);

#endif
