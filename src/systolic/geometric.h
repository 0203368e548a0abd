/* Geometric programs: the least of a sum of monomials where other such sums are at most 1. */
#ifndef SX_SYSTOLIC_GEOMETRIC_H
#define SX_SYSTOLIC_GEOMETRIC_H

#include "sextant/status.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    SX_MAX_POWERS = 16,      /* variables */
    SX_MAX_MONOMIALS = 3,    /* of a sum */
    SX_MAX_POSYNOMIALS = 40, /* constraints */
};

/* In the logarithms z of the variables: exp(offset + power . z). */
typedef struct sx_monomial {
    double offset, power[SX_MAX_POWERS];
} sx_monomial;

/* A sum of monomials. */
typedef struct sx_posynomial {
    size_t n;
    sx_monomial term[SX_MAX_MONOMIALS];
} sx_posynomial;

typedef struct sx_geometric {
    size_t n_variables, n_constraints;
    sx_posynomial objective;
    sx_posynomial constraint[SX_MAX_POSYNOMIALS]; /* each at most 1 */
} sx_geometric;

/* The logarithm of a sum of monomials at logarithms z. */
double sx_posynomial_log(const sx_posynomial *sum, size_t n_variables, const double *z);

/* Solves a program whose constraints bound every variable. `z` is a guess, and becomes the logarithms of the
 * solution, strictly inside all constraints; variables that the objective does not depend on are centred.
 * False where the constraints leave no room. */
bool sx_geometric_solve(const sx_geometric *program, double *z);

#endif
