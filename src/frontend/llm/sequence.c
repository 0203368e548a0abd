/* Nodes and tensors of graphs over sequences. */
#include "frontend/llm/sequence.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

sx_seq_use sx_seq_whole(size_t tensor) {
    return (sx_seq_use){.tensor = tensor, .split = -1};
}

sx_seq_use sx_seq_features(size_t tensor, uint64_t offset, uint64_t length, uint64_t block) {
    return (sx_seq_use){.tensor = tensor, .split = -1, .part[0] = {offset, length, block}};
}

uint64_t sx_seq_extent(const sx_seq *s, size_t tensor, size_t rank) {
    return s->net->error ? 1 : s->net->graph.tensor[tensor].extent[rank];
}

sx_seq_use sx_seq_last(const sx_seq *s, size_t tensor, uint64_t n) {
    const uint64_t all = sx_seq_extent(s, tensor, 1);
    sx_seq_use use = sx_seq_whole(tensor);
    if (n < all) use.part[1] = (sx_graph_part){all - n, n, 0};
    return use;
}

/* A node with the names that the sequence gives it. */
static sx_graph_node new_node(sx_seq *s, sx_op_kind kind, const char *name) {
    sx_graph_node node;
    char layer[3 * SX_NAME_SIZE], full[4 * SX_NAME_SIZE];
    memset(&node, 0, sizeof node);
    node.kind = kind;
    node.axis = -1;
    node.repeat = 1;
    snprintf(layer, sizeof layer, "%s%s", name, s->suffix);
    snprintf(full, sizeof full, "%s%s", s->layer, layer);
    if (!s->net->error) s->net->error = sx_text_name(node.name, sizeof node.name, full, "a node");
    if (!s->net->error) s->net->error = sx_text_name(node.layer, sizeof node.layer, layer, "a layer");
    return node;
}

/* Adds a tensor called after a node. */
static size_t add_tensor(sx_seq *s, sx_graph_tensor tensor, const char *node, const char *ending) {
    char name[2 * SX_NAME_SIZE];
    size_t index = 0;
    if (s->net->error) return 0;
    snprintf(name, sizeof name, "%s.%s", node, ending);
    tensor.bits = s->net->bits;
    s->net->error = sx_text_name(tensor.name, sizeof tensor.name, name, "a tensor");
    if (!s->net->error) s->net->error = sx_graph_add_tensor(&s->net->graph, &tensor, &index);
    return index;
}

/* The operand that a use is: without an einsum where `einsum` is NULL. */
static sx_graph_operand operand_of(const sx_problem *einsum, int v, const sx_seq_use *use, size_t tensor,
                                   bool written) {
    sx_graph_operand operand = einsum ? sx_net_operand(einsum, v, tensor, use->ranks, use->split)
                                      : sx_graph_whole(tensor, written, 0);
    operand.of = use->of;
    operand.part[0] = use->part[0];
    operand.part[1] = use->part[1];
    operand.before[1] = use->before;
    return operand;
}

size_t sx_seq_add_einsum(sx_seq *s, const sx_seq_einsum *e) {
    static const char *const endings[] = {"out", "weights", "in"};
    sx_graph_node node = new_node(s, SX_OP_EINSUM, e->name);
    sx_graph_operand operand[3];
    sx_problem einsum;
    size_t out = 0;
    if (!s->net->error) s->net->error = sx_einsum_parse(e->text, &einsum);
    if (s->net->error) return 0;
    node.repeat = e->repeat ? e->repeat : 1;
    node.counts = e->counts;
    if (node.counts.useful == sx_problem_computes(&einsum) * node.repeat) node.counts.useful = 0;
    for (int v = 0; v < 3; v++) {
        const sx_seq_use *use = &e->use[v];
        size_t tensor = use->tensor;
        if (tensor == SX_NO_INDEX) {
            sx_graph_tensor made =
                sx_net_used(&einsum, v, use->ranks, use->split, use->of ? use->of : node.repeat);
            made.weight = v == 1;
            tensor = add_tensor(s, made, node.name, endings[v]);
        }
        if (v == 0) out = tensor;
        operand[v] = operand_of(&einsum, v, use, tensor, v == 0);
    }
    if (!s->net->error) s->net->error = sx_graph_add_node(&s->net->graph, &node, &einsum, operand, 3, NULL);
    return out;
}

void sx_seq_product_text(uint64_t m, uint64_t k, uint64_t n, char text[SX_PRODUCT_TEXT]) {
    snprintf(text, SX_PRODUCT_TEXT,
             "Outputs[M,N] += Weights[M,K]*Inputs[K,N] {M:%" PRIu64 ",K:%" PRIu64 ",N:%" PRIu64 "}", m, k, n);
}

