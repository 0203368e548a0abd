/* DiT (Peebles, Xie 2023): a transformer of an image's latents whose normalisations and sums are shifted and scaled by what
 * the time and the class say. */
#include "frontend/llm/sequence.h"

#include <inttypes.h>
#include <stdio.h>

enum { TIME_FEATURES = 256 };

/* What a modulation says: some of its features, in steps of the width. */
static sx_seq_use step_of(const sx_seq *s, size_t modulation, uint64_t step, uint64_t n) {
    return sx_seq_features(modulation, step * s->sizes->width, n * s->sizes->width, 0);
}

/* A normalisation that is shifted and scaled. */
static size_t norm_modulated(sx_seq *s, const char *name, size_t in, size_t modulation, uint64_t step) {
    return sx_seq_add_plain(s, &(sx_seq_plain){.name = name,
                                               .function = "layer-norm-modulate",
                                               .kind = SX_OP_OTHER,
                                               .n_ranks = 2,
                                               .extent = {s->sizes->width, sx_seq_extent(s, in, 1)},
                                               .n_reads = 2,
                                               .read = {sx_seq_whole(in), step_of(s, modulation, step, 2)}});
}

/* A sum of which one part is scaled. */
static size_t add_scaled(sx_seq *s, const char *name, size_t a, size_t b, size_t modulation, uint64_t step) {
    return sx_seq_add_plain(
        s, &(sx_seq_plain){.name = name,
                           .function = "scale-add",
                           .kind = SX_OP_OTHER,
                           .n_ranks = 2,
                           .extent = {s->sizes->width, sx_seq_extent(s, a, 1)},
                           .n_reads = 3,
                           .read = {sx_seq_whole(a), sx_seq_whole(b), step_of(s, modulation, step, 1)}});
}

static size_t add_layer(sx_seq *s, size_t in, size_t condition) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t tokens = sx_seq_extent(s, in, 1) / s->batch;
    const size_t acted = sx_seq_function(s, "modulation-act", "silu", condition, SX_NO_INDEX);
    const size_t modulation = sx_seq_dense(s, "modulation", acted, 6 * z->width);
    const size_t read = norm_modulated(s, "attention-norm", in, modulation, 0);
    const size_t joined = sx_seq_dense(s, "qkv", read, 3 * z->width);
    const size_t out =
        sx_seq_dense(s, "attention-out", sx_seq_attend_joined(s, joined, s->batch, tokens), z->width);
    const size_t at = add_scaled(s, "attention-add", out, in, modulation, 2);
    const size_t wide = norm_modulated(s, "mlp-norm", at, modulation, 3);
    return add_scaled(s, "mlp-add", sx_seq_perceptron(s, wide, "mlp", z->hidden), at, modulation, 5);
}

/* The vector of time and class. */
static size_t add_condition(sx_seq *s) {
    const sx_model_sizes *z = s->sizes;
    const size_t time = sx_net_tensor(s->net, "time", 2, (const uint64_t[]){TIME_FEATURES, s->batch});
    const size_t table =
        sx_net_weights(s->net, "label.weights", 2, (const uint64_t[]){z->classes + 1, z->width});
    const size_t acted =
        sx_seq_function(s, "time-act", "silu", sx_seq_dense(s, "time1", time, z->width), SX_NO_INDEX);
    const size_t at = sx_seq_dense(s, "time2", acted, z->width);
    return sx_seq_add_plain(s, &(sx_seq_plain){.name = "label",
                                               .function = "gather-add",
                                               .kind = SX_OP_OTHER,
                                               .n_ranks = 2,
                                               .extent = {z->width, s->batch},
                                               .n_reads = 2,
                                               .read = {sx_seq_whole(at), sx_seq_whole(table)}});
}

static uint64_t count_parameters(const sx_model_sizes *z) {
    const uint64_t d = z->width, side = z->image / z->patch, pixels = z->patch * z->patch;
    const uint64_t layer =
        6 * d * (d + 1) + 3 * d * (d + 1) + d * (d + 1) + 2 * d * z->hidden + z->hidden + d;
    return pixels * z->channels * d + d + side * side * d + d * (TIME_FEATURES + 1) + d * (d + 1) +
           (z->classes + 1) * d + z->layers * layer + 2 * d * (d + 1) + pixels * z->out_channels * (d + 1);
}

void sx_seq_dit(sx_seq *s) {
    const sx_model_sizes *z = s->sizes;
    size_t at = sx_seq_patches(s, 0);
    const size_t condition = add_condition(s);
    for (uint64_t i = 0; i < z->layers && !s->net->error; i++) {
        snprintf(s->layer, sizeof s->layer, "layer%" PRIu64 ".", i);
        at = add_layer(s, at, condition);
    }
    s->layer[0] = 0;
    const size_t acted = sx_seq_function(s, "final-act", "silu", condition, SX_NO_INDEX);
    const size_t modulation = sx_seq_dense(s, "final-modulation", acted, 2 * z->width);
    at = norm_modulated(s, "final-norm", at, modulation, 0);
    (void)sx_seq_dense(s, "final", at, z->patch * z->patch * z->out_channels);
    s->net->graph.run.parameters = count_parameters(z);
}
