#include "frontend/catalog/layers.h"
#include "sextant/input.h"
#include "sextant/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void load(const char *name, const sx_network_options *options, sx_network *out) {
    sx_status error = sx_catalog_network(name, options, out);
    if (error) fail_msg("%s: %s", name, error->message);
}

static uint64_t computes(const sx_network *network) {
    uint64_t sum = 0;
    for (size_t i = 0; i < network->n_layers; i++)
        sum += network->layer[i].count * sx_problem_computes(&network->layer[i].problem);
    return sum;
}

/* The size of a dimension, 1 where there is none of that name. */
static uint64_t dim(const sx_problem *problem, const char *name) {
    int d = sx_problem_dim(problem, name);
    return d < 0 ? 1 : problem->size[d];
}

/* How many parameters a network has if each channel of a convolution brings `extra` more (2: a batch
 * normalisation, 1: a bias) and fully connected layers a bias. */
static uint64_t parameters(const sx_network *network, uint64_t extra) {
    uint64_t sum = 0;
    for (size_t i = 0; i < network->n_layers; i++) {
        const sx_problem *p = &network->layer[i].problem;
        const bool dense = dim(p, "P") == 1;
        sum += sx_problem_words(p, sx_problem_tensor(p, "Weights"));
        sum += (dense ? 1 : extra) * dim(p, "K") * dim(p, "G") * dim(p, "D");
    }
    return sum;
}

/* Multiply-accumulates and parameters (with biases and normalisations) as published, exactly. */
static void published_figures(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t layers, distinct;
        uint64_t computes, extra, parameters;
    } cases[] = {
        {"alexnet", 8, 8, 724406816, 1, 60965224},       {"vgg16", 16, 12, 15470264320, 1, 138357544},
        {"resnet18", 21, 12, 1814073344, 2, 11689512},   {"resnet50", 54, 24, 4089184256, 2, 25557032},
        {"resnet101", 105, 24, 7801405440, 2, 44549160}, {"inception-v3", 95, 44, 5713216096, 2, 23834568},
        {"mobilenet-v2", 53, 31, 300774272, 2, 3504872}, {"mnasnet-b1", 53, 34, 314415872, 2, 4383312},
        {"fsrcnn", 8, 5, 2871705600, 0, 12464},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_network network;
        load(cases[i].name, NULL, &network);
        assert_int_equal(network.n_layers, cases[i].layers);
        assert_int_equal(sx_network_distinct(&network, NULL), cases[i].distinct);
        assert_int_equal(computes(&network), cases[i].computes);
        assert_int_equal(parameters(&network, cases[i].extra), cases[i].parameters);
        sx_network_fini(&network);
    }
}

/* By hand: four projections, two products per head, and the feed-forward pair. */
static void bert(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint64_t layers, hidden, words;
    } cases[] = {{"bert-base", 12, 768, 512}, {"bert-large", 24, 1024, 512}, {"bert-base-128", 12, 768, 128}};
    for (size_t i = 0; i < 3; i++) {
        const uint64_t l = cases[i].layers, h = cases[i].hidden, w = cases[i].words;
        sx_network network;
        uint64_t weights = 0;
        load(cases[i].name, NULL, &network);
        assert_string_equal(network.name, cases[i].name);
        assert_int_equal(network.n_layers, 9);
        assert_int_equal(computes(&network), l * (12 * w * h * h + 2 * w * w * h) + h * h);
        for (size_t j = 0; j < network.n_layers; j++) {
            const sx_layer *layer = &network.layer[j];
            if (layer->count == l) weights += l * sx_problem_words(&layer->problem, 1);
        }
        assert_int_equal(weights, 12 * l * h * h);
        assert_int_equal(sx_network_layer(&network, "scores")->count, l * h / 64);
        sx_network_fini(&network);
    }
}

static void assert_einsum(const char *network_name, const sx_network_options *options, const char *layer,
                          const char *expected) {
    sx_network network;
    char *text, name[2 * SX_NAME_SIZE];
    load(network_name, options, &network);
    const sx_layer *found = sx_network_layer(&network, layer);
    assert_non_null(found);
    assert_null(sx_einsum_text(&found->problem, &text));
    assert_string_equal(text, expected);
    snprintf(name, sizeof name, "%s/%s", network_name, layer);
    assert_string_equal(found->problem.name, name);
    free(text);
    sx_network_fini(&network);
}

