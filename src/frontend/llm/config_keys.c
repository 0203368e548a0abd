/* What the keys of configurations have in common: missing ones, defaults of nested ones, values that are not known. */
#include "frontend/llm/config_keys.h"

#include "frontend/keys.h"

#include <stdio.h>
#include <string.h>

/* Keys that say how a model was trained or is run, with which words, and of which numbers; none changes a size. */
static const char idle_keys[] =
    "_name_or_path _diffusers_version activation_dropout activation_fn activation_function "
    "adapter_attn_dim apply_spec_augment architectures attention_dropout attention_multiplier "
    "attn_config attn_implementation attn_logit_softcapping attn_pdrop auto_map aux_loss_alpha "
    "begin_suppress_tokens bos_token_id cache_implementation center_input_sample classifier_dropout "
    "classifier_proj_size conv_in_kernel conv_out_kernel decoder_layerdrop decoder_start_token_id "
    "downsample_padding dropout dtype embd_pdrop embedding_multiplier encoder_layerdrop eos_token_id "
    "ep_size final_logit_softcapping flip_sin_to_cos forced_decoder_ids freq_shift hidden_act "
    "hidden_activation hidden_dropout_prob init_std initializer_factor initializer_range "
    "is_encoder_decoder label2id layer_norm_eps layer_norm_epsilon logit_scale_init_value "
    "logits_scaling max_length mask_feature_length mask_feature_min_masks mask_feature_prob "
    "mask_time_length mask_time_min_masks mask_time_prob median_filter_width mid_block_scale_factor "
    "n_ctx norm_eps norm_epsilon norm_num_groups norm_topk_prob num_return_sequences "
    "output_attentions output_hidden_states output_past output_router_logits pad_token_id "
    "partial_rotary_factor prefix pretraining_tp problem_type quantization_config "
    "query_pre_attn_scalar reorder_and_upcast_attn rescale_every resid_pdrop residual_dropout "
    "residual_in_fp32 residual_multiplier return_dict rms_norm_eps rope_local_base_freq rope_scaling "
    "rope_theta rotary_dim routed_scaling_factor router_aux_loss_coef router_jitter_noise "
    "scale_attn_by_inverse_layer_idx scale_attn_weights scale_embedding scoring_func seq_aux "
    "seq_length summary_activation summary_first_dropout summary_proj_to_labels summary_type "
    "summary_use_proj suppress_tokens task_specific_params temperature time_step_floor "
    "time_step_init_scheme time_step_max time_step_min time_step_scale tokenizer_class top_k top_p "
    "topk_method torch_dtype torchscript transformers_version transformers.js_config unsloth_fixed "
    "unsloth_version upcast_attention use_cache use_weighted_layer_sum word_embed_proj_dim";

const sx_node *sx_config_get(const sx_config *c, const char *key) {
    const sx_pair *pair = sx_node_pair(c->map, key);
    if (!pair || pair->value->kind == SX_NODE_NULL) return NULL;
    if (c->marks && c->marks->n < SX_MOST_READ) c->marks->read[c->marks->n++] = pair;
    return pair->value;
}

static bool is_read(const sx_config_marks *marks, const sx_pair *pair) {
    for (size_t i = 0; i < marks->n; i++)
        if (marks->read[i] == pair) return true;
    return marks->n == SX_MOST_READ;
}

static bool is_idle(const char *key) {
    const size_t size = strlen(key);
    for (const char *at = idle_keys; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == size && memcmp(at, key, size) == 0) return true;
    return false;
}

sx_status sx_config_check_read(sx_input *input, const sx_config *c) {
    for (size_t i = 0; i < c->map->n; i++) {
        const sx_pair *pair = &c->map->pair[i];
        const sx_config within = {.map = pair->value, .kind = c->kind, .marks = c->marks};
        const size_t size = strlen(pair->key), tail = strlen("_config");
        const bool part = size > tail && strcmp(pair->key + size - tail, "_config") == 0;
        if (is_read(c->marks, pair)) {
            if (part && pair->value->kind == SX_NODE_MAP) SX_TRY(sx_config_check_read(input, &within));
        } else if (!is_idle(pair->key) && !sx_node_empty(pair->value)) {
            SX_TRY(sx_input_unknown(input, pair, "the key '%.64s' of the configuration is not understood",
                                    pair->key));
        }
    }
    return SX_OK;
}

