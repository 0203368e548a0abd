/* From the keys of a configuration to sizes. What a kind of model has by its architecture and not by a key is a row of the
 * table of kinds, and so are the sizes that a nested configuration may leave out. */
#include "frontend/llm/config_keys.h"

#include <string.h>

/* Which layers have experts: every n-th one after the first ones, without the exceptions. */
static sx_status mark_experts(const sx_config *c, sx_model_sizes *z) {
    uint64_t first = 0, of_last = 1, of_first = 1;
    SX_TRY(sx_config_may(c, "first_k_dense_replace", 0, &first));
    SX_TRY(sx_config_may(c, "decoder_sparse_step", 1, &of_last));
    SX_TRY(sx_config_may(c, "moe_layer_freq", 1, &of_first));
    if (first > z->layers)
        return sx_error_at(sx_config_get(c, "first_k_dense_replace")->place,
                           "'first_k_dense_replace' is more than the %llu layers",
                           (unsigned long long)z->layers);
    SX_TRY(sx_config_mark_layers(c, "mlp_only_layers", z, SX_LAYER_EXPERTS, NULL));
    for (uint64_t i = 0; i < z->layers; i++) {
        const bool exception = z->layer[i] & SX_LAYER_EXPERTS;
        z->layer[i] &= (uint8_t)~SX_LAYER_EXPERTS;
        if (!exception && i >= first && (i + 1) % of_last == 0 && i % of_first == 0)
            z->layer[i] |= SX_LAYER_EXPERTS;
    }
    return SX_OK;
}

/* Experts, where there are any. */
static sx_status read_experts(const sx_config *c, sx_model_sizes *z) {
    static const char chosen[] = "num_experts_per_tok experts_per_token";
    sx_expert_sizes *e = &z->experts;
    uint64_t shared = 0;
    e->all = 0;
    SX_TRY(sx_config_may(c, "num_local_experts num_experts n_routed_experts", 1, &e->all));
    if (!e->all) return SX_OK;
    SX_TRY(sx_config_need(c, chosen, &e->chosen));
    const sx_node *used = sx_config_get(c, "num_experts_per_tok");
    if (e->chosen > e->all)
        return sx_error_at(used ? used->place : c->map->place, "a token uses %llu experts of %llu",
                           (unsigned long long)e->chosen, (unsigned long long)e->all);
    e->hidden = z->hidden;
    SX_TRY(sx_config_may(c, "moe_intermediate_size", 1, &e->hidden));
    SX_TRY(sx_config_may(c, "n_shared_experts", 0, &shared));
    e->shared = shared * e->hidden;
    SX_TRY(sx_config_may(c, "shared_expert_intermediate_size", 0, &e->shared));
    return mark_experts(c, z);
}

/* Attention over latents, where there are any. */
static sx_status read_latents(const sx_config *c, sx_model_sizes *z) {
    if (!sx_config_get(c, "kv_lora_rank")) return SX_OK;
    SX_TRY(sx_config_need(c, "kv_lora_rank", &z->mla.kv));
    SX_TRY(sx_config_may(c, "q_lora_rank", 0, &z->mla.q));
    SX_TRY(sx_config_need(c, "qk_rope_head_dim", &z->mla.rope));
    SX_TRY(sx_config_need(c, "qk_nope_head_dim", &z->mla.nope));
    return sx_config_need(c, "v_head_dim", &z->mla.v);
}

/* The layers with a window, where a list has a word for each. */
static sx_status read_layer_types(const sx_node *list, sx_model_sizes *z) {
    if (list->n != z->layers)
        return sx_error_at(list->place, "'layer_types' has %zu items for %llu layers", list->n,
                           (unsigned long long)z->layers);
    for (size_t i = 0; i < list->n; i++) {
        const char *text;
        SX_TRY(sx_node_text(list->item[i], "layer_types", &text));
        const bool window = strcmp(text, "sliding_attention") == 0;
        if (!window && strcmp(text, "full_attention") != 0)
            return sx_error_at(list->item[i]->place,
                               "unknown type of layer '%s'; sliding_attention and full_attention are known",
                               text);
        if (window) z->layer[i] |= SX_LAYER_WINDOW;
    }
    return SX_OK;
}

/* The window of attention, and the layers that have it. */
static sx_status read_window(const sx_config *c, sx_model_sizes *z) {
    const sx_node *given = sx_node_get(c->map, "sliding_window"), *list;
    uint64_t period = z->period, first = z->window_asked ? 28 : 0;
    bool used = !z->window_asked;
    if (given && given->kind == SX_NODE_NULL) z->window = 0;
    SX_TRY(sx_config_flag(c, "use_sliding_window", &used));
    SX_TRY(sx_config_may(c, "sliding_window", 1, &z->window));
    SX_TRY(sx_config_may(c, "sliding_window_pattern _sliding_window_pattern", 1, &period));
    SX_TRY(sx_config_items(c, "layer_types", SX_NODE_LIST, &list));
    if (z->window_asked) SX_TRY(sx_config_may(c, "max_window_layers", 0, &first));
    if (!used) z->window = 0;
    if (!z->window) return SX_OK;
    if (list) return read_layer_types(list, z);
    for (uint64_t i = first; i < z->layers; i++)
        if (!period || (i + 1) % period != 0) z->layer[i] |= SX_LAYER_WINDOW;
    return SX_OK;
}

