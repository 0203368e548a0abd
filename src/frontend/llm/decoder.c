/* Decoders: layers of attention and a perceptron or experts, each normalised before (and, with post_norms, after) it and
 * added to what enters it. The cache of keys and values is a state to which k and v append the new tokens. */
#include "frontend/llm/sequence.h"

#include <inttypes.h>
#include <stdio.h>

/* Turns the features of queries, which are copied unless only some turn, and of the new keys in the cache. */
static size_t rotate_positions(sx_seq *s, size_t query, size_t keys) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t tokens = s->batch * s->tokens, rows = sx_seq_extent(s, query, 0);
    const bool whole = z->rotary == z->head;
    sx_seq_use cached = sx_seq_last(s, keys, tokens), part = sx_seq_whole(query);
    if (!cached.part[1].length) cached.part[1] = (sx_graph_part){0, tokens, 0};
    if (!whole) cached.part[0] = part.part[0] = (sx_graph_part){0, z->rotary, z->head};
    sx_seq_plain p = {.name = "rotary",
                      .function = "rotary",
                      .kind = SX_OP_OTHER,
                      .n_reads = 2,
                      .read = {part, cached},
                      .counts.row = (z->heads + z->kv_heads) * z->rotary};
    if (whole) {
        p.n_ranks = 2;
        p.extent[0] = rows;
        p.extent[1] = tokens;
        p.n_writes = 1;
        p.written[0] = cached;
    } else {
        p.n_writes = 2;
        p.written[0] = part;
        p.written[1] = cached;
    }
    return sx_seq_add_plain(s, &p);
}

/* Normalises each head of queries, and of the new keys in place. */
static size_t norm_heads(sx_seq *s, const char *name, sx_seq_use in, bool in_place) {
    const sx_model_sizes *z = s->sizes;
    char weights[2 * SX_NAME_SIZE];
    snprintf(weights, sizeof weights, "%s%s.scale", s->layer, name);
    const size_t scale = sx_net_weights(s->net, weights, 1, &z->head);
    sx_seq_plain p = {.name = name,
                      .function = "rms-norm",
                      .kind = SX_OP_OTHER,
                      .n_ranks = in_place ? 0 : 2,
                      .extent = {sx_seq_extent(s, in.tensor, 0), sx_seq_extent(s, in.tensor, 1)},
                      .n_reads = 2,
                      .read = {in, sx_seq_whole(scale)},
                      .n_writes = in_place,
                      .written = {in},
                      .counts.row = z->head};
    return sx_seq_add_plain(s, &p);
}

/* The product that appends keys or values to their cache. */
static void append_to_cache(sx_seq *s, const char *name, size_t in, size_t cache) {
    const uint64_t tokens = s->batch * s->tokens;
    sx_seq_use out = sx_seq_last(s, cache, tokens);
    char text[SX_PRODUCT_TEXT];
    if (!out.part[1].length) out.part[1] = (sx_graph_part){0, tokens, 0};
    out.ranks = "M|N";
    sx_seq_product_text(sx_seq_extent(s, cache, 0), sx_seq_extent(s, in, 0), tokens, text);
    (void)sx_seq_add_einsum(s, &(sx_seq_einsum){.name = name,
                                                .text = text,
                                                .use = {out,
                                                        {.tensor = SX_NO_INDEX, .ranks = "M|K", .split = -1},
                                                        {.tensor = in, .ranks = "K|N", .split = -1}}});
}

size_t sx_seq_attend_cached(sx_seq *s, size_t in, uint64_t window, const char *tag) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t all = s->context + s->tokens, features = z->kv_heads * z->head;
    const uint64_t keys = window && window + s->tokens - 1 < all ? window + s->tokens - 1 : all;
    const uint64_t held = features * s->batch * (window && window < all ? window : all);
    size_t query = sx_seq_dense(s, "q", in, z->heads * z->head);
    const size_t key = sx_seq_state(s, "keys", features, keys * s->batch, held);
    append_to_cache(s, "k", in, key);
    const size_t value = sx_seq_state(s, "values", features, keys * s->batch, held);
    append_to_cache(s, "v", in, value);
    if (z->qk_norm) query = norm_heads(s, "q-norm", sx_seq_whole(query), false);
    sx_seq_use added = sx_seq_last(s, key, s->batch * s->tokens);
    if (!added.part[1].length) added.part[1] = (sx_graph_part){0, s->batch * s->tokens, 0};
    if (z->qk_norm) (void)norm_heads(s, "k-norm", added, true);
    if (z->rotary) query = rotate_positions(s, query, key);
    return sx_seq_attend(s,
                         &(sx_seq_attention){.tag = tag,
                                             .batch = s->batch,
                                             .groups = z->kv_heads,
                                             .heads = z->heads / z->kv_heads,
                                             .head = z->head,
                                             .value = z->head,
                                             .keys = keys,
                                             .queries = s->tokens,
                                             .query = sx_seq_whole(query),
                                             .key = sx_seq_whole(key),
                                             .value_use = sx_seq_whole(value),
                                             .useful = sx_seq_causal_pairs(s->tokens, s->context, window)});
}

