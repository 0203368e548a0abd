/* Following a model: inputs and symbols, what is said of values, weights, branches, loops and their limits. */
#include "base/text.h"
#include "support/expect.h"
#include "support/onnx_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Symbols have the extents that are given, sizes without a name those of INPUT_RANK; what is open is listed once. */
static void symbols(void **state) {
    (void)state;
    sx_expect_value("in x batch 3 n; Relu x -> y", "y", "f32[2,3,5]");
    sx_expect_refused("in x batch rows ?; in z rows 4; Relu x -> y",
                      "the model leaves sizes open: rows, x_2\n");
    sx_expect_refused("in x batch rows ?; in z rows 4; Relu x -> y",
                      "say how large they are, as in --set rows=1 --set x_2=1");
    sx_expect_refused("in a.b/c 3 ?; Relu a.b/c -> y", "the model leaves sizes open: a_b_c_1\n");
    sx_expect_refused("in x 1 ?; in x2 ?; Relu x -> y", "the model leaves sizes open: x_1, x2_0\n");
}

/* What the graph says of a value is taken where its operation's rule cannot say it, extent by extent. */
static void said_shapes(void **state) {
    (void)state;
    sx_expect_value("in x 2; Twist x -> y domain=own; say y f16 batch 7", "y", "f16[2,7]");
    sx_expect_value("in x 2; Twist x -> t domain=own; say t 3 ?; Relu t -> y; say y 4 6", "y", "f32[3,6]");
    sx_expect_value("in x 2; Twist x -> t domain=own; say t 3 ?; Relu t -> y; say y 4 6 7", "y", "f32[3,?]");
    sx_expect_value("in x 2; Twist x -> t domain=own; say t 0 ?; Relu t -> y; say y 4 6", "y", "f32[0,6]");
    sx_expect_value("in x 2 3; Relu x -> y; say y f16 4 6", "y", "f32[2,3]");
    sx_expect_value("in x 2; Twist x -> y domain=own; out y i32 8", "y", "i32[8]");
    sx_expect_value("in x 2; Twist x -> y domain=own", "y", "none*");
}

/* Checks whether a value of a model is a weight, computed and wanted. */
static void expect_flags(const char *model, const char *name, bool weight, bool computed, bool wanted) {
    size_t size;
    unsigned char *bytes = sx_onnx_bytes(model, &size);
    sx_onnx_trace trace;
    bool found = false;
    sx_expect_ok(sx_onnx_trace_model((sx_bytes){bytes, size}, NULL, 0, &trace));
    for (uint32_t i = 0; i < trace.values.n; i++) {
        const sx_onnx_value *value = sx_onnx_value_at(&trace, i);
        if (!sx_bytes_are(value->name, name)) continue;
        found = true;
        assert_int_equal(value->weight, weight);
        assert_int_equal(value->computed, computed);
        assert_int_equal(value->wanted, wanted);
    }
    assert_true(found);
    sx_onnx_trace_fini(&trace);
    free(bytes);
}

/* What is made from weights alone is a weight, unless it has products. */
static void weights(void **state) {
    (void)state;
    expect_flags("weight w 2 3; Transpose w -> y; out y", "y", true, false, true);
    expect_flags("weight w 2 3; in x 3; Add w,x -> y", "y", false, true, false);
    expect_flags("weight w 2 3; weight v 3 2; MatMul w,v -> y", "y", false, true, false);
    expect_flags("weight w 2 3; Clip w,-,- -> y", "y", true, false, false);
    expect_flags("weight w 2 3; Twist w -> y domain=own", "y", false, true, false);
    expect_flags("Constant -> y value_int=3", "y", true, false, false);
    expect_flags("in x 2; Twist -> y domain=own", "y", false, true, false);
    expect_flags("weight w 2 3; in x 2; Relu x -> y; out y", "w", true, false, false);
    expect_flags("weight w 2; in w 2; Relu w -> y; out y", "w", true, false, false);
}

/* Nodes are followed in the order of what they read, whatever their order in the file. */
static void order_of_nodes(void **state) {
    (void)state;
    sx_expect_value("in x 2 3; Relu b -> y; Transpose a -> b; Relu x -> a", "y", "f32[3,2]");
    sx_expect_refused("in x 2; Add x,b -> a; Relu a -> b; Relu b -> y", "the value 'a' depends on itself");
    sx_expect_refused("in x 2; Relu x -> y; Tanh x -> y", "two nodes write the value 'y'");
}

/* Names of nodes: their own, or made from their operation and their number; made unique, and cut at their beginning. */
static void names_of_nodes(void **state) {
    sx_onnx onnx;
    char model[512];
    (void)state;
    sx_expect_node("in x 2 3; Softmax x -> y", "Softmax_0", "softmax softmax/1 y= x");
    sx_expect_node("in x 2 3; Softmax x -> a name=s; Softmax a -> y name=s", "s", "softmax softmax/1 a= x");
    sx_expect_node("in x 2 3; Softmax x -> a name=s; Softmax a -> y name=s", "s-1", "softmax softmax/1 y= a");
    snprintf(model, sizeof model, "in x 2 3; Softmax x -> a name=%0*d; Softmax a -> y name=%0*d",
             SX_NAME_SIZE + 5, 7, SX_NAME_SIZE + 5, 7);
    sx_expect_ok(sx_onnx_read_text(model, &onnx));
    assert_int_equal(strlen(onnx.graph.node[0].name), SX_NAME_SIZE - 1);
    assert_int_equal(onnx.graph.node[0].name[SX_NAME_SIZE - 2], '7');
    assert_int_equal(strlen(onnx.graph.node[1].name), SX_NAME_SIZE - 1);
    assert_string_equal(onnx.graph.node[1].name + SX_NAME_SIZE - 4, "0-1");
    sx_onnx_fini(&onnx);
}

