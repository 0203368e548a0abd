/* Attention over latents (DeepSeek-V2, section 2.1). The cache has one latent of each token, which all heads share, and a
 * part that positions turn. To decode, the matrices that make keys and values of latents are absorbed into queries and
 * results; else keys and values of all tokens are expanded from the latents. In an expanded tensor a head has the turned
 * part of its key, which is the same for all heads, the rest of its key, and its value. */
#include "frontend/llm/sequence.h"

#include <stdio.h>

/* The new tokens of the cache, some features of them. */
static sx_seq_use new_latents(const sx_seq *s, size_t cache, uint64_t offset, uint64_t length) {
    const uint64_t tokens = s->batch * s->tokens;
    sx_seq_use use = sx_seq_features(cache, offset, length, 0);
    use.part[1] = (sx_graph_part){s->context * s->batch, tokens, 0};
    return use;
}

/* Queries, by way of a latent where the model has one. */
static size_t make_queries(sx_seq *s, size_t in) {
    const sx_model_sizes *z = s->sizes;
    const uint64_t features = z->heads * (z->mla.nope + z->mla.rope);
    if (!z->mla.q) return sx_seq_dense(s, "q", in, features);
    const size_t latent = sx_seq_dense(s, "q-down", in, z->mla.q);
    return sx_seq_dense(s, "q-up", sx_seq_norm(s, "q-norm", sx_seq_whole(latent), z->layer_norm), features);
}

/* Appends latents to the cache and normalises them there, or (*normed) to a tensor of their own. */
static size_t cache_latents(sx_seq *s, size_t in, bool in_place, size_t *normed) {
    const sx_mla_sizes *m = &s->sizes->mla;
    const uint64_t tokens = s->batch * s->tokens, all = (s->context + s->tokens) * s->batch;
    char text[SX_PRODUCT_TEXT], weights[2 * SX_NAME_SIZE];
    const size_t cache = sx_seq_state(s, "latents", m->kv + m->rope, all, 0);
    sx_seq_use out = {
        .tensor = cache, .ranks = "M|N", .split = -1, .part[1] = {s->context * s->batch, tokens, 0}};
    sx_seq_product_text(m->kv + m->rope, s->sizes->width, tokens, text);
    (void)sx_seq_add_einsum(s, &(sx_seq_einsum){.name = "kv-down",
                                                .text = text,
                                                .use = {out,
                                                        {.tensor = SX_NO_INDEX, .ranks = "M|K", .split = -1},
                                                        {.tensor = in, .ranks = "K|N", .split = -1}}});
    snprintf(weights, sizeof weights, "%skv-norm.scale", s->layer);
    const size_t scale = sx_net_weights(s->net, weights, 1, &m->kv);
    *normed =
        sx_seq_add_plain(s, &(sx_seq_plain){.name = "kv-norm",
                                            .function = "rms-norm",
                                            .kind = SX_OP_OTHER,
                                            .n_ranks = in_place ? 0 : 2,
                                            .extent = {m->kv, tokens},
                                            .n_reads = 2,
                                            .read = {new_latents(s, cache, 0, m->kv), sx_seq_whole(scale)},
                                            .n_writes = in_place,
                                            .written = {new_latents(s, cache, 0, m->kv)},
                                            .counts.row = m->kv});
    return cache;
}

/* Turns a part of queries and of the new latents; the queries' part goes to `to`. */
static void rotate_positions(sx_seq *s, size_t query, size_t cache, sx_seq_use to) {
    const sx_mla_sizes *m = &s->sizes->mla;
    const sx_seq_use from = sx_seq_features(query, m->nope, m->rope, m->nope + m->rope);
    const sx_seq_use latents = new_latents(s, cache, m->kv, m->rope);
    (void)sx_seq_add_plain(s, &(sx_seq_plain){.name = "rotary",
                                              .function = "rotary",
                                              .kind = SX_OP_OTHER,
                                              .n_reads = 2,
                                              .read = {from, latents},
                                              .n_writes = 2,
                                              .written = {to, latents},
                                              .counts.row = (s->sizes->heads + 1) * m->rope});
}

