/* Whisper (Radford et al. 2022): an encoder of sounds, whose run ends with the keys and values that the decoder attends to,
 * and a decoder with attention to its own tokens and to those. */
#include "frontend/llm/sequence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A filter of three along time, with stride 1 or 2, and its activation function. */
static size_t filter_time(sx_seq *s, const char *name, size_t in, uint64_t out_tokens, unsigned stride) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t channels = sx_seq_extent(s, in, 0);
    char text[200], act[SX_NAME_SIZE];
    snprintf(act, sizeof act, "%s-act", name);
    snprintf(text, sizeof text,
             "Outputs[N,K,P] += Weights[C,K,R]*Inputs[N,C,%sP+R] {N:%" PRIu64 ",K:%" PRIu64 ",C:%" PRIu64
             ",P:%" PRIu64 ",R:3}",
             stride == 2 ? "2*" : "", s->batch, z->width, channels, out_tokens);
    const size_t out = sx_seq_add_einsum(
        s, &(sx_seq_einsum){.name = name,
                            .text = text,
                            .use = {{.tensor = SX_NO_INDEX, .ranks = "K|PN", .split = -1},
                                    {.tensor = SX_NO_INDEX, .ranks = "C|K|R", .split = -1},
                                    {.tensor = in,
                                     .ranks = "C|PN",
                                     .split = -1,
                                     .before = (uint32_t)((stride == 2 ? 1 : 2) * s->batch)}}});
    return sx_seq_function(s, act, "gelu", out, SX_NO_INDEX);
}

/* Where the keys or values of the sounds are for a layer. */
static size_t add_sounds(sx_seq *s, const char *name) {
    return sx_seq_state(s, name, s->sizes->width, s->sizes->frames * s->batch, 0);
}

/* The product that makes keys or values of the sounds. */
static void project_sounds(sx_seq *s, const char *name, size_t in, size_t out) {
    char text[SX_PRODUCT_TEXT];
    sx_seq_product_text(s->sizes->width, s->sizes->width, s->sizes->frames * s->batch, text);
    (void)sx_seq_add_einsum(s, &(sx_seq_einsum){.name = name,
                                                .text = text,
                                                .use = {{.tensor = out, .ranks = "M|N", .split = -1},
                                                        {.tensor = SX_NO_INDEX, .ranks = "M|K", .split = -1},
                                                        {.tensor = in, .ranks = "K|N", .split = -1}}});
}

static void encode_audio(sx_seq *s) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t frames = z->frames;
    const size_t sounds =
        sx_net_tensor(s->net, "sounds", 2, (const uint64_t[]){z->mel, 2 * frames * s->batch});
    size_t at = filter_time(s, "conv2", filter_time(s, "conv1", sounds, 2 * frames, 1), frames, 2);
    at = sx_seq_add_plain(s, &(sx_seq_plain){.name = "positions",
                                             .function = "add",
                                             .kind = SX_OP_ELEMENT_WISE,
                                             .n_ranks = 2,
                                             .extent = {z->width, frames * s->batch},
                                             .n_reads = 1,
                                             .read = {sx_seq_whole(at)},
                                             .counts.reads = 2 * z->width * frames * s->batch});
    at = sx_seq_encoder(s, at, z->layers, "", false);
    at = sx_seq_norm(s, "final-norm", sx_seq_whole(at), true);
    for (uint64_t i = 0; i < z->decoder_layers && !s->net->error; i++) {
        snprintf(s->layer, sizeof s->layer, "layer%" PRIu64 ".", i);
        project_sounds(s, "cross-k", at, add_sounds(s, "cross-keys"));
        project_sounds(s, "cross-v", at, add_sounds(s, "cross-values"));
    }
    s->layer[0] = 0;
}

/* Attention to the sounds. */
static size_t attend_sounds(sx_seq *s, size_t in) {
    const sx_model_sizes *z = s->sizes;
    const size_t query = sx_seq_dense(s, "cross-q", in, z->width);
    return sx_seq_attend(s, &(sx_seq_attention){.tag = "-cross",
                                                .batch = s->batch,
                                                .groups = z->heads,
                                                .heads = 1,
                                                .head = z->head,
                                                .value = z->head,
                                                .keys = z->frames,
                                                .queries = s->tokens,
                                                .query = sx_seq_whole(query),
                                                .key = sx_seq_whole(add_sounds(s, "cross-keys")),
                                                .value_use = sx_seq_whole(add_sounds(s, "cross-values"))});
}

static size_t decode_layer(sx_seq *s, size_t in) {
    const sx_model_sizes *z = s->sizes;
    size_t at = sx_seq_attend_cached(s, sx_seq_norm(s, "self-norm", sx_seq_whole(in), true), 0, "");
    const size_t self =
        sx_seq_function(s, "self-add", "add", sx_seq_dense(s, "attention-out", at, z->width), in);
    at = attend_sounds(s, sx_seq_norm(s, "cross-norm", sx_seq_whole(self), true));
    const size_t cross =
        sx_seq_function(s, "cross-add", "add", sx_seq_dense(s, "cross-out", at, z->width), self);
    at = sx_seq_perceptron(s, sx_seq_norm(s, "mlp-norm", sx_seq_whole(cross), true), "mlp", z->hidden);
    return sx_seq_function(s, "mlp-add", "add", at, cross);
}

static uint64_t count_parameters(const sx_model_sizes *z) {
    const uint64_t d = z->width, attention = 4 * d * d + 3 * d;
    const uint64_t mlp = 2 * d * z->hidden + z->hidden + d,
                   decoder_mlp = 2 * d * z->decoder_hidden + z->decoder_hidden + d;
    return z->mel * d * 3 + d + d * d * 3 + d + z->frames * d + z->positions * d + z->vocab * d +
           z->layers * (attention + mlp + 4 * d) + z->decoder_layers * (2 * attention + decoder_mlp + 6 * d) +
           4 * d;
}

void sx_seq_whisper(sx_seq *s) {
    const sx_model_sizes *z = s->sizes;
    size_t table;
    s->net->graph.run.parameters = count_parameters(z);
    if (s->options->phase == SX_PHASE_ENCODE) {
        encode_audio(s);
        return;
    }
    sx_model_sizes decoder = *z;
    decoder.heads = decoder.kv_heads = z->decoder_heads;
    decoder.head = z->width / z->decoder_heads;
    decoder.hidden = z->decoder_hidden;
    s->sizes = &decoder;
    size_t at = sx_seq_embed(s, "gather-add", &table);
    for (uint64_t i = 0; i < z->decoder_layers && !s->net->error; i++) {
        snprintf(s->layer, sizeof s->layer, "layer%" PRIu64 ".", i);
        at = decode_layer(s, at);
    }
    sx_seq_head(s, at, table);
    s->sizes = z;
}
