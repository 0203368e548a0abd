/* Shapes, types and numbers of operations on elements, as the standard defines them. */
#include "support/onnx_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Extents of 1 stretch, and ranks that one tensor lacks are put before its own. */
static void broadcast_shapes(void **state) {
    static const sx_value_case cases[] = {
        {"in a 2 3; in c 2 3; Add a,c -> y", "f32[2,3]"},
        {"in a 2 3; in c 3; Add a,c -> y", "f32[2,3]"},
        {"in a 3; in c 2 3; Add a,c -> y", "f32[2,3]"},
        {"in a 2 1; in c 1 3; Add a,c -> y", "f32[2,3]"},
        {"in a 4 1 3; in c 5 1; Mul a,c -> y", "f32[4,5,3]"},
        {"in a 2 3; in c 2 4; Add a,c -> y", "f32*"},
        {"in a 2 3; in c; Add a,c -> y", "f32*"},
        {"in a 2 3; data c : 1; Add a,c -> y", "f32[2,3]"},
        {"in a 0 3; in c 1 3; Add a,c -> y", "f32[0,3]"},
        {"in a 4; Twist a -> t domain=own; say t ? 3; in c 2 1; Add t,c -> y", "f32[2,3]"},
        {"in a 4; Twist a -> t domain=own; say t ? 3; in c 1 3; Add t,c -> y", "f32[?,3]"},
        {"in a 4; Twist a -> t domain=own; say t ? 3; in c 2 1; Add c,t -> y", "f32[2,3]"},
        {"in a 2 3; in b 1; in c 4 1 1; Max a,b,c -> y", "f32[4,2,3]"},
        {"in a f16 2 3; in c f16 3; Sub a,c -> y", "f16[2,3]"},
        {"in a i32 2; in c i32 2; Pow a,c -> y", "i32[2]"},
        {"in a 2 3; in c 3; Greater a,c -> y", "b[2,3]"},
        {"in a 2 3; IsNaN a -> y", "b[2,3]"},
        {"in k b 2 1; in a f16 1 3; in c f16 3; Where k,a,c -> y", "f16[2,3]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Numbers that follow from constants. */
static void folded_numbers(void **state) {
    static const sx_value_case cases[] = {
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Add a,c -> y", "i64[3]{9 0 5}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Sub a,c -> y", "i64[3]{5 -4 -5}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Mul a,c -> y", "i64[3]{14 -4 0}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Div a,c -> y", "i64[3]{3 -1 0}"},
        {"data a i64 2 : -7 7; data c i64 : 2; Div a,c -> y", "i64[2]{-3 3}"},
        {"data a i64 2 : 7 5; data c i64 2 : 0 2; Div a,c -> y", "i64[2]{0 2}"},
        {"data a 2 : 7 5; data c : 2; Div a,c -> y", "f32[2]{3.5 2.5}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Mod a,c -> y", "i64[3]{1 0 0}"},
        {"data a i64 2 : -7 7; data c i64 : 3; Mod a,c -> y", "i64[2]{2 1}"},
        {"data a i64 1 : 7; data c i64 1 : 0; Mod a,c -> y", "i64[1]{0}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Min a,c -> y", "i64[3]{2 -2 0}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Max a,c -> y", "i64[3]{7 2 5}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Sum a,c,c -> y", "i64[3]{11 2 10}"},
        {"data a i64 2 : 3 2; data c i64 2 : 2 5; Pow a,c -> y", "i64[2]{9 32}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Equal a,c -> y", "b[3]{0 0 0}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Equal a,a -> y", "b[3]{1 1 1}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Less a,c -> y", "b[3]{0 1 1}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Greater a,c -> y", "b[3]{1 0 0}"},
        {"data a i64 3 : 1 2 3; data c i64 : 2; LessOrEqual a,c -> y", "b[3]{1 1 0}"},
        {"data a i64 3 : 1 2 3; data c i64 : 2; GreaterOrEqual a,c -> y", "b[3]{0 1 1}"},
        {"data a i64 3 : 1 2 3; data c i64 : 2; Less a,c -> y", "b[3]{1 0 0}"},
        {"data a i64 3 : 1 2 3; data c i64 : 2; Greater a,c -> y", "b[3]{0 0 1}"},
        {"data a b 4 : 0 0 1 1; data c b 4 : 0 1 0 1; And a,c -> y", "b[4]{0 0 0 1}"},
        {"data a b 4 : 0 0 1 1; data c b 4 : 0 1 0 1; Or a,c -> y", "b[4]{0 1 1 1}"},
        {"data a b 2 : 0 1; Not a -> y", "b[2]{1 0}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Neg a -> y", "i64[3]{-7 2 0}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Abs a -> y", "i64[3]{7 2 0}"},
        {"data a 2 : 1.5 -1.5; Floor a -> y", "f32[2]{1 -2}"},
        {"data a 2 : 1.5 -1.5; Ceil a -> y", "f32[2]{2 -1}"},
        {"data a 2 : 9 4; Sqrt a -> y", "f32[2]{3 2}"},
        {"data a i64 3 : 7 -2 0; data c i64 3 : 2 2 5; Identity a -> y", "i64[3]{7 -2 0}"},
        {"data a i64 2 1 : 1 2; data c i64 1 3 : 10 20 30; Add a,c -> y", "i64[2,3]{11 21 31 12 22 32}"},
        {"data a i64 2 2 : 1 2 3 4; data c i64 2 : 10 20; Add a,c -> y", "i64[2,2]{11 22 13 24}"},
        {"data a i64 2 2 : 1 2 3 4; data c i64 2 1 : 10 20; Add a,c -> y", "i64[2,2]{11 12 23 24}"},
        {"data k b 3 : 1 0 1; data a i64 3 : 1 2 3; data c i64 : 9; Where k,a,c -> y", "i64[3]{1 9 3}"},
        {"data a i64 2 : 1 2; in c i64 2; Add a,c -> y", "i64[2]"},
        {"data a i64 2 : 1 2; Relu a -> y", "i64[2]"},
        {"data a i64 2 : 1 2; data c i64 2 : 3 4; Xor a,c -> y", "b[2]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Types that are said, or those of another input; numbers are cut to whole ones. */
static void casts(void **state) {
    static const sx_value_case cases[] = {
        {"in a 2; Cast a -> y to=7", "i64[2]"},
        {"data a 3 : 1.5 -1.5 0; Cast a -> y to=7", "i64[3]{1 -1 0}"},
        {"data a 3 : 1.5 -1.5 0; Cast a -> y to=9", "b[3]{1 1 0}"},
        {"data a 3 : 1.5 -1.5 0; Cast a -> y to=11", "f64[3]{1.5 -1.5 0}"},
        {"in a 2; in c f16 1; CastLike a,c -> y", "f16[2]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Types of quantized values: that of the zero point, the one that is said, or u8. */
static void quantized_types(void **state) {
    static const sx_value_case cases[] = {
        {"in a 2; data s : 1; data z i8 : 0; QuantizeLinear a,s,z -> y", "i8[2]"},
        {"in a 2; data s : 1; QuantizeLinear a,s -> y", "u8[2]"},
        {"in a 2; data s : 1; QuantizeLinear a,s -> y output_dtype=3", "i8[2]"},
        {"in a 2; data s : 1; data z i8 : 0; QuantizeLinear a,s,z -> y output_dtype=2", "i8[2]"},
        {"in a u8 2; data s f16 : 1; DequantizeLinear a,s -> y", "f16[2]"},
        {"in a 2 3; DynamicQuantizeLinear a -> y,s,z", "u8[2,3]"},
        {"in a 2 3; DynamicQuantizeLinear a -> q,y,z", "none[]"},
        {"in a 2 3; DynamicQuantizeLinear a -> q,s,y", "none[]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Axes from an input, an attribute or none at all; kept as 1 or removed. */
static void reductions(void **state) {
    static const sx_value_case cases[] = {
        {"in a 2 3 4; data x i64 1 : 1; ReduceSum a,x -> y", "f32[2,1,4]"},
        {"in a 2 3 4; data x i64 1 : 1; ReduceSum a,x -> y keepdims=0", "f32[2,4]"},
        {"in a 2 3 4; data x i64 2 : 0 -1; ReduceMean a,x -> y keepdims=0", "f32[3]"},
        {"in a 2 3 4; ReduceMax a -> y axes=[2]", "f32[2,3,1]"},
        {"in a 2 3 4; ReduceMax a -> y", "f32[1,1,1]"},
        {"in a 2 3 4; ReduceMax a -> y keepdims=0", "f32[]"},
        {"in a 2 3 4; ReduceMax a -> y noop_with_empty_axes=1", "f32[2,3,4]"},
        {"in a 2 3 4; data x i64 0 : ; ReduceMax a,x -> y noop_with_empty_axes=1", "f32[2,3,4]"},
        {"in a 2 3 4; data x i64 0 : ; ReduceMax a,x -> y", "f32[1,1,1]"},
        {"in a 2 3 4; data x i64 1 : 3; ReduceMax a,x -> y", "f32*"},
        {"in a 2 3 4; in x i64 1; ReduceMax a,x -> y", "f32*"},
        {"data a i64 3 : 2 3 4; ReduceProd a -> y keepdims=0", "i64[]{24}"},
        {"data a i64 3 : 2 3 4; ReduceSum a -> y", "i64[1]{9}"},
        {"data a i64 3 : 2 4 3; ReduceMax a -> y keepdims=0", "i64[]{4}"},
        {"data a i64 3 : 3 2 4; ReduceMin a -> y keepdims=0", "i64[]{2}"},
        {"data a i64 3 : 2 3 4; ReduceMean a -> y", "i64[1]"},
        {"data a i64 2 2 : 1 2 3 4; data x i64 1 : 0; ReduceSum a,x -> y", "i64[1,2]"},
        {"in a 2 3 4; ArgMax a -> y axis=1", "i64[2,1,4]"},
        {"in a 2 3 4; ArgMax a -> y axis=-1 keepdims=0", "i64[2,3]"},
        {"in a 2 3 4; ArgMin a -> y", "i64[1,3,4]"},
        {"in a 2 3 4; ArgMin a -> y axis=3", "i64*"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Functions and normalisations keep shape and type. */
static void same_shapes(void **state) {
    static const sx_value_case cases[] = {
        {"in a f16 2 3; Softmax a -> y", "f16[2,3]"},
        {"in a f16 2 3; Gelu a -> y", "f16[2,3]"},
        {"in a f16 2 3; in s f16 3; LayerNormalization a,s -> y", "f16[2,3]"},
        {"in a 1 2 3; Clip a -> y", "f32[1,2,3]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broadcast_shapes), cmocka_unit_test(folded_numbers), cmocka_unit_test(casts),
        cmocka_unit_test(quantized_types),  cmocka_unit_test(reductions),     cmocka_unit_test(same_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
