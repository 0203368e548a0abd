/* The catalog's networks as graphs: nodes by kind, edges, sizes of weights, shapes along the way. */
#include "sextant/input.h"
#include "sextant/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void load(const char *name, const sx_network_options *options, sx_graph *out) {
    sx_status error = sx_catalog_graph(name, options, out);
    if (error) fail_msg("%s: %s", name, error->message);
}

/* How many nodes are of a kind and, where not NULL, of a function. */
static size_t count(const sx_graph *graph, sx_op_kind kind, const char *function) {
    size_t n = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        n += graph->node[i].kind == kind && (!function || strcmp(graph->node[i].function, function) == 0);
    return n;
}

/* How many operands read what another node writes. */
static size_t edges(const sx_graph *graph) {
    size_t *producer = malloc((graph->n_tensors + 1) * sizeof *producer), n = 0;
    assert_non_null(producer);
    sx_graph_producers(graph, producer);
    for (size_t i = 0; i < graph->n_operands; i++)
        n += !graph->operand[i].written && producer[graph->operand[i].tensor] != SX_NO_INDEX;
    free(producer);
    return n;
}

/* The elements of all weights: those of filters and matrices. */
static uint64_t weights(const sx_graph *graph) {
    uint64_t sum = 0;
    for (size_t t = 0; t < graph->n_tensors; t++)
        if (graph->tensor[t].weight) sum += sx_graph_words(&graph->tensor[t]);
    return sum;
}

/* What nodes that are einsums have besides: `extra` for each channel of a convolution (2: a batch
 * normalisation, 1: a bias), and a bias for each output of a fully connected layer. */
static uint64_t extras(const sx_graph *graph, uint64_t extra) {
    uint64_t sum = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const sx_graph_node *node = &graph->node[i];
        if (node->kind != SX_OP_EINSUM) continue;
        const sx_graph_tensor *out = &graph->tensor[graph->operand[node->first].tensor];
        sum += out->extent[1] * (out->extent[2] == 1 ? 1 : extra);
    }
    return sum;
}

static uint64_t computes(const sx_graph *graph) {
    uint64_t sum = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (graph->node[i].kind == SX_OP_EINSUM)
            sum += graph->node[i].repeat * sx_problem_computes(&graph->einsum[graph->node[i].einsum]);
    return sum;
}

/* `weights` is without, `parameters` with biases and normalisations, as published. A node has one edge in,
 * but the first none, an addition two, and a concatenation as many as `joined` says of all of them. */
static void convolutional_networks(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t nodes, einsums, pools, adds, concats, joined, norms, reshapes;
        uint64_t computes, weights, extra, parameters;
    } cases[] = {
        {"alexnet", 15, 8, 3, 0, 0, 0, 2, 1, 724406816, 60954656, 1, 60965224},
        {"vgg16", 23, 16, 5, 0, 0, 0, 0, 1, 15470264320, 138344128, 1, 138357544},
        {"resnet18", 32, 21, 2, 8, 0, 0, 0, 0, 1814073344, 11678912, 2, 11689512},
        {"resnet50", 73, 54, 2, 16, 0, 0, 0, 0, 4089184256, 25502912, 2, 25557032},
        {"resnet101", 141, 105, 2, 33, 0, 0, 0, 0, 7801405440, 44442816, 2, 44549160},
        {"inception-v3", 121, 95, 14, 0, 11, 46, 0, 0, 5713216096, 23799136, 2, 23834568},
        {"mobilenet-v2", 65, 53, 1, 10, 0, 0, 0, 0, 300774272, 3469760, 2, 3504872},
        {"mnasnet-b1", 65, 53, 1, 10, 0, 0, 0, 0, 314415872, 4344392, 2, 4383312},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_graph graph;
        load(cases[i].name, NULL, &graph);
        assert_string_equal(graph.name, cases[i].name);
        assert_int_equal(graph.n_nodes, cases[i].nodes);
        assert_int_equal(count(&graph, SX_OP_EINSUM, NULL), cases[i].einsums);
        assert_int_equal(count(&graph, SX_OP_POOL, NULL), cases[i].pools);
        assert_int_equal(count(&graph, SX_OP_ELEMENT_WISE, NULL), cases[i].adds);
        assert_int_equal(count(&graph, SX_OP_ELEMENT_WISE, "add"), cases[i].adds);
        assert_int_equal(count(&graph, SX_OP_CONCAT, NULL), cases[i].concats);
        assert_int_equal(count(&graph, SX_OP_NORM, NULL), cases[i].norms);
        assert_int_equal(count(&graph, SX_OP_RESHAPE, NULL), cases[i].reshapes);
        assert_int_equal(count(&graph, SX_OP_SOFTMAX, NULL), 1);
        assert_int_equal(edges(&graph),
                         cases[i].nodes - 1 + cases[i].adds + cases[i].joined - cases[i].concats);
        assert_int_equal(computes(&graph), cases[i].computes);
        assert_int_equal(weights(&graph), cases[i].weights);
        assert_int_equal(weights(&graph) + extras(&graph, cases[i].extra), cases[i].parameters);
        sx_graph_fini(&graph);
    }
}

