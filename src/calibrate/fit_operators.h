/* Fitting a timing to measured operators, kind by kind. */
#ifndef SX_CALIBRATE_FIT_OPERATORS_H
#define SX_CALIBRATE_FIT_OPERATORS_H

#include "calibrate/fit.h"
#include "calibrate/operator_rows.h"

/* What came of one kind. */
typedef struct sx_kind_fit {
    const sx_row_kind *kind;
    size_t n, n_groups;
    sx_fit fit;
    double roofline; /* the median error of peak compute and bandwidth alone; 0: it has none */
} sx_kind_fit;

/* Fits the numbers of every kind that the rows have; those of "gemm" become the timing's own, those of collective
 * operations its link. out has room for SX_MAX_KINDS, each freed with sx_fit_fini; predicted, one of each row, may be
 * NULL. */
SX_MUST_USE sx_status sx_fit_operators(const sx_operator_rows *rows, const sx_arch *arch, sx_timing *timing,
                                       const unsigned folds_samples[2], uint64_t seed, sx_kind_fit *out,
                                       double *predicted);

#endif
