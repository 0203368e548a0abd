#include "support/optima.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sx_find_optima(const sx_score *score, size_t n, const sx_objective *o, double *least) {
    bool *in = malloc(n + 1);
    memset(in, 1, n + 1);
    for (int k = 0; k < o->n_criteria; k++) {
        least[k] = INFINITY;
        for (size_t i = 0; i < n; i++)
            if (in[i]) least[k] = fmin(least[k], sx_criterion_value(&o->criterion[k], &score[i]));
        for (size_t i = 0; i < n; i++) {
            double value = sx_criterion_value(&o->criterion[k], &score[i]);
            in[i] &= fabs(value - least[k]) <= o->tolerance * fmax(fabs(value), fabs(least[k]));
        }
    }
    free(in);
}
