/* From the keys of a configuration to sizes. What a kind of model has by its architecture and not by a key is a row of the
 * table of kinds. */
#include "frontend/llm/sizes.h"

#include <stdio.h>
#include <string.h>

/* A configuration, and the kind of model it is of. */
typedef struct config {
    const sx_node *map;
    const char *kind;
} config;

static const sx_node *find_value(const config *c, const char *key) {
    return sx_node_get(c->map, key);
}

/* The value of the first of some keys (with spaces between them) that is there and not null. */
static const sx_node *get_any(const config *c, const char *keys, const char **used) {
    static const char *const ends = " ";
    char key[SX_NAME_SIZE];
    for (const char *at = keys; *at; at += strcspn(at, ends), at += *at == ' ') {
        snprintf(key, sizeof key, "%.*s", (int)strcspn(at, ends), at);
        const sx_node *node = find_value(c, key);
        *used = at;
        if (node && node->kind != SX_NODE_NULL) return node;
    }
    *used = keys;
    return NULL;
}

/* A number that must be there, from 1 to `most`. */
static sx_status need_within(const config *c, const char *keys, uint64_t most, uint64_t *out) {
    const char *used;
    char key[SX_NAME_SIZE];
    const sx_node *node = get_any(c, keys, &used);
    snprintf(key, sizeof key, "%.*s", (int)strcspn(used, " "), used);
    if (!node)
        return sx_error_hint(
            sx_error_at(c->map->place, "the configuration of a '%s' has no '%s'", c->kind, key),
            "docs/llm.md lists the keys that a configuration needs");
    return sx_node_range(node, key, 1, most, out);
}

/* A size that must be there. */
static sx_status need_number(const config *c, const char *keys, uint64_t *out) {
    return need_within(c, keys, 1u << 30, out);
}

/* A number of layers, each of which becomes nodes of a graph. */
static sx_status need_layers(const config *c, const char *keys, uint64_t *out) {
    return need_within(c, keys, 4096, out);
}

/* A size that may be missing or null; 0 is allowed where `low` is. */
static sx_status may(const config *c, const char *keys, uint64_t low, uint64_t *out) {
    const char *used;
    char key[SX_NAME_SIZE];
    const sx_node *node = get_any(c, keys, &used);
    snprintf(key, sizeof key, "%.*s", (int)strcspn(used, " "), used);
    return node ? sx_node_range(node, key, low, 1u << 30, out) : SX_OK;
}

static sx_status flag(const config *c, const char *key, bool *out) {
    const sx_node *node = find_value(c, key);
    return node && node->kind != SX_NODE_NULL ? sx_node_bool(node, key, out) : SX_OK;
}

/* Refuses a size that another one does not divide. */
static sx_status check_divides(const config *c, uint64_t of, const char *of_key, uint64_t by,
                               const char *by_key) {
    const char *used;
    if (by && of % by == 0) return SX_OK;
    const sx_node *node = get_any(c, by_key, &used);
    sx_status error = sx_error_hint(
        sx_error_new(SX_ERR_INPUT, "'%s' is %llu, which '%.*s' %llu does not divide", of_key,
                     (unsigned long long)of, (int)strcspn(by_key, " "), by_key, (unsigned long long)by),
        "heads of queries share those of keys, and a token's vector is divided into heads, without a rest");
    return node ? sx_error_place(error, node->place) : error;
}

#define HEADS "num_attention_heads n_head"

/* Width, layers, heads and vocabulary, which all that work on tokens have. */
static sx_status read_common(const config *c, sx_model_sizes *z) {
    SX_TRY(need_number(c, "hidden_size n_embd d_model", &z->width));
    SX_TRY(need_layers(c, "num_hidden_layers n_layer num_layers", &z->layers));
    SX_TRY(need_number(c, HEADS, &z->heads));
    z->kv_heads = z->heads;
    SX_TRY(may(c, "num_key_value_heads", 1, &z->kv_heads));
    SX_TRY(check_divides(c, z->heads, "num_attention_heads", z->kv_heads, "num_key_value_heads"));
    SX_TRY(may(c, "head_dim", 1, &z->head));
    if (!z->head) SX_TRY(check_divides(c, z->width, "hidden_size", z->heads, HEADS));
    if (!z->head) z->head = z->width / z->heads;
    z->hidden = 4 * z->width;
    return may(c, "intermediate_size n_inner", 1, &z->hidden);
}

