/* Graphs in files: what is written reads back, and what is wrong is refused with its place. */
#include "sextant/input.h"
#include "sextant/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sx_status read_text(const char *text, sx_graph *out) {
    sx_input *input;
    assert_null(sx_input_new(&input));
    sx_status status = sx_input_add_text(input, "g.yaml", text, strlen(text));
    if (!status) status = sx_input_graph(input, out);
    sx_input_free(input);
    return status;
}

static void assert_equal(const sx_graph *a, const sx_graph *b) {
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->n_nodes, b->n_nodes);
    assert_int_equal(a->n_tensors, b->n_tensors);
    assert_int_equal(a->n_operands, b->n_operands);
    assert_int_equal(a->n_einsums, b->n_einsums);
    assert_memory_equal(a->node, b->node, a->n_nodes * sizeof *a->node);
    assert_memory_equal(a->tensor, b->tensor, a->n_tensors * sizeof *a->tensor);
    assert_memory_equal(a->operand, b->operand, a->n_operands * sizeof *a->operand);
    assert_memory_equal(a->einsum, b->einsum, a->n_einsums * sizeof *a->einsum);
}

/* Every network of the catalog, for inference and training, in both formats. */
static void catalog_reads_back(void **state) {
    (void)state;
    const char *name;
    size_t n = 0;
    for (size_t i = 0; (name = sx_catalog_network_name(i, NULL)) && !sx_catalog_has_phases(name); i++) {
        for (unsigned form = 0; form < 4; form++, n++) {
            const sx_network_options options = {.batch = 2, .training = form & 1};
            sx_graph graph, again;
            char *text;
            assert_null(sx_catalog_graph(name, &options, &graph));
            assert_null(sx_graph_write(&graph, form & 2 ? SX_JSON : SX_YAML, &text));
            sx_status error = read_text(text, &again);
            if (error) fail_msg("%s:%d: %s", name, error->line, error->message);
            assert_equal(&graph, &again);
            free(text);
            sx_graph_fini(&graph);
            sx_graph_fini(&again);
        }
    }
    assert_int_equal(n, 52);
}

static const char small[] = "graph:\n"
                            "  name: g\n"
                            "  tensors:\n"
                            "  - {name: a, shape: [4, 6], bits: 16}\n"
                            "  - {name: w, shape: [6, 2], weight: yes}\n"
                            "  - {name: o, shape: [2, 4], output: true}\n"
                            "  - {name: s, shape: [2, 4]}\n"
                            "  nodes:\n"
                            "  - name: product\n"
                            "    einsum: \"O[m,n] += A[m,k]*B[k,n] {m:4,n:2,k:6}\"\n"
                            "    operands: {O: {tensor: o, ranks: [1, 0]}, A: a, B: w}\n"
                            "  - {name: soft, layer: s, kind: softmax, axis: 1, reads: o, writes: [s]}\n";

static void defaults(void **state) {
    (void)state;
    sx_graph graph;
    sx_status error = read_text(small, &graph);
    if (error) fail_msg("%d:%d: %s", error->line, error->column, error->message);
    assert_int_equal(graph.n_nodes, 2);
    assert_int_equal(graph.tensor[0].bits, 16);
    assert_int_equal(graph.tensor[1].bits, 8);
    assert_true(graph.tensor[1].weight && graph.tensor[2].output);
    assert_int_equal(graph.node[0].kind, SX_OP_EINSUM);
    assert_string_equal(graph.node[0].layer, "product");
    assert_int_equal(graph.node[0].repeat, 1);
    assert_int_equal(graph.operand[0].rank[0], 1);
    assert_int_equal(graph.operand[1].split, -1);
    assert_string_equal(graph.node[1].layer, "s");
    assert_int_equal(graph.node[1].axis, 1);
    assert_int_equal(graph.node[1].einsum, SX_NO_INDEX);
    sx_graph_fini(&graph);
}

