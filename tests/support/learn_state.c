#include "support/learn_state.h"

#include "base/hash.h"
#include "learn/trainer.h"
#include "sextant/rng.h"

#include <stdlib.h>

enum { INPUTS = 19, OUTPUTS = 5, ROWS = 150, BATCH = 37, STEPS = 12 };

/* A fixed data set. */
typedef struct data {
    float input[ROWS * INPUTS], target[ROWS * OUTPUTS];
} data;

static void fill(data *d) {
    sx_rng rng = sx_rng_stream(5, "test.learn.state", 0);
    for (size_t i = 0; i < ROWS * INPUTS; i++) d->input[i] = (float)(4 * sx_rng_double(&rng) - 2);
    for (size_t i = 0; i < ROWS * OUTPUTS; i++) d->target[i] = (float)sx_rng_double(&rng);
}

static sx_status train(sx_nn *net, sx_matrix_engine *engine, sx_optimizer *optimizer, sx_loss loss,
                       const data *d, uint64_t *hash) {
    const sx_trainer_options options = {.loss = loss, .batch = BATCH};
    const sx_schedule schedule = {SX_SCHEDULE_COSINE, 0.02, 0.1, STEPS};
    sx_trainer *trainer;
    double mean = 0;
    SX_TRY(sx_trainer_new(net, optimizer, engine, &options, &trainer));
    sx_rng rng = sx_rng_stream(5, "test.learn.rows", 0);
    sx_status status = sx_trainer_data(trainer, d->input, d->target, ROWS);
    for (uint64_t i = 0; i < STEPS && !status; i++) {
        uint32_t row[BATCH];
        for (size_t r = 0; r < BATCH; r++) row[r] = (uint32_t)sx_rng_below(&rng, ROWS);
        status = sx_trainer_step(trainer, row, (float)sx_schedule_rate(&schedule, i));
    }
    if (!status) status = sx_trainer_loss(trainer, &mean);
    *hash = sx_hash_bytes(&mean, sizeof mean, *hash);
    *hash = sx_hash_bytes(optimizer->state, optimizer->n_state * sizeof(float), *hash ^ sx_nn_hash(net));
    sx_trainer_free(trainer);
    return status;
}

/* Folds in outputs and input gradients of one row, and of many. */
static sx_status fold_passes(const sx_nn *net, sx_matrix_engine *engine, const data *d, uint64_t *hash) {
    sx_nn_pass *pass;
    float gradient[ROWS * INPUTS];
    SX_TRY(sx_nn_pass_new(net, engine, ROWS, &pass));
    for (size_t n = 1; n <= ROWS; n += ROWS - 1) {
        const float *output = sx_nn_forward(pass, d->input, n);
        *hash = sx_hash_bytes(output, n * OUTPUTS * sizeof *output, *hash);
        sx_nn_backward(pass, d->target, NULL, gradient);
        *hash = sx_hash_bytes(gradient, n * INPUTS * sizeof *gradient, *hash);
    }
    sx_nn_pass_free(pass);
    return SX_OK;
}

static sx_status run(sx_matrix_engine *engine, const data *d, uint64_t *hash) {
    static const sx_nn_plan plan[] = {{SX_NN_DENSE, 61},      {SX_NN_RELU, 0},   {SX_NN_LAYER_NORM, 0},
                                      {SX_NN_DENSE, 300},     {SX_NN_TANH, 0},   {SX_NN_DENSE, 40},
                                      {SX_NN_SIGMOID, 0},     {SX_NN_DENSE, 33}, {SX_NN_RELU, 0},
                                      {SX_NN_DENSE, OUTPUTS}, {SX_NN_SOFTMAX, 0}};
    *hash = 0;
    for (int i = 0; i < 3; i++) {
        const sx_optimizer_options options = sx_optimizer_defaults(i % 2 ? SX_SGD : SX_ADAM);
        sx_nn *net;
        sx_optimizer *optimizer = NULL;
        SX_TRY(sx_nn_new(INPUTS, plan, sizeof plan / sizeof *plan, &net));
        sx_nn_initialise(net, i ? SX_NN_HE : SX_NN_XAVIER, 7 + (uint64_t)i);
        sx_status status = sx_optimizer_new(&options, net->n_parameters, &optimizer);
        if (!status) status = train(net, engine, optimizer, (sx_loss)i, d, hash);
        if (!status) status = fold_passes(net, engine, d, hash);
        sx_optimizer_free(optimizer);
        sx_nn_free(net);
        SX_TRY(status);
    }
    return SX_OK;
}

sx_status sx_learn_state(sx_matrix_backend backend, unsigned threads, uint64_t *out) {
    sx_pool *pool = NULL;
    sx_matrix_engine *engine = NULL;
    data *d = malloc(sizeof *d);
    if (!d) return sx_error_memory();
    fill(d);
    sx_status status = threads ? sx_pool_new(threads, &pool) : SX_OK;
    if (!status) status = sx_matrix_engine_new(backend, pool, &engine);
    if (!status) status = run(engine, d, out);
    sx_matrix_engine_free(engine);
    sx_pool_free(pool);
    free(d);
    return status;
}
