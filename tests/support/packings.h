/* Packings without waste: rectangles of time and memory that are cut into buffers. */
#ifndef SX_TEST_PACKINGS_H
#define SX_TEST_PACKINGS_H

#include "placement/addresses/allocate.h"
#include "sextant/rng.h"

/* Cuts the largest of 1 + `tries` random rectangles in two until there are n; offsets are those of the cuts. */
void sx_cut_rectangle(sx_rng rng, uint64_t steps, uint64_t bytes, int tries, sx_buffer *buffer, size_t n);

/* Asserts that buffers that live at the same time do not overlap, and all are within the bytes. */
void sx_expect_apart(const sx_buffer *buffer, size_t n, uint64_t bytes);

#endif
