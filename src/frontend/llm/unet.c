/* The U-Net of latent diffusion (Rombach et al. 2022): residual blocks that know the time, and in all stages but the
 * innermost transformer blocks that attend to the image and to a text. What is concatenated or doubled in size is written
 * where it is wanted and is no operator. */
#include "frontend/llm/sequence.h"

#include <stdio.h>

enum { MAX_KEPT = 16 };

/* A U-Net under construction: what the outer blocks left for the later ones, and the vector of the time. */
typedef struct unet {
    sx_seq *s;
    size_t kept[MAX_KEPT], n_kept;
    size_t time, text;
    uint64_t heads; /* of the stage */
    uint64_t parameters;
} unet;

/* The name of a node of a block. */
static const char *part_of(const char *block, const char *name, char full[SX_NAME_SIZE]) {
    snprintf(full, SX_NAME_SIZE, "%.44s.%.16s", block, name);
    return full;
}

static uint64_t channels_of(const unet *u, size_t image) {
    return sx_seq_extent(u->s, image, 1);
}

static size_t convolve_image(unet *u, size_t in, uint64_t k, uint32_t r, uint32_t stride, const char *name) {
    const sx_filter filter = {.k = (uint32_t)k, .r = r, .stride = stride, .pad_r = r / 2, .pad_s = r / 2};
    u->parameters += channels_of(u, in) * k * r * r + k;
    return sx_net_conv(u->s->net, in, filter, "%s", name);
}

static size_t project_image(unet *u, size_t in, uint64_t m, bool bias, const char *block, const char *name) {
    char full[SX_NAME_SIZE];
    u->parameters += m * sx_seq_extent(u->s, in, 0) + (bias ? m : 0);
    return sx_seq_dense(u->s, part_of(block, name, full), in, m);
}

static size_t norm_tokens(unet *u, size_t in, const char *block, const char *name) {
    char full[SX_NAME_SIZE];
    u->parameters += 2 * sx_seq_extent(u->s, in, 0);
    return sx_seq_norm(u->s, part_of(block, name, full), sx_seq_whole(in), true);
}

/* A node of an image's shape. */
static size_t change_image(unet *u, size_t in, const char *block, const char *name, const char *function,
                           size_t weights) {
    sx_seq *s = u->s;
    char full[SX_NAME_SIZE];
    const uint64_t row = channels_of(u, in) * sx_seq_extent(s, in, 2) * sx_seq_extent(s, in, 3);
    sx_seq_plain p = {
        .name = part_of(block, name, full),
        .function = function,
        .kind = SX_OP_OTHER,
        .n_ranks = 4,
        .extent = {s->batch, channels_of(u, in), sx_seq_extent(s, in, 2), sx_seq_extent(s, in, 3)},
        .n_reads = weights == SX_NO_INDEX ? 1 : 2,
        .read = {sx_seq_whole(in), sx_seq_whole(weights)},
        .counts = {.row = row, .reads = row * s->batch}};
    return sx_seq_add_plain(s, &p);
}

/* A normalisation over groups of channels. */
static size_t norm_groups(unet *u, size_t in, const char *block, const char *name) {
    char full[SX_NAME_SIZE], weights[2 * SX_NAME_SIZE];
    const uint64_t shape[] = {2, channels_of(u, in)};
    snprintf(weights, sizeof weights, "%s.scale", part_of(block, name, full));
    u->parameters += 2 * channels_of(u, in);
    return change_image(u, in, block, name, "group-norm", sx_net_weights(u->s->net, weights, 2, shape));
}

