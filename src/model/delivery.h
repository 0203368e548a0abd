/* What it costs at the least to hand operands to compute units that lie side by side. */
#ifndef SX_MODEL_DELIVERY_H
#define SX_MODEL_DELIVERY_H

#include "model/model.h"

/* The energy beyond the compulsory minimum that every mapping has which spreads each dimension d over spread[d] compute
 * units, in parts of equal size, with the energy of the cheapest access to a word of each tensor. */
double sx_model_delivery(const sx_model *model, const double *access, const double *spread);

/* The outermost level that keeps each tensor; -1: it is not known. */
typedef struct sx_model_home {
    int8_t level[SX_MAX_TENSORS];
    uint8_t found; /* outputs that are read there with the first update, a mask */
} sx_model_home;

/* The compulsory minimum of mappings that keep every tensor at its home and no further out. */
sx_score sx_model_minimum_at(const sx_model *model, const sx_model_home *home);

/* The least energy of an access to a word of a tensor, at the cheapest of the levels that may keep it. */
double sx_model_cheapest_access(const sx_model *model, int tensor);

#endif
