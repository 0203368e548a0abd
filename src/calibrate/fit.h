/* Fitting keys to measurements: robust least squares on log ratios, with the values before as priors. */
#ifndef SX_CALIBRATE_FIT_H
#define SX_CALIBRATE_FIT_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define SX_MAX_FREE 12

/* A key that is fitted: its name, and where callers find it. */
typedef struct sx_free_key {
    char name[40];
    int law;       /* the number of a law, or of a kind of operators */
    size_t offset; /* in it */
} sx_free_key;

/* What is fitted: rows, in groups of which the rows are alike; the values of the keys, which predictions read, and the
 * range of each. A prediction is NAN where the values allow none. */
typedef struct sx_fit_task {
    size_t n;
    uint32_t n_groups;
    const double *measured;
    const uint32_t *group;
    sx_status (*predict)(void *user, size_t row, double *out);
    void *user;
    double *value[SX_MAX_FREE];
    double least[SX_MAX_FREE], most[SX_MAX_FREE];
} sx_fit_task;

/* How predictions compare with measurements. */
typedef struct sx_fit_quality {
    double mean_error, worst; /* of |predicted / measured - 1|; of the ratio either way */
    double median, p90;       /* of the ratio either way, less 1 */
    double rank_correlation;
    unsigned right, wrong, blind; /* pairs of one group that are 5 % apart or more */
    double pick;                  /* of the predicted best of a group over the measured best, on average */
} sx_fit_quality;

typedef struct sx_fit {
    size_t n_free;
    sx_free_key key[SX_MAX_FREE];
    double before[SX_MAX_FREE], after[SX_MAX_FREE];
    double low[SX_MAX_FREE], high[SX_MAX_FREE];   /* 16 and 84 % of a bootstrap over groups */
    double correlation[SX_MAX_FREE][SX_MAX_FREE]; /* of the logs over the bootstrap */
    sx_fit_quality prior, fitted, validated;      /* validated: each group by a fit of the others */
    double *predicted;                            /* of the rows, as fitted; freed with sx_fit_fini */
} sx_fit;

/* Fits the keys to the rows; values stay as fitted. folds and samples may be 0. */
SX_MUST_USE sx_status sx_fit_rows(sx_fit *fit, const sx_fit_task *task, unsigned folds, unsigned samples,
                                  uint64_t seed);
void sx_fit_fini(sx_fit *fit);

#endif