size_t sx_seq_perceptron(sx_seq *s, size_t in, const char *stem, uint64_t hidden) {
    const sx_model_sizes *z = s->sizes;
    char gate[SX_NAME_SIZE], up[SX_NAME_SIZE], act[SX_NAME_SIZE], down[SX_NAME_SIZE];
    const char *function = z->quick_gelu ? "quick-gelu" : z->gelu ? "gelu" : "silu";
    snprintf(gate, sizeof gate, "%s-gate", stem);
    snprintf(up, sizeof up, "%s-up", stem);
    snprintf(act, sizeof act, "%s-act", stem);
    snprintf(down, sizeof down, "%s-down", stem);
    size_t at;
    if (z->gated) {
        const size_t gated = sx_seq_dense(s, gate, in, hidden);
        at = sx_seq_function(s, act, z->gelu ? "gelu-mul" : "silu-mul", gated,
                             sx_seq_dense(s, up, in, hidden));
    } else {
        at = sx_seq_function(s, act, function, sx_seq_dense(s, up, in, hidden), SX_NO_INDEX);
    }
    return sx_seq_dense(s, down, at, z->width);
}

/* The sum of three tensors, of a layer whose two parts read the same. */
static size_t add_three(sx_seq *s, const char *name, size_t a, size_t b, size_t c) {
    return sx_seq_add_plain(s, &(sx_seq_plain){.name = name,
                                               .function = "add",
                                               .kind = SX_OP_ELEMENT_WISE,
                                               .n_ranks = 2,
                                               .extent = {sx_seq_extent(s, a, 0), sx_seq_extent(s, a, 1)},
                                               .n_reads = 3,
                                               .read = {sx_seq_whole(a), sx_seq_whole(b), sx_seq_whole(c)}});
}

/* A part of a layer after its own normalisation, where the model has one. */
static size_t post_norm(sx_seq *s, const char *name, size_t in) {
    return s->sizes->post_norms ? sx_seq_norm(s, name, sx_seq_whole(in), s->sizes->layer_norm) : in;
}

/* How many layers have something, and whether all have. */
static uint64_t count_layers(const sx_model_sizes *z, uint8_t flag) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < z->layers; i++) n += (z->layer[i] & flag) != 0;
    return n;
}

static bool have_all(const sx_model_sizes *z, uint8_t flag) {
    return count_layers(z, flag) == z->layers;
}

static size_t decode_layer(sx_seq *s, uint64_t index, size_t in) {
    const sx_model_sizes *z = s->sizes;
    const bool window = z->layer[index] & SX_LAYER_WINDOW, experts = z->layer[index] & SX_LAYER_EXPERTS;
    const size_t read = sx_seq_norm(s, "attention-norm", sx_seq_whole(in), z->layer_norm);
    size_t at = z->mla.kv ? sx_seq_latent_attention(s, read)
                          : sx_seq_attend_cached(s, read, window ? z->window : 0,
                                                 window && !have_all(z, SX_LAYER_WINDOW) ? ".local" : "");
    at = sx_seq_dense(s, "attention-out", at, z->width);
    if (z->parallel) return add_three(s, "mlp-add", in, at, sx_seq_perceptron(s, read, "mlp", z->hidden));
    at = sx_seq_function(s, "attention-add", "add", post_norm(s, "attention-post-norm", at), in);
    const size_t normed = sx_seq_norm(s, "mlp-norm", sx_seq_whole(at), z->layer_norm);
    const size_t out = experts ? sx_seq_experts(s, normed) : sx_seq_perceptron(s, normed, "mlp", z->hidden);
    return sx_seq_function(s, "mlp-add", "add", post_norm(s, "mlp-post-norm", out), at);
}

