/* Transformers of images: ViT (Dosovitskiy et al. 2021), CLIP (Radford et al. 2021), the encoder of SAM (Kirillov et al.
 * 2023, with windows and positions that are relative). Positions and the vector of the class are no operand: they count as
 * elements read by the addition of positions. */
#include "frontend/llm/sequence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

size_t sx_seq_patches(sx_seq *s, uint64_t extra) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t side = z->image / z->patch, tokens = (side * side + extra) * s->batch;
    const size_t image =
        sx_net_tensor(s->net, "image", 4, (const uint64_t[]){s->batch, z->channels, z->image, z->image});
    const sx_filter filter = {.k = (uint32_t)z->width, .r = (uint32_t)z->patch, .stride = (uint32_t)z->patch};
    const size_t patches = sx_net_conv(s->net, image, filter, "patches");
    return sx_seq_add_plain(s, &(sx_seq_plain){.name = "positions",
                                               .function = "add",
                                               .kind = SX_OP_OTHER,
                                               .n_ranks = 2,
                                               .extent = {z->width, tokens},
                                               .n_reads = 1,
                                               .read = {sx_seq_whole(patches)},
                                               .counts.reads = 2 * z->width * tokens});
}

/* Attention of all heads over as many keys as there are queries; its operands are the caller's. */
static sx_seq_attention self_attention(const sx_seq *s, uint64_t batch, uint64_t tokens) {
    return (sx_seq_attention){.tag = "",
                              .batch = batch,
                              .groups = s->sizes->heads,
                              .heads = 1,
                              .head = s->sizes->head,
                              .value = s->sizes->head,
                              .keys = tokens,
                              .queries = tokens};
}

/* A layer of an encoder. */
static size_t add_encoder_layer(sx_seq *s, size_t in, bool causal) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t features = z->heads * z->head, tokens = sx_seq_extent(s, in, 1) / s->batch;
    const size_t read = sx_seq_norm(s, "attention-norm", sx_seq_whole(in), true);
    const size_t query = sx_seq_dense(s, "q", read, features), key = sx_seq_dense(s, "k", read, features);
    const size_t value = sx_seq_dense(s, "v", read, features);
    sx_seq_attention attention = self_attention(s, s->batch, tokens);
    attention.query = sx_seq_whole(query);
    attention.key = sx_seq_whole(key);
    attention.value_use = sx_seq_whole(value);
    attention.useful = causal ? sx_seq_causal_pairs(tokens, 0, 0) : 0;
    size_t at = sx_seq_attend(s, &attention);
    at = sx_seq_function(s, "attention-add", "add", sx_seq_dense(s, "attention-out", at, z->width), in);
    const size_t normed = sx_seq_norm(s, "mlp-norm", sx_seq_whole(at), true);
    return sx_seq_function(s, "mlp-add", "add", sx_seq_perceptron(s, normed, "mlp", z->hidden), at);
}

size_t sx_seq_encoder(sx_seq *s, size_t in, uint64_t layers, const char *stem, bool causal) {
    for (uint64_t i = 0; i < layers && !s->net->error; i++) {
        snprintf(s->layer, sizeof s->layer, "%slayer%" PRIu64 ".", stem, i);
        in = add_encoder_layer(s, in, causal);
    }
    s->layer[0] = 0;
    return in;
}

/* What an encoder has of parameters. */
static uint64_t encoder_parameters(const sx_model_sizes *z, uint64_t layers) {
    const uint64_t d = z->width;
    return layers * (4 * (d * z->heads * z->head) + 3 * z->heads * z->head + d + 2 * d * z->hidden +
                     z->hidden + d + 4 * d);
}

/* The first token of each sequence, or the last. */
static sx_seq_use first_tokens(const sx_seq *s, size_t tensor) {
    sx_seq_use use = sx_seq_whole(tensor);
    use.part[1] = (sx_graph_part){0, s->batch, 0};
    return use;
}

/* The parameters of patches and positions. */
static uint64_t patch_parameters(const sx_model_sizes *z, uint64_t extra) {
    const uint64_t side = z->image / z->patch;
    return z->channels * z->patch * z->patch * z->width + (z->no_patch_bias ? 0 : z->width) +
           extra * z->width + (side * side + extra) * z->width;
}

