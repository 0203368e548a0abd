/* Configurations of small networks: what becomes of their keys, and what is refused. */
#include "frontend/input.h"
#include "sextant/all.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The graph of a configuration, or the error. */
static sx_status read_config(const char *text, const sx_network_options *options, sx_graph *out) {
    sx_input *input;
    sx_expect_ok(sx_input_new(&input));
    sx_status status = sx_input_add_text(input, "folder/tiny.json", text, strlen(text));
    if (!status && options) sx_input_set_run(input, options);
    if (!status) status = sx_input_graph(input, out);
    sx_input_free(input);
    return status;
}

#define TINY                                                                                                 \
    "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": "   \
    "4,\n"                                                                                                   \
    "\"num_key_value_heads\": 2, \"intermediate_size\": 96, \"vocab_size\": 100}"

static void llama_by_hand(void **state) {
    (void)state;
    const sx_network_options options = {
        .phase = SX_PHASE_DECODE, .batch = 3, .context = 10, .has_context = true};
    sx_graph graph;
    sx_operators all;
    sx_expect_ok(read_config(TINY, &options, &graph));
    assert_string_equal(graph.name, "tiny");
    sx_expect_ok(sx_graph_operators(&graph, &all));
    /* per layer: 64 x 64 twice, 64 x 32 twice, three of 64 x 96, two norms */
    const uint64_t layer = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 96 + 2 * 64;
    assert_int_equal(all.totals.parameters, 2 * 100 * 64 + 64 + 2 * layer);
    /* scores and context: 3 sequences, 4 heads of 16, 11 keys */
    assert_int_equal(all.totals.macs, 2 * (3 * (layer - 2 * 64) + 2 * 3 * 4 * 16 * 11) + 3 * 100 * 64);
    assert_int_equal(all.totals.state_held, 2 * 2 * 3 * 11 * 32);
    assert_int_equal(all.totals.state_reads, 2 * 2 * 3 * 11 * 32);
    assert_int_equal(all.totals.state_per_token, 2 * 2 * 32);
    sx_operators_fini(&all);
    sx_graph_fini(&graph);
}

/* Every kind, written and read back. */
static void kinds_read_back(void **state) {
    (void)state;
    static const char *const configs[] = {
        TINY,
        ("{model_type: mixtral, hidden_size: 64, num_hidden_layers: 1, num_attention_heads: 4, vocab_size: "
         "100, "
         "num_local_experts: 8, num_experts_per_tok: 2}"),
        ("{model_type: deepseek_v3, hidden_size: 64, num_hidden_layers: 2, num_attention_heads: 4, "
         "vocab_size: 100, "
         "kv_lora_rank: 16, q_lora_rank: 24, qk_rope_head_dim: 4, qk_nope_head_dim: 8, v_head_dim: 8, "
         "n_routed_experts: 8, "
         "n_shared_experts: 1, num_experts_per_tok: 2, moe_intermediate_size: 32, first_k_dense_replace: 1}"),
        ("{model_type: gemma3, text_config: {hidden_size: 64, num_hidden_layers: 6, num_attention_heads: 4, "
         "vocab_size: 100, "
         "sliding_window: 8}}"),
        ("{model_type: phi, hidden_size: 64, num_hidden_layers: 1, num_attention_heads: 4, vocab_size: 100, "
         "partial_rotary_factor: 0.5}"),
        "{model_type: gpt2, n_embd: 64, n_layer: 1, n_head: 4, n_positions: 64, vocab_size: 100}",
        "{model_type: mamba, hidden_size: 64, num_hidden_layers: 1, vocab_size: 100}",
    };
    for (size_t i = 0; i < 2 * sizeof configs / sizeof *configs; i++) {
        const sx_network_options options = {.phase = i & 1 ? SX_PHASE_DECODE : SX_PHASE_PREFILL,
                                            .tokens = 1 + i % 3,
                                            .batch = 2,
                                            .context = 13,
                                            .has_context = true};
        sx_graph graph, again;
        char *text;
        sx_input *input;
        sx_expect_ok(read_config(configs[i / 2], &options, &graph));
        sx_expect_ok(sx_graph_write(&graph, SX_YAML, &text));
        sx_expect_ok(sx_input_new(&input));
        sx_expect_ok(sx_input_add_text(input, "graph.yaml", text, strlen(text)));
        sx_expect_ok(sx_input_graph(input, &again));
        assert_int_equal(graph.n_operands, again.n_operands);
        assert_memory_equal(graph.operand, again.operand, graph.n_operands * sizeof *graph.operand);
        for (size_t t = 0; t < graph.n_tensors; t++) {
            assert_int_equal(graph.tensor[t].state, again.tensor[t].state);
            assert_int_equal(graph.tensor[t].held, again.tensor[t].held);
        }
        sx_input_free(input);
        free(text);
        sx_graph_fini(&graph);
        sx_graph_fini(&again);
    }
}

