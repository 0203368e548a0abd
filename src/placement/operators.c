/* The operators that a framework runs for a transformer, as an exported model has them. BERT-base has 376:
 *   6  embeddings: three lookups, two additions, a normalisation
 *   4  the attention mask: unsqueeze, cast, subtract, multiply
 *   12 encoders of 30: query, key and value (product, bias, reshape, transpose each), scores (product, scale),
 *      mask, softmax, context (product, transpose, reshape), projection (product, bias), addition,
 *      normalisation, the feed-forward layers (product, bias, gelu, product, bias), addition, normalisation
 *   4  pooler: slice, product, bias, tanh
 *   2  classifier with two classes: product, bias */
#include "placement/build.h"

#include <string.h>

enum { CLASSES = 2 };

/* Whether node number `at` reads a tensor of the graph that is neither computed nor a weight. */
static bool reads_mask(const sx_place_build *build, const sx_graph_node *node) {
    for (size_t i = node->first; i < node->first + node->n_operands; i++) {
        size_t tensor = build->graph->operand[i].tensor;
        if (!build->graph->operand[i].written && build->made[tensor] == SX_NO_INDEX &&
            !build->graph->tensor[tensor].weight)
            return true;
    }
    return false;
}

/* Appends the four operators that prepare the mask; returns the last. */
static size_t add_mask(sx_place_build *build, const sx_place_node *like) {
    sx_place_node node = {.name = "mask.unsqueeze", .op = SX_CLASS_OTHER};
    double words = like->feature[SX_FEATURE_OFM], batch = like->feature[SX_FEATURE_BATCH];
    node.activation_bytes = (uint64_t)(words * batch) * (build->bytes ? build->bytes : 1);
    node.ops = (uint64_t)(words * batch);
    node.feature[SX_FEATURE_OFM] = node.feature[SX_FEATURE_IFM] = words;
    for (int i = 1; i < 3; i++) node.feature[SX_FEATURE_OFM + i] = node.feature[SX_FEATURE_IFM + i] = 1;
    node.feature[SX_FEATURE_OFM_SIZE] = node.feature[SX_FEATURE_IFM_SIZE] = words;
    node.feature[SX_FEATURE_BATCH] = batch;
    size_t at = sx_place_add(build, &node, NULL, 0);
    at = sx_place_add_step(build, "mask", "cast", SX_CLASS_ELEMENT_WISE, at, 0);
    at = sx_place_add_step(build, "mask", "subtract", SX_CLASS_ELEMENT_WISE, at, 0);
    return sx_place_add_step(build, "mask", "multiply", SX_CLASS_ELEMENT_WISE, at, 0);
}

/* Appends the classifier behind the pooler. */
static void add_classifier(sx_place_build *build, size_t pooled) {
    if (build->node.failed) return;
    sx_place_node node = *(const sx_place_node *)sx_vector_at(&build->node, pooled);
    const uint64_t size = build->bytes ? build->bytes : 1, batch = (uint64_t)node.feature[SX_FEATURE_BATCH];
    const uint64_t features = (uint64_t)node.feature[SX_FEATURE_OFM + 2];
    memset(node.name, 0, sizeof node.name);
    memcpy(node.name, "classifier", sizeof "classifier");
    node.op = SX_CLASS_MATMUL;
    node.ops = batch * features * CLASSES;
    node.weight_bytes = node.weight_read = features * CLASSES * size;
    node.activation_bytes = batch * CLASSES * size;
    node.feature[SX_FEATURE_OFM + 2] = node.feature[SX_FEATURE_OFM_SIZE] = CLASSES;
    size_t at = sx_place_add(build, &node, &pooled, 1);
    (void)sx_place_add_step(build, "classifier", "bias", SX_CLASS_ELEMENT_WISE, at, CLASSES * size);
}

/* Whether a layer is one of attention's three products of weights. */
static bool splits_heads(const char *layer) {
    return strcmp(layer, "query") == 0 || strcmp(layer, "key") == 0 || strcmp(layer, "value") == 0;
}

void sx_place_add_operators(sx_place_build *build, size_t at, sx_place_node *node, const size_t *inputs,
                            size_t n) {
    const sx_graph_node *from = &build->graph->node[at];
    size_t reads[2] = {inputs[0]}, last;
    bool masks = from->kind == SX_OP_ELEMENT_WISE && strcmp(from->function, "add") == 0 && n == 1 &&
                 reads_mask(build, from);
    if (masks) {
        if (build->mask == SX_NO_INDEX) build->mask = add_mask(build, node);
        reads[1] = build->mask;
        (void)sx_place_add(build, node, reads, 2);
        return;
    }
    last = sx_place_add(build, node, inputs, n);
    if (from->kind == SX_OP_EINSUM && node->weight_bytes > 0) {
        uint64_t bias = (uint64_t)node->feature[SX_FEATURE_OFM + 2] * (build->bytes ? build->bytes : 1);
        last = sx_place_add_step(build, from->name, "bias", SX_CLASS_ELEMENT_WISE, last, bias);
        if (!splits_heads(from->layer)) return;
        last = sx_place_add_step(build, from->name, "reshape", SX_CLASS_OTHER, last, 0);
        (void)sx_place_add_step(build, from->name, "transpose", SX_CLASS_OTHER, last, 0);
    } else if (from->kind == SX_OP_EINSUM && strcmp(from->layer, "scores") == 0) {
        (void)sx_place_add_step(build, from->name, "scale", SX_CLASS_ELEMENT_WISE, last, 0);
    } else if (from->kind == SX_OP_EINSUM) {
        last = sx_place_add_step(build, from->name, "transpose", SX_CLASS_OTHER, last, 0);
        (void)sx_place_add_step(build, from->name, "reshape", SX_CLASS_OTHER, last, 0);
    } else if (strcmp(from->name, "pooler.tanh") == 0) {
        add_classifier(build, last);
    }
}
