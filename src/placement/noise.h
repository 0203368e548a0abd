/* A model of placements whose latencies have the noise of a measurement. */
#ifndef SX_PLACEMENT_NOISE_H
#define SX_PLACEMENT_NOISE_H

#include "placement/place.h"

/* A model that multiplies the latency by exp(sigma * normal), which follows from the seed and the placement:
 * the same placement has the same noise, so that runs repeat. Freed with sx_noise_free(). */
SX_MUST_USE sx_status sx_noise_new(const sx_space *space, double sigma, uint64_t seed,
                                   SX_OWN sx_point_model **out);
void sx_noise_free(SX_TAKE sx_point_model *model);

#endif