/* Numbers of tensors are followed up to 4096 elements. */
static void numbers_that_are_followed(void **state) {
    (void)state;
    for (int n = SX_ONNX_MAX_DATA; n <= SX_ONNX_MAX_DATA + 1; n++) {
        sx_text model = {0};
        size_t size;
        sx_onnx_trace trace;
        sx_text_add(&model, "data w u8 %d :", n);
        for (int i = 0; i < n; i++) sx_text_add(&model, " 1");
        unsigned char *bytes = sx_onnx_bytes(model.data, &size);
        sx_expect_ok(sx_onnx_trace_model((sx_bytes){bytes, size}, NULL, 0, &trace));
        assert_int_equal(sx_onnx_value_at(&trace, 0)->data != NULL, n == SX_ONNX_MAX_DATA);
        sx_onnx_trace_fini(&trace);
        free(bytes);
        sx_text_free(&model);
    }
}

/* A text of the file as it is shown: what is no character or not visible is replaced. */
static void shown_texts(void **state) {
    static const struct {
        const char *bytes;
        size_t size;
        const char *shown;
    } cases[] = {{"abc", 3, "abc"},
                 {"a\033b", 3, "a_b"},
                 {"\xc3\xa9", 2, "\xc3\xa9"},
                 {"\xc3", 1, "_"},
                 {"a\0b", 3, "a_b"},
                 {"", 0, ""},
                 {"abcdefghijklmnop", 16, "abcdefghijk"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[16];
        sx_onnx_text((sx_bytes){(const unsigned char *)cases[i].bytes, cases[i].size}, out, sizeof out);
        assert_string_equal(out, cases[i].shown);
    }
}

/* Limits of shapes and numbers. */
static void limits_of_values(void **state) {
    const sx_onnx_shape none = {.n = -1}, open = {.n = 2, .dim = {3, -1}}, zero = {.n = 2, .dim = {0, -1}},
                        scalar = {.n = 0}, large = {.n = 2, .dim = {INT64_C(1) << 31, INT64_C(1) << 31}},
                        beyond = {.n = 2, .dim = {INT64_C(1) << 31, (INT64_C(1) << 31) + 1}},
                        cube = {.n = 3, .dim = {2, 3, 4}};
    (void)state;
    assert_true(sx_onnx_elements(&none) == -1 && sx_onnx_elements(&open) == -1 &&
                sx_onnx_elements(&zero) == 0);
    assert_true(sx_onnx_elements(&scalar) == 1 && sx_onnx_elements(&cube) == 24);
    assert_true(sx_onnx_elements(&large) == INT64_C(1) << 62 && sx_onnx_elements(&beyond) == -1);
    assert_true(!sx_onnx_known(&none) && !sx_onnx_known(&open) && sx_onnx_known(&scalar) &&
                sx_onnx_known(&cube));
    assert_true(sx_onnx_axis(&cube, 0) == 0 && sx_onnx_axis(&cube, 2) == 2 && sx_onnx_axis(&cube, 3) == -1);
    assert_true(sx_onnx_axis(&cube, -1) == 2 && sx_onnx_axis(&cube, -3) == 0 &&
                sx_onnx_axis(&cube, -4) == -1);
    assert_true(sx_onnx_axis(&none, 0) == -1);
    assert_true(sx_onnx_times(3, 4) == 12 && sx_onnx_times(-1, 4) == -1 && sx_onnx_times(3, -1) == -1 &&
                sx_onnx_times(3, 0) == 0);
    assert_true(sx_onnx_times(SX_ONNX_MAX_EXTENT, 1) == SX_ONNX_MAX_EXTENT &&
                sx_onnx_times(SX_ONNX_MAX_EXTENT / 2 + 1, 2) == -1);
    sx_expect_value("data s i64 1 : 4096; data v i64 : 1; Expand v,s -> z; Shape z -> y", "y",
                    "i64[1]{4096}");
    sx_expect_refused("in x 2; weight w 1099511627777; Relu x -> y",
                      "a dimension of 1099511627777 is not between 0 and 2^40");
    sx_expect_value("in x 2; weight w 1099511627776; Relu x -> y", "w", "f32[1099511627776]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols),          cmocka_unit_test(said_shapes),
        cmocka_unit_test(weights),          cmocka_unit_test(order_of_nodes),
        cmocka_unit_test(names_of_nodes),   cmocka_unit_test(shown_texts),
        cmocka_unit_test(limits_of_values), cmocka_unit_test(numbers_that_are_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
