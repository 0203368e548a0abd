/* States, experts and parts of ranks in graph files: a sound one, what is counted of it, and what is refused after one
 * change of it. */
#include "sextant/all.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One decoding step of two sequences after three tokens: keys of 8 features are appended, updated in place and read;
 * two of four experts multiply halves of what was read. */
static const char sound[] =
    "graph:\n"
    "  name: step\n"
    "  run: {phase: decode, batch: 2, tokens: 1, context: 3, parameters: 1000}\n"
    "  tensors:\n"
    "  - {name: x, shape: [8, 2]}\n"
    "  - {name: wk, shape: [8, 8], weight: true}\n"
    "  - {name: keys, shape: [8, 8], state: true, held: 48}\n"
    "  - {name: q, shape: [8, 2]}\n"
    "  - {name: s, shape: [4, 2]}\n"
    "  - {name: we, shape: [16, 4], weight: true}\n"
    "  - {name: y, shape: [8, 2]}\n"
    "  nodes:\n"
    "  - name: k\n"
    "    einsum: 'O[m,n] += W[m,k]*X[k,n] {m:8,k:8,n:2}'\n"
    "    operands: {O: {tensor: keys, part: {rank: 1, offset: 6, length: 2}}, W: wk, X: x}\n"
    "  - {name: turn, kind: other, function: rotary, reads: [x, {tensor: keys, part: [{rank: 0, length: 2, "
    "block: 4},"
    " {rank: 1, offset: 6, length: 2}]}], writes: [q, {tensor: keys, part: [{rank: 0, length: 2, block: 4},"
    " {rank: 1, offset: 6, length: 2}]}]}\n"
    "  - name: scores\n"
    "    einsum: 'O[m,b] += K[d,m,b]*Q[d,b] {m:4,d:8,b:2}'\n"
    "    operands: {O: s, K: {tensor: keys, ranks: [0, [1, 2]]}, Q: q}\n"
    "    counts: {useful: 60}\n"
    "  - name: experts\n"
    "    repeat: 2\n"
    "    einsum: 'O[m,n] += W[m,k]*X[k,n] {m:4,k:4,n:2}'\n"
    "    operands: {O: {tensor: y, split: 0}, W: {tensor: we, split: 0, of: 4}, X: {tensor: q, split: 0}}\n";

/* The graph of a text, or the error. */
static sx_status read_graph(const char *text, sx_graph *out) {
    sx_input *input;
    sx_expect_ok(sx_input_new(&input));
    sx_status status = sx_input_add_text(input, "step.yaml", text, strlen(text));
    if (!status) status = sx_input_graph(input, out);
    sx_input_free(input);
    return status;
}

static void counts_states_and_experts(void **state) {
    (void)state;
    sx_graph graph;
    sx_operators all;
    sx_expect_ok(read_graph(sound, &graph));
    sx_expect_ok(sx_graph_operators(&graph, &all));
    assert_int_equal(all.n, 4);
    assert_int_equal(all.op[0].state_writes, 16);
    assert_int_equal(all.op[0].weights, 64);
    assert_true(all.op[1].vector);
    assert_int_equal(all.op[1].elements, 16 + 8);
    assert_int_equal(all.op[1].reads, 16 + 8);
    assert_int_equal(all.op[1].state_reads, 0);
    assert_int_equal(all.op[2].state_reads, 64);
    assert_int_equal(all.op[2].macs, 64);
    assert_int_equal(all.op[2].useful_macs, 60);
    assert_int_equal(all.op[3].weights, 32);
    assert_int_equal(all.op[3].macs, 64);
    assert_int_equal(all.totals.experts_hit, 2);
    assert_int_equal(all.totals.state_held, 48);
    assert_int_equal(all.totals.state_per_token, 8);
    assert_int_equal(all.totals.parameters, 1000);
    assert_int_equal(all.totals.weights_read, 64 + 32);
    assert_true(all.totals.weights_held_bytes == 128);
    sx_operators_fini(&all);
    sx_graph_fini(&graph);
}

static void reads_back(void **state) {
    (void)state;
    for (int format = SX_YAML; format <= SX_JSON; format++) {
        sx_graph graph, again;
        char *text, *second;
        sx_expect_ok(read_graph(sound, &graph));
        sx_expect_ok(sx_graph_write(&graph, (sx_format)format, &text));
        sx_expect_ok(read_graph(text, &again));
        sx_expect_ok(sx_graph_write(&again, (sx_format)format, &second));
        assert_string_equal(text, second);
        assert_memory_equal(graph.operand, again.operand, graph.n_operands * sizeof *graph.operand);
        assert_memory_equal(&graph.run, &again.run, sizeof graph.run);
        free(text);
        free(second);
        sx_graph_fini(&graph);
        sx_graph_fini(&again);
    }
}

/* States come from outside, and nodes keep their order. */
static void states_have_no_producer(void **state) {
    (void)state;
    sx_graph graph;
    size_t producer[7], order[4];
    sx_expect_ok(read_graph(sound, &graph));
    sx_graph_producers(&graph, producer);
    assert_true(producer[2] == SX_NO_INDEX);
    assert_int_equal(producer[3], 1);
    sx_expect_ok(sx_graph_order(&graph, order));
    for (size_t i = 0; i < 4; i++) assert_int_equal(order[i], i);
    sx_graph_fini(&graph);
}

