/* The built-in networks: what is known of each, the plain ones (AlexNet, VGG, BERT), and how one is built. */
#include "frontend/catalog_networks.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more layer, which becomes the last with the name given; NULL after a failure. */
static sx_layer *add_layer(sx_net *net, uint64_t count, const char *name) {
    if (net->error) return NULL;
    sx_network *network = &net->network;
    if (network->n_layers == net->room) {
        size_t room = net->room ? 2 * net->room : 32;
        sx_layer *grown = realloc(network->layer, room * sizeof *grown);
        if (!grown) {
            net->error = sx_error_memory();
            return NULL;
        }
        network->layer = grown;
        net->room = room;
    }
    sx_layer *layer = &network->layer[network->n_layers];
    memset(layer, 0, sizeof *layer);
    layer->count = count;
    net->error = sx_text_name(layer->name, sizeof layer->name, name, "a layer");
    if (net->error) return NULL;
    network->n_layers++;
    return layer;
}

/* The name of a layer's problem, which is what --problem takes. */
static void problem_name(const sx_net *net, const char *layer, char name[2 * SX_NAME_SIZE]) {
    snprintf(name, 2 * SX_NAME_SIZE, "%s/%s", net->network.name, layer);
}

static void add_conv(sx_net *net, sx_conv conv, const char *name) {
    char full[2 * SX_NAME_SIZE];
    sx_layer *layer = add_layer(net, 1, name);
    if (!layer) return;
    problem_name(net, name, full);
    conv.n = net->batch;
    if (net->training) conv = sx_conv_weight_update(&conv);
    net->error = sx_layer_conv(&conv, full, &layer->problem);
}

