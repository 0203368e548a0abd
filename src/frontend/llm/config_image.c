/* From the keys of configurations of networks of images and sounds to sizes. */
#include "frontend/llm/config_keys.h"

#include <string.h>

/* An image in patches. */
static sx_status read_patches(const sx_config *c, sx_model_sizes *z) {
    SX_TRY(sx_config_common(c, z));
    SX_TRY(sx_config_need(c, "image_size sample_size", &z->image));
    SX_TRY(sx_config_need(c, "patch_size", &z->patch));
    z->channels = 3;
    SX_TRY(sx_config_may(c, "num_channels in_channels", 1, &z->channels));
    return sx_config_check_divides(c, z->image, "image_size", z->patch, "patch_size");
}

sx_status sx_config_read_vit(const sx_config *c, sx_model_sizes *z) {
    const sx_node *labels;
    SX_TRY(read_patches(c, z));
    SX_TRY(sx_config_items(c, "id2label", SX_NODE_MAP, &labels));
    z->classes = labels && labels->n ? labels->n : 1000;
    return sx_config_may(c, "num_labels", 1, &z->classes);
}

sx_status sx_config_read_clip(const sx_config *c, sx_model_sizes *z, sx_model_sizes *text) {
    sx_config part;
    z->width = 768;
    z->layers = z->heads = 12;
    z->hidden = 3072;
    z->image = 224;
    z->patch = 32;
    z->projection = 512;
    SX_TRY(sx_config_within(c, "vision_config", &part));
    SX_TRY(read_patches(&part, z));
    z->pre_norm = z->no_patch_bias = z->quick_gelu = z->layer_norm = true;
    *text = (sx_model_sizes){.layer_norm = true,
                             .quick_gelu = true,
                             .width = 512,
                             .layers = 12,
                             .heads = 8,
                             .hidden = 2048,
                             .vocab = 49408,
                             .positions = 77};
    SX_TRY(sx_config_within(c, "text_config", &part));
    SX_TRY(sx_config_common(&part, text));
    SX_TRY(sx_config_need(&part, "vocab_size", &text->vocab));
    SX_TRY(sx_config_need(&part, "max_position_embeddings", &text->positions));
    SX_TRY(sx_config_may(c, "projection_dim", 1, &z->projection));
    text->projection = z->projection;
    return SX_OK;
}

sx_status sx_config_read_sam(const sx_config *c, sx_model_sizes *z) {
    sx_config part;
    double ratio = 4;
    z->width = 768;
    z->layers = z->heads = 12;
    z->image = 1024;
    z->patch = 16;
    z->window = 14;
    z->neck = 256;
    SX_TRY(sx_config_within(c, "vision_config", &part));
    SX_TRY(sx_config_check_known(&part));
    SX_TRY(read_patches(&part, z));
    SX_TRY(sx_config_need(&part, "window_size", &z->window));
    SX_TRY(sx_config_need(&part, "output_channels", &z->neck));
    const sx_node *given = sx_config_get(&part, "mlp_ratio");
    if (given) SX_TRY(sx_node_double(given, "mlp_ratio", &ratio));
    if (!(ratio > 0 && ratio <= 64))
        return sx_error_at(given->place, "'mlp_ratio' is %g; it must be above 0 and at most 64", ratio);
    z->hidden = (uint64_t)((double)z->width * ratio);
    SX_TRY(sx_config_may(&part, "mlp_dim", 1, &z->hidden));
    if (sx_node_get(part.map, "global_attn_indexes"))
        return sx_config_mark_layers(&part, "global_attn_indexes", z, SX_LAYER_WHOLE, &z->global);
    for (uint64_t i = 2; i < z->layers; i += 3) z->layer[i] |= SX_LAYER_WHOLE, z->global++;
    return SX_OK;
}

sx_status sx_config_read_whisper(const sx_config *c, sx_model_sizes *z) {
    SX_TRY(sx_config_need(c, "d_model", &z->width));
    SX_TRY(sx_config_need_layers(c, "encoder_layers", &z->layers));
    SX_TRY(sx_config_need_layers(c, "decoder_layers", &z->decoder_layers));
    SX_TRY(sx_config_need(c, "encoder_attention_heads", &z->heads));
    z->kv_heads = z->heads;
    SX_TRY(sx_config_check_divides(c, z->width, "d_model", z->heads, "encoder_attention_heads"));
    z->head = z->width / z->heads;
    SX_TRY(sx_config_need(c, "encoder_ffn_dim", &z->hidden));
    z->decoder_heads = z->heads;
    z->decoder_hidden = z->hidden;
    SX_TRY(sx_config_may(c, "decoder_attention_heads", 1, &z->decoder_heads));
    SX_TRY(sx_config_check_divides(c, z->width, "d_model", z->decoder_heads, "decoder_attention_heads"));
    SX_TRY(sx_config_may(c, "decoder_ffn_dim", 1, &z->decoder_hidden));
    SX_TRY(sx_config_need(c, "num_mel_bins", &z->mel));
    SX_TRY(sx_config_need(c, "max_source_positions", &z->frames));
    SX_TRY(sx_config_need(c, "max_target_positions", &z->positions));
    return sx_config_need(c, "vocab_size", &z->vocab);
}

