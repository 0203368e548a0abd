/* What a vector operator costs on an architecture with a vector unit (docs/llm.md). */
#ifndef SX_MODEL_VECTOR_H
#define SX_MODEL_VECTOR_H

#include "sextant/arch.h"
#include "sextant/operators.h"

/* Of one node; words are those of the outermost level. */
typedef struct sx_vector_cost {
    double operations, words_read, words_written;
    double cycles, compute_cycles; /* compute_cycles: of the lanes alone */
    double energy;                 /* pJ */
    bool row_fits;                 /* a row stays at hand, so that it is read once */
} sx_vector_cost;

/* The cost of an operator that is a vector operator, on an architecture that has a vector unit. */
sx_vector_cost sx_vector_cost_of(const sx_arch *arch, const sx_graph *graph, const sx_operator *op);

#endif
