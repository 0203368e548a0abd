/* Minimises the sum of rho(log(predicted / measured)) + LAMBDA * sum (log p - log p0)^2 over the logs of the free keys, rho
 * being pseudo-Huber with DELTA: Levenberg-Marquardt on the residuals' square roots, derivatives by forward differences.
 * Cross-validation and bootstrap go by groups, since rows of one group are alike. */
#include "calibrate/fit.h"

#include "base/status.h"
#include "sextant/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double DELTA = 0.1, LAMBDA = 0.02, STEP = 1e-3;
enum { MOST_STEPS = 60 };

/* What one fit works with. */
typedef struct problem {
    const sx_fit_task *task;
    const sx_fit *fit;
    const unsigned *weight; /* of each group; 0: left out */
    size_t n;               /* residuals: rows and keys */
} problem;

/* The residuals of logs of keys; their squares' sum is minimised. */
static sx_status set_residuals(const problem *p, const double *x, double *out) {
    const sx_fit *fit = p->fit;
    const sx_fit_task *task = p->task;
    for (size_t k = 0; k < fit->n_free; k++) *task->value[k] = exp(x[k]);
    for (size_t i = 0; i < task->n; i++) {
        unsigned weight = p->weight ? p->weight[task->group[i]] : 1;
        double predicted = task->measured[i];
        if (weight) SX_TRY(task->predict(task->user, i, &predicted));
        double r = log(predicted / task->measured[i]) / DELTA;
        out[i] = DELTA * sqrt(2 * (sqrt(1 + r * r) - 1) * weight);
    }
    for (size_t k = 0; k < fit->n_free; k++) out[task->n + k] = sqrt(LAMBDA) * (x[k] - log(fit->before[k]));
    return SX_OK;
}

static double sum_squares(const double *r, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += r[i] * r[i];
    return sum;
}

/* Solves a symmetric system of n equations by elimination; what it is given is overwritten. */
static void solve_system(double (*a)[SX_MAX_FREE], double *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            double share = a[k][i] / a[i][i];
            for (size_t j = i; j < n; j++) a[k][j] -= share * a[i][j];
            b[k] -= share * b[i];
        }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++) b[i] -= a[i][j] * b[j];
        b[i] /= a[i][i];
    }
}

/* The step of Levenberg and Marquardt for residuals r and their derivatives. */
static void find_key_changes(const problem *p, const double *r, double *const *slope, double damping,
                             double *step) {
    const size_t n = p->fit->n_free;
    double a[SX_MAX_FREE][SX_MAX_FREE];
    for (size_t i = 0; i < n; i++) {
        step[i] = 0;
        for (size_t k = 0; k < p->n; k++) step[i] -= slope[i][k] * r[k];
        for (size_t j = 0; j < n; j++) {
            a[i][j] = 0;
            for (size_t k = 0; k < p->n; k++) a[i][j] += slope[i][k] * slope[j][k];
        }
        a[i][i] *= 1 + damping;
    }
    solve_system(a, step, n);
}

/* Keeps the logs where the keys may be. */
static void clamp_logs(const problem *p, double *x) {
    for (size_t k = 0; k < p->fit->n_free; k++)
        x[k] = fmin(fmax(x[k], log(p->task->least[k])), log(p->task->most[k]));
}