/* GPT-2 as published: 124,439,808 parameters with 9 biases and 4 vectors of normalisations in a layer, which are no
 * weights here, and 2 at the end; the table of words is the matrix of the head, too. */
static void gpt2(void **state) {
    (void)state;
    enum { LAYERS = 12, HIDDEN = 768, WORDS = 128, VOCABULARY = 50257 };
    sx_graph graph;
    load("gpt2-128", NULL, &graph);
    assert_int_equal(graph.n_nodes, 3 + 15 * LAYERS + 2);
    assert_int_equal(count(&graph, SX_OP_EINSUM, NULL), 8 * LAYERS + 1);
    assert_int_equal(weights(&graph) + (13 * LAYERS + 2) * HIDDEN, 124439808);
    assert_int_equal(computes(&graph), LAYERS * UINT64_C(2) * HIDDEN * WORDS * (6 * HIDDEN + WORDS) +
                                           UINT64_C(1) * VOCABULARY * HIDDEN * WORDS);
    sx_graph_fini(&graph);
}

/* FSRCNN(56, 12, 4) as published: 12,464 weights; each is used once for each of 640 x 360 places. */
static void fsrcnn(void **state) {
    (void)state;
    sx_graph graph;
    load("fsrcnn", NULL, &graph);
    assert_int_equal(graph.n_nodes, 9);
    assert_int_equal(weights(&graph), 12464);
    assert_int_equal(computes(&graph), UINT64_C(12464) * 640 * 360);
    sx_graph_fini(&graph);
}

/* An encoder layer: eight products, a softmax, four element-wise nodes, two normalisations. Before them three
 * tables, two additions and a normalisation, after them the pooler: a slice, a product, a tanh. 9 biases and 4
 * vectors of normalisations in an encoder layer, 2 vectors of the embeddings and the bias of the pooler, each
 * as long as a word's features, are no weights here; with them, these are the published counts. */
static void bert(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint64_t layers, hidden, words, parameters;
    } cases[] = {{"bert-base", 12, 768, 512, 109482240},
                 {"bert-large", 24, 1024, 512, 335141888},
                 {"bert-base-128", 12, 768, 128, 109482240}};
    for (size_t i = 0; i < 3; i++) {
        const uint64_t l = cases[i].layers, h = cases[i].hidden, w = cases[i].words;
        sx_graph graph;
        load(cases[i].name, NULL, &graph);
        assert_int_equal(graph.n_nodes, 15 * l + 9);
        assert_int_equal(count(&graph, SX_OP_EINSUM, NULL), 8 * l + 1);
        assert_int_equal(count(&graph, SX_OP_SOFTMAX, NULL), l);
        assert_int_equal(count(&graph, SX_OP_ELEMENT_WISE, "add"), 3 * l + 2);
        assert_int_equal(count(&graph, SX_OP_ELEMENT_WISE, "gelu"), l);
        assert_int_equal(count(&graph, SX_OP_NORM, "layer"), 2 * l + 1);
        assert_int_equal(count(&graph, SX_OP_OTHER, "gather"), 3);
        assert_int_equal(edges(&graph), 19 * l + 8);
        assert_int_equal(weights(&graph), 12 * l * h * h + h * h + (30522 + 512 + 2) * h);
        assert_int_equal(weights(&graph) + (13 * l + 3) * h, cases[i].parameters);
        assert_int_equal(computes(&graph), l * (12 * w * h * h + 2 * w * w * h) + h * h);
        sx_graph_fini(&graph);
    }
}

