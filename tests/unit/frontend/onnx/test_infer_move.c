/* Shapes and numbers of operations that move elements or make them, as the standard defines them. */
#include "support/onnx_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Constants of every kind. */
static void constants(void **state) {
    static const sx_value_case cases[] = {
        {"Constant -> y value={i64 2 : 4 5}", "i64[2]{4 5}"},
        {"Constant -> y value_int=7", "i64[]{7}"},
        {"Constant -> y value_ints=[7,8]", "i64[2]{7 8}"},
        {"Constant -> y value_float=1.5", "f32[]{1.5}"},
        {"Constant -> y value_floats=[1.5,2.5]", "f32[2]{1.5 2.5}"},
        {"Constant -> y value='x'", "none*"},
        {"data s i64 2 : 2 3; ConstantOfShape s -> y", "f32[2,3]{0 0 0 0 0 0}"},
        {"data s i64 1 : 2; ConstantOfShape s -> y value={i64 1 : 9}", "i64[2]{9 9}"},
        {"in s i64 2; ConstantOfShape s -> y", "f32*"},
        {"data s i64 2 : 64 64; ConstantOfShape s -> z; Shape z -> y", "i64[2]{64 64}"},
        {"data s i64 2 : 65 64; ConstantOfShape s -> y", "f32[65,64]"},
        {"data a i64 : 1; data b i64 : 7; data c i64 : 2; Range a,b,c -> y", "i64[3]{1 3 5}"},
        {"data a i64 : 1; data b i64 : 8; data c i64 : 2; Range a,b,c -> y", "i64[4]{1 3 5 7}"},
        {"data a i64 : 5; data b i64 : 0; data c i64 : -2; Range a,b,c -> y", "i64[3]{5 3 1}"},
        {"data a i64 : 5; data b i64 : 1; data c i64 : 1; Range a,b,c -> y", "i64[0]{}"},
        {"in a i64; data b i64 : 1; data c i64 : 1; Range a,b,c -> y", "i64[?]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Shape and Size. */
static void shapes_as_numbers(void **state) {
    static const sx_value_case cases[] = {
        {"in x 2 3 4; Shape x -> y", "i64[3]{2 3 4}"},
        {"in x 2 3 4; Shape x -> y start=1", "i64[2]{3 4}"},
        {"in x 2 3 4; Shape x -> y start=-1", "i64[1]{4}"},
        {"in x 2 3 4; Shape x -> y end=2", "i64[2]{2 3}"},
        {"in x 2 3 4; Shape x -> y end=-1", "i64[2]{2 3}"},
        {"in x 2 3 4; Shape x -> y start=-9 end=9", "i64[3]{2 3 4}"},
        {"in x 2 3 4; Shape x -> y start=2 end=1", "i64[0]{}"},
        {"in x 2; Twist x -> t domain=own; say t 2 ?; Shape t -> y", "i64[2]"},
        {"in x 2; Twist x -> t domain=own; say t 2 ?; Shape t -> y end=1", "i64[1]{2}"},
        {"in x 2; Twist x -> t domain=own; Shape t -> y", "i64*"},
        {"in x 2 3 4; Size x -> y", "i64[]{24}"},
        {"in x 2; Twist x -> t domain=own; Size t -> y", "i64[]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Extents of -1 follow from the others, those of 0 are taken from the input. */
static void reshapes(void **state) {
    static const sx_value_case cases[] = {
        {"in x 2 3 4; data s i64 2 : 6 4; Reshape x,s -> y", "f32[6,4]"},
        {"in x 2 3 4; data s i64 2 : 6 -1; Reshape x,s -> y", "f32[6,4]"},
        {"in x 2 3 4; data s i64 3 : 0 -1 1; Reshape x,s -> y", "f32[2,12,1]"},
        {"in x 2 3 4; data s i64 2 : -1 0; Reshape x,s -> y", "f32[8,3]"},
        {"in x 2 3 0; data s i64 2 : 0 7; Reshape x,s -> y allowzero=1", "f32[0,7]"},
        {"in x 2 3 4; data s i64 2 : 5 -1; Reshape x,s -> y", "f32[5,?]"},
        {"in x 2 3 4; in s i64 2; Reshape x,s -> y", "f32*"},
        {"opset 1; in x 2 3 4; Reshape x -> y shape=[4,-1]", "f32[4,6]"},
        {"data x i64 4 : 1 2 3 4; data s i64 2 : 2 2; Reshape x,s -> y", "i64[2,2]{1 2 3 4}"},
        {"in x 2 3; data s i64 3 : 1099511627776 1099511627776 -1; Reshape x,s -> y",
         "f32[1099511627776,1099511627776,?]"},
        {"in x 2; data s i64 2 : -1 -1; Reshape x,s -> y", "f32[?,?]"},
        {"in x 2 3; data s i64 3 : -1 -1 -1; Reshape x,s -> y", "f32[?,?,?]"},
        {"in x 2 3; data s i64 3 : 2 3 0; Reshape x,s -> y", "f32[2,3,?]"},
        {"in x 2 3 4; Flatten x -> y", "f32[2,12]"},
        {"in x 2 3 4; Flatten x -> y axis=2", "f32[6,4]"},
        {"in x 2 3 4; Flatten x -> y axis=0", "f32[1,24]"},
        {"in x 2 3 4; Flatten x -> y axis=3", "f32[24,1]"},
        {"in x 2 3 4; Flatten x -> y axis=-1", "f32[6,4]"},
        {"in x 2 3 4; Flatten x -> y axis=4", "f32*"},
        {"in x 2 3 4; Flatten x -> y axis=-4", "f32*"},
        {"in x 1 3 1; Squeeze x -> y", "f32[3]"},
        {"in x 1 3 1; data a i64 1 : -1; Squeeze x,a -> y", "f32[1,3]"},
        {"opset 11; in x 1 3 1; Squeeze x -> y axes=[0]", "f32[3,1]"},
        {"in x 1 3 1; in a i64 1; Squeeze x,a -> y", "f32*"},
        {"in x 1 3 1; data a i64 1 : 3; Squeeze x,a -> y", "f32*"},
        {"in x 2; Twist x -> t domain=own; say t 1 ?; Squeeze t -> y", "f32*"},
        {"data x i64 1 : 5; Squeeze x -> y", "i64[]{5}"},
        {"in x 1 3 1; data a i64 0 : ; Squeeze x,a -> y", "f32[1,3,1]"},
        {"opset 11; in x 1 3 1; Squeeze x -> y axes=[]", "f32[1,3,1]"},
        {"in x 1 1; data s i64 0 : ; Reshape x,s -> y", "f32[]"},
        {"in x 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1; data a i64 1 : 0; Unsqueeze x,a -> y", "f32*"},
        {"in x 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1; data a i64 1 : 0; Unsqueeze x,a -> y",
         "f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"},
        {"in x 2 2; data a i64 0 : ; Unsqueeze x,a -> y", "f32[2,2]"},
        {"in x 3 4; data a i64 2 : 0 -1; Unsqueeze x,a -> y", "f32[1,3,4,1]"},
        {"in x 3 4; data a i64 1 : 1; Unsqueeze x,a -> y", "f32[3,1,4]"},
        {"opset 11; in x 3 4; Unsqueeze x -> y axes=[2]", "f32[3,4,1]"},
        {"in x 3 4; data a i64 2 : 1 1; Unsqueeze x,a -> y", "f32*"},
        {"in x 3 4; data a i64 1 : 3; Unsqueeze x,a -> y", "f32*"},
        {"data x i64 : 5; data a i64 1 : 0; Unsqueeze x,a -> y", "i64[1]{5}"},
        {"in x 2 3 4; Transpose x -> y", "f32[4,3,2]"},
        {"in x 2 3 4; Transpose x -> y perm=[1,2,0]", "f32[3,4,2]"},
        {"in x 2 3 4; Transpose x -> y perm=[1,0]", "f32*"},
        {"in x 2 3 4; Transpose x -> y perm=[3,0,1]", "f32*"},
        {"data x i64 2 : 1 2; Transpose x -> y", "i64[2]{1 2}"},
        {"data x i64 1 2 : 1 2; Transpose x -> y", "i64[2,1]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Concat adds up along its axis; its numbers follow in order. */
static void joins(void **state) {
    static const sx_value_case cases[] = {
        {"in a 2 3; in c 2 4; Concat a,c -> y axis=1", "f32[2,7]"},
        {"in a 2 3; in c 5 3; Concat a,c -> y axis=-2", "f32[7,3]"},
        {"in a 2 3; in c 2 4; Concat a,c -> y axis=2", "f32*"},
        {"data a i64 2 : 1 2; data c i64 1 : 3; Concat a,c,a -> y axis=0", "i64[5]{1 2 3 1 2}"},
        {"data a i64 2 : 1 2; in c i64 1; Concat a,c -> y axis=0", "i64[3]"},
        {"in a 2 3; Twist a -> t domain=own; Concat a,t -> y axis=0", "f32[?,3]"},
        {"data a i64 1 2 : 1 2; Concat a,a -> y axis=0", "i64[2,2]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Gather and its relatives. */
static void gathers(void **state) {
    static const sx_value_case cases[] = {
        {"in x 5 6 7; in i i64 2 3; Gather x,i -> y", "f32[2,3,6,7]"},
        {"in x 5 6 7; in i i64 2 3; Gather x,i -> y axis=1", "f32[5,2,3,7]"},
        {"in x 5 6 7; data i i64 : 0; Gather x,i -> y axis=-1", "f32[5,6]"},
        {"in x 5 6 7; data i i64 : 0; Gather x,i -> y axis=3", "f32*"},
        {"data x i64 3 : 4 5 6; data i i64 2 : 0 -1; Gather x,i -> y", "i64[2]{4 6}"},
        {"data x i64 3 : 4 5 6; data i i64 1 : 3; Gather x,i -> y", "i64[1]"},
        {"data x i64 3 : 4 5 6; data i i64 1 : -4; Gather x,i -> y", "i64[1]"},
        {"data x i64 3 : 4 5 6; data i i64 : 2; Gather x,i -> y", "i64[]{6}"},
        {"data x i64 3 : 4 5 6; data i i64 0 : ; Gather x,i -> y", "i64[0]{}"},
        {"in x 5 6 7; in i i64 5 2 7; GatherElements x,i -> y axis=1", "f32[5,2,7]"},
        {"in x 5 6 7; in i i64 4 2; GatherND x,i -> y", "f32[4,7]"},
        {"in x 5 6 7; in i i64 5 4 1; GatherND x,i -> y batch_dims=1", "f32[5,4,7]"},
        {"in x 5 6 7; in i i64 4 4; GatherND x,i -> y", "f32*"},
        {"in x 5 6 7; in i i64 4 3; GatherND x,i -> y", "f32[4]"},
        {"in x 2 2 2 2 2 2 2 2 2; in i i64 1 1 1 1 1 1 1 1 1; GatherND x,i -> y",
         "f32[1,1,1,1,1,1,1,1,2,2,2,2,2,2,2,2]"},
        {"in x 2 2 2 2 2 2 2 2 2; in i i64 1 1 1 1 1 1 1 1 1 1; GatherND x,i -> y", "f32*"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants), cmocka_unit_test(shapes_as_numbers), cmocka_unit_test(reshapes),
        cmocka_unit_test(joins),     cmocka_unit_test(gathers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