/* Experts, where there are any. */
static sx_status read_experts(const config *c, sx_model_sizes *z) {
    static const char all[] = "num_local_experts num_experts n_routed_experts";
    sx_expert_sizes *e = &z->experts;
    const char *used;
    uint64_t shared = 0;
    if (!get_any(c, all, &used)) return SX_OK;
    SX_TRY(need_number(c, all, &e->all));
    SX_TRY(need_number(c, "num_experts_per_tok experts_per_token", &e->chosen));
    if (e->chosen > e->all)
        return sx_error_place(sx_error_new(SX_ERR_INPUT, "a token uses %llu experts of %llu",
                                           (unsigned long long)e->chosen, (unsigned long long)e->all),
                              get_any(c, "num_experts_per_tok experts_per_token", &used)->place);
    e->hidden = z->hidden;
    SX_TRY(may(c, "moe_intermediate_size", 1, &e->hidden));
    SX_TRY(may(c, "n_shared_experts", 0, &shared));
    e->shared = shared * e->hidden;
    SX_TRY(may(c, "shared_expert_intermediate_size", 0, &e->shared));
    SX_TRY(may(c, "first_k_dense_replace", 0, &e->dense_layers));
    if (e->dense_layers <= z->layers) return SX_OK;
    return sx_error_place(sx_error_new(SX_ERR_INPUT, "'first_k_dense_replace' is more than the %llu layers",
                                       (unsigned long long)z->layers),
                          find_value(c, "first_k_dense_replace")->place);
}

/* Attention over latents, where there are any. */
static sx_status read_latents(const config *c, sx_model_sizes *z) {
    const char *used;
    if (!get_any(c, "kv_lora_rank", &used)) return SX_OK;
    SX_TRY(need_number(c, "kv_lora_rank", &z->mla.kv));
    SX_TRY(may(c, "q_lora_rank", 0, &z->mla.q));
    SX_TRY(need_number(c, "qk_rope_head_dim", &z->mla.rope));
    SX_TRY(need_number(c, "qk_nope_head_dim", &z->mla.nope));
    return need_number(c, "v_head_dim", &z->mla.v);
}

/* The window of attention, and every how many layers it is left out. */
static sx_status read_window(const config *c, sx_model_sizes *z) {
    bool used = true;
    SX_TRY(flag(c, "use_sliding_window", &used));
    if (!used) z->period = 0;
    if (!used) return SX_OK;
    SX_TRY(may(c, "sliding_window", 1, &z->window));
    SX_TRY(may(c, "sliding_window_pattern", 1, &z->period));
    if (!z->window) z->period = 0;
    return SX_OK;
}

static sx_status read_decoder(const config *c, sx_model_sizes *z) {
    const sx_node *factor = find_value(c, "partial_rotary_factor");
    double part = 1;
    bool bias = false;
    SX_TRY(read_common(c, z));
    SX_TRY(need_number(c, "vocab_size", &z->vocab));
    SX_TRY(flag(c, "tie_word_embeddings", &z->tied));
    SX_TRY(flag(c, "attention_bias", &bias));
    z->qkv_bias |= bias;
    z->out_bias |= bias;
    SX_TRY(read_latents(c, z));
    SX_TRY(read_experts(c, z));
    if (z->positions) SX_TRY(need_number(c, "n_positions max_position_embeddings", &z->positions));
    if (z->positions) return SX_OK;
    if (factor && factor->kind != SX_NODE_NULL)
        SX_TRY(sx_node_double(factor, "partial_rotary_factor", &part));
    if (!(part > 0 && part <= 1))
        return sx_error_at(factor->place, "'partial_rotary_factor' is %g; it must be above 0 and at most 1",
                           part);
    z->rotary = (uint64_t)((double)z->head * part);
    return read_window(c, z);
}

static sx_status read_mamba(const config *c, sx_model_sizes *z) {
    z->state = 16;
    z->conv = 4;
    SX_TRY(need_number(c, "hidden_size d_model", &z->width));
    SX_TRY(need_layers(c, "num_hidden_layers n_layer", &z->layers));
    SX_TRY(need_number(c, "vocab_size", &z->vocab));
    SX_TRY(may(c, "state_size", 1, &z->state));
    SX_TRY(may(c, "conv_kernel", 2, &z->conv));
    z->hidden = 2 * z->width;
    SX_TRY(may(c, "intermediate_size", 1, &z->hidden));
    z->rank = (z->width + 15) / 16;
    SX_TRY(may(c, "time_step_rank", 1, &z->rank));
    return flag(c, "tie_word_embeddings", &z->tied);
}