size_t sx_seq_embed(sx_seq *s, const char *function, size_t *table) {
    const sx_model_sizes *z = s->sizes;
    *table = sx_net_weights(s->net, "embed.weights", 2, (const uint64_t[]){z->vocab, z->width});
    return sx_seq_add_plain(s, &(sx_seq_plain){.name = "embed",
                                               .function = function,
                                               .kind = SX_OP_OTHER,
                                               .n_ranks = 2,
                                               .extent = {z->width, s->batch * s->tokens},
                                               .n_reads = 1,
                                               .read = {sx_seq_whole(*table)}});
}

void sx_seq_head(sx_seq *s, size_t in, size_t table) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t tokens = s->options->all_logits ? s->batch * s->tokens : s->batch;
    s->layer[0] = 0;
    const size_t normed = sx_seq_norm(s, "final-norm", sx_seq_last(s, in, tokens), z->layer_norm);
    (void)sx_seq_dense_of(s, "head", sx_seq_whole(normed), z->vocab, z->tied ? table : SX_NO_INDEX);
}

/* Adds the learned positions of the new tokens. */
static size_t add_positions(sx_seq *s, size_t in) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t shape[] = {z->positions, z->width};
    const size_t table = sx_net_weights(s->net, "embed-positions.weights", 2, shape);
    return sx_seq_add_plain(s, &(sx_seq_plain){.name = "embed-positions",
                                               .function = "gather-add",
                                               .kind = SX_OP_OTHER,
                                               .n_ranks = 2,
                                               .extent = {z->width, s->batch * s->tokens},
                                               .n_reads = 2,
                                               .read = {sx_seq_whole(in), sx_seq_whole(table)}});
}

/* The parameters of attention. */
static uint64_t attention_parameters(const sx_model_sizes *z) {
    const sx_mla_sizes *m = &z->mla;
    const uint64_t d = z->width, q = z->heads * z->head, kv = z->kv_heads * z->head;
    if (!m->kv)
        return d * (q + 2 * kv) + q * d + (uint64_t)z->qkv_bias * (q + 2 * kv) + (uint64_t)z->out_bias * d +
               (z->qk_norm ? 2 * z->head : 0) + (uint64_t)z->sinks * z->heads;
    const uint64_t queries = z->heads * (m->nope + m->rope);
    return (m->q ? d * m->q + m->q + m->q * queries : d * queries) + d * (m->kv + m->rope) + m->kv +
           m->kv * z->heads * (m->nope + m->v) + z->heads * m->v * d + (uint64_t)z->out_bias * d +
           (uint64_t)z->qkv_bias * (m->q + m->kv + m->rope);
}

/* The parameters of a decoder; *active those that a token uses. */
static uint64_t count_parameters(const sx_model_sizes *z, uint64_t *active) {
    const uint64_t d = z->width, norm = (z->layer_norm ? 2u : 1u) * d, matrices = z->gated ? 3u : 2u;
    const uint64_t norms = ((z->parallel ? 1u : 2u) + (z->post_norms ? 2u : 0u)) * norm;
    const uint64_t dense =
        matrices * d * z->hidden + (uint64_t)z->mlp_bias * ((matrices - 1) * z->hidden + d);
    const sx_expert_sizes *e = &z->experts;
    const uint64_t expert = matrices * d * e->hidden + (uint64_t)e->bias * ((matrices - 1) * e->hidden + d);
    const uint64_t router =
        d * e->all + (uint64_t)e->router_bias * e->all + e->router_extra + matrices * d * e->shared;
    const uint64_t sparse_layers = count_layers(z, SX_LAYER_EXPERTS);
    const uint64_t all = z->vocab * d * (z->tied ? 1u : 2u) + (uint64_t)z->head_bias * z->vocab +
                         z->positions * d + norm + z->layers * (norms + attention_parameters(z)) +
                         (z->layers - sparse_layers) * dense + sparse_layers * (router + e->all * expert);
    *active = all - sparse_layers * (e->all - e->chosen) * expert;
    return all;
}

void sx_seq_decoder(sx_seq *s) {
    const sx_model_sizes *z = s->sizes;
    size_t table, at = sx_seq_embed(s, "gather", &table);
    if (z->positions) at = add_positions(s, at);
    for (uint64_t i = 0; i < z->layers && !s->net->error; i++) {
        snprintf(s->layer, sizeof s->layer, "layer%" PRIu64 ".", i);
        at = decode_layer(s, i, at);
    }
    sx_seq_head(s, at, table);
    s->net->graph.run.parameters = count_parameters(z, &s->net->graph.run.active_parameters);
}
