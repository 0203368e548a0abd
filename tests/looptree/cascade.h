/* A cascade: einsums in the order in which they run, and the tensors that pass from one to another. Tensors of
 * two einsums that have the same name are one tensor, and its ranks correspond by their number. */
#ifndef SX_LOOPTREE_CASCADE_H
#define SX_LOOPTREE_CASCADE_H

#include "sextant/problem.h"

#include <stddef.h>

typedef struct sx_cascade_tensor {
    char name[SX_NAME_SIZE];
    uint32_t bits;      /* of an element */
    size_t first, last; /* the first and the last einsum that uses it */
    bool written, read; /* by an einsum of the cascade */
    bool shared;        /* several einsums use it */
} sx_cascade_tensor;

typedef struct sx_cascade {
    size_t n_einsums, n_tensors;
    sx_problem *einsum;
    size_t (*tensor_of)[SX_MAX_TENSORS]; /* of an einsum's tensors: their index in `tensor` */
    sx_cascade_tensor *tensor;
} sx_cascade;

/* Makes the cascade of n einsums, which are copied; elements without a width have `bits`. An error where two
 * einsums write one tensor, one reads what a later one writes, or users of a tensor disagree about its ranks or
 * its width. */
SX_MUST_USE sx_status sx_cascade_init(sx_cascade *cascade, const sx_problem *einsum, size_t n, uint32_t bits);
void sx_cascade_fini(sx_cascade *cascade);

/* Whether an einsum of the cascade writes the tensor and a later one reads it. */
static inline bool sx_cascade_passes(const sx_cascade_tensor *tensor) {
    return tensor->written && tensor->read;
}

/* Whether einsum e uses a tensor of the cascade; *local, where not NULL, becomes its index there. */
bool sx_cascade_uses(const sx_cascade *cascade, size_t e, size_t tensor, int *local);

#endif
