/* Shapes of products, recurrent networks and attention, as the standard defines them. */
#include "support/onnx_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Gemm and MatMul; batches are broadcast. */
static void matrices(void **state) {
    static const sx_value_case cases[] = {
        {"in a 3 4; in b 4 5; Gemm a,b -> y", "f32[3,5]"},
        {"in a 4 3; in b 4 5; Gemm a,b -> y transA=1", "f32[3,5]"},
        {"in a 3 4; in b 5 4; Gemm a,b -> y transB=1", "f32[3,5]"},
        {"in a 4 3; in b 5 4; Gemm a,b -> y transA=1 transB=1", "f32[3,5]"},
        {"in a 3 4; in b 4 5; MatMul a,b -> y", "f32[3,5]"},
        {"in a 4; in b 4 5; MatMul a,b -> y", "f32[5]"},
        {"in a 3 4; in b 4; MatMul a,b -> y", "f32[3]"},
        {"in a 4; in b 4; MatMul a,b -> y", "f32[]"},
        {"in x 2; Twist x -> t domain=own; say t 3 ?; in b 4 5; MatMul t,b -> y", "f32[3,5]"},
        {"in a 3 4; in b 4 4; MatMul a,b -> y", "f32[3,4]"},
        {"in a 2 3 4; in b 4 5; MatMul a,b -> y", "f32[2,3,5]"},
        {"in a 3 4; in b 2 4 5; MatMul a,b -> y", "f32[2,3,5]"},
        {"in a 2 1 3 4; in b 6 4 5; MatMul a,b -> y", "f32[2,6,3,5]"},
        {"in a 1 6 3 4; in b 2 6 4 5; MatMul a,b -> y", "f32[2,6,3,5]"},
        {"in a 2 6 3 4; in b 4; MatMul a,b -> y", "f32[2,6,3]"},
        {"in a 4; in b 2 6 4 5; MatMul a,b -> y", "f32[2,6,5]"},
        {"in x 2; Twist x -> t domain=own; say t ? 3 4; in b 7 4 5; MatMul t,b -> y", "f32[7,3,5]"},
        {"in x 2; Twist x -> t domain=own; say t 7 3 ?; in b 7 4 5; MatMul t,b -> y", "f32[7,3,5]"},
        {"in x 2; Twist x -> t domain=own; in b 7 4 5; MatMul t,b -> y", "none*"},
        {"in a u8 3 4; in b u8 4 5; MatMulInteger a,b -> y", "i32[3,5]"},
        {"in a u8 3 4; data s : 1; data z u8 : 0; in b i8 4 5; data o i8 : 0; QLinearMatMul a,s,z,b,s,z,s,o "
         "-> y",
         "i8[3,5]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Channels are those of the filter; types of quantized ones. */
static void convolutions(void **state) {
    static const sx_value_case cases[] = {
        {"in x 2 3 8 8; weight w 5 3 3 3; Conv x,w -> y", "f32[2,5,6,6]"},
        {"in x u8 2 3 8 8; weight w u8 5 3 3 3; ConvInteger x,w -> y", "i32[2,5,6,6]"},
        {"in x u8 2 3 8 8; weight w i8 5 3 3 3; data s : 1; data z u8 : 0; data o i8 : 0; QLinearConv "
         "x,s,z,w,s,z,s,o -> y",
         "i8[2,5,6,6]"},
        {"in x 2 4 3 3; weight w 4 5 2 2; ConvTranspose x,w -> y group=2", "f32[2,10,4,4]"},
        {"in x 2 4 3; weight w 4 0 2; ConvTranspose x,w -> y", "f32[2,0,4]"},
        {"in x 1 0 3; MaxPool x -> y kernel_shape=[2]", "f32[1,0,2]"},
        {"in x 1 3 4 5; GlobalAveragePool x -> y", "f32[1,3,1,1]"},
        {"in x 1 3 4; MaxPool x -> z,y kernel_shape=[2]", "i64[1,3,3]"},
        {"in x 2; Twist x -> t domain=own; weight w 5 3 3 3; Conv t,w -> y", "none*"},
        {"in x 2; Twist x -> t domain=own; weight w 5 3 3; ConvTranspose t,w -> y", "none*"},
        {"in x 1 3 8; Twist x -> t domain=own; ConvTranspose x,t -> y", "f32*"},
        {"in x 2; Twist x -> t domain=own; MaxPool t -> y kernel_shape=[2]", "none*"},
        {"in x f16 1 3 4; AveragePool x -> y kernel_shape=[2]", "f16[1,3,3]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Letters of the equation; without an arrow those that occur once, in the order of the alphabet. */
static void einsums(void **state) {
    static const sx_value_case cases[] = {
        {"in a 3 4; in b 4 5; Einsum a,b -> y equation='ij,jk->ik'", "f32[3,5]"},
        {"in a 3 4; in b 4 5; Einsum a,b -> y equation=' i j , j k -> k i '", "f32[5,3]"},
        {"in a 3 4; in b 4 5; Einsum a,b -> y equation='bj,ja'", "f32[5,3]"},
        {"in a 2 6 3 4; in b 4 5; Einsum a,b -> y equation='...j,jk->...k'", "f32[2,6,3,5]"},
        {"in a 6 3 4; in b 2 1 4 5; Einsum a,b -> y equation='...ij,...jk->...ik'", "f32[2,6,3,5]"},
        {"in a 2 6 3; Einsum a -> y equation='...i'", "f32[2,6,3]"},
        {"in a 3 3; Einsum a -> y equation='ii->i'", "f32[3]"},
        {"in a 4; in b 4 5; Einsum a,b -> y equation='...j,jk->...k'", "f32[5]"},
        {"in x 2; Twist x -> t domain=own; say t ? 4; in b 3 4; Einsum t,b -> y equation='ij,ij->i'",
         "f32[3]"},
        {"in x 2; Twist x -> t domain=own; say t ? 4; in b 1 4; Einsum b,t -> y equation='ij,ij->i'",
         "f32[?]"},
        {"in x 2; Twist x -> t domain=own; say t ? 4; in b 1 4; Einsum t,b -> y equation='ij,ij->i'",
         "f32[?]"},
        {"in a 3 4; Einsum a -> y equation='ij->'", "f32[]"},
        {"in x 2; Twist x -> t domain=own; in b 4 5; Einsum t,b -> y equation='ij,jk->ik'", "none*"},
        {"in a 1 4; in b 3 4; Einsum a,b -> y equation='ij,ij->i'", "f32[3]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Outputs of all steps, and the last states. */
static void recurrent(void **state) {
    static const sx_value_case cases[] = {
        {"in x 7 2 5; weight w 1 12 5; weight r 1 12 3; LSTM x,w,r -> y", "f32[7,1,2,3]"},
        {"in x 7 2 5; weight w 2 12 5; weight r 1 12 3; LSTM x,w,r -> y", "f32[7,2,2,3]"},
        {"in x 7 2 5; weight w 2 12 5; weight r 2 12 3; LSTM x,w,r -> a,y,c", "f32[2,2,3]"},
        {"in x 2 7 5; weight w 2 12 5; weight r 2 12 3; LSTM x,w,r -> y layout=1", "f32[2,7,2,3]"},
        {"in x 4 7 5; weight w 2 12 5; weight r 2 12 3; LSTM x,w,r -> a,b,y layout=1", "f32[4,2,3]"},
        {"in x 2; Twist x -> t domain=own; weight w 2 12 5; weight r 2 12 3; LSTM t,w,r -> y", "none*"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

/* Four ranks with heads, or three with heads in the last one; keys of the past come before the others. */
static void attention_shapes(void **state) {
    static const sx_value_case cases[] = {
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; Attention q,k,v -> y", "f32[2,8,5,10]"},
        {"in q 2 5 32; in k 2 6 16; in v 2 6 20; Attention q,k,v -> y q_num_heads=4 kv_num_heads=2",
         "f32[2,5,40]"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 3 16; in w 2 4 3 10; Attention q,k,v,-,p,w "
         "-> a,y",
         "f32[2,4,9,16]"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 3 16; in w 2 4 3 10; Attention q,k,v,-,p,w "
         "-> a,b,y",
         "f32[2,4,9,10]"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 3 16; in w 2 4 3 10; Attention q,k,v,-,p,w "
         "-> a,b,c,y",
         "f32[2,8,5,9]"},
        {"in q 2 5 32; in k 2 6 16; in v 2 6 20; Attention q,k,v -> a,y q_num_heads=4 kv_num_heads=2",
         "f32[2,2,6,8]"},
        {"in q 2 5 32; in k 2 6 16; in v 2 6 20; Attention q,k,v -> a,b,c,y q_num_heads=4 kv_num_heads=2",
         "f32[2,4,5,6]"},
        {"in q 2 5 32; in k 2 6 16; in v 2 6 20; Attention q,k,v -> a,y", "f32*"},
        {"in q 2 5 32; in k 2 6 16; in v 2 6 20; Attention q,k,v -> y q_num_heads=4", "f32[2,5,?]"},
        {"in q 2 5 32; in k 2 6 16; in v 2 6 20; Attention q,k,v -> y kv_num_heads=4", "f32[2,5,?]"},
    };
    (void)state;
    sx_expect_values(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices),  cmocka_unit_test(convolutions),     cmocka_unit_test(einsums),
        cmocka_unit_test(recurrent), cmocka_unit_test(attention_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
