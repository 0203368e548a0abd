#include "mappers/measured/correction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RIDGE 1.0                /* of the weights of standardised features, in measurements */
#define UNIT 0.69314718055994531 /* of features, which are logarithms */
#define EXPECTED 0.4 /* deviation of the logarithm of measured over modelled before anything is measured */
#define PRIOR 10.0   /* measurements that this is worth */
enum { FIT_STEPS = 15 }; /* of the likelihood of the process */

sx_status sx_correction_init(sx_correction *c, size_t d, size_t room) {
    size_t numbers = 2 * room * d + 3 * room + 5 * d + 3 + d * (d + 1) / 2;
    *c = (sx_correction){.d = d, .room = room, .memory = calloc(numbers, sizeof(double))};
    if (!c->memory) return sx_error_memory();
    c->x = c->memory;
    c->scaled = c->x + room * d;
    c->y = c->scaled + room * d;
    c->rest = c->y + room;
    c->v = c->rest + room;
    c->mean = c->v + room;
    c->weight = c->mean + d;
    c->point = c->weight + d;
    c->parameter = c->point + d;
    c->row = c->parameter + d + 2;
    c->normal.l = c->row + d + 1;
    sx_gp_prior(d, c->parameter);
    sx_status status = sx_gp_init(&c->gp, d, room);
    if (status) sx_correction_fini(c);
    return status;
}

void sx_correction_fini(sx_correction *c) {
    sx_gp_fini(&c->gp);
    free(c->memory);
    *c = (sx_correction){0};
}

void sx_correction_add(sx_correction *c, const double *features, double ratio) {
    if (c->n == c->room) {
        c->n--;
        memmove(c->x, c->x + c->d, c->n * c->d * sizeof *c->x);
        memmove(c->y, c->y + 1, c->n * sizeof *c->y);
    }
    memcpy(c->x + c->n * c->d, features, c->d * sizeof *features);
    c->y[c->n++] = ratio;
}

/* Centres the features, in units of a factor of 2. */
static void standardise_features(sx_correction *c) {
    for (size_t j = 0; j < c->d; j++) {
        double sum = 0;
        for (size_t i = 0; i < c->n; i++) sum += c->x[i * c->d + j];
        c->mean[j] = sum / (double)c->n;
    }
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < c->d; j++) c->scaled[i * c->d + j] = (c->x[i * c->d + j] - c->mean[j]) / UNIT;
}

/* Regresses y on the standardised features, with a ridge. */
static void regress_features(sx_correction *c) {
    size_t d = c->d;
    c->normal.n = 0;
    for (size_t j = 0; j < d; j++) {
        double sum = 0;
        for (size_t k = 0; k <= j; k++) {
            c->row[k] = k == j ? RIDGE : 0;
            for (size_t i = 0; i < c->n; i++) c->row[k] += c->scaled[i * d + j] * c->scaled[i * d + k];
        }
        for (size_t i = 0; i < c->n; i++) sum += c->scaled[i * d + j] * (c->y[i] - c->middle);
        c->weight[j] = sum;
        (void)sx_cholesky_append(&c->normal, c->row);
    }
    sx_cholesky_lower(&c->normal, c->weight);
    sx_cholesky_upper(&c->normal, c->weight);
}

sx_status sx_correction_learn(sx_correction *c) {
    double sum = 0, squares = 0;
    if (c->n == 0) return SX_OK;
    for (size_t i = 0; i < c->n; i++) sum += c->y[i];
    c->middle = sum / (double)c->n;
    standardise_features(c);
    regress_features(c);
    for (size_t i = 0; i < c->n; i++) {
        c->rest[i] = c->y[i] - c->middle - sx_dot(c->weight, c->scaled + i * c->d, c->d);
        squares += c->rest[i] * c->rest[i];
    }
    c->deviation = sqrt((squares + PRIOR * EXPECTED * EXPECTED) / ((double)c->n + PRIOR));
    for (size_t i = 0; i < c->n; i++) c->rest[i] /= c->deviation;
    if (c->n >= 4 && 4 * c->n >= 5 * c->fitted) {
        SX_TRY(sx_gp_fit(c->scaled, c->rest, c->n, c->d, FIT_STEPS, c->parameter));
        c->fitted = c->n;
    }
    sx_gp_reset(&c->gp, c->parameter);
    size_t kept = 0;
    for (size_t i = 0; i < c->n; i++)
        if (sx_gp_add(&c->gp, c->scaled + i * c->d)) c->rest[kept++] = c->rest[i];
    sx_gp_set(&c->gp, c->rest);
    return SX_OK;
}

void sx_correction_predict(sx_correction *c, const double *features, double *mean, double *deviation) {
    *mean = 0;
    *deviation = 1;
    if (c->gp.n == 0) return;
    for (size_t j = 0; j < c->d; j++) c->point[j] = (features[j] - c->mean[j]) / UNIT;
    double trend = c->middle + sx_dot(c->weight, c->point, c->d);
    sx_gp_scale(&c->gp, c->point, c->point);
    sx_gp_solve(&c->gp, c->point, c->v);
    double variance = c->gp.amplitude - sx_dot(c->v, c->v, c->gp.n);
    *mean = trend + c->deviation * sx_dot(c->v, c->gp.z, c->gp.n);
    *deviation = c->deviation * sqrt(fmax(variance, 1e-12));
}

bool sx_correction_knows(const sx_correction *c, const double *features) {
    for (size_t i = 0; i < c->n; i++) {
        double most = 0;
        for (size_t j = 0; j < c->d; j++) most = fmax(most, fabs(c->x[i * c->d + j] - features[j]));
        if (most < 1e-9) return true;
    }
    return false;
}
