/* Fitting keys of latency to measured cycles: robust least squares on log ratios, with the values of the architecture as
 * priors. */
#ifndef SX_CALIBRATE_FIT_H
#define SX_CALIBRATE_FIT_H

#include "calibrate/measured.h"

#define SX_MAX_FREE 12

/* A key that is fitted: the number of a law, and of its key. */
typedef struct sx_free_key {
    char name[40];
    int law;
    size_t offset; /* in sx_law */
} sx_free_key;

/* How predictions compare with measurements. */
typedef struct sx_fit_quality {
    double mean_error, worst; /* of |predicted / measured - 1|; of the ratio either way */
    size_t worst_row;
    double rank_correlation;
    unsigned right, wrong, blind; /* pairs of one layer that are 5 % apart or more */
    double pick; /* measured cycles of the predicted best of a layer over the measured best, on average */
} sx_fit_quality;

typedef struct sx_fit {
    size_t n_free;
    sx_free_key key[SX_MAX_FREE];
    double before[SX_MAX_FREE], after[SX_MAX_FREE];
    double low[SX_MAX_FREE], high[SX_MAX_FREE];   /* 16 and 84 % of a bootstrap over layers */
    double correlation[SX_MAX_FREE][SX_MAX_FREE]; /* of the logs over the bootstrap */
    sx_fit_quality prior, fitted, validated;      /* validated: each layer by a fit of the others */
    double *predicted;                            /* of the rows, as fitted; freed with sx_fit_fini */
} sx_fit;

/* Adds a key by its name, such as "start" or "caches.1.miss"; an error where no law has it. */
SX_MUST_USE sx_status sx_fit_free_key(sx_fit *fit, const sx_arch *arch, const char *name);

/* Fits the keys to the rows. *arch gets the fitted values. folds and samples may be 0. */
SX_MUST_USE sx_status sx_fit_keys(sx_fit *fit, const sx_measurements *rows, sx_arch *arch, unsigned folds,
                                  unsigned samples, uint64_t seed);
void sx_fit_fini(sx_fit *fit);

#endif
