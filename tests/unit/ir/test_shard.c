/* Graphs divided among chips: work, tensors and collective operations. */
#include "ir/shard.h"

#include "sextant/network.h"
#include "sextant/operators.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The graph of a decode step with 100 tokens before it, and its operators. */
static void make_decode(const char *model, sx_graph *graph) {
    sx_network_options options = {.phase = SX_PHASE_DECODE, .context = 100, .has_context = true, .batch = 4};
    sx_expect_ok(sx_catalog_graph(model, &options, graph));
}

/* What a graph does, and its collective operations. */
typedef struct work {
    sx_operator_totals totals;
    uint64_t sums, gathers, exchanges; /* nodes: all-reduce, all-gather, all-to-all */
    double exchange_bytes;             /* of all of them */
    double sum_bytes;                  /* of an all-reduce */
} work;

/* Divides a model and counts. */
static void divide_by(const char *model, unsigned chips, bool by_experts, work *out) {
    sx_graph whole, part;
    sx_operators operators;
    make_decode(model, &whole);
    sx_expect_ok(sx_graph_shard(&whole, chips, by_experts, &part));
    sx_expect_ok(sx_graph_operators(&part, &operators));
    *out = (work){.totals = operators.totals};
    for (size_t i = 0; i < operators.n; i++) {
        const char *function = part.node[operators.op[i].node].function;
        if (strcmp(function, "all-reduce") == 0) {
            out->sums += operators.op[i].count;
            out->sum_bytes = operators.op[i].write_bytes;
        }
        if (strcmp(function, "all-gather") == 0) out->gathers += operators.op[i].count;
        if (strcmp(function, "all-to-all") == 0) {
            out->exchanges += operators.op[i].count;
            out->exchange_bytes += (double)operators.op[i].count * operators.op[i].write_bytes;
        }
    }
    sx_operators_fini(&operators);
    sx_graph_fini(&part);
    sx_graph_fini(&whole);
}

/* The same, experts by columns and rows. */
static void divide(const char *model, unsigned chips, work *out) {
    divide_by(model, chips, false, out);
}

/* Products, weights and caches are divided; two sums a layer and the scores of words go over the link. */
static void columns_rows_and_heads(void **state) {
    (void)state;
    work one, four;
    divide("llama-3.2-1b", 1, &one);
    divide("llama-3.2-1b", 4, &four);
    assert_int_equal(one.sums + one.gathers, 0);
    assert_int_equal(four.totals.macs * 4, one.totals.macs);
    assert_int_equal(four.totals.state_reads * 4, one.totals.state_reads);
    assert_int_equal(four.totals.state_held * 4, one.totals.state_held);
    assert_int_equal(four.sums, 2 * 16);
    assert_int_equal(four.gathers, 1);
    assert_true(four.sum_bytes == 4 * 2048);
}

/* One chip runs the graph as it is. */
static void one_chip(void **state) {
    (void)state;
    work one;
    sx_graph graph;
    sx_operators operators;
    divide("mixtral-8x7b", 1, &one);
    make_decode("mixtral-8x7b", &graph);
    sx_expect_ok(sx_graph_operators(&graph, &operators));
    assert_memory_equal(&operators.totals, &one.totals, sizeof one.totals);
    sx_operators_fini(&operators);
    sx_graph_fini(&graph);
}

/* Sixteen chips share eight heads of keys and values: each has one, and half of the queries that read it. */
static void copied_keys(void **state) {
    (void)state;
    work one, eight, sixteen;
    divide("llama-3.2-1b", 1, &one);
    divide("llama-3.2-1b", 8, &eight);
    divide("llama-3.2-1b", 16, &sixteen);
    assert_int_equal(sixteen.totals.state_held, eight.totals.state_held);
    assert_true(sixteen.totals.macs > one.totals.macs / 16);
    assert_true(sixteen.totals.macs < one.totals.macs / 14);
}

/* Experts are divided by their columns and rows. */
static void experts(void **state) {
    (void)state;
    work one, four;
    divide("mixtral-8x7b", 1, &one);
    divide("mixtral-8x7b", 4, &four);
    assert_true(four.totals.macs * 100 < one.totals.macs * 26);
    assert_true(four.totals.weights_held_bytes < one.totals.weights_held_bytes * 0.26);
}

/* Experts are divided whole: 4 tokens hit 5 of 8 experts, 2 with one token and 3 with two, so that the busiest of 4 chips
 * has one of each. Results of 8 slots are exchanged, 2 rounded up to 1 and 6 to 2 on a chip, and sums are brought
 * together. */
static void whole_experts(void **state) {
    (void)state;
    const double d = 4096, hidden = 14336, layers = 32, product = 3 * d * hidden;
    work one, rows, four;
    divide("mixtral-8x7b", 1, &one);
    divide("mixtral-8x7b", 4, &rows);
    divide_by("mixtral-8x7b", 4, true, &four);
    assert_true(four.totals.weights_held_bytes == rows.totals.weights_held_bytes);
    assert_int_equal(four.sums, layers);
    assert_int_equal(four.exchanges, 2 * layers);
    assert_true(four.exchange_bytes == layers * d * (1 + 2));
    assert_int_equal(four.gathers, layers + 1);
    assert_int_equal(four.totals.macs - rows.totals.macs, layers * product * (3 - 8 / 4.0));
    assert_true(four.totals.weights_read < one.totals.weights_read);
    divide("mixtral-8x7b", 2, &rows);
    divide_by("mixtral-8x7b", 2, true, &four);
    assert_int_equal(four.totals.macs - rows.totals.macs, layers * product * (1 + 2 * 2 - 8 / 2.0));
}

/* Experts that do not divide are refused. */
static void experts_that_do_not_divide(void **state) {
    (void)state;
    sx_graph whole, part;
    make_decode("mixtral-8x7b", &whole);
    sx_expect_error(sx_graph_shard(&whole, 16, true, &part), "the 8 experts of");
    sx_graph_fini(&whole);
}

/* Latents stay whole, heads over them are divided; states of scans are. */
static void latents_and_scans(void **state) {
    (void)state;
    work one, four;
    divide("deepseek-v2-lite", 1, &one);
    divide("deepseek-v2-lite", 4, &four);
    assert_int_equal(four.totals.state_held, one.totals.state_held);
    assert_true(four.totals.macs < one.totals.macs / 3);
    divide("mamba-130m", 1, &one);
    divide("mamba-130m", 2, &four);
    assert_true(four.totals.macs < one.totals.macs);
}

/* Heads that do not divide are refused. */
static void heads_that_do_not_divide(void **state) {
    (void)state;
    sx_graph whole, part;
    make_decode("llama-3.2-1b", &whole);
    sx_expect_error(sx_graph_shard(&whole, 3, false, &part),
                    "--chips 3: the heads of 'layer0.scores' do not divide by it");
    sx_expect_error(sx_graph_shard(&whole, 64, false, &part), "take a divisor of the number of heads");
    sx_graph_fini(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_rows_and_heads),
        cmocka_unit_test(one_chip),
        cmocka_unit_test(copied_keys),
        cmocka_unit_test(experts),
        cmocka_unit_test(whole_experts),
        cmocka_unit_test(experts_that_do_not_divide),
        cmocka_unit_test(latents_and_scans),
        cmocka_unit_test(heads_that_do_not_divide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
