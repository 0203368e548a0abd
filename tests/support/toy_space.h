/* A small space for tests of searches: vectors of whole numbers with a bumpy cost, whose numbers depend on
 * each other, and with illegal regions. */
#ifndef SX_TESTS_TOY_SPACE_H
#define SX_TESTS_TOY_SPACE_H

#include "sextant/space_type.h"

enum { SX_TOY_DIMS = 6, SX_TOY_RANGE = 16, SX_TOY_AXES = 2 };

/* Each number lies in 0..SX_TOY_RANGE-1. */
typedef struct sx_toy_point {
    uint32_t x[SX_TOY_DIMS];
} sx_toy_point;

/* What a toy space may be told. All zero: a space of legal and illegal points. */
typedef struct sx_toy_options {
    bool barren;    /* no point is legal */
    unsigned work;  /* rounds of idle work in every evaluation */
    unsigned dims;  /* only a given number of numbers vary, the others are 0; 0: all */
    uint64_t shift; /* another cost */
} sx_toy_options;

/* A new toy space, never NULL; options may be NULL. Freed with its type's `free`. */
SX_OWN sx_space *sx_toy_space_new(const sx_toy_options *options);

/* The least product of energy and cycles of all legal points, by trying them all. */
double sx_toy_optimum(const sx_space *space);

#endif
