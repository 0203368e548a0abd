/* Small random nests with sparse tensors: three levels, each of which keeps every tensor. */
#ifndef SX_TESTS_SPARSE_CASE_H
#define SX_TESTS_SPARSE_CASE_H

#include "sextant/all.h"

enum { SX_SPARSE_LEVELS = 3 };

typedef struct sx_sparse_case {
    sx_problem problem;
    sx_arch arch;
    sx_mapping mapping;
    bool formatted[SX_MAX_TENSORS]; /* one flattened rank per level */
} sx_sparse_case;

/* Draws a problem, whose dimensions are among the n_sizes (at most 7) smallest sizes, and a mapping. */
void sx_random_sparse_nest(sx_rng *rng, unsigned n_sizes, sx_sparse_case *out);

/* Gives it densities, formats of some tensors, gating and skipping. */
void sx_random_sparse_hardware(sx_rng *rng, sx_sparse_case *out);

/* Lets, in half the cases of three operands, accesses to two of them depend on the third, at levels of their own. */
void sx_random_sparse_shared(sx_rng *rng, sx_sparse_case *t);

/* Evaluates the mapping, dense or with what hardware does about zeros. */
sx_verdict sx_sparse_case_evaluate(const sx_sparse_case *c, bool sparse, sx_cost *out);

#endif