/* An encoder layer as of BERT without the mask; before them patches, the class, positions, an addition, after them a
 * normalisation, a slice, a product, a softmax. With 9 biases and 4 vectors of normalisations in a layer, 2 vectors of
 * the last normalisation, the biases of patches and classes, these are the published parameters. */
static void vit(void **state) {
    (void)state;
    const uint64_t l = 12, h = 768, w = 197;
    sx_graph graph;
    load("vit-base", NULL, &graph);
    assert_int_equal(graph.n_nodes, 14 * l + 8);
    assert_int_equal(count(&graph, SX_OP_EINSUM, NULL), 8 * l + 2);
    assert_int_equal(count(&graph, SX_OP_NORM, "layer"), 2 * l + 1);
    assert_int_equal(count(&graph, SX_OP_ELEMENT_WISE, "add"), 2 * l + 1);
    assert_int_equal(edges(&graph), 18 * l + 7);
    assert_int_equal(weights(&graph) + (13 * l + 3) * h + 1000, 86567656);
    assert_int_equal(computes(&graph), l * (12 * w * h * h + 2 * w * w * h) + 196 * h * h + 1000 * h);
    sx_graph_fini(&graph);
}

/* The node that writes the tensor which a node reads as its operand v, "" where it comes from outside. */
static const char *before(const sx_graph *graph, const char *node, size_t v) {
    size_t *producer = malloc(graph->n_tensors * sizeof *producer);
    const size_t index = sx_graph_find_node(graph, node);
    if (index == SX_NO_INDEX) fail_msg("there is no node %s", node);
    sx_graph_producers(graph, producer);
    const size_t at = producer[graph->operand[graph->node[index].first + v].tensor];
    free(producer);
    return at == SX_NO_INDEX ? "" : graph->node[at].name;
}

