/* Random kernels, devices and tiles of systolic arrays. */
#ifndef SX_TESTS_RANDOM_SYSTOLIC_H
#define SX_TESTS_RANDOM_SYSTOLIC_H

#include "sextant/rng.h"
#include "sextant/systolic.h"

/* A kernel with loops of at most `most` steps: products of matrices, batched, of a vector, with several sums;
 * convolutions, strided, dilated, grouped, depthwise, of one to three windows; products without a sum. */
void sx_random_kernel(sx_rng *rng, uint32_t most, sx_systolic_kernel *out);

/* A device with one type of numbers, every latency a whole number. */
void sx_random_device(sx_rng *rng, sx_device *out);

/* A design and tiles that divide as they must, many of them legal; tiles may be larger than their loops. */
void sx_random_tiles(sx_rng *rng, const sx_systolic_kernel *kernel, sx_systolic_point *out);

/* A line that describes a kernel, a design and tiles for error messages. */
void sx_systolic_point_text(const sx_systolic_kernel *kernel, const sx_systolic_point *point, char *text,
                            size_t size);

#endif