/* What the small graph says, what is said instead, and the error that follows. */
static const struct {
    const char *old, *new;
    int line, column;
    const char *message, *hint;
} cases[] = {
    {"  name: g\n", "", 2, 3, "the graph has no 'name'", NULL},
    {"  name: g\n", "  nam: g\n", 2, 3, "unknown key of the graph: 'nam'", "did you mean 'name'?"},
    {"shape: [4, 6], ", "", 4, 5, "the tensor has no 'shape'", NULL},
    {"[4, 6]", "[4, 0]", 4, 26, "'shape' must be a whole number from 1 to 4611686018427387904, but is '0'",
     NULL},
    {"[4, 6]", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", 4, 22,
     "tensor 'a' has 17 ranks; at most 16 are allowed", NULL},
    {"bits: 16", "bits: 65537", 4, 36, "'bits' must be a whole number from 1 to 65536, but is '65537'", NULL},
    {"weight: yes", "weights: yes", 5, 30, "unknown key of the tensor: 'weights'", "did you mean 'weight'?"},
    {"  - {name: s, shape: [2, 4]}\n", "  - {name: s, shape: [2, 4]}\n  - {name: s, shape: []}\n", 8, 5,
     "two tensors are called 's'", NULL},
    {"name: soft", "name: product", 12, 5, "two nodes are called 'product'", NULL},
    {"kind: softmax", "kind: softmx", 12, 34, "unknown kind of node 'softmx'", "did you mean 'softmax'?"},
    {"kind: softmax, ", "", 12, 5, "a node without an einsum has no 'kind'", NULL},
    {"axis: 1", "axis: 2", 12, 5, "node 'soft': its axis 2 is no rank of its output", NULL},
    {"axis: 1", "axis: -1", 12, 49, "'axis' must be a whole number from 0 to 15, but is '-1'", NULL},
    {"reads: o", "reads: [o, weight]", 12, 63, "unknown tensor 'weight'",
     "every tensor is an item of 'tensors'"},
    {"reads: o", "operands: {A: o}", 12, 52, "'operands' does not belong to this node",
     "a node without an einsum has 'reads' and 'writes'"},
    {", writes: [s]", "", 12, 5, "a node without an einsum has no 'writes'", NULL},
    {"writes: [s]", "writes: [o]", 12, 5, "nodes 'product' and 'soft' both write tensor 'o'", NULL},
    {"reads: o", "reads: s", 12, 5, "node 'soft' depends on its own output",
     "a tensor that a node reads and writes, and that survives the run, has 'state: true'"},
    {"O[m,n] +=", "O[m,x] +=", 10, 18, "dimension 'x' has no size", NULL},
    {"{m:4,n:2,k:6}", "{m:4,n:2}", 10, 28, "dimension 'k' has no size", NULL},
    {", B: w}", "}", 11, 15, "tensor 'B' of the einsum is missing", NULL},
    {", B: w}", ", B: w, C: w}", 11, 59, "the einsum has no tensor 'C'", NULL},
    {"A: a", "A: b", 11, 50, "unknown tensor 'b'", NULL},
    {"ranks: [1, 0]", "ranks: [1]", 11, 38, "'ranks' has 1 items; tensor 'o' has 2 ranks", NULL},
    {"ranks: [1, 0]", "ranks: [1, [0, 16]]", 11, 46,
     "'ranks' must be a whole number from 0 to 15, but is '16'", NULL},
    {"ranks: [1, 0]", "ranks: [1, 1]", 9, 5,
     "node 'product': the ranks of tensor 'o' do not use each of the 2 ranks of O once", NULL},
    {", ranks: [1, 0]", "", 9, 5,
     "node 'product': O of its einsum spans 4 along rank 0 of tensor 'o', which has 2 with its padding",
     "the two must be equal, except that a window of stride s may leave up to s - 1 elements"},
    {"A: a", "A: {tensor: a, pad: [[1, 0], [0]]}", 11, 76,
     "the padding of a rank is two numbers, before and after", NULL},
    {"A: a", "A: {tensor: a, pad: [[1, 0], [0, 0]]}", 9, 5,
     "node 'product': A of its einsum spans 4 along rank 0 of tensor 'a', which has 5 with its padding",
     NULL},
    {"A: a", "A: {tensor: a, slit: 1}", 11, 62, "unknown key of the operand: 'slit'",
     "did you mean 'split'?"},
    {"    operands:", "    reads: a\n    operands:", 11, 5, "'reads' does not belong to this node",
     "a node with an einsum has 'operands'"},
    {"  - {name: s, shape: [2, 4]}\n", "  - {name: s, shape: [2, 4]}\n  - {name: t, shape: []}\n", 8, 5,
     "tensor 't' is neither read nor written", NULL},
};

/* The small graph with the first occurrence of a text replaced. */
static char *replaced(const char *old, const char *new) {
    const char *at = strstr(small, old);
    assert_non_null(at);
    const size_t room = sizeof small + strlen(new);
    char *text = malloc(room);
    snprintf(text, room, "%.*s%s%s", (int)(at - small), small, new, at + strlen(old));
    return text;
}

static void refusals(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_graph graph = {.n_nodes = 77};
        char *text = replaced(cases[i].old, cases[i].new);
        sx_status error = read_text(text, &graph);
        if (!error) fail_msg("case %zu is not refused: %s", i, cases[i].message);
        if (strcmp(error->message, cases[i].message) != 0 || error->line != cases[i].line ||
            error->column != cases[i].column)
            fail_msg("case %zu: %s:%d:%d: %s", i, error->file, error->line, error->column, error->message);
        assert_string_equal(error->file, "g.yaml");
        if (cases[i].hint) assert_string_equal(error->hint, cases[i].hint);
        assert_int_equal(graph.n_nodes, 77);
        sx_status_free(error);
        free(text);
    }
}

static void sections(void **state) {
    (void)state;
    sx_graph graph;
    sx_status error = read_text("problem: {}\n", &graph);
    assert_non_null(error);
    assert_string_equal(error->message, "no graph given");
    sx_status_free(error);
    error = read_text("graph: [1]\n", &graph);
    assert_non_null(error);
    assert_string_equal(error->message, "the graph must be a map, but is a list");
    assert_int_equal(error->column, 8);
    sx_status_free(error);
}

/* A name that einsum text cannot hold cannot be written. */
static void what_cannot_be_written(void **state) {
    (void)state;
    sx_graph graph;
    char *text = NULL;
    assert_null(read_text(small, &graph));
    strcpy(graph.einsum[0].dim_name[0], "m n");
    sx_status error = sx_graph_write(&graph, SX_JSON, &text);
    assert_non_null(error);
    assert_string_equal(error->message, "'m n' cannot be a name in einsum text");
    sx_status_free(error);
    graph.n_nodes = 0;
    error = sx_graph_write(&graph, SX_JSON, &text);
    assert_non_null(error);
    sx_status_free(error);
    assert_null(text);
    sx_graph_fini(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(catalog_reads_back),
        cmocka_unit_test(defaults),
        cmocka_unit_test(refusals),
        cmocka_unit_test(sections),
        cmocka_unit_test(what_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
