/* Experts. A token is worked on by some of them; tokens of a run hit X of E experts in expectation where routing is
 * uniform. The N k slots of tokens are dealt out evenly: X - r experts have q tokens and r have one more, two layers. */
#include "frontend/llm/sequence.h"

#include <math.h>
#include <stdio.h>

/* The experts that a run hits. */
static uint64_t experts_hit(const sx_seq *s) {
    const sx_expert_sizes *e = &s->sizes->experts;
    const uint64_t tokens = s->batch * s->tokens, slots = tokens * e->chosen;
    const uint64_t most = slots < e->all ? slots : e->all;
    if (s->options->experts_hit) return s->options->experts_hit;
    if (s->options->balanced) return most;
    double missed = 1, share = 1 - (double)e->chosen / (double)e->all;
    for (uint64_t n = tokens; n; n >>= 1, share *= share)
        if (n & 1) missed *= share;
    uint64_t hit = (uint64_t)nearbyint((double)e->all * (1 - missed));
    hit = hit < e->chosen ? e->chosen : hit;
    return hit > most ? most : hit;
}

/* Where the weights of the experts are: both layers of experts use the same tensors. */
typedef struct expert_weights {
    size_t gate, up, down;
} expert_weights;

/* A product of `experts` experts with some tokens each: of all the tokens' slots (down), or of the tokens themselves. */
static size_t multiply_experts(sx_seq *s, const char *name, size_t in, bool slots, uint64_t m,
                               uint64_t experts, uint64_t n, size_t weights) {
    const uint64_t k = sx_seq_extent(s, in, 0), tokens = s->batch * s->tokens;
    sx_seq_use input = {.tensor = in, .ranks = "K|N", .split = slots ? 1 : -1};
    char text[SX_PRODUCT_TEXT];
    if (!slots && n < tokens) input.part[1] = (sx_graph_part){0, n, 0};
    sx_seq_product_text(m, k, n, text);
    return sx_seq_add_einsum(
        s,
        &(sx_seq_einsum){.name = name,
                         .text = text,
                         .repeat = experts,
                         .use = {{.tensor = SX_NO_INDEX, .ranks = "M|N", .split = 1},
                                 {.tensor = weights, .ranks = "M|K", .split = 0, .of = s->sizes->experts.all},
                                 input},
                         .counts.reads = k * n * experts});
}

/* The layer of `experts` experts with n tokens each. */
static size_t run_experts(sx_seq *s, size_t in, uint64_t experts, uint64_t n, const char *more,
                          const expert_weights *weights) {
    const sx_model_sizes *z = s->sizes;
    const char *function = z->gated ? z->gelu ? "gelu-mul" : "silu-mul" : z->gelu ? "gelu" : "silu";
    char name[4][SX_NAME_SIZE];
    static const char *const stems[] = {"gate", "up", "act", "down"};
    for (int i = 0; i < 4; i++) snprintf(name[i], sizeof name[i], "expert-%s%s", stems[i], more);
    const size_t gate =
        z->gated ? multiply_experts(s, name[0], in, false, z->experts.hidden, experts, n, weights->gate) : 0;
    const size_t up = multiply_experts(s, name[1], in, false, z->experts.hidden, experts, n, weights->up);
    const size_t act =
        sx_seq_function(s, name[2], function, z->gated ? gate : up, z->gated ? up : SX_NO_INDEX);
    return multiply_experts(s, name[3], act, true, z->width, experts, n, weights->down);
}

/* A matrix of each expert. */
static size_t add_weights(sx_seq *s, const char *name, uint64_t m, uint64_t k) {
    char full[2 * SX_NAME_SIZE];
    snprintf(full, sizeof full, "%s%s.weights", s->layer, name);
    return sx_net_weights(s->net, full, 2, (const uint64_t[]){s->sizes->experts.all * m, k});
}

/* The perceptron that every token uses, added to what the experts gave. */
static size_t add_shared(sx_seq *s, size_t in, size_t out) {
    if (!s->sizes->experts.shared) return out;
    return sx_seq_function(s, "shared-add", "add", out,
                           sx_seq_perceptron(s, in, "shared", s->sizes->experts.shared));
}

size_t sx_seq_experts(sx_seq *s, size_t in) {
    const sx_model_sizes *z = s->sizes;
    const sx_expert_sizes *e = &z->experts;
    const uint64_t tokens = s->batch * s->tokens, slots = tokens * e->chosen, hit = experts_hit(s);
    const uint64_t each = slots / hit, more = slots % hit;
    const size_t scores = sx_seq_dense(s, "router", in, e->all);
    const size_t chosen =
        sx_seq_add_plain(s, &(sx_seq_plain){.name = "router-topk",
                                            .function = "top-k",
                                            .kind = SX_OP_OTHER,
                                            .n_ranks = 2,
                                            .extent = {e->chosen, tokens},
                                            .n_reads = 1,
                                            .read = {sx_seq_whole(scores)},
                                            .counts = {.elements = e->all * tokens, .row = e->all}});
    const expert_weights weights = {.gate = z->gated ? add_weights(s, "expert-gate", e->hidden, z->width) : 0,
                                    .up = add_weights(s, "expert-up", e->hidden, z->width),
                                    .down = add_weights(s, "expert-down", z->width, e->hidden)};
    sx_seq_plain combine = {.name = "expert-combine",
                            .function = "weighted-sum",
                            .kind = SX_OP_OTHER,
                            .n_ranks = 2,
                            .extent = {z->width, tokens},
                            .n_reads = 1,
                            .read = {sx_seq_whole(chosen)}};
    combine.read[combine.n_reads++] = sx_seq_whole(run_experts(s, in, hit - more, each, "", &weights));
    if (more)
        combine.read[combine.n_reads++] = sx_seq_whole(run_experts(s, in, more, each + 1, "+", &weights));
    return add_shared(s, in, sx_seq_add_plain(s, &combine));
}
