/* Odyssey's kernels and points as the files of tests/golden/odyssey name them. */
#ifndef SX_TESTS_ODYSSEY_H
#define SX_TESTS_ODYSSEY_H

#include "sextant/systolic.h"

#include <jansson.h>

/* The kernel of a `problem`: i, j, k of a matrix product or i, o, r, c, p, q of a convolution. */
sx_systolic_kernel sx_odyssey_kernel(const json_t *problem);

/* The point of a `design` and `tiles`, first all t1 and then all t2, in the order of the problem. */
sx_systolic_point sx_odyssey_point(const sx_systolic_kernel *kernel, const char *design, const json_t *tiles);

#endif
