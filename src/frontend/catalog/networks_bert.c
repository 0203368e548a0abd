/* Transformers. Devlin et al. (NAACL 2019): the embeddings of words, token types and positions, the encoder, and the
 * pooler over the first word. Dosovitskiy et al. (ICLR 2021): patches of an image as words after one for the class,
 * positions, an encoder that normalises before its layers and has no mask, and the classifier over the first word. Radford
 * et al. (2019), GPT-2: words and positions, the same encoder with a mask of later words, and scores of all words of the
 * vocabulary after each word, by the table of words. The
 * layers of the encoder are one layer of the network each; the products of attention
 * are repeated for each head, on features of its own. The scaling of the scores is part of their product. */
#include "frontend/catalog/networks.h"

#include <stdio.h>
#include <string.h>

enum { HEAD = 64 };

/* Where an encoder layer is built. */
typedef struct encoder {
    sx_net *net;
    unsigned layer;
    uint32_t hidden, words;
    size_t mask; /* SX_NO_INDEX: none */
} encoder;

/* The name of a node of this layer. */
static const char *node_name(const encoder *e, const char *name, char full[SX_NAME_SIZE]) {
    snprintf(full, SX_NAME_SIZE, "encoder%u.%s", e->layer, name);
    return full;
}

/* A product of weights, m features from k. */
static size_t project_features(const encoder *e, size_t in, uint32_t m, uint32_t k, const char *name) {
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
static size_t add_plain(const encoder *e, sx_op_kind kind, const char *function, int axis, const size_t *in,
                        size_t n, const char *name) {
    sx_graph_node node = {.kind = kind, .axis = axis};
    node_name(e, name, node.name);
    snprintf(node.layer, sizeof node.layer, "%s", name);
    snprintf(node.function, sizeof node.function, "%s", function);
    return sx_net_other(e->net, &node, in, n);
}

/* The sum of two tensors and its normalisation over the features of a word. */
static size_t add_and_norm(const encoder *e, size_t a, size_t b, const char *add, const char *norm) {
    const size_t sum = add_plain(e, SX_OP_ELEMENT_WISE, "add", -1, (const size_t[]){a, b}, 2, add);
    return add_plain(e, SX_OP_NORM, "layer", 1, &sum, 1, norm);
}

/* Attention: scores are (batch, head, word of the key, word of the query). */
static size_t add_attention(const encoder *e, size_t in) {
    const uint32_t heads = e->hidden / HEAD;
    char full[SX_NAME_SIZE];
    const size_t query = project_features(e, in, e->hidden, e->hidden, "query");
    const size_t key = project_features(e, in, e->hidden, e->hidden, "key");
    const size_t value = project_features(e, in, e->hidden, e->hidden, "value");
    const sx_net_product scores = {.product = {.m = e->words, .k = HEAD, .n = e->words, .paired = true},
                                   .in = query,
                                   .weights = key,
                                   .repeat = heads,
                                   .ranks = {"B||M|N", "B|K|M", "B|K|N"},
                                   .split = {1, 1, 1},
                                   .layer = "scores"};
    const size_t score = sx_net_product_of(e->net, &scores, node_name(e, "scores", full));
    const size_t masked = e->mask == SX_NO_INDEX ? score
                                                 : add_plain(e, SX_OP_ELEMENT_WISE, "add", -1,
                                                             (const size_t[]){score, e->mask}, 2, "mask");
    const size_t weight = add_plain(e, SX_OP_SOFTMAX, "", 2, &masked, 1, "softmax");
    const sx_net_product context = {.product = {.m = HEAD, .k = e->words, .n = e->words, .paired = true},
                                    .in = weight,
                                    .weights = value,
                                    .repeat = heads,
                                    .ranks = {"B|M|N", "B|M|K", "B||K|N"},
                                    .split = {1, 1, 1},
                                    .layer = "context"};
    const size_t joined = sx_net_product_of(e->net, &context, node_name(e, "context", full));
    return project_features(e, joined, e->hidden, e->hidden, "projection");
}

/* The two dense layers of an encoder layer. */
static size_t feed_forward(const encoder *e, size_t in) {
    const size_t wide = project_features(e, in, 4 * e->hidden, e->hidden, "feed-forward-in");
    const size_t gelu = add_plain(e, SX_OP_ELEMENT_WISE, "gelu", -1, &wide, 1, "gelu");
    return project_features(e, gelu, e->hidden, 4 * e->hidden, "feed-forward-out");
}

static size_t add_layer(const encoder *e, size_t in) {
    const size_t attention = add_and_norm(e, add_attention(e, in), in, "attention-add", "attention-norm");
    return add_and_norm(e, feed_forward(e, attention), attention, "feed-forward-add", "feed-forward-norm");
}

/* An encoder layer that normalises what its parts read. */
static size_t encode_normalised(const encoder *e, size_t in) {
    const size_t read = add_plain(e, SX_OP_NORM, "layer", 1, &in, 1, "attention-norm");
    const size_t attention = add_plain(e, SX_OP_ELEMENT_WISE, "add", -1,
                                       (const size_t[]){add_attention(e, read), in}, 2, "attention-add");
    const size_t wide = add_plain(e, SX_OP_NORM, "layer", 1, &attention, 1, "feed-forward-norm");
    return add_plain(e, SX_OP_ELEMENT_WISE, "add", -1, (const size_t[]){feed_forward(e, wide), attention}, 2,
                     "feed-forward-add");
}

/* Rows of a table of weights, one for each word: by the numbers in a tensor, or (SX_NO_INDEX) the first ones. */
static size_t look_up(const encoder *e, const char *name, uint64_t rows, size_t numbers) {
    const size_t table = sx_net_weights(e->net, name, 2, (const uint64_t[]){rows, e->hidden});
    const bool all = numbers == SX_NO_INDEX;
    sx_graph_node node = {.kind = SX_OP_OTHER, .function = "gather"};
    snprintf(node.name, sizeof node.name, "%.*s", (int)(strlen(name) - strlen(".weights")), name);
    return sx_net_shaped(e->net, &node, 3, (const uint64_t[]){all ? 1 : e->net->batch, e->hidden, e->words},
                         (const size_t[]){table, numbers}, all ? 1 : 2);
}

/* The sum of the three embeddings, normalised. */
static size_t add_embedding(const encoder *e) {
    enum { VOCABULARY = 30522, TYPES = 2, POSITIONS = 512 };
    const uint64_t shape[] = {e->net->batch, e->words};
    const sx_graph_node norm = {
        .kind = SX_OP_NORM, .name = "embeddings.norm", .function = "layer", .axis = 1};
    const size_t tokens = sx_net_tensor(e->net, "tokens", 2, shape);
    const size_t types = sx_net_tensor(e->net, "token-types", 2, shape);
    const size_t words = look_up(e, "embeddings.words.weights", VOCABULARY, tokens);
    const size_t kinds = look_up(e, "embeddings.types.weights", TYPES, types);
    const size_t places =
        look_up(e, "embeddings.positions.weights", e->words > POSITIONS ? e->words : POSITIONS, SX_NO_INDEX);
    const size_t sum = sx_net_add(e->net, words, kinds, "embeddings.add-types");
    const size_t all = sx_net_add(e->net, sum, places, "embeddings.add-positions");
    return sx_net_other(e->net, &norm, &all, 1);
}

/* A dense layer over the first word, which stands for the whole text or image. */
static size_t read_first(const encoder *e, size_t in, uint32_t m, const char *word, const char *name) {
    sx_graph_node slice = {.kind = SX_OP_OTHER, .function = "slice"};
    snprintf(slice.name, sizeof slice.name, "%s", word);
    const sx_net_product p = {
        .product = {.m = m, .k = e->hidden, .n = 1},
        .in = sx_net_shaped(e->net, &slice, 3, (const uint64_t[]){e->net->batch, e->hidden, 1}, &in, 1),
        .weights = SX_NO_INDEX,
        .ranks = {"B|M|N", "M|K", "B|K|N"},
        .split = {-1, -1, -1},
        .layer = name};
    return sx_net_product_of(e->net, &p, name);
}

static void build_bert(sx_net *net, uint32_t hidden, unsigned layers) {
    const uint32_t words = net->words ? net->words : 512;
    const sx_graph_node tanh = {.kind = SX_OP_ELEMENT_WISE, .name = "pooler.tanh", .function = "tanh"};
    encoder e = {.net = net, .hidden = hidden, .words = words};
    size_t at = add_embedding(&e);
    e.mask = sx_net_tensor(net, "mask", 4, (const uint64_t[]){net->batch, 1, words, 1});
    for (; e.layer < layers; e.layer++) at = add_layer(&e, at);
    at = read_first(&e, at, hidden, "pooler.first-word", "pooler");
    (void)sx_net_other(net, &tanh, &at, 1);
}

void sx_net_bert_base(sx_net *net) {
    build_bert(net, 768, 12);
}

void sx_net_bert_large(sx_net *net) {
    build_bert(net, 1024, 24);
}

/* The words of an image: one for the class, then the patches; and their positions. */
static size_t embed_patches(const encoder *e, uint32_t pixels, uint32_t patch) {
    const sx_graph_node join = {.kind = SX_OP_OTHER, .name = "embeddings.class", .function = "reshape"};
    const size_t image = sx_net_image(e->net, pixels);
    const size_t patches =
        sx_net_conv(e->net, image, (sx_filter){.k = e->hidden, .r = patch, .stride = patch}, "patches");
    const size_t first =
        sx_net_weights(e->net, "embeddings.class.weights", 2, (const uint64_t[]){1, e->hidden});
    const size_t words =
        sx_net_shaped(e->net, &join, 3, (const uint64_t[]){e->net->batch, e->hidden, e->words},
                      (const size_t[]){patches, first}, 2);
    const size_t places = look_up(e, "embeddings.positions.weights", e->words, SX_NO_INDEX);
    return sx_net_add(e->net, words, places, "embeddings.add-positions");
}

void sx_net_vit_base(sx_net *net) {
    enum { PIXELS = 224, PATCH = 16, SIDE = PIXELS / PATCH, LAYERS = 12, CLASSES = 1000 };
    const sx_graph_node norm = {.kind = SX_OP_NORM, .name = "norm", .function = "layer", .axis = 1},
                        softmax = {.kind = SX_OP_SOFTMAX, .name = "softmax", .axis = 1};
    encoder e = {.net = net, .hidden = 768, .words = SIDE * SIDE + 1, .mask = SX_NO_INDEX};
    size_t at = embed_patches(&e, PIXELS, PATCH);
    for (; e.layer < LAYERS; e.layer++) at = encode_normalised(&e, at);
    at = sx_net_other(net, &norm, &at, 1);
    at = read_first(&e, at, CLASSES, "head.first-word", "head");
    (void)sx_net_other(net, &softmax, &at, 1);
}

void sx_net_gpt2(sx_net *net) {
    enum { VOCABULARY = 50257, POSITIONS = 1024, LAYERS = 12 };
    const sx_graph_node norm = {.kind = SX_OP_NORM, .name = "norm", .function = "layer", .axis = 1};
    encoder e = {.net = net, .hidden = 768, .words = net->words ? net->words : POSITIONS};
    const size_t tokens = sx_net_tensor(net, "tokens", 2, (const uint64_t[]){net->batch, e.words});
    const size_t words = look_up(&e, "embeddings.words.weights", VOCABULARY, tokens);
    const size_t table = sx_graph_find_tensor(&net->graph, "embeddings.words.weights");
    const size_t places =
        look_up(&e, "embeddings.positions.weights", e.words > POSITIONS ? e.words : POSITIONS, SX_NO_INDEX);
    size_t at = sx_net_add(net, words, places, "embeddings.add-positions");
    e.mask = sx_net_tensor(net, "mask", 4, (const uint64_t[]){1, 1, e.words, e.words});
    for (; e.layer < LAYERS; e.layer++) at = encode_normalised(&e, at);
    const sx_net_product head = {.product = {.m = VOCABULARY, .k = e.hidden, .n = e.words},
                                 .in = sx_net_other(net, &norm, &at, 1),
                                 .weights = table,
                                 .ranks = {"B|M|N", "M|K", "B|K|N"},
                                 .split = {-1, -1, -1},
                                 .layer = "head"};
    (void)sx_net_product_of(net, &head, "head");
}
