/* Gradients of every kind of layer, of losses and of whole nets against central differences, on random shapes. */
#include "learn/layers/layer.h"
#include "learn/loss.h"
#include "learn/net.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_ROWS = 6, MAX_WIDTH = 12, CASES = 40 };
static const float STEP = 0x1p-9f;

/* A net on random rows; the objective is a weighted sum of its outputs. */
typedef struct subject {
    sx_nn *net;
    sx_nn_pass *pass;
    sx_matrix_engine *engine;
    size_t rows;
    float *input, *weight, *d_input, *d_parameter;
} subject;

static void fill(sx_rng *rng, float *x, size_t n, double scale) {
    for (size_t i = 0; i < n; i++) x[i] = (float)(scale * (2 * sx_rng_double(rng) - 1));
}

static double objective(const subject *s) {
    const float *y = sx_nn_forward(s->pass, s->input, s->rows);
    double sum = 0;
    for (size_t i = 0; i < s->rows * s->net->outputs; i++) sum += (double)s->weight[i] * (double)y[i];
    return sum;
}

static void subject_init(subject *s, sx_rng *rng, const sx_nn_plan *plan, size_t n, uint32_t inputs,
                         size_t rows) {
    s->rows = rows;
    sx_expect_ok(sx_nn_new(inputs, plan, n, &s->net));
    sx_expect_ok(sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &s->engine));
    sx_expect_ok(sx_nn_pass_new(s->net, s->engine, rows, &s->pass));
    size_t in = rows * inputs, out = rows * s->net->outputs;
    s->input = malloc((2 * in + out + s->net->n_parameters) * sizeof(float));
    assert_non_null(s->input);
    s->d_input = s->input + in;
    s->weight = s->d_input + in;
    s->d_parameter = s->weight + out;
    fill(rng, s->input, in, 1.5);
    fill(rng, s->weight, out, 1);
    fill(rng, s->net->parameter, s->net->n_parameters, 0.7);
}

static void subject_fini(subject *s) {
    free(s->input);
    sx_nn_pass_free(s->pass);
    sx_matrix_engine_free(s->engine);
    sx_nn_free(s->net);
}

/* Compares a gradient with differences. Kinks of ReLUs within the step are left out: there the two halves of the
 * difference disagree. Returns how many elements were compared. */
static size_t compare(const subject *s, float *x, const float *gradient, size_t n) {
    double middle = objective(s);
    size_t compared = 0;
    for (size_t i = 0; i < n; i++) {
        float kept = x[i];
        x[i] = kept + STEP;
        double above = objective(s) - middle;
        x[i] = kept - STEP;
        double below = middle - objective(s);
        x[i] = kept;
        if (fabs(above - below) > 8e-3 * (double)STEP) continue;
        double slope = (above + below) / (2 * (double)STEP);
        if (fabs(slope - (double)gradient[i]) > 5e-3 * (1 + fabs(slope)))
            fail_msg("element %zu: the gradient is %g, differences say %g", i, (double)gradient[i], slope);
        compared++;
    }
    return compared;
}

/* Checks both gradients; returns how large a share of their elements was compared. */
static double check(subject *s) {
    size_t in = s->rows * s->net->inputs;
    objective(s);
    sx_nn_backward(s->pass, s->weight, s->d_parameter, s->d_input);
    size_t compared = compare(s, s->input, s->d_input, in);
    compared += compare(s, s->net->parameter, s->d_parameter, s->net->n_parameters);
    return (double)compared / (double)(in + s->net->n_parameters);
}

static void check_kind(sx_nn_kind kind) {
    double share = 0;
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(1, "test.gradients", i);
        subject s;
        const sx_nn_plan plan[] = {{kind, (uint32_t)sx_rng_range(&rng, 1, MAX_WIDTH)}};
        subject_init(&s, &rng, plan, 1, (uint32_t)sx_rng_range(&rng, 2, MAX_WIDTH),
                     (size_t)sx_rng_range(&rng, 1, MAX_ROWS));
        share += check(&s) / CASES;
        subject_fini(&s);
    }
    assert_true(share > 0.9);
}