#define NESTED                                                                                               \
    "{model_type: gemma3, text_config: {hidden_size: 2560, intermediate_size: 10240, num_hidden_layers: 34"
#define UNET "{_class_name: UNet2DConditionModel, block_out_channels: [320, 640, 1280, 1280], in_channels: "

static void wrong_keys_are_refused(void **state) {
    (void)state;
#define START "{model_type: llama, hidden_size: 64, num_hidden_layers: 1, vocab_size: 100, "
    static const struct {
        const char *config, *message;
    } rows[] = {
        {"{model_type: lama, hidden_size: 64}", "unknown architecture 'lama'"},
        {"{d_model: 768, n_layer: 24, vocab_size: 50277, ssm_cfg: {}}",
         "the configuration has no 'model_type'"},
        {START "num_attention_heads: 5}",
         "'hidden_size' is 64, which 'num_attention_heads' 5 does not divide"},
        {START "num_attention_heads: 4, num_key_value_heads: 3}",
         "'num_attention_heads' is 4, which 'num_key_value_heads' 3 does not divide"},
        {START "num_attention_heads: 4, num_local_experts: 0, num_experts_per_tok: 1}", "num_local_experts"},
        {START "num_attention_heads: 4, num_local_experts: 2, num_experts_per_tok: 3}",
         "a token uses 3 experts of 2"},
        {START
         "num_attention_heads: 4, n_routed_experts: 2, num_experts_per_tok: 1, first_k_dense_replace: 2}",
         "'first_k_dense_replace' is more than the 1 layers"},
        {START "num_attention_heads: 4, partial_rotary_factor: 0}", "'partial_rotary_factor' is 0"},
        {START "head_dim: 16}", "the configuration of a 'llama' has no 'num_attention_heads'"},
        {START "num_attention_heads: 4, num_key_value_head: 2}",
         "the configuration of a 'llama' has 'num_key_value_head' and no 'num_key_value_heads'"},
        {START "num_attention_heads: 4, intermediate_siz: 2}",
         "has 'intermediate_siz' and no 'intermediate_size'"},
        {START "num_attention_heads: 4, tie_word_embedding: true}",
         "has 'tie_word_embedding' and no 'tie_word_embeddings'"},
        {START "num_attention_heads: 4, sliding_window: 8, layer_type: [x]}",
         "has 'layer_type' and no 'layer_types'"},
        {"{model_type: gemma3}", "the configuration of a 'gemma3' has no 'text_config'"},
        {"{_class_name: UNet2DConditionModel, block_out_channels: [1, 2]}",
         "'block_out_channels' has 2 stages"},
        {"{model_type: gemma9, text_config: {model_type: gemma9_text}}", "unknown architecture 'gemma9'"},
        {START "num_attention_heads: 4, sliding_window: 8, layer_types: [a, b]}",
         "'layer_types' has 2 items for 1 layers"},
        {START "num_attention_heads: 4, sliding_window: 8, layer_types: [linear_attention]}",
         "unknown type of layer 'linear_attention'"},
        {"{model_type: mamba, use_bias: true}", "'use_bias' of a 'mamba' is true; only false is known"},
        {"{model_type: qwen3_moe, hidden_size: 64, num_hidden_layers: 2, num_attention_heads: 4, vocab_size: "
         "9, "
         "num_experts: 4, num_experts_per_tok: 1, mlp_only_layers: [2]}",
         "'mlp_only_layers' must be a whole number from 0 to 1, but is '2'"},
        {"{model_type: sam, vision_config: {global_attn_indexes: [12]}}",
         "'global_attn_indexes' must be a whole number from 0 to 11"},
        {"{model_type: sam, vision_config: {mlp_ratio: 0}}", "'mlp_ratio' is 0"},
        {UNET "4, attention_head_dim: [1, 2]}", "'attention_head_dim' has 2 items for 4 stages"},
        {UNET "4, down_block_types: [CrossAttnDownBlock2D, DownBlock2D, DownBlock2D]}",
         "block 2 of 'down_block_types' is a 'DownBlock2D'; only 'CrossAttnDownBlock2D' is known there"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sx_graph graph;
        sx_status error = read_config(rows[i].config, NULL, &graph);
        if (!error) fail_msg("configuration %zu is accepted", i);
        if (!strstr(error->message, rows[i].message)) fail_msg("configuration %zu: %s", i, error->message);
        sx_status_free(error);
    }
}

static void wrong_runs_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *name;
        sx_network_options options;
        const char *message;
    } rows[] = {
        {"gpt-3-175b",
         {.phase = SX_PHASE_DECODE, .context = 2048, .has_context = true},
         "has 2048 learned positions"},
        {"whisper-large-v3",
         {.phase = SX_PHASE_DECODE, .context = 448, .has_context = true},
         "has 448 learned positions"},
        {"llama-3-8b", {.phase = SX_PHASE_FORWARD}, "llama-3-8b has no phase 'forward'"},
        {"vit-l-16", {.phase = SX_PHASE_DECODE}, "vit-l-16 has no phase 'decode'"},
        {"vit-l-16", {.tokens = 3}, "--tokens goes with the phases prefill and decode"},
        {"llama-3-8b", {.experts_hit = 3}, "llama-3-8b has no experts"},
        {"llama-3-8b", {.mla = SX_MLA_ABSORBED}, "llama-3-8b has no attention over latents"},
        {"mixtral-8x7b", {.experts_hit = 1}, "--experts-hit is 1; here 2 to 8 can be hit"},
        {"mixtral-8x7b", {.training = true}, "--training is not known for mixtral-8x7b"},
        {"resnet18", {.phase = SX_PHASE_DECODE}, "resnet18 has no phases"},
        {"llama-3-8b", {.tokens = 1 << 23, .batch = 1 << 20}, "are too many"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sx_graph graph;
        sx_status error = sx_catalog_graph(rows[i].name, &rows[i].options, &graph);
        if (!error) fail_msg("run %zu is accepted", i);
        if (!strstr(error->message, rows[i].message)) fail_msg("run %zu: %s", i, error->message);
        sx_status_free(error);
    }
}