/* The value of the first of some keys that is there; `key` becomes its name, or that of the first of all. */
static const sx_node *get_any(const sx_config *c, const char *keys, char key[SX_NAME_SIZE]) {
    for (const char *at = keys; *at; at += strcspn(at, " "), at += *at == ' ') {
        snprintf(key, SX_NAME_SIZE, "%.*s", (int)strcspn(at, " "), at);
        const sx_node *node = sx_config_get(c, key);
        if (node) return node;
    }
    snprintf(key, SX_NAME_SIZE, "%.*s", (int)strcspn(keys, " "), keys);
    return NULL;
}

static size_t count_words(const char *key) {
    size_t n = 1;
    for (; *key; key++) n += *key == '_' || *key == '-';
    return n;
}

/* Refuses a key that is one letter off one that is not there, or the same but for case and signs. Configurations have many
 * other keys: of those that look alike (v_head_dim and head_dim) the first letters or the numbers of words differ. */
static sx_status refuse_slip(const sx_config *c, const char *keys) {
    char key[SX_NAME_SIZE];
    for (const char *at = keys; *at; at += strcspn(at, " "), at += *at == ' ') {
        snprintf(key, sizeof key, "%.*s", (int)strcspn(at, " "), at);
        for (size_t i = 0; i < c->map->n && !sx_node_get(c->map, key); i++) {
            const sx_pair *pair = &c->map->pair[i];
            const unsigned distance = sx_key_distance(pair->key, key);
            const bool alike = *pair->key == *key && count_words(pair->key) == count_words(key);
            if (distance != 0 && (distance != 1 || !alike)) continue;
            return sx_error_hint(sx_error_at(pair->place,
                                             "the configuration of a '%s' has '%.64s' and no '%s'", c->kind,
                                             pair->key, key),
                                 "did you mean '%s'?", key);
        }
    }
    return SX_OK;
}

/* A number that must be there, from 1 to `most`. */
static sx_status need_within(const sx_config *c, const char *keys, uint64_t most, uint64_t *out) {
    char key[SX_NAME_SIZE];
    const sx_node *node = get_any(c, keys, key);
    if (node) return sx_node_range(node, key, 1, most, out);
    if (c->nested && *out) return SX_OK;
    return sx_error_hint(sx_error_at(c->map->place, "the configuration of a '%s' has no '%s'", c->kind, key),
                         "docs/llm.md lists the keys that a configuration needs");
}

sx_status sx_config_need(const sx_config *c, const char *keys, uint64_t *out) {
    return need_within(c, keys, 1u << 30, out);
}

sx_status sx_config_need_layers(const sx_config *c, const char *keys, uint64_t *out) {
    return need_within(c, keys, SX_MAX_LAYERS, out);
}

sx_status sx_config_may(const sx_config *c, const char *keys, uint64_t low, uint64_t *out) {
    char key[SX_NAME_SIZE];
    const sx_node *node = get_any(c, keys, key);
    return node ? sx_node_range(node, key, low, 1u << 30, out) : refuse_slip(c, keys);
}

sx_status sx_config_flag(const sx_config *c, const char *key, bool *out) {
    const sx_node *node = sx_config_get(c, key);
    return node ? sx_node_bool(node, key, out) : refuse_slip(c, key);
}

sx_status sx_config_items(const sx_config *c, const char *key, sx_node_kind kind, const sx_node **out) {
    const sx_node *node = sx_config_get(c, key);
    *out = node;
    return node ? sx_node_expect(node, kind, key) : refuse_slip(c, key);
}

sx_status sx_config_mark_layers(const sx_config *c, const char *key, sx_model_sizes *z, uint8_t flag,
                                uint64_t *n) {
    const sx_node *list;
    uint64_t marked = 0;
    SX_TRY(sx_config_items(c, key, SX_NODE_LIST, &list));
    for (size_t i = 0; list && i < list->n; i++) {
        uint64_t layer;
        SX_TRY(sx_node_range(list->item[i], key, 0, z->layers - 1, &layer));
        marked += !(z->layer[layer] & flag);
        z->layer[layer] |= flag;
    }
    if (n) *n = marked;
    return SX_OK;
}

