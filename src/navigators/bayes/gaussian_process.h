/* A Gaussian process with a Matern-5/2 kernel that has a length for every dimension. */
#ifndef SX_NAVIGATORS_BAYES_GAUSSIAN_PROCESS_H
#define SX_NAVIGATORS_BAYES_GAUSSIAN_PROCESS_H

#include "base/status.h"
#include "navigators/bayes/cholesky.h"

/* The process over up to `room` points. Of the d + 2 hyperparameters the first d are logarithms of lengths, then
 * come those of the amplitude's square and of the noise's. */
typedef struct sx_gp {
    size_t d, n;
    double *rate; /* one over the length of every dimension */
    double *x;    /* room x d: the points, each number over its length */
    double *y;    /* of the points */
    double *z;    /* L^-1 y */
    double *row;  /* scratch: room + 1 */
    double amplitude, noise;
    sx_cholesky factor;
    void *memory;
} sx_gp;

/* A process without points; the hyperparameters are 0. */
SX_MUST_USE sx_status sx_gp_init(sx_gp *gp, size_t d, size_t room);
void sx_gp_fini(sx_gp *gp);

/* Takes over hyperparameters and forgets all points. */
void sx_gp_reset(sx_gp *gp, const double *parameter);

/* Adds a point of d numbers; false, and nothing added, where it is too close to another. O(n (n + d)). Its y is set by
 * sx_gp_set. */
bool sx_gp_add(sx_gp *gp, const double *x);

/* Gives all points their y. O(n^2). */
void sx_gp_set(sx_gp *gp, const double *y);

/* What is known of a point where no y is: its covariances with the n points solved by L, which `v` gets. The
 * mean is v . z, the variance amplitude - v . v. */
void sx_gp_solve(const sx_gp *gp, const double *scaled, double *v);
/* The covariance of two points given in lengths. */
double sx_gp_covariance(const sx_gp *gp, const double *a, const double *b);
/* A point in lengths. */
void sx_gp_scale(const sx_gp *gp, const double *x, double *scaled);

/* The logarithm of the marginal likelihood of the points' y for hyperparameters, and its gradient; -INFINITY
 * where the covariance is not positive definite. `x` are the points as they are (n x d). O(n^3 + n^2 d). */
SX_MUST_USE sx_status sx_gp_likelihood(const double *x, const double *y, size_t n, size_t d,
                                       const double *parameter, double *value, double *gradient);

/* Raises the marginal likelihood times a prior from given hyperparameters by steps of resilient
 * backpropagation (iRprop-), and keeps the best. The prior is normal: lengths around sqrt(d) within a factor of e, the
 * amplitude around 1 within e, the noise around 0.001 within e^2. */
SX_MUST_USE sx_status sx_gp_fit(const double *x, const double *y, size_t n, size_t d, unsigned steps,
                                double *parameter);
/* The middle of that prior. */
void sx_gp_prior(size_t d, double *parameter);

/* The logarithm of the expected improvement below `best` of a normal variable. */
double sx_log_expected_improvement(double mean, double deviation, double best);

#endif
