/* Boltzmann chromosomes: for each tensor a prior per memory and a temperature, from which its memory is drawn.
 *
 * Source: EGRL (ICLR 2021), appendix E. A chromosome is space->space.n_genes times (memories + 1) floats. */
#ifndef SX_PLACEMENT_BOLTZMANN_H
#define SX_PLACEMENT_BOLTZMANN_H

#include "placement/place.h"

size_t sx_boltzmann_length(const sx_placement_space *space);

/* Begins as normal noise, around `lean` for the slowest memory. */
void sx_boltzmann_draw(const sx_placement_space *space, sx_rng *rng, double lean, float *chromosome);

/* Draws a placement: probabilities proportional to exp(prior / temperature). */
void sx_boltzmann_place(const sx_placement_space *space, sx_rng *rng, const float *chromosome,
                        uint8_t *placement);

/* Adds noise to one of ten genes, about, and at least one. */
void sx_boltzmann_mutate(const sx_placement_space *space, sx_rng *rng, double sigma, float *chromosome);

/* Sets the priors to the logarithms of distributions, tensors x memories; temperatures stay. */
void sx_boltzmann_seed(const sx_placement_space *space, const float *probability, float *chromosome);

/* Whether the numbers can be a chromosome. */
bool sx_boltzmann_holds(const sx_placement_space *space, const float *chromosome);

#endif