/* The features of a head that positions turn. */
static sx_status read_rotary(const sx_config *c, sx_model_sizes *z) {
    static const char key[] = "partial_rotary_factor";
    sx_config rope = *c;
    double part = strcmp(c->kind, "phi") == 0 ? 0.5 : 1;
    if (!sx_config_get(c, key) && sx_config_get(c, "rope_parameters"))
        SX_TRY(sx_config_within(c, "rope_parameters", &rope));
    const sx_node *factor = sx_config_get(&rope, key);
    if (factor) SX_TRY(sx_node_double(factor, key, &part));
    if (!(part > 0 && part <= 1))
        return sx_error_at(factor->place, "'%s' is %g; it must be above 0 and at most 1", key, part);
    z->rotary = (uint64_t)((double)z->head * part);
    return SX_OK;
}

static sx_status read_decoder(const sx_config *c, sx_model_sizes *z) {
    bool bias = z->qkv_bias;
    SX_TRY(sx_config_common(c, z));
    SX_TRY(sx_config_need(c, "vocab_size", &z->vocab));
    SX_TRY(sx_config_flag(c, "tie_word_embeddings", &z->tied));
    SX_TRY(sx_config_flag(c, "mlp_bias", &z->mlp_bias));
    SX_TRY(sx_config_flag(c, "attention_bias", &bias));
    if (z->qkv_bias == z->out_bias) z->qkv_bias = z->out_bias = bias;
    SX_TRY(read_latents(c, z));
    SX_TRY(read_experts(c, z));
    if (z->positions) return sx_config_need(c, "n_positions max_position_embeddings", &z->positions);
    SX_TRY(read_rotary(c, z));
    return read_window(c, z);
}

static sx_status read_mamba(const sx_config *c, sx_model_sizes *z) {
    uint64_t expand = 2;
    z->state = 16;
    z->conv = 4;
    SX_TRY(sx_config_need(c, "hidden_size d_model", &z->width));
    SX_TRY(sx_config_need_layers(c, "num_hidden_layers n_layer", &z->layers));
    SX_TRY(sx_config_need(c, "vocab_size", &z->vocab));
    SX_TRY(sx_config_may(c, "state_size", 1, &z->state));
    SX_TRY(sx_config_may(c, "conv_kernel", 2, &z->conv));
    SX_TRY(sx_config_may(c, "expand", 1, &expand));
    z->hidden = expand * z->width;
    SX_TRY(sx_config_may(c, "intermediate_size", 1, &z->hidden));
    z->rank = (z->width + 15) / 16;
    const sx_node *rank = sx_config_get(c, "time_step_rank");
    if (!rank || rank->kind != SX_NODE_SCALAR || strcmp(rank->text, "auto") != 0)
        SX_TRY(sx_config_may(c, "time_step_rank", 1, &z->rank));
    return sx_config_flag(c, "tie_word_embeddings", &z->tied);
}

/* Sizes that a nested configuration may leave out. */
#define SIZES(w, n_layers, n_heads, n_kv, per_head, ff, words)                                               \
    .width = w, .layers = n_layers, .heads = n_heads, .kv_heads = n_kv, .head = per_head, .hidden = ff,      \
    .vocab = words
/* The biases of all products of a layer. */
#define BIASES .qkv_bias = true, .out_bias = true, .mlp_bias = true
#define GEMMA .gated = true, .gelu = true, .tied = true, .post_norms = true, .window = 4096