void sx_seq_vit(sx_seq *s) {
    const sx_model_sizes *z = s->sizes;
    const size_t at = sx_seq_encoder(s, sx_seq_patches(s, 1), z->layers, "", false);
    const size_t normed = sx_seq_norm(s, "norm", sx_seq_whole(at), true);
    (void)sx_seq_dense_of(s, "head", first_tokens(s, normed), z->classes, SX_NO_INDEX);
    s->net->graph.run.parameters = patch_parameters(z, 1) + encoder_parameters(z, z->layers) + 2 * z->width +
                                   z->classes * (z->width + 1);
}

/* The part of CLIP that reads texts. */
static void add_text(sx_seq *s, const sx_model_sizes *z) {
    const uint64_t tokens = z->positions * s->batch;
    const size_t table =
        sx_net_weights(s->net, "text.embed.weights", 2, (const uint64_t[]){z->vocab, z->width});
    s->sizes = z;
    strcpy(s->suffix, "-text");
    size_t at = sx_seq_add_plain(s, &(sx_seq_plain){.name = "embed",
                                                    .function = "gather-add",
                                                    .kind = SX_OP_OTHER,
                                                    .n_ranks = 2,
                                                    .extent = {z->width, tokens},
                                                    .n_reads = 1,
                                                    .read = {sx_seq_whole(table)}});
    at = sx_seq_encoder(s, at, z->layers, "text.", true);
    at = sx_seq_norm(s, "norm", sx_seq_whole(at), true);
    (void)sx_seq_dense_of(s, "projection", sx_seq_last(s, at, s->batch), z->projection, SX_NO_INDEX);
    s->suffix[0] = 0;
}

void sx_seq_clip(sx_seq *s, const sx_model_sizes *text) {
    const sx_model_sizes *z = s->sizes;
    size_t at = sx_seq_patches(s, 1);
    if (z->pre_norm) at = sx_seq_norm(s, "pre-norm", sx_seq_whole(at), true);
    at = sx_seq_encoder(s, at, z->layers, "", false);
    at = sx_seq_norm(s, "norm", first_tokens(s, at), true);
    (void)sx_seq_dense(s, "projection", at, z->projection);
    add_text(s, text);
    s->sizes = z;
    s->net->graph.run.parameters = patch_parameters(z, 1) + encoder_parameters(z, z->layers) + 4 * z->width +
                                   z->width * z->projection + (text->vocab + text->positions) * text->width +
                                   encoder_parameters(text, text->layers) + 2 * text->width +
                                   text->width * text->projection + 1;
}

/* What SAM's attention adds to scores: products of queries with positions along one direction of the image. */
static void add_positions(sx_seq *s, const char *name, size_t query, uint64_t batch, uint64_t side,
                          bool rows) {
    const uint64_t head = s->sizes->head, shape[] = {side, side, head};
    char text[200], table[4 * SX_NAME_SIZE];
    snprintf(table, sizeof table, "%s%s%s.table", s->layer, name, s->suffix);
    snprintf(text, sizeof text,
             "Outputs[B,I,J,K] += Weights[%c,K,C]*Inputs[B,I,J,C] {B:%" PRIu64 ",I:%" PRIu64 ",J:%" PRIu64
             ",K:%" PRIu64 ",C:%" PRIu64 "}",
             rows ? 'I' : 'J', batch, side, side, side, head);
    sx_seq_use input = sx_seq_features(query, 0, batch, 0);
    input.ranks = "B|I|J|C";
    (void)sx_seq_add_einsum(s,
                            &(sx_seq_einsum){.name = name,
                                             .text = text,
                                             .use = {{.tensor = SX_NO_INDEX, .ranks = "B|I|J|K", .split = -1},
                                                     {.tensor = sx_net_tensor(s->net, table, 3, shape),
                                                      .ranks = rows ? "I|K|C" : "J|K|C",
                                                      .split = -1},
                                                     input}});
}

/* Queries, keys and values of windows, whose last ones are filled up. */
static size_t project_windows(sx_seq *s, size_t in, uint64_t tokens) {
    const uint64_t d = s->sizes->width, given = sx_seq_extent(s, in, 1);
    char text[SX_PRODUCT_TEXT];
    sx_seq_product_text(3 * d, d, tokens, text);
    return sx_seq_add_einsum(
        s, &(sx_seq_einsum){
               .name = "qkv",
               .text = text,
               .use = {{.tensor = SX_NO_INDEX, .ranks = "M|N", .split = -1},
                       {.tensor = SX_NO_INDEX, .ranks = "M|K", .split = -1},
                       {.tensor = in, .ranks = "K|N", .split = -1, .before = (uint32_t)(tokens - given)}},
               .counts.reads = d * tokens});
}