static void dense(void **state) {
    (void)state;
    check_kind(SX_NN_DENSE);
}
static void relu(void **state) {
    (void)state;
    check_kind(SX_NN_RELU);
}
static void tanh_layer(void **state) {
    (void)state;
    check_kind(SX_NN_TANH);
}
static void sigmoid(void **state) {
    (void)state;
    check_kind(SX_NN_SIGMOID);
}
static void softmax(void **state) {
    (void)state;
    check_kind(SX_NN_SOFTMAX);
}
static void layer_norm(void **state) {
    (void)state;
    check_kind(SX_NN_LAYER_NORM);
}

/* Random layers one after another, so that every kind follows every other, in place or not. */
static void nets(void **state) {
    (void)state;
    double share = 0;
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(2, "test.gradients", i);
        subject s;
        sx_nn_plan plan[5];
        size_t n = (size_t)sx_rng_range(&rng, 2, 5);
        for (size_t l = 0; l < n; l++)
            plan[l] = (sx_nn_plan){(sx_nn_kind)sx_rng_below(&rng, SX_NN_LAYER_NORM),
                                   (uint32_t)sx_rng_range(&rng, 3, MAX_WIDTH)};
        plan[i % n] = (sx_nn_plan){SX_NN_DENSE, (uint32_t)sx_rng_range(&rng, 3, MAX_WIDTH)};
        subject_init(&s, &rng, plan, n, (uint32_t)sx_rng_range(&rng, 2, MAX_WIDTH),
                     (size_t)sx_rng_range(&rng, 1, MAX_ROWS));
        share += check(&s) / CASES;
        subject_fini(&s);
    }
    assert_true(share > 0.6);
}

static void losses(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 3 * CASES; i++) {
        sx_rng rng = sx_rng_stream(3, "test.gradients", i);
        size_t n = (size_t)sx_rng_range(&rng, 1, 20);
        float prediction[20], target[20], gradient[20];
        fill(&rng, prediction, n, 2);
        fill(&rng, target, n, 2);
        sx_loss loss = (sx_loss)(i % 3);
        sx_loss_of(loss, prediction, target, n, gradient);
        for (size_t j = 0; j < n; j++) {
            float kept = prediction[j];
            prediction[j] = kept + STEP;
            double above = sx_loss_of(loss, prediction, target, n, NULL);
            prediction[j] = kept - STEP;
            double below = sx_loss_of(loss, prediction, target, n, NULL);
            prediction[j] = kept;
            double slope = (above - below) / (2 * (double)STEP), d = fabs((double)kept - (double)target[j]);
            bool kink = loss == SX_LOSS_MAE ? d < 2 * (double)STEP : fabs(d - 1) < 2 * (double)STEP;
            if (!kink) assert_true(fabs(slope - (double)gradient[j]) * (double)n < 2e-3);
        }
    }
}

static void losses_of_known_differences(void **state) {
    (void)state;
    const float prediction[] = {0, 3, -1, 0.5f}, target[] = {0, 0, 1, 0};
    assert_true(sx_loss_of(SX_LOSS_MSE, prediction, target, 4, NULL) == (9 + 4 + 0.25) / 4);
    assert_true(sx_loss_of(SX_LOSS_MAE, prediction, target, 4, NULL) == 5.5 / 4);
    assert_true(sx_loss_of(SX_LOSS_HUBER, prediction, target, 4, NULL) == (2.5 + 1.5 + 0.125) / 4);
    for (sx_loss loss = SX_LOSS_HUBER; loss <= SX_LOSS_MAE; loss++) {
        sx_loss found;
        sx_expect_ok(sx_loss_find(sx_loss_name(loss), &found));
        assert_int_equal(found, loss);
    }
    sx_loss found;
    sx_expect_error(sx_loss_find("hinge", &found), "known: huber, mse, mae");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense),   cmocka_unit_test(relu),    cmocka_unit_test(tanh_layer),
        cmocka_unit_test(sigmoid), cmocka_unit_test(softmax), cmocka_unit_test(layer_norm),
        cmocka_unit_test(nets),    cmocka_unit_test(losses),  cmocka_unit_test(losses_of_known_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
