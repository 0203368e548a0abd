/* The placement graphs of the catalog, and live ranges. */
#include "placement/build.h"
#include "sextant/network.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A graph of the catalog, with its weights added up. */
static sx_place_graph graph_of(const char *name, uint64_t *weights) {
    sx_place_graph graph;
    sx_expect_ok(sx_catalog_place_graph(name, 1, 0, &graph));
    *weights = 0;
    for (size_t i = 0; i < graph.n_nodes; i++) *weights += graph.node[i].weight_bytes;
    return graph;
}

static void graphs_have_the_nodes_of_the_paper(void **state) {
    static const struct {
        const char *name;
        size_t nodes;
        uint64_t weights;
    } cases[] = {
        {"resnet50", 57, 25502912},
        {"resnet101", 108, 44442816},
        /* the catalog's 109,360,128 with the biases of all dense layers and the classifier */
        {"bert", 376, 109360128 + 12 * (4 * 768 + 3072 + 768) + 768 + 2 * 768 + 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t weights;
        sx_place_graph graph = graph_of(cases[i].name, &weights);
        assert_int_equal(graph.n_nodes, cases[i].nodes);
        assert_true(weights == cases[i].weights);
        sx_place_graph_fini(&graph);
    }
}

static void every_network_of_the_catalog_has_a_graph(void **state) {
    const char *name;
    (void)state;
    for (size_t i = 0; (name = sx_catalog_network_name(i, NULL)) && !sx_catalog_has_phases(name); i++) {
        uint64_t weights;
        sx_place_graph graph = graph_of(name, &weights);
        assert_true(weights > 0);
        for (size_t n = 0; n < graph.n_nodes; n++) {
            const sx_place_node *node = &graph.node[n];
            assert_true(node->activation_bytes > 0 && node->last >= n && node->last < graph.n_nodes);
            for (size_t k = 0; k < node->n_inputs; k++) assert_true(graph.input[node->first_input + k] < n);
            if (n + 1 < graph.n_nodes) assert_true(node->n_users > 0);
        }
        sx_place_graph_fini(&graph);
    }
}

static void residual_additions_are_part_of_convolutions(void **state) {
    uint64_t weights;
    (void)state;
    sx_place_graph graph = graph_of("resnet50", &weights);
    size_t two = 0, convolutions = 0;
    for (size_t i = 0; i < graph.n_nodes; i++) {
        convolutions += graph.node[i].op == SX_CLASS_CONVOLUTION;
        two += graph.node[i].n_inputs == 2;
        assert_true(graph.node[i].op != SX_CLASS_ELEMENT_WISE);
    }
    assert_int_equal(two, 16);
    assert_int_equal(convolutions, 54);
    sx_place_graph_fini(&graph);
}

static void features_are_those_of_the_table(void **state) {
    uint64_t weights;
    (void)state;
    sx_place_graph graph = graph_of("resnet50", &weights);
    static const double first[SX_N_PLACE_FEATURES] = {SX_CLASS_CONVOLUTION,
                                                      9408,
                                                      224,
                                                      224,
                                                      3,
                                                      112,
                                                      112,
                                                      64,
                                                      150528,
                                                      802816,
                                                      56,
                                                      25502912,
                                                      1,
                                                      7,
                                                      7,
                                                      2,
                                                      3,
                                                      1,
                                                      1};
    for (int i = 0; i < SX_N_PLACE_FEATURES; i++)
        assert_int_equal((long)graph.node[0].feature[i], (long)first[i]);
    sx_place_graph_fini(&graph);
}

static void elements_may_have_more_bytes(void **state) {
    sx_place_graph one, two;
    (void)state;
    sx_expect_ok(sx_catalog_place_graph("bert", 1, 1, &one));
    sx_expect_ok(sx_catalog_place_graph("bert", 1, 2, &two));
    for (size_t i = 0; i < one.n_nodes; i++) {
        assert_true(2 * one.node[i].weight_bytes == two.node[i].weight_bytes);
        assert_true(2 * one.node[i].activation_bytes == two.node[i].activation_bytes);
    }
    sx_place_graph_fini(&one);
    sx_place_graph_fini(&two);
}

static void lookups_read_rows(void **state) {
    sx_place_graph graph;
    (void)state;
    sx_expect_ok(sx_catalog_place_graph("bert", 1, 0, &graph));
    assert_string_equal(graph.node[0].name, "embeddings.words");
    assert_true(graph.node[0].weight_bytes == 30522 * 768);
    assert_true(graph.node[0].weight_read == 128 * 768);
    sx_place_graph_fini(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_have_the_nodes_of_the_paper),
        cmocka_unit_test(every_network_of_the_catalog_has_a_graph),
        cmocka_unit_test(residual_additions_are_part_of_convolutions),
        cmocka_unit_test(features_are_those_of_the_table),
        cmocka_unit_test(elements_may_have_more_bytes),
        cmocka_unit_test(lookups_read_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