/* A residual block of k channels. */
static size_t add_block(unet *u, size_t in, uint64_t k, const char *block) {
    sx_seq *s = u->s;
    char full[SX_NAME_SIZE];
    size_t at = norm_groups(u, in, block, "norm1"), skip = in;
    at = change_image(u, at, block, "act1", "silu", SX_NO_INDEX);
    at = convolve_image(u, at, k, 3, 1, part_of(block, "conv1", full));
    const size_t acted = sx_seq_function(s, part_of(block, "time-act", full), "silu", u->time, SX_NO_INDEX);
    const size_t time = project_image(u, acted, k, true, block, "time");
    at = change_image(u, at, block, "time-add", "add", time);
    at = change_image(u, norm_groups(u, at, block, "norm2"), block, "act2", "silu", SX_NO_INDEX);
    at = convolve_image(u, at, k, 3, 1, part_of(block, "conv2", full));
    if (channels_of(u, in) != k) skip = convolve_image(u, in, k, 1, 1, part_of(block, "skip", full));
    return sx_seq_function(s, part_of(block, "add", full), "add", at, skip);
}

/* Attention of an image's tokens to themselves or to the text. */
static size_t attend_image(unet *u, size_t in, bool cross, const char *block) {
    sx_seq *s = u->s;
    const uint64_t width = sx_seq_extent(s, in, 0), heads = u->heads;
    const size_t from = cross ? u->text : in;
    const size_t query = project_image(u, in, width, false, block, cross ? "cross-q" : "q");
    const size_t key = project_image(u, from, width, false, block, cross ? "cross-k" : "k");
    const size_t value = project_image(u, from, width, false, block, cross ? "cross-v" : "v");
    char tag[SX_NAME_SIZE];
    snprintf(tag, sizeof tag, "%s.%.40s", cross ? "-cross" : "", block);
    const size_t at = sx_seq_attend(s, &(sx_seq_attention){.tag = tag,
                                                           .batch = s->batch,
                                                           .groups = heads,
                                                           .heads = 1,
                                                           .head = width / heads,
                                                           .value = width / heads,
                                                           .keys = sx_seq_extent(s, from, 1) / s->batch,
                                                           .queries = sx_seq_extent(s, in, 1) / s->batch,
                                                           .query = sx_seq_whole(query),
                                                           .key = sx_seq_whole(key),
                                                           .value_use = sx_seq_whole(value)});
    return project_image(u, at, width, true, block, cross ? "cross-out" : "attention-out");
}

/* The perceptron of a transformer block, gated by half of what its first layer gives. */
static size_t add_perceptron(unet *u, size_t in, const char *block) {
    sx_seq *s = u->s;
    char full[SX_NAME_SIZE];
    const uint64_t width = sx_seq_extent(s, in, 0), tokens = sx_seq_extent(s, in, 1);
    const size_t wide = project_image(u, in, 8 * width, true, block, "up");
    const size_t acted =
        sx_seq_add_plain(s, &(sx_seq_plain){.name = part_of(block, "act", full),
                                            .function = "gelu-mul",
                                            .kind = SX_OP_ELEMENT_WISE,
                                            .n_ranks = 2,
                                            .extent = {4 * width, tokens},
                                            .n_reads = 2,
                                            .read = {sx_seq_features(wide, 0, 4 * width, 0),
                                                     sx_seq_features(wide, 4 * width, 4 * width, 0)}});
    return project_image(u, acted, width, true, block, "down");
}

/* A transformer block over an image. */
static size_t add_transformer(unet *u, size_t in, const char *name) {
    sx_seq *s = u->s;
    char block[SX_NAME_SIZE], full[SX_NAME_SIZE];
    const uint64_t k = channels_of(u, in), p = sx_seq_extent(s, in, 2), tokens = p * p * s->batch;
    snprintf(block, sizeof block, "%.40s.t", name);
    size_t at = convolve_image(u, norm_groups(u, in, block, "norm"), k, 1, 1, part_of(block, "in", full));
    at = sx_seq_reshape(s, part_of(block, "tokens", full), at, 2, (const uint64_t[]){k, tokens});
    const size_t self = attend_image(u, norm_tokens(u, at, block, "norm1"), false, block);
    at = sx_seq_function(s, part_of(block, "add1", full), "add", self, at);
    const size_t cross = attend_image(u, norm_tokens(u, at, block, "norm2"), true, block);
    at = sx_seq_function(s, part_of(block, "add2", full), "add", cross, at);
    const size_t wide = add_perceptron(u, norm_tokens(u, at, block, "norm3"), block);
    at = sx_seq_function(s, part_of(block, "add3", full), "add", wide, at);
    at = sx_seq_reshape(s, part_of(block, "image", full), at, 4, (const uint64_t[]){s->batch, k, p, p});
    at = convolve_image(u, at, k, 1, 1, part_of(block, "out", full));
    return sx_seq_function(s, part_of(block, "add", full), "add", at, in);
}

