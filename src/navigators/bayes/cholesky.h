/* The Cholesky factor of a growing covariance matrix. */
#ifndef SX_NAVIGATORS_BAYES_CHOLESKY_H
#define SX_NAVIGATORS_BAYES_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/* L of L L' = K, the rows of the lower triangle one after another; the memory is the caller's. */
typedef struct sx_cholesky {
    size_t n;
    double *l; /* room for n (n + 1) / 2 numbers */
} sx_cholesky;

/* Row i of L, i + 1 numbers. */
static inline double *sx_cholesky_row(const sx_cholesky *c, size_t i) {
    return c->l + i * (i + 1) / 2;
}

/* The sum of products, always in the same order. */
double sx_dot(const double *a, const double *b, size_t n);

/* Adds a row to K: its n + 1 numbers up to the diagonal. False, and nothing added, where K would not be
 * positive definite to working precision. O(n^2). */
bool sx_cholesky_append(sx_cholesky *c, const double *row);

/* Solves L x = b and L' x = b in place. O(n^2). */
void sx_cholesky_lower(const sx_cholesky *c, double *x);
void sx_cholesky_upper(const sx_cholesky *c, double *x);

/* The logarithm of K's determinant. */
double sx_cholesky_log_determinant(const sx_cholesky *c);

/* The inverse of K, n x n. O(n^3). */
void sx_cholesky_inverse(const sx_cholesky *c, double *out);

#endif