/* Minimises from x on. */
static sx_status minimise_error(const problem *p, double *x) {
    const size_t n = p->fit->n_free;
    double *memory = malloc((n + 2) * p->n * sizeof *memory), *slope[SX_MAX_FREE], damping = 1e-3;
    if (!memory) return sx_error_memory();
    double *r = memory, *next = memory + p->n;
    for (size_t k = 0; k < n; k++) slope[k] = memory + (k + 2) * p->n;
    sx_status status = set_residuals(p, x, r);
    for (int t = 0; t < MOST_STEPS && damping < 1e6 && !status; t++) {
        double step[SX_MAX_FREE], moved[SX_MAX_FREE], now = sum_squares(r, p->n);
        for (size_t k = 0; k < n && !status; k++) {
            memcpy(moved, x, n * sizeof *x);
            moved[k] -= STEP;
            status = set_residuals(p, moved, slope[k]);
            for (size_t i = 0; i < p->n; i++) slope[k][i] = (r[i] - slope[k][i]) / STEP;
        }
        bool better = false;
        for (; !better && damping < 1e6 && !status; damping *= better ? 0.1 : 10) {
            find_key_changes(p, r, slope, damping, step);
            for (size_t k = 0; k < n; k++) moved[k] = x[k] + step[k];
            clamp_logs(p, moved);
            status = set_residuals(p, moved, next);
            better = !status && sum_squares(next, p->n) < now;
        }
        if (!better) break;
        memcpy(x, moved, n * sizeof *x);
        memcpy(r, next, p->n * sizeof *r);
        if (now - sum_squares(r, p->n) < 1e-9 * now) break;
    }
    free(memory);
    return status;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The rank of each value, from 0; equal ones share the mean of theirs. */
static void set_ranks(const double *value, size_t n, double *rank) {
    for (size_t i = 0; i < n; i++) {
        double below = 0, equal = 0;
        for (size_t k = 0; k < n; k++) {
            below += value[k] < value[i];
            equal += value[k] == value[i];
        }
        rank[i] = below + (equal - 1) / 2;
    }
}

/* Spearman's correlation of predictions and measurements. */
static sx_status correlate_predictions(const sx_fit_task *task, const double *predicted, double *out) {
    const size_t n = task->n;
    double *memory = malloc(3 * n * sizeof *memory + 1), top = 0, a = 0, b = 0;
    if (!memory) return sx_error_memory();
    for (size_t i = 0; i < n; i++) memory[i] = task->measured[i];
    set_ranks(memory, n, memory + n);
    set_ranks(predicted, n, memory + 2 * n);
    for (size_t i = 0; i < n; i++) {
        double x = memory[n + i] - ((double)n - 1) / 2, y = memory[2 * n + i] - ((double)n - 1) / 2;
        top += x * y;
        a += x * x;
        b += y * y;
    }
    *out = a > 0 && b > 0 ? top / sqrt(a * b) : 0;
    free(memory);
    return SX_OK;
}

/* Counts a pair of rows of one group. */
static void count_pair(const sx_fit_task *task, size_t i, size_t k, const double *predicted,
                       sx_fit_quality *q) {
    const double a = task->measured[i], b = task->measured[k], x = predicted[i], y = predicted[k];
    if (task->group[i] != task->group[k] || fmax(a, b) < 1.05 * fmin(a, b)) return;
    if (fabs(x - y) <= 1e-6 * fmax(x, y))
        q->blind++;
    else if ((a - b) * (x - y) > 0)
        q->right++;
    else
        q->wrong++;
}

/* What was measured of the predicted best of each group over the measured best, on average. */
static double cost_of_pick(const sx_fit_task *task, const double *predicted) {
    double sum = 0;
    for (uint32_t group = 0; group < task->n_groups; group++) {
        size_t best = SIZE_MAX, picked = SIZE_MAX;
        for (size_t i = 0; i < task->n; i++) {
            if (task->group[i] != group) continue;
            if (best == SIZE_MAX || task->measured[i] < task->measured[best]) best = i;
            if (picked == SIZE_MAX || predicted[i] < predicted[picked]) picked = i;
        }
        sum += best == SIZE_MAX ? 1 : task->measured[picked] / task->measured[best];
    }
    return sum / task->n_groups;
}

/* Sets the median and the 90th percentile of how far the ratios are off, either way. */
static sx_status set_percentiles(const sx_fit_task *task, const double *predicted, sx_fit_quality *out) {
    double *off = malloc(task->n * sizeof *off + 1);
    if (!off) return sx_error_memory();
    for (size_t i = 0; i < task->n; i++)
        off[i] = fmax(predicted[i] / task->measured[i], task->measured[i] / predicted[i]) - 1;
    qsort(off, task->n, sizeof *off, compare_doubles);
    out->median = off[task->n / 2];
    out->p90 = off[task->n * 9 / 10];
    free(off);
    return SX_OK;
}

/* Compares predictions with what was measured. */
static sx_status measure_fit(const sx_fit_task *task, const double *predicted, sx_fit_quality *out) {
    *out = (sx_fit_quality){.worst = 0};
    for (size_t i = 0; i < task->n; i++) {
        const double measured = task->measured[i];
        if (!isfinite(predicted[i]))
            return sx_error_new(SX_ERR_INPUT, "row %zu of those that are fitted has no finite prediction",
                                i + 1);
        double ratio = fmax(predicted[i] / measured, measured / predicted[i]);
        out->mean_error += fabs(predicted[i] / measured - 1) / (double)task->n;
        out->worst = fmax(out->worst, ratio);
        for (size_t k = 0; k < i; k++) count_pair(task, i, k, predicted, out);
    }
    out->pick = cost_of_pick(task, predicted);
    SX_TRY(set_percentiles(task, predicted, out));
    return correlate_predictions(task, predicted, &out->rank_correlation);
}

/* Fits with the groups' weights; *values are the keys. */
static sx_status fit_weighted(const sx_fit *fit, const sx_fit_task *task, const unsigned *weight,
                              double *values) {
    const problem p = {task, fit, weight, task->n + fit->n_free};
    double x[SX_MAX_FREE];
    for (size_t k = 0; k < fit->n_free; k++) x[k] = log(fit->before[k]);
    SX_TRY(minimise_error(&p, x));
    for (size_t k = 0; k < fit->n_free; k++) *task->value[k] = values[k] = exp(x[k]);
    return SX_OK;
}

/* Predicts the rows of some groups (all: NULL) by the keys that are set. */
static sx_status predict_rows(const sx_fit_task *task, const unsigned *left_out, double *predicted) {
    for (size_t i = 0; i < task->n; i++)
        if (!left_out || left_out[task->group[i]] == 0) SX_TRY(task->predict(task->user, i, &predicted[i]));
    return SX_OK;
}

/* Each group by a fit of those in other folds. */
static sx_status cross_validate(sx_fit *fit, const sx_fit_task *task, unsigned folds, sx_rng *rng,
                                unsigned *weight, double *predicted) {
    double values[SX_MAX_FREE];
    unsigned *fold = malloc(task->n_groups * sizeof *fold + 1);
    if (!fold) return sx_error_memory();
    for (uint32_t i = 0; i < task->n_groups; i++) fold[i] = i % folds;
    for (uint32_t i = task->n_groups; i > 1; i--) {
        uint32_t k = (uint32_t)sx_rng_below(rng, i);
        unsigned other = fold[k];
        fold[k] = fold[i - 1];
        fold[i - 1] = other;
    }
    sx_status status = SX_OK;
    for (unsigned f = 0; f < folds && !status; f++) {
        for (uint32_t i = 0; i < task->n_groups; i++) weight[i] = fold[i] != f;
        status = fit_weighted(fit, task, weight, values);
        if (!status) status = predict_rows(task, weight, predicted);
    }
    free(fold);
    return status ? status : measure_fit(task, predicted, &fit->validated);
}

/* Sets intervals and correlations of the keys from samples of their values. */
static void set_intervals(sx_fit *fit, double (*sample)[SX_MAX_FREE], size_t n, double *column) {
    double mean[SX_MAX_FREE] = {0}, deviation[SX_MAX_FREE] = {0};
    for (size_t k = 0; k < fit->n_free; k++) {
        for (size_t i = 0; i < n; i++) column[i] = sample[i][k];
        qsort(column, n, sizeof *column, compare_doubles);
        fit->low[k] = column[(size_t)((double)(n - 1) * 0.16)];
        fit->high[k] = column[(size_t)((double)(n - 1) * 0.84 + 0.5)];
        for (size_t i = 0; i < n; i++) mean[k] += log(sample[i][k]) / (double)n;
        for (size_t i = 0; i < n; i++) deviation[k] += pow(log(sample[i][k]) - mean[k], 2);
    }
    for (size_t a = 0; a < fit->n_free; a++)
        for (size_t b = 0; b < fit->n_free; b++) {
            double sum = 0, both = sqrt(deviation[a] * deviation[b]);
            for (size_t i = 0; i < n; i++)
                sum += (log(sample[i][a]) - mean[a]) * (log(sample[i][b]) - mean[b]);
            fit->correlation[a][b] = both > 0 ? sum / both : 0;
        }
}

/* Fits samples of the groups, drawn with repetition. */
static sx_status bootstrap_fit(sx_fit *fit, const sx_fit_task *task, unsigned samples, sx_rng *rng,
                               unsigned *weight) {
    double(*sample)[SX_MAX_FREE] = malloc(samples * sizeof *sample),
    *column = malloc(samples * sizeof *column);
    sx_status status = sample && column ? SX_OK : sx_error_memory();
    for (unsigned s = 0; s < samples && !status; s++) {
        memset(weight, 0, task->n_groups * sizeof *weight);
        for (uint32_t i = 0; i < task->n_groups; i++) weight[sx_rng_below(rng, task->n_groups)]++;
        status = fit_weighted(fit, task, weight, sample[s]);
    }
    if (!status) set_intervals(fit, sample, samples, column);
    free(sample);
    free(column);
    return status;
}

sx_status sx_fit_rows(sx_fit *fit, const sx_fit_task *task, unsigned folds, unsigned samples, uint64_t seed) {
    sx_rng rng = sx_rng_stream(seed, "calibrate", 0);
    unsigned *weight = malloc(task->n_groups * sizeof *weight + 1);
    double *predicted = malloc(task->n * sizeof *predicted + 1);
    fit->predicted = malloc(task->n * sizeof *fit->predicted + 1);
    sx_status status = weight && predicted && fit->predicted ? SX_OK : sx_error_memory();
    if (status) goto done;
    for (size_t k = 0; k < fit->n_free; k++) fit->before[k] = *task->value[k];
    status = predict_rows(task, NULL, predicted);
    if (!status) status = measure_fit(task, predicted, &fit->prior);
    if (!status && folds > 1) status = cross_validate(fit, task, folds, &rng, weight, predicted);
    if (!status && samples > 1) status = bootstrap_fit(fit, task, samples, &rng, weight);
    if (!status) status = fit_weighted(fit, task, NULL, fit->after);
    if (!status) status = predict_rows(task, NULL, fit->predicted);
    if (!status) status = measure_fit(task, fit->predicted, &fit->fitted);
done:
    free(weight);
    free(predicted);
    return status;
}

void sx_fit_fini(sx_fit *fit) {
    free(fit->predicted);
    fit->predicted = NULL;
}