static void connections(void **state) {
    (void)state;
    static const struct {
        const char *network, *node;
        size_t operand;
        const char *from;
    } cases[] = {
        {"resnet50", "conv1", 2, ""},
        {"resnet50", "maxpool", 1, "conv1"},
        {"resnet50", "layer1.0.conv1", 2, "maxpool"},
        {"resnet50", "layer1.0.downsample", 2, "maxpool"},
        {"resnet50", "layer1.0.add", 1, "layer1.0.conv3"},
        {"resnet50", "layer1.0.add", 2, "layer1.0.downsample"},
        {"resnet50", "layer1.1.add", 2, "layer1.0.add"},
        {"resnet50", "avgpool", 1, "layer4.2.add"},
        {"resnet50", "softmax", 1, "fc"},
        {"alexnet", "pool1", 1, "norm1"},
        {"alexnet", "fc6", 2, "flatten"},
        {"inception-v3", "Mixed_5b.branch_pool", 2, "Mixed_5b.pool"},
        {"inception-v3", "Mixed_5b.concat", 4, "Mixed_5b.branch_pool"},
        {"inception-v3", "Mixed_6a.concat", 3, "Mixed_6a.pool"},
        {"inception-v3", "Mixed_7b.branch3x3_2a", 2, "Mixed_7b.branch3x3_1"},
        {"inception-v3", "Mixed_7b.branch3x3_2b", 2, "Mixed_7b.branch3x3_1"},
        {"inception-v3", "Mixed_7c.concat", 6, "Mixed_7c.branch_pool"},
        {"mobilenet-v2", "block3.add", 2, "block2.project"},
        {"mobilenet-v2", "block4.expand", 2, "block3.add"},
        {"bert-base", "embeddings.words", 1, ""},
        {"bert-base", "embeddings.add-types", 2, "embeddings.types"},
        {"bert-base", "embeddings.add-positions", 2, "embeddings.positions"},
        {"bert-base", "encoder0.query", 2, "embeddings.norm"},
        {"bert-base", "encoder0.attention-add", 2, "embeddings.norm"},
        {"bert-base", "pooler.first-word", 1, "encoder11.feed-forward-norm"},
        {"bert-base", "pooler", 2, "pooler.first-word"},
        {"bert-base", "encoder1.value", 2, "encoder0.feed-forward-norm"},
        {"bert-base", "encoder1.scores", 1, "encoder1.key"},
        {"bert-base", "encoder1.scores", 2, "encoder1.query"},
        {"bert-base", "encoder1.softmax", 1, "encoder1.mask"},
        {"bert-base", "encoder1.context", 1, "encoder1.value"},
        {"bert-base", "encoder1.context", 2, "encoder1.softmax"},
        {"bert-base", "encoder1.attention-add", 2, "encoder0.feed-forward-norm"},
        {"bert-base", "encoder1.feed-forward-add", 2, "encoder1.attention-norm"},
        {"vit-base", "embeddings.class", 1, "patches"},
        {"vit-base", "encoder0.query", 2, "encoder0.attention-norm"},
        {"vit-base", "encoder0.attention-add", 2, "embeddings.add-positions"},
        {"vit-base", "encoder1.softmax", 1, "encoder1.scores"},
        {"vit-base", "encoder1.feed-forward-add", 2, "encoder1.attention-add"},
        {"vit-base", "head.first-word", 1, "norm"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_graph graph;
        load(cases[i].network, NULL, &graph);
        assert_string_equal(before(&graph, cases[i].node, cases[i].operand), cases[i].from);
        sx_graph_fini(&graph);
    }
}

static void assert_shape(const sx_graph *graph, const char *tensor, size_t n_ranks, const uint64_t *extent) {
    const size_t index = sx_graph_find_tensor(graph, tensor);
    if (index == SX_NO_INDEX) fail_msg("there is no tensor %s", tensor);
    assert_int_equal(graph->tensor[index].n_ranks, n_ranks);
    assert_memory_equal(graph->tensor[index].extent, extent, n_ranks * sizeof *extent);
}
#define SHAPE(...)                                                                                           \
    sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (const uint64_t[]) {                               \
        __VA_ARGS__                                                                                          \
    }

/* Tensors have neither padding nor rows that no window reaches. */
static void shapes(void **state) {
    (void)state;
    const sx_network_options batch = {.batch = 4, .bits = 16};
    sx_graph graph;
    load("resnet50", &batch, &graph);
    assert_shape(&graph, "image", SHAPE(4, 3, 224, 224));
    assert_shape(&graph, "maxpool.out", SHAPE(4, 64, 56, 56));
    assert_shape(&graph, "layer2.0.add.out", SHAPE(4, 512, 28, 28));
    assert_shape(&graph, "layer2.0.conv2.weights", SHAPE(128, 128, 3, 3));
    assert_shape(&graph, "avgpool.out", SHAPE(4, 2048, 1, 1));
    const sx_graph_node *conv1 = &graph.node[sx_graph_find_node(&graph, "conv1")];
    assert_int_equal(graph.operand[conv1->first + 2].before[2], 3);
    assert_int_equal(graph.operand[conv1->first + 2].after[3], 3);
    for (size_t t = 0; t < graph.n_tensors; t++) assert_int_equal(graph.tensor[t].bits, 16);
    sx_graph_fini(&graph);
    load("alexnet", NULL, &graph);
    assert_shape(&graph, "conv2.weights", SHAPE(2, 48, 128, 5, 5));
    assert_shape(&graph, "conv2.out", SHAPE(1, 256, 27, 27));
    assert_shape(&graph, "pool5.out", SHAPE(1, 256, 6, 6));
    assert_shape(&graph, "flatten.out", SHAPE(1, 9216, 1, 1));
    assert_int_equal(graph.tensor[0].bits, 8);
    sx_graph_fini(&graph);
    load("mobilenet-v2", NULL, &graph);
    assert_shape(&graph, "block2.depthwise.weights", SHAPE(96, 3, 3));
    assert_shape(&graph, "block2.depthwise.out", SHAPE(1, 96, 56, 56));
    sx_graph_fini(&graph);
    load("bert-base-128", &batch, &graph);
    assert_shape(&graph, "encoder3.key.out", SHAPE(4, 768, 128));
    assert_shape(&graph, "encoder3.scores.out", SHAPE(4, 12, 128, 128));
    assert_shape(&graph, "encoder3.context.out", SHAPE(4, 768, 128));
    assert_shape(&graph, "encoder3.gelu.out", SHAPE(4, 3072, 128));
    const sx_graph_node *scores = &graph.node[sx_graph_find_node(&graph, "encoder3.scores")];
    assert_int_equal(scores->repeat, 12);
    assert_string_equal(scores->layer, "scores");
    for (size_t v = 0; v < 3; v++) assert_int_equal(graph.operand[scores->first + v].split, 1);
    sx_graph_fini(&graph);
}

/* Every network, also for training and with a batch, is sound, and its layers are those of the network. */
static void sound_in_every_form(void **state) {
    (void)state;
    const char *name;
    size_t n = 0;
    for (size_t i = 0; (name = sx_catalog_network_name(i, NULL)) && !sx_catalog_has_phases(name); i++) {
        for (unsigned form = 0; form < 6; form++, n++) {
            const sx_network_options options = {
                .batch = form & 1 ? 3 : 1, .training = form & 2, .training_step = form & 4};
            sx_graph graph;
            sx_network layers, network;
            load(name, &options, &graph);
            sx_status error = sx_graph_check(&graph);
            if (error) fail_msg("%s: %s", name, error->message);
            assert_null(sx_graph_network(&graph, &layers));
            assert_null(sx_catalog_network(name, &options, &network));
            assert_int_equal(layers.n_layers, network.n_layers);
            assert_memory_equal(layers.layer, network.layer, layers.n_layers * sizeof *layers.layer);
            sx_network_fini(&layers);
            sx_network_fini(&network);
            sx_graph_fini(&graph);
        }
    }
    assert_int_equal(n, 78);
}

/* Multiply-accumulates of the nodes that are called `ending`, "" for those of the inference. */
static uint64_t computes_of(const sx_graph *graph, const char *ending) {
    uint64_t sum = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const sx_graph_node *node = &graph->node[i];
        const char *update = strstr(node->name, ".weight_update"),
                   *data = strstr(node->name, ".data_gradient");
        const char *has = update ? update : data ? data : "";
        if (node->kind == SX_OP_EINSUM && strcmp(has, ending) == 0)
            sum += node->repeat * sx_problem_computes(&graph->einsum[node->einsum]);
    }
    return sum;
}

