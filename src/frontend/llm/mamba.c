/* Mamba (Gu, Dao 2023): each layer widens its input, filters it along the sequence, and scans it with a state of some
 * values for each feature. The filter's window and the scan's state are carried from run to run. */
#include "frontend/llm/sequence.h"

#include <inttypes.h>
#include <stdio.h>

/* The filter along the sequence, of which the last inputs of the run before are kept. */
static size_t filter_sequence(sx_seq *s, size_t in, uint64_t features) {
    const uint64_t before = (s->sizes->conv - 1) * s->batch, kept = features * before;
    char text[200];
    snprintf(text, sizeof text,
             "Outputs[B,E,N] += Weights[E,W]*Inputs[B,E,N+W] {B:%" PRIu64 ",E:%" PRIu64 ",N:%" PRIu64
             ",W:%" PRIu64 "}",
             s->batch, features, s->tokens, s->sizes->conv);
    (void)sx_seq_state(s, "window", features, before, 0);
    sx_seq_use input = {.tensor = in, .ranks = "E|NB", .split = -1, .part[0] = {0, features, 0}};
    input.before = (uint32_t)before;
    return sx_seq_add_einsum(s,
                             &(sx_seq_einsum){.name = "conv",
                                              .text = text,
                                              .use = {{.tensor = SX_NO_INDEX, .ranks = "E|NB", .split = -1},
                                                      {.tensor = SX_NO_INDEX, .ranks = "E|W", .split = -1},
                                                      input},
                                              .counts = {.reads = features * (s->batch * s->tokens + before),
                                                         .state_reads = kept,
                                                         .state_writes = kept}});
}

/* The scan: reads the filtered input, the steps, and what the input chooses. */
static size_t scan_sequence(sx_seq *s, size_t in, size_t steps, size_t chosen) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t features = sx_seq_extent(s, in, 0), tokens = s->batch * s->tokens;
    char decay[2 * SX_NAME_SIZE], skip[2 * SX_NAME_SIZE];
    snprintf(decay, sizeof decay, "%sscan.decay", s->layer);
    snprintf(skip, sizeof skip, "%sscan.skip", s->layer);
    const size_t a = sx_net_weights(s->net, decay, 2, (const uint64_t[]){features, z->state});
    const size_t d = sx_net_weights(s->net, skip, 1, &features);
    const size_t state = sx_seq_state(s, "state", features * z->state, s->batch, 0);
    return sx_seq_add_plain(
        s, &(sx_seq_plain){.name = "scan",
                           .function = "selective-scan",
                           .kind = SX_OP_OTHER,
                           .n_ranks = 2,
                           .extent = {features, tokens},
                           .n_reads = 6,
                           .read = {sx_seq_whole(in), sx_seq_whole(steps),
                                    sx_seq_features(chosen, z->rank, 2 * z->state, 0), sx_seq_whole(state),
                                    sx_seq_whole(a), sx_seq_whole(d)},
                           .n_writes = 1,
                           .written = {sx_seq_whole(state)},
                           .counts = {.elements = features * tokens * z->state,
                                      .row = z->state,
                                      .reads = 3 * features * tokens + 2 * z->state * tokens}});
}

static size_t add_layer(sx_seq *s, size_t in) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t features = z->hidden, tokens = s->batch * s->tokens;
    const size_t wide =
        sx_seq_dense(s, "in", sx_seq_norm(s, "norm", sx_seq_whole(in), z->layer_norm), 2 * features);
    const size_t filtered =
        sx_seq_function(s, "conv-act", "silu", filter_sequence(s, wide, features), SX_NO_INDEX);
    const size_t chosen = sx_seq_dense(s, "x", filtered, z->rank + 2 * z->state);
    const size_t steps = sx_seq_function(
        s, "dt-act", "softplus",
        sx_seq_dense_of(s, "dt", sx_seq_features(chosen, 0, z->rank, 0), features, SX_NO_INDEX), SX_NO_INDEX);
    const size_t scanned = scan_sequence(s, filtered, steps, chosen);
    const size_t gated = sx_seq_add_plain(
        s, &(sx_seq_plain){.name = "gate",
                           .function = "silu-mul",
                           .kind = SX_OP_ELEMENT_WISE,
                           .n_ranks = 2,
                           .extent = {features, tokens},
                           .n_reads = 2,
                           .read = {sx_seq_whole(scanned), sx_seq_features(wide, features, features, 0)}});
    return sx_seq_function(s, "add", "add", sx_seq_dense(s, "out", gated, z->width), in);
}

/* The parameters of a model, with the biases of the filter and the steps. */
static uint64_t count_parameters(const sx_model_sizes *z) {
    const uint64_t d = z->width, e = z->hidden;
    const uint64_t layer = d + d * 2 * e + e * (z->conv + 1) + e * (z->rank + 2 * z->state) + z->rank * e +
                           e + e * z->state + e + e * d;
    return z->vocab * d * (z->tied ? 1u : 2u) + d + z->layers * layer;
}

void sx_seq_mamba(sx_seq *s) {
    const sx_model_sizes *z = s->sizes;
    size_t table, at = sx_seq_embed(s, "gather", &table);
    for (uint64_t i = 0; i < z->layers && !s->net->error; i++) {
        snprintf(s->layer, sizeof s->layer, "layer%" PRIu64 ".", i);
        at = add_layer(s, at);
    }
    sx_seq_head(s, at, table);
    s->net->graph.run.parameters = count_parameters(z);
}
