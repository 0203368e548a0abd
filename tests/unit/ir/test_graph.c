#include "sextant/input.h"
#include "sextant/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static size_t add_tensor(sx_graph *graph, const char *name, uint64_t rows, uint64_t columns) {
    sx_graph_tensor tensor = {.bits = 8, .n_ranks = 2, .extent = {rows, columns}};
    size_t index;
    snprintf(tensor.name, sizeof tensor.name, "%s", name);
    assert_null(sx_graph_add_tensor(graph, &tensor, &index));
    return index;
}

/* Adds a node that reads a tensor and writes another, which comes first where the number of the one read is even. */
static void add_node(sx_graph *graph, const char *name, size_t in, size_t out) {
    sx_graph_node node = {.kind = SX_OP_ELEMENT_WISE, .function = "gelu", .axis = -1, .repeat = 1};
    const sx_graph_operand operand[] = {sx_graph_whole(in % 2 ? in : out, in % 2 == 0, 0),
                                        sx_graph_whole(in % 2 ? out : in, in % 2 == 1, 0)};
    snprintf(node.name, sizeof node.name, "%s", name);
    memcpy(node.layer, node.name, sizeof node.layer);
    assert_null(sx_graph_add_node(graph, &node, NULL, operand, 2, NULL));
}

/* A product of two matrices, O[m,n] += A[m,k]*B[k,n]. */
static void add_product(sx_graph *graph, const char *name, const char *layer, const char *einsum,
                        const size_t tensor[3]) {
    sx_graph_node node = {.kind = SX_OP_EINSUM, .axis = -1, .repeat = 1};
    sx_problem problem;
    sx_graph_operand operand[3];
    for (size_t v = 0; v < 3; v++) operand[v] = sx_graph_whole(tensor[v], v == 0, 2);
    assert_null(sx_einsum_parse(einsum, &problem));
    snprintf(problem.name, sizeof problem.name, "%s", name);
    snprintf(node.name, sizeof node.name, "%s", name);
    snprintf(node.layer, sizeof node.layer, "%s", layer);
    assert_null(sx_graph_add_node(graph, &node, &problem, operand, 3, NULL));
}