sx_status sx_config_check_divides(const sx_config *c, uint64_t of, const char *of_key, uint64_t by,
                                  const char *by_key) {
    char key[SX_NAME_SIZE];
    if (by && of % by == 0) return SX_OK;
    const sx_node *node = get_any(c, by_key, key);
    sx_status error = sx_error_hint(
        sx_error_new(SX_ERR_INPUT, "'%s' is %llu, which '%.*s' %llu does not divide", of_key,
                     (unsigned long long)of, (int)strcspn(by_key, " "), by_key, (unsigned long long)by),
        "heads of queries share those of keys, and a token's vector is divided into heads, without a rest");
    return node ? sx_error_place(error, node->place) : error;
}

sx_status sx_config_within(const sx_config *c, const char *key, sx_config *out) {
    const sx_node *map;
    SX_TRY(sx_config_items(c, key, SX_NODE_MAP, &map));
    if (!map) return sx_error_at(c->map->place, "the configuration of a '%s' has no '%s'", c->kind, key);
    *out = (sx_config){.map = map, .kind = c->kind, .nested = true, .marks = c->marks};
    return SX_OK;
}

sx_status sx_config_common(const sx_config *c, sx_model_sizes *z) {
    SX_TRY(sx_config_need(c, "hidden_size n_embd d_model", &z->width));
    SX_TRY(sx_config_need_layers(c, "num_hidden_layers n_layer num_layers", &z->layers));
    SX_TRY(sx_config_need(c, SX_CONFIG_HEADS, &z->heads));
    if (!c->nested || !z->kv_heads) z->kv_heads = z->heads;
    SX_TRY(sx_config_may(c, "num_key_value_heads", 1, &z->kv_heads));
    SX_TRY(sx_config_check_divides(c, z->heads, "num_attention_heads", z->kv_heads, "num_key_value_heads"));
    SX_TRY(sx_config_may(c, "head_dim", 1, &z->head));
    if (!z->head) SX_TRY(sx_config_check_divides(c, z->width, "hidden_size", z->heads, SX_CONFIG_HEADS));
    if (!z->head) z->head = z->width / z->heads;
    if (!c->nested || !z->hidden) z->hidden = 4 * z->width;
    return sx_config_may(c, "intermediate_size n_inner", 1, &z->hidden);
}

#define UNET "UNet2DConditionModel"
#define DIT "DiTTransformer2DModel"

/* Keys that may have one value alone. */
static const struct {
    const char *kind, *key, *known;
} known_values[] = {
    {"phi", "qk_layernorm", "false"},
    {"gpt2", "add_cross_attention", "false"},
    {"mamba", "use_bias", "false"},
    {"mamba", "use_conv_bias", "true"},
    {"vit", "qkv_bias", "true"},
    {"sam", "qkv_bias", "true"},
    {"sam", "use_rel_pos", "true"},
    {"sam", "use_abs_pos", "true"},
    {DIT, "norm_type", "ada_norm_zero"},
    {DIT, "attention_bias", "true"},
    {UNET, "layers_per_block", "2"},
    {UNET, "transformer_layers_per_block", "1"},
    {UNET, "dual_cross_attention", "false"},
    {UNET, "only_cross_attention", "false"},
    {UNET, "mid_block_type", "UNetMidBlock2DCrossAttn"},
};

sx_status sx_config_check_known(const sx_config *c) {
    for (size_t i = 0; i < sizeof known_values / sizeof *known_values; i++) {
        const char *key = known_values[i].key, *known = known_values[i].known, *text;
        const sx_node *node = strcmp(known_values[i].kind, c->kind) == 0 ? sx_config_get(c, key) : NULL;
        if (!node) continue;
        SX_TRY(sx_node_text(node, key, &text));
        if (strcmp(text, known) != 0)
            return sx_error_at(node->place, "'%s' of a '%s' is %s; only %s is known", key, c->kind, text,
                               known);
    }
    return SX_OK;
}