size_t sx_seq_dense_of(sx_seq *s, const char *name, sx_seq_use in, uint64_t m, size_t weights) {
    char text[SX_PRODUCT_TEXT];
    const uint64_t k = in.part[0].length ? in.part[0].length : sx_seq_extent(s, in.tensor, 0);
    const uint64_t n = in.part[1].length ? in.part[1].length : sx_seq_extent(s, in.tensor, 1);
    sx_seq_product_text(m, k, n, text);
    in.ranks = "K|N";
    in.split = -1;
    return sx_seq_add_einsum(s, &(sx_seq_einsum){.name = name,
                                                 .text = text,
                                                 .use = {{.tensor = SX_NO_INDEX, .ranks = "M|N", .split = -1},
                                                         {.tensor = weights, .ranks = "M|K", .split = -1},
                                                         in}});
}

size_t sx_seq_dense(sx_seq *s, const char *name, size_t in, uint64_t m) {
    return sx_seq_dense_of(s, name, sx_seq_whole(in), m, SX_NO_INDEX);
}

size_t sx_seq_add_plain(sx_seq *s, const sx_seq_plain *p) {
    sx_graph_node node = new_node(s, p->kind, p->name);
    sx_graph_operand operand[2 * SX_SEQ_OPERANDS + 1];
    size_t n = 0, out = p->n_writes ? p->written[0].tensor : 0;
    node.counts = p->counts;
    if (p->kind == SX_OP_NORM || p->kind == SX_OP_SOFTMAX) node.axis = p->axis;
    if (!s->net->error && *p->function)
        s->net->error = sx_text_name(node.function, sizeof node.function, p->function, "a function");
    if (p->n_ranks) {
        sx_graph_tensor made;
        memset(&made, 0, sizeof made);
        made.n_ranks = p->n_ranks;
        memcpy(made.extent, p->extent, p->n_ranks * sizeof *p->extent);
        out = add_tensor(s, made, node.name, "out");
        operand[n++] = sx_graph_whole(out, true, 0);
    }
    for (size_t i = 0; i < p->n_writes; i++)
        operand[n++] = operand_of(NULL, 0, &p->written[i], p->written[i].tensor, true);
    for (size_t i = 0; i < p->n_reads; i++)
        operand[n++] = operand_of(NULL, 0, &p->read[i], p->read[i].tensor, false);
    if (!s->net->error) s->net->error = sx_graph_add_node(&s->net->graph, &node, NULL, operand, n, NULL);
    return out;
}

size_t sx_seq_function(sx_seq *s, const char *name, const char *function, size_t a, size_t b) {
    sx_seq_plain p = {.name = name,
                      .function = function,
                      .kind = SX_OP_ELEMENT_WISE,
                      .n_reads = b == SX_NO_INDEX ? 1 : 2,
                      .read = {sx_seq_whole(a), sx_seq_whole(b)}};
    if (s->net->error) return 0;
    p.n_ranks = s->net->graph.tensor[a].n_ranks;
    for (size_t g = 0; g < p.n_ranks; g++) p.extent[g] = s->net->graph.tensor[a].extent[g];
    return sx_seq_add_plain(s, &p);
}

/* Weights of one value for each feature that a node reads. */
static size_t norm_weights(sx_seq *s, const char *name, const char *ending, uint64_t features) {
    const sx_graph_node node = new_node(s, SX_OP_NORM, name);
    sx_graph_tensor made;
    memset(&made, 0, sizeof made);
    made.weight = true;
    made.n_ranks = 2;
    made.extent[0] = features;
    made.extent[1] = 1;
    return add_tensor(s, made, node.name, ending);
}

size_t sx_seq_norm(sx_seq *s, const char *name, sx_seq_use in, bool layer_norm) {
    const uint64_t features = in.part[0].length ? in.part[0].length : sx_seq_extent(s, in.tensor, 0);
    const uint64_t tokens = in.part[1].length ? in.part[1].length : sx_seq_extent(s, in.tensor, 1);
    sx_seq_plain p = {.name = name,
                      .function = layer_norm ? "layer-norm" : "rms-norm",
                      .kind = SX_OP_NORM,
                      .n_ranks = 2,
                      .extent = {features, tokens},
                      .n_reads = layer_norm ? 3 : 2,
                      .read = {in, sx_seq_whole(norm_weights(s, name, "scale", features))}};
    if (layer_norm) p.read[2] = sx_seq_whole(norm_weights(s, name, "shift", features));
    return sx_seq_add_plain(s, &p);
}

/* A softmax along the second rank. */
static size_t add_softmax(sx_seq *s, const char *name, size_t in) {
    sx_seq_plain p = {.name = name,
                      .function = "softmax",
                      .kind = SX_OP_SOFTMAX,
                      .axis = 1,
                      .n_ranks = 3,
                      .extent = {sx_seq_extent(s, in, 0), sx_seq_extent(s, in, 1), sx_seq_extent(s, in, 2)},
                      .n_reads = 1,
                      .read = {sx_seq_whole(in)}};
    return sx_seq_add_plain(s, &p);
}