static void kinds_have_names(void **state) {
    (void)state;
    for (int i = 0; i < SX_N_OP_KINDS; i++) {
        assert_non_null(sx_op_kind_name((sx_op_kind)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(sx_op_kind_name((sx_op_kind)i), sx_op_kind_name((sx_op_kind)j));
    }
    assert_null(sx_op_kind_name(SX_N_OP_KINDS));
}

/* Nodes that are listed before those they depend on: a long chain, last node first. */
static void order_of_a_reversed_chain(void **state) {
    (void)state;
    enum { N = 5000 };
    sx_graph graph = {.name = "chain"};
    size_t *order = malloc(N * sizeof *order);
    char name[SX_NAME_SIZE];
    for (size_t i = 0; i <= N; i++) {
        snprintf(name, sizeof name, "t%zu", i);
        assert_int_equal(add_tensor(&graph, name, 3, 4), i);
    }
    for (size_t i = N; i-- > 0;) {
        snprintf(name, sizeof name, "n%zu", i);
        add_node(&graph, name, i, i + 1);
    }
    assert_null(sx_graph_check(&graph));
    assert_null(sx_graph_order(&graph, order));
    for (size_t i = 0; i < N; i++) assert_int_equal(order[i], N - 1 - i);
    assert_int_equal(sx_graph_find_node(&graph, "n17"), N - 1 - 17);
    assert_int_equal(sx_graph_find_tensor(&graph, "t17"), 17);
    assert_int_equal(sx_graph_find_node(&graph, "t17"), SX_NO_INDEX);
    assert_int_equal(sx_graph_find_tensor(&graph, "n17"), SX_NO_INDEX);
    assert_int_equal(sx_graph_words(&graph.tensor[17]), 12);
    free(order);
    sx_graph_fini(&graph);
    assert_int_equal(graph.n_nodes, 0);
    sx_graph_fini(&graph);
}

/* a -> b -> d and a -> c -> d: an order that is one already stays as it is; producers are known. */
static void order_of_a_diamond(void **state) {
    (void)state;
    static const size_t sorted[] = {0, 1, 2, 3}, producers[] = {SX_NO_INDEX, 0, 2, 1, 3};
    sx_graph graph = {.name = "diamond"};
    sx_graph_node add = {
        .name = "d", .layer = "d", .kind = SX_OP_ELEMENT_WISE, .function = "add", .axis = -1, .repeat = 1};
    size_t order[4], producer[5];
    const size_t in = add_tensor(&graph, "in", 2, 2), a = add_tensor(&graph, "a.out", 2, 2);
    const size_t b = add_tensor(&graph, "b.out", 2, 2), c = add_tensor(&graph, "c.out", 2, 2);
    const size_t d = add_tensor(&graph, "d.out", 2, 2);
    add_node(&graph, "a", in, a);
    add_node(&graph, "c", a, c);
    add_node(&graph, "b", a, b);
    const sx_graph_operand operand[] = {sx_graph_whole(b, false, 0), sx_graph_whole(c, false, 0),
                                        sx_graph_whole(d, true, 0)};
    assert_null(sx_graph_add_node(&graph, &add, NULL, operand, 3, NULL));
    assert_null(sx_graph_check(&graph));
    assert_null(sx_graph_order(&graph, order));
    assert_memory_equal(order, sorted, sizeof sorted);
    sx_graph_producers(&graph, producer);
    assert_memory_equal(producer, producers, sizeof producers);
    sx_graph_fini(&graph);
}

/* Layers are einsums in the order of their first nodes; those of one layer are counted together, equal ones
 * of two layers are not. */
static void layers_of_a_graph(void **state) {
    (void)state;
    static const char square[] = "O[m,n] += A[m,k]*B[k,n] {m:4,n:4,k:4}";
    sx_graph graph = {.name = "g"};
    sx_network network;
    size_t t[6];
    for (size_t i = 0; i < 6; i++) {
        const char name[] = {'t', (char)('0' + i), 0};
        t[i] = add_tensor(&graph, name, 4, 4);
    }
    add_product(&graph, "x0", "x", square, (const size_t[]){t[1], t[0], t[0]});
    add_node(&graph, "gelu", t[1], t[2]);
    add_product(&graph, "y", "y", square, (const size_t[]){t[3], t[0], t[2]});
    add_product(&graph, "x1", "x", square, (const size_t[]){t[4], t[0], t[3]});
    add_product(&graph, "z", "z", "O[m,n] += A[m,k]*B[n,k] {m:4,n:4,k:4}",
                (const size_t[]){t[5], t[4], t[4]});
    assert_int_equal(graph.n_einsums, 2);
    assert_int_equal(graph.node[0].einsum, graph.node[2].einsum);
    assert_int_equal(graph.node[1].einsum, SX_NO_INDEX);
    assert_null(sx_graph_network(&graph, &network));
    assert_string_equal(network.name, "g");
    assert_int_equal(network.n_layers, 3);
    assert_string_equal(network.layer[0].name, "x");
    assert_int_equal(network.layer[0].count, 2);
    assert_string_equal(network.layer[0].problem.name, "g/x");
    assert_int_equal(sx_problem_computes(&network.layer[0].problem), 64);
    assert_string_equal(network.layer[1].name, "y");
    assert_int_equal(network.layer[1].count, 1);
    assert_string_equal(network.layer[2].problem.name, "g/z");
    sx_network_fini(&network);
    memset(graph.name, 'g', 62);
    assert_null(sx_graph_network(&graph, &network));
    assert_string_equal(network.layer[2].problem.name, "z");
    sx_network_fini(&network);
    sx_graph_fini(&graph);
}

static void a_graph_without_einsums_has_no_layers(void **state) {
    (void)state;
    sx_graph graph = {.name = "g"};
    sx_network network = {.n_layers = 77};
    const size_t a = add_tensor(&graph, "a", 1, 1), b = add_tensor(&graph, "b", 1, 1);
    add_node(&graph, "gelu", a, b);
    sx_status error = sx_graph_network(&graph, &network);
    assert_non_null(error);
    assert_string_equal(error->message, "graph g has no einsum to map");
    assert_int_equal(network.n_layers, 77);
    sx_status_free(error);
    sx_graph_fini(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_have_names),
        cmocka_unit_test(order_of_a_reversed_chain),
        cmocka_unit_test(order_of_a_diamond),
        cmocka_unit_test(layers_of_a_graph),
        cmocka_unit_test(a_graph_without_einsums_has_no_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
