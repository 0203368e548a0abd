#include "learn/optimizer.h"

#include "learn/elementary.h"
#include "learn/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 14 }; /* parameters per job */

sx_optimizer_options sx_optimizer_defaults(sx_optimizer_kind kind) {
    return (sx_optimizer_options){kind, .momentum = 0.9f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f};
}

sx_status sx_optimizer_find(const char *name, sx_optimizer_kind *out) {
    static const char *const names[] = {"sgd", "adam"};
    size_t i;
    SX_TRY(sx_name_find("optimizer", name, names, 2, &i));
    *out = (sx_optimizer_kind)i;
    return SX_OK;
}

sx_status sx_optimizer_new(const sx_optimizer_options *options, size_t n_parameters, sx_optimizer **out) {
    size_t n_state = n_parameters * (options->kind == SX_ADAM ? 2 : 1);
    sx_optimizer *optimizer = calloc(1, sizeof *optimizer + n_state * sizeof(float));
    if (!optimizer) return sx_error_memory();
    optimizer->options = *options;
    optimizer->n_parameters = n_parameters;
    optimizer->n_state = n_state;
    optimizer->state = (float *)(optimizer + 1);
    *out = optimizer;
    return SX_OK;
}

void sx_optimizer_free(sx_optimizer *optimizer) {
    free(optimizer);
}

/* One step on all parameters. */
typedef struct step {
    sx_optimizer_options options;
    size_t n;
    float *parameter, *first, *second;
    const float *gradient;
    float rate, correct1, correct2; /* Adam: 1 / (1 - beta^step) */
} step;

/* A moment, 0 where it is too small to matter. Moments of units that no longer learn would otherwise end as denormal
 * numbers, which x86 processors compute a hundred times slower. */
static inline float flush_moment(float x) {
    return fabsf(x) < 1e-30f ? 0 : x;
}

static void sgd_span(void *user, size_t first, size_t n) {
    const step *s = user;
    float *restrict p = s->parameter, *restrict v = s->first;
    const float *restrict g = s->gradient;
    float momentum = s->options.momentum, rate = s->rate;
    for (size_t i = first; i < first + n; i++) {
        v[i] = flush_moment(momentum * v[i] + g[i]);
        p[i] -= rate * v[i];
    }
}

static void adam_span(void *user, size_t first, size_t n) {
    const step *s = user;
    float *restrict p = s->parameter, *restrict m = s->first, *restrict v = s->second;
    const float *restrict g = s->gradient;
    float beta1 = s->options.beta1, beta2 = s->options.beta2, epsilon = s->options.epsilon;
    float rate = s->rate * s->correct1, correct2 = s->correct2;
    for (size_t i = first; i < first + n; i++) {
        m[i] = flush_moment(beta1 * m[i] + (1 - beta1) * g[i]);
        v[i] = flush_moment(beta2 * v[i] + (1 - beta2) * (g[i] * g[i]));
        p[i] -= rate * m[i] / (sqrtf(v[i] * correct2) + epsilon);
    }
}

void sx_optimizer_step(sx_optimizer *optimizer, sx_matrix_engine *engine, float *parameter,
                       const float *gradient, float rate) {
    const sx_optimizer_options *options = &optimizer->options;
    bool adam = options->kind == SX_ADAM;
    optimizer->steps++;
    step s = {*options, optimizer->n_parameters, parameter, optimizer->state, NULL, gradient, rate, 0, 0};
    if (adam) {
        s.second = s.first + s.n;
        s.correct1 = (float)(1 / (1 - sx_whole_power((double)options->beta1, optimizer->steps)));
        s.correct2 = (float)(1 / (1 - sx_whole_power((double)options->beta2, optimizer->steps)));
    }
    sx_matrix_engine_spans(engine, s.n, CHUNK, adam ? adam_span : sgd_span, &s);
}

sx_status sx_schedule_find(const char *name, sx_schedule_kind *out) {
    static const char *const names[] = {"constant", "step", "cosine"};
    size_t i;
    SX_TRY(sx_name_find("schedule", name, names, 3, &i));
    *out = (sx_schedule_kind)i;
    return SX_OK;
}

double sx_schedule_rate(const sx_schedule *schedule, uint64_t at) {
    double rate = schedule->rate;
    uint64_t period = schedule->period ? schedule->period : 1;
    if (schedule->kind == SX_SCHEDULE_STEP) return rate * sx_whole_power(schedule->factor, at / period);
    if (schedule->kind == SX_SCHEDULE_CONSTANT) return rate;
    double done = at < period ? (double)at / (double)period : 1;
    return rate * (schedule->factor + (1 - schedule->factor) * 0.5 * (1 + sx_cos_pi(done)));
}