/* The weight updates of a network take the multiply-accumulates of its inference, and so do the data gradients
 * but for the layers that read the network's input. */
static void training_steps(void **state) {
    (void)state;
    static const struct {
        const char *name, *first; /* the layer that reads the image; NULL: none */
        uint64_t first_macs;
    } cases[] = {{"alexnet", "conv1", 105415200},    {"vgg16", "conv1_1", 86704128},
                 {"resnet18", "conv1", 118013952},   {"resnet50", "conv1", 118013952},
                 {"resnet101", "conv1", 118013952},  {"inception-v3", "Conv2d_1a_3x3", 19181664},
                 {"mobilenet-v2", "stem", 10838016}, {"mnasnet-b1", "stem", 10838016},
                 {"bert-base-128", NULL, 0},         {"bert-large", NULL, 0},
                 {"vit-base", "patches", 115605504}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_graph forward, step;
        load(cases[i].name, &(sx_network_options){.batch = 2}, &forward);
        load(cases[i].name, &(sx_network_options){.batch = 2, .training_step = true}, &step);
        const uint64_t all = computes(&forward);
        assert_int_equal(computes_of(&step, ""), all);
        assert_int_equal(computes_of(&step, ".weight_update"), all);
        assert_int_equal(computes_of(&step, ".data_gradient"), all - 2 * cases[i].first_macs);
        for (size_t n = 0; n < forward.n_nodes; n++) {
            char name[2 * SX_NAME_SIZE];
            if (forward.node[n].kind != SX_OP_EINSUM) continue;
            snprintf(name, sizeof name, "%s.weight_update", forward.node[n].name);
            assert_true(sx_graph_find_node(&step, name) != SX_NO_INDEX);
            snprintf(name, sizeof name, "%s.data_gradient", forward.node[n].name);
            bool first = cases[i].first && strcmp(forward.node[n].name, cases[i].first) == 0;
            assert_true((sx_graph_find_node(&step, name) == SX_NO_INDEX) == first);
        }
        sx_graph_fini(&forward);
        sx_graph_fini(&step);
    }
}