void sx_net_conv(sx_net *net, sx_conv conv, const char *format, ...) {
    char name[SX_NAME_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    add_conv(net, conv, name);
}

void sx_net_square(sx_net *net, uint32_t c, uint32_t k, uint32_t p, uint32_t r, uint32_t stride,
                   const char *name) {
    add_conv(
        net,
        (sx_conv){.c = c, .k = k, .p = p, .q = p, .r = r, .s = r, .stride_p = stride, .stride_q = stride},
        name);
}

void sx_net_dense(sx_net *net, uint32_t c, uint32_t k, const char *name) {
    sx_net_square(net, c, k, 1, 1, 1, name);
}

void sx_net_product(sx_net *net, sx_product product, uint64_t count, const char *name) {
    char full[2 * SX_NAME_SIZE];
    sx_layer *layer = add_layer(net, count, name);
    if (!layer) return;
    problem_name(net, name, full);
    product.b = net->batch;
    if (net->training) product = sx_product_weight_update(&product);
    net->error = sx_layer_product(&product, full, &layer->problem);
}

/* Krizhevsky, Sutskever, Hinton (NIPS 2012): two groups, as on its two GPUs, in conv2, conv4 and conv5; an
 * image of 227 x 227. */
static void alexnet(sx_net *net) {
    static const struct {
        const char *name;
        sx_conv conv;
    } rows[] = {
        {"conv1", {.c = 3, .k = 96, .p = 55, .q = 55, .r = 11, .s = 11, .stride_p = 4, .stride_q = 4}},
        {"conv2", {.c = 48, .k = 128, .p = 27, .q = 27, .r = 5, .s = 5, .groups = 2}},
        {"conv3", {.c = 256, .k = 384, .p = 13, .q = 13, .r = 3, .s = 3}},
        {"conv4", {.c = 192, .k = 192, .p = 13, .q = 13, .r = 3, .s = 3, .groups = 2}},
        {"conv5", {.c = 192, .k = 128, .p = 13, .q = 13, .r = 3, .s = 3, .groups = 2}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) add_conv(net, rows[i].conv, rows[i].name);
    sx_net_dense(net, 9216, 4096, "fc6");
    sx_net_dense(net, 4096, 4096, "fc7");
    sx_net_dense(net, 4096, 1000, "fc8");
}

/* Simonyan, Zisserman (ICLR 2015), configuration D; an image of 224 x 224. */
static void vgg16(sx_net *net) {
    static const struct { uint32_t layers, k; } rows[] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};
    uint32_t c = 3, p = 224;
    for (unsigned stage = 0; stage < 5; stage++, p /= 2)
        for (unsigned i = 0; i < rows[stage].layers; i++, c = rows[stage].k)
            sx_net_conv(net, (sx_conv){.c = c, .k = rows[stage].k, .p = p, .q = p, .r = 3, .s = 3},
                        "conv%u_%u", stage + 1, i + 1);
    sx_net_dense(net, 25088, 4096, "fc6");
    sx_net_dense(net, 4096, 4096, "fc7");
    sx_net_dense(net, 4096, 1000, "fc8");
}

/* Devlin et al. (NAACL 2019): the matrix products of the encoder, each as often as there are layers; those of
 * attention, between two activations, as often as there are layers and heads. */
static void bert(sx_net *net, uint32_t hidden, uint32_t layers) {
    enum { HEAD = 64 };
    const uint32_t words = net->words ? net->words : 512, heads = hidden / HEAD;
    const struct {
        const char *name;
        uint32_t m, k;
        bool paired;
    } rows[] = {
        {"query", hidden, hidden, false},
        {"key", hidden, hidden, false},
        {"value", hidden, hidden, false},
        {"scores", words, HEAD, true},
        {"context", HEAD, words, true},
        {"projection", hidden, hidden, false},
        {"feed-forward-in", 4 * hidden, hidden, false},
        {"feed-forward-out", hidden, 4 * hidden, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        sx_net_product(net,
                       (sx_product){.m = rows[i].m, .k = rows[i].k, .n = words, .paired = rows[i].paired},
                       rows[i].paired ? (uint64_t)layers * heads : layers, rows[i].name);
}

static void bert_base(sx_net *net) {
    bert(net, 768, 12);
}

static void bert_large(sx_net *net) {
    bert(net, 1024, 24);
}

static const struct {
    const char *name, *about;
    void (*build)(sx_net *net);
    bool reads; /* a text, whose length may follow the name: bert-base-128 */
} entries[] = {
    {"alexnet", "AlexNet, 227 x 227, conv2, conv4, conv5 in two groups as published", alexnet, false},
    {"vgg16", "VGG-16, 224 x 224", vgg16, false},
    {"resnet18", "ResNet-18, 224 x 224", sx_net_resnet18, false},
    {"resnet50", "ResNet-50, 224 x 224, strides in the 3x3 convolutions", sx_net_resnet50, false},
    {"resnet101", "ResNet-101, 224 x 224, strides in the 3x3 convolutions", sx_net_resnet101, false},
    {"inception-v3", "Inception v3, 299 x 299, without the auxiliary classifier", sx_net_inception_v3, false},
    {"mobilenet-v2", "MobileNet v2 of width 1.0, 224 x 224", sx_net_mobilenet_v2, false},
    {"mnasnet-b1", "MnasNet-B1 of width 1.0, 224 x 224", sx_net_mnasnet_b1, false},
    {"bert-base", "BERT-base's encoder, 512 words (bert-base-128: 128 words)", bert_base, true},
    {"bert-large", "BERT-large's encoder, 512 words (bert-large-128: 128 words)", bert_large, true},
};
enum { N_ENTRIES = sizeof entries / sizeof *entries, MAX_WORDS = 1 << 20 };

const char *sx_catalog_network_name(size_t index, const char **about) {
    if (index >= N_ENTRIES) return NULL;
    if (about) *about = entries[index].about;
    return entries[index].name;
}

/* Whether `name` is the entry's, or the entry's with a number of words (then *words is that number). */
static bool names_entry(const char *name, size_t index, uint32_t *words) {
    const size_t size = strlen(entries[index].name);
    char *end;
    *words = 0;
    if (strncmp(name, entries[index].name, size) != 0) return false;
    if (!name[size]) return true;
    if (!entries[index].reads || name[size] != '-' || name[size + 1] < '1' || name[size + 1] > '9')
        return false;
    unsigned long number = strtoul(name + size + 1, &end, 10);
    *words = (uint32_t)number;
    return !*end && number <= MAX_WORDS;
}

static sx_status find_entry(const char *name, size_t *index, uint32_t *words) {
    const char *known[N_ENTRIES];
    for (*index = 0; *index < N_ENTRIES; ++*index) {
        if (names_entry(name, *index, words)) return SX_OK;
        known[*index] = entries[*index].name;
    }
    sx_status error = sx_error_new(SX_ERR_USAGE, "there is no built-in network called '%.64s'", name);
    const char *nearest = sx_text_nearest(name, known, N_ENTRIES);
    return nearest ? sx_error_hint(error, "did you mean '%s'?", nearest) : error;
}

sx_status sx_catalog_network(const char *name, const sx_network_options *options, sx_network *out) {
    sx_net net;
    size_t index;
    memset(&net, 0, sizeof net);
    net.batch = options && options->batch ? options->batch : 1;
    net.training = options && options->training;
    SX_TRY(find_entry(name, &index, &net.words));
    SX_TRY(sx_text_name(net.network.name, sizeof net.network.name, name, "a network"));
    entries[index].build(&net);
    if (net.error)
        sx_network_fini(&net.network);
    else
        *out = net.network;
    return net.error;
}
