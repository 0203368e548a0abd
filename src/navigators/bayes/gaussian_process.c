#include "navigators/bayes/gaussian_process.h"

#include "learn/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double root5 = 2.2360679774997896964;

sx_status sx_gp_init(sx_gp *gp, size_t d, size_t room) {
    size_t numbers = d + room * d + 2 * room + (room + 1) + room * (room + 1) / 2;
    *gp = (sx_gp){.d = d, .memory = calloc(numbers, sizeof(double))};
    if (!gp->memory) return sx_error_memory();
    gp->rate = gp->memory;
    gp->x = gp->rate + d;
    gp->y = gp->x + room * d;
    gp->z = gp->y + room;
    gp->row = gp->z + room;
    gp->factor.l = gp->row + room + 1;
    return SX_OK;
}

void sx_gp_fini(sx_gp *gp) {
    free(gp->memory);
    *gp = (sx_gp){0};
}

/* The Matern-5/2 correlation at a distance. */
static double matern_correlation(double r) {
    double s = root5 * r;
    return (1 + s + s * s / 3) * sx_exp(-s);
}

/* The distance of two points given in lengths. */
static double point_distance(const double *a, const double *b, size_t d) {
    double sum[4] = {0};
    size_t i = 0;
    for (; i + 4 <= d; i += 4)
        for (size_t j = 0; j < 4; j++) sum[j] += (a[i + j] - b[i + j]) * (a[i + j] - b[i + j]);
    for (; i < d; i++) sum[0] += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

void sx_gp_reset(sx_gp *gp, const double *parameter) {
    for (size_t j = 0; j < gp->d; j++) gp->rate[j] = sx_exp(-parameter[j]);
    gp->amplitude = sx_exp(parameter[gp->d]);
    gp->noise = sx_exp(parameter[gp->d + 1]);
    gp->n = gp->factor.n = 0;
}

double sx_gp_covariance(const sx_gp *gp, const double *a, const double *b) {
    return gp->amplitude * matern_correlation(point_distance(a, b, gp->d));
}

void sx_gp_scale(const sx_gp *gp, const double *x, double *scaled) {
    for (size_t j = 0; j < gp->d; j++) scaled[j] = x[j] * gp->rate[j];
}

bool sx_gp_add(sx_gp *gp, const double *x) {
    double *scaled = gp->x + gp->n * gp->d;
    sx_gp_scale(gp, x, scaled);
    for (size_t i = 0; i < gp->n; i++) gp->row[i] = sx_gp_covariance(gp, gp->x + i * gp->d, scaled);
    gp->row[gp->n] = gp->amplitude + gp->noise;
    if (!sx_cholesky_append(&gp->factor, gp->row)) return false;
    gp->n++;
    return true;
}

void sx_gp_set(sx_gp *gp, const double *y) {
    memcpy(gp->y, y, gp->n * sizeof *y);
    memcpy(gp->z, y, gp->n * sizeof *y);
    sx_cholesky_lower(&gp->factor, gp->z);
}

void sx_gp_solve(const sx_gp *gp, const double *scaled, double *v) {
    for (size_t i = 0; i < gp->n; i++) v[i] = sx_gp_covariance(gp, gp->x + i * gp->d, scaled);
    sx_cholesky_lower(&gp->factor, v);
}

/* The workspace of sx_gp_likelihood. */
typedef struct likelihood {
    sx_gp gp;
    double *inverse, *alpha;
} likelihood;

/* The derivative of the likelihood with respect to every hyperparameter, by tr((a a' - K^-1) dK) / 2. */
static void differentiate_likelihood(const likelihood *w, double *gradient) {
    const sx_gp *gp = &w->gp;
    size_t d = gp->d;
    memset(gradient, 0, (d + 2) * sizeof *gradient);
    for (size_t i = 0; i < gp->n; i++) {
        const double *a = gp->x + i * d, *inverse = w->inverse + i * gp->n;
        double own = (w->alpha[i] * w->alpha[i] - inverse[i]) / 2;
        gradient[d] += own * gp->amplitude;
        gradient[d + 1] += own * gp->noise;
        for (size_t k = 0; k < i; k++) {
            const double *b = gp->x + k * d;
            double s = root5 * point_distance(a, b, d), decay = gp->amplitude * sx_exp(-s);
            double weight = w->alpha[i] * w->alpha[k] - inverse[k];
            double by_square = weight * decay * (1 + s) * (5.0 / 3);
            gradient[d] += weight * decay * (1 + s + s * s / 3);
            for (size_t j = 0; j < d; j++) gradient[j] += by_square * ((a[j] - b[j]) * (a[j] - b[j]));
        }
    }
}

/* The likelihood of points that are in the process, -INFINITY where not all are. */
static double measure_likelihood(likelihood *w, const double *x, const double *y, size_t n) {
    static const double log_2pi = 1.8378770664093454836;
    for (size_t i = 0; i < n; i++)
        if (!sx_gp_add(&w->gp, x + i * w->gp.d)) return -INFINITY;
    sx_gp_set(&w->gp, y);
    memcpy(w->alpha, w->gp.z, n * sizeof *w->alpha);
    sx_cholesky_upper(&w->gp.factor, w->alpha);
    sx_cholesky_inverse(&w->gp.factor, w->inverse);
    return -(sx_dot(y, w->alpha, n) + sx_cholesky_log_determinant(&w->gp.factor) + (double)n * log_2pi) / 2;
}

sx_status sx_gp_likelihood(const double *x, const double *y, size_t n, size_t d, const double *parameter,
                           double *value, double *gradient) {
    likelihood w = {.inverse = calloc(n * n + n, sizeof *w.inverse)};
    sx_status status = w.inverse ? sx_gp_init(&w.gp, d, n) : sx_error_memory();
    if (!status) {
        w.alpha = w.inverse + n * n;
        sx_gp_reset(&w.gp, parameter);
        *value = measure_likelihood(&w, x, y, n);
        if (isfinite(*value)) differentiate_likelihood(&w, gradient);
    }
    sx_gp_fini(&w.gp);
    free(w.inverse);
    return status;
}

void sx_gp_prior(size_t d, double *parameter) {
    for (size_t j = 0; j < d; j++) parameter[j] = sx_log((double)d) / 2;
    parameter[d] = 0;
    parameter[d + 1] = -6.9077552789821370521;
}

/* Adds the logarithm of the prior and its gradient. */
static void add_prior(size_t d, const double *parameter, const double *middle, double *value,
                      double *gradient) {
    for (size_t j = 0; j < d + 2; j++) {
        double deviation = j == d + 1 ? 2 : 1, away = (parameter[j] - middle[j]) / deviation;
        *value -= away * away / 2;
        gradient[j] -= away / deviation;
    }
}

/* The state of resilient backpropagation: a step and the last gradient's sign per hyperparameter. */
typedef struct ascent {
    double *gradient, *last, *step, *best, *middle;
    double best_value;
} ascent;

/* Moves every hyperparameter by its step in the direction of the gradient; a step grows while the sign holds. */
static void climb_gradient(ascent *a, size_t n, double *parameter) {
    for (size_t j = 0; j < n; j++) {
        double agree = a->gradient[j] * a->last[j];
        if (agree > 0) a->step[j] = fmin(a->step[j] * 1.2, 1);
        if (agree < 0) a->step[j] = fmax(a->step[j] * 0.5, 1e-3);
        if (agree < 0) a->gradient[j] = 0;
        if (a->gradient[j] != 0) parameter[j] += a->gradient[j] > 0 ? a->step[j] : -a->step[j];
        parameter[j] = fmin(fmax(parameter[j], a->middle[j] - 6), a->middle[j] + 6);
        a->last[j] = a->gradient[j];
    }
}

/* The steps of a fit; the best hyperparameters are in a->best. */
static sx_status ascend_likelihood(ascent *a, const double *x, const double *y, size_t n, size_t d,
                                   unsigned steps, double *parameter) {
    for (unsigned i = 0; i <= steps; i++) {
        double value;
        SX_TRY(sx_gp_likelihood(x, y, n, d, parameter, &value, a->gradient));
        if (!isfinite(value)) {
            parameter[d + 1] += 1;
            continue;
        }
        add_prior(d, parameter, a->middle, &value, a->gradient);
        if (value > a->best_value) {
            a->best_value = value;
            memcpy(a->best, parameter, (d + 2) * sizeof *parameter);
        }
        climb_gradient(a, d + 2, parameter);
    }
    return SX_OK;
}

sx_status sx_gp_fit(const double *x, const double *y, size_t n, size_t d, unsigned steps, double *parameter) {
    size_t m = d + 2;
    ascent a = {.gradient = calloc(5 * m, sizeof(double)), .best_value = -INFINITY};
    if (!a.gradient) return sx_error_memory();
    a.last = a.gradient + m;
    a.step = a.last + m;
    a.best = a.step + m;
    a.middle = a.best + m;
    sx_gp_prior(d, a.middle);
    memcpy(a.best, parameter, m * sizeof *parameter);
    for (size_t j = 0; j < m; j++) a.step[j] = 0.2;
    sx_status status = ascend_likelihood(&a, x, y, n, d, steps, parameter);
    memcpy(parameter, a.best, m * sizeof *parameter);
    free(a.gradient);
    return status;
}

/* The logarithm of phi(z) + z Phi(z). Below -1 by the continued fraction of Mills' ratio R(x) = 1 / (x + K), K = 1 / (x
 * + 2 / (x + 3 / ...)): phi (1 - x R) = phi K R, without cancellation. Above, Phi by Abramowitz and Stegun 26.2.17. */
static double log_h(double z) {
    static const double log_root_2pi = 0.91893853320467274178;
    static const double c[] = {0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429};
    double density = -z * z / 2 - log_root_2pi, x = fabs(z);
    if (z <= -1) {
        double tail = x;
        for (int i = 40; i >= 2; i--) tail = x + i / tail;
        double k = 1 / tail;
        return density + sx_log(k / (x + k));
    }
    double t = 1 / (1 + 0.2316419 * x), sum = 0;
    for (int i = 4; i >= 0; i--) sum = (sum + c[i]) * t;
    double upper = sx_exp(density) * sum, below = z > 0 ? 1 - upper : upper;
    return sx_log(sx_exp(density) + z * below);
}

double sx_log_expected_improvement(double mean, double deviation, double best) {
    if (!(deviation > 0)) return mean < best ? sx_log(best - mean) : -INFINITY;
    return sx_log(deviation) + log_h((best - mean) / deviation);
}