/* Gradients go backwards along the edges of the inference. */
static void backward_connections(void **state) {
    (void)state;
    static const struct {
        const char *network, *node;
        size_t operand;
        const char *from;
    } cases[] = {
        {"resnet50", "softmax.data_gradient", 1, ""},
        {"resnet50", "fc.weight_update", 1, "softmax.data_gradient"},
        {"resnet50", "fc.data_gradient", 2, "softmax.data_gradient"},
        {"resnet50", "fc.weight_update", 2, "avgpool"},
        {"resnet50", "layer4.2.conv3.data_gradient", 2, "avgpool.data_gradient"},
        {"resnet50", "layer4.1.add.out.gradient", 1, "avgpool.data_gradient"},
        {"resnet50", "layer4.1.add.out.gradient", 2, "layer4.2.conv1.data_gradient"},
        {"resnet50", "layer4.1.conv3.data_gradient", 2, "layer4.1.add.out.gradient"},
        {"resnet50", "conv1.weight_update", 1, "maxpool.data_gradient"},
        {"alexnet", "flatten.data_gradient", 1, "fc6.data_gradient"},
        {"inception-v3", "Mixed_5b.branch_pool.weight_update", 1, "Mixed_5b.concat.data_gradient4"},
        {"bert-base", "encoder0.scores.weight_update", 1, "encoder0.softmax.data_gradient"},
        {"bert-base", "encoder0.key.weight_update", 1, "encoder0.scores.weight_update"},
        {"bert-base", "encoder0.query.weight_update", 1, "encoder0.scores.data_gradient"},
        {"bert-base", "encoder0.value.data_gradient", 2, "encoder0.context.weight_update"},
        {"bert-base", "embeddings.words.weight_update", 1, "embeddings.norm.data_gradient"},
        {"bert-base", "embeddings.norm.data_gradient", 1, "embeddings.norm.out.gradient"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_graph graph;
        load(cases[i].network, &(sx_network_options){.training_step = true}, &graph);
        assert_string_equal(before(&graph, cases[i].node, cases[i].operand), cases[i].from);
        sx_graph_fini(&graph);
    }
}

/* An update writes the gradient of what is in the weights' place, in the shape of the weights, and reads what
 * the layer reads. */
static void weight_updates(void **state) {
    (void)state;
    const sx_network_options training = {.batch = 16, .training = true};
    sx_graph graph;
    load("resnet50", &training, &graph);
    assert_int_equal(graph.n_nodes, 54);
    assert_int_equal(edges(&graph), 0);
    assert_int_equal(weights(&graph), 0);
    assert_shape(&graph, "conv1.weights.gradient", SHAPE(3, 64, 7, 7));
    assert_shape(&graph, "conv1.out.gradient", SHAPE(16, 64, 112, 112));
    assert_shape(&graph, "image", SHAPE(16, 3, 224, 224));
    sx_graph_fini(&graph);
    load("mobilenet-v2", &training, &graph);
    assert_shape(&graph, "block2.depthwise.weights.gradient", SHAPE(96, 3, 3));
    sx_graph_fini(&graph);
    load("bert-base", &training, &graph);
    assert_int_equal(edges(&graph), 2 * 12);
    assert_string_equal(before(&graph, "encoder0.key", 1), "encoder0.scores");
    assert_string_equal(before(&graph, "encoder0.value", 1), "encoder0.context");
    assert_string_equal(before(&graph, "encoder0.query", 1), "");
    sx_graph_fini(&graph);
}

/* The ranks of the einsum's tensor in those of the graph's, as digits with '|' between ranks. */
static void assert_ranks(const sx_graph *graph, const char *node, size_t v, const char *expected) {
    const sx_graph_operand *operand = &graph->operand[graph->node[sx_graph_find_node(graph, node)].first + v];
    char text[2 * SX_MAX_RANKS + 1] = "";
    size_t n = 0, next = 0;
    for (size_t g = 0; g < graph->tensor[operand->tensor].n_ranks; g++) {
        if (g) text[n++] = '|';
        for (size_t i = 0; i < operand->n_of[g]; i++) text[n++] = (char)('0' + operand->rank[next++]);
    }
    assert_string_equal(text, expected);
}

/* Channels are those of the first group, then those of the second: the group is outermost. */
static void ranks_of_operands(void **state) {
    (void)state;
    sx_graph graph;
    load("alexnet", NULL, &graph);
    assert_ranks(&graph, "conv1", 0, "0|1|3|2");
    assert_ranks(&graph, "conv1", 2, "0|1|2|3");
    assert_ranks(&graph, "conv2", 0, "0|12|4|3");
    assert_ranks(&graph, "conv2", 1, "0|1|2|3|4");
    assert_ranks(&graph, "conv2", 2, "0|12|3|4");
    sx_graph_fini(&graph);
    load("alexnet", &(sx_network_options){.batch = 2, .training = true}, &graph);
    assert_ranks(&graph, "conv2", 0, "1|0|2|4|3");
    assert_ranks(&graph, "conv2", 1, "1|02|3|4");
    assert_ranks(&graph, "conv2", 2, "2|10|3|4");
    sx_graph_fini(&graph);
    load("bert-base-128", NULL, &graph);
    assert_ranks(&graph, "encoder0.scores", 0, "0||1|2");
    assert_ranks(&graph, "encoder0.scores", 1, "0|2|1");
    assert_ranks(&graph, "encoder0.context", 1, "0|1|2");
    assert_ranks(&graph, "encoder0.context", 2, "0||1|2");
    sx_graph_fini(&graph);
}

static void refusals(void **state) {
    (void)state;
    sx_graph graph = {.n_nodes = 77};
    sx_status error = sx_catalog_graph("resnet-50", NULL, &graph);
    assert_non_null(error);
    assert_string_equal(error->message, "there is no built-in network called 'resnet-50'");
    sx_status_free(error);
    error = sx_catalog_graph("vgg16", &(sx_network_options){.bits = 1 << 20}, &graph);
    assert_non_null(error);
    assert_string_equal(error->message,
                        "an element of tensor 'image' has 1048576 bits; 1 to 65536 are allowed");
    sx_status_free(error);
    assert_int_equal(graph.n_nodes, 77);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutional_networks),
        cmocka_unit_test(bert),
        cmocka_unit_test(vit),
        cmocka_unit_test(gpt2),
        cmocka_unit_test(fsrcnn),
        cmocka_unit_test(connections),
        cmocka_unit_test(shapes),
        cmocka_unit_test(sound_in_every_form),
        cmocka_unit_test(training_steps),
        cmocka_unit_test(backward_connections),
        cmocka_unit_test(weight_updates),
        cmocka_unit_test(ranks_of_operands),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
