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

static void wrong_keys_are_refused(void **state) {
    (void)state;
#define START "{model_type: llama, hidden_size: 64, num_hidden_layers: 1, vocab_size: 100, "
    static const struct {
        const char *config, *message;
    } rows[] = {
        {"{model_type: lama, hidden_size: 64}", "unknown architecture 'lama'"},
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
        {"{model_type: gemma3}", "the configuration of a 'gemma3' has no 'text_config'"},
        {"{_class_name: UNet2DConditionModel, block_out_channels: [1, 2]}",
         "'block_out_channels' has 2 stages"},
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_by_hand),          cmocka_unit_test(kinds_read_back),
        cmocka_unit_test(wrong_keys_are_refused), cmocka_unit_test(wrong_runs_are_refused),
        cmocka_unit_test(limits_are_exact),       cmocka_unit_test(published_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
