/* Shapes and numbers of operations that take parts of a tensor, repeat, pad or resize it, as the standard defines them. */
#include "support/onnx_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Starts and ends count from the end where they are below 0, and are cut to what there is. */
static void slices(void **state) {
    static const sx_value_case cases[] = {
        {"in x 10 20; data s i64 1 : 2; data e i64 1 : 5; Slice x,s,e -> y", "f32[3,20]"},
        {"in x 10 20; data s i64 2 : 0 1; data e i64 2 : 9 -1; Slice x,s,e -> y", "f32[9,18]"},
        {"in x 10 20; data s i64 1 : 1; data e i64 1 : 1000; data a i64 1 : 1; Slice x,s,e,a -> y",
         "f32[10,19]"},
        {"in x 10 20; data s i64 1 : 1; data e i64 1 : 8; data a i64 1 : -1; data t i64 1 : 3; Slice "
         "x,s,e,a,t -> y",
         "f32[10,3]"},
        {"in x 10; data s i64 1 : 8; data e i64 1 : 1; data a i64 1 : 0; data t i64 1 : -2; Slice x,s,e,a,t "
         "-> y",
         "f32[4]"},
        {"in x 10; data s i64 1 : -1; data e i64 1 : -100; data a i64 1 : 0; data t i64 1 : -1; Slice "
         "x,s,e,a,t -> y",
         "f32[10]"},
        {"in x 10; data s i64 1 : 5; data e i64 1 : 5; Slice x,s,e -> y", "f32[0]"},
        {"in x 10 20; data s i64 1 : 1; data e i64 1 : 5; data a i64 2 : 0 1; Slice x,s,e,a -> y",
         "f32[?,?]"},
        {"in x 10 20; data s i64 1 : 1; data e i64 2 : 5 5; Slice x,s,e -> y", "f32[?,?]"},
        {"in x 10 20; data s i64 1 : 1; data e i64 1 : 5; data a i64 1 : 1; data t i64 2 : 1 1; Slice "
         "x,s,e,a,t -> y",
         "f32[10,?]"},
        {"in x 10; data s i64 1 : 2; data e i64 1 : -100; Slice x,s,e -> y", "f32[0]"},
        {"in x 10; data s i64 1 : 100; data e i64 1 : 4; data a i64 1 : 0; data t i64 1 : -1; Slice "
         "x,s,e,a,t -> y",
         "f32[5]"},
        {"in x 10; data s i64 1 : -100; data e i64 1 : 4; data a i64 1 : 0; data t i64 1 : 3; Slice "
         "x,s,e,a,t -> y",
         "f32[2]"},
        {"in x 10; data s i64 1 : 7; data e i64 1 : 5; Slice x,s,e -> y", "f32[0]"},
        {"in x 10 20; in s i64 1; data e i64 1 : 5; Slice x,s,e -> y", "f32[?,?]"},
        {"in x 10 20; in s i64 1; data e i64 1 : 5; data a i64 1 : 1; Slice x,s,e,a -> y", "f32[10,?]"},
        {"in x 10 20; data s i64 1 : 0; data e i64 1 : 5; in a i64 1; Slice x,s,e,a -> y", "f32*"},
        {"in x 10 20; data s i64 1 : 0; data e i64 1 : 5; data a i64 1 : 1; in t i64 1; Slice x,s,e,a,t -> y",
         "f32[10,?]"},
        {"in x 10 20; data s i64 1 : 0; data e i64 1 : 5; data a i64 1 : 2; Slice x,s,e,a -> y", "f32*"},
        {"in x 10; data s i64 1 : 0; data e i64 1 : 5; data a i64 1 : 0; data t i64 1 : 0; Slice x,s,e,a,t "
         "-> y",
         "f32*"},
        {"opset 1; in x 10 20; Slice x -> y starts=[1] ends=[4] axes=[1]", "f32[10,3]"},
        {"opset 1; in x 10 20; Slice x -> y starts=[1] ends=[4]", "f32[3,20]"},
        {"data x i64 5 : 1 2 3 4 5; data s i64 1 : 1; data e i64 1 : 4; Slice x,s,e -> y", "i64[3]{2 3 4}"},
        {"data x i64 5 : 1 2 3 4 5; data s i64 1 : -1; data e i64 1 : -9; data a i64 1 : 0; data t i64 1 : "
         "-2; Slice x,s,e,a,t -> y",
         "i64[3]{5 3 1}"},
        {"data x i64 5 : 1 2 3 4 5; data s i64 1 : 0; data e i64 1 : 5; data a i64 1 : 0; data t i64 1 : 2; "
         "Slice x,s,e,a,t -> y",
         "i64[3]{1 3 5}"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Equal parts, the last one smaller, or the sizes that are said. */
static void splits(void **state) {
    static const sx_value_case cases[] = {
        {"in x 6 4; Split x -> y,z axis=0", "f32[3,4]"},
        {"in x 6 4; Split x -> ; Relu x -> y", "f32[6,4]"},
        {"in x 7 4; Split x -> z,y axis=0", "f32[3,4]"},
        {"in x 7 4; Split x -> y,z axis=0", "f32[4,4]"},
        {"in x 6 4; data s i64 2 : 1 5; Split x,s -> z,y axis=0", "f32[5,4]"},
        {"opset 11; in x 6 4; Split x -> z,y axis=1 split=[1,3]", "f32[6,3]"},
        {"in x 6 4; in s i64 2; Split x,s -> z,y axis=0", "f32[?,4]"},
        {"in x 6 4; Split x -> z,y axis=2", "none*"},
        {"data x i64 4 : 1 2 3 4; Split x -> z,y axis=0", "i64[2]{3 4}"},
        {"data x i64 5 : 1 2 3 4 5; data s i64 2 : 1 4; Split x,s -> z,y axis=0", "i64[4]{2 3 4 5}"},
        {"in x 2; Split x -> a,b,y axis=0", "f32[0]"},
        {"data x i64 2 : 1 2; data s i64 2 : 1 4; Split x,s -> z,y axis=0", "i64[4]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Expand, Tile and Pad. */
static void repeats(void **state) {
    static const sx_value_case cases[] = {
        {"in x 3 1; data s i64 3 : 2 1 6; Expand x,s -> y", "f32[2,3,6]"},
        {"in x 3 4; data s i64 1 : 1; Expand x,s -> y", "f32[3,4]"},
        {"in x 3 4; in s i64 2; Expand x,s -> y", "f32*"},
        {"data x i64 : 7; data s i64 1 : 3; Expand x,s -> y", "i64[3]{7 7 7}"},
        {"data x i64 2 : 7 8; data s i64 2 : 2 1; Expand x,s -> y", "i64[2,2]"},
        {"in x 3 4; data r i64 2 : 2 3; Tile x,r -> y", "f32[6,12]"},
        {"in x 3 4; in r i64 2; Tile x,r -> y", "f32[?,?]"},
        {"in x 3 4; data r i64 1 : 2; Tile x,r -> y", "f32[?,?]"},
        {"in x 3 4; data r i64 2 : 2 -1; Tile x,r -> y", "f32[6,?]"},
        {"in x 3 4; data p i64 4 : 1 0 2 5; Pad x,p -> y", "f32[6,9]"},
        {"in x 3 4; data p i64 2 : 1 2; data a i64 1 : -1; Pad x,p,-,a -> y", "f32[3,7]"},
        {"opset 2; in x 3 4; Pad x -> y pads=[0,1,0,1]", "f32[3,6]"},
        {"in x 3 4; in p i64 4; Pad x,p -> y", "f32[?,?]"},
        {"in x 3 4; data p i64 0 : ; Pad x,p -> y", "f32[?,?]"},
        {"in x 3 4; data p i64 2 : 1 2; Pad x,p -> y", "f32[?,?]"},
        {"in x 3 4; data p i64 4 : -1 0 0 -2; Pad x,p -> y", "f32[2,2]"},
        {"in x 3 4; data p i64 2 : 1 2; data a i64 1 : 2; Pad x,p,-,a -> y", "f32*"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* floor(extent * scale), or the sizes that are said. */
static void resizes(void **state) {
    static const sx_value_case cases[] = {
        {"in x 1 3 4 5; data s 4 : 1 1 2 1.5; Resize x,-,s -> y", "f32[1,3,8,7]"},
        {"opset 10; in x 1 3 4 5; data s 4 : 1 1 2 0.5; Resize x,s -> y", "f32[1,3,8,2]"},
        {"in x 1 3 4 5; data z i64 4 : 1 3 9 9; Resize x,-,-,z -> y", "f32[1,3,9,9]"},
        {"in x 1 3 4 5; data z i64 2 : 9 8; Resize x,-,-,z -> y axes=[2,3]", "f32[1,3,9,8]"},
        {"in x 1 3 4 5; data s 2 : 2 3; Resize x,-,s -> y axes=[-2,-1]", "f32[1,3,8,15]"},
        {"in x 1 3 4 5; in s 4; Resize x,-,s -> y", "f32[?,?,?,?]"},
        {"in x 1 3 4 5; data z i64 1 : 9; Resize x,-,-,z -> y axes=[4]", "f32*"},
        {"opset 9; in x 1 3 4 5; data s 4 : 1 1 2 2; Upsample x,s -> y", "f32[1,3,8,10]"},
        {"opset 7; in x 1 3 4 5; Upsample x -> y scales=[1.0,1.0,2.0,3.0]", "f32[1,3,8,15]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* OneHot, TopK, DepthToSpace and SpaceToDepth. */
static void selections(void **state) {
    static const sx_value_case cases[] = {
        {"in x i64 2 3; data d i64 : 7; in v f16 2; OneHot x,d,v -> y", "f16[2,3,7]"},
        {"in x i64 2 3; data d i64 : 7; in v f16 2; OneHot x,d,v -> y axis=0", "f16[7,2,3]"},
        {"in x i64 2 3; data d i64 : 7; in v f16 2; OneHot x,d,v -> y axis=-2", "f16[2,7,3]"},
        {"in x i64 2 3; in d i64; in v 2; OneHot x,d,v -> y", "f32[2,3,?]"},
        {"in x i64 2 3; data d i64 : 7; in v 2; OneHot x,d,v -> y axis=3", "f32*"},
        {"in x 2 9; data k i64 1 : 4; TopK x,k -> y,i", "f32[2,4]"},
        {"in x 2 9; data k i64 1 : 4; TopK x,k -> v,y", "i64[2,4]"},
        {"in x 9 2; data k i64 1 : 4; TopK x,k -> y,i axis=0", "f32[4,2]"},
        {"opset 1; in x 2 9; TopK x -> y,i k=3", "f32[2,3]"},
        {"in x 2 9; in k i64 1; TopK x,k -> y,i", "f32[2,?]"},
        {"in x 1 8 2 3; DepthToSpace x -> y blocksize=2", "f32[1,2,4,6]"},
        {"in x 1 2 4 6; SpaceToDepth x -> y blocksize=2", "f32[1,8,2,3]"},
        {"in x 1 8 2; DepthToSpace x -> y blocksize=2", "f32*"},
        {"in x 1 8 2 3; DepthToSpace x -> y", "f32*"},
        {"in x 1 27 2 3; DepthToSpace x -> y blocksize=3", "f32[1,3,6,9]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices),  cmocka_unit_test(splits),     cmocka_unit_test(repeats),
        cmocka_unit_test(resizes), cmocka_unit_test(selections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