/* A matrix of each head: m features of k. */
static size_t multiply_heads(sx_seq *s, const char *name, sx_seq_use in, sx_seq_use out, uint64_t m,
                             uint64_t k) {
    char text[SX_PRODUCT_TEXT];
    sx_seq_product_text(m, k, s->batch * s->tokens, text);
    in.ranks = "K|N";
    out.ranks = "M|N";
    in.split = out.split = 0;
    return sx_seq_add_einsum(
        s, &(sx_seq_einsum){.name = name,
                            .text = text,
                            .repeat = s->sizes->heads,
                            .use = {out, {.tensor = SX_NO_INDEX, .ranks = "M|K", .split = 0}, in}});
}

/* What attention over the cache has in common. */
static sx_seq_attention attention_of(const sx_seq *s) {
    return (sx_seq_attention){.tag = "",
                              .batch = s->batch,
                              .keys = s->context + s->tokens,
                              .queries = s->tokens,
                              .useful = sx_seq_causal_pairs(s->tokens, s->context, 0)};
}

static size_t attend_absorbed(sx_seq *s, size_t query, size_t cache) {
    const sx_model_sizes *z = s->sizes;
    const sx_mla_sizes *m = &z->mla;
    char name[2 * SX_NAME_SIZE];
    snprintf(name, sizeof name, "%sq.latents", s->layer);
    const size_t absorbed = sx_net_tensor(
        s->net, name, 2, (const uint64_t[]){z->heads * (m->kv + m->rope), s->batch * s->tokens});
    rotate_positions(s, query, cache, sx_seq_features(absorbed, m->kv, m->rope, m->kv + m->rope));
    (void)multiply_heads(s, "q-absorb", sx_seq_features(query, 0, m->nope, 0),
                         sx_seq_features(absorbed, 0, m->kv, m->kv + m->rope), m->kv, m->nope);
    sx_seq_attention a = attention_of(s);
    a.groups = 1;
    a.heads = z->heads;
    a.head = m->kv + m->rope;
    a.value = m->kv;
    a.query = sx_seq_whole(absorbed);
    a.key = sx_seq_whole(cache);
    a.value_use = sx_seq_features(cache, 0, m->kv, 0);
    return multiply_heads(s, "v-absorb", sx_seq_whole(sx_seq_attend(s, &a)), sx_seq_whole(SX_NO_INDEX), m->v,
                          m->kv);
}

static size_t attend_expanded(sx_seq *s, size_t query, size_t cache, size_t normed) {
    const sx_model_sizes *z = s->sizes;
    const sx_mla_sizes *m = &z->mla;
    const uint64_t all = (s->context + s->tokens) * s->batch, made = m->nope + m->v, block = m->rope + made;
    char text[SX_PRODUCT_TEXT], name[2 * SX_NAME_SIZE];
    rotate_positions(s, query, cache, sx_seq_features(query, m->nope, m->rope, m->nope + m->rope));
    snprintf(name, sizeof name, "%skv-up.out", s->layer);
    const size_t expanded = sx_net_tensor(s->net, name, 2, (const uint64_t[]){z->heads * block, all});
    sx_seq_use out = sx_seq_features(expanded, m->rope, made, block), in = sx_seq_whole(normed);
    if (s->context) in = sx_seq_features(cache, 0, m->kv, 0);
    out.ranks = "M|N";
    in.ranks = "K|N";
    sx_seq_product_text(z->heads * made, m->kv, all, text);
    (void)sx_seq_add_einsum(
        s, &(sx_seq_einsum){.name = "kv-up",
                            .text = text,
                            .use = {out, {.tensor = SX_NO_INDEX, .ranks = "M|K", .split = -1}, in},
                            .counts.state_reads = s->batch * s->context * (m->kv + m->rope)});
    sx_seq_attention a = attention_of(s);
    a.groups = z->heads;
    a.heads = 1;
    a.one_rank = true;
    a.head = m->nope + m->rope;
    a.value = m->v;
    a.query = sx_seq_whole(query);
    a.key = sx_seq_features(expanded, 0, m->rope + m->nope, 0);
    a.value_use = sx_seq_features(expanded, m->rope + m->nope, m->v, 0);
    return sx_seq_attend(s, &a);
}

size_t sx_seq_latent_attention(sx_seq *s, size_t in) {
    const bool absorbed = s->options->mla == SX_MLA_BY_PHASE ? s->options->phase == SX_PHASE_DECODE
                                                             : s->options->mla == SX_MLA_ABSORBED;
    size_t normed;
    const size_t query = make_queries(s, in);
    const size_t cache = cache_latents(s, in, absorbed || s->context, &normed);
    return absorbed ? attend_absorbed(s, query, cache) : attend_expanded(s, query, cache, normed);
}