/* The last tokens that learned positions allow. */
static void limits_are_exact(void **state) {
    (void)state;
    const sx_network_options options = {.phase = SX_PHASE_DECODE, .context = 2047, .has_context = true};
    sx_graph graph;
    sx_expect_ok(sx_catalog_graph("gpt-3-175b", &options, &graph));
    sx_graph_fini(&graph);
}

/* Parameters of the networks that tests/golden/llm has not, as published. */
static void published_parameters(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint64_t parameters;
    } rows[] = {
        {"llama-3.1-405b", 405853388800},  {"qwen2.5-72b", 72706203648}, {"qwen3-235b-a22b", 235093634560},
        {"deepseek-v2-lite", 15706484224}, {"phi-4", 14659507200},       {"mamba-130m", 129135360},
        {"clip-vit-l-14", 427616513},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sx_graph graph;
        sx_expect_ok(sx_catalog_graph(rows[i].name, NULL, &graph));
        if (graph.run.parameters != rows[i].parameters)
            fail_msg("%s: %llu", rows[i].name, (unsigned long long)graph.run.parameters);
        sx_graph_fini(&graph);
    }
}

/* Configurations as they are published, with keys that are missing, null, nested or lists: their parameters. */
static void published_configurations(void **state) {
    (void)state;
    static const struct {
        const char *config;
        uint64_t parameters;
    } rows[] = {
        {NESTED ", sliding_window: 1024}}", 3880263168},
        {"{model_type: llava, text_config: {model_type: llama, vocab_size: 32064}}", 6738939904},
        {"{model_type: mistral, hidden_size: 5120, num_hidden_layers: 40, num_attention_heads: 32, "
         "num_key_value_heads: 8, "
         "head_dim: 128, intermediate_size: 14336, vocab_size: 131072, sliding_window: null}",
         12247782400},
        {"{model_type: qwen3, hidden_size: 5120, num_hidden_layers: 40, num_attention_heads: 40, "
         "num_key_value_heads: 8, "
         "intermediate_size: 17408, vocab_size: 151936}",
         14768307200},
        {"{model_type: mamba, hidden_size: 2048, num_hidden_layers: 48, expand: 2, time_step_rank: auto, "
         "vocab_size: 50280}",
         1372178432},
        {"{model_type: vit, hidden_size: 768, num_hidden_layers: 12, num_attention_heads: 12, image_size: "
         "224, "
         "patch_size: 16, id2label: {0: cat, 1: dog}}",
         86567656 - 998 * 769},
        {"{model_type: clip, text_config: {}, vision_config: {patch_size: 16}}", 149620737},
        {"{model_type: sam, vision_config: {intermediate_size: 6144}}", 89670912},
        {"{model_type: whisper, d_model: 384, encoder_layers: 4, decoder_layers: 4, encoder_attention_heads: "
         "6, "
         "decoder_attention_heads: 12, encoder_ffn_dim: 1536, decoder_ffn_dim: 1546, num_mel_bins: 80, "
         "max_source_positions: 1500, max_target_positions: 448, vocab_size: 51865}",
         37760640 + 4 * 10 * (2 * 384 + 1)},
        {UNET "4, out_channels: 4, sample_size: 96, attention_head_dim: [5, 10, 20, 20], "
              "cross_attention_dim: 1024}",
         865910724},
        {UNET "9, sample_size: 64, attention_head_dim: 8, cross_attention_dim: 768}", 859535364},
        {"{_class_name: Transformer2DModel, norm_type: ada_norm_zero, num_layers: 28, num_attention_heads: "
         "16, "
         "attention_head_dim: 72, sample_size: 64, patch_size: 2, in_channels: 4, out_channels: 8, "
         "num_embeds_ada_norm: 1000}",
         676014368},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sx_graph graph;
        sx_expect_ok(read_config(rows[i].config, NULL, &graph));
        if (graph.run.parameters != rows[i].parameters)
            fail_msg("configuration %zu: %llu", i, (unsigned long long)graph.run.parameters);
        sx_graph_fini(&graph);
    }
}

