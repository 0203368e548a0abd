/* A correction of the cost model, learned from measurements: the logarithm of measured over modelled as a function of
 * features of the mapping, a ridge regression and a Gaussian process on what that leaves. */
#ifndef SX_MAPPERS_MEASURED_CORRECTION_H
#define SX_MAPPERS_MEASURED_CORRECTION_H

#include "navigators/bayes/gaussian_process.h"

typedef struct sx_correction {
    size_t d, room, n;        /* features; measurements at most, and so far */
    double *x, *y;            /* room x d, room: as they were added */
    double *mean;             /* of each feature */
    double *scaled, *rest;    /* room x d standardised; what the regression leaves, standardised */
    double *weight;           /* of each standardised feature */
    double *parameter;        /* of the process: d + 2 */
    double *row, *v, *point;  /* scratch: d + 1, room, 2 d */
    double middle, deviation; /* of y; of what the regression leaves */
    size_t fitted;            /* measurements when hyperparameters were fitted last */
    sx_gp gp;
    sx_cholesky normal;
    void *memory;
} sx_correction;

SX_MUST_USE sx_status sx_correction_init(sx_correction *c, size_t d, size_t room);
void sx_correction_fini(sx_correction *c);

/* Adds a measurement: d features and the logarithm of measured over modelled. Where there is no room the oldest goes. */
void sx_correction_add(sx_correction *c, const double *features, double ratio);

/* Learns from all measurements. Hyperparameters are fitted anew when there are a quarter more than the last time. */
SX_MUST_USE sx_status sx_correction_learn(sx_correction *c);

/* The expected logarithm of measured over modelled, and its standard deviation; 0 and 1 before anything is learned. */
void sx_correction_predict(sx_correction *c, const double *features, double *mean, double *deviation);

/* Whether a point with these features was measured. */
bool sx_correction_knows(const sx_correction *c, const double *features);

#endif