static void changes_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *message;
    } rows[] = {
        {"state: true, held", "state: true, weight: true, held", "tensor 'keys' is a weight and a state"},
        {"held: 48", "held: 100", "tensor 'keys' holds 100 elements, but has fewer"},
        {"shape: [8, 2]}\n  - {name: s", "shape: [8, 2], held: 4}\n  - {name: s", "but is no state"},
        {"of: 4", "of: 1", "node 'experts' uses 2 of 1 parts of tensor 'we'"},
        {"of: 4", "of: 8", "W of its einsum spans 32 along rank 0 of tensor 'we', which has 16"},
        {"offset: 6, length: 2}}", "offset: 7, length: 2}}",
         "uses 2 elements from 7 on of every 8 along rank 1"},
        {"offset: 6, length: 2}}", "offset: 5, length: 3}}",
         "O of its einsum spans 2 along rank 1 of tensor 'keys', of which it "
         "uses 3"},
        {"part: {rank: 1", "part: {rank: 3", "tensor 'keys' has no rank 3"},
        {"rank: 0, length: 2, block: 4}, {rank: 1, offset: 6, length: 2}]}], writes",
         "rank: 0, length: 2, block: 3}, {rank: 1, offset: 6, length: 2}]}], writes",
         "of every 3 along rank 0"},
        {"Q: q}", "Q: {tensor: q, of: 2}}", "'scores' uses 1 of 2 parts"},
        {"reads: [x,", "reads: [s,", "node 'turn' reads tensor 's' before node 'scores' writes it"},
        {"O: s,", "O: q,", "nodes 'turn' and 'scores' both write tensor 'q'"},
        {"state: true, held: 48", "bits: 8",
         "node 'scores' reads elements of tensor 'keys' that no node writes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[sizeof sound + 200];
        sx_graph graph;
        const char *at = strstr(sound, rows[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - sound), sound, rows[i].to,
                 at + strlen(rows[i].from));
        sx_status error = read_graph(text, &graph);
        if (!error) fail_msg("change %zu is accepted", i);
        if (!strstr(error->message, rows[i].message)) fail_msg("change %zu: %s", i, error->message);
        sx_status_free(error);
    }
}

/* Two nodes that write a half each of a tensor, which a third one reads with other borders. */
static const char halves[] =
    "graph:\n"
    "  name: halves\n"
    "  tensors:\n"
    "  - {name: x, shape: [8, 4]}\n"
    "  - {name: w, shape: [8, 8], weight: true}\n"
    "  - {name: both, shape: [8, 8]}\n"
    "  - {name: y, shape: [8, 5]}\n"
    "  nodes:\n"
    "  - name: low\n"
    "    einsum: 'O[m,n] += W[m,k]*X[k,n] {m:8,k:8,n:4}'\n"
    "    operands: {O: {tensor: both, part: {rank: 1, length: 4}}, W: w, X: x}\n"
    "  - name: high\n"
    "    repeat: 2\n"
    "    einsum: 'O[m,n] += W[m,k]*X[k,n] {m:4,k:8,n:4}'\n"
    "    operands: {O: {tensor: both, split: 0, part: {rank: 1, offset: 4, length: 4}}, W: {tensor: w, "
    "split: 0}, X: x}\n"
    "  - name: rest\n"
    "    einsum: 'O[m,n] += W[m,k]*X[k,n] {m:8,k:8,n:5}'\n"
    "    operands: {O: y, W: w, X: {tensor: both, part: {rank: 1, offset: 1, length: 5}}}\n";

/* A tensor that is no state may be written in parts as long as they cover what is read of it. */
static void what_is_read_must_be_written(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        bool sound;
    } rows[] = {
        {"n:4}", "n:4}", true},
        {"n:4}'\n    operands: {O: {tensor: both, part: {rank: 1, length: 4}}, W: w, X: x}",
         "n:1}'\n    operands: {O: {tensor: both, part: {rank: 1, offset: 1, length: 1}}, W: w, X: {tensor: "
         "x, part: "
         "{rank: 1, length: 1}}}",
         false},
        {"n:4}'\n    operands: {O: {tensor: both, part: {rank: 1, length: 4}}, W: w, X: x}",
         "n:3}'\n    operands: {O: {tensor: both, part: {rank: 1, offset: 1, length: 3}}, W: w, X: {tensor: "
         "x, part: "
         "{rank: 1, length: 3}}}",
         true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[sizeof halves + 200];
        sx_graph graph;
        const char *at = strstr(halves, rows[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - halves), halves, rows[i].to,
                 at + strlen(rows[i].from));
        sx_status error = read_graph(text, &graph);
        if (!error) sx_graph_fini(&graph);
        if (rows[i].sound) sx_expect_ok(error);
        if (rows[i].sound) continue;
        assert_non_null(error);
        assert_string_equal(error->message,
                            "node 'rest' reads elements of tensor 'both' that no node writes");
        assert_non_null(strstr(error->hint, "state: true"));
        sx_status_free(error);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_states_and_experts),    cmocka_unit_test(reads_back),
        cmocka_unit_test(states_have_no_producer),      cmocka_unit_test(changes_are_refused),
        cmocka_unit_test(what_is_read_must_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
