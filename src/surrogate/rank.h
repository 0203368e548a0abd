/* Rank correlation. */
#ifndef SX_SURROGATE_RANK_H
#define SX_SURROGATE_RANK_H

#include "base/status.h"

/* Spearman's rank correlation of n pairs, equal values sharing their mean rank; 0 where one side is all equal.
 */
SX_MUST_USE sx_status sx_rank_correlation(const double *a, const double *b, size_t n, double *out);

#endif
