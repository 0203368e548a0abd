/* The built-in networks: what is known of each, the plain ones (AlexNet, VGG), and how one is made. */
#include "frontend/catalog/networks.h"

#include "base/text.h"
#include "frontend/catalog/catalog.h"
#include "frontend/catalog/models.h"

#include <stdlib.h>
#include <string.h>

/* The three fully connected layers with which the older networks end. */
static void classify_wide(sx_net *net, size_t in) {
    size_t at = sx_net_flatten(net, in, "flatten");
    at = sx_net_dense(net, at, 4096, "fc6");
    at = sx_net_dense(net, at, 4096, "fc7");
    sx_net_classify(net, at, 1000, "fc8");
}

/* Krizhevsky, Sutskever, Hinton (NIPS 2012): two groups, as on its two GPUs, in conv2, conv4 and conv5; an
 * image of 227 x 227. */
static void build_alexnet(sx_net *net) {
    static const struct {
        const char *name, *norm, *pool;
        sx_filter filter;
    } rows[] = {
        {"conv1", "norm1", "pool1", {.k = 96, .r = 11, .stride = 4}},
        {"conv2", "norm2", "pool2", {.k = 256, .r = 5, .pad_r = 2, .pad_s = 2, .groups = 2}},
        {"conv3", NULL, NULL, {.k = 384, .r = 3, .pad_r = 1, .pad_s = 1}},
        {"conv4", NULL, NULL, {.k = 384, .r = 3, .pad_r = 1, .pad_s = 1, .groups = 2}},
        {"conv5", NULL, "pool5", {.k = 256, .r = 3, .pad_r = 1, .pad_s = 1, .groups = 2}},
    };
    size_t at = sx_net_image(net, 227);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sx_graph_node norm = {.kind = SX_OP_NORM, .function = "local-response", .axis = 1};
        at = sx_net_conv(net, at, rows[i].filter, "%s", rows[i].name);
        if (rows[i].norm) strcpy(norm.name, rows[i].norm);
        if (rows[i].norm) at = sx_net_other(net, &norm, &at, 1);
        if (rows[i].pool) at = sx_net_pool(net, at, (sx_filter){.r = 3, .stride = 2}, "max", rows[i].pool);
    }
    classify_wide(net, at);
}

/* Simonyan, Zisserman (ICLR 2015), configuration D; an image of 224 x 224. */
static void build_vgg16(sx_net *net) {
    static const struct { uint32_t layers, k; } rows[] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};
    size_t at = sx_net_image(net, 224);
    for (unsigned stage = 0; stage < 5; stage++) {
        const sx_filter filter = {.k = rows[stage].k, .r = 3, .pad_r = 1, .pad_s = 1};
        const char name[] = {'p', 'o', 'o', 'l', (char)('1' + stage), 0};
        for (unsigned i = 0; i < rows[stage].layers; i++)
            at = sx_net_conv(net, at, filter, "conv%u_%u", stage + 1, i + 1);
        at = sx_net_pool(net, at, (sx_filter){.r = 2, .stride = 2}, "max", name);
    }
    classify_wide(net, at);
}