/* An image in patches. */
static sx_status read_patches(const config *c, sx_model_sizes *z) {
    SX_TRY(read_common(c, z));
    SX_TRY(may(c, "mlp_dim", 1, &z->hidden));
    SX_TRY(need_number(c, "image_size sample_size", &z->image));
    SX_TRY(need_number(c, "patch_size", &z->patch));
    z->channels = 3;
    SX_TRY(may(c, "num_channels in_channels", 1, &z->channels));
    return check_divides(c, z->image, "image_size", z->patch, "patch_size");
}

static sx_status read_vit(const config *c, sx_model_sizes *z) {
    z->classes = 1000;
    SX_TRY(read_patches(c, z));
    return may(c, "num_labels", 1, &z->classes);
}

/* The map under a key, as a configuration of its own. */
static sx_status within(const config *c, const char *key, config *out) {
    const sx_node *map = find_value(c, key);
    if (!map) return sx_error_at(c->map->place, "the configuration of a '%s' has no '%s'", c->kind, key);
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, key));
    *out = (config){.map = map, .kind = c->kind};
    return SX_OK;
}

static sx_status read_clip(const config *c, sx_model_sizes *z, sx_model_sizes *text) {
    config part;
    SX_TRY(within(c, "vision_config", &part));
    SX_TRY(read_patches(&part, z));
    z->pre_norm = z->no_patch_bias = z->quick_gelu = z->layer_norm = true;
    *text = (sx_model_sizes){.layer_norm = true, .quick_gelu = true};
    SX_TRY(within(c, "text_config", &part));
    SX_TRY(read_common(&part, text));
    SX_TRY(need_number(&part, "vocab_size", &text->vocab));
    SX_TRY(need_number(&part, "max_position_embeddings", &text->positions));
    SX_TRY(need_number(c, "projection_dim", &z->projection));
    text->projection = z->projection;
    return SX_OK;
}

static sx_status read_sam(const config *c, sx_model_sizes *z) {
    config part;
    const sx_node *list;
    SX_TRY(within(c, "vision_config", &part));
    SX_TRY(read_patches(&part, z));
    SX_TRY(need_number(&part, "window_size", &z->window));
    SX_TRY(need_number(&part, "output_channels", &z->neck));
    list = find_value(&part, "global_attn_indexes");
    if (list) SX_TRY(sx_node_expect(list, SX_NODE_LIST, "global_attn_indexes"));
    z->global = list ? list->n : 0;
    return z->global <= z->layers ? SX_OK : sx_error_at(list->place, "there are more of them than layers");
}

static sx_status read_whisper(const config *c, sx_model_sizes *z) {
    SX_TRY(need_number(c, "d_model", &z->width));
    SX_TRY(need_layers(c, "encoder_layers", &z->layers));
    SX_TRY(need_layers(c, "decoder_layers", &z->decoder_layers));
    SX_TRY(need_number(c, "encoder_attention_heads", &z->heads));
    z->kv_heads = z->heads;
    SX_TRY(check_divides(c, z->width, "d_model", z->heads, "encoder_attention_heads"));
    z->head = z->width / z->heads;
    SX_TRY(need_number(c, "encoder_ffn_dim", &z->hidden));
    SX_TRY(need_number(c, "num_mel_bins", &z->mel));
    SX_TRY(need_number(c, "max_source_positions", &z->frames));
    SX_TRY(need_number(c, "max_target_positions", &z->positions));
    return need_number(c, "vocab_size", &z->vocab);
}

static sx_status read_dit(const config *c, sx_model_sizes *z) {
    SX_TRY(need_number(c, HEADS, &z->heads));
    SX_TRY(need_number(c, "attention_head_dim", &z->head));
    z->kv_heads = z->heads;
    z->width = z->heads * z->head;
    z->hidden = 4 * z->width;
    SX_TRY(need_layers(c, "num_layers", &z->layers));
    SX_TRY(need_number(c, "sample_size", &z->image));
    SX_TRY(need_number(c, "patch_size", &z->patch));
    SX_TRY(check_divides(c, z->image, "sample_size", z->patch, "patch_size"));
    SX_TRY(need_number(c, "in_channels", &z->channels));
    SX_TRY(need_number(c, "out_channels", &z->out_channels));
    return need_number(c, "num_embeds_ada_norm", &z->classes);
}

