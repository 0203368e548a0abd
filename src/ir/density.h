/* Densities of tensors, as the layers above need them. */
#ifndef SX_IR_DENSITY_H
#define SX_IR_DENSITY_H

#include "sextant/problem.h"

/* Refuses a tensor's density that is out of range. */
SX_MUST_USE sx_status sx_density_check(const sx_problem *problem, int tensor);

/* The dimension of each rank of a tensor whose words have places of their own; an error where a rank is not one
 * dimension. */
SX_MUST_USE sx_status sx_tensor_places(const sx_problem *problem, int tensor, uint8_t *dim);

/* Says that a file with non-zeros of this hash lists those of a tensor. */
SX_MUST_USE sx_status sx_tensor_set_places(sx_tensor *tensor, const char *path, uint64_t hash,
                                           double density);

/* The non-zeros of a banded matrix in a tile by the distance of its first row from its first column. */
uint64_t sx_band_nonzeros(uint32_t width, int64_t offset, int64_t rows, int64_t columns);

#endif
