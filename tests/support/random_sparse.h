/* Random densities, formats and actions for a problem and an architecture. */
#ifndef SX_TESTS_RANDOM_SPARSE_H
#define SX_TESTS_RANDOM_SPARSE_H

#include "sextant/arch.h"
#include "sextant/rng.h"

/* Gives the tensors densities, and the levels formats and actions that many mappings can live with. */
void sx_random_sparse(sx_rng *rng, sx_problem *problem, sx_arch *arch);

#endif