static sx_status read_unet(const config *c, sx_model_sizes *z) {
    const sx_node *list = find_value(c, "block_out_channels");
    if (!list)
        return sx_error_at(c->map->place, "the configuration of a '%s' has no 'block_out_channels'", c->kind);
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "block_out_channels"));
    if (list->n != 4)
        return sx_error_at(list->place, "'block_out_channels' has %zu stages; a U-Net of 4 is known",
                           list->n);
    for (size_t i = 0; i < list->n; i++)
        SX_TRY(sx_node_range(list->item[i], "block_out_channels", 1, 1u << 20, &z->stage[i]));
    z->n_stages = list->n;
    SX_TRY(need_number(c, "sample_size", &z->image));
    SX_TRY(need_number(c, "in_channels", &z->channels));
    SX_TRY(need_number(c, "cross_attention_dim", &z->text_width));
    z->heads = 8;
    SX_TRY(may(c, "attention_head_dim", 1, &z->heads));
    z->text_tokens = 77;
    for (size_t i = 0; i < list->n; i++)
        SX_TRY(check_divides(c, z->stage[i], "block_out_channels", z->heads, "attention_head_dim"));
    return SX_OK;
}

/* What the kinds of models have beside their keys. */
static const struct {
    const char *name;
    sx_model_sizes has;
} kinds[] = {
    {"llama", {.gated = true}},
    {"mistral", {.gated = true}},
    {"mixtral", {.gated = true}},
    {"qwen2", {.gated = true, .qkv_bias = true}},
    {"qwen3", {.gated = true, .qk_norm = true}},
    {"qwen3_moe", {.gated = true, .qk_norm = true}},
    {"deepseek_v2", {.gated = true}},
    {"deepseek_v3", {.gated = true}},
    {"gemma2", {.gated = true, .gelu = true, .tied = true, .post_norms = true, .period = 2}},
    {"gemma3_text",
     {.gated = true, .gelu = true, .tied = true, .post_norms = true, .qk_norm = true, .period = 6}},
    {"phi",
     {.layer_norm = true,
      .gelu = true,
      .qkv_bias = true,
      .out_bias = true,
      .mlp_bias = true,
      .head_bias = true,
      .parallel = true}},
    {"phi3", {.gated = true}},
    {"gpt2",
     {.layer_norm = true,
      .gelu = true,
      .qkv_bias = true,
      .out_bias = true,
      .mlp_bias = true,
      .tied = true,
      .positions = 1}},
    {"gpt_oss",
     {.gated = true,
      .qkv_bias = true,
      .out_bias = true,
      .sinks = true,
      .period = 2,
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
static const sx_node *kind_of(const config *c) {
    const sx_node *kind = find_value(c, "model_type");
    return kind ? kind : find_value(c, "_class_name");
}

bool sx_sizes_given(const sx_node *map) {
    const config c = {.map = map};
    const sx_node *kind = kind_of(&c);
    return kind ? kind->kind == SX_NODE_SCALAR : find_value(&c, "hidden_size") || find_value(&c, "n_embd");
}

/* Reads the keys that the family of a model has. */
static sx_status read_family(const config *c, sx_model_sizes *z, sx_model_sizes *text) {
    switch (z->family) {
    case SX_FAMILY_DECODER:
        SX_TRY(read_decoder(c, z));
        break;
    case SX_FAMILY_MAMBA:
        return read_mamba(c, z);
    case SX_FAMILY_VIT:
        return read_vit(c, z);
    case SX_FAMILY_CLIP:
        return read_clip(c, z, text);
    case SX_FAMILY_SAM:
        return read_sam(c, z);
    case SX_FAMILY_WHISPER:
        return read_whisper(c, z);
    case SX_FAMILY_DIT:
        return read_dit(c, z);
    case SX_FAMILY_UNET:
        return read_unet(c, z);
    }
    if (strcmp(c->kind, "deepseek_v3") == 0) z->experts.router_extra = z->experts.all;
    return SX_OK;
}

sx_status sx_sizes_read(const sx_node *map, sx_model_sizes *out, sx_model_sizes *text) {
    config c = {.map = map};
    const char *names[N_KINDS];
    const sx_node *kind = kind_of(&c);
    if (!kind)
        return sx_error_hint(sx_error_at(map->place, "the configuration has no 'model_type'"),
                             "it says what no size does; docs/llm.md lists those that are known");
    SX_TRY(sx_node_text(kind, "model_type", &c.kind));
    if (strcmp(c.kind, "gemma3") == 0) {
        SX_TRY(within(&c, "text_config", &c));
        c.kind = "gemma3_text";
    }
    for (size_t i = 0; i < N_KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(names[i], c.kind) != 0) continue;
        sx_model_sizes sizes = kinds[i].has;
        SX_TRY(read_family(&c, &sizes, text));
        *out = sizes;
        return SX_OK;
    }
    return sx_error_unknown(kind->place, "architecture", c.kind, names, N_KINDS);
}