sx_status sx_config_read_dit(const sx_config *c, sx_model_sizes *z) {
    SX_TRY(sx_config_need(c, SX_CONFIG_HEADS, &z->heads));
    SX_TRY(sx_config_need(c, "attention_head_dim", &z->head));
    z->kv_heads = z->heads;
    z->width = z->heads * z->head;
    z->hidden = 4 * z->width;
    SX_TRY(sx_config_need_layers(c, "num_layers", &z->layers));
    SX_TRY(sx_config_need(c, "sample_size", &z->image));
    SX_TRY(sx_config_need(c, "patch_size", &z->patch));
    SX_TRY(sx_config_check_divides(c, z->image, "sample_size", z->patch, "patch_size"));
    SX_TRY(sx_config_need(c, "in_channels", &z->channels));
    z->out_channels = z->channels;
    SX_TRY(sx_config_may(c, "out_channels", 1, &z->out_channels));
    return sx_config_need(c, "num_embeds_ada_norm", &z->classes);
}

/* Refuses blocks of a U-Net other than those with attention in all stages but the innermost one. */
static sx_status check_blocks(const sx_config *c, const char *key, const char *with, const char *without,
                              bool last) {
    const sx_node *list;
    SX_TRY(sx_config_items(c, key, SX_NODE_LIST, &list));
    for (size_t i = 0; list && i < list->n; i++) {
        const char *text, *known = i == (last ? list->n - 1 : 0) ? without : with;
        SX_TRY(sx_node_text(list->item[i], key, &text));
        if (strcmp(text, known) != 0)
            return sx_error_at(list->item[i]->place, "block %zu of '%s' is a '%s'; only '%s' is known there",
                               i + 1, key, text, known);
    }
    return SX_OK;
}

/* A number of each stage of a U-Net: a list, or one for all. */
static sx_status read_stages(const sx_config *c, const char *key, uint64_t usual, uint64_t out[SX_MAX_STAGES],
                             size_t n) {
    const sx_node *node = sx_config_get(c, key);
    const bool list = node && node->kind == SX_NODE_LIST;
    if (list && node->n != n)
        return sx_error_at(node->place, "'%s' has %zu items for %zu stages", key, node->n, n);
    for (size_t i = 0; i < n; i++) {
        out[i] = usual;
        if (node) SX_TRY(sx_node_range(list ? node->item[i] : node, key, 1, 1u << 20, &out[i]));
    }
    return SX_OK;
}

sx_status sx_config_read_unet(const sx_config *c, sx_model_sizes *z) {
    const sx_node *list;
    const char *heads =
        sx_config_get(c, "num_attention_heads") ? "num_attention_heads" : "attention_head_dim";
    SX_TRY(sx_config_items(c, "block_out_channels", SX_NODE_LIST, &list));
    if (!list)
        return sx_error_at(c->map->place, "the configuration of a '%s' has no 'block_out_channels'", c->kind);
    if (list->n != 4)
        return sx_error_at(list->place, "'block_out_channels' has %zu stages; a U-Net of 4 is known",
                           list->n);
    z->n_stages = list->n;
    SX_TRY(read_stages(c, "block_out_channels", 0, z->stage, z->n_stages));
    SX_TRY(read_stages(c, heads, 8, z->stage_heads, z->n_stages));
    SX_TRY(check_blocks(c, "down_block_types", "CrossAttnDownBlock2D", "DownBlock2D", true));
    SX_TRY(check_blocks(c, "up_block_types", "CrossAttnUpBlock2D", "UpBlock2D", false));
    SX_TRY(sx_config_need(c, "sample_size", &z->image));
    SX_TRY(sx_config_need(c, "in_channels", &z->channels));
    z->out_channels = 4;
    SX_TRY(sx_config_may(c, "out_channels", 1, &z->out_channels));
    SX_TRY(sx_config_need(c, "cross_attention_dim", &z->text_width));
    z->text_tokens = 77;
    for (size_t i = 0; i < list->n; i++)
        SX_TRY(sx_config_check_divides(c, z->stage[i], "block_out_channels", z->stage_heads[i], heads));
    return z->image % 8 == 0 ? SX_OK : sx_config_check_divides(c, z->image, "sample_size", 8, "sample_size");
}