size_t sx_seq_attend_joined(sx_seq *s, size_t joined, uint64_t batch, uint64_t tokens) {
    const uint64_t head = s->sizes->head;
    sx_seq_attention attention = self_attention(s, batch, tokens);
    attention.query = sx_seq_features(joined, 0, head, 0);
    attention.key = sx_seq_features(joined, head, head, 0);
    attention.value_use = sx_seq_features(joined, 2 * head, head, 0);
    return sx_seq_attend(s, &attention);
}

/* A layer over windows of the image (window 0: over all of it). */
static size_t sam_layer(sx_seq *s, size_t in, uint64_t window) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t side = z->image / z->patch, across = window ? (side + window - 1) / window : 1;
    const uint64_t inner = window ? window : side, batch = across * across * s->batch, tokens = inner * inner;
    strcpy(s->suffix, window ? "-window" : "");
    const size_t read = sx_seq_norm(s, "attention-norm", sx_seq_whole(in), true);
    const size_t joined = project_windows(s, read, batch * tokens);
    size_t at = sx_seq_attend_joined(s, joined, batch, tokens);
    const size_t query = sx_seq_reshape(s, "heads", joined, 4,
                                        (const uint64_t[]){3 * batch * z->heads, inner, inner, z->head});
    add_positions(s, "rel-rows", query, batch * z->heads, inner, true);
    add_positions(s, "rel-columns", query, batch * z->heads, inner, false);
    const size_t out = sx_seq_dense(s, "attention-out", at, z->width);
    sx_seq_use used = sx_seq_whole(out);
    if (sx_seq_extent(s, out, 1) > sx_seq_extent(s, in, 1))
        used.part[1] = (sx_graph_part){0, sx_seq_extent(s, in, 1), 0};
    at = sx_seq_add_plain(s, &(sx_seq_plain){.name = "attention-add",
                                             .function = "add",
                                             .kind = SX_OP_ELEMENT_WISE,
                                             .n_ranks = 2,
                                             .extent = {z->width, sx_seq_extent(s, in, 1)},
                                             .n_reads = 2,
                                             .read = {used, sx_seq_whole(in)}});
    const size_t normed = sx_seq_norm(s, "mlp-norm", sx_seq_whole(at), true);
    return sx_seq_function(s, "mlp-add", "add", sx_seq_perceptron(s, normed, "mlp", z->hidden), at);
}

/* The two convolutions after SAM's layers, each with a normalisation over channels. */
static void add_neck(sx_seq *s, size_t in) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t side = z->image / z->patch, tokens = side * side * s->batch;
    size_t at = sx_seq_norm(s, "neck-norm1", sx_seq_whole(sx_seq_dense(s, "neck1", in, z->neck)), true);
    at = sx_seq_reshape(s, "neck-image", at, 4, (const uint64_t[]){s->batch, z->neck, side, side});
    at =
        sx_net_conv(s->net, at, (sx_filter){.k = (uint32_t)z->neck, .r = 3, .pad_r = 1, .pad_s = 1}, "neck2");
    at = sx_seq_reshape(s, "neck-tokens", at, 2, (const uint64_t[]){z->neck, tokens});
    (void)sx_seq_norm(s, "neck-norm2", sx_seq_whole(at), true);
}

void sx_seq_sam(sx_seq *s) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t side = z->image / z->patch;
    size_t at = sx_seq_patches(s, 0);
    for (uint64_t i = 0; i < z->layers && !s->net->error; i++) {
        snprintf(s->layer, sizeof s->layer, "layer%" PRIu64 ".", i);
        at = sam_layer(s, at, z->layer[i] & SX_LAYER_WHOLE ? 0 : z->window);
    }
    s->layer[0] = s->suffix[0] = 0;
    add_neck(s, at);
    s->net->graph.run.parameters =
        patch_parameters(z, 0) + encoder_parameters(z, z->layers) +
        2 * z->head * ((z->layers - z->global) * (2 * z->window - 1) + z->global * (2 * side - 1)) +
        z->width * z->neck + 9 * z->neck * z->neck + 4 * z->neck;
}