static void shapes(void **state) {
    (void)state;
    static const sx_network_options batch = {.batch = 16};
    assert_einsum(
        "resnet50", NULL, "layer2.0.conv2",
        "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+2*P,S+2*Q] {R:3,S:3,P:28,Q:28,C:128,K:128,N:1}");
    assert_einsum(
        "resnet50", NULL, "layer2.0.conv1",
        "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+P,S+Q] {R:1,S:1,P:56,Q:56,C:256,K:128,N:1}");
    assert_einsum(
        "resnet18", &batch, "layer4.0.downsample",
        "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+2*P,S+2*Q] {R:1,S:1,P:7,Q:7,C:256,K:512,N:16}");
    assert_einsum("resnet18", &batch, "fc",
                  "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+P,S+Q] "
                  "{R:1,S:1,P:1,Q:1,C:512,K:1000,N:16}");
    assert_einsum("alexnet", NULL, "conv2",
                  "Outputs[N,G,K,Q,P] += Weights[G,C,K,R,S]*Inputs[N,G,C,R+P,S+Q] "
                  "{R:5,S:5,P:27,Q:27,C:48,K:128,G:2,N:1}");
    assert_einsum(
        "inception-v3", NULL, "Mixed_6c.branch7x7dbl_2",
        "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+P,S+Q] {R:7,S:1,P:17,Q:17,C:160,K:160,N:1}");
    assert_einsum("mobilenet-v2", NULL, "block2.depthwise",
                  "Outputs[N,D,Q,P] += Weights[D,R,S]*Inputs[N,D,R+2*P,S+2*Q] {R:3,S:3,P:56,Q:56,D:96,N:1}");
    assert_einsum("bert-base", &batch, "feed-forward-in",
                  "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:16,M:3072,K:768,N:512}");
    assert_einsum("bert-large", &batch, "context",
                  "Outputs[B,M,N] += Weights[B,M,K]*Inputs[B,K,N] {B:16,M:64,K:512,N:512}");
}

static void weight_updates(void **state) {
    (void)state;
    static const sx_network_options training = {.batch = 16, .training = true};
    assert_einsum("inception-v3", &training, "Conv2d_1a_3x3",
                  "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,2*R+P,2*S+Q] "
                  "{R:149,S:149,P:3,Q:3,C:16,K:32,N:3}");
    assert_einsum("mobilenet-v2", &training, "block2.depthwise",
                  "Outputs[N,G,K,Q,P] += Weights[G,C,K,R,S]*Inputs[N,G,C,2*R+P,2*S+Q] "
                  "{R:56,S:56,P:3,Q:3,C:16,K:1,G:96,N:1}");
    assert_einsum("bert-base", &training, "query",
                  "Outputs[M,N] += Weights[B,M,K]*Inputs[B,K,N] {B:16,M:768,K:512,N:768}");
    assert_einsum("bert-base", &training, "scores",
                  "Outputs[B,M,N] += Weights[B,M,K]*Inputs[B,K,N] {B:16,M:512,K:512,N:64}");
}

static void data_gradients(void **state) {
    (void)state;
    static const sx_network_options step = {.batch = 16, .training_step = true};
    assert_einsum("inception-v3", &step, "Conv2d_2a_3x3.data_gradient",
                  "Outputs[N,C,R+P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] "
                  "{R:3,S:3,P:147,Q:147,C:32,K:32,N:16}");
    assert_einsum("mobilenet-v2", &step, "block2.depthwise.data_gradient",
                  "Outputs[N,D,R+2*P,S+2*Q] += Weights[D,R,S]*Inputs[N,D,Q,P] "
                  "{R:3,S:3,P:56,Q:56,D:96,N:16}");
    assert_einsum("alexnet", &step, "conv2.data_gradient",
                  "Outputs[N,G,C,R+P,S+Q] += Weights[G,C,K,R,S]*Inputs[N,G,K,Q,P] "
                  "{R:5,S:5,P:27,Q:27,C:48,K:128,G:2,N:16}");
    assert_einsum("bert-base", &step, "feed-forward-in.data_gradient",
                  "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:16,M:768,K:3072,N:512}");
    assert_einsum("bert-base", &step, "context.data_gradient",
                  "Outputs[B,M,N] += Weights[B,M,K]*Inputs[B,K,N] {B:16,M:512,K:64,N:512}");
}

static uint64_t words(const sx_layer *layer, const char *tensor) {
    return sx_problem_words(&layer->problem, sx_problem_tensor(&layer->problem, tensor));
}

/* An update reads a layer's inputs and (in the weights' place) its outputs' gradients, writes as many
 * gradients as there are weights, and takes as many steps. */
