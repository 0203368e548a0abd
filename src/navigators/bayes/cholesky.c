#include "navigators/bayes/cholesky.h"

#include "learn/elementary.h"

#include <math.h>
#include <string.h>

static const double least_pivot = 1e-10; /* of a diagonal, as a share of K's own */

double sx_dot(const double *a, const double *b, size_t n) {
    double sum[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t j = 0; j < 4; j++) sum[j] += a[i + j] * b[i + j];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

bool sx_cholesky_append(sx_cholesky *c, const double *row) {
    size_t n = c->n;
    double *last = sx_cholesky_row(c, n);
    memcpy(last, row, n * sizeof *last);
    sx_cholesky_lower(c, last);
    double pivot = row[n] - sx_dot(last, last, n);
    if (!(pivot > least_pivot * row[n])) return false;
    last[n] = sqrt(pivot);
    c->n++;
    return true;
}

void sx_cholesky_lower(const sx_cholesky *c, double *x) {
    for (size_t i = 0; i < c->n; i++) {
        const double *row = sx_cholesky_row(c, i);
        x[i] = (x[i] - sx_dot(row, x, i)) / row[i];
    }
}

void sx_cholesky_upper(const sx_cholesky *c, double *x) {
    for (size_t i = c->n; i-- > 0;) {
        const double *row = sx_cholesky_row(c, i);
        x[i] /= row[i];
        for (size_t j = 0; j < i; j++) x[j] -= row[j] * x[i];
    }
}

double sx_cholesky_log_determinant(const sx_cholesky *c) {
    double sum = 0;
    for (size_t i = 0; i < c->n; i++) sum += sx_log(sx_cholesky_row(c, i)[i]);
    return 2 * sum;
}

void sx_cholesky_inverse(const sx_cholesky *c, double *out) {
    memset(out, 0, c->n * c->n * sizeof *out);
    for (size_t i = 0; i < c->n; i++) {
        double *row = out + i * c->n;
        row[i] = 1;
        sx_cholesky_lower(c, row);
        sx_cholesky_upper(c, row);
    }
}
