#include "session/statistics.h"

#include <math.h>
#include <stdlib.h>

sx_statistics sx_statistics_of(const double *value, size_t n) {
    sx_statistics s = {n, NAN, NAN, NAN, NAN, NAN};
    if (n == 0) return s;
    double sum = 0, squares = 0, logs = 0;
    s.low = s.high = value[0];
    for (size_t i = 0; i < n; i++) {
        sum += value[i];
        logs += value[i] > 0 ? log(value[i]) : NAN;
        s.low = fmin(s.low, value[i]);
        s.high = fmax(s.high, value[i]);
    }
    s.mean = sum / (double)n;
    s.geomean = exp(logs / (double)n);
    for (size_t i = 0; i < n; i++) squares += (value[i] - s.mean) * (value[i] - s.mean);
    if (n > 1) s.deviation = sqrt(squares / (double)(n - 1));
    if (s.low == s.high) s.mean = s.geomean = s.low;
    if (s.low == s.high && s.low <= 0) s.geomean = NAN;
    return s;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sx_median_of(double *value, size_t n) {
    if (n == 0) return NAN;
    qsort(value, n, sizeof *value, compare_doubles);
    return n % 2 ? value[n / 2] : value[n / 2 - 1] + (value[n / 2] - value[n / 2 - 1]) / 2;
}

/* Wilson, Probable inference, the law of succession, and statistical inference, 1927. */
sx_share sx_share_of(uint64_t successes, uint64_t tries) {
    const double z = 1.959963984540054;
    if (tries == 0) return (sx_share){NAN, 0, 1};
    double n = (double)tries, p = (double)successes / n;
    double middle = p + z * z / (2 * n);
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    double scale = 1 + z * z / n;
    return (sx_share){p, successes ? fmax(0, (middle - half) / scale) : 0,
                      successes < tries ? fmin(1, (middle + half) / scale) : 1};
}

static double x_of(const sx_trace_point *point, bool by_time) {
    return by_time ? point->seconds : (double)point->evaluations;
}

/* Collects where any curve changes, and ends, from `begin` on: ascending, each place once; returns how many.
 */
static size_t collect_places(const sx_run_trace_view *run, size_t n_runs, bool by_time, double begin,
                             double *x) {
    size_t n = 0, kept = 0;
    for (size_t r = 0; r < n_runs; r++) {
        if (run[r].n == 0) continue;
        for (size_t i = 0; i < run[r].n; i++) x[n++] = fmax(begin, x_of(&run[r].point[i], by_time));
        x[n++] = fmax(begin, run[r].end);
    }
    if (n) qsort(x, n, sizeof *x, compare_doubles);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || x[i] > x[kept - 1]) x[kept++] = x[i];
    return kept;
}

/* The best value of a run at x. */
static double best_at(const sx_run_trace_view *run, bool by_time, double x) {
    size_t low = 0, high = run->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (x_of(&run->point[middle], by_time) <= x)
            low = middle;
        else
            high = middle;
    }
    return run->point[low].value;
}

sx_status sx_convergence_of(const sx_run_trace_view *run, size_t n_runs, bool by_time, sx_convergence *out) {
    size_t room = 0;
    double begin = 0;
    for (size_t r = 0; r < n_runs; r++) {
        if (run[r].n == 0) continue;
        room += run[r].n + 1;
        begin = fmax(begin, x_of(&run[r].point[0], by_time));
    }
    sx_convergence c = {0};
    double *value = malloc((n_runs + 1) * sizeof *value);
    c.x = malloc(4 * (room + 1) * sizeof *c.x);
    if (!value || !c.x) {
        free(value);
        free(c.x);
        return sx_error_memory();
    }
    c.mid = c.x + room;
    c.low = c.mid + room;
    c.high = c.low + room;
    c.n = collect_places(run, n_runs, by_time, begin, c.x);
    for (size_t i = 0; i < c.n; i++) {
        size_t n = 0;
        for (size_t r = 0; r < n_runs; r++)
            if (run[r].n) value[n++] = best_at(&run[r], by_time, c.x[i]);
        sx_statistics s = sx_statistics_of(value, n);
        c.mid[i] = isnan(s.geomean) ? s.mean : s.geomean;
        c.low[i] = s.low;
        c.high[i] = s.high;
    }
    free(value);
    *out = c;
    return SX_OK;
}

void sx_convergence_fini(sx_convergence *convergence) {
    free(convergence->x);
    *convergence = (sx_convergence){0};
}