static const struct {
    const char *name, *about;
    void (*build)(sx_net *net);
    bool reads; /* a text, whose length may follow the name: bert-base-128 */
} entries[] = {
    {"alexnet", "AlexNet, 227 x 227, conv2, conv4, conv5 in two groups as published", build_alexnet, false},
    {"vgg16", "VGG-16, 224 x 224", build_vgg16, false},
    {"resnet18", "ResNet-18, 224 x 224", sx_net_resnet18, false},
    {"resnet50", "ResNet-50, 224 x 224, strides in the 3x3 convolutions", sx_net_resnet50, false},
    {"resnet101", "ResNet-101, 224 x 224, strides in the 3x3 convolutions", sx_net_resnet101, false},
    {"inception-v3", "Inception v3, 299 x 299, without the auxiliary classifier", sx_net_inception_v3, false},
    {"mobilenet-v2", "MobileNet v2 of width 1.0, 224 x 224", sx_net_mobilenet_v2, false},
    {"mnasnet-b1", "MnasNet-B1 of width 1.0, 224 x 224", sx_net_mnasnet_b1, false},
    {"bert-base", "BERT-base with embeddings and pooler, 512 words (bert-base-128: 128 words)",
     sx_net_bert_base, true},
    {"bert-large", "BERT-large with embeddings and pooler, 512 words (bert-large-128: 128 words)",
     sx_net_bert_large, true},
    {"vit-base", "Vision transformer ViT-B/16, 224 x 224", sx_net_vit_base, false},
    {"gpt2", "GPT-2 small, a prompt of 1,024 words (gpt2-128: 128 words)", sx_net_gpt2, true},
    {"fsrcnn", "FSRCNN, super-resolution of 640 x 360 by 3", sx_net_fsrcnn, false},
};
enum { N_ENTRIES = sizeof entries / sizeof *entries, MAX_WORDS = 1 << 20, MOST_NETWORKS = 128 };

const char *sx_catalog_network_name(size_t index, const char **about) {
    if (index >= N_ENTRIES) return sx_catalog_model_name(index - N_ENTRIES, about);
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

bool sx_catalog_knows_network(const char *name) {
    uint32_t words;
    for (size_t i = 0; i < N_ENTRIES; i++)
        if (names_entry(name, i, &words)) return true;
    return sx_catalog_has_phases(name);
}

static sx_status find_entry(const char *name, size_t *index, uint32_t *words) {
    const char *known[MOST_NETWORKS], *model;
    size_t n = N_ENTRIES;
    for (*index = 0; *index < N_ENTRIES; ++*index) {
        if (names_entry(name, *index, words)) return SX_OK;
        known[*index] = entries[*index].name;
    }
    for (size_t i = 0; n < MOST_NETWORKS && (model = sx_catalog_model_name(i, NULL)); i++) known[n++] = model;
    sx_status error = sx_error_new(SX_ERR_USAGE, "there is no built-in network called '%.64s'", name);
    const char *nearest = sx_text_nearest(name, known, n);
    return nearest ? sx_error_hint(error, "did you mean '%s'?", nearest)
                   : sx_error_hint(error, "`sextant list networks` lists them");
}

/* Refuses what is said of tokens for a network without phases. */
static sx_status refuse_phase(const char *name, const sx_network_options *o) {
    if (!o || !(o->phase || o->tokens || o->has_context || o->all_logits || o->balanced || o->experts_hit ||
                o->mla || o->causal_skip))
        return SX_OK;
    return sx_error_hint(
        sx_error_new(SX_ERR_USAGE, "%s has no phases, tokens and experts to choose", name),
        "`sextant list networks` lists language models; a length may follow bert-base and gpt2, as in "
        "gpt2-128");
}

sx_status sx_catalog_graph(const char *name, const sx_network_options *options, sx_graph *out) {
    sx_net net;
    size_t index;
    if (sx_catalog_has_phases(name)) return sx_catalog_model_graph(name, options, out);
    memset(&net, 0, sizeof net);
    SX_TRY(refuse_phase(name, options));
    net.batch = options && options->batch ? options->batch : 1;
    net.bits = options && options->bits ? options->bits : 8;
    SX_TRY(find_entry(name, &index, &net.words));
    SX_TRY(sx_text_name(net.graph.name, sizeof net.graph.name, name, "a network"));
    entries[index].build(&net);
    if (options && options->training_step)
        sx_net_backward(&net);
    else if (options && options->training)
        sx_net_train(&net);
    return sx_net_finish(&net, out);
}

sx_status sx_catalog_network(const char *name, const sx_network_options *options, sx_network *out) {
    sx_graph graph;
    SX_TRY(sx_catalog_graph(name, options, &graph));
    sx_status status = sx_graph_network(&graph, out);
    sx_graph_fini(&graph);
    return status;
}
