/* Convolutions and Gemm as einsums: sizes, strides, groups, and which ranks of the tensors are theirs. */
#include "support/onnx_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Over a line, a plane and a volume. */
static void planes(void **state) {
    static const sx_node_case cases[] = {
        {"in x 2 3 9; weight w 4 3 3; Conv x,w -> y name=c strides=[2] dilations=[2]", "c",
         "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,2*R+2*P,S+Q] {R:3,S:1,P:3,Q:1,C:3,K:4,N:2} "
         "y(0|12|3) w(1|03|2) x(0|13|2)"},
        {"in x 2 3 9 7; weight w 4 3 3 2; Conv x,w -> y name=c strides=[2,1] dilations=[1,2]", "c",
         "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+2*P,2*S+Q] {R:3,S:2,P:4,Q:5,C:3,K:4,N:2} "
         "y(0|1|3|2) w(1|0|2|3) x(0|1|2|3)"},
        {"in x 2 3 9 7 8; weight w 4 3 3 2 5; Conv x,w -> y name=c strides=[2,1,3] dilations=[1,2,1] "
         "pads=[1,2,3,4,5,6]",
         "c",
         "Outputs[N,K,Q,P,Z] += Weights[C,K,R,S,T]*Inputs[N,C,2*R+P,S+3*Q,T+2*Z] "
         "{R:2,S:5,P:12,Q:5,C:3,K:4,N:2,T:3,Z:6} y(0|1|4|3|2) w(1|0|4|2|3) x(0|1|4+1..4|2+2..5|3+3..6)"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* Groups of channels, and channels alone. */
static void groups(void **state) {
    static const sx_node_case cases[] = {
        {"in x 2 6 9 9; weight w 4 3 3 3; Conv x,w -> y name=c group=2", "c",
         "Outputs[N,G,K,Q,P] += Weights[G,C,K,R,S]*Inputs[N,G,C,R+P,S+Q] {R:3,S:3,P:7,Q:7,C:3,K:2,G:2,N:2} "
         "y(0|12|4|3) w(02|1|3|4) x(0|12|3|4)"},
        {"in x 2 6 9 9; weight w 6 1 3 3; Conv x,w -> y name=c group=6", "c",
         "Outputs[N,D,Q,P] += Weights[D,R,S]*Inputs[N,D,R+P,S+Q] {R:3,S:3,P:7,Q:7,D:6,N:2} y(0|1|3|2) "
         "w(0||1|2) x(0|1|2|3)"},
        {"in x 2 6 9 9; weight w 12 1 3 3; Conv x,w -> y name=c group=6", "c",
         "Outputs[N,G,K,Q,P] += Weights[G,C,K,R,S]*Inputs[N,G,C,R+P,S+Q] {R:3,S:3,P:7,Q:7,C:1,K:2,G:6,N:2} "
         "y(0|12|4|3) w(02|1|3|4) x(0|12|3|4)"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* Weights are the fourth input of QLinearConv. */
static void quantized(void **state) {
    static const sx_node_case cases[] = {
        {"in x u8 1 3 4 4; weight w u8 2 3 1 1; data s : 1; data z u8 : 0; QLinearConv x,s,z,w,s,z,s,z -> y "
         "name=c",
         "c",
         "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+P,S+Q] {R:1,S:1,P:4,Q:4,C:3,K:2,N:1} y(0|1|3|2) "
         "w(1|0|2|3) x(0|1|2|3)"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* The data gradient: windows are those of the output. */
static void transposed(void **state) {
    static const sx_node_case cases[] = {
        {"in x 1 4 3 5; weight w 4 3 2 3; ConvTranspose x,w -> y name=c strides=[2,1] pads=[0,1,1,0]", "c",
         "Outputs[N,C,R+2*P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:2,S:3,P:3,Q:5,C:3,K:4,N:1} "
         "y(0|1|2+0..1|3+1..0) w(1|0|2|3) x(0|1|3|2)"},
        {"in x 1 4 3 5; weight w 4 3 2 3; ConvTranspose x,w -> y name=c group=2", "c",
         "Outputs[N,G,C,R+P,S+Q] += Weights[G,C,K,R,S]*Inputs[N,G,K,Q,P] {R:2,S:3,P:3,Q:5,C:3,K:2,G:2,N:1} "
         "y(0|12|3|4) w(02|1|3|4) x(0|12|4|3)"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* A fully connected layer, either operand transposed. */
static void gemm(void **state) {
    static const sx_node_case cases[] = {
        {"in x 3 4; weight w 4 5; weight b 5; Gemm x,w,b -> y name=c", "c",
         "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+P,S+Q] {R:1,S:1,P:1,Q:1,C:4,K:5,N:3} y(0|132) "
         "w(0|123) x(0|123)"},
        {"in x 4 3; weight w 4 5; Gemm x,w -> y name=c transA=1", "c",
         "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+P,S+Q] {R:1,S:1,P:1,Q:1,C:4,K:5,N:3} y(0|132) "
         "w(0|123) x(123|0)"},
        {"in x 3 4; weight w 5 4; Gemm x,w -> y name=c transB=1", "c",
         "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+P,S+Q] {R:1,S:1,P:1,Q:1,C:4,K:5,N:3} y(0|132) "
         "w(123|0) x(0|123)"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* What cannot be mapped is refused with words. */
static void refused(void **state) {
    static const sx_refused_case cases[] = {
        {"in x 1 4 8 8; weight w 4 3 3 3; Conv x,w -> y name=c",
         "Conv 'c': 4 channels, a filter of 3 and 4 outputs do not fit 1 groups"},
        {"in x 1 6 8 8; weight w 5 3 3 3; Conv x,w -> y name=c group=2",
         "6 channels, a filter of 3 and 5 outputs do not fit 2 groups"},
        {"in x 1 3 2 2 2 2; weight w 4 3 1 1 1 1; Conv x,w -> y name=c",
         "a plane of 4 ranks cannot be mapped; at most 3 can"},
        {"in x 1 4 3 3; weight w 5 3 2 2; ConvTranspose x,w -> y name=c",
         "its filter is for 5 channels, its input has 4"},
        {"in x 1 4 3 3; weight w 5 3 2 2; ConvTranspose x,w -> y name=c group=2", "do not fit 2 groups"},
        {"in x 3 4; weight w 5 4; Gemm x,w -> y name=c",
         "it sums over 4 elements of one input and 5 of the other"},
        {"in x 3 0; weight w 4 5; Gemm x,w -> y name=c",
         "it sums over 0 elements of one input and 4 of the other"},
        {"in x 3 4; weight w 0 5; Gemm x,w -> y name=c",
         "it sums over 4 elements of one input and 0 of the other"},
        {"in x 3 4 1; weight w 4 5; Gemm x,w -> y name=c",
         "its inputs have 3 and 2 ranks; matrices are needed"},
        {"in x 1 3 2147483648; weight w 4 3 1; Conv x,w -> y name=c",
         "a dimension of 2147483648 is above 2147483647"},
        {"in x 3; Twist x -> t domain=own; weight w 4 3 3; Conv t,w -> y name=c",
         "the shape of its input 't' is not known"},
        {"in x 3; Twist x -> t domain=own; weight w 4 5; Gemm t,w -> y name=c",
         "the shape of its input 't' is not known"},
    };
    (void)state;
    sx_expect_all_refused(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes),     cmocka_unit_test(groups), cmocka_unit_test(quantized),
        cmocka_unit_test(transposed), cmocka_unit_test(gemm),   cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
