/* Lists beside the graph: layers with their products, and the operations that are not mapped. */
#include "support/expect.h"
#include "support/onnx_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const model =
    "in x 1 2 4; weight w 3 2 1; weight v 3 2 1; weight u 3 3 1; weight e 4 4\n"
    "Conv x,w -> a name=first; Relu a -> b; Conv x,v -> c name=second; Add b,c -> d name=sum\n"
    "Conv d,u -> f name=third; Softmax f -> g name=soft; Transpose g -> h name=turn; MatMul g,e -> y "
    "name=last\n"
    "Twist h -> k name=twist domain=own; DeformConv x,w,x -> z name=deform; Softmax f -> m name=soft2; "
    "MaxPool f -> n kernel_shape=[4]; out y; out k; out z; out m; out n";

static void layers(void **state) {
    sx_onnx onnx;
    static const struct {
        const char *name, *op;
        uint64_t macs;
    } want[] = {{"first", "Conv", 24}, {"second", "Conv", 24}, {"third", "Conv", 36}, {"last", "MatMul", 48}};
    (void)state;
    sx_expect_ok(sx_onnx_read_text(model, &onnx));
    assert_int_equal(onnx.n_layers, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(onnx.layer[i].name, want[i].name);
        assert_string_equal(onnx.layer[i].op, want[i].op);
        assert_int_equal(onnx.layer[i].macs, want[i].macs);
        assert_int_equal(onnx.layer[i].n_nodes, 1);
        assert_string_equal(onnx.graph.node[onnx.layer[i].node].name, want[i].name);
    }
    assert_int_equal(onnx.macs, 132);
    assert_int_equal(onnx.n_nodes, 12);
    /* Equal layers are one; their tensors are not. */
    assert_string_equal(onnx.graph.node[onnx.layer[1].node].layer, "first");
    assert_string_equal(onnx.graph.node[onnx.layer[2].node].layer, "third");
    assert_string_equal(onnx.graph.name, "m");
    sx_onnx_fini(&onnx);
}

/* Operations of the rest: one for each element of the larger of input and output; moves take none, parts are counted. */
static void rest(void **state) {
    sx_onnx onnx;
    static const sx_onnx_rest want[] = {{"DeformConv", 1, 0, 0, true, false, "'deform', output 1x3x4"},
                                        {"Twist", 1, 0, 0, true, true, "'twist', output of unknown shape"},
                                        {"Softmax", 2, 0, 24, false, false, NULL},
                                        {"Add", 1, 0, 12, false, false, NULL},
                                        {"MaxPool", 1, 0, 12, false, false, NULL},
                                        {"Relu", 1, 1, 12, false, false, NULL},
                                        {"Transpose", 1, 0, 0, false, false, NULL}};
    (void)state;
    sx_expect_ok(sx_onnx_read_text(model, &onnx));
    assert_int_equal(onnx.n_rest, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(onnx.rest[i].op, want[i].op);
        assert_int_equal(onnx.rest[i].count, want[i].count);
        assert_int_equal(onnx.rest[i].grouped, want[i].grouped);
        assert_int_equal(onnx.rest[i].operations, want[i].operations);
        assert_int_equal(onnx.rest[i].heavy, want[i].heavy);
        assert_int_equal(onnx.rest[i].unknown, want[i].unknown);
        if (want[i].first) assert_string_equal(onnx.rest[i].first, want[i].first);
    }
    assert_int_equal(onnx.operations, 60);
    assert_int_equal(onnx.graph.unmapped.operators, 8);
    assert_int_equal(onnx.graph.unmapped.of, onnx.n_nodes);
    assert_int_equal(onnx.graph.unmapped.unknown, 2);
    assert_true(onnx.graph.unmapped.share == 60.0 / (60 + (double)onnx.macs));
    sx_onnx_fini(&onnx);
}

/* Tensors: bits of their types, weights, and outputs that a node reads, too. */
static void tensors(void **state) {
    sx_onnx onnx;
    (void)state;
    sx_expect_ok(sx_onnx_read_text(
        "in x f16 3 4; weight w u8 4 5; MatMul x,w -> a name=c; Softmax a -> y; out a; out y", &onnx));
    const sx_graph *g = &onnx.graph;
    const size_t x = sx_graph_find_tensor(g, "x"), w = sx_graph_find_tensor(g, "w"),
                 a = sx_graph_find_tensor(g, "a"), y = sx_graph_find_tensor(g, "y");
    assert_true(x != SX_NO_INDEX && w != SX_NO_INDEX && a != SX_NO_INDEX && y != SX_NO_INDEX);
    assert_true(g->tensor[x].bits == 16 && g->tensor[w].bits == 8 && g->tensor[a].bits == 16);
    assert_true(!g->tensor[x].weight && g->tensor[w].weight && !g->tensor[a].weight);
    assert_true(!g->tensor[x].output && !g->tensor[w].output && g->tensor[a].output && g->tensor[y].output);
    assert_true(g->tensor[a].n_ranks == 2 && g->tensor[a].extent[0] == 3 && g->tensor[a].extent[1] == 5);
    sx_onnx_fini(&onnx);
}

/* Operations without elements, or whose output nobody wants, are no nodes. */
static void nothing_to_do(void **state) {
    sx_onnx onnx;
    static const char *const models[] = {
        "in x 0 4; weight w 4 5; MatMul x,w -> y", "in x 3 4; weight w 4 5; MatMul x,w -> -",
        "in x 3 4; weight w 4 5; Gemm x,w -> ", "data x 2 : 1 2; Relu x -> y",
        "in x 1 2 0; weight w 3 2 1; Conv x,w -> y"};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        sx_expect_ok(sx_onnx_read_text(models[i], &onnx));
        assert_int_equal(onnx.graph.n_nodes, 0);
        assert_int_equal(onnx.n_layers, 0);
        assert_int_equal(onnx.macs, 0);
        sx_onnx_fini(&onnx);
    }
    sx_expect_refused("in x 2097152 2097152; weight w 2097152 2097152; MatMul x,w -> y",
                      "MatMul 'MatMul_0': the problem has more than 2^62 multiply-accumulates");
}

/* The graph has the name of the file, without folder and ending. */
static void paths(void **state) {
    static const char *const names[][2] = {
        {"m.onnx", "m"}, {"d.e/m.x.onnx", "m.x"}, {"/m", "m"}, {"d/.onnx", ".onnx"}, {"d/", "model"}};
    size_t size;
    unsigned char *bytes = sx_onnx_bytes("in x 2; Relu x -> y", &size);
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sx_onnx onnx;
        sx_expect_ok(sx_onnx_parse(names[i][0], bytes, size, NULL, 0, &onnx));
        assert_string_equal(onnx.graph.name, names[i][1]);
        sx_onnx_fini(&onnx);
    }
    free(bytes);
    assert_true(sx_onnx_is_path("a.onnx") && sx_onnx_is_path("d/a.b.onnx"));
    assert_true(!sx_onnx_is_path(".onnx") && !sx_onnx_is_path("a.onnxx") && !sx_onnx_is_path("onnx"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers),        cmocka_unit_test(rest),  cmocka_unit_test(tensors),
        cmocka_unit_test(nothing_to_do), cmocka_unit_test(paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
