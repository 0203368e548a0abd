/* Minimises the sum of rho(log(predicted / measured)) + LAMBDA * sum (log p - log p0)^2 over the logs of the free keys, rho
 * being pseudo-Huber with DELTA: Levenberg-Marquardt on the residuals' square roots, derivatives by forward differences.
 * Cross-validation and bootstrap go by layers, since rows of one layer are alike. */
#include "calibrate/fit.h"

#include "base/status.h"
#include "ir/law.h"
#include "sextant/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double DELTA = 0.1, LAMBDA = 0.02, STEP = 1e-3;
enum { MOST_STEPS = 60 };

/* What one fit works with. */
typedef struct problem {
    const sx_measurements *rows;
    const sx_fit *fit;
    sx_arch *arch;          /* whose keys are set */
    const unsigned *weight; /* of each layer; 0: left out */
    size_t n;               /* residuals: rows and keys */
} problem;

static double *key_at(sx_arch *arch, const sx_free_key *key) {
    return (double *)((char *)&arch->law[key->law] + key->offset);
}

sx_status sx_fit_free_key(sx_fit *fit, const sx_arch *arch, const char *name) {
    int cache;
    if (fit->n_free == SX_MAX_FREE)
        return sx_error_new(SX_ERR_LIMIT, "more than %d keys cannot be fitted", SX_MAX_FREE);
    sx_free_key *to = &fit->key[fit->n_free];
    snprintf(to->name, sizeof to->name, "%s", name);
    for (int i = 0; i < arch->n_laws; i++) {
        sx_law law = arch->law[i];
        const sx_law_key *key;
        to->law = i;
        for (size_t k = 0; (key = sx_law_number(k)); k++) {
            if (strcmp(key->name, name) != 0) continue;
            double value = *sx_law_value(&law, key);
            to->offset = key->offset;
            if (value > 0 && isfinite(value)) {
                fit->n_free++;
                return SX_OK;
            }
        }
        if (sscanf(name, "caches.%d.miss", &cache) == 1 && cache >= 1 && cache <= law.n_caches) {
            to->offset = offsetof(sx_law, cache) + (size_t)(cache - 1) * sizeof *law.cache +
                         offsetof(sx_law_cache, miss);
            fit->n_free++;
            return SX_OK;
        }
    }
    return sx_error_hint(
        sx_error_new(SX_ERR_USAGE, "no level has a latency key '%s' with a finite value above 0", name),
        "keys are such as start, store_time, load_bus, issue, exposed, caches.1.miss");
}

/* The cycles that the law gives for a row; NAN where it cannot be evaluated. */
static double predict(const sx_measured *row, const sx_arch *arch) {
    static const sx_model_options options = {.latency_tile = true};
    sx_model *model;
    sx_evaluator *evaluator;
    sx_score score = {.latency = NAN};
    sx_status status = sx_model_new(&row->problem, arch, &options, &model);
    if (status) {
        sx_status_free(status);
        return NAN;
    }
    status = sx_evaluator_new(model, &evaluator);
    if (!status && sx_evaluate_score(evaluator, &row->mapping, &score).reason != SX_LEGAL)
        score.latency = NAN;
    if (!status) sx_evaluator_free(evaluator);
    sx_status_free(status);
    sx_model_free(model);
    return score.latency;
}

/* The residuals of logs of keys; their squares' sum is minimised. */
static void set_residuals(const problem *p, const double *x, double *out) {
    const sx_fit *fit = p->fit;
    for (size_t k = 0; k < fit->n_free; k++) *key_at(p->arch, &fit->key[k]) = exp(x[k]);
    for (size_t i = 0; i < p->rows->n; i++) {
        const sx_measured *row = &p->rows->row[i];
        unsigned weight = p->weight ? p->weight[row->layer] : 1;
        double r = weight ? log(predict(row, p->arch) / row->cycles) / DELTA : 0;
        out[i] = DELTA * sqrt(2 * (sqrt(1 + r * r) - 1) * weight);
    }
    for (size_t k = 0; k < fit->n_free; k++)
        out[p->rows->n + k] = sqrt(LAMBDA) * (x[k] - log(fit->before[k]));
}

static double sum_squares(const double *r, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += r[i] * r[i];
    return sum;
}

/* Solves a symmetric system of n equations by elimination; what it is given is overwritten. */
static void solve(double (*a)[SX_MAX_FREE], double *b, size_t n) {
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
    solve(a, step, n);
}