/* What the kinds of models have beside their keys, and what keys of nested configurations are where they are missing. */
static const struct {
    const char *name;
    sx_model_sizes has;
} kinds[] = {
    {"llama", {.gated = true, SIZES(4096, 32, 32, 0, 0, 11008, 32000)}},
    {"mistral", {.gated = true, .window = 4096, SIZES(4096, 32, 32, 8, 0, 14336, 32000)}},
    {"mixtral", {.gated = true}},
    {"qwen2",
     {.gated = true, .qkv_bias = true, .window_asked = true, SIZES(4096, 32, 32, 32, 0, 22016, 151936)}},
    {"qwen3",
     {.gated = true, .qk_norm = true, .window_asked = true, SIZES(4096, 32, 32, 32, 128, 22016, 151936)}},
    {"qwen3_moe", {.gated = true, .qk_norm = true, .window_asked = true}},
    {"deepseek_v2", {.gated = true}},
    {"deepseek_v3", {.gated = true}},
    {"gemma2", {GEMMA, .period = 2, SIZES(2304, 26, 8, 4, 256, 9216, 256000)}},
    {"gemma3_text", {GEMMA, .qk_norm = true, .period = 6, SIZES(2304, 26, 8, 4, 256, 9216, 262208)}},
    {"phi", {.layer_norm = true, .gelu = true, BIASES, .head_bias = true, .parallel = true}},
    {"phi3", {.gated = true}},
    {"gpt2", {.layer_norm = true, .gelu = true, BIASES, .tied = true, .positions = 1}},
    {"gpt_oss",
     {.gated = true,
      .qkv_bias = true,
      .out_bias = true,
      .sinks = true,
      .period = 2,
      .window = 128,
      .head = 64,
      .experts = {.bias = true, .router_bias = true}}},
    {"mamba", {.family = SX_FAMILY_MAMBA, .tied = true}},
    {"vit", {.family = SX_FAMILY_VIT, .gelu = true, .layer_norm = true}},
    {"clip", {.family = SX_FAMILY_CLIP, .layer_norm = true}},
    {"sam", {.family = SX_FAMILY_SAM, .gelu = true, .layer_norm = true}},
    {"whisper", {.family = SX_FAMILY_WHISPER, .gelu = true, .layer_norm = true, .tied = true}},
    {"DiTTransformer2DModel", {.family = SX_FAMILY_DIT, .gelu = true, .layer_norm = true}},
    {"UNet2DConditionModel", {.family = SX_FAMILY_UNET, .gelu = true, .gated = true, .layer_norm = true}},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* The key that names the kind of a model. */
static const sx_node *kind_of(const sx_config *c) {
    const sx_node *kind = sx_config_get(c, "model_type");
    return kind ? kind : sx_config_get(c, "_class_name");
}

bool sx_sizes_given(const sx_node *map) {
    const sx_config c = {.map = map};
    const sx_node *kind = kind_of(&c);
    if (kind) return kind->kind == SX_NODE_SCALAR;
    return sx_config_get(&c, "hidden_size") || sx_config_get(&c, "n_embd") ||
           (sx_config_get(&c, "d_model") && sx_config_get(&c, "n_layer"));
}

/* Reads the keys that the family of a model has. */
static sx_status read_family(const sx_config *c, sx_model_sizes *z, sx_model_sizes *text) {
    switch (z->family) {
    case SX_FAMILY_DECODER:
        SX_TRY(read_decoder(c, z));
        break;
    case SX_FAMILY_MAMBA:
        return read_mamba(c, z);
    case SX_FAMILY_VIT:
        return sx_config_read_vit(c, z);
    case SX_FAMILY_CLIP:
        return sx_config_read_clip(c, z, text);
    case SX_FAMILY_SAM:
        return sx_config_read_sam(c, z);
    case SX_FAMILY_WHISPER:
        return sx_config_read_whisper(c, z);
    case SX_FAMILY_DIT:
        return sx_config_read_dit(c, z);
    case SX_FAMILY_UNET:
        return sx_config_read_unet(c, z);
    }
    if (strcmp(c->kind, "deepseek_v3") == 0) z->experts.router_extra = z->experts.all;
    return SX_OK;
}

/* The row of a kind, -1 where it is not known. */
static int row_of(const char *kind) {
    for (size_t i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i].name, kind) == 0) return (int)i;
    return -1;
}

/* The row of a configuration. Where its kind is not known, it is that of the text which a network of several kinds has,
 * and *c becomes the text's. */
static sx_status find_row(sx_config *c, int *row) {
    const sx_node *kind = kind_of(c), *text;
    const char *own = c->kind;
    *row = row_of(c->kind);
    if (*row >= 0) return SX_OK;
    if (strcmp(c->kind, "Transformer2DModel") == 0) {
        c->kind = "DiTTransformer2DModel";
        *row = row_of(c->kind);
        return SX_OK;
    }
    const bool gemma = strcmp(c->kind, "gemma3") == 0;
    SX_TRY(sx_config_items(c, "text_config", SX_NODE_MAP, &text));
    if (text || gemma) {
        SX_TRY(sx_config_within(c, "text_config", c));
        const sx_node *inner = kind_of(c);
        if (gemma) c->kind = "gemma3_text";
        if (inner) SX_TRY(sx_node_text(inner, "model_type", &c->kind));
        *row = row_of(c->kind);
        if (*row >= 0) return SX_OK;
    }
    const char *names[N_KINDS];
    for (size_t i = 0; i < N_KINDS; i++) names[i] = kinds[i].name;
    return sx_error_unknown(kind->place, "architecture", own, names, N_KINDS);
}

sx_status sx_sizes_read(sx_input *input, const sx_node *map, sx_model_sizes *out, sx_model_sizes *text) {
    sx_config_marks marks = {.n = 0};
    sx_config c = {.map = map, .marks = &marks};
    const sx_config whole = c;
    const sx_node *kind = kind_of(&c);
    int row;
    if (!kind)
        return sx_error_hint(sx_error_at(map->place, "the configuration has no 'model_type'"),
                             "it says what no size does; docs/llm.md lists those that are known");
    SX_TRY(sx_node_text(kind, "model_type", &c.kind));
    SX_TRY(find_row(&c, &row));
    SX_TRY(sx_config_check_known(&c));
    sx_model_sizes sizes = kinds[row].has;
    SX_TRY(read_family(&c, &sizes, text));
    SX_TRY(sx_config_check_read(input, &whole));
    *out = sizes;
    return SX_OK;
}