/* What layers keep of 100 tokens, and what they have of parameters: four layers with a head of 16 features, of which some
 * have a window of 10 and some have experts. */
static void layers_differ(void **state) {
    (void)state;
#define FOUR                                                                                                 \
    "hidden_size: 16, num_hidden_layers: 4, num_attention_heads: 1, head_dim: 16, intermediate_size: 8, "    \
    "vocab_size: 10"
#define EXPERTS ", num_experts: 4, num_experts_per_tok: 1, moe_intermediate_size: 4"
    enum { FULL = 2 * 16 * 100, PART = 2 * 16 * 10, SPARSE = 4 * 16 + 4 * 3 * 16 * 4, DENSE = 3 * 16 * 8 };
    static const struct {
        const char *config;
        uint64_t held, parameters;
    } rows[] = {
        {"{model_type: gemma2, sliding_window: 10, " FOUR "}", 2 * FULL + 2 * PART, 0},
        {"{model_type: gemma2, sliding_window: 10, layer_types: [full_attention, full_attention, "
         "sliding_attention, full_attention], " FOUR "}",
         3 * FULL + PART, 0},
        {"{model_type: gemma3_text, sliding_window: 10, _sliding_window_pattern: 4, " FOUR "}",
         FULL + 3 * PART, 0},
        {"{model_type: mistral, sliding_window: 10, " FOUR "}", 4 * PART, 0},
        {"{model_type: mistral, sliding_window: null, " FOUR "}", 4 * FULL, 0},
        {"{model_type: qwen2, sliding_window: 10, " FOUR "}", 4 * FULL, 0},
        {"{model_type: qwen2, sliding_window: 10, use_sliding_window: true, max_window_layers: 1, " FOUR "}",
         FULL + 3 * PART, 0},
        {"{model_type: qwen3_moe, decoder_sparse_step: 1, " FOUR EXPERTS "}", 4 * FULL, 4 * SPARSE},
        {"{model_type: qwen3_moe, decoder_sparse_step: 2, " FOUR EXPERTS "}", 4 * FULL,
         2 * SPARSE + 2 * DENSE},
        {"{model_type: qwen3_moe, mlp_only_layers: [0, 3], " FOUR EXPERTS "}", 4 * FULL,
         2 * SPARSE + 2 * DENSE},
        {"{model_type: qwen3_moe, first_k_dense_replace: 1, moe_layer_freq: 2, " FOUR EXPERTS "}", 4 * FULL,
         SPARSE + 3 * DENSE},
    };
    const sx_network_options options = {.phase = SX_PHASE_DECODE, .context = 99, .has_context = true};
    const uint64_t others = 2 * 10 * 16 + 16 + 4 * (4 * 16 * 16 + 2 * 16 + 2 * 16);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sx_graph graph;
        sx_operators all;
        sx_expect_ok(read_config(rows[i].config, &options, &graph));
        sx_expect_ok(sx_graph_operators(&graph, &all));
        if (all.totals.state_held != rows[i].held)
            fail_msg("configuration %zu holds %llu", i, (unsigned long long)all.totals.state_held);
        if (rows[i].parameters) assert_int_equal(all.totals.parameters, others + rows[i].parameters);
        sx_operators_fini(&all);
        sx_graph_fini(&graph);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_by_hand),
        cmocka_unit_test(kinds_read_back),
        cmocka_unit_test(wrong_keys_are_refused),
        cmocka_unit_test(wrong_runs_are_refused),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(published_parameters),
        cmocka_unit_test(published_configurations),
        cmocka_unit_test(layers_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
