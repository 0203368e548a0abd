/* Devlin et al. (NAACL 2019): the encoder, from the embeddings to the last normalisation. Its layers are one
 * layer of the network each; the products of attention are repeated for each head, on features of its own.
 * The scaling of the scores is part of their product. */
#include "frontend/catalog/networks.h"

#include <stdio.h>

enum { HEAD = 64 };

/* Where an encoder layer is built. */
typedef struct encoder {
    sx_net *net;
    unsigned layer;
    uint32_t hidden, words;
    size_t mask;
} encoder;

/* The name of a node of this layer. */
static const char *node_name(const encoder *e, const char *name, char full[SX_NAME_SIZE]) {
    snprintf(full, SX_NAME_SIZE, "encoder%u.%s", e->layer, name);
    return full;
}

/* A product of weights, m features from k. */
static size_t project(const encoder *e, size_t in, uint32_t m, uint32_t k, const char *name) {
    char full[SX_NAME_SIZE];
    const sx_net_product p = {.product = {.m = m, .k = k, .n = e->words},
                              .in = in,
                              .weights = SX_NO_INDEX,
                              .ranks = {"B|M|N", "M|K", "B|K|N"},
                              .split = {-1, -1, -1},
                              .layer = name};
    return sx_net_product_of(e->net, &p, node_name(e, name, full));
}

/* A node without an einsum. */
static size_t plain(const encoder *e, sx_op_kind kind, const char *function, int axis, const size_t *in,
                    size_t n, const char *name) {
    sx_graph_node node = {.kind = kind, .axis = axis};
    node_name(e, name, node.name);
    snprintf(node.layer, sizeof node.layer, "%s", name);
    snprintf(node.function, sizeof node.function, "%s", function);
    return sx_net_other(e->net, &node, in, n);
}

/* The sum of two tensors and its normalisation over the features of a word. */
static size_t add_and_norm(const encoder *e, size_t a, size_t b, const char *add, const char *norm) {
    const size_t sum = plain(e, SX_OP_ELEMENT_WISE, "add", -1, (const size_t[]){a, b}, 2, add);
    return plain(e, SX_OP_NORM, "layer", 1, &sum, 1, norm);
}

/* Attention: scores are (batch, head, word of the key, word of the query). */
static size_t attend(const encoder *e, size_t in) {
    const uint32_t heads = e->hidden / HEAD;
    char full[SX_NAME_SIZE];
    const size_t query = project(e, in, e->hidden, e->hidden, "query");
    const size_t key = project(e, in, e->hidden, e->hidden, "key");
    const size_t value = project(e, in, e->hidden, e->hidden, "value");
    const sx_net_product scores = {.product = {.m = e->words, .k = HEAD, .n = e->words, .paired = true},
                                   .in = query,
                                   .weights = key,
                                   .repeat = heads,
                                   .ranks = {"B||M|N", "B|K|M", "B|K|N"},
                                   .split = {1, 1, 1},
                                   .layer = "scores"};
    const size_t score = sx_net_product_of(e->net, &scores, node_name(e, "scores", full));
    const size_t masked =
        plain(e, SX_OP_ELEMENT_WISE, "add", -1, (const size_t[]){score, e->mask}, 2, "mask");
    const size_t weight = plain(e, SX_OP_SOFTMAX, "", 2, &masked, 1, "softmax");
    const sx_net_product context = {.product = {.m = HEAD, .k = e->words, .n = e->words, .paired = true},
                                    .in = weight,
                                    .weights = value,
                                    .repeat = heads,
                                    .ranks = {"B|M|N", "B|M|K", "B||K|N"},
                                    .split = {1, 1, 1},
                                    .layer = "context"};
    const size_t joined = sx_net_product_of(e->net, &context, node_name(e, "context", full));
    return project(e, joined, e->hidden, e->hidden, "projection");
}

static size_t encode(const encoder *e, size_t in) {
    const size_t attention = add_and_norm(e, attend(e, in), in, "attention-add", "attention-norm");
    const size_t wide = project(e, attention, 4 * e->hidden, e->hidden, "feed-forward-in");
    const size_t gelu = plain(e, SX_OP_ELEMENT_WISE, "gelu", -1, &wide, 1, "gelu");
    const size_t out = project(e, gelu, e->hidden, 4 * e->hidden, "feed-forward-out");
    return add_and_norm(e, out, attention, "feed-forward-add", "feed-forward-norm");
}

static void bert(sx_net *net, uint32_t hidden, unsigned layers) {
    const uint32_t words = net->words ? net->words : 512;
    encoder e = {.net = net, .hidden = hidden, .words = words};
    size_t at = sx_net_tensor(net, "embeddings", 3, (const uint64_t[]){net->batch, hidden, words});
    e.mask = sx_net_tensor(net, "mask", 4, (const uint64_t[]){net->batch, 1, words, 1});
    for (; e.layer < layers; e.layer++) at = encode(&e, at);
}

void sx_net_bert_base(sx_net *net) {
    bert(net, 768, 12);
}

void sx_net_bert_large(sx_net *net) {
    bert(net, 1024, 24);
}
