/* Optimizers and schedules of their rate. */
#ifndef SX_LEARN_OPTIMIZER_H
#define SX_LEARN_OPTIMIZER_H

#include "learn/matrix.h"

#include <stdint.h>

/* SGD: v = momentum v + g; p -= rate v. Adam: m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
 * p -= rate m' / (sqrt(v') + epsilon), m' and v' being m and v over 1 - beta^step. */
typedef enum sx_optimizer_kind { SX_SGD, SX_ADAM } sx_optimizer_kind;

typedef struct sx_optimizer_options {
    sx_optimizer_kind kind;
    float momentum;              /* SGD */
    float beta1, beta2, epsilon; /* Adam */
} sx_optimizer_options;

/* The usual values: momentum .9; .9, .999, 1e-8. */
sx_optimizer_options sx_optimizer_defaults(sx_optimizer_kind kind);

/* An optimizer of a name ("sgd", "adam"). */
SX_MUST_USE sx_status sx_optimizer_find(const char *name, sx_optimizer_kind *out);

/* The options, the number of steps made, and one value (SGD) or two (Adam: all m, then all v) per parameter:
 * everything that a checkpoint needs. */
typedef struct sx_optimizer {
    sx_optimizer_options options;
    size_t n_parameters, n_state;
    uint64_t steps;
    float *state;
} sx_optimizer;

SX_MUST_USE sx_status sx_optimizer_new(const sx_optimizer_options *options, size_t n_parameters,
                                       SX_OWN sx_optimizer **out);
void sx_optimizer_free(SX_TAKE sx_optimizer *optimizer);

/* Changes the parameters by one step. */
void sx_optimizer_step(sx_optimizer *optimizer, sx_matrix_engine *engine, float *parameter,
                       const float *gradient, float rate);

/* Constant: `rate`. Step: times `factor` every `period` steps. Cosine: from `rate` down to rate * factor over `period`
 * steps, where it stays. */
typedef enum sx_schedule_kind { SX_SCHEDULE_CONSTANT, SX_SCHEDULE_STEP, SX_SCHEDULE_COSINE } sx_schedule_kind;

typedef struct sx_schedule {
    sx_schedule_kind kind;
    double rate, factor;
    uint64_t period;
} sx_schedule;

/* A schedule of a name ("constant", "step", "cosine"). */
SX_MUST_USE sx_status sx_schedule_find(const char *name, sx_schedule_kind *out);

/* The rate of a step; the first is 0. */
double sx_schedule_rate(const sx_schedule *schedule, uint64_t step);

#endif