/* Keeps the logs where the law's keys may be: a share is at most 1. */
static void clamp(const sx_fit *fit, double *x) {
    for (size_t k = 0; k < fit->n_free; k++)
        if (strcmp(fit->key[k].name, "exposed") == 0 && x[k] > 0) x[k] = 0;
}

/* Minimises from x on. */
static sx_status minimise(const problem *p, double *x) {
    const size_t n = p->fit->n_free;
    double *memory = malloc((n + 2) * p->n * sizeof *memory), *slope[SX_MAX_FREE], damping = 1e-3;
    if (!memory) return sx_error_memory();
    double *r = memory, *next = memory + p->n;
    for (size_t k = 0; k < n; k++) slope[k] = memory + (k + 2) * p->n;
    set_residuals(p, x, r);
    for (int t = 0; t < MOST_STEPS && damping < 1e6; t++) {
        double step[SX_MAX_FREE], moved[SX_MAX_FREE], now = sum_squares(r, p->n);
        for (size_t k = 0; k < n; k++) {
            memcpy(moved, x, n * sizeof *x);
            moved[k] -= STEP;
            set_residuals(p, moved, slope[k]);
            for (size_t i = 0; i < p->n; i++) slope[k][i] = (r[i] - slope[k][i]) / STEP;
        }
        bool better = false;
        for (; !better && damping < 1e6; damping *= better ? 0.1 : 10) {
            find_key_changes(p, r, slope, damping, step);
            for (size_t k = 0; k < n; k++) moved[k] = x[k] + step[k];
            clamp(p->fit, moved);
            set_residuals(p, moved, next);
            better = sum_squares(next, p->n) < now;
        }
        if (!better) break;
        memcpy(x, moved, n * sizeof *x);
        memcpy(r, next, p->n * sizeof *r);
        if (now - sum_squares(r, p->n) < 1e-9 * now) break;
    }
    free(memory);
    return SX_OK;
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
static sx_status correlate(const sx_measurements *rows, const double *predicted, double *out) {
    const size_t n = rows->n;
    double *memory = malloc(3 * n * sizeof *memory + 1), top = 0, a = 0, b = 0;
    if (!memory) return sx_error_memory();
    for (size_t i = 0; i < n; i++) memory[i] = rows->row[i].cycles;
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

/* Counts a pair of rows of one layer. */
static void count_pair(const sx_measured *a, const sx_measured *b, double x, double y, sx_fit_quality *q) {
    if (a->layer != b->layer || fmax(a->cycles, b->cycles) < 1.05 * fmin(a->cycles, b->cycles)) return;
    if (fabs(x - y) <= 1e-6 * fmax(x, y))
        q->blind++;
    else if ((a->cycles - b->cycles) * (x - y) > 0)
        q->right++;
    else
        q->wrong++;
}

/* The measured cycles of the predicted best of each layer over those of the measured best, on average. */
static double cost_of_pick(const sx_measurements *rows, const double *predicted) {
    double sum = 0;
    for (uint32_t layer = 0; layer < rows->n_layers; layer++) {
        size_t best = SIZE_MAX, picked = SIZE_MAX;
        for (size_t i = 0; i < rows->n; i++) {
            if (rows->row[i].layer != layer) continue;
            if (best == SIZE_MAX || rows->row[i].cycles < rows->row[best].cycles) best = i;
            if (picked == SIZE_MAX || predicted[i] < predicted[picked]) picked = i;
        }
        sum += best == SIZE_MAX ? 1 : rows->row[picked].cycles / rows->row[best].cycles;
    }
    return sum / rows->n_layers;
}

/* Compares predictions with the rows' cycles. */
static sx_status measure_fit(const sx_measurements *rows, const double *predicted, sx_fit_quality *out) {
    *out = (sx_fit_quality){.worst = 0};
    for (size_t i = 0; i < rows->n; i++) {
        const sx_measured *row = &rows->row[i];
        double ratio = fmax(predicted[i] / row->cycles, row->cycles / predicted[i]);
        out->mean_error += fabs(predicted[i] / row->cycles - 1) / (double)rows->n;
        if (ratio > out->worst) out->worst_row = i;
        out->worst = fmax(out->worst, ratio);
        for (size_t k = 0; k < i; k++) count_pair(row, &rows->row[k], predicted[i], predicted[k], out);
    }
    out->pick = cost_of_pick(rows, predicted);
    return correlate(rows, predicted, &out->rank_correlation);
}

/* Fits with the layers' weights; *values are the keys. */
static sx_status fit_weighted(const sx_fit *fit, const sx_measurements *rows, sx_arch *arch,
                              const unsigned *weight, double *values) {
    const problem p = {rows, fit, arch, weight, rows->n + fit->n_free};
    double x[SX_MAX_FREE];
    for (size_t k = 0; k < fit->n_free; k++) x[k] = log(fit->before[k]);
    SX_TRY(minimise(&p, x));
    for (size_t k = 0; k < fit->n_free; k++) *key_at(arch, &fit->key[k]) = values[k] = exp(x[k]);
    return SX_OK;
}

/* Predicts the rows of some layers (all: NULL) by the keys that are set. */
static void predict_rows(const sx_measurements *rows, const sx_arch *arch, const unsigned *left_out,
                         double *predicted) {
    for (size_t i = 0; i < rows->n; i++)
        if (!left_out || left_out[rows->row[i].layer] == 0) predicted[i] = predict(&rows->row[i], arch);
}

/* Each layer by a fit of those in other folds. */
static sx_status validate(sx_fit *fit, const sx_measurements *rows, sx_arch *arch, unsigned folds,
                          sx_rng *rng, unsigned *weight, double *predicted) {
    double values[SX_MAX_FREE];
    unsigned *fold = malloc(rows->n_layers * sizeof *fold + 1);
    if (!fold) return sx_error_memory();
    for (uint32_t i = 0; i < rows->n_layers; i++) fold[i] = i % folds;
    for (uint32_t i = rows->n_layers; i > 1; i--) {
        uint32_t k = (uint32_t)sx_rng_below(rng, i);
        unsigned other = fold[k];
        fold[k] = fold[i - 1];
        fold[i - 1] = other;
    }
    sx_status status = SX_OK;
    for (unsigned f = 0; f < folds && !status; f++) {
        for (uint32_t i = 0; i < rows->n_layers; i++) weight[i] = fold[i] != f;
        status = fit_weighted(fit, rows, arch, weight, values);
        if (!status) predict_rows(rows, arch, weight, predicted);
    }
    free(fold);
    return status ? status : measure_fit(rows, predicted, &fit->validated);
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

/* Fits samples of the layers, drawn with repetition. */
static sx_status bootstrap(sx_fit *fit, const sx_measurements *rows, sx_arch *arch, unsigned samples,
                           sx_rng *rng, unsigned *weight) {
    double(*sample)[SX_MAX_FREE] = malloc(samples * sizeof *sample),
    *column = malloc(samples * sizeof *column);
    sx_status status = sample && column ? SX_OK : sx_error_memory();
    for (unsigned s = 0; s < samples && !status; s++) {
        memset(weight, 0, rows->n_layers * sizeof *weight);
        for (uint32_t i = 0; i < rows->n_layers; i++) weight[sx_rng_below(rng, rows->n_layers)]++;
        status = fit_weighted(fit, rows, arch, weight, sample[s]);
    }
    if (!status) set_intervals(fit, sample, samples, column);
    free(sample);
    free(column);
    return status;
}

sx_status sx_fit_keys(sx_fit *fit, const sx_measurements *rows, sx_arch *arch, unsigned folds,
                      unsigned samples, uint64_t seed) {
    sx_rng rng = sx_rng_stream(seed, "calibrate", 0);
    unsigned *weight = malloc(rows->n_layers * sizeof *weight + 1);
    sx_arch *work = malloc(sizeof *work);
    double *predicted = malloc(rows->n * sizeof *predicted + 1);
    fit->predicted = malloc(rows->n * sizeof *fit->predicted + 1);
    sx_status status = weight && work && predicted && fit->predicted ? SX_OK : sx_error_memory();
    if (status) goto done;
    *work = *arch;
    for (int s = 0; s < work->n_levels; s++) work->level[s].entries = SX_UNLIMITED;
    for (size_t k = 0; k < fit->n_free; k++) fit->before[k] = *key_at(work, &fit->key[k]);
    predict_rows(rows, work, NULL, predicted);
    status = measure_fit(rows, predicted, &fit->prior);
    if (!status && folds > 1) status = validate(fit, rows, work, folds, &rng, weight, predicted);
    if (!status && samples > 1) status = bootstrap(fit, rows, work, samples, &rng, weight);
    if (!status) status = fit_weighted(fit, rows, work, NULL, fit->after);
    if (!status) predict_rows(rows, work, NULL, fit->predicted);
    if (!status) status = measure_fit(rows, fit->predicted, &fit->fitted);
    for (size_t k = 0; k < fit->n_free && !status; k++) *key_at(arch, &fit->key[k]) = fit->after[k];
done:
    free(weight);
    free(work);
    free(predicted);
    return status;
}

void sx_fit_fini(sx_fit *fit) {
    free(fit->predicted);
    fit->predicted = NULL;
}