static void keep_image(unet *u, size_t image) {
    if (u->n_kept < MAX_KEPT) u->kept[u->n_kept++] = image;
}

/* Two tensors one after the other along a rank. */
static size_t join_tensors(unet *u, size_t a, size_t b, int axis, const char *block, const char *name) {
    sx_graph_node node = {.kind = SX_OP_CONCAT, .axis = axis};
    snprintf(node.name, sizeof node.name, "%.40s.%s", block, name);
    return sx_net_other(u->s->net, &node, (const size_t[]){a, b}, 2);
}

static size_t go_down(unet *u, size_t at, size_t stage) {
    const sx_model_sizes *z = u->s->sizes;
    char name[SX_NAME_SIZE];
    u->heads = z->stage_heads[stage];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "down%zu.%u", stage, i);
        at = add_block(u, at, z->stage[stage], name);
        if (stage + 1 < z->n_stages) at = add_transformer(u, at, name);
        keep_image(u, at);
    }
    if (stage + 1 == z->n_stages) return at;
    snprintf(name, sizeof name, "down%zu.conv", stage);
    at = convolve_image(u, at, z->stage[stage], 3, 2, name);
    keep_image(u, at);
    return at;
}

static size_t go_up(unet *u, size_t at, size_t step) {
    const sx_model_sizes *z = u->s->sizes;
    const uint64_t k = z->stage[z->n_stages - 1 - step];
    char name[SX_NAME_SIZE];
    u->heads = z->stage_heads[z->n_stages - 1 - step];
    for (unsigned i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "up%zu.%u", step, i);
        const size_t kept = u->n_kept ? u->kept[--u->n_kept] : at;
        at = add_block(u, join_tensors(u, at, kept, 1, name, "join"), k, name);
        if (step) at = add_transformer(u, at, name);
    }
    if (step + 1 == z->n_stages) return at;
    snprintf(name, sizeof name, "up%zu", step);
    at = join_tensors(u, at, at, 2, name, "rows");
    at = join_tensors(u, at, at, 3, name, "columns");
    snprintf(name, sizeof name, "up%zu.conv", step);
    return convolve_image(u, at, k, 3, 1, name);
}

void sx_seq_unet(sx_seq *s) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t first = z->stage[0], shape[] = {s->batch, z->channels, z->image, z->image};
    unet u = {.s = s};
    const size_t time = sx_net_tensor(s->net, "time", 2, (const uint64_t[]){first, s->batch});
    u.text = sx_net_tensor(s->net, "text", 2, (const uint64_t[]){z->text_width, z->text_tokens * s->batch});
    const size_t acted =
        sx_seq_function(s, "time-act", "silu", sx_seq_dense(s, "time1", time, 4 * first), SX_NO_INDEX);
    u.time = sx_seq_dense(s, "time2", acted, 4 * first);
    u.parameters = 4 * first * (first + 1) + 4 * first * (4 * first + 1);
    size_t at = convolve_image(&u, sx_net_tensor(s->net, "latents", 4, shape), first, 3, 1, "in");
    keep_image(&u, at);
    for (size_t i = 0; i < z->n_stages && !s->net->error; i++) at = go_down(&u, at, i);
    at = add_transformer(&u, add_block(&u, at, z->stage[z->n_stages - 1], "mid0"), "mid");
    at = add_block(&u, at, z->stage[z->n_stages - 1], "mid1");
    for (size_t i = 0; i < z->n_stages && !s->net->error; i++) at = go_up(&u, at, i);
    at = change_image(&u, norm_groups(&u, at, "out", "norm"), "out", "act", "silu", SX_NO_INDEX);
    (void)convolve_image(&u, at, z->out_channels, 3, 1, "out");
    s->net->graph.run.parameters = u.parameters;
}
