/* What it costs at the least to hand operands to compute units that lie side by side. */
#ifndef SX_MODEL_DELIVERY_H
#define SX_MODEL_DELIVERY_H

#include "model/model.h"

/* The energy beyond the compulsory minimum that every mapping has which spreads each dimension d over spread[d] compute
 * units, in parts of equal size. */
double sx_model_delivery(const sx_model *model, const double *spread);

/* The least energy of an access to a word of a tensor, at the cheapest of the levels that may keep it. */
double sx_model_cheapest_access(const sx_model *model, int tensor);

#endif