size_t sx_seq_reshape(sx_seq *s, const char *name, size_t in, size_t n_ranks, const uint64_t *extent) {
    sx_seq_plain p = {.name = name,
                      .function = "",
                      .kind = SX_OP_RESHAPE,
                      .n_ranks = n_ranks,
                      .n_reads = 1,
                      .read = {sx_seq_whole(in)}};
    memcpy(p.extent, extent, n_ranks * sizeof *extent);
    return sx_seq_add_plain(s, &p);
}

size_t sx_seq_state(sx_seq *s, const char *name, uint64_t rows, uint64_t columns, uint64_t held) {
    const sx_graph_node node = new_node(s, SX_OP_OTHER, name);
    sx_graph_tensor made;
    size_t index = 0;
    memset(&made, 0, sizeof made);
    memcpy(made.name, node.name, sizeof made.name);
    made.state = true;
    made.bits = s->net->bits;
    made.n_ranks = 2;
    made.extent[0] = rows;
    made.extent[1] = columns;
    made.held = held < rows * columns ? held : 0;
    if (!s->net->error) s->net->error = sx_graph_add_tensor(&s->net->graph, &made, &index);
    return index;
}

uint64_t sx_seq_causal_pairs(uint64_t tokens, uint64_t context, uint64_t window) {
    if (!window || window >= context + tokens) return tokens * context + tokens * (tokens + 1) / 2;
    const uint64_t growing = window > context ? window - context : 0;
    return growing * context + growing * (growing + 1) / 2 + (tokens - growing) * window;
}

/* The einsum of scores or of the context, whose tensors have the ranks of queries and keys. */
static size_t attend_once(sx_seq *s, const sx_seq_attention *a, const char *name, bool scores, size_t in) {
    const char *one = scores ? "Outputs[B,M,N] += Weights[B,D,M]*Inputs[B,D,N]"
                             : "Outputs[B,D,N] += Weights[B,D,M]*Inputs[B,M,N]";
    const char *many = scores ? "Outputs[B,H,M,N] += Weights[B,D,M]*Inputs[B,H,D,N]"
                              : "Outputs[B,H,D,N] += Weights[B,D,M]*Inputs[B,H,M,N]";
    const uint64_t d = scores ? a->head : a->value;
    const int split = a->groups > 1 || a->one_rank ? 0 : -1;
    char text[200], heads[32] = "";
    if (!a->one_rank) snprintf(heads, sizeof heads, ",H:%" PRIu64, a->heads);
    snprintf(text, sizeof text, "%s {B:%" PRIu64 "%s,D:%" PRIu64 ",M:%" PRIu64 ",N:%" PRIu64 "}",
             a->one_rank ? one : many, a->batch, heads, d, a->keys, a->queries);
    const char *matrix = "H|M|NB", *features = "HD|NB";
    sx_seq_use query = a->query, key = scores ? a->key : a->value_use;
    query.ranks = features;
    key.ranks = "D|MB";
    query.split = key.split = split;
    const sx_seq_use weights = {.tensor = in, .ranks = matrix, .split = split};
    const sx_seq_use out = {.tensor = SX_NO_INDEX, .ranks = scores ? matrix : features, .split = split};
    sx_seq_einsum e = {.name = name,
                       .text = text,
                       .repeat = a->groups,
                       .use = {out, key, scores ? query : weights},
                       .counts.useful = a->useful * a->batch * a->groups * a->heads * d};
    if (a->read && !s->net->error && s->net->graph.tensor[key.tensor].state)
        e.counts.state_reads =
            a->read * a->batch * (key.part[0].length ? key.part[0].length : sx_seq_extent(s, key.tensor, 0));
    return sx_seq_add_einsum(s, &e);
}

/* Attention over as many keys as a query sees on average, the last ones of its keys and values. */
static sx_seq_attention skip_keys(const sx_seq *s, const sx_seq_attention *a) {
    sx_seq_attention out = *a;
    out.read = a->keys;
    out.keys = (a->useful + a->queries - 1) / a->queries;
    const uint64_t used = out.keys * a->batch;
    out.key.part[1] = (sx_graph_part){sx_seq_extent(s, a->key.tensor, 1) - used, used, 0};
    out.value_use.part[1] = (sx_graph_part){sx_seq_extent(s, a->value_use.tensor, 1) - used, used, 0};
    return out;
}

size_t sx_seq_attend(sx_seq *s, const sx_seq_attention *a) {
    sx_seq_attention skipped;
    if (s->options->causal_skip && a->useful && a->useful < a->keys * a->queries) {
        skipped = skip_keys(s, a);
        a = &skipped;
    }
    char scores[SX_NAME_SIZE], softmax[SX_NAME_SIZE], context[SX_NAME_SIZE];
    snprintf(scores, sizeof scores, "scores%s", a->tag);
    snprintf(softmax, sizeof softmax, "softmax%s", a->tag);
    snprintf(context, sizeof context, "context%s", a->tag);
    const size_t matrix = attend_once(s, a, scores, true, SX_NO_INDEX);
    return attend_once(s, a, context, false, add_softmax(s, softmax, matrix));
}