static void updates_mirror_their_layers(void **state) {
    (void)state;
    const char *name;
    for (size_t i = 0; (name = sx_catalog_network_name(i, NULL)) && !sx_catalog_has_phases(name); i++) {
        sx_network forward, update;
        load(name, &(sx_network_options){.batch = 3}, &forward);
        load(name, &(sx_network_options){.batch = 3, .training = true}, &update);
        assert_int_equal(forward.n_layers, update.n_layers);
        for (size_t j = 0; j < forward.n_layers; j++) {
            const sx_layer *f = &forward.layer[j], *u = &update.layer[j];
            assert_string_equal(f->name, u->name);
            assert_int_equal(f->count, u->count);
            assert_int_equal(sx_problem_computes(&f->problem), sx_problem_computes(&u->problem));
            assert_int_equal(words(f, "Weights"), words(u, "Outputs"));
            assert_int_equal(words(f, "Outputs"), words(u, "Weights"));
            assert_int_equal(words(f, "Inputs"), words(u, "Inputs"));
        }
        sx_network_fini(&forward);
        sx_network_fini(&update);
    }
}

static void entries_are_legal_and_named(void **state) {
    (void)state;
    const char *name, *about = NULL;
    size_t n = 0;
    for (; (name = sx_catalog_network_name(n, &about)); n++, about = NULL) {
        sx_network network;
        assert_non_null(about);
        load(name, NULL, &network);
        assert_string_equal(network.name, name);
        for (size_t i = 0; i < network.n_layers; i++) {
            assert_null(sx_problem_check(&network.layer[i].problem));
            assert_true(network.layer[i].count >= 1);
            assert_ptr_equal(sx_network_layer(&network, network.layer[i].name), &network.layer[i]);
        }
        sx_network_fini(&network);
    }
    assert_int_equal(n, 13 + 35);
    assert_non_null(sx_catalog_network_name(0, NULL));
}

static void assert_refused(const char *name, const sx_network_options *options, const char *message,
                           const char *hint) {
    sx_network network = {.n_layers = 77};
    sx_status error = sx_catalog_network(name, options, &network);
    assert_non_null(error);
    assert_string_equal(error->message, message);
    if (hint)
        assert_string_equal(error->hint, hint);
    else
        assert_null(error->hint);
    assert_int_equal(network.n_layers, 77);
    sx_status_free(error);
}

static void refusals(void **state) {
    (void)state;
    assert_refused("resnet-50", NULL, "there is no built-in network called 'resnet-50'",
                   "did you mean 'resnet50'?");
    assert_refused("x", NULL, "there is no built-in network called 'x'",
                   "`sextant list networks` lists them");
    assert_refused("vgg16-1", NULL, "there is no built-in network called 'vgg16-1'", "did you mean 'vgg16'?");
    assert_refused("bert-base-", NULL, "there is no built-in network called 'bert-base-'",
                   "did you mean 'bert-base'?");
    assert_refused("bert-base-0", NULL, "there is no built-in network called 'bert-base-0'",
                   "did you mean 'bert-base'?");
    assert_refused("bert-base-99999999999999999999", NULL,
                   "there is no built-in network called 'bert-base-99999999999999999999'",
                   "`sextant list networks` lists them");
    assert_refused("vgg16", &(sx_network_options){.batch = UINT32_MAX},
                   "dimension N has size 4294967295; 1 to 2147483647 are allowed", NULL);
}

/* What no network of the catalog has: a dilation, two strides, a depthwise layer of several filters. */
static void general_convolutions(void **state) {
    (void)state;
    static const sx_conv conv = {.n = 2,
                                 .c = 1,
                                 .k = 2,
                                 .p = 5,
                                 .q = 6,
                                 .r = 3,
                                 .s = 4,
                                 .groups = 7,
                                 .stride_p = 2,
                                 .dilation_r = 3,
                                 .dilation_s = 4};
    const sx_conv update = sx_conv_weight_update(&conv), back = sx_conv_weight_update(&update);
    static sx_problem problem;
    char *text;
    assert_memory_equal(&back, &conv, sizeof conv);
    assert_null(sx_layer_conv(&conv, "c", &problem));
    assert_null(sx_einsum_text(&problem, &text));
    assert_string_equal(text, "Outputs[N,G,K,Q,P] += Weights[G,C,K,R,S]*Inputs[N,G,C,3*R+2*P,4*S+Q] "
                              "{R:3,S:4,P:5,Q:6,C:1,K:2,G:7,N:2}");
    free(text);
    sx_status error = sx_layer_conv(&(sx_conv){.n = 1}, "empty", &problem);
    assert_non_null(error);
    sx_status_free(error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_figures),
        cmocka_unit_test(bert),
        cmocka_unit_test(shapes),
        cmocka_unit_test(weight_updates),
        cmocka_unit_test(data_gradients),
        cmocka_unit_test(updates_mirror_their_layers),
        cmocka_unit_test(entries_are_legal_and_named),
        cmocka_unit_test(refusals),
        cmocka_unit_test(general_convolutions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
