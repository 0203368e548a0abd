/* Problems of one einsum whose dimensions and tensors may stand in another order and have other names. */
#ifndef SX_SURROGATE_MATCH_H
#define SX_SURROGATE_MATCH_H

#include "sextant/problem.h"

#include <stdbool.h>

/* Which dimension and tensor of another problem each one of a problem is. */
typedef struct sx_match {
    uint8_t dim[SX_MAX_DIMS], tensor[SX_MAX_TENSORS];
} sx_match;

/* Finds how two problems are the same but for sizes, names and order; false where they are not. Equal names
 * are preferred. */
bool sx_problem_match(const sx_problem *a, const sx_problem *b, sx_match *out);

#endif
