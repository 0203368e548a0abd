#include "learn/net.h"

#include "learn/elementary.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t width[] = {9, 130, 64, 4};

static sx_nn *net_new(sx_nn_init init) {
    sx_nn *net;
    sx_expect_ok(sx_nn_new_mlp(width, 4, SX_NN_RELU, SX_NN_KINDS, &net));
    sx_nn_initialise(net, init, 11);
    return net;
}

static void parameters_lie_in_one_block(void **state) {
    (void)state;
    sx_nn *net = net_new(SX_NN_HE);
    assert_int_equal(net->n_parameters, 9 * 130 + 130 + 130 * 64 + 64 + 64 * 4 + 4);
    assert_int_equal(net->n_layers, 5);
    assert_int_equal((uintptr_t)net->parameter % 64, 0);
    size_t first = 0;
    for (size_t i = 0; i < net->n_layers; i++) {
        assert_int_equal(net->layer[i].first, first);
        first += net->layer[i].n_parameters;
    }
    assert_true(net->inputs == 9 && net->outputs == 4);
    sx_nn_free(net);
}

/* The variance of a layer's weights. */
static double variance(const sx_nn *net, size_t layer) {
    size_t n = (size_t)net->layer[layer].inputs * net->layer[layer].outputs;
    const float *w = net->parameter + net->layer[layer].first;
    double squares = 0;
    for (size_t i = 0; i < n; i++) squares += (double)w[i] * (double)w[i];
    return squares / (double)n;
}

static void weights_have_the_variance_of_their_rule(void **state) {
    (void)state;
    sx_nn *he = net_new(SX_NN_HE), *xavier = net_new(SX_NN_XAVIER), *again = net_new(SX_NN_HE);
    assert_true(fabs(variance(he, 2) * 130 / 2 - 1) < 0.05);
    assert_true(fabs(variance(xavier, 2) * (130 + 64) / 2 - 1) < 0.05);
    assert_true(sx_nn_hash(he) == sx_nn_hash(again) && sx_nn_hash(he) != sx_nn_hash(xavier));
    sx_nn_initialise(again, SX_NN_HE, 12);
    assert_true(sx_nn_hash(he) != sx_nn_hash(again));
    sx_nn_free(he);
    sx_nn_free(xavier);
    sx_nn_free(again);
}

/* Outputs and input gradients of a row are those of a batch that it is in, to the bit. */
static void rows_do_not_depend_on_their_batch(void **state) {
    (void)state;
    enum { ROWS = 70 };
    sx_nn *net = net_new(SX_NN_HE);
    sx_matrix_engine *engine;
    sx_nn_pass *pass, *single;
    float input[ROWS * 9], weight[ROWS * 4], all[ROWS * 9], one[9], kept[ROWS * 4];
    sx_rng rng = sx_rng_stream(1, "test.net", 0);
    for (size_t i = 0; i < ROWS * 9; i++) input[i] = (float)sx_normal(&rng);
    for (size_t i = 0; i < ROWS * 4; i++) weight[i] = (float)sx_normal(&rng);
    sx_expect_ok(sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &engine));
    sx_expect_ok(sx_nn_pass_new(net, engine, ROWS, &pass));
    sx_expect_ok(sx_nn_pass_new(net, engine, 1, &single));
    memcpy(kept, sx_nn_forward(pass, input, ROWS), sizeof kept);
    sx_nn_backward(pass, weight, NULL, all);
    for (size_t i = 0; i < ROWS; i++) {
        const float *output = sx_nn_forward(single, input + i * 9, 1);
        assert_memory_equal(output, kept + i * 4, 4 * sizeof(float));
        sx_nn_backward(single, weight + i * 4, NULL, one);
        assert_memory_equal(one, all + i * 9, sizeof one);
    }
    sx_nn_pass_free(pass);
    sx_nn_pass_free(single);
    sx_matrix_engine_free(engine);
    sx_nn_free(net);
}

static void nets_are_copied_and_blended(void **state) {
    (void)state;
    sx_nn *net = net_new(SX_NN_HE), *copy, *other = net_new(SX_NN_XAVIER);
    sx_expect_ok(sx_nn_copy(net, &copy));
    assert_true(sx_nn_alike(net, copy) && sx_nn_hash(net) == sx_nn_hash(copy));
    sx_nn_blend(copy, other, 0.25f);
    for (size_t i = 0; i < net->n_parameters; i++)
        assert_true(fabs((double)copy->parameter[i] - 0.75 * (double)net->parameter[i] -
                         0.25 * (double)other->parameter[i]) < 1e-6);
    sx_nn_blend(copy, other, 1);
    assert_true(fabs((double)copy->parameter[7] - (double)other->parameter[7]) < 1e-6);
    sx_nn_free(net);
    sx_nn_free(copy);
    sx_nn_free(other);
    sx_nn *short_net;
    sx_expect_ok(sx_nn_new_mlp(width, 3, SX_NN_RELU, SX_NN_KINDS, &short_net));
    net = net_new(SX_NN_HE);
    assert_false(sx_nn_alike(net, short_net));
    sx_nn_free(net);
    sx_nn_free(short_net);
}

static void impossible_nets_are_refused(void **state) {
    (void)state;
    sx_nn *net;
    const sx_nn_plan zero = {SX_NN_DENSE, 0}, wide = {SX_NN_DENSE, 1 << 20}, odd = {(sx_nn_kind)17, 3};
    const sx_nn_plan large[] = {{SX_NN_DENSE, 1 << 16}, {SX_NN_DENSE, 1 << 16}};
    uint32_t many[SX_NN_MAX_LAYERS];
    for (size_t i = 0; i < SX_NN_MAX_LAYERS; i++) many[i] = 1;
    sx_expect_error(sx_nn_new(4, &zero, 1, &net), "layer 1 of a network has 0 outputs instead of 1 to 65536");
    sx_expect_error(sx_nn_new(4, &wide, 1, &net), "1048576 outputs");
    sx_expect_error(sx_nn_new(4, &odd, 1, &net), "layer 1 is of an unknown kind");
    sx_expect_error(sx_nn_new(0, &zero, 1, &net), "0 inputs");
    sx_expect_error(sx_nn_new(4, &zero, 0, &net), "0 layers");
    sx_expect_error(sx_nn_new(4, large, 2, &net), "more than 268435456 parameters");
    sx_expect_error(sx_nn_new_mlp(many, SX_NN_MAX_LAYERS, SX_NN_RELU, SX_NN_KINDS, &net),
                    "64 widths instead of 2 to 32");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_lie_in_one_block),
        cmocka_unit_test(weights_have_the_variance_of_their_rule),
        cmocka_unit_test(rows_do_not_depend_on_their_batch),
        cmocka_unit_test(nets_are_copied_and_blended),
        cmocka_unit_test(impossible_nets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
