/* What an enumeration says of several criteria. */
#ifndef SX_OPTIMA_H
#define SX_OPTIMA_H

#include "model/model.h"

/* The least value of each criterion, in order, among the n scores near the optima of those before it. */
void sx_find_optima(const sx_score *score, size_t n, const sx_objective *o, double *least);

#endif
