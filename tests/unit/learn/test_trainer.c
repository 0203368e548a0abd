#include "learn/trainer.h"

#include "sextant/rng.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { INPUTS = 4, OUTPUTS = 2, ROWS = 256, BATCH = 32 };

/* A net with all that trains it, and a function to learn. */
typedef struct setup {
    sx_nn *net;
    sx_optimizer *optimizer;
    sx_matrix_engine *engine;
    sx_trainer *trainer;
    float input[ROWS * INPUTS], target[ROWS * OUTPUTS];
} setup;

static setup *setup_new(sx_optimizer_kind kind) {
    static const uint32_t width[] = {INPUTS, 32, 16, OUTPUTS};
    const sx_optimizer_options options = sx_optimizer_defaults(kind);
    const sx_trainer_options train = {.loss = SX_LOSS_HUBER, .batch = BATCH};
    setup *s = calloc(1, sizeof *s);
    assert_non_null(s);
    sx_rng rng = sx_rng_stream(1, "test.trainer", 0);
    for (size_t i = 0; i < ROWS; i++) {
        float *x = s->input + i * INPUTS, *y = s->target + i * OUTPUTS;
        for (size_t j = 0; j < INPUTS; j++) x[j] = (float)(2 * sx_rng_double(&rng) - 1);
        y[0] = x[0] * x[1];
        y[1] = fabsf(x[2]) - x[3];
    }
    sx_expect_ok(sx_nn_new_mlp(width, 4, SX_NN_RELU, SX_NN_KINDS, &s->net));
    sx_nn_initialise(s->net, SX_NN_HE, 1);
    sx_expect_ok(sx_optimizer_new(&options, s->net->n_parameters, &s->optimizer));
    sx_expect_ok(sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &s->engine));
    sx_expect_ok(sx_trainer_new(s->net, s->optimizer, s->engine, &train, &s->trainer));
    sx_expect_ok(sx_trainer_data(s->trainer, s->input, s->target, ROWS));
    return s;
}

static void setup_free(setup *s) {
    sx_trainer_free(s->trainer);
    sx_matrix_engine_free(s->engine);
    sx_optimizer_free(s->optimizer);
    sx_nn_free(s->net);
    free(s);
}

/* Steps `from` to `to` on rows that depend on the step's number only; the mean loss. */
static double steps(setup *s, uint64_t from, uint64_t to, float rate) {
    for (uint64_t i = from; i < to; i++) {
        sx_rng rng = sx_rng_stream(2, "test.trainer", i);
        uint32_t row[BATCH];
        for (size_t r = 0; r < BATCH; r++) row[r] = (uint32_t)sx_rng_below(&rng, ROWS);
        sx_expect_ok(sx_trainer_step(s->trainer, row, rate));
    }
    double loss;
    sx_expect_ok(sx_trainer_loss(s->trainer, &loss));
    return loss;
}

static void losses_fall(void **state) {
    (void)state;
    for (int kind = SX_SGD; kind <= SX_ADAM; kind++) {
        setup *s = setup_new((sx_optimizer_kind)kind);
        float rate = kind == SX_SGD ? 0.05f : 0.005f;
        double first = steps(s, 0, 10, rate);
        steps(s, 10, 800, rate);
        double last = steps(s, 800, 810, rate);
        if (!(first > 0.02 && last < 0.1 * first)) fail_msg("%g to %g", first, last);
        assert_true(steps(s, 0, 0, rate) == 0);
        setup_free(s);
    }
}

/* Training that is broken off and taken up again by a new trainer ends in the same bits. */
static void training_can_be_taken_up_again(void **state) {
    (void)state;
    setup *whole = setup_new(SX_ADAM), *first = setup_new(SX_ADAM), *second = setup_new(SX_ADAM);
    steps(whole, 0, 20, 0.01f);
    steps(first, 0, 8, 0.01f);
    sx_expect_ok(sx_trainer_sync(first->trainer));
    memcpy(second->net->parameter, first->net->parameter, first->net->n_parameters * sizeof(float));
    memcpy(second->optimizer->state, first->optimizer->state, first->optimizer->n_state * sizeof(float));
    second->optimizer->steps = first->optimizer->steps;
    steps(second, 8, 20, 0.01f);
    assert_true(sx_nn_hash(second->net) == sx_nn_hash(whole->net));
    setup_free(whole);
    setup_free(first);
    setup_free(second);
}

static void numbers_that_are_not_finite_show_in_the_loss(void **state) {
    (void)state;
    setup *s = setup_new(SX_SGD);
    double loss = steps(s, 0, 40, 1e9f);
    assert_true(!isfinite(loss));
    setup_free(s);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    setup *s = setup_new(SX_SGD);
    uint32_t row[BATCH] = {ROWS};
    sx_trainer *trainer;
    sx_expect_error(sx_trainer_step(s->trainer, row, 0.1f), "row 256 of a data set of 256 rows");
    sx_expect_error(sx_trainer_data(s->trainer, s->input, s->target, 0), "0 rows");
    sx_trainer_options options = {.batch = 0};
    sx_expect_error(sx_trainer_new(s->net, s->optimizer, s->engine, &options, &trainer),
                    "a batch has 0 rows");
    options = (sx_trainer_options){.batch = 8, .precision = SX_BF16};
    sx_expect_error(sx_trainer_new(s->net, s->optimizer, s->engine, &options, &trainer), "fp32 only");
    sx_trainer_device device;
    sx_trainer_precision precision;
    sx_expect_ok(sx_trainer_device_find("cuda", &device));
    sx_expect_ok(sx_trainer_precision_find("tf32", &precision));
    assert_true(device == SX_DEVICE_CUDA && precision == SX_TF32);
    sx_expect_error(sx_trainer_device_find("gpu", &device), "known: cpu, cuda");
    sx_expect_error(sx_trainer_precision_find("fp8", &precision), "known: fp32, tf32, bf16");
    setup_free(s);
}

/* Layers that the GPU cannot run are refused before one is looked for. */
static void the_gpu_refuses_other_layers(void **state) {
    (void)state;
    setup *s = setup_new(SX_SGD);
    sx_nn *net;
    sx_trainer *trainer;
    const sx_nn_plan plan[] = {{SX_NN_DENSE, 4}, {SX_NN_TANH, 0}, {SX_NN_DENSE, 2}};
    const sx_trainer_options options = {.batch = 8, .device = SX_DEVICE_CUDA};
    sx_expect_ok(sx_nn_new(4, plan, 3, &net));
    sx_expect_error(sx_trainer_new(net, s->optimizer, s->engine, &options, &trainer),
                    "layer 2 of the network (tanh) is not for the GPU");
    sx_nn_free(net);
    setup_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_fall),
        cmocka_unit_test(training_can_be_taken_up_again),
        cmocka_unit_test(numbers_that_are_not_finite_show_in_the_loss),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(the_gpu_refuses_other_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
