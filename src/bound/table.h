/* Numbering the tiles of an outline, and its tables over them. */
#ifndef SX_BOUND_TABLE_H
#define SX_BOUND_TABLE_H

#include "bound/bound.h"

/* The exponent of a prime in a number. */
static inline uint32_t sx_prime_exponent(uint32_t number, uint32_t prime) {
    uint32_t e = 0;
    for (; number % prime == 0; number /= prime) e++;
    return e;
}

/* Numbers the tiles that the spatial mapping of the outline leaves, unless they are. */
void sx_outline_bound_number(sx_outline_bound *bounds);

/* Makes the tables of energy for levels from `level` outward alone. */
void sx_outline_bound_outer(sx_outline_bound *bounds, int level);

/* Takes the least over all multiples in some dimensions. */
void sx_lattice_ascend(const sx_lattice *lattice, unsigned dims, double *at);

/* Whether the tiles of the tensors that a level keeps fit at a point. */
bool sx_bound_fits(const sx_bound *bound, int level, unsigned keep, uint32_t point);

#endif
