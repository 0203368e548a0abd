#include "surrogate/rank.h"

#include <math.h>
#include <stdlib.h>

/* A value and where it stands. */
typedef struct entry {
    double value;
    size_t index;
} entry;

static int compare_ranks(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Writes the rank of every value. */
static void ranks_of(const double *value, size_t n, entry *scratch, double *rank) {
    for (size_t i = 0; i < n; i++) scratch[i] = (entry){value[i], i};
    qsort(scratch, n, sizeof *scratch, compare_ranks);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && scratch[j].value == scratch[i].value;) j++;
        for (size_t k = i; k < j; k++) rank[scratch[k].index] = (double)(i + j - 1) / 2;
    }
}

sx_status sx_rank_correlation(const double *a, const double *b, size_t n, double *out) {
    entry *scratch = malloc((n + 1) * sizeof *scratch);
    double *rank = malloc((2 * n + 1) * sizeof *rank);
    sx_status status = scratch && rank ? SX_OK : sx_error_memory();
    if (!status) {
        double mean = ((double)n - 1) / 2, ab = 0, aa = 0, bb = 0;
        ranks_of(a, n, scratch, rank);
        ranks_of(b, n, scratch, rank + n);
        for (size_t i = 0; i < n; i++) {
            double x = rank[i] - mean, y = rank[n + i] - mean;
            ab += x * y;
            aa += x * x;
            bb += y * y;
        }
        *out = aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
    }
    free(scratch);
    free(rank);
    return status;
}
