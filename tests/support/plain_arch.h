/* Problems and architectures to work out by hand. */
#ifndef SX_TESTS_PLAIN_ARCH_H
#define SX_TESTS_PLAIN_ARCH_H

#include "sextant/input.h"

/* An architecture of levels L0, L1, ... without limits and energies, one instance each, over one MAC. */
void sx_plain_arch(sx_arch *arch, int n_levels);

/* Gives everything below a level a mesh of x by y. */
void sx_plain_mesh(sx_arch *arch, int level, uint64_t x, uint64_t y);

/* Reads a problem from einsum text, and makes the mapping of all factors 1 for it; fails the test on an
 * error. */
void sx_plain_problem(const char *einsum, const sx_arch *arch, sx_problem *problem, sx_mapping *mapping);

#endif
